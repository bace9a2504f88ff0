"""Operations on names of a workbook, and on the notes and links of its cells (F41)."""
