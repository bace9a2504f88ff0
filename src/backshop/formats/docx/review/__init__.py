"""What review shows of a document (F29, B12)."""
