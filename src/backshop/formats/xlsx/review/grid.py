"""What review shows of a workbook: a window of cells with their looks, lines, and a diff (F29)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.figure.plain import exact_text, plain_text
from backshop.formats.protocol import Json, JsonObject, Source
from backshop.formats.warning import Warnings

from ..alignment.counterpart import same_meaning
from ..alignment.line_run import SheetLines
from ..book.array import Unshown, spread_formulas
from ..book.extent import Extent, Opened, opened
from ..book.frame import Frame
from ..book.opening import open_book
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes, row_pairs
from ..book.shown_text import shown_text
from ..book.workbook import Book, Sheet, Value, child, children
from ..read import choose_sheet
from ..style import look_words
from ..style.look import Looks
from ..syntax.address import MAX_COL, MAX_ROW, WHOLE, Area, cell_name, column_name
from .aligned import Aligned, Pair, aligned


def extract_grid(
    source: Source,
    sheet: str | None = None,
    row_start: int = 0,
    col_start: int = 0,
    row_count: int = limits.GRID_MAX_ROWS,
    col_count: int = limits.GRID_MAX_COLUMNS,
) -> JsonObject:
    """Return a window of cells, rows and columns counted from 0 (F29.4)."""
    if not (1 <= row_count <= limits.GRID_MAX_ROWS and 1 <= col_count <= limits.GRID_MAX_COLUMNS):
        raise fail("bad_range", "a grid has at most 200 rows and 50 columns")
    if not (0 <= row_start < MAX_ROW and 0 <= col_start < MAX_COL):
        raise fail("bad_range", "the grid begins outside the sheet")
    looked_at = opened(source)
    book = looked_at.book
    chosen = choose_sheet(book, sheet, Warnings())
    xml = book.xml(chosen)
    area = Area(row_start + 1, col_start + 1, row_start + row_count, col_start + col_count)
    size = looked_at.extent(chosen)
    used = size.used
    frame = Frame.of(xml) if xml else None
    return {
        "sheets": [item.name for item in book.sheets],
        "hidden_sheets": [item.name for item in book.sheets if item.state != "visible"],
        "sheet": chosen.name,
        "row_count": used.row2 if used else 0,
        "col_count": used.col2 if used else 0,
        **_cells(book, xml, area, size),
        "merges": [str(merge) for merge in frame.merges if merge.meets(area)] if frame else [],
        "column_widths": _widths(frame, area),
        "row_heights": _heights(xml, area, size),
        "frozen": frame.frozen if frame else None,
    }


def _cells(book: Book, xml: SheetXml | None, area: Area, size: Extent) -> JsonObject:
    """Return the cells row by row, None where there is nothing, and the looks they have.

    A row ends with its last cell; a cell names its look by its place in the list, the first one
    is that of cells that say none and is not named.
    """
    looks = Looks(book)
    styles: list[Json] = [{}]
    known: dict[int, int] = {0: 0}
    last = min(area.row2, size.used.row2) if size.used else area.row1 - 1
    grid: list[list[Json]] = [[] for _ in range(max(0, last - area.row1 + 1))]
    for row in size.rows(xml, area.row1, last) if xml else ():
        for cell in xml.cells(row, area.col1, area.col2) if xml else ():
            if cell.style not in known:
                look = looks.describe(cell.style)
                known[cell.style] = len(styles) if look else 0
                styles.extend([look] if look else [])
            formula = _formula(book, xml, cell, size.unshown)
            made = _cell(book, cell, formula, known[cell.style])
            line = grid[row.number - area.row1]
            at = cell.col - area.col1
            if made is not None:
                line.extend([None] * (at + 1 - len(line)))
                line[at] = made
    return {"cells": [*grid], "styles": styles}


def _formula(book: Book, xml: SheetXml | None, cell: RawCell, unshown: Unshown) -> str | None:
    """Return a cell's formula, or the one over several cells whose value it waits for (F24.3)."""
    if xml is None or cell.formula is None:
        return unshown.formula(cell)
    return book.formula(cell, xml)


def _waits(book: Book, cell: RawCell, formula: str | None) -> bool:
    """Whether the value of a formula is to be seen here and is not stored."""
    return formula is not None and (cell.formula is None or book.is_uncached(cell))


def _cell(book: Book, cell: RawCell, formula: str | None, style: int) -> JsonObject | None:
    """Return what a cell shows; None for one that holds nothing and looks like any other."""
    value = book.value(cell)
    raw: Json = value.text
    code, _ = book.formats.of(cell.style)
    if value.kind == "blank":
        raw = None
    elif value.kind == "boolean":
        raw = bool(value.number)
    elif value.kind == "number":
        raw = value.number
    waits = _waits(book, cell, formula)
    shown = f"{{={formula}}}" if waits else shown_text(book, value, code)
    if value.kind == "blank" and formula is None and not style:
        return None
    found: dict[str, Json] = {
        "value": int(raw) if isinstance(raw, float) and raw == int(raw) else raw,
        "type": value.kind,
        "display": shown,
    }
    if formula is not None:
        found["formula"] = f"={formula}"
    return {**found, "style": style} if style else found


def _widths(frame: Frame | None, area: Area) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for item in children(child(frame.root, "cols"), "col") if frame else ():
        width = item.get("width")
        first, last = int(item.get("min") or 0), int(item.get("max") or 0)
        for col in range(max(first, area.col1), min(last, area.col2) + 1):
            if width is not None:
                found[column_name(col)] = 0.0 if item.get("hidden") == "1" else float(width)
    return found


def _heights(xml: SheetXml | None, area: Area, size: Extent) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for row in size.rows(xml, area.row1, area.row2) if xml else ():
        tag = attributes(xml.data[row.start : row.inner]) if xml else {}
        if tag.get(b"hidden") in {b"1", b"true"}:
            found[str(row.number)] = 0.0
        elif b"ht" in tag:
            found[str(row.number)] = float(tag[b"ht"])
    return found


def extract_lines(source: Source) -> list[str]:
    """Return one line per filled row of every sheet (F29.1)."""
    book = open_book(source)
    lines = []
    for sheet in book.sheets:
        xml = book.xml(sheet)
        unshown = Unshown(book, xml)
        for row in xml.iter_rows() if xml else ():
            texts: list[str] = []
            for cell in xml.cells(row) if xml else ():
                text = _line_text(book, cell, _formula(book, xml, cell, unshown))
                if text:
                    texts.append(text)
            if any(text.strip() for text in texts):
                lines.append(f"[{sheet.name}] {row.number} | " + " | ".join(texts))
    return lines


def _line_text(book: Book, cell: RawCell, formula: str | None) -> str:
    text = book.value(cell).text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    if formula is None:
        return text
    shown = "{=" + formula.replace("\n", "\\n") + "}"
    return shown if _waits(book, cell, formula) else f"{text} {shown}"


# --- differences (F29.5) ------------------------------------------------------------------------

CHANGES = ("value", "formula", "result", "style")
_NO_LOOKS: tuple[JsonObject, JsonObject, list[Json]] = ({}, {}, [])
_WENT = "went with its row or column"
_KIND_WORDS = {"number": "number", "string": "text", "boolean": "truth value", "error": "error"}
_FORMULA_WORDS = {
    "changed": "formula changed",
    "added": "formula added",
    "removed": "formula removed",
    "to_value": "formula replaced by a value",
    "from_value": "value replaced by a formula",
}


def diff_cells(
    before: Source, after: Source, skip: int = 0, limit: int = limits.CELLS_DIFFERING_LISTED
) -> JsonObject:
    """Return what differs between two workbooks: lines that came or went, then cell by cell.

    Every changed cell is counted, sheet by sheet; of all of them in order those are listed that
    come after the first `skip`, at most `limit`. What only follows lines is not changed.
    """
    both = aligned(before, after)
    same = same_meaning(both.moved.book, both.new.book)
    lines = both.told()
    sheets: list[Json] = []
    seen, end = 0, skip + limit
    for pair in both.pairs:
        tally = _Tally(max(0, skip - seen), max(0, end - seen))
        for change in _changes(_Sides.of(both, pair), same):
            tally.take(change)
        seen += tally.total
        first, second = pair
        renamed = first.name if first and second and first.name != second.name else None
        if tally.total or renamed or both.of(pair) or not (first and second):
            sheets.append(
                {
                    "sheet": _name_of(pair),
                    "added": first is None,
                    "removed": second is None,
                    "renamed_from": renamed,
                    **tally.told(),
                }
            )
    return {
        "sheets": sheets,
        "cell_count": seen,
        "more": max(0, seen - end),
        "lines": lines,
        "following": both.following() if lines else None,
    }


def diff_window(
    before: Source,
    after: Source,
    sheet: str | None = None,
    row_start: int = 0,
    col_start: int = 0,
    row_count: int = limits.GRID_MAX_ROWS,
    col_count: int = limits.GRID_MAX_COLUMNS,
    is_before: bool = False,
) -> list[Json]:
    """Return the changed cells of one window of a sheet, whatever changed elsewhere (F29.5).

    The window and the cells are those of the workbook after, or of the one before; a sheet goes by
    the name it has there, one that only the other has by its own.
    """
    both = aligned(before, after)
    shown = both.old if is_before else both.new
    wanted = sheet or choose_sheet(shown.book, None, Warnings()).name
    pair = next((one for one in both.pairs if _name_of(one, is_before=is_before) == wanted), None)
    if pair is None:
        return []
    area = Area(row_start + 1, col_start + 1, row_start + row_count, col_start + col_count)
    lines = both.of(pair)
    found: list[Json] = []
    if is_before and lines:
        found += _went(both, pair, area)
        area = _now(lines, area)
    for change in _changes(_Sides.of(both, pair, area), comparable=False):
        was, told = lines.was(change.row, change.col), change.told()
        if not is_before or not lines:
            found.append(told)
        elif was is not None:
            found.append({**told, "cell": cell_name(*was), "cell_after": told["cell"]})
    return found


def _now(lines: SheetLines, area: Area) -> Area:
    """Return the cells among which those of a window of before are now."""
    rows = [now for at in range(area.row1, area.row2 + 1) if (now := lines.rows.now(at))]
    cols = [now for at in range(area.col1, area.col2 + 1) if (now := lines.columns.now(at))]
    if not rows or not cols:
        return Area(MAX_ROW, MAX_COL, MAX_ROW, MAX_COL)
    return Area(rows[0], cols[0], rows[-1], cols[-1])


def _went(both: Aligned, pair: Pair, area: Area) -> Iterator[JsonObject]:
    """Go through the cells of a window of before that went with their lines."""
    lines = both.of(pair)
    side = _Side(both.old.book, both.before(pair), both.old, area)
    for row in side.rows():
        for col, cell in side.cells(row).items():
            is_there = lines.rows.now(row.number) and lines.columns.now(col)
            shown = side.shown(cell)
            if not is_there and shown.typed is not None:
                sides: JsonObject = {"before": shown.typed, "after": None}
                said: JsonObject = {"cell": cell_name(row.number, col), "kind": "value", **sides}
                yield _Change(row.number, col, {**said, "what": _WENT}, shown, _Shown()).told()


class _Tally:
    """Counts the changes of a sheet and keeps those that are listed."""

    def __init__(self, skip: int, end: int) -> None:
        self._skip, self._end = skip, end
        self.total = 0
        self._counts = dict.fromkeys(CHANGES, 0)
        self._cells: list[Json] = []
        self._rows: list[int] = []  # first and last with changed contents, from 1
        self._cols: list[int] = []

    def take(self, change: _Change) -> None:
        if self._skip <= self.total < self._end:
            self._cells.append(change.told())
        self.total += 1
        row, col, kind = change.row, change.col, str(change.said["kind"])
        self._counts[kind] += 1
        if kind == "style":
            return
        if not self._rows:
            self._rows, self._cols = [row, row], [col, col]
        self._rows = [min(self._rows[0], row), max(self._rows[1], row)]
        self._cols = [min(self._cols[0], col), max(self._cols[1], col)]

    def told(self) -> JsonObject:
        """Return the counts by kind, where the contents changed (from 0), and the listed cells."""
        place: JsonObject | None = None
        if self._rows:
            rows = {"row_start": self._rows[0] - 1, "row_end": self._rows[1] - 1}
            place = {**rows, "col_start": self._cols[0] - 1, "col_end": self._cols[1] - 1}
        return {
            "cell_count": self.total,
            "counts": {**self._counts},
            "bounds": place,
            "cells": self._cells,
        }


def _name_of(pair: Pair, *, is_before: bool = False) -> str:
    shown = (pair[0] or pair[1]) if is_before else (pair[1] or pair[0])
    return shown.name if shown else ""


class _Shown(NamedTuple):
    """What a cell holds: its own formula, its value as text unless that is not stored, its look."""

    formula: str | None = None
    text: str | None = None
    style: int = 0
    kind: str = ""  # of the value: number (a date is one), string, boolean, error
    number: float | None = None
    book: Book | None = None
    value: Value | None = None

    @property
    def display(self) -> str | None:
        """The value as its number format shows it (F24.19); None where there is none."""
        if self.book is None or self.value is None:
            return None
        return shown_text(self.book, self.value, self.book.formats.of(self.style)[0])

    @property
    def typed(self) -> str | None:
        """What somebody would have typed: the formula, else the value."""
        return self.text if self.formula is None else self.formula

    @property
    def seen(self) -> str | None:
        """The value by the digits that people see."""
        if self.number is None or self.text is None or self.text != exact_text(self.number):
            return self.text
        return plain_text(self.number)


class _Change(NamedTuple):
    """A changed cell: its row and column from 1, what is said of it, and what both sides hold."""

    row: int
    col: int
    said: JsonObject
    before: _Shown
    after: _Shown

    def told(self) -> JsonObject:
        """Return it with both values as the sheet shows them, where that is not what is stored.

        A number format is applied here, to what is listed, and not to all that is counted.
        """
        if self.said["kind"] == "style":
            return self.said
        shown: JsonObject = {"before": self.before.display, "after": self.after.display}
        plain = {"before": self.before.seen, "after": self.after.seen}
        return self.said if shown == plain else {**self.said, "shown": shown}


class _Side:
    """One of two workbooks, and the sheet of it that is compared, whole or in a window."""

    def __init__(
        self,
        book: Book,
        sheet: Sheet | None,
        looked_at: Opened | None = None,
        area: Area | None = None,
    ) -> None:
        self._book = book
        self._looks = Looks(book)
        self._known: dict[int, JsonObject] = {}
        self._area = area or WHOLE
        self._extent = looked_at.extent(sheet) if looked_at and sheet else None
        self.xml = book.xml(sheet) if sheet else None

    def rows(self) -> Iterator[RowSpan]:
        if self.xml is None:
            return iter(())
        if self._extent is None:
            return self.xml.iter_rows()
        found = self._extent.rows(self.xml, self._area.row1, self._area.row2)
        return iter(sorted(found, key=lambda row: row.number))

    def cells(self, row: RowSpan | None) -> dict[int, RawCell]:
        if self.xml is None or row is None:
            return {}
        area = self._area
        return {cell.col: cell for cell in self.xml.cells(row, area.col1, area.col2)}

    def cell(self, row: int, col: int) -> RawCell | None:
        """Return one cell of the sheet."""
        if self.xml is None or self._extent is None:
            return None
        rows = self._extent.rows(self.xml, row, row)
        return next((cell for one in rows for cell in self.xml.cells(one, col, col)), None)

    def look(self, style: int) -> JsonObject:
        if style not in self._known:
            self._known[style] = self._looks.whole(style)
        return self._known[style]

    def shown(self, cell: RawCell | None) -> _Shown:
        if cell is None:
            return _Shown()
        value = self._book.value(cell)
        own = None
        if cell.formula is not None and self.xml is not None:
            own = f"={self._book.formula(cell, self.xml)}"
        is_known = value.kind != "blank" and not (own and self._book.is_uncached(cell))
        if not is_known:
            return _Shown(own, None, cell.style)
        kind = "number" if value.kind == "date" else value.kind
        return _Shown(own, value.text, cell.style, kind, value.number, self._book, value)

    def covering(self, row: int, col: int) -> str | None:
        """Return the formula over several cells whose result a cell without one shows."""
        here = (text for area, text in self._spread if area.has(row, col))
        return next(here, None)

    @cached_property
    def _spread(self) -> list[tuple[Area, str]]:
        found = spread_formulas(self.xml) if self.xml else ()
        return [
            (area, f"={self._book.formula(cell, self.xml)}") for area, cell in found if self.xml
        ]


@dataclass(frozen=True)
class _Sides:
    """Two versions of a sheet with the same lines, and the first one as it was."""

    before: _Side
    after: _Side
    origin: _Side
    lines: SheetLines

    @classmethod
    def of(cls, both: Aligned, pair: Pair, area: Area | None = None) -> _Sides:
        """Open a sheet on both sides, whole or in a window."""
        books = (both.moved, pair[0]), (both.new, pair[1])
        one, two = (_Side(book.book, sheet, book if area else None, area) for book, sheet in books)
        origin = _Side(both.old.book, both.before(pair), both.old)
        return cls(one, two, origin if both.lines else one, both.of(pair))

    @property
    def is_reshaped(self) -> bool:
        """Whether formulas of the first version followed lines, of this sheet or another."""
        return self.origin is not self.before

    def was(self, row: int, col: int) -> tuple[int, int] | None:
        """Return where a cell was before; None for one that came with its line."""
        return self.lines.was(row, col) if self.lines else (row, col)


def _changes(sides: _Sides, comparable: bool) -> Iterator[_Change]:
    """Go through the changed cells."""
    compared = _Compared(sides)
    before, after = sides.before, sides.after
    for row, one, two in row_pairs(before.rows(), after.rows()):
        if not (comparable and one and two and _equal(before.xml, one, after.xml, two)):
            yield from compared.row(row, one, two)


def _equal(before: SheetXml | None, left: RowSpan, after: SheetXml | None, right: RowSpan) -> bool:
    """Whether two rows are the same bytes; members of shared formulas may differ all the same."""
    row = before.data[left.start : left.end] if before else b""
    return b"shared" not in row and after is not None and row == after.data[right.start : right.end]


class _Compared:
    """Two sheets, cell by cell; formula, result and look are three things."""

    def __init__(self, sides: _Sides) -> None:
        self._sides, self._before, self._after = sides, sides.before, sides.after
        self._looks: dict[tuple[int, int], tuple[JsonObject, JsonObject, list[Json]]] = {}

    def row(self, row: int, left: RowSpan | None, right: RowSpan | None) -> Iterator[_Change]:
        olds, news = self._before.cells(left), self._after.cells(right)
        for col in sorted(olds.keys() | news.keys()):
            was = self._sides.was(row, col)
            one, two = self._before.shown(olds.get(col)), self._after.shown(news.get(col))
            change = self._cell((row, col), was, one, two)
            if change:
                has_moved = was is not None and was != (row, col)
                moved = {"cell_before": cell_name(*was)} if was and has_moved else {}
                said = {"cell": cell_name(row, col), **moved, **change}
                yield _Change(row, col, said, one, two)

    def _cell(
        self, place: tuple[int, int], was: tuple[int, int] | None, one: _Shown, two: _Shown
    ) -> JsonObject | None:
        looks = self._look(one.style, two.style) if was else _NO_LOOKS
        if one.formula != two.formula:
            found = _formula_change(self._past(one, was), two)
        elif _is_other(one, two, bool(looks[2])):
            found = self._filled(place, was, one, two) or _content_change(
                one, two, two.formula or self._covered(*place)
            )
        elif looks[2]:
            pair = {"before": looks[0], "after": looks[1]}
            return {"kind": "style", "what": "look changed", **pair, "formats": looks[2]}
        else:
            return None
        has_both = self._before.xml is not None and self._after.xml is not None
        return found | ({"formats": looks[2]} if looks[2] and has_both else {})

    def _past(self, shown: _Shown, was: tuple[int, int] | None) -> _Shown:
        """Return what a cell held, in the words it had then: its references did not follow yet."""
        if shown.formula is None or was is None or not self._sides.is_reshaped:
            return shown
        cell = self._sides.origin.cell(*was)
        return self._sides.origin.shown(cell)

    def _covered(self, row: int, col: int) -> str | None:
        """Return the formula whose results both cells show, None when one of them is typed."""
        here = self._after.covering(row, col)
        return here if here is not None and self._before.covering(row, col) is not None else None

    def _filled(
        self, place: tuple[int, int], was: tuple[int, int] | None, one: _Shown, two: _Shown
    ) -> dict[str, Json] | None:
        """Say that a formula fills a cell that was empty, or one no more that it filled."""
        if one.formula is not None or two.formula is not None:
            return None
        pair = _values(one, two)
        left = self._before.covering(*was) if was else None
        right = self._after.covering(*place)
        if one.text is None and left is None and right is not None:
            what = "filled by a formula beside it"
        elif two.text is None and right is None and left is not None:
            what = "no longer filled by a formula beside it"
        else:
            return None
        return {"kind": "result", "what": what, **pair, "formula": right or left}

    def _look(self, old: int, new: int) -> tuple[JsonObject, JsonObject, list[Json]]:
        if (old, new) not in self._looks:
            one, two = self._before.look(old), self._after.look(new)
            pair = look_words.differing(one, two)
            said: list[Json] = [*look_words.changes(one, two)] if one != two else []
            self._looks[old, new] = (*pair, said)
        return self._looks[old, new]


def _is_other(one: _Shown, two: _Shown, looks_other: bool) -> bool:
    """Whether a cell holds something else; a number in another format is the same number."""
    if one.kind != two.kind:
        return True
    is_same_number = looks_other and one.number is not None and one.number == two.number
    return one.text != two.text and not is_same_number and not _is_same_result(one, two)


def _is_same_result(one: _Shown, two: _Shown) -> bool:
    """Whether results of one formula are the same by the 15 digits that programs show."""
    if one.formula is None or one.number is None or two.number is None:
        return False
    return f"{one.number:.15g}" == f"{two.number:.15g}"


def _content_change(one: _Shown, two: _Shown, formula: str | None) -> dict[str, Json]:
    """Say what became of a value; that of a formula, which is the same, is its result."""
    pair = _values(one, two)
    turned = ""
    if one.text == two.text:  # 1 and the text 1 look the same, and do not add up the same
        turned = f" from {_KIND_WORDS[one.kind]} to {_KIND_WORDS[two.kind]}"
    if formula is None:
        word = "added" if one.text is None else "removed" if two.text is None else "changed"
        return {"kind": "value", "what": f"value {word}{turned}", **pair}
    what = f"result changed{turned}"
    if one.text is None:
        what = "result stored; the formula is the same"
    elif two.text is None:
        what = "result no longer stored; the formula is the same"
    return {"kind": "result", "what": what, **pair, "formula": formula}


def _formula_change(one: _Shown, two: _Shown) -> dict[str, Json]:
    """Say what became of a formula, and of the result it showed where that is known."""
    if one.formula and two.formula:
        change = "changed"
    elif one.formula:
        change = "removed" if two.typed is None else "to_value"
    else:
        change = "added" if one.typed is None else "from_value"
    values = _values(one, two)
    found: dict[str, Json] = {
        "kind": "formula",
        "what": _FORMULA_WORDS[change],
        "before": values["before"] if one.formula is None else one.formula,
        "after": values["after"] if two.formula is None else two.formula,
        "formula_change": change,
    }
    if one.text != two.text:
        found["results"] = {**values}
    return found


def _values(one: _Shown, two: _Shown) -> dict[str, Json]:
    """Return two values as people read them; every digit where only the last ones differ."""
    is_told = one.text == two.text or one.seen != two.seen
    before, after = (one.seen, two.seen) if is_told else (one.text, two.text)
    return {"before": before, "after": after}
