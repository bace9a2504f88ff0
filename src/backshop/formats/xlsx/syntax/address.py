"""Cell addresses: A1 text to numbers and back. Rows and columns count from 1 everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from backshop.formats.cell_range import column_name as column_name
from backshop.formats.cell_range import column_number as column_number
from backshop.formats.cell_range import rectangles

MAX_ROW = 1_048_576
MAX_COL = 16_384
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_COLUMNS = re.compile(r"\$?([A-Za-z]{1,3})(?::\$?([A-Za-z]{1,3}))?")
_ROWS = re.compile(r"\$?([0-9]{1,7})(?::\$?([0-9]{1,7}))?")


def cell_name(row: int, col: int) -> str:
    """Return the A1 name of a cell."""
    return f"{column_name(col)}{row}"


def parse_cell(text: str) -> tuple[int, int] | None:
    """Return (row, column), or None when `text` names no cell of a sheet."""
    match = _CELL.fullmatch(text.strip())
    if not match:
        return None
    row, col = int(match[2]), column_number(match[1])
    return (row, col) if 1 <= row <= MAX_ROW and col <= MAX_COL else None


@dataclass(frozen=True, slots=True, order=True)
class Area:
    """A rectangle of cells, both ends included."""

    row1: int
    col1: int
    row2: int
    col2: int

    @property
    def height(self) -> int:
        """How many rows."""
        return self.row2 - self.row1 + 1

    @property
    def width(self) -> int:
        """How many columns."""
        return self.col2 - self.col1 + 1

    @property
    def count(self) -> int:
        """How many cells."""
        return self.height * self.width

    def has(self, row: int, col: int) -> bool:
        """Whether the cell lies inside."""
        return self.row1 <= row <= self.row2 and self.col1 <= col <= self.col2

    def cells(self) -> Iterator[tuple[int, int]]:
        """Go through the cells, row by row."""
        cols = range(self.col1, self.col2 + 1)
        return ((row, col) for row in range(self.row1, self.row2 + 1) for col in cols)

    def rows(self) -> Iterator[Area]:
        """Go through the rows."""
        return (Area(row, self.col1, row, self.col2) for row in range(self.row1, self.row2 + 1))

    def columns(self) -> Iterator[Area]:
        """Go through the columns."""
        return (Area(self.row1, col, self.row2, col) for col in range(self.col1, self.col2 + 1))

    def shares_columns(self, other: Area) -> bool:
        """Whether some column has cells of both rectangles."""
        return self.col1 <= other.col2 and other.col1 <= self.col2

    def meets(self, other: Area) -> bool:
        """Whether the two rectangles share a cell."""
        shares_rows = self.row1 <= other.row2 and other.row1 <= self.row2
        return shares_rows and self.shares_columns(other)

    def clip(self, other: Area) -> Area | None:
        """Return the shared rectangle, or None."""
        if not self.meets(other):
            return None
        return Area(
            max(self.row1, other.row1),
            max(self.col1, other.col1),
            min(self.row2, other.row2),
            min(self.col2, other.col2),
        )

    def without(self, hole: Area) -> list[Area]:
        """Return what is left of the rectangle around another one, as few rectangles."""
        cut = self.clip(hole)
        if cut is None:
            return [self]
        bands = [
            Area(self.row1, self.col1, cut.row1 - 1, self.col2),
            Area(cut.row1, self.col1, cut.row2, cut.col1 - 1),
            Area(cut.row1, cut.col2 + 1, cut.row2, self.col2),
            Area(cut.row2 + 1, self.col1, self.row2, self.col2),
        ]
        return [one for one in bands if one.row1 <= one.row2 and one.col1 <= one.col2]

    def moved(self, rows: int, cols: int) -> Area:
        """Return the rectangle so many rows and columns further."""
        return Area(self.row1 + rows, self.col1 + cols, self.row2 + rows, self.col2 + cols)

    def in_use(self, used: Area) -> Area:
        """Return whole columns and whole rows as far as a sheet is used; other ranges stay."""
        area = self
        if area.row1 == 1 and area.row2 == MAX_ROW:
            area = replace(area, row1=used.row1, row2=used.row2)
        if area.col1 == 1 and area.col2 == MAX_COL:
            area = replace(area, col1=used.col1, col2=used.col2)
        return area

    def join(self, other: Area) -> Area:
        """Return the smallest rectangle around both."""
        return Area(
            min(self.row1, other.row1),
            min(self.col1, other.col1),
            max(self.row2, other.row2),
            max(self.col2, other.col2),
        )

    def __str__(self) -> str:
        first = cell_name(self.row1, self.col1)
        return first if self.count == 1 else f"{first}:{cell_name(self.row2, self.col2)}"

    @property
    def lines(self) -> str | None:
        """The range as whole rows `5:7` or whole columns `C:D`, None for others."""
        if (self.col1, self.col2) == (1, MAX_COL):
            return f"{self.row1}:{self.row2}"
        if (self.row1, self.row2) == (1, MAX_ROW):
            return f"{column_name(self.col1)}:{column_name(self.col2)}"
        return None

    @property
    def span(self) -> str:
        """The range with both ends, also for a single cell: `A1:A1`."""
        return f"{cell_name(self.row1, self.col1)}:{cell_name(self.row2, self.col2)}"


WHOLE = Area(1, 1, MAX_ROW, MAX_COL)


def parse_area(text: str) -> Area | None:
    """Return the rectangle `A1`, `A1:E50`, `A:C` or `5:10` names, clipped to the sheet (F8.8).

    None: not a range, or wholly outside the grid. The ends may stand in any order.
    """
    text = text.strip()
    first, colon, last = text.partition(":")
    a, b = _CELL.fullmatch(first.strip()), _CELL.fullmatch((last if colon else first).strip())
    if a and b:
        rows, cols = (int(a[2]), int(b[2])), (column_number(a[1]), column_number(b[1]))
    elif colon and (columns := _COLUMNS.fullmatch(text)):
        rows = (1, MAX_ROW)
        cols = (column_number(columns[1]), column_number(columns[2]))
    elif colon and (lines := _ROWS.fullmatch(text)):
        rows, cols = (int(lines[1]), int(lines[2])), (1, MAX_COL)
    else:
        return None
    if min(rows) < 1:
        return None
    return Area(min(rows), min(cols), max(rows), max(cols)).clip(WHOLE)


def parse_column(value: object) -> int | None:
    """Return the column a letter or a 1-based number names, or None."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value.strip()):
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z]{1,3}", value.strip()):
        value = column_number(value.strip())
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COL:
        return value
    return None


def compact(cells: Iterable[tuple[int, int]]) -> list[Area]:
    """Cover exactly these cells with few rectangles: runs in a row, then equal runs of rows."""
    return [Area(*one) for one in rectangles(cells)]
