"""A session as facts: its events, its state, the fold, its lineage and its workspace."""
