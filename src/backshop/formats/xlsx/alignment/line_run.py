"""Lines that came or went between two versions of a sheet, and where that leaves the others.

Runs are told by places of the sheet before, so that each of them is the same whichever others are
there. Rows and columns both are lines; one axis knows nothing of the other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from ..syntax.address import MAX_COL, MAX_ROW, Area
from ..syntax.line_shift import LineShift

Axis = Literal["row", "column"]
_BEYOND = 1 << 22  # more than a sheet has lines: what names lines that came begins behind it


@dataclass(frozen=True, slots=True, order=True)
class LineRun:
    """Lines that stood from the line `at` on and went, or that came before the line `at`."""

    at: int
    is_gone: bool  # what came at a line stands before what went from it on
    count: int


class _Stretch(NamedTuple):
    """Lines from one to another on both sides; one that came or went has no line on the other."""

    old: int
    new: int
    run: LineRun | None


class Lines:
    """The rows or the columns of a sheet before and after."""

    def __init__(self, axis: Axis, runs: Collection[LineRun] = ()) -> None:
        self.axis = axis
        self.runs = tuple(sorted(runs))
        self._stretches = _stretches(self.runs)
        self._olds = [one.old for one in self._stretches]
        self._news = [one.new for one in self._stretches]

    def __bool__(self) -> bool:
        return bool(self.runs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lines) and (self.axis, self.runs) == (other.axis, other.runs)

    def __hash__(self) -> int:
        return hash((self.axis, self.runs))

    def __repr__(self) -> str:
        return f"Lines({self.axis!r}, {self.runs!r})"

    def now(self, line: int) -> int | None:
        """Return where a line of the sheet before is now; None when it went."""
        found = self._stretches[bisect_right(self._olds, line) - 1]
        if found.run is not None and found.run.is_gone:
            return None
        return found.new + line - found.old

    def was(self, line: int) -> int | None:
        """Return where a line of now was before; None when it came."""
        found = self._at(line)
        return None if found.run is not None else found.old + line - found.new

    def came(self, line: int) -> LineRun | None:
        """Return the run with which a line of now came, None when it was there."""
        return self._at(line).run

    def told(self, line: int) -> int:
        """Return the number of a line of now that it has whichever other lines came or went.

        It is the number of before; one that came has a number of its own, beyond every sheet.
        """
        found = self._at(line)
        if found.run is None:
            return found.old + line - found.new
        return _BEYOND * (found.run.at + 1) + line - found.new

    def _at(self, line: int) -> _Stretch:
        at = bisect_right(self._news, line) - 1
        return self._stretches[at]

    def place(self, run: LineRun) -> int:
        """Return the first line of now that a run brought, or before which it went."""
        return next(one.new for one in self._stretches if one.run == run)

    @cached_property
    def shifts(self) -> tuple[LineShift, ...]:
        """What makes the sheet before one of now, one after the other; the last lines first."""
        return tuple(
            LineShift(self.axis, run.at, -run.count if run.is_gone else run.count)
            for run in reversed(self.runs)
        )

    def undone(self, left: Collection[LineRun]) -> tuple[LineShift, ...]:
        """Return what takes these runs back in the sheet of now, one after the other."""
        return tuple(
            LineShift(self.axis, self.place(run), run.count if run.is_gone else -run.count)
            for run in reversed(self.runs)
            if run in left
        )

    def without(self, left: Collection[LineRun]) -> Lines:
        """Return the lines where some of the runs are not there."""
        return Lines(self.axis, [run for run in self.runs if run not in left])

    def span(self, first: int, last: int) -> tuple[int, int] | None:
        """Return lines of before as references to them follow; None when all of them went."""
        found: tuple[int, int] | None = first, last
        for shift in self.shifts:
            found = shift.span(*found) if found else None
        return found


def _stretches(runs: tuple[LineRun, ...]) -> list[_Stretch]:
    """Return the lines of both sides in order, from the first line of a sheet on."""
    found: list[_Stretch] = []
    old = new = 1
    for run in runs:
        if run.at > old:
            found.append(_Stretch(old, new, None))
            new, old = new + run.at - old, run.at
        found.append(_Stretch(old, new, run))
        if run.is_gone:
            old += run.count
        else:
            new += run.count
    found.append(_Stretch(old, new, None))
    return found


_SAME_ROWS, _SAME_COLUMNS = Lines("row"), Lines("column")


@dataclass(frozen=True, slots=True)
class SheetLines:
    """The rows and the columns of a sheet before and after."""

    rows: Lines = _SAME_ROWS
    columns: Lines = _SAME_COLUMNS

    def __bool__(self) -> bool:
        return bool(self.rows or self.columns)

    @property
    def axes(self) -> tuple[Lines, Lines]:
        """Both, rows first."""
        return self.rows, self.columns

    @property
    def shifts(self) -> tuple[LineShift, ...]:
        """What makes the sheet before one of now, one after the other."""
        return (*self.rows.shifts, *self.columns.shifts)

    def runs(self) -> Iterator[tuple[Lines, LineRun]]:
        """Go through the runs of both, each with its axis."""
        return ((lines, run) for lines in self.axes for run in lines.runs)

    def was(self, row: int, col: int) -> tuple[int, int] | None:
        """Return where a cell of now was before; None for one that came with its line."""
        before = self.rows.was(row), self.columns.was(col)
        return None if before[0] is None or before[1] is None else (before[0], before[1])

    def came(self, row: int, col: int) -> list[tuple[Lines, LineRun]]:
        """Return the runs with which a cell of now came, none when it was there."""
        both = (self.rows, self.rows.came(row)), (self.columns, self.columns.came(col))
        return [(lines, run) for lines, run in both if run is not None]

    def area(self, area: Area) -> Area | None:
        """Return a rectangle of before as references to it follow; None when all of it went."""
        found: Area | None = area
        for shift in self.shifts:
            found = shift.area(found) if found else None
        return found

    def told(self, area: Area) -> Area:
        """Return a rectangle of now in numbers that no other line changes."""
        rows = _told_ends(self.rows, area.row1, area.row2, MAX_ROW)
        cols = _told_ends(self.columns, area.col1, area.col2, MAX_COL)
        return Area(rows[0], cols[0], rows[1], cols[1])

    def met(self, area: Area) -> list[tuple[Lines, LineRun]]:
        """Return the runs that brought the first or last lines of a rectangle of now."""
        found = []
        ends = (area.row1, area.row2, MAX_ROW), (area.col1, area.col2, MAX_COL)
        for lines, (first, last, most) in zip(self.axes, ends, strict=True):
            if (first, last) != (1, most):
                runs = (lines.came(first), lines.came(last))
                found += [(lines, run) for run in runs if run is not None]
        return found

    def loses(self, area: Area) -> list[tuple[Lines, LineRun]]:
        """Return the runs that took the first or last lines of a rectangle of before."""
        found = []
        ends = (area.row1, area.row2, MAX_ROW), (area.col1, area.col2, MAX_COL)
        for lines, (first, last, most) in zip(self.axes, ends, strict=True):
            if (first, last) != (1, most):
                gone = (run for run in lines.runs if run.is_gone)
                found += [
                    (lines, run)
                    for run in gone
                    if any(run.at <= end < run.at + run.count for end in (first, last))
                ]
        return found


def _told_ends(lines: Lines, first: int, last: int, most: int) -> tuple[int, int]:
    if not lines or (first, last) == (1, most):
        return first, last
    return lines.told(first), lines.told(last)
