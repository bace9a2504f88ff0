"""A Draft in the terminal: reviewed, remarked on, chosen from, published."""
