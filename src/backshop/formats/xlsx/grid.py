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
                book, xml, cell, known[cell.style]
            )
    return [*grid]


def _blank() -> JsonObject:
    return {"value": None, "type": "blank", "formula": None, "display": "", "style": {}}


def _cell(book: Book, xml: SheetXml | None, cell: RawCell, style: JsonObject) -> JsonObject:
    value = book.value(cell)
    formula = book.formula(cell, xml) if xml else None
    raw: Json = value.text
    display = value.text
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
        for row in xml.iter_rows() if xml else ():
            texts: list[str] = []
            for cell in xml.cells(row) if xml else ():
                text = _line_text(book, xml, cell)
                if text:
                    texts.append(text)
            if any(text.strip() for text in texts):
                lines.append(f"[{sheet.name}] {row.number} | " + " | ".join(texts))
    return lines


def _line_text(book: Book, xml: SheetXml | None, cell: RawCell) -> str:
    text = book.value(cell).text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    formula = book.formula(cell, xml) if xml else None
    if formula is None:
        return text
    shown = "{=" + formula.replace("\n", "\\n") + "}"
    return f"{text} {shown}" if not book.is_uncached(cell) else shown


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


def _changes(
    old: Book, new: Book, first: Sheet | None, second: Sheet | None
) -> Iterator[JsonObject]:
    before = old.xml(first) if first else None
    after = new.xml(second) if second else None
    looks = (Looks(old), Looks(new))
    comparable = _same_meaning(old, new)
    lefts, rights = _by_row(before), _by_row(after)
    left, right = next(lefts, None), next(rights, None)
    while left or right:
        row = min(item.number for item in (left, right) if item)
        one = left if left and left.number == row else None
        two = right if right and right.number == row else None
        if not (
            comparable and one and two and before and after and _equal(before, one, after, two)
        ):
            yield from _row_changes(old, new, before, after, one, two, looks)
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


def _equal(before: SheetXml, left: RowSpan, after: SheetXml, right: RowSpan) -> bool:
    """Whether two rows are the same bytes; members of shared formulas may differ all the same."""
    row = before.data[left.start : left.end]
    return b"shared" not in row and row == after.data[right.start : right.end]


def _by_row(xml: SheetXml | None) -> Iterator[RowSpan]:
    return xml.iter_rows() if xml else iter(())


def _row_changes(
    old: Book,
    new: Book,
    before: SheetXml | None,
    after: SheetXml | None,
    left: RowSpan | None,
    right: RowSpan | None,
    looks: tuple[Looks, Looks],
) -> Iterator[JsonObject]:
    olds = {c.col: (c, before) for c in before.cells(left)} if before and left else {}
    news = {c.col: (c, after) for c in after.cells(right)} if after and right else {}
    row = left.number if left else right.number if right else 0
    for col in sorted(olds.keys() | news.keys()):
        one, two = _shown(old, olds.get(col)), _shown(new, news.get(col))
        kind = None
        pair: tuple[Json, Json] = (None, None)
        if one[0] != two[0]:
            kind, pair = "formula", (one[0], two[0])
        elif one[1] != two[1]:
            kind, pair = "value", (one[1], two[1])
        elif (one[2] or two[2]) and looks[0].describe(one[2]) != looks[1].describe(two[2]):
            kind, pair = "style", (looks[0].describe(one[2]), looks[1].describe(two[2]))
        if kind:
            yield {"cell": cell_name(row, col), "before": pair[0], "after": pair[1], "kind": kind}


def _shown(book: Book, item: tuple[RawCell, SheetXml] | None) -> tuple[str | None, str | None, int]:
    if item is None:
        return None, None, 0
    cell, xml = item
    formula = book.formula(cell, xml)
    value = book.value(cell)
    text = None if value.kind == "blank" else value.text
    return None if formula is None else f"={formula}", text, cell.style
