"""Slides drawn by Backshop itself: backgrounds, shapes, text, tables, pictures (F43.30)."""
