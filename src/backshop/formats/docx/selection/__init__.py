"""Changes of a document one by one: which there are, the document with some, where places went."""
