"""What a formula may name in a workbook: its sheets, names and tables."""

from __future__ import annotations

from dataclasses import dataclass

from ..book.workbook import Book, Table


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a workbook, by their small letters."""

    sheets: dict[str, str]
    names: dict[str, str]
    refers: dict[str, str]  # what a name stands for
    tables: dict[str, tuple[str, Table]]  # with the sheet each is on

    @classmethod
    def of(cls, book: Book) -> Vocabulary:
        """Gather the words of a workbook as it is now."""
        return cls(
            {sheet.name.lower(): sheet.name for sheet in book.sheets},
            {item.name.lower(): item.name for item in book.names},
            {item.name.lower(): item.refers_to for item in book.names},
            book.named_tables(),
        )
