"""Formulas of rules: written for one cell, meant for many (conditional formats, validation).

A rule says `A1>B1` for the first of its cells and means the cells beside each of them. After lines
came or went it says what it said wherever that is one formula for all of its cells. Where lines
come between some of its cells and what they look at, the distance stays, as it does in a fill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..syntax.address import Area
from ..syntax.line_shift import LineShift
from ..syntax.reference import Reference, moved

Bounds = tuple[int, int]


def moved_rule(formula: str, home: str, sheet: str, shift: LineShift, areas: Sequence[Area]) -> str:
    """Return the formula for the first of the cells that are left of `areas` on `home`."""
    if not areas:
        return moved(formula, home, shift.on(sheet))
    rule = _Rule(shift, [shift.along(area) for area in areas], home.lower() == sheet.lower())

    def change(reference: Reference) -> tuple[str, Area] | None:
        if reference.sheet.lower() != sheet.lower():
            if not rule.is_own:
                return reference.sheet, reference.area
            return reference.sheet, rule.carried(reference)
        now = rule.followed(reference)
        return None if now is None else (reference.sheet, now)

    return moved(formula, home, change)


class _Rule:
    """The lines a rule holds for, before and after."""

    def __init__(self, shift: LineShift, spans: Sequence[Bounds], is_own: bool) -> None:
        self.shift, self.spans, self.is_own = shift, spans, is_own
        self.first = min(first for first, _ in spans)
        kept = [now for span in spans if (now := shift.span(*span))] if is_own else list(spans)
        self.now = min((first for first, _ in kept), default=self.first)

    def carried(self, reference: Reference) -> Area:
        """Return a reference to another sheet, for the cell that is the first one now."""
        lines, locks = self.shift.along(reference.area), self.shift.locks(reference)
        step = self._origin - self.first
        first, last = (
            line if lock else self._wrapped(line + step)
            for line, lock in zip(lines, locks, strict=True)
        )
        return self.shift.across(reference.area, (min(first, last), max(first, last)))

    @property
    def _origin(self) -> int:
        """Where the first of the cells of now was before."""
        if not self.is_own:
            return self.first
        before = self.shift.origin(self.now)
        return self.first if before is None else before

    def followed(self, reference: Reference) -> Area | None:
        """Return a reference to the sheet that changes."""
        lines, locks = self.shift.along(reference.area), self.shift.locks(reference)
        if lines == (1, self.shift.most) or all(locks):
            return self.shift.area(reference.area)
        met = {self._met(lines, locks, line) for line in self._tried(lines)}
        if len(met) == 1:
            bounds = met.pop()
            if bounds is None:
                return None
            step = self.now
        else:  # lines come between some of the cells and what these look at
            edges = self.shift.span(*lines) or lines
            bounds = (
                edges[0] if locks[0] else lines[0] - self.first,
                edges[1] if locks[1] else lines[1] - self.first,
            )
            step = self.now
        first, last = (
            bound if lock else self._wrapped(bound + step)
            for bound, lock in zip(bounds, locks, strict=True)
        )
        return self.shift.across(reference.area, (min(first, last), max(first, last)))

    def _met(self, lines: Bounds, locks: Sequence[bool], line: int) -> Bounds | None:
        """Return what one of the cells looks at after the shift, as distances without `$`."""
        first, last = (
            bound if lock else self._wrapped(bound - self.first + line)
            for bound, lock in zip(lines, locks, strict=True)
        )
        span = self.shift.span(min(first, last), max(first, last))
        if span is None:
            return None
        here = (self.shift.line(line) or line) if self.is_own else line
        ends = span if first <= last else span[::-1]
        return (
            ends[0] if locks[0] else ends[0] - here,
            ends[1] if locks[1] else ends[1] - here,
        )

    def _tried(self, lines: Bounds) -> Iterator[int]:
        """Go through the lines of cells at which the answer may become another one."""
        shift = self.shift
        edges = {shift.at, shift.last}
        edges |= {edge - bound + self.first for edge in tuple(edges) for bound in lines}
        near = {edge + step for edge in edges for step in (-1, 0, 1)}
        for first, last in self.spans:
            for line in {first, last, *(one for one in near if first <= one <= last)}:
                if not self.is_own or shift.line(line) is not None:
                    yield line

    def _wrapped(self, line: int) -> int:
        return (line - 1) % self.shift.most + 1
