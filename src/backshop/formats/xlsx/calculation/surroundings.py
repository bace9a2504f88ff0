"""What a workbook tells formulas beside their own text: cells, hidden rows, what is in the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..book.array import spread_formulas
from ..book.frame import Frame
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes
from ..book.workbook import Book, Value, child, children, truth
from ..evaluation.context import Hidden
from ..evaluation.memory import Cell, Loaded, Spans
from ..evaluation.value import ERRORS
from ..evaluation.value import Value as Computed
from ..syntax.address import MAX_ROW, Area, parse_area

_FEW_ROWS = 32
_HIDING = re.compile(rb"\s(?:hidden|ht)\s*=")


class Surroundings:
    """Reads a workbook as formulas ask for it."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._xmls = [book.xml(sheet) for sheet in book.sheets]
        self._unshown: dict[int, list[Area]] = {}
        self.hidden = cache(self._hidden)
        self.used_rows = cache(self._used_rows)
        self._frames = cache(self._frame)

    # --- cells ---------------------------------------------------------------------------------

    def load(self, sheet: int, spans: Spans, first: int, last: int) -> Loaded:
        """Go through the cells of some rows that lie between two columns."""
        xml = self._xmls[sheet]
        if xml is None:
            return
        waiting = self._waiting(sheet, xml)
        for row in _rows_of(xml, spans):
            for cell in xml.cells(row, first, last):
                value, odd = _computed(self._book.value(cell))
                mark = "formula" if cell.formula is not None else ""
                if self._book.is_uncached(cell) or (
                    not mark and value is None and _is_in(waiting, cell)
                ):
                    mark = "unknown"
                yield cell.row, cell.col, value, "odd" if odd else mark

    def _waiting(self, sheet: int, xml: SheetXml) -> list[Area]:
        """Return the areas of formulas over several cells whose results are not stored."""
        if sheet not in self._unshown:
            self._unshown[sheet] = [
                area for area, cell in spread_formulas(xml) if self._book.is_uncached(cell)
            ]
        return self._unshown[sheet]

    def _used_rows(self) -> int:
        return max((_last_row(xml) for xml in self._xmls if xml is not None), default=1)

    def named(self, name: str, sheet: int) -> str | None:
        """Return what a name stands for in formulas of a sheet, whose own names come first."""
        found = [item for item in self._book.names if item.name.lower() == name.lower()]
        own = [item.refers_to for item in found if item.scope == sheet]
        common = [item.refers_to for item in found if item.scope is None]
        return next(iter([*own, *common]), None)

    def formula(self, cell: Cell) -> str | None:
        """Return the text of a cell's formula."""
        xml, raw = self._xmls[cell.sheet], self._raw(cell)
        return self._book.formula(raw, xml) if raw is not None and xml is not None else None

    def spill(self, cell: Cell) -> Area | None:
        """Return the cells that a formula spills over, as the file has it."""
        raw = self._raw(cell)
        formula = raw.formula if raw else None
        if raw is None or formula is None or formula.kind != "array" or not raw.meta:
            return None
        return parse_area(formula.ref or "")

    def _raw(self, cell: Cell) -> RawCell | None:
        xml = self._xmls[cell.sheet]
        if xml is None:
            return None
        for row in xml.pick({cell.row}):
            return next(iter(xml.cells(row, cell.col, cell.col)), None)
        return None

    # --- around the cells ----------------------------------------------------------------------

    def _frame(self, sheet: int) -> Frame | None:
        xml = self._xmls[sheet]
        return Frame.of(xml) if xml is not None else None

    def is_blocked(self, sheet: int, area: Area) -> bool:
        """Whether merged cells or a table lie where a formula spills."""
        frame = self._frames(sheet)
        merges = frame.merges if frame else []
        tables = [table.area for table in self._book.tables(self._book.sheets[sheet])]
        return any(one.meets(area) for one in (*merges, *tables))

    def _hidden(self, sheet: int) -> Hidden:
        xml = self._xmls[sheet]
        if xml is None or _HIDING.search(xml.data, xml.inner, xml.close) is None:
            return frozenset(), frozenset()
        rows = {
            row.number for row in xml.iter_rows() if _is_hidden(xml.data[row.start : row.inner])
        }
        filters = self._filters(sheet)
        filtered = {row for row in rows if any(area.row1 < row <= area.row2 for area in filters)}
        return frozenset(rows - filtered), frozenset(filtered)

    def _filters(self, sheet: int) -> list[Area]:
        """Return the ranges whose rows a filter hides at present."""
        frame = self._frames(sheet)
        roots = [frame.root] if frame else []
        for part in self._book.sheet_rels(self._book.sheets[sheet], "table"):
            roots.append(self._book.package.xml(part))
        found = []
        for root in roots:
            element = child(root, "autoFilter")
            area = parse_area(element.get("ref") or "") if element is not None else None
            if area is not None and children(element, "filterColumn"):
                found.append(area)
        return found


def _rows_of(xml: SheetXml, spans: Spans) -> Iterator[RowSpan]:
    """Go through the rows of some spans."""
    if sum(last - first + 1 for first, last in spans) <= _FEW_ROWS:
        yield from xml.pick({row for first, last in spans for row in range(first, last + 1)})
        return
    at = 0
    for row in xml.iter_rows():
        while at < len(spans) and spans[at][1] < row.number:
            at += 1
        if at == len(spans):
            return
        if spans[at][0] <= row.number:
            yield row


def _computed(value: Value) -> tuple[Computed, bool]:
    """Return a stored value as formulas see it, and whether it is one that they do not know."""
    match value.kind:
        case "blank":
            return None, False
        case "string":
            return value.text, False
        case "boolean":
            return bool(value.number), False
        case "error":
            return ERRORS.get(value.text), value.text not in ERRORS
    return (float(value.number), False) if value.number is not None else (None, True)


def _is_in(areas: list[Area], cell: RawCell) -> bool:
    return any(area.has(cell.row, cell.col) for area in areas)


def _is_hidden(tag: bytes) -> bool:
    if _HIDING.search(tag) is None:
        return False
    found = attributes(tag)
    height = found.get(b"ht", b"1")
    is_flat = height.replace(b".", b"").strip(b"0") == b""
    return truth(found.get(b"hidden", b"0").decode("ascii", "replace")) or is_flat


def _last_row(xml: SheetXml) -> int:
    if xml.plain_rows:
        start = xml.data.rfind(b'<%srow r="' % xml.words.prefix, xml.inner, xml.close)
        row = next(xml.iter_rows(start), None) if start >= 0 else None
        return row.number if row else 1
    return max((row.number for row in xml.iter_rows()), default=min(1, MAX_ROW))
