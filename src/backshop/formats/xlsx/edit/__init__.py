"""Operations on a workbook, and the report of what they changed (F16, F17)."""
