"""Columns by their letters, and cells covered by few rectangles. Rows and columns count from 1."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_COLUMNS = 16_384
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
