"""The cells that formulas read, loaded as far as they are asked for.

Values of the file and values just computed stand side by side here. A cell whose formula is still
to be computed says so when it is read (`Pending`); one that cannot be computed stops its reader.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..syntax.address import MAX_COL, MAX_ROW, Area
from .value import Array, Error, NotComputed, Reference, Value

MAX_CELLS = 1_000_000  # loaded for one computation
MAX_ARRAY_CELLS = 400_000
_KEPT_CELLS = 2_000_000  # of arrays that may be asked for again
_FEW_COLUMNS = 64

Spans = Sequence[tuple[int, int]]
"""First and last rows, in order and apart from each other."""
Loaded = Iterable[tuple[int, int, Value, str]]
"""Cells that were loaded: row, column, value, and what is special about one.

`formula`: it holds one; `unknown`: it does, and its value is not stored; `odd`: it holds what is no
value here.
"""


class Cell(NamedTuple):
    """A cell by the number of its sheet."""

    sheet: int
    row: int
    col: int


class Pending(Exception):
    """Formulas that have to be computed first."""

    def __init__(self, cells: list[Cell]) -> None:
        super().__init__(len(cells))
        self.cells = cells


class Column:
    """The values of one column by row; which rows hold something, and which of them numbers.

    What comes below everything else, as most does, is added to the lists; else they are made anew
    when somebody asks.
    """

    __slots__ = ("_errors", "_floats", "_number_rows", "_rows", "_stale", "values")

    def __init__(self) -> None:
        self.values: dict[int, Value] = {}
        self._rows: list[int] = []
        self._number_rows: list[int] = []
        self._floats: list[float] = []
        self._errors: list[int] = []
        self._stale = False

    def put(self, row: int, value: Value) -> None:
        """Let a cell hold a value; None empties it."""
        if value is None:
            if self.values.pop(row, None) is not None:
                self._stale = True
            return
        is_last = not self._rows or row > self._rows[-1]
        self.values[row] = value
        if not self._stale and is_last:
            self._append(row, value)
        else:
            self._stale = True

    def _append(self, row: int, value: Value) -> None:
        self._rows.append(row)
        if type(value) is float:
            self._number_rows.append(row)
            self._floats.append(value)
        elif isinstance(value, Error):
            self._errors.append(row)

    def _refresh(self) -> None:
        if self._stale:
            for found in (self._rows, self._number_rows, self._floats, self._errors):
                found.clear()
            for row in sorted(self.values):
                self._append(row, self.values[row])
            self._stale = False

    def rows(self, first: int, last: int) -> list[int]:
        """Return the rows that hold something."""
        self._refresh()
        return self._rows[bisect_left(self._rows, first) : bisect_right(self._rows, last)]

    def floats(self, first: int, last: int) -> list[float]:
        """Return the numbers of some rows."""
        self._refresh()
        rows = self._number_rows
        return self._floats[bisect_left(rows, first) : bisect_right(rows, last)]

    def errors(self, first: int, last: int) -> set[str]:
        """Return the kinds of errors in some rows."""
        self._refresh()
        rows = self._errors[bisect_left(self._errors, first) : bisect_right(self._errors, last)]
        return {one.code for row in rows if isinstance(one := self.values[row], Error)}


class Queue:
    """Rows of one column that wait to be computed; those that are done are passed over at once."""

    __slots__ = ("_next", "_rows")

    def __init__(self, rows: Iterable[int]) -> None:
        self._rows = sorted(set(rows))
        self._next = list(range(len(self._rows) + 1))

    def between(self, first: int, last: int) -> Iterator[int]:
        """Go through the waiting rows of a range."""
        at = self._find(bisect_left(self._rows, first))
        while at < len(self._rows) and self._rows[at] <= last:
            yield self._rows[at]
            at = self._find(at + 1)

    def done(self, row: int) -> None:
        """Take a row out."""
        at = bisect_left(self._rows, row)
        if at < len(self._rows) and self._rows[at] == row:
            self._next[at] = at + 1

    def _find(self, at: int) -> int:
        path = []
        while self._next[at] != at:
            path.append(at)
            at = self._next[at]
        for passed in path:  # the next one who asks does not walk the same way
            self._next[passed] = at
        return at


class Marked:
    """Cells of which something is to be remembered, found by area."""

    __slots__ = ("_cells", "_rows")

    def __init__(self) -> None:
        self._cells: set[Cell] = set()
        self._rows: dict[tuple[int, int], list[int]] = {}

    def __contains__(self, cell: Cell) -> bool:
        return cell in self._cells

    def add(self, cell: Cell) -> None:
        """Mark a cell."""
        if cell not in self._cells:
            self._cells.add(cell)
            insort(self._rows.setdefault((cell.sheet, cell.col), []), cell.row)

    def discard(self, cell: Cell) -> None:
        """Take the mark from a cell."""
        if cell in self._cells:
            self._cells.discard(cell)
            rows = self._rows[cell.sheet, cell.col]
            del rows[bisect_left(rows, cell.row)]

    def within(self, sheet: int, area: Area) -> list[Cell]:
        """Return the marked cells of an area."""
        if not self._cells:
            return []
        found = []
        for col in _within(self._rows, sheet, area):
            rows = self._rows[sheet, col]
            first, last = bisect_left(rows, area.row1), bisect_right(rows, area.row2)
            found += [Cell(sheet, row, col) for row in rows[first:last]]
        return found


class Memory:
    """The cells of all sheets."""

    def __init__(
        self, load: Callable[[int, Spans, int, int], Loaded], used_rows: Callable[[], int]
    ) -> None:
        self._load = load
        self._find_used_rows = used_rows
        self._used_rows: int | None = None
        self._columns: dict[tuple[int, int], Column] = {}
        self._spans: dict[int, tuple[list[tuple[int, int]], int, int]] = {}  # rows, and columns
        self._whole: set[int] = set()
        self._count = 0
        self.formulas: set[Cell] = set()  # cells that hold one, as far as they are loaded
        self.waiting: dict[Cell, Cell] = {}  # a cell, and the formula that has to be computed
        self._queues: dict[tuple[int, int], Queue] = {}
        self.refused = Marked()  # cells without value
        self._unknown = Marked()  # formulas whose results are not stored, and not computed yet
        self._settled: set[Cell] = set()  # what the file holds there counts no more
        self._arrays: dict[Reference, Array] = {}
        self._kept = 0
        self._read: set[tuple[int, Area]] | None = None  # what formulas have read, if it is kept

    # --- filling -------------------------------------------------------------------------------

    def preload(self, sheet: int, areas: Iterable[Area]) -> None:
        """Load what is known to be read: the rows of some areas, each once."""
        wanted = sorted(areas)
        if not wanted:
            return
        first, last = min(area.col1 for area in wanted), max(area.col2 for area in wanted)
        spans: list[tuple[int, int]] = []
        for area in wanted:
            if spans and area.row1 <= spans[-1][1] + 1:
                spans[-1] = (spans[-1][0], max(area.row2, spans[-1][1]))
            else:
                spans.append((area.row1, area.row2))
        self._take(sheet, spans, first, last)
        self._spans[sheet] = (spans, first, last)

    def load(self, sheet: int, area: Area) -> None:
        """Make sure the cells of an area are known; what was not foreseen loads the whole sheet."""
        if sheet in self._whole or self._is_loaded(sheet, area):
            return
        self._take(sheet, [(1, MAX_ROW)], 1, MAX_COL)
        self._whole.add(sheet)

    def _is_loaded(self, sheet: int, area: Area) -> bool:
        if sheet not in self._spans:
            return False
        spans, first, last = self._spans[sheet]
        if area.col1 < first or area.col2 > last:
            return False
        at = bisect_right(spans, (area.row1, MAX_ROW)) - 1
        return at >= 0 and area.row2 <= spans[at][1]

    def _take(self, sheet: int, spans: Spans, first: int, last: int) -> None:
        for row, col, value, mark in self._load(sheet, spans, first, last):
            cell = Cell(sheet, row, col)
            if mark in {"formula", "unknown"}:
                self.formulas.add(cell)
            if cell in self.waiting or cell in self.refused or cell in self._settled:
                continue
            if mark == "odd":
                self.refuse(cell)
                continue
            if mark == "unknown":
                self._unknown.add(cell)
                continue
            column = self._column(sheet, col)
            if row not in column.values and value is not None:
                self._count += 1
                if self._count > MAX_CELLS:
                    raise NotComputed("too_many_cells")
                column.put(row, value)

    def wait(self, cells: dict[Cell, Cell]) -> None:
        """Note which cells have no value before which formulas are computed."""
        self.waiting = cells
        rows: dict[tuple[int, int], list[int]] = {}
        for cell in cells:
            rows.setdefault((cell.sheet, cell.col), []).append(cell.row)
        self._queues = {key: Queue(found) for key, found in rows.items()}

    def settle(self, cell: Cell, value: Value) -> None:
        """Let a cell hold what was computed for it."""
        self._done(cell)
        if self._used_rows is not None and cell.row > self._used_rows:
            self._used_rows = cell.row
            self._arrays.clear()
        self._settled.add(cell)
        self._column(cell.sheet, cell.col).put(cell.row, value)

    def refuse(self, cell: Cell) -> None:
        """Note that a cell's value cannot be computed."""
        self._done(cell)
        self.refused.add(cell)
        self._column(cell.sheet, cell.col).put(cell.row, None)

    def _done(self, cell: Cell) -> None:
        self._unknown.discard(cell)
        if self.waiting.pop(cell, None) is not None:
            self._queues[cell.sheet, cell.col].done(cell.row)

    def _column(self, sheet: int, col: int) -> Column:
        key = (sheet, col)
        if key not in self._columns:
            self._columns[key] = Column()
        return self._columns[key]

    @property
    def used_rows(self) -> int:
        """The last row in which any sheet holds something."""
        if self._used_rows is None:
            self._used_rows = self._find_used_rows()
        return self._used_rows

    # --- reading -------------------------------------------------------------------------------

    def watch(self, *, on: bool) -> None:
        """Keep from now on what is read, or do not."""
        self._read = set() if on else None

    def was_read(self, sheet: int, area: Area, but: Area) -> bool:
        """Whether a cell of one area that is not in the other was read already."""
        return any(
            number == sheet
            and (shared := one.clip(area)) is not None
            and any(not but.has(*place) for place in shared.cells())
            for number, one in self._read or ()
        )

    def value(self, sheet: int, row: int, col: int) -> Value:
        """Return what one cell holds to a formula that reads it."""
        if self._read is not None:
            self._read.add((sheet, Area(row, col, row, col)))
        return self.peek(sheet, row, col)

    def peek(self, sheet: int, row: int, col: int) -> Value:
        """Return what one cell holds."""
        column = self._columns.get((sheet, col))
        if column is not None and row in column.values:
            return column.values[row]
        cell = Cell(sheet, row, col)
        if cell in self.waiting:
            raise Pending([self.waiting[cell]])
        self.load(sheet, Area(row, col, row, col))
        if cell in self.refused:
            raise NotComputed("depends_on_not_computed")
        if cell in self._unknown:
            raise Pending([cell])
        column = self._columns.get((sheet, col))
        return column.values.get(row) if column is not None else None

    def ready(self, reference: Reference) -> None:
        """Make sure that every cell of an area has its value."""
        sheet, area = reference.sheet, reference.area
        if self._read is not None:
            self._read.add((sheet, area))
        self.load(sheet, area)
        missing = list(dict.fromkeys(self._pending(sheet, area)))
        if missing:
            raise Pending(missing)
        if self.refused.within(sheet, area):
            raise NotComputed("depends_on_not_computed")

    def _pending(self, sheet: int, area: Area) -> Iterator[Cell]:
        for col in _within(self._queues, sheet, area) if self.waiting else ():
            for row in self._queues[sheet, col].between(area.row1, area.row2):
                yield self.waiting[Cell(sheet, row, col)]
        yield from self._unknown.within(sheet, area)

    def present(self, reference: Reference) -> Iterator[tuple[int, int, Value]]:
        """Go through the cells of an area that hold something, column by column."""
        self.ready(reference)
        sheet, area = reference.sheet, reference.area
        for col in _within(self._columns, sheet, area):
            column = self._columns[sheet, col]
            for row in column.rows(area.row1, area.row2):
                yield row, col, column.values[row]

    def numbers(self, reference: Reference) -> tuple[list[float], set[str]]:
        """Return the numbers of an area, column by column, and the kinds of errors in it."""
        self.ready(reference)
        sheet, area = reference.sheet, reference.area
        found: list[float] = []
        errors: set[str] = set()
        for col in _within(self._columns, sheet, area):
            column = self._columns[sheet, col]
            found += column.floats(area.row1, area.row2)
            errors |= column.errors(area.row1, area.row2)
        return found, errors

    def array(self, reference: Reference) -> Array:
        """Return the values of an area; the empty end of whole columns as one row."""
        if reference in self._arrays:
            return self._arrays[reference]
        self.ready(reference)
        area, repeat = reference.area, 1
        last = area.row2
        if area.row2 == MAX_ROW and area.row1 <= self.used_rows:
            last = min(MAX_ROW, self.used_rows + 1)
            repeat = MAX_ROW - last + 1
        height = last - area.row1 + 1
        if height * area.width > MAX_ARRAY_CELLS:
            raise NotComputed("too_many_cells")
        rows: list[list[Value]] = [[None] * area.width for _ in range(height)]
        for row, col, value in self.present(reference):
            rows[row - area.row1][col - area.col1] = value
        found = Array(rows, repeat)
        if self._kept + height * area.width <= _KEPT_CELLS:
            self._kept += height * area.width
            self._arrays[reference] = found
        return found


def _within(columns: Mapping[tuple[int, int], object], sheet: int, area: Area) -> list[int]:
    """Return the columns of an area that there is an entry for."""
    if area.width <= _FEW_COLUMNS:
        return [col for col in range(area.col1, area.col2 + 1) if (sheet, col) in columns]
    return sorted(
        col for number, col in columns if number == sheet and area.col1 <= col <= area.col2
    )
