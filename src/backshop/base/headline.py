"""A text as a headline: one line of it, cut at a word."""

from __future__ import annotations


def headline(text: str, max_chars: int) -> str:
    """Return a text in one line of at most so many characters."""
    words = " ".join(text.split())
    if len(words) <= max_chars:
        return words
    return words[: max_chars - 1].rsplit(" ", 1)[0] + "…"
