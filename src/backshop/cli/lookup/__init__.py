"""Looking things up in the terminal: across workbenches, and numbers as people read them."""
