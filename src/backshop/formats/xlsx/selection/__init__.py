"""Changes of a workbook one by one: taken, left, and where places went (F34)."""
