"""What a row holds between two columns, whatever its number and its looks: a sign to compare by.

Rows that changed places are known again by it. A formula counts by what it says of its own row;
its result does not count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from functools import cached_property

from ..syntax.address import Area
from ..syntax.row_reference import OwnRows
from .sheet_xml import RawCell, RowSpan, SheetXml
from .workbook import Book

Sign = tuple[Hashable, ...]


@dataclass(frozen=True)
class RowSigns:
    """The rows of one version of a sheet; `quick` where both versions are written as usual."""

    book: Book
    xml: SheetXml
    sheet: str
    area: Area
    quick: bool

    def of(self, row: RowSpan | None, skip: Collection[int] = ()) -> Sign:
        """Return the sign of a row without the columns that are to be skipped."""
        if row is None or row.inner == row.close:
            return ()
        if self.quick and not skip:
            return self._quick(row)
        cells = self.xml.cells(row, self.area.col1, self.area.col2)
        said = ((cell.col, self._said(cell)) for cell in cells if cell.col not in skip)
        return tuple(one for one in said if one[1] is not None)

    def _quick(self, row: RowSpan) -> Sign:
        cells = self._plain(row)
        if self.xml.data.find(self._formula, row.inner, row.close) < 0:
            return tuple(self._filled.findall(cells))
        formulas = self.xml.formulas_of(row, self.area.col1, self.area.col2)
        said = tuple((cell.col, self._said(cell)) for cell in formulas)
        return (*self._filled.findall(self._computed.sub(b"", cells)), *said)

    def _plain(self, row: RowSpan) -> bytes:
        """Return the cells of a row that lie between the columns, without their looks."""
        inner = self.xml.data[row.inner : row.close]
        ends = self.xml.ends(row)
        if ends is None or ends[0] < self.area.col1 or self.area.col2 < ends[1]:
            cells = self.xml.cells(row, self.area.col1, self.area.col2)
            inner = b"".join(self.xml.data[cell.start : cell.end] for cell in cells)
        return self._look.sub(rb"\1", inner)

    def _said(self, cell: RawCell) -> Hashable:
        """Return what a cell holds, None of an empty one."""
        if cell.formula is not None:
            text = self.book.formula(cell, self.xml) or ""
            return "=", self._rows.split(text, cell.row), cell.formula.kind == "array"
        if self.quick:
            raw = self._look.sub(rb"\1", self.xml.data[cell.start : cell.end])
            found = self._filled.fullmatch(raw)
            return found.groups() if found else None
        return None if cell.value is None else (cell.kind, cell.value)

    @cached_property
    def _rows(self) -> OwnRows:
        return OwnRows(self.sheet)

    @cached_property
    def _computed(self) -> re.Pattern[bytes]:
        p = re.escape(self.xml.words.prefix)
        opening = rb'<%sc r="[A-Z]{1,3}\d+"[^>]*?(?<!/)>\s*<%sf(?=[\s/>])' % (p, p)
        return re.compile(opening + rb".*?</%sc\s*>" % p, re.S)

    @cached_property
    def _formula(self) -> bytes:
        return b"<%sf" % self.xml.words.prefix

    @cached_property
    def _look(self) -> re.Pattern[bytes]:
        return re.compile(rb'(<%sc\b[^>]*?)\ss="\d+"' % re.escape(self.xml.words.prefix))

    @cached_property
    def _filled(self) -> re.Pattern[bytes]:
        p = re.escape(self.xml.words.prefix)
        opening = rb'<%sc r="([A-Z]{1,3})\d+"([^>]*?)(?<!/)>' % p
        return re.compile(opening + rb"(.*?)</%sc\s*>" % p, re.S)


def signs(
    old: tuple[Book, SheetXml], new: tuple[Book, SheetXml], sheet: str, area: Area
) -> tuple[RowSigns, RowSigns]:
    """Return the signs of two versions of a sheet, which may be compared with one another."""
    quick = old[1].plain_cells and new[1].plain_cells
    return RowSigns(*old, sheet, area, quick), RowSigns(*new, sheet, area, quick)
