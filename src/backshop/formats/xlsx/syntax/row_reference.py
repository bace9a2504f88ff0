"""What a formula says of the row it stands in."""

from __future__ import annotations

import re

from .formula import Token, tokens
from .numeral import DIGITS, row_numerals

_BOUND = re.compile(r"(\$?)([A-Za-z]{0,3})(\$?)([0-9]*)")


def is_of_sheet(token: Token, sheet: str) -> bool:
    """Whether a reference of a formula on a sheet means this sheet."""
    return token.sheet is None or token.sheet.lower() == sheet.lower()


def is_relative(token: Token) -> list[bool]:
    """Return whether the rows of a reference move when its formula does, bound by bound."""
    return [_moves(part) for part in token.body.split(":")]


def is_own_row(token: Token, row: int, sheet: str) -> bool:
    """Whether a token refers to nothing but cells of the row, and would move along with it."""
    if token.kind != "ref" or not is_of_sheet(token, sheet):
        return False
    area = token.area
    return area is not None and area.row1 == area.row2 == row and all(is_relative(token))


def marked(formula: str, row: int) -> tuple[str | None, ...]:
    """Return a formula split at its numbers, None for each that is the number of its row."""
    pieces: list[str | None] = [*DIGITS.split(formula)]
    here = str(row)
    for at in range(1, len(pieces), 2):
        if pieces[at] == here:
            pieces[at] = None
    return tuple(pieces)


class OwnRows:
    """Formulas of a sheet by what they say of their own rows; equal ones are read once."""

    def __init__(self, sheet: str) -> None:
        self._sheet = sheet
        self._known: dict[tuple[str | None, ...], frozenset[int]] = {}

    def split(self, formula: str, row: int) -> tuple[str | None, ...]:
        """Return a formula split at its numbers, None for those that mean its own row."""
        pieces = marked(formula, row)
        if pieces not in self._known:
            self._known[pieces] = self._slots(formula, row)
        own = self._known[pieces]
        if len(own) == pieces.count(None):
            return pieces
        here = str(row)
        return tuple(
            here if piece is None and at // 2 not in own else piece
            for at, piece in enumerate(pieces)
        )

    def _slots(self, formula: str, row: int) -> frozenset[int]:
        """Return which numbers of a formula mean its own row."""
        found: list[int] = []
        number = 0
        for token in tokens(formula):
            if is_own_row(token, row, self._sheet):
                found.extend(row_numerals(token, number))
            number += len(DIGITS.findall(token.text))
        return frozenset(found)


def _moves(part: str) -> bool:
    match = _BOUND.fullmatch(part)
    if match is None:
        return False
    lock_col, letters, lock_row, digits = match.groups()
    return bool(digits) and not lock_row and not (lock_col and not letters)
