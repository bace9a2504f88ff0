"""Charts and pictures of sheets as they are: where they stand, what they show (F36)."""
