"""How large a sheet is and where its rows stand, found without looking at every cell (F29.4).

Somebody who opens a sheet waits for its first window. A survey looks at every cell; the size needs
only the columns that are named at all and the rows at both ends, and those are found at the speed
of the bytes.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from backshop.formats.protocol import Source

from ..syntax.address import MAX_COL, MAX_ROW, Area, column_name, column_number
from .array import Unshown
from .opening import open_book
from .piece import pieces
from .sheet_xml import RowSpan, SheetXml
from .survey import Survey, survey, used_columns
from .workbook import Book, Sheet

_TRIES = 4  # columns looked at one by one from each side; then all are passed once


@dataclass(frozen=True, slots=True)
class Extent:
    """The area of a sheet that holds values or formulas, and its rows: numbers and places."""

    used: Area | None
    numbers: array[int]
    places: array[int]
    rising: bool  # as it should be; otherwise a row may stand anywhere
    unshown: Unshown

    def rows(self, xml: SheetXml, first: int, last: int) -> Iterator[RowSpan]:
        """Go through the rows of a window."""
        if self.rising:
            chosen = range(bisect_left(self.numbers, first), bisect_left(self.numbers, last + 1))
            wanted = iter(chosen)
        else:
            wanted = (at for at, row in enumerate(self.numbers) if first <= row <= last)
        for at in wanted:
            yield _span(xml, self.numbers[at], self.places[at])


class Opened:
    """A workbook that is only looked at, again and again by somebody who scrolls."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._extents: dict[str, Extent] = {}

    def extent(self, sheet: Sheet) -> Extent:
        """Return the size of a sheet and the places of its rows."""
        if sheet.name not in self._extents:
            self._extents[sheet.name] = extent(self.book, self.book.xml(sheet))
        return self._extents[sheet.name]


@lru_cache(maxsize=2)  # sources never change, so the two that are compared may stay open
def opened(source: Source) -> Opened:
    """Return a workbook to look at."""
    return Opened(open_book(source))


def used_area(book: Book, xml: SheetXml | None, found: Survey) -> Area | None:
    """Return the area that holds something, also of a sheet of which not all was surveyed."""
    return found.used if found.partial_at is None else extent(book, xml).used


def extent(book: Book, xml: SheetXml | None) -> Extent:
    """Find the size of a sheet; one that is not written as usual is surveyed."""
    unshown = Unshown(book, xml)
    if xml is None:
        return Extent(None, array("I"), array("Q"), True, unshown)
    numbers, places = _rows(xml)
    rising = all(map(int.__lt__, numbers, numbers[1:]))
    columns = _named_columns(xml) if rising else None
    if columns is None:
        return Extent(survey(book, xml).used, numbers, places, rising, unshown)
    used = unshown.around(_used(book, xml, numbers, places, columns))
    return Extent(used, numbers, places, rising, unshown)


def _rows(xml: SheetXml) -> tuple[array[int], array[int]]:
    numbers, places = array("I"), array("Q")
    if xml.plain_rows:
        pattern = re.compile(rb'<%srow r="([1-9]\d{0,6})"' % re.escape(xml.words.prefix))
        opening = b"<" + xml.words.prefix + b"row"
        for at, piece in pieces(xml.data, opening, xml.inner, xml.close):
            for match in pattern.finditer(piece):
                numbers.append(int(match[1]))
                places.append(at + match.start())
        whole = len(numbers) == xml.data.count(opening, xml.inner, xml.close)
        if whole and max(numbers, default=0) <= MAX_ROW:
            return numbers, places
    spans = [(row.number, row.start) for row in xml.iter_rows()]
    return array("I", (row for row, _ in spans)), array("Q", (at for _, at in spans))


def _named_columns(xml: SheetXml) -> list[int] | None:
    """Return every column that a cell names, filled or not; None when a cell names none."""
    opening = b"<" + xml.words.prefix + b"c"
    pattern = re.compile(rb'<%sc r="([A-Za-z]{1,3})[1-9]' % re.escape(xml.words.prefix))
    found: set[bytes] = set()
    plain = 0
    for _, piece in pieces(xml.data, opening, xml.inner, xml.close):
        names = pattern.findall(piece)
        found.update(names)
        plain += len(names)
    columns = sorted({column_number(name.decode()) for name in found})
    whole = plain == xml.data.count(opening, xml.inner, xml.close)
    return columns if whole and max(columns, default=0) <= MAX_COL else None


def _used(
    book: Book, xml: SheetXml, numbers: array[int], places: array[int], columns: list[int]
) -> Area | None:
    strings = len(book.strings)

    def fills(at: int) -> bool:
        row = _span(xml, numbers[at], places[at])
        return bool(used_columns(xml.data[row.inner : row.close], xml, strings))

    rows = range(len(numbers))
    top = next(filter(fills, rows), None)
    if top is None:
        return None
    bottom = next(filter(fills, reversed(rows)))
    left, right = _sides(xml, columns, strings)
    return Area(numbers[top], left, numbers[bottom], right)


def _sides(xml: SheetXml, columns: list[int], strings: int) -> tuple[int, int]:
    """Return the first and the last column that hold something; there is one.

    Usually the outermost named columns do. Where they are only formatted, each further one that is
    looked at would cost the whole sheet, so it is passed once for all of them.
    """
    left = next((col for col in columns[:_TRIES] if _fills(xml, col, strings)), None)
    right = next((col for col in columns[: -_TRIES - 1 : -1] if _fills(xml, col, strings)), None)
    if left is None or right is None:
        return _outermost(xml, strings)
    return left, right


def _fills(xml: SheetXml, col: int, strings: int) -> bool:
    prefix, name = re.escape(xml.words.prefix), column_name(col).encode()
    pattern = re.compile(rb'<%sc r="%s\d' % (prefix, name), re.I)
    cells = _cells(xml, pattern)
    return any(_holds(xml, piece, found.start(), strings) for piece, found in cells)


def _cells(xml: SheetXml, pattern: re.Pattern[bytes]) -> Iterator[tuple[bytes, re.Match[bytes]]]:
    """Go through the cells whose beginning is such, each with the piece of the sheet it is in."""
    mark = b"<" + xml.words.prefix + b"row"
    for _, piece in pieces(xml.data, mark, xml.inner, xml.close):
        for found in pattern.finditer(piece):
            yield piece, found


def _outermost(xml: SheetXml, strings: int) -> tuple[int, int]:
    prefix = re.escape(xml.words.prefix)
    pattern = re.compile(rb'<%sc r="([A-Za-z]{1,3})[1-9][^>]*(?<!/)>' % prefix)
    known: dict[bytes, int] = {}
    left, right = MAX_COL + 1, 0
    for piece, found in _cells(xml, pattern):
        col = known.get(found[1])
        if col is None:
            col = known[found[1]] = column_number(found[1].decode())
        if not left <= col <= right and _holds(xml, piece, found.start(), strings):
            left, right = min(left, col), max(right, col)
    return left, right


def _holds(xml: SheetXml, piece: bytes, at: int, strings: int) -> bool:
    cell = xml.words.cell.match(piece, at)
    return cell is not None and bool(used_columns(cell[0], xml, strings))


def _span(xml: SheetXml, number: int, place: int) -> RowSpan:
    return next(xml.iter_rows(place))._replace(number=number)
