"""A prompt session: typed state of one line of work with a model, kept as events (P2)."""
