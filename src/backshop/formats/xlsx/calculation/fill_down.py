"""Formulas that were filled down, as one: what each of them reads follows from the first.

Most formulas of a large sheet say the same in every row. A form is what they have in common; a run
is the rows in which it stands, and where its references move along with the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..syntax.address import MAX_ROW, Area
from ..syntax.formula import tokens
from ..syntax.numeral import DIGITS, LONGEST, named_numerals, row_numerals
from .precedent import Found, Place, Reader

Range = tuple[int, int]


class Ref(NamedTuple):
    """A reference of a form: its columns, and which of the row numbers bound it."""

    sheet: str
    col1: int
    col2: int
    first: int
    last: int


class Form(NamedTuple):
    """What formulas with the same words read."""

    slots: tuple[int, ...]  # which numbers of the text are rows
    refs: tuple[Ref, ...]
    fixed: tuple[tuple[str, Area], ...]  # names, tables, whole columns
    dynamic: bool
    volatile: bool
    distant: bool = False
    positional: frozenset[str] = frozenset()


class Shape:
    """Formulas that differ in their numbers only; those in names make them different forms."""

    def __init__(self, literal: tuple[int, ...]) -> None:
        self.literal = literal
        self.forms: dict[tuple[str, ...], Form | None] = {}  # None: read each by itself


class Forms:
    """The forms of one sheet's formulas."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._shapes: dict[tuple[str, ...], Shape] = {}

    def of(self, pieces: list[str], place: Place) -> tuple[Form, list[int]]:
        """Return the form of a formula and the rows it names; its text is given split at digits."""
        numbers = pieces[1::2]
        if max(map(len, numbers), default=0) <= LONGEST:
            form = self._known(tuple(pieces[::2]), numbers, pieces, place)
            if form is not None:
                rows = [int(numbers[slot]) for slot in form.slots]
                if not rows or (min(rows) > 0 and max(rows) <= MAX_ROW):
                    return form, rows
        alone = self._form("".join(pieces), place, reusable=False)
        assert alone is not None, "a formula can always be read by itself"
        return alone, []

    def _known(
        self, words: tuple[str, ...], numbers: list[str], pieces: list[str], place: Place
    ) -> Form | None:
        shape = self._shapes.get(words)
        if shape is None:
            shape = self._shapes[words] = Shape(named_numerals("".join(pieces)))
        key = tuple([numbers[slot] for slot in shape.literal])
        if key not in shape.forms:
            shape.forms[key] = self._form("".join(pieces), place, reusable=True)
        return shape.forms[key]

    def _form(self, text: str, place: Place, *, reusable: bool) -> Form | None:
        """Read a formula; None when another one with the same words may read something else."""
        found = Found(place)
        pieces = tokens(text)
        slots: list[int] = []
        refs: list[Ref] = []
        fixed: list[tuple[str, Area]] = []
        number = 0  # of the digits before the token
        for index, token in enumerate(pieces):
            before = len(found.areas)
            self._reader.token(token, pieces, index, found)
            news = found.areas[before:]
            rows = row_numerals(token, number)
            if reusable and token.kind == "ref" and token.area is None:
                return None  # no row of a sheet here, but one perhaps in another formula
            if reusable and rows and news:
                at = len(slots)
                last = at + len(rows) - 1
                refs.extend(Ref(sheet, area.col1, area.col2, at, last) for sheet, area in news)
                slots.extend(rows)
            else:
                fixed.extend(news)
            number += len(DIGITS.findall(token.text))
        if reusable and found.by_row:
            return None
        return Form(
            tuple(slots),
            tuple(refs),
            tuple(fixed),
            found.dynamic,
            found.volatile,
            found.distant,
            found.positional,
        )


class Run:
    """A form in rows one below the other."""

    __slots__ = ("col", "first", "form", "last", "moves", "rows", "sheet")

    def __init__(
        self, sheet: str, row: int, col: int, form: Form, rows: list[int], last: int | None = None
    ) -> None:
        self.sheet, self.col, self.form = sheet, col, form
        self.first, self.last = row, row if last is None else last
        self.rows = rows  # as the first formula names them
        self.moves: list[bool] | None = None  # which of them move with the row; not known of one

    def extend(self, row: int, form: Form, rows: list[int]) -> bool:
        """Take one more formula if it is the next of this run."""
        if row != self.last + 1 or form is not self.form:
            return False
        step = row - self.first
        moves = self.moves
        if moves is None:
            moves = [now != then for now, then in zip(rows, self.rows, strict=True)]
        if rows != [r + step if m else r for r, m in zip(self.rows, moves, strict=True)]:
            return False
        self.moves, self.last = moves, row
        return True

    def places(self) -> Iterator[Place]:
        """Go through the cells of the run."""
        return (Place(self.sheet, row, self.col) for row in range(self.first, self.last + 1))

    def span(self, ref: Ref) -> Range:
        """Return the rows that the whole run reads by one reference."""
        ends = [
            bound
            for slot in (ref.first, ref.last)
            for bound in (self.rows[slot], self.rows[slot] + self._step(slot, self.last))
        ]
        return min(ends), max(ends)

    def _step(self, slot: int, row: int) -> int:
        return row - self.first if self.moves is not None and self.moves[slot] else 0

    def areas(self, row: int, sheet: str) -> Iterator[Area]:
        """Go through what the formula of one row reads on a sheet."""
        for ref in self.form.refs:
            if ref.sheet == sheet:
                ends = [self.rows[slot] + self._step(slot, row) for slot in (ref.first, ref.last)]
                yield Area(min(ends), ref.col1, max(ends), ref.col2)
        yield from (area for name, area in self.form.fixed if name == sheet)

    def reading(self, ref: Ref, row: int) -> Iterator[Range]:
        """Yield which rows of the run read a row by one reference."""
        return self.reaching(ref, row, row)

    def reaching(self, ref: Ref, top: int, bottom: int) -> Iterator[Range]:
        """Yield which rows of the run have a reference that begins up to `bottom`, and ends at
        `top` or later."""
        one = self._between(ref.first, ref.last, top, bottom)
        if one is not None:
            yield one
        if ref.first != ref.last:  # a range may be written from its end
            other = self._between(ref.last, ref.first, top, bottom)
            if other is not None and other != one:
                yield other

    def _between(self, low: int, high: int, top: int, bottom: int) -> Range | None:
        """Return the rows in which one bound lies up to `bottom` and the other from `top` on."""
        moves = self.moves or [False] * len(self.rows)
        start, end = self.first, self.last
        if moves[low]:
            end = min(end, bottom - self.rows[low] + self.first)
        elif self.rows[low] > bottom:
            return None
        if moves[high]:
            start = max(start, top - self.rows[high] + self.first)
        elif self.rows[high] < top:
            return None
        return (start, end) if start <= end else None
