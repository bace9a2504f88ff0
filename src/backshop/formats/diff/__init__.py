"""What differs between two versions: lines, words, prose, slides, pages, parts (B12)."""
