"""Sheets as drawn pages: cells with their looks, charts and pictures, in a window (F43)."""
