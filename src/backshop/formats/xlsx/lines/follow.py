"""What the formulas and places of one part are after lines of a sheet came or went."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..syntax.address import Area, cell_name, parse_area, parse_cell
from ..syntax.formula import Token, rewrite
from ..syntax.line_reference import LineFormulas
from ..syntax.line_shift import LineShift
from ..syntax.reference import GONE, Reference, moved
from .rule_formula import moved_rule

_BRACKET = re.compile(r"\[((?:[^\[\]']|'.)*)\]")
_PLAIN = re.compile(r"'(.)")
_SPECIAL = re.compile(r"([\[\]#'@])")
Columns = tuple[str, ...]


@dataclass(frozen=True)
class LostColumns:
    """Columns that named tables lost, by the small letters of the tables' names."""

    before: Mapping[str, Columns]
    after: Mapping[str, Columns]  # without an entry the whole table is gone

    def moved(self, formula: str) -> str:
        """Return a formula in which structured references to what is gone are errors."""
        if not self.before:
            return formula
        return rewrite(formula, self._token)

    def _token(self, token: Token) -> str:
        name = token.body.lower()
        if token.kind == "name" and token.sheet is None and name in self.before:
            return token.text if name in self.after else GONE
        if token.kind != "table":
            return token.text
        if not name:  # inside the table itself
            homes = [one for one in self.before if self._names_lost(one, token.text)]
            return GONE if homes else token.text
        if name not in self.before:
            return token.text
        if name not in self.after:
            return GONE
        return self._shrunk(name, token)

    def _names_lost(self, table: str, text: str) -> bool:
        left = {column.lower() for column in self.after.get(table, ())}
        own = {column.lower() for column in self.before[table]}
        return any(word in own - left for word in _words(text))

    def _shrunk(self, table: str, token: Token) -> str:
        """Return a structured reference; a range of columns shrinks to those that are left."""
        if not self._names_lost(table, token.text):
            return token.text
        own = [column.lower() for column in self.before[table]]
        left = [column.lower() for column in self.after[table]]
        named = [word for word in _words(token.text) if word in own]
        if len(named) != 2 or "]:[" not in re.sub(r"\s", "", token.text):
            return GONE
        first, last = sorted(own.index(word) for word in named)
        kept = [own[at] for at in range(first, last + 1) if own[at] in left]
        if not kept:
            return GONE
        spelled = {column.lower(): column for column in self.after[table]}
        ends = iter([spelled[kept[0]], spelled[kept[-1]]])

        def bracket(match: re.Match[str]) -> str:
            is_column = _PLAIN.sub(r"\1", match[1]).lower() in own
            return "[" + _SPECIAL.sub(r"'\1", next(ends)) + "]" if is_column else match[0]

        return token.text[: len(token.body)] + _BRACKET.sub(bracket, token.text[len(token.body) :])


def _words(text: str) -> list[str]:
    """Return what stands in the brackets of a structured reference, in small letters."""
    inner = text[text.index("[") :]
    found = [_PLAIN.sub(r"\1", word).lower() for word in _BRACKET.findall(inner[1:-1])]
    return found or [_PLAIN.sub(r"\1", inner[1:-1].removeprefix("@")).lower()]


@dataclass(frozen=True)
class Follow:
    """How one part follows: the sheet it belongs to is `home`, the one that changes is `sheet`."""

    sheet: str
    shift: LineShift
    home: str
    lost: LostColumns = field(default_factory=lambda: LostColumns({}, {}))
    broken: Counter[str] = field(default_factory=Counter)  # references that lead nowhere now

    @property
    def is_own(self) -> bool:
        """Whether places without a sheet's name are places of the sheet that changes."""
        return self.home.lower() == self.sheet.lower()

    @cached_property
    def formulas(self) -> LineFormulas:
        """The formulas of the part."""
        return LineFormulas(self.home, self.sheet, self.shift)

    def at(self, home: str) -> Follow:
        """Return how a formula of another sheet follows."""
        return replace(self, home=home)

    def formula(self, text: str) -> str:
        """Return a formula that stands in a cell or says all by itself."""
        return self._ended(text, self.formulas.moved(text))

    def _ended(self, before: str, now: str) -> str:
        now = self.lost.moved(now)
        if now != before and GONE in now:
            self.broken[self.home] += max(0, now.count(GONE) - before.count(GONE))
        return now

    def rule(self, text: str, areas: Sequence[Area]) -> str:
        """Return a formula of a rule, as it reads for the first of the cells it holds for."""
        return self._ended(text, moved_rule(text, self.home, self.sheet, self.shift, areas))

    def name(self, text: str, *, is_built_in: bool) -> str:
        """Return what a defined name says; without `$` it means a distance, and stays."""
        if is_built_in:
            return self.formula(text)

        def change(reference: Reference) -> tuple[str, Area] | None:
            if reference.sheet.lower() != self.sheet.lower():
                return reference.sheet, reference.area
            now = _held(self.shift, reference)
            return None if now is None else (reference.sheet, now)

        return self._ended(text, moved(text, self.home, change))

    # --- places of the sheet that changes ------------------------------------------------------

    def place(self, text: str) -> str | None:
        """Return where one place `A1`, `A1:B2`, `A:A` is now; None when it is gone."""
        now = moved(text, self.sheet, self.shift.on(self.sheet))
        return None if GONE in now else now

    def places(self, text: str) -> str | None:
        """Return a list of places without those that are gone; None when none is left."""
        found = [now for one in text.split() if (now := self.place(one)) is not None]
        return " ".join(found) or None

    def near(self, text: str) -> str:
        """Return a cell where it is now, or the one that has come to its place."""
        place = parse_cell(text)
        if place is None or self.place(text) is not None:
            return self.place(text) or text
        row, col = place
        return cell_name(
            *((self.shift.at, col) if self.shift.axis == "row" else (row, self.shift.at))
        )

    def areas(self, text: str) -> list[Area]:
        """Return the rectangles of a list of places."""
        return [area for one in text.split() if (area := parse_area(one)) is not None]


def _held(shift: LineShift, reference: Reference) -> Area | None:
    """Return a rectangle whose lines follow only where `$` holds them."""
    first, last = shift.along(reference.area)
    locks = shift.locks(reference)
    if all(locks) or (first, last) == (1, shift.most):
        return shift.area(reference.area)
    if not any(locks):
        return reference.area
    start = shift.span(first, shift.most) if locks[0] else (first, first)
    end = shift.span(1, last) if locks[1] else (last, last)
    if start is None or end is None:
        return None
    return shift.across(reference.area, (start[0], end[1]))
