"""Rows of a block brought to other places, as bytes: values, formulas and looks (F39.2).

A sheet of a million cells is rearranged in seconds because a row without formulas is moved as it
stands, with nothing but the numbers of its cells written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...book.cell_xml import formula_element, reformulated, restyled, row_tag
from ...book.sheet_edit import SheetEdit
from ...book.sheet_xml import RawCell, RowSpan, SheetXml, attributes, integer
from ...book.splice import render
from ...book.stylesheet import StyleSheet
from ...book.workbook import child, children, truth
from ...syntax.address import cell_name, column_name
from ...syntax.formula import shift
from .block import Block
from .row_formula import RowFormulas

_REFERENCE = re.compile(rb"\s+r\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_STYLE = re.compile(rb"\ss=[\"'](\d+)[\"']")
_MARKS = re.compile(rb"\s(?:t|ref|si)\s*=\s*(?:\"[^\"]*\"|'[^']*')")

Sources = Mapping[int, int | None]
"""From which row the cells of a row come; None: it becomes empty."""


@dataclass
class RowCarriage:
    """What becomes of a sheet when the rows of a block stand in another order."""

    block: Block
    sources: Sources
    formulas: RowFormulas
    styles: StyleSheet

    def __post_init__(self) -> None:
        self.xml: SheetXml = self.block.edit.xml
        self._prefix = self.xml.words.prefix
        self._looks: dict[tuple[int, int], int] = {}
        self._numbered = re.compile(rb'(<%sc r="[A-Z]{1,3})\d+"' % re.escape(self._prefix))

    def rendered(self) -> bytes:
        """Return the part of the sheet with the rows in their new places."""
        data, rows = self.xml.data, self.block.rows
        pieces, at = [data[: self.xml.inner]], self.xml.inner
        waiting = sorted((row for row in self.sources if row not in rows), reverse=True)
        for row in self.xml.iter_rows():
            while waiting and waiting[-1] < row.number:
                pieces += [data[at : row.start], self._new_row(waiting.pop())]
                at = row.start
            source = self.sources.get(row.number, row.number)
            if source != row.number:
                pieces += [data[at : row.start], self._row(row, source)]
                at = row.end
        pieces.append(data[at : self.xml.close])
        pieces += [self._new_row(number) for number in reversed(waiting)]
        pieces.append(data[self.xml.close :])
        return self._handed_on(b"".join(pieces))

    # --- rows ----------------------------------------------------------------------------------

    def _new_row(self, number: int) -> bytes:
        cells = b"".join(cell for _, cell in self._carried(number, None, self.sources[number]))
        if not cells:
            return b""
        return b'<%srow r="%d">%s</%srow>' % (self._prefix, number, cells, self._prefix)

    def _row(self, row: RowSpan, source: int | None) -> bytes:
        """Return a row that keeps its height and what stands outside the block."""
        data = self.xml.data
        origin = self.block.rows.get(source) if source is not None else None
        tag, closing = data[row.start : row.inner], data[row.close : row.end]
        cells = self._quick(row, origin)
        if cells is None:
            cells = self._slow(row, source)
        if origin is not None:
            tag = _widened(tag, data[origin.start : origin.inner])
        if tag.endswith(b"/>"):
            tag, closing = tag[:-2].rstrip() + b">", b"</%srow>" % self._prefix
        return tag + cells + closing

    def _quick(self, row: RowSpan, origin: RowSpan | None) -> bytes | None:
        """Return all cells of a row at once; None where they have to be looked at."""
        if origin is None or not self._is_plain(row) or not self._is_plain(origin):
            return None
        pieces, at = [], origin.inner
        for cell in self.xml.formulas_of(origin):
            pieces += [self._renumbered(at, cell.start, row.number), self._moved(cell, row.number)]
            at = cell.end
        return b"".join((*pieces, self._renumbered(at, origin.close, row.number)))

    def _renumbered(self, start: int, end: int, row: int) -> bytes:
        """Return some cells without formulas for another row."""
        pieces, name = self._numbered.split(self.xml.data[start:end]), b'%d"' % row
        pieces[1::2] = [piece + name for piece in pieces[1::2]]
        return b"".join(pieces)

    def _is_plain(self, row: RowSpan) -> bool:
        """Whether a row holds nothing but cells of the block, each named."""
        if row.number not in self._plain:
            is_simple = not self._has_lines and not self.formulas.columns
            self._plain[row.number] = is_simple and self._looks_plain(row)
        return self._plain[row.number]

    @cached_property
    def _plain(self) -> dict[int, bool]:
        return {}

    def _looks_plain(self, row: RowSpan) -> bool:
        data, p = self.xml.data, self._prefix
        if row.inner == row.close:
            return True
        if data.find(b"<%sextLst" % p, row.inner, row.close) >= 0 or not self.xml.plain_cells:
            return False
        ends = self.xml.ends(row)
        return ends is not None and all(col in self.block.columns for col in ends)

    def _slow(self, row: RowSpan, source: int | None) -> bytes:
        """Return the cells of a row one by one: those outside the block stay as they are."""
        area, data = self.block.area, self.xml.data
        own = list(self.xml.cells(row))
        left = b"".join(self._placed(cell) for cell in own if cell.col < area.col1)
        right = b"".join(self._placed(cell) for cell in own if cell.col > area.col2)
        inside = {cell.col: cell for cell in own if area.col1 <= cell.col <= area.col2}
        middle = b"".join(cell for _, cell in self._carried(row.number, inside, source))
        rest = data[own[-1].end : row.close] if own else data[row.inner : row.close]
        return left + middle + right + rest

    def _placed(self, cell: RawCell) -> bytes:
        return renamed(self.xml.data[cell.start : cell.end], cell.row, cell.col, self._prefix)

    # --- cells ---------------------------------------------------------------------------------

    def _carried(
        self, number: int, here: Mapping[int, RawCell] | None, source: int | None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the cells that a row gets, in order; `here` are those it has now."""
        here = here or {}
        origin = self.block.rows.get(source) if source is not None else None
        area = self.block.area
        cells = self.xml.cells(origin, area.col1, area.col2) if origin else ()
        there = {cell.col: cell for cell in cells}
        for col in sorted({*here, *there}):
            now, old = here.get(col), there.get(col)
            look = self._look(number, col, now, source, old)
            is_kept = col in self.formulas.columns and now is not None and source is not None
            if is_kept and now is not None:
                raw = renamed(self.xml.data[now.start : now.end], number, col, self._prefix)
            elif old is not None:
                raw = self._moved(old, number)
            else:
                raw = b'<%sc r="%s"/>' % (self._prefix, cell_name(number, col).encode())
            if old is None and not is_kept and look == self._default(number, col):
                continue
            yield col, raw if _style(raw) == look else restyled(raw, look)

    def _moved(self, cell: RawCell, row: int) -> bytes:
        """Return a cell for another row; what its formula reads in its own row goes along."""
        raw = renamed(self.xml.data[cell.start : cell.end], row, cell.col, self._prefix)
        formula = cell.formula
        if formula is None:
            return raw
        text = self.formulas.moved(cell, row)
        found = self.xml.words.formula.search(raw)
        assert found is not None, "the cell has a formula"
        marks = _MARKS.sub(b"", b" " + found[1].strip()).decode("ascii", "replace").rstrip()
        if formula.kind == "array":
            marks += f' t="array" ref="{cell_name(row, cell.col)}"'
        element = formula_element(text, self.xml.words, marks)
        return reformulated(raw, element, self.xml.words)

    # --- looks ---------------------------------------------------------------------------------

    @cached_property
    def _has_lines(self) -> bool:
        """Whether cells of the block have different lines around them, which stay in place."""
        rows = self.block.rows
        if not rows:
            return False
        span = self.xml.data[
            min(r.start for r in rows.values()) : max(r.end for r in rows.values())
        ]
        used = {0, *(int(one) for one in set(_STYLE.findall(span)))}
        used.update(style for _, _, style in self._columns)
        borders = set()
        for style in used:
            xf = self.styles.xf(style)
            borders.add((xf.get("borderId") or "0") if xf is not None else "0")
        return len(borders) > 1

    def _look(
        self, row: int, col: int, now: RawCell | None, source: int | None, old: RawCell | None
    ) -> int:
        """Return the look that comes to a place: as carried, with the lines that were there."""
        present = now.style if now is not None else self._default(row, col)
        if source is None:
            return present
        carried = old.style if old is not None else self._default(source, col)
        if (carried, present) not in self._looks:
            self._looks[carried, present] = self.styles.bordered(carried, present)
        return self._looks[carried, present]

    def _default(self, row: int, col: int) -> int:
        """Return the look of a cell that is not there: its row's, else its column's."""
        span = self.block.rows.get(row)
        tag = attributes(self.xml.data[span.start : span.inner]) if span else {}
        if truth(tag.get(b"customFormat", b"0").decode("ascii", "replace")):
            return integer(tag.get(b"s"))
        return next((style for first, last, style in self._columns if first <= col <= last), 0)

    @cached_property
    def _columns(self) -> list[tuple[int, int, int]]:
        items = children(child(self.block.edit.frame.root, "cols"), "col")
        said = ([item.get(name) or "0" for name in ("min", "max", "style")] for item in items)
        return [(int(a), int(b), int(c)) for a, b, c in said if (a + b + c).isdigit()]

    # --- shared formulas -----------------------------------------------------------------------

    def _handed_on(self, data: bytes) -> bytes:
        """Hand texts of shared formulas on to members outside the block, where one lost its own."""
        area = self.block.area
        gone = {
            group: cell
            for group, cell in self.xml.masters().items()
            if area.has(cell.row, cell.col) and self.sources.get(cell.row, cell.row) != cell.row
        }
        if not gone:
            return data
        book, sheet = self.block.edit.book, self.block.edit.sheet
        edit = SheetEdit(book, sheet, SheetXml(data, self.xml.part))
        for cell in edit.xml.formula_cells():
            raw = cell.formula
            group = raw.group if raw and raw.kind == "shared" and not raw.text else None
            master = gone.pop(group, None) if group else None
            if master is None or master.formula is None:
                continue
            text = shift(master.formula.text, cell.row - master.row, cell.col - master.col)
            marks = f' t="shared" ref="{master.formula.ref or ""}" si="{group}"'
            element = formula_element(text, edit.xml.words, marks)
            edit.patch(cell.row, cell.col).formula = element
        return render(edit) if edit.changed else data


def _style(raw: bytes) -> int:
    return integer(attributes(raw[: raw.index(b">")]).get(b"s"))


def renamed(raw: bytes, row: int, col: int, prefix: bytes, other: bytes | None = None) -> bytes:
    """Return a cell that says where it stands; with `other` in the prefix of another sheet."""
    if other is not None and other != prefix:
        raw = re.sub(rb"<(/?)%s(?=[A-Za-z])" % re.escape(prefix), rb"<\1" + other, raw)
        prefix = other
    start = len(prefix) + 2
    end = raw.index(b">")
    rest = _REFERENCE.sub(b"", raw[start:end], count=1)
    return b'<%sc r="%s%d"%s%s' % (prefix, column_name(col).encode(), row, rest, raw[end:])


def _widened(tag: bytes, other: bytes) -> bytes:
    """Return a row's tag whose hint about its columns holds for the cells of another row too."""
    sides: list[tuple[int, int]] = []
    for one in (tag, other):
        first, _, last = attributes(one).get(b"spans", b"").partition(b":")
        if not (first.isdigit() and last.isdigit()):
            return row_tag(tag, {"spans": None}) if sides else tag
        sides.append((int(first), int(last)))
    low, high = min(sides)[0], max(one[1] for one in sides)
    return tag if (low, high) == sides[0] else row_tag(tag, {"spans": f"{low}:{high}"})
