"""What review shows of a workbook: a window of cells with their looks, lines, and a diff (F29)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.notes import Warnings
from backshop.formats.package import Package
from backshop.formats.protocol import Json, JsonObject, Source

from . import numfmt
from .address import MAX_COL, MAX_ROW, Area, cell_name, column_name
from .book import Book, Sheet, child, children
from .effects import only_appended
from .extent import Extent, opened
from .frame import Frame
from .look import Looks
from .read import choose_sheet
from .sheetxml import RawCell, RowSpan, SheetXml, attributes
from .spread import Unshown

DIFF_MAX_CELLS = 2_000


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
        display = numfmt.display(value.number, code, book.date_1904)
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


def diff_cells(before: Source, after: Source) -> JsonObject:
    """Return what differs between two workbooks, cell by cell; rows are not aligned."""
    old, new = Book(Package.open(before)), Book(Package.open(after))
    pairs = _pairs(old, new)
    left = DIFF_MAX_CELLS
    sheets: list[Json] = []
    more = 0
    for first, second in pairs:
        changes: list[Json] = []
        for change in _changes(old, new, first, second):
            if left > 0:
                changes.append(change)
                left -= 1
            else:
                more += 1
        name = second.name if second else first.name if first else ""
        renamed = first.name if first and second and first.name != second.name else None
        if changes or renamed or not (first and second):
            sheets.append(
                {
                    "sheet": name,
                    "added": first is None,
                    "removed": second is None,
                    "renamed_from": renamed,
                    "cells": changes,
                }
            )
    return {"sheets": sheets, "more": more}


def _pairs(old: Book, new: Book) -> list[tuple[Sheet | None, Sheet | None]]:
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


class _Side:
    """One of two workbooks, and the sheet of it that is compared."""

    def __init__(self, book: Book, sheet: Sheet | None) -> None:
        self._book = book
        self.xml = book.xml(sheet) if sheet else None
        self._looks = Looks(book)
        self._unshown = Unshown(book, self.xml)

    def rows(self) -> Iterator[RowSpan]:
        return self.xml.iter_rows() if self.xml else iter(())

    def cells(self, row: RowSpan | None) -> dict[int, RawCell]:
        return {cell.col: cell for cell in self.xml.cells(row)} if self.xml and row else {}

    def look(self, style: int) -> JsonObject:
        return self._looks.describe(style)

    def shown(self, cell: RawCell | None) -> tuple[str | None, str | None, int]:
        """Return a cell's own formula, its value as text, and the number of its style."""
        if cell is None:
            return None, None, 0
        formula = _formula(self._book, self.xml, cell, self._unshown)
        value = self._book.value(cell)
        text = None if value.kind == "blank" else value.text
        if _waits(self._book, cell, formula):
            text = f"{{={formula}}}"
        return None if cell.formula is None else f"={formula}", text, cell.style


def _changes(
    old: Book, new: Book, first: Sheet | None, second: Sheet | None
) -> Iterator[JsonObject]:
    before, after = _Side(old, first), _Side(new, second)
    comparable = _same_meaning(old, new)
    lefts, rights = before.rows(), after.rows()
    left, right = next(lefts, None), next(rights, None)
    while left or right:
        row = min(item.number for item in (left, right) if item)
        one = left if left and left.number == row else None
        two = right if right and right.number == row else None
        if not (comparable and one and two and _equal(before.xml, one, after.xml, two)):
            yield from _row_changes(row, before, one, after, two)
        left = next(lefts, None) if one else left
        right = next(rights, None) if two else right


def _same_meaning(old: Book, new: Book) -> bool:
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


def _row_changes(
    row: int, before: _Side, left: RowSpan | None, after: _Side, right: RowSpan | None
) -> Iterator[JsonObject]:
    olds, news = before.cells(left), after.cells(right)
    for col in sorted(olds.keys() | news.keys()):
        one, two = before.shown(olds.get(col)), after.shown(news.get(col))
        kind = None
        pair: tuple[Json, Json] = (None, None)
        if one[0] != two[0]:
            kind, pair = "formula", (one[0], two[0])
        elif one[1] != two[1]:
            kind, pair = "value", (one[1], two[1])
        elif (one[2] or two[2]) and before.look(one[2]) != after.look(two[2]):
            kind, pair = "style", (before.look(one[2]), after.look(two[2]))
        if kind:
            yield {"cell": cell_name(row, col), "before": pair[0], "after": pair[1], "kind": kind}
