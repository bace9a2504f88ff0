"""What review shows of a workbook (F29, B12)."""
