"""Which cells of a sheet are filled, found at the speed of the bytes (F8.3, F2.9).

Rows of real sheets repeat their shape: the same columns, the same types, other digits. With the
digits deleted two such rows are the same bytes, so each distinct shape is looked at once and a
million cells cost a hundred thousand dictionary lookups.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from backshop.base import limits
from backshop.base.system.mapped_bytes import release
from backshop.formats.errors import FormatError, fail

from ..syntax.address import MAX_ROW, Area
from .array import Unshown
from .sheet_xml import RowSpan, SheetXml, attributes, integer, reference
from .workbook import Book

_DIGITS = b"0123456789.-+"
_ROW_DIGITS = 7
_SHAPES_MAX = 20_000
_SURVEYS_KEPT = 4  # of the largest sheets about 8 MiB each
_BLOCK_BYTES = 1 << 20
_SHAPE_MAX_BYTES = 8_192
_TEXT_KINDS = frozenset({b"s", b"str", b"inlineStr"})
_TAG = re.compile(rb"<[^>]*>")


class Shape(NamedTuple):
    """The filled columns of a row as bits (bit 0 is column A), and what its formulas look like."""

    used: int  # holds a value or a formula
    filled: int  # holds something that is not only white space
    text: int  # of those, the ones that hold text
    formulas: int
    uncached: int
    cells: int


@dataclass(frozen=True)
class Survey:
    """The filled cells of one sheet: parallel arrays of row numbers and shapes."""

    rows: array[int]
    ids: array[int]
    shapes: list[Shape]
    used: Area | None
    formulas: int
    uncached: int
    partial_at: int | None  # the last row seen when the sheet has too many cells

    def shape(self, index: int) -> Shape:
        """Return the shape of the n-th filled row."""
        return self.shapes[self.ids[index]]


_kept: dict[tuple[str, str, int], Survey] = {}


def survey(book: Book, xml: SheetXml | None, most: int = limits.MAP_MAX_CELLS) -> Survey:
    """Go through a sheet once; at most so many cells are looked at one by one (F2.9)."""
    if xml is None:
        return Survey(array("I"), array("I"), [], None, 0, 0, None)
    return _Surveyor(book, xml, most).run()


def survey_of(sha256: str, book: Book, xml: SheetXml | None) -> Survey:
    """Go through a sheet of a stored workbook once, however many windows of it are read."""
    if xml is None:
        return survey(book, xml)
    key = (sha256, xml.part, len(xml.data))
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = survey(book, xml)
        for old in list(_kept)[:-_SURVEYS_KEPT]:
            _kept.pop(old, None)
    return found


class _Surveyor:
    def __init__(self, book: Book, xml: SheetXml, most: int) -> None:
        self._most = most
        self._blank = book.strings.blank
        self._count = len(book.strings)
        self._xml = xml
        self._known: dict[bytes, int] = {}  # what is inside a row, without digits
        self._pieces: dict[bytes, int] = {}  # likewise, with the row's own tag
        self._shapes: list[Shape] = []
        self._numbers: dict[Shape, int] = {}
        self._waiting = Unshown(book, xml).columns()  # what they hold is not known (F24.3)
        hints = (b"<v></v>", b"<v/>", b"v />", b"inlineStr")
        self._may_vary = bool(self._blank) or any(hint in xml.data for hint in hints)
        self.rows, self.ids = array("I"), array("I")
        self.cells = 0  # that were looked at one by one

    def run(self) -> Survey:
        """Look at every row, until too many cells had to be looked at one by one."""
        partial = self._plain() if self._xml.plain_rows else self._any()
        union = formulas = uncached = 0
        for number, count in Counter(self.ids).items():
            shape = self._shapes[number]
            union |= shape.used
            formulas += count * shape.formulas
            uncached += count * shape.uncached
        used = None
        if self.rows:
            used = Area(min(self.rows), _first(union), max(self.rows), union.bit_length())
            if used.row1 < 1 or used.row2 > MAX_ROW:
                raise self._unnumbered()
        return Survey(self.rows, self.ids, self._shapes, used, formulas, uncached, partial)

    def _any(self) -> int | None:
        data = self._xml.data
        for row in self._xml.iter_rows():
            if row.inner != row.close:
                self._note(row.number, self._id(data[row.inner : row.close]))
            if self.cells > self._most:
                return row.number
        return None

    def _plain(self) -> int | None:
        """Go through rows that all begin alike, a block at a time."""
        xml, data = self._xml, self._xml.data
        opening = b'<%srow r="' % xml.words.prefix
        ending = b"</%srow>" % xml.words.prefix
        skip, known, note = len(opening), self._pieces, self._note
        at, may_vary = xml.inner, self._may_vary
        while at < xml.close:
            stop = data.find(ending, min(at + _BLOCK_BYTES, xml.close), xml.close)
            stop = xml.close if stop < 0 else stop + len(ending)
            block = data[at:stop]
            release(data, at, stop)
            for piece in block.split(ending):
                number = None if may_vary else known.get(piece.translate(None, _DIGITS))
                row = piece[skip : piece.find(b'"', skip)] if number is not None else b""
                if number is None or len(row) > _ROW_DIGITS:
                    self._piece(piece, opening)
                else:
                    note(int(row), number)
            if self.cells > self._most:
                return self.rows[-1] if self.rows else None
            at = stop
        return None

    def _piece(self, piece: bytes, opening: bytes) -> None:
        """Look at a row that was not seen in this shape; empty rows may stand before it."""
        start = piece.rfind(opening)
        inner = piece.find(b">", start) + 1
        if start < 0 or not inner or piece[inner - 2] == 47:  # only empty rows
            return
        raw = attributes(piece[start:inner]).get(b"r")
        number = integer(raw)
        if not 1 <= number <= MAX_ROW:
            raise self._unnumbered()
        shape = self._id(piece[inner:])
        if start == 0 and not self._varies(piece) and len(self._pieces) < _SHAPES_MAX:
            self._pieces[piece.translate(None, _DIGITS)] = shape
        self._note(number, shape)

    def _unnumbered(self) -> FormatError:
        return fail("corrupt_file", "a row has no number", detail=self._xml.part)

    def _note(self, row: int, number: int) -> None:
        shape = self._shapes[number]
        if row in self._waiting:
            bits = self._waiting[row]
            shape = shape._replace(used=shape.used | bits, filled=shape.filled | bits)
            number = self._numbered(shape)
        if shape.used:
            self.rows.append(row)
            self.ids.append(number)

    def _id(self, raw: bytes) -> int:
        bare = raw.translate(None, _DIGITS)
        number = self._known.get(bare)
        varies = self._varies(raw)
        if number is not None and not varies:
            return number
        shape = _shape(raw, self._xml, self._blank, self._count)
        self.cells += shape.cells
        number = self._numbered(shape)
        room = len(self._known) < _SHAPES_MAX and len(bare) < _SHAPE_MAX_BYTES
        if room and not varies:
            self._known[bare] = number
        return number

    def _numbered(self, shape: Shape) -> int:
        number = self._numbers.get(shape)
        if number is None:
            number = self._numbers[shape] = len(self._shapes)
            self._shapes.append(shape)
        return number

    def _varies(self, raw: bytes) -> bool:
        """Whether digits decide what is blank here."""
        if not self._may_vary:
            return False
        empty = b"<v></v>" in raw or b"<v/>" in raw or b"v />" in raw
        return empty or bool(self._blank and b'"s"' in raw) or b"inlineStr" in raw


def used_columns(raw: bytes, xml: SheetXml, count: int) -> int:
    """Return the columns of a row's cells that hold a value or a formula, as bits (bit 0 is A)."""
    return _shape(raw, xml, frozenset(), count).used


def _shape(raw: bytes, xml: SheetXml, blank: frozenset[int], count: int) -> Shape:
    used = filled = text = formulas = uncached = cells = col = 0
    words = xml.words
    has_formula = b"<" + words.prefix + b"f" in raw
    for attrs, content in words.cell.findall(raw):
        cells += 1
        found = attributes(attrs)
        place = reference(found.get(b"r"))
        col = place[1] if place else col + 1
        if not content:
            continue
        kind = found.get(b"t", b"n")
        bit = 1 << (col - 1)
        value = words.value.search(content)
        inside = (value[2] or b"") if value else b""
        if has_formula and words.formula.search(content):
            formulas += 1
            used |= bit
            has_none = value is None if kind == b"str" else not inside and kind != b"inlineStr"
            if has_none:
                uncached += 1
                filled |= bit
                continue
        if kind == b"inlineStr":
            inside = _TAG.sub(b"", content)
        elif kind == b"s":
            index = integer(inside.strip(), -1)
            if not 0 <= index < count:
                continue
            inside = b"" if index in blank else b"x"
            used |= bit
        if not inside:
            continue
        used |= bit
        if inside.strip():
            filled |= bit
            if kind in _TEXT_KINDS:
                text |= bit
    return Shape(used, filled, text, formulas, uncached, cells)


def _first(mask: int) -> int:
    return (mask & -mask).bit_length()


def spans(xml: SheetXml, wanted: set[int]) -> dict[int, RowSpan]:
    """Return where the wanted rows stand, without keeping the others."""
    found: dict[int, RowSpan] = {}
    for row in xml.pick(wanted):
        found.setdefault(row.number, row)
    return found


# --- islands (F8.4-F8.6) ------------------------------------------------------------------------

MAX_ISLANDS = 50
_HEADER_ROWS = 10


@dataclass(frozen=True, slots=True)
class Island:
    """A block of filled cells; `headers` are those of `header_row`, one per column."""

    area: Area
    label: str
    header_row: int | None
    headers: tuple[str | None, ...] | None


def islands(book: Book, xml: SheetXml | None, found: Survey) -> tuple[list[Island], int]:
    """Return the islands of a sheet, at most 50, and how many there are."""
    if xml is None:
        return [], 0
    boxes: list[tuple[Area, bool]] = []
    total = 0
    for first, last in _bands(found):
        runs = _runs(_union(found, first, last))
        total += len(runs)
        if len(boxes) < MAX_ISLANDS:
            boxes.extend(sorted(_box(found, first, last, run) for run in runs))
    boxes = boxes[:MAX_ISLANDS]
    wanted = {
        row
        for area, _ in boxes
        for row in range(area.row1, min(area.row1 + _HEADER_ROWS, area.row2 + 1))
    }
    places = spans(xml, wanted)
    return [_island(book, xml, area, mixed, places) for area, mixed in boxes], total


def header_row(book: Book, xml: SheetXml, area: Area) -> tuple[int, tuple[str | None, ...]] | None:
    """Return the header row of a range that is taken for an island, and its texts (F8.5)."""
    rows = set(range(area.row1, min(area.row1 + _HEADER_ROWS, area.row2)))
    found = _island(book, xml, area, False, spans(xml, rows))
    return None if found.header_row is None else (found.header_row, found.headers or ())


def _bands(found: Survey) -> list[tuple[int, int]]:
    """Return runs of neighbouring rows with something in them, as indexes."""
    bands: list[tuple[int, int]] = []
    start: int | None = None
    before = 0
    for index, row in enumerate(found.rows):
        filled = found.shapes[found.ids[index]].filled
        if start is not None and (not filled or row != before + 1):
            bands.append((start, index))
            start = None
        if filled and start is None:
            start = index
        before = row
    if start is not None:
        bands.append((start, len(found.rows)))
    return bands


def _union(found: Survey, first: int, last: int) -> int:
    union = 0
    for number in set(found.ids[first:last]):
        union |= found.shapes[number].filled
    return union


def _runs(mask: int) -> list[int]:
    runs = []
    while mask:
        low = mask & -mask
        after = mask + low  # the carry runs through the lowest block of ones
        run = mask & ~after
        runs.append(run)
        mask &= ~run
    return runs


def _box(found: Survey, first: int, last: int, run: int) -> tuple[Area, bool]:
    """Return the bounding box of a run of columns, and whether anything in it is not text."""
    ids, shapes, rows = found.ids, found.shapes, found.rows
    hits = {number for number in set(ids[first:last]) if shapes[number].filled & run}
    top = next(index for index in range(first, last) if ids[index] in hits)
    bottom = next(index for index in range(last - 1, first - 1, -1) if ids[index] in hits)
    union, mixed = 0, False
    for number in hits:
        shape = shapes[number]
        union |= shape.filled & run
        mixed = mixed or bool(shape.filled & ~shape.text & run)
    return Area(rows[top], _first(union), rows[bottom], union.bit_length()), mixed


def _island(
    book: Book, xml: SheetXml, area: Area, mixed: bool, places: dict[int, RowSpan]
) -> Island:
    for row in range(area.row1, min(area.row1 + _HEADER_ROWS, area.row2)):
        place = places.get(row)
        headers = _headers(book, xml, area, place) if place else None
        if headers is not None:
            return Island(area, "table", row, headers)
    return Island(area, "data" if mixed else "header", None, None)


def _headers(book: Book, xml: SheetXml, area: Area, row: RowSpan) -> tuple[str | None, ...] | None:
    values: list[str | None] = [None] * area.width
    for cell in xml.cells(row, area.col1, area.col2):
        value = book.value(cell)
        if book.is_uncached(cell):
            return None
        if value.kind == "blank" or (value.kind == "string" and not value.text.strip()):
            continue
        if value.kind != "string":
            return None
        values[cell.col - area.col1] = value.text
    filled = [value for value in values if value is not None]
    if len(filled) < max(1 if area.width == 1 else 2, 0.6 * area.width):
        return None
    if any(filled.count(value) > 2 for value in set(filled)):
        return None
    return tuple(values)
