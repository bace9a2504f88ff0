"""A conversation as facts: its events, its state, the folds and the rules."""
