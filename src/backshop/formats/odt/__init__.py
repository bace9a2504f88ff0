"""OpenDocument text, read only (F12)."""
