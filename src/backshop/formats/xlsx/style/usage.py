"""Which looks the cells of a workbook have, and where: each look once, as ranges (F21.1)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..book.workbook import Book, Sheet
from ..syntax.address import Area, cell_name
from .look import Looks

MAX_CELLS = 1_000_000  # looked at, so that a report ends in the time of a read
MAX_RANGES = 10  # told of one look; the others are counted
Run = tuple[int, int]
"""First and last column of neighbours in a row."""


@dataclass(slots=True)
class Use:
    """One look: a style number that has it, its first cell, how many cells, and some ranges."""

    style: int
    first: str
    count: int = 0
    ranges: list[str] = field(default_factory=list)
    more_ranges: int = 0
    open_runs: dict[Run, int] = field(default_factory=dict)  # and the row each began in
    last_row: int = 0

    def add(self, sheet: str, row: int, runs: Sequence[Run]) -> None:
        """Take in the cells of one row; runs that the row above had too grow on."""
        if row != self.last_row + 1:
            self.close(sheet)
        self.count += sum(last - first + 1 for first, last in runs)
        following = {run: self.open_runs.pop(run, row) for run in runs}
        self.close(sheet)
        self.open_runs, self.last_row = following, row

    def close(self, sheet: str) -> None:
        """End the ranges that do not go on."""
        for (first, last), start in self.open_runs.items():
            if len(self.ranges) < MAX_RANGES:
                self.ranges.append(f"{sheet}!{Area(start, first, self.last_row, last)}")
            else:
                self.more_ranges += 1
        self.open_runs = {}


@dataclass(slots=True)
class Usage:
    """The looks of some sheets, in the order in which they first stand there."""

    looks: dict[str, Use] = field(default_factory=dict)
    seen: int = 0  # cells
    seen_to: str | None = None  # the last row looked at, when there were too many cells


def usage(book: Book, looks: Looks, sheets: Sequence[Sheet]) -> Usage:
    """Go through the cells of sheets; style numbers that look the same are one look."""
    found = Usage()
    keys: dict[int, str] = {}
    for sheet in sheets:
        _look_through(book, looks, sheet, keys, found)
        for one in found.looks.values():
            one.close(sheet.name)
            one.last_row = 0
        if found.seen_to is not None:
            break
    return found


def _look_through(
    book: Book, looks: Looks, sheet: Sheet, keys: dict[int, str], found: Usage
) -> None:
    xml = book.xml(sheet)
    if xml is None:
        return
    for row in xml.iter_rows():
        in_row: dict[str, list[Run]] = {}
        for cell in xml.cells(row):
            key = keys.get(cell.style)
            if key is None:
                key = keys[cell.style] = json.dumps(looks.whole(cell.style), sort_keys=True)
            runs = in_row.setdefault(key, [])
            if runs and runs[-1][1] == cell.col - 1:
                runs[-1] = (runs[-1][0], cell.col)
            else:
                runs.append((cell.col, cell.col))
            if key not in found.looks:
                first = f"{sheet.name}!{cell_name(cell.row, cell.col)}"
                found.looks[key] = Use(cell.style, first)
            found.seen += 1
        for key, runs in in_row.items():
            found.looks[key].add(sheet.name, row.number, runs)
        if found.seen > MAX_CELLS:
            found.seen_to = f"{sheet.name}!{row.number}:{row.number}"
            return
