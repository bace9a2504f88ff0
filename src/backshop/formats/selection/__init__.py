"""Changes of a file one by one: which there are, the file with some of them, where places went."""
