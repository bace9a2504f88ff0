"""Operations on a document: paragraphs, text, tables, headers (F16, F19)."""
