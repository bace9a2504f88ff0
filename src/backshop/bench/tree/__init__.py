"""Trees of a bench, compared with each other and the store: differences, renames, losses."""
