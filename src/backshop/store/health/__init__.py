"""What a database says about itself, and how far it is known to have come (T5.1, T5.6)."""
