"""What review shows of a workbook: a window of cells with their looks, lines, and a diff (F29)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.package.package import Package
from backshop.formats.protocol import Json, JsonObject, Source
from backshop.formats.warning import Warnings

from ..book import number_format
from ..book.array import Unshown, spread_formulas
from ..book.extent import Extent, Opened, opened
from ..book.frame import Frame
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes, row_pairs
from ..book.workbook import Book, Sheet, child, children
from ..edit.effect import only_appended
from ..read import choose_sheet
from ..style import look_words
from ..style.look import Looks
from ..syntax.address import MAX_COL, MAX_ROW, WHOLE, Area, cell_name, column_name


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
        "sheet": chosen.name,
        "row_count": used.row2 if used else 0,
        "col_count": used.col2 if used else 0,
        "cells": _cells(book, xml, area, size),
        "merges": [str(merge) for merge in frame.merges if merge.meets(area)] if frame else [],
        "column_widths": _widths(frame, area),
        "row_heights": _heights(xml, area, size),
        "frozen": frame.frozen if frame else None,
    }


def _cells(book: Book, xml: SheetXml | None, area: Area, size: Extent) -> list[Json]:
    looks = Looks(book)
    known: dict[int, JsonObject] = {}
    last = min(area.row2, size.used.row2) if size.used else area.row1 - 1
    grid: list[list[Json]] = [[_blank()] * area.width for _ in range(max(0, last - area.row1 + 1))]
    for row in size.rows(xml, area.row1, last) if xml else ():
        for cell in xml.cells(row, area.col1, area.col2) if xml else ():
            if cell.style not in known:
                known[cell.style] = looks.describe(cell.style) if cell.style else {}
            grid[row.number - area.row1][cell.col - area.col1] = _cell(
                book, cell, _formula(book, xml, cell, size.unshown), known[cell.style]
            )
    return [*grid]


def _blank() -> JsonObject:
    return {"value": None, "type": "blank", "formula": None, "display": "", "style": {}}


def _formula(book: Book, xml: SheetXml | None, cell: RawCell, unshown: Unshown) -> str | None:
    """Return a cell's formula, or the one over several cells whose value it waits for (F24.3)."""
    if xml is None or cell.formula is None:
        return unshown.formula(cell)
    return book.formula(cell, xml)


def _waits(book: Book, cell: RawCell, formula: str | None) -> bool:
    """Whether the value of a formula is to be seen here and is not stored."""
    return formula is not None and (cell.formula is None or book.is_uncached(cell))


def _cell(book: Book, cell: RawCell, formula: str | None, style: JsonObject) -> JsonObject:
    value = book.value(cell)
    raw: Json = value.text
    display = f"{{={formula}}}" if _waits(book, cell, formula) else value.text
    if value.kind == "blank":
        raw = None
    elif value.kind == "boolean":
        raw = bool(value.number)
    elif value.kind == "number":
        raw = value.number
    if value.number is not None and value.kind in {"number", "date"}:
        code, _ = book.formats.of(cell.style)
        display = number_format.display(value.number, code, book.date_1904)
    return {
        "value": int(raw) if isinstance(raw, float) and raw == int(raw) else raw,
        "type": value.kind,
        "formula": None if formula is None else f"={formula}",
        "display": display,
        "style": style,
    }


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
    book = Book(Package.open(source))
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
    """Return what differs between two workbooks, cell by cell; rows are not aligned.

    Every changed cell is counted, sheet by sheet; of all of them in order those are listed that
    come after the first `skip`, at most `limit`.
    """
    old, new = Book(Package.open(before)), Book(Package.open(after))
    same = same_meaning(old, new)
    sheets: list[Json] = []
    seen, end = 0, skip + limit
    for first, second in sheet_pairs(old, new):
        tally = _Tally(max(0, skip - seen), max(0, end - seen))
        for change in _changes(_Side(old, first), _Side(new, second), same):
            tally.take(*change)
        seen += tally.total
        name = second.name if second else first.name if first else ""
        renamed = first.name if first and second and first.name != second.name else None
        if tally.total or renamed or not (first and second):
            sheets.append(
                {
                    "sheet": name,
                    "added": first is None,
                    "removed": second is None,
                    "renamed_from": renamed,
                    **tally.told(),
                }
            )
    return {"sheets": sheets, "cell_count": seen, "more": max(0, seen - end)}


def diff_window(
    before: Source,
    after: Source,
    sheet: str | None = None,
    row_start: int = 0,
    col_start: int = 0,
    row_count: int = limits.GRID_MAX_ROWS,
    col_count: int = limits.GRID_MAX_COLUMNS,
) -> list[Json]:
    """Return the changed cells of one window of a sheet, whatever changed elsewhere (F29.5).

    A sheet goes by the name it has afterwards, one that went by the name it had.
    """
    old, new = opened(before), opened(after)
    pairs = sheet_pairs(old.book, new.book)
    wanted = sheet or choose_sheet(new.book, None, Warnings()).name
    pair = next((one for one in pairs if _name_of(one) == wanted), None)
    if pair is None:
        return []
    area = Area(row_start + 1, col_start + 1, row_start + row_count, col_start + col_count)
    sides = (_Side(old.book, pair[0], old, area), _Side(new.book, pair[1], new, area))
    return [change for _, _, change in _changes(*sides, comparable=False)]


class _Tally:
    """Counts the changes of a sheet and keeps those that are listed."""

    def __init__(self, skip: int, end: int) -> None:
        self._skip, self._end = skip, end
        self.total = 0
        self._counts = dict.fromkeys(CHANGES, 0)
        self._cells: list[Json] = []
        self._rows: list[int] = []  # first and last with changed contents, from 1
        self._cols: list[int] = []

    def take(self, row: int, col: int, change: JsonObject) -> None:
        if self._skip <= self.total < self._end:
            self._cells.append(change)
        self.total += 1
        kind = str(change["kind"])
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


def sheet_pairs(old: Book, new: Book) -> list[tuple[Sheet | None, Sheet | None]]:
    """Match sheets by name, then a single rest on both sides by its part."""
    names = {sheet.name.lower(): sheet for sheet in old.sheets}
    pairs: list[tuple[Sheet | None, Sheet | None]] = []
    fresh = []
    for sheet in new.sheets:
        match = names.pop(sheet.name.lower(), None)
        if match is None:
            fresh.append(sheet)
        else:
            pairs.append((match, sheet))
    parts = {sheet.part: sheet for sheet in names.values() if sheet.part}
    for sheet in fresh:
        twin = parts.pop(sheet.part, None) if sheet.part else None
        if twin is not None:
            names.pop(twin.name.lower(), None)
        pairs.append((twin, sheet))
    return [*pairs, *((sheet, None) for sheet in names.values())]


def _name_of(pair: tuple[Sheet | None, Sheet | None]) -> str:
    shown = pair[1] or pair[0]
    return shown.name if shown else ""


class _Shown(NamedTuple):
    """What a cell holds: its own formula, its value as text unless that is not stored, its look."""

    formula: str | None = None
    text: str | None = None
    style: int = 0
    kind: str = ""  # of the value: number (a date is one), string, boolean, error
    number: float | None = None

    @property
    def typed(self) -> str | None:
        """What somebody would have typed: the formula, else the value."""
        return self.text if self.formula is None else self.formula


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
        return _Shown(own, value.text, cell.style, kind, value.number)

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


def _changes(
    before: _Side, after: _Side, comparable: bool
) -> Iterator[tuple[int, int, JsonObject]]:
    """Go through the changed cells: row and column from 1, and what changed."""
    compared = _Compared(before, after)
    for row, one, two in row_pairs(before.rows(), after.rows()):
        if not (comparable and one and two and _equal(before.xml, one, after.xml, two)):
            yield from compared.row(row, one, two)


def same_meaning(old: Book, new: Book) -> bool:
    """Whether the same bytes of a row mean the same in both workbooks."""
    for kind in ("sharedStrings", "styles"):
        first, second = old.related(kind), new.related(kind)
        one = old.package.read(first) if first else b""
        two = new.package.read(second) if second else b""
        if one == two:
            continue
        if kind != "styles" or not one or not two:
            return False
        if not only_appended(old.package.xml(first or ""), new.package.xml(second or "")):
            return False
    return True


def _equal(before: SheetXml | None, left: RowSpan, after: SheetXml | None, right: RowSpan) -> bool:
    """Whether two rows are the same bytes; members of shared formulas may differ all the same."""
    row = before.data[left.start : left.end] if before else b""
    return b"shared" not in row and after is not None and row == after.data[right.start : right.end]


class _Compared:
    """Two sheets, cell by cell; formula, result and look are three things."""

    def __init__(self, before: _Side, after: _Side) -> None:
        self._before, self._after = before, after
        self._looks: dict[tuple[int, int], tuple[JsonObject, JsonObject, list[Json]]] = {}

    def row(
        self, row: int, left: RowSpan | None, right: RowSpan | None
    ) -> Iterator[tuple[int, int, JsonObject]]:
        olds, news = self._before.cells(left), self._after.cells(right)
        for col in sorted(olds.keys() | news.keys()):
            change = self._cell(row, col, olds.get(col), news.get(col))
            if change:
                yield row, col, {"cell": cell_name(row, col), **change}

    def _cell(
        self, row: int, col: int, old: RawCell | None, new: RawCell | None
    ) -> JsonObject | None:
        one, two = self._before.shown(old), self._after.shown(new)
        looks = self._look(one.style, two.style)
        if one.formula != two.formula:
            found = _formula_change(one, two)
        elif _is_other(one, two, bool(looks[2])):
            found = _content_change(one, two, one.formula or self._covered(row, col))
        elif looks[2]:
            pair = {"before": looks[0], "after": looks[1]}
            return {"kind": "style", "what": "look changed", **pair, "formats": looks[2]}
        else:
            return None
        has_both = self._before.xml is not None and self._after.xml is not None
        return found | ({"formats": looks[2]} if looks[2] and has_both else {})

    def _covered(self, row: int, col: int) -> str | None:
        """Return the formula whose results both cells show, None when one of them is typed."""
        here = self._after.covering(row, col)
        return here if here is not None and self._before.covering(row, col) is not None else None

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
    return one.text != two.text and not is_same_number


def _content_change(one: _Shown, two: _Shown, formula: str | None) -> dict[str, Json]:
    """Say what became of a value; that of a formula, which is the same, is its result."""
    pair: dict[str, Json] = {"before": one.text, "after": two.text}
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
    found: dict[str, Json] = {
        "kind": "formula",
        "what": _FORMULA_WORDS[change],
        "before": one.typed,
        "after": two.typed,
        "formula_change": change,
    }
    if one.text != two.text:
        found["results"] = {"before": one.text, "after": two.text}
    return found
