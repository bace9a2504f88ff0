"""Rows and columns that come and go: how every part of a workbook follows them (F35)."""
