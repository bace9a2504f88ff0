"""What clients are told: committed facts and signals become notifications, in order (S5.2)."""
