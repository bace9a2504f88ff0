"""Formulas computed as Excel computes them, value by value."""
