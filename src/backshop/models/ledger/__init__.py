"""What may leave the machine, what left and what it cost: consent, facts, record (M4, M13)."""
