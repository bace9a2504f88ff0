"""Tools within a turn: which a phase has, their log, and what the model sees of results."""
