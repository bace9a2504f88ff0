"""Pictures of files and files that are pictures (F13, F29.7)."""
