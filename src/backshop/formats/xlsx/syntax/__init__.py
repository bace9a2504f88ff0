"""Formula text: addresses, tokens, functions and their arguments."""
