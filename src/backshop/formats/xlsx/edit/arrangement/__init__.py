"""Arranging what is there: rows in another order, cells and sheets copied and moved."""
