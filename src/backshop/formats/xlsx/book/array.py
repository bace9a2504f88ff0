"""Formulas that fill several cells: array formulas, spilled ones, data tables."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import reduce
from operator import or_

from ..syntax.address import Area, parse_area
from .sheet_xml import RawCell, SheetXml
from .workbook import Book

_MARKS = (b'"array"', b"'array'", b"dataTable")


def spread_formulas(xml: SheetXml) -> Iterator[tuple[Area, RawCell]]:
    """Go through the formulas over more than one cell: the area, and the cell that holds it."""
    if not xml.has_formulas or not _marked(xml, xml.inner, xml.close):
        return
    for row in xml.iter_rows():
        for cell in xml.cells(row) if _marked(xml, row.inner, row.close) else ():
            raw = cell.formula
            area = parse_area(raw.ref) if raw and raw.ref else None
            if raw and raw.kind in {"array", "dataTable"} and area and area.count > 1:
                yield area, cell


def _marked(xml: SheetXml, start: int, end: int) -> bool:
    return any(xml.data.find(mark, start, end) >= 0 for mark in _MARKS)


class Unshown:
    """The cells that show values of a formula whose results are not stored: unknown, not blank."""

    def __init__(self, book: Book, xml: SheetXml | None) -> None:
        self._xml = xml
        self._rows: dict[int, list[tuple[Area, str]]] = {}
        waiting = [
            (area, book.formula(cell, xml) or "")
            for area, cell in (spread_formulas(xml) if xml else ())
            if xml and book.is_uncached(cell)
        ]
        numbers = sorted({row.number for row in xml.rows()}) if xml and waiting else []
        for area, text in waiting:
            for at in range(bisect_left(numbers, area.row1), bisect_right(numbers, area.row2)):
                self._rows.setdefault(numbers[at], []).append((area, text))

    def formula(self, cell: RawCell) -> str | None:
        """Return the formula whose value an empty cell waits for."""
        if cell.row not in self._rows or cell.formula is not None or cell.value is not None:
            return None
        here = self._rows[cell.row]
        return next((text for area, text in here if area.has(cell.row, cell.col)), None)

    def columns(self) -> dict[int, int]:
        """Return the cells that wait: by row, their columns as bits (bit 0 is A)."""
        found: dict[int, int] = {}
        for row in self._xml.rows() if self._xml and self._rows else ():
            for cell in self._xml.cells(row) if self._xml and row.number in self._rows else ():
                if self.formula(cell) is not None:
                    found[row.number] = found.get(row.number, 0) | 1 << (cell.col - 1)
        return found

    def around(self, used: Area | None) -> Area | None:
        """Return the area that holds `used` and every cell that waits."""
        columns = self.columns()
        if not columns:
            return used
        union = reduce(or_, columns.values())
        first = (union & -union).bit_length()
        waiting = Area(min(columns), first, max(columns), union.bit_length())
        return used.join(waiting) if used else waiting
