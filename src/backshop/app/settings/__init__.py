"""Settings: the table of them, how values are read, and which value holds (S3)."""
