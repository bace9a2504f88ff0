"""Columns by their letters, and cells covered by few rectangles. Rows and columns count from 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

_COLUMNS = 16_384
_RANGE = re.compile(r"(.*!)([A-Z]{1,3})([0-9]{1,7})(?::([A-Z]{1,3})([0-9]{1,7}))?", re.S)
_MOST_CELLS = 200_000  # of one range that is looked at cell by cell
_ENDS = ("row_start", "col_start", "row_end", "col_end")
Rectangle = tuple[int, int, int, int]
"""First row, first column, last row, last column."""


@lru_cache(maxsize=_COLUMNS)
def column_name(col: int) -> str:
    """Return the letters of a column: 1 is A, 28 is AB."""
    letters = ""
    while col:
        col, rest = divmod(col - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@lru_cache(maxsize=_COLUMNS)
def column_number(letters: str) -> int:
    """Return the number of a column, without checking that a sheet has it."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def rectangles(cells: Iterable[tuple[int, int]]) -> list[Rectangle]:
    """Cover exactly these cells with few rectangles: runs in a row, then equal runs of rows."""
    open_runs: dict[tuple[int, int], int] = {}  # first and last column: the first row
    last_row = 0
    done: list[Rectangle] = []
    by_row: dict[int, list[int]] = {}
    for row, col in cells:
        by_row.setdefault(row, []).append(col)

    def close(runs: dict[tuple[int, int], int]) -> None:
        done.extend((start, first, last_row, last) for (first, last), start in runs.items())

    for row in sorted(by_row):
        if row != last_row + 1:
            close(open_runs)
            open_runs = {}
        here = runs(sorted(set(by_row[row])))
        following = {run: open_runs.pop(run, row) for run in here}
        close(open_runs)
        open_runs, last_row = following, row
    close(open_runs)
    return sorted(done)


def runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return ascending numbers as first and last of those that follow each other."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def remaining(ranges: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Return what is left of ranges such as `Sheet!B2:B9` without the cells of others.

    What is no range of cells, or one too large to go through, stays as it is.
    """
    gone: dict[str, list[Rectangle]] = {}
    for place in taken:
        if (found := _parsed(place)) is not None:
            gone.setdefault(found[0], []).append(found[1])
    out: list[str] = []
    for place in ranges:
        found = _parsed(place)
        if found is None or not (others := _meeting(found[1], gone.get(found[0], []))):
            out.append(place)
            continue
        head, (top, left, bottom, right) = found
        cells = (
            (row, col)
            for row in range(top, bottom + 1)
            for col in range(left, right + 1)
            if not any(a <= row <= c and b <= col <= d for a, b, c, d in others)
        )
        out.extend(head + _named(one) for one in rectangles(cells))
    return out


def cells_in(place: str) -> int:
    """Return how many cells a range such as `Sheet!B2:B9` has; anything else counts as one."""
    found = _parsed(place)
    if found is None:
        return 1
    top, left, bottom, right = found[1]
    return (bottom - top + 1) * (right - left + 1)


def in_cells(bounds: Mapping[str, T]) -> dict[str, T | str]:
    """Return bounds whose rows and columns count from 0 as people name cells (F44.5).

    What else stands beside them stays.
    """
    ends = [bounds.get(name) for name in _ENDS]
    if not all(isinstance(one, int) for one in ends):
        return dict(bounds)
    top, left, bottom, right = (int(str(one)) + 1 for one in ends)
    beside = {name: value for name, value in bounds.items() if name not in _ENDS}
    return {**beside, "range": _named((top, left, bottom, right))}


def _parsed(place: str) -> tuple[str, Rectangle] | None:
    match = _RANGE.fullmatch(place)
    if match is None:
        return None
    col, row = column_number(match[2]), int(match[3])
    last = (int(match[5]), column_number(match[4])) if match[4] else (row, col)
    count = (last[0] - row + 1) * (last[1] - col + 1)
    return (match[1], (row, col, *last)) if 0 < count <= _MOST_CELLS else None


def _meeting(one: Rectangle, others: Iterable[Rectangle]) -> list[Rectangle]:
    return [
        two
        for two in others
        if one[0] <= two[2] and two[0] <= one[2] and one[1] <= two[3] and two[1] <= one[3]
    ]


def _named(one: Rectangle) -> str:
    first = f"{column_name(one[1])}{one[0]}"
    last = f"{column_name(one[3])}{one[2]}"
    return first if first == last else f"{first}:{last}"
