"""A store as a whole: copied, backed up, restored, moved (T5.4, T5.5)."""
