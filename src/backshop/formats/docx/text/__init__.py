"""Reading a document: body, sections, lines, comments, tracked changes (F9)."""
