"""Formulas that fill several cells: array formulas, spilled ones, data tables."""

from __future__ import annotations

from collections.abc import Iterator

from .address import Area, parse_area
from .book import Book
from .sheetxml import RawCell, SheetXml

_MARKS = (b'"array"', b"'array'", b"dataTable")


def spread_formulas(xml: SheetXml) -> Iterator[tuple[Area, RawCell]]:
    """Go through the formulas over more than one cell: the area, and the cell that holds it."""
    if not any(xml.data.find(mark, xml.inner, xml.close) >= 0 for mark in _MARKS):
        return
    for cell in xml.formula_cells():
        raw = cell.formula
        area = parse_area(raw.ref) if raw and raw.ref else None
        if raw and raw.kind in {"array", "dataTable"} and area and area.count > 1:
            yield area, cell


class Unshown:
    """The cells that show values of a formula whose results are not stored: unknown, not blank."""

    def __init__(self, book: Book, xml: SheetXml | None) -> None:
        self._found: list[tuple[Area, str]] = []
        if xml is not None:
            self._found = [
                (area, book.formula(cell, xml) or "")
                for area, cell in spread_formulas(xml)
                if book.is_uncached(cell)
            ]

    def formula(self, cell: RawCell) -> str | None:
        """Return the formula whose value an empty cell waits for."""
        if not self._found or cell.formula is not None or cell.value is not None:
            return None
        return next((text for area, text in self._found if area.has(cell.row, cell.col)), None)
