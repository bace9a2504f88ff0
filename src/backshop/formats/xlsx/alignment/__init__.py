"""Which lines of a sheet came or went between two versions of a workbook (F42)."""
