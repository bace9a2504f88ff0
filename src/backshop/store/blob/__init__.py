"""Contents named by their hash, and folders made from them (T4)."""
