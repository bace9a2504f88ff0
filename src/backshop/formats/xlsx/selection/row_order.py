"""Rows that stand in another order: one change, because taking half of it would mix them (F39.17).

That they do is seen from the two contents alone: in some columns the same rows of values are there
before and after, at other places. Formulas say nothing about it; those of the rows go along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..syntax.address import Area

Values = Mapping[int, int]
"""What the cells of a row hold, by column; a number stands for each value."""

_LEAST_CELLS = 4  # two rows of two columns; fewer may be a coincidence
_NOTHING = 0


@dataclass(frozen=True, slots=True)
class RowOrder:
    """Rows from a first to a last one whose values change places in some columns."""

    first: int
    last: int
    columns: frozenset[int]

    @property
    def area(self) -> Area:
        """The rectangle around them."""
        return Area(self.first, min(self.columns), self.last, max(self.columns))

    @property
    def detail(self) -> tuple[str, ...]:
        """The rows and columns as words, from which it can be made again."""
        return str(self.first), str(self.last), *map(str, sorted(self.columns))

    @classmethod
    def of(cls, detail: Sequence[str]) -> RowOrder:
        """Return the order that words tell."""
        first, last, *columns = map(int, detail)
        return cls(first, last, frozenset(columns))

    def has(self, row: int, col: int) -> bool:
        """Whether a cell is among those that change places."""
        return self.first <= row <= self.last and col in self.columns


def row_orders(rows: Iterable[tuple[int, Values, Values]]) -> list[RowOrder]:
    """Return where rows stand in another order; `rows` are those that differ, from top to bottom.

    Of each its number is given, what its cells held and what they hold.
    """
    found = _Rows([one for one in rows if one[1] != one[2]])
    steady = [col for col in found.columns if found.is_steady(col)]
    orders = []
    for part in found.closed(steady) if steady else ():
        columns = {*steady} & {col for row in part.numbers for col in part.differing(row)}
        columns |= {col for col in part.columns - {*steady} if part.explains(col, steady)}
        if columns and part.is_order(columns & {*steady}):
            orders.append(RowOrder(part.numbers[0], part.numbers[-1], frozenset(columns)))
    return orders


class _Rows:
    """Rows that differ, before and after."""

    def __init__(self, rows: Sequence[tuple[int, Values, Values]]) -> None:
        self._rows = {number: (before, after) for number, before, after in rows}
        self.numbers = [*self._rows]

    @property
    def columns(self) -> set[int]:
        """The columns in which some of them differ."""
        return {col for number in self.numbers for col in self.differing(number)}

    def differing(self, number: int) -> set[int]:
        """Return the columns in which a row differs."""
        before, after = self._rows[number]
        return {
            col
            for col in before.keys() | after.keys()
            if before.get(col, _NOTHING) != after.get(col, _NOTHING)
        }

    def is_steady(self, col: int) -> bool:
        """Whether a column has the same values before and after."""
        sides = ([row[side].get(col, _NOTHING) for row in self._rows.values()] for side in (0, 1))
        before, after = map(Counter, sides)
        return before == after

    def closed(self, columns: Collection[int]) -> list[_Rows]:
        """Return runs of rows inside which rows of values change places, and none comes or goes."""
        runs: list[_Rows] = []
        open_: Counter[tuple[int, ...]] = Counter()
        start = 0
        wanted = sorted(columns)
        for at, number in enumerate(self.numbers):
            before, after = (_told(side, wanted) for side in self._rows[number])
            if before == after and not open_:
                start = at + 1
                continue
            for sign, step in ((before, 1), (after, -1)):
                open_[sign] += step
                if not open_[sign]:
                    del open_[sign]
            if not open_:
                chosen = self.numbers[start : at + 1]
                runs.append(_Rows([(one, *self._rows[one]) for one in chosen]))
                start = at + 1
        return runs

    def is_order(self, columns: Collection[int]) -> bool:
        """Whether it cannot well be that single values were changed so that they fit by chance."""
        wanted = sorted(columns)
        signs = {_told(before, wanted) for before, _ in self._rows.values()}
        count = len(self.numbers)
        is_large = count > 2 or count * len(wanted) >= _LEAST_CELLS
        return count > 1 and is_large and len(signs) * 2 > count

    def explains(self, col: int, columns: Collection[int]) -> bool:
        """Whether the new places of the rows explain most of what differs in a column."""
        wanted = sorted(columns)
        origins: dict[tuple[int, ...], list[int]] = {}
        for number, (before, _) in self._rows.items():
            origins.setdefault(_told(before, wanted), []).append(number)
        explained = known = 0
        for before, after in self._rows.values():
            if before.get(col, _NOTHING) == after.get(col, _NOTHING):
                continue
            there = origins.get(_told(after, wanted), [])
            if len(there) == 1:
                known += 1
                old = self._rows[there[0]][0].get(col, _NOTHING)
                explained += old == after.get(col, _NOTHING)
        return explained * 2 > known


def _told(values: Values, columns: Sequence[int]) -> tuple[int, ...]:
    return tuple(values.get(col, _NOTHING) for col in columns)
