"""What a formula computes with: values, arrays of them, references, and what stops it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..syntax.address import Area
from ..syntax.tree import Tree


@dataclass(frozen=True, slots=True)
class Error:
    """An error value. What cannot go on raises it as `Fault`."""

    code: str


NA, DIV, NUM = Error("#N/A"), Error("#DIV/0!"), Error("#NUM!")
REF, VALUE, NULL, NAME = Error("#REF!"), Error("#VALUE!"), Error("#NULL!"), Error("#NAME?")
CALC, SPILL = Error("#CALC!"), Error("#SPILL!")
ERRORS = {one.code: one for one in (NA, DIV, NUM, REF, VALUE, NULL, NAME, CALC, SPILL)}

Value: TypeAlias = float | str | bool | Error | None
"""One value; None is an empty cell."""


class Fault(Exception):
    """A step that ends in an error value."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.code)
        self.error = error


class NotComputed(Exception):
    """A formula whose value is not sure to be Excel's: why, and which function it is about."""

    def __init__(self, reason: str, about: str = "") -> None:
        super().__init__(reason, about)
        self.reason, self.about = reason, about


class Doubt(NotComputed):
    """A step that Excel may see otherwise."""

    def __init__(self, about: str = "") -> None:
        super().__init__("doubtful", about)


class Array:
    """Rows of values, all of one width.

    `repeat` is how often the last row stands for itself: whole columns are kept as far as the
    sheet is used, and all the empty rows below them as one.
    """

    __slots__ = ("repeat", "rows")

    def __init__(self, rows: list[list[Value]], repeat: int = 1) -> None:
        self.rows, self.repeat = rows, repeat

    @property
    def height(self) -> int:
        """How many rows are kept."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """How many columns."""
        return len(self.rows[0])

    def values(self) -> Iterator[Value]:
        """Go through the values, row by row."""
        return (value for row in self.rows for value in row)

    def all(self) -> list[Value]:
        """Return the values, row by row; none of them stands for others."""
        self.refuse_repeats()
        return list(self.values())

    def refuse_repeats(self) -> None:
        """Stop where rows that stand for others would be counted once."""
        if self.repeat > 1:
            raise NotComputed("whole_column")

    def column(self, at: int) -> list[Value]:
        """Return one column, counted from 0."""
        return [row[at] for row in self.rows]


@dataclass(frozen=True, slots=True)
class Reference:
    """Cells of a sheet, by the number of the sheet."""

    sheet: int
    area: Area


@dataclass(frozen=True, slots=True)
class References:
    """Several areas: a union, or the same cells of several sheets."""

    parts: tuple[Reference, ...]
    across: bool = False  # of several sheets: Jan:Mar!A1


class Missing:
    """An argument that was left empty: `IF(A1,,2)`."""

    __slots__ = ()


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function that a formula made, with the names that were known where it was made."""

    names: tuple[str, ...]
    least: int  # how many of them a call must give
    body: Tree
    known: Mapping[str, Operand] = field(repr=False)


Operand: TypeAlias = Value | Array | Reference | References | Missing | Lambda
"""What an expression gives and a function may get."""


def column_of(values: Sequence[Value]) -> Array:
    """Return values one below the other."""
    return Array([[value] for value in values])
