"""The numbers in the text of a formula: which of them are rows, which belong to a name."""

from __future__ import annotations

import re

from .formula import Token, tokens

DIGITS = re.compile(r"([0-9]+)")
LONGEST = 7  # digits; with more a word is no address, and the formula another one


def row_numerals(token: Token, before: int) -> list[int]:
    """Return which numbers of a text are the rows of a reference; `before` stand in front of it."""
    if token.kind != "ref":
        return []
    inside = len(DIGITS.findall(token.text))
    rows = len(DIGITS.findall(token.body))
    return list(range(before + inside - rows, before + inside))


def named_numerals(text: str) -> tuple[int, ...]:
    """Return which numbers of a formula belong to a name: of a sheet, a function, a table."""
    found: list[int] = []
    number = 0
    for token in tokens(text):
        inside = len(DIGITS.findall(token.text))
        if token.kind not in {"number", "string"}:
            rows = row_numerals(token, number)
            found.extend(at for at in range(number, number + inside) if at not in rows)
        number += inside
    return tuple(found)
