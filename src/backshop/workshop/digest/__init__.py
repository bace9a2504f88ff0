"""The digest of a bench: kept up to date, pinned, shown and changed by people (P7)."""
