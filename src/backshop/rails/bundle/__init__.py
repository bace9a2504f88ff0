"""Sessions as documents: exported, checked, imported, printed (R9)."""
