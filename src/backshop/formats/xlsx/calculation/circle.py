"""Formulas that wait for themselves (F24.9), found in one walk over what they read.

A workbook of ranges has far more pairs of formulas than formulas. Those that were seen are passed
over at once, so each is visited once.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from ..evaluation.memory import Queue
from ..syntax.address import Area
from .precedent import Node, Place

_LOOKED_AT = 64  # of the formulas above that one reads; the others are found through them
_FAR = 1 << 60

Column = tuple[str, int]


def circular(nodes: Sequence[Node]) -> set[Place]:
    """Return the formulas that read themselves, directly or through others of these."""
    return _Walk(nodes).all()


class _Walk:
    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {node.place: node for node in nodes}
        rows: dict[Column, list[int]] = {}
        for place in self._nodes:
            rows.setdefault((place.sheet, place.col), []).append(place.row)
        self._unseen = {column: Queue(found) for column, found in rows.items()}
        self._columns: dict[str, list[int]] = {}
        for sheet, col in sorted(rows):
            self._columns.setdefault(sheet, []).append(col)
        self._open: dict[Column, list[int]] = {}  # rows of the formulas above, in order
        self._depth: dict[Place, int] = {}
        self._found: set[Place] = set()

    def all(self) -> set[Place]:
        """Return the formulas that are part of a circle."""
        for place in self._nodes:
            if place not in self._depth:
                self._visit(place)
        return self._found

    def _visit(self, start: Place) -> None:
        """Walk down from a formula; `back` is how far up each one leads again."""
        stack: list[tuple[Place, Iterator[Place]]] = []
        back: list[int] = []
        here: Place | None = start
        while here is not None or stack:
            if here is not None:
                self._depth[here] = len(stack)
                self._enter(here)
                stack.append((here, self._children(here)))
                back.append(self._leads_back(here))
            here = next(stack[-1][1], None)
            if here is None:
                place, _ = stack.pop()
                up = back.pop()
                self._leave(place)
                if up <= len(stack):
                    self._found.add(place)
                if stack and up < len(stack):
                    back[-1] = min(back[-1], up)

    def _enter(self, place: Place) -> None:
        column = (place.sheet, place.col)
        self._unseen[column].done(place.row)
        insort(self._open.setdefault(column, []), place.row)

    def _leave(self, place: Place) -> None:
        rows = self._open[place.sheet, place.col]
        del rows[bisect_left(rows, place.row)]

    def _children(self, place: Place) -> Iterator[Place]:
        """Go through the formulas that one reads and that nobody has seen yet."""
        for sheet, area in self._nodes[place].reads:
            for col in self._within(sheet, area):
                for row in self._unseen[sheet, col].between(area.row1, area.row2):
                    yield Place(sheet, row, col)

    def _leads_back(self, place: Place) -> int:
        """Return the depth of the topmost formula above that one reads."""
        found = _FAR
        for sheet, area in self._nodes[place].reads:
            for col in self._within(sheet, area):
                rows = self._open.get((sheet, col), [])
                at = bisect_left(rows, area.row1)
                for row in rows[at : at + _LOOKED_AT]:
                    if row > area.row2:
                        break
                    found = min(found, self._depth[Place(sheet, row, col)])
        return found

    def _within(self, sheet: str, area: Area) -> list[int]:
        cols = self._columns.get(sheet, [])
        return cols[bisect_left(cols, area.col1) : bisect_left(cols, area.col2 + 1)]
