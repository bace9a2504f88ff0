"""Text files: plain, delimited, their encodings, outlines and exact edits (F6, F7)."""
