"""Rows or columns that come or go, and where that leaves every line and rectangle of the sheet.

What stands at or behind inserted lines moves back by them; a rectangle around them grows. What
stood in deleted lines is gone; a rectangle that loses some of its lines shrinks to the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .address import MAX_COL, MAX_ROW, Area
from .reference import Change, Reference

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LineShift:
    """Lines inserted before the line `at` (`by` > 0), or deleted from it on (`by` < 0)."""

    axis: Literal["row", "column"]
    at: int
    by: int

    @property
    def last(self) -> int:
        """The last line that came or went."""
        return self.at + abs(self.by) - 1

    @property
    def most(self) -> int:
        """How many lines a sheet has."""
        return MAX_ROW if self.axis == "row" else MAX_COL

    @property
    def inverse(self) -> LineShift:
        """What undoes it, but for what was in deleted lines."""
        return replace(self, by=-self.by)

    @property
    def band(self) -> Area:
        """The lines that came or went, as they stand after or stood before."""
        if self.axis == "row":
            return Area(self.at, 1, self.last, MAX_COL)
        return Area(1, self.at, MAX_ROW, self.last)

    def line(self, number: int) -> int | None:
        """Return where a line is now; None when it went, or would leave the sheet."""
        if number < self.at:
            return number
        if self.by < 0 and number <= self.last:
            return None
        now = number + self.by
        return now if now <= self.most else None

    def origin(self, number: int) -> int | None:
        """Return where a line of now was before; None for an inserted one."""
        return self.inverse.line(number)

    def cell(self, row: int, col: int) -> tuple[int, int] | None:
        """Return where a cell is now."""
        now = self.line(row if self.axis == "row" else col)
        if now is None:
            return None
        return (now, col) if self.axis == "row" else (row, now)

    def span(self, first: int, last: int) -> Span | None:
        """Return the lines from one to another as they are now; all lines of a sheet stay all."""
        if (first, last) == (1, self.most):
            return first, last
        if self.by > 0:
            start = first + self.by if first >= self.at else first
            end = last + self.by if last >= self.at else last
            return (start, min(end, self.most)) if start <= self.most else None
        start = first if first < self.at else max(self.at, first + self.by)
        end = last if last < self.at else max(self.at - 1, last + self.by)
        return (start, end) if start <= end else None

    def area(self, area: Area) -> Area | None:
        """Return a rectangle of the sheet as it is now; None when nothing of it is left."""
        span = self.span(*self.along(area))
        return None if span is None else self.across(area, span)

    def along(self, area: Area) -> Span:
        """Return the lines of a rectangle that the shift counts."""
        return (area.row1, area.row2) if self.axis == "row" else (area.col1, area.col2)

    def across(self, area: Area, span: Span) -> Area:
        """Return a rectangle with other lines of those that the shift counts."""
        if self.axis == "row":
            return Area(span[0], area.col1, span[1], area.col2)
        return Area(area.row1, span[0], area.row2, span[1])

    def resizes(self, area: Area) -> bool:
        """Whether lines come inside a rectangle, or some of its own go."""
        first, last = self.along(area)
        if self.by > 0:
            return first < self.at <= last
        return first <= self.last and self.at <= last

    def cuts(self, area: Area) -> bool:
        """Whether a rectangle that must stay as it is would not: it is resized and not all gone."""
        return self.resizes(area) and self.area(area) is not None

    def moves(self, area: Area) -> bool:
        """Whether anything of a rectangle is elsewhere now."""
        return self.along(area)[1] >= self.at

    def locks(self, reference: Reference) -> tuple[bool, bool]:
        """Return whether `$` holds the lines of a reference that the shift counts."""
        return reference.rows if self.axis == "row" else reference.cols

    def on(self, sheet: str) -> Change:
        """Return how the references to a sheet follow."""
        name = sheet.lower()

        def change(reference: Reference) -> tuple[str, Area] | None:
            if reference.sheet.lower() != name:
                return reference.sheet, reference.area
            now = self.area(reference.area)
            return None if now is None else (reference.sheet, now)

        return change
