"""PDF, read page by page (F11)."""
