"""Styles and other assets of a document, reported and carried over (F21, F22)."""
