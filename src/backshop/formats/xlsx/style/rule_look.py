"""How the rules of a workbook are told, with the looks and colours it has."""

from __future__ import annotations

from ..book.workbook import Book, local
from ..rule.words import RuleWords
from .look import Looks


def rule_words(book: Book) -> RuleWords:
    """Return how the rules of a workbook are told."""
    looks = Looks(book)
    formats = [item for item in looks.table("dxfs") if local(item) == "dxf"]
    return RuleWords(formats, looks.color)
