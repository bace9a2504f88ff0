"""Which workflows there are: sources, repositories, shelves, and writing one's own (R3)."""
