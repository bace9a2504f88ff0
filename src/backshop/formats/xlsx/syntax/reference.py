"""The references of a formula as rectangles of sheets, and the formula with others in their place.

Whoever moves cells says for each rectangle where it is now; every other character of the formula
stays. Ranges of sheets (`Jan:Mar!A1`) and other workbooks are no rectangles of a sheet and stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from .address import MAX_COL, MAX_ROW, Area, column_name, column_number
from .formula import Token, quote_sheet, tokens

GONE = "#REF!"
_END = re.compile(r"(\$?)([A-Za-z]{1,3})?(\$?)([0-9]{1,7})?")
_TRIMMED = re.compile(r"((?:.*!)?)(.*?)(\.:\.|\.:|:\.)(.*)", re.S)
Locks = tuple[bool, bool]


class Reference(NamedTuple):
    """A rectangle that a formula names. Locks tell whether `$` holds its first and last line."""

    sheet: str  # as the formula spells it; the formula's own without one
    area: Area
    rows: Locks = (False, False)
    cols: Locks = (False, False)


Change: TypeAlias = Callable[[Reference], tuple[str, Area] | None]
"""Where the cells of a reference are now: a sheet and a rectangle, None when they are gone."""


def references(formula: str, home: str) -> list[Reference]:
    """Return what a formula on the sheet `home` names, in order."""
    found: list[Reference] = []

    def seen(reference: Reference) -> tuple[str, Area]:
        found.append(reference)
        return reference.sheet, reference.area

    moved(formula, home, seen)
    return found


def moved(formula: str, home: str, change: Change) -> str:
    """Return a formula on the sheet `home` whose references are where `change` says."""
    pieces = tokens(formula)
    out: list[str] = []
    at = 0
    while at < len(pieces):
        width, text = _moved(pieces, at, home, change)
        out.append(text)
        at += width
    return "".join(out)


def _moved(pieces: Sequence[Token], at: int, home: str, change: Change) -> tuple[int, str]:
    """Return the text for the token at a place, and how many tokens it stands for."""
    token = pieces[at]
    if token.kind == "trim":
        return 1, _trimmed(token, home, change)
    if token.kind != "ref" or token.external or ":" in (token.sheet or ""):
        return 1, token.text
    last = _other_end(pieces, at)
    if last is None:
        return 1, _written(token, token.body, ":", home, change)
    far = last.text[: len(last.text) - len(last.body)]  # Sheet1!A1:Sheet1!B3 is one range
    return 3, _written(token, f"{token.body}:{last.body}", f":{far}", home, change)


def _other_end(pieces: Sequence[Token], at: int) -> Token | None:
    """Return the second cell of a range whose ends are two tokens."""
    if at + 2 >= len(pieces) or pieces[at + 1].text != ":" or pieces[at + 2].kind != "ref":
        return None
    first, last = pieces[at], pieces[at + 2]
    if ":" in first.body or ":" in last.body:
        return None
    same = last.sheet is None or last.sheet.lower() == (first.sheet or "").lower()
    return last if same else None


def _trimmed(token: Token, home: str, change: Change) -> str:
    """Return a range without its empty edges, `A1.:.A9`, likewise."""
    match = _TRIMMED.fullmatch(token.text)
    assert match is not None, "what the tokens call so"
    qualifier, first, dots, last = match.groups()
    whole = tokens(f"{qualifier}{first}:{last}")[0]
    if whole.kind != "ref" or whole.external or ":" in (whole.sheet or ""):
        return token.text
    return _written(whole, whole.body, dots, home, change)


def _written(token: Token, body: str, colon: str, home: str, change: Change) -> str:
    """Return the text of a reference after a change, its ends with `colon` between them."""
    ends = body.split(":")
    qualifier = token.text[: len(token.text) - len(token.body)]
    read = _read([_END.fullmatch(end) for end in ends])
    if read is None:
        return qualifier + colon.join(ends)
    area, rows, cols, form = read
    sheet = token.sheet if token.sheet is not None else home
    now = change(Reference(sheet, area, rows.locks, cols.locks))
    if now is None:
        return GONE  # without the sheet: not every program reads `Sheet1!#REF!`
    if now == (sheet, area):
        return qualifier + colon.join(ends)
    if now[0] != sheet:
        qualifier = f"{quote_sheet(now[0])}!"
        colon = ":" if "!" in colon else colon
    return qualifier + _spelled(now[1], rows, cols, form, colon)


class _Lines(NamedTuple):
    """How a reference writes its rows, or its columns."""

    locks: Locks  # of the first and the last one
    is_turned: bool  # the last one is written first


def _read(
    ends: Sequence[re.Match[str] | None],
) -> tuple[Area, _Lines, _Lines, str] | None:
    """Return the rectangle of a reference and how it is written; None outside a sheet."""
    read = [_end(match) for match in ends if match is not None]
    if len(read) != len(ends):
        return None
    (row1, row1_locked, col1, col1_locked) = read[0]
    (row2, row2_locked, col2, col2_locked) = read[-1]
    if (row1 is None) != (row2 is None) or (col1 is None) != (col2 is None):
        return None
    form = "cell" if len(ends) == 1 else "range"
    if row1 is None or row2 is None:
        form, row1, row2 = "columns", 1, MAX_ROW
    if col1 is None or col2 is None:
        form, col1, col2 = "rows", 1, MAX_COL
    if min(row1, row2) < 1 or max(row1, row2) > MAX_ROW or max(col1, col2) > MAX_COL:
        return None
    rows = _lines(row1 > row2, row1_locked, row2_locked)
    cols = _lines(col1 > col2, col1_locked, col2_locked)
    area = Area(min(row1, row2), min(col1, col2), max(row1, row2), max(col1, col2))
    return area, rows, cols, form


def _lines(is_turned: bool, first: bool, last: bool) -> _Lines:
    return _Lines((last, first) if is_turned else (first, last), is_turned)


def _end(match: re.Match[str]) -> tuple[int | None, bool, int | None, bool]:
    """Return row and column of one end, each with its lock; None for the one it does not name."""
    first, letters, second, digits = match.groups()
    if letters is None:  # `$5`: the sign belongs to the row
        return (int(digits) if digits else None), bool(first), None, False
    col = column_number(letters)
    return (int(digits) if digits else None), bool(second), col, bool(first)


def _spelled(area: Area, rows: _Lines, cols: _Lines, form: str, colon: str) -> str:
    is_whole = {"columns": area.height == MAX_ROW, "rows": area.width == MAX_COL}
    if form == "cell" and area.count > 1:
        form, rows, cols = "range", _spread(rows), _spread(cols)
    elif not is_whole.get(form, True):
        form = "range"
    tops, lefts = [area.row1, area.row2], [area.col1, area.col2]
    numbers = [f"{'$' * lock}{row}" for row, lock in zip(tops, rows.locks, strict=True)]
    letters = [
        f"{'$' * lock}{column_name(col)}" for col, lock in zip(lefts, cols.locks, strict=True)
    ]
    numbers = numbers[::-1] if rows.is_turned else numbers
    letters = letters[::-1] if cols.is_turned else letters
    if form == "columns":
        return colon.join(letters)
    if form == "rows":
        return colon.join(numbers)
    ends = [f"{col}{row}" for col, row in zip(letters, numbers, strict=True)]
    return ends[0] if form == "cell" else colon.join(ends)


def _spread(lines: _Lines) -> _Lines:
    return _Lines((lines.locks[0], lines.locks[0]), False)
