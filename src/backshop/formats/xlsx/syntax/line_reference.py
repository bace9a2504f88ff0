"""Many formulas whose references follow inserted or deleted lines, each kind of them read once.

Most formulas of a large sheet differ in their numbers only. What the first of a kind says, which of
its numbers are rows of the sheet that changes, holds for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .address import MAX_ROW
from .formula import Token, tokens
from .line_shift import LineShift
from .numeral import DIGITS, LONGEST, named_numerals, row_numerals
from .reference import moved

Pair = tuple[int, int]  # which of the numbers of a text are the first and the last row of a range


class _Kind:
    """Formulas with the same words: the rows they name, and their words after the shift."""

    __slots__ = ("pairs", "rows", "words")

    def __init__(self, rows: tuple[int, ...], pairs: tuple[Pair, ...], words: list[str]) -> None:
        self.rows, self.pairs, self.words = rows, pairs, words


class LineFormulas:
    """The formulas of one sheet, following a shift of lines of the same or another sheet."""

    def __init__(self, home: str, sheet: str, shift: LineShift) -> None:
        self.home, self.shift = home, shift
        self._name = sheet.lower()
        self._is_own = home.lower() == self._name
        self._spelled = (self._name, self._name.replace("'", "''"))
        self._change = shift.on(sheet)
        self._literals: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._kinds: dict[tuple[tuple[str, ...], tuple[str, ...]], _Kind | None] = {}

    def moved(self, text: str) -> str:
        """Return a formula as it reads after the shift."""
        if not self._is_own:
            small = text.lower()
            if not any(name in small for name in self._spelled):
                return text
        pieces = DIGITS.split(text)
        numbers = pieces[1::2]
        if max(map(len, numbers), default=0) <= LONGEST:
            kind = self._kind(tuple(pieces[::2]), numbers, text)
            if kind is not None and (quick := self._quick(kind, pieces)) is not None:
                return quick
        return moved(text, self.home, self._change)

    def _quick(self, kind: _Kind, pieces: list[str]) -> str | None:
        """Put the moved rows and columns into a text; None when it has to be read by itself."""
        if any(not 0 < int(pieces[at]) <= MAX_ROW for at in kind.rows):
            return None
        pieces[::2] = kind.words
        for first, last in kind.pairs:
            one, other = int(pieces[first]), int(pieces[last])
            span = self.shift.span(min(one, other), max(one, other))
            if span is None:
                return None
            low, high = span
            pieces[first], pieces[last] = map(str, (low, high) if one <= other else (high, low))
        return "".join(pieces)

    def _kind(self, words: tuple[str, ...], numbers: list[str], text: str) -> _Kind | None:
        literal = self._literals.get(words)
        if literal is None:
            literal = self._literals[words] = named_numerals(text)
        key = (words, tuple([numbers[at] for at in literal]))
        if key not in self._kinds:
            self._kinds[key] = self._read(text)
        return self._kinds[key]

    def _read(self, text: str) -> _Kind | None:
        """Read a formula; None when others with the same words have to be read by themselves."""
        rows: list[int] = []
        pairs: list[Pair] = []
        number = 0  # of the digits before the token
        pieces = tokens(text)
        for at, token in enumerate(pieces):
            places = [2 * place + 1 for place in row_numerals(token, number)]
            number += len(DIGITS.findall(token.text))
            if token.kind == "trim" or (token.text == ":" and _is_between(pieces, at)):
                return None
            if token.kind != "ref":
                continue
            if token.area is None:
                return None  # no rows of a sheet here, but perhaps in another formula
            rows += places
            if places and self.shift.axis == "row" and self._is_meant(token):
                pairs.append((places[0], places[-1]))
        words = DIGITS.split(text)[::2]
        if self.shift.axis == "column":
            now = DIGITS.split(moved(text, self.home, self._change))
            if now[1::2] != DIGITS.split(text)[1::2]:
                return None
            words = now[::2]
        return _Kind(tuple(rows), tuple(pairs), words)

    def _is_meant(self, token: Token) -> bool:
        if token.sheet is None:
            return self._is_own
        return token.sheet.lower() == self._name


def _is_between(pieces: Sequence[Token], at: int) -> bool:
    """Whether two references stand around a colon of their own."""
    return 0 < at < len(pieces) - 1 and pieces[at - 1].kind == pieces[at + 1].kind == "ref"
