"""The cell that somebody wants to go to, as it was typed (U8.11)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .outline import Region

MAX_ROW, MAX_COL = 1_048_576, 16_384
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_COLUMN = re.compile(r"\$?([A-Za-z]{1,3})")
_ROW = re.compile(r"\$?([0-9]{1,7})")
_SHOWN_CHARS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Cells of a sheet, or what is wrong with what was typed."""

    typed: str
    sheet: str | None = None
    area: Region | None = None
    fault: str | None = None

    @classmethod
    def of(cls, text: str) -> Target | None:
        """Return what was typed: `B12`, `B2:D9`, `AB`, `120`, or one of them after `Sheet!`."""
        typed = text.strip()[:200]
        if not typed:
            return None
        before, mark, cells = typed.rpartition("!")
        first, _, last = cells.partition(":")
        start, end = _corner(first), _corner(last or first)
        if start is None or end is None:
            words = f"“{typed[:_SHOWN_CHARS]}” is no cell. Type a column and a row, such as B12."
            return cls(typed=typed, fault=words)
        rows, cols = sorted((start[0], end[0])), sorted((start[1], end[1]))
        if rows[1] >= MAX_ROW or cols[1] >= MAX_COL or rows[0] < 0:
            words = "No sheet has this cell. The first one is A1, the last one XFD1048576."
            return cls(typed=typed, fault=words)
        area = Region(rows[0], cols[0], rows[1], cols[1], ())
        return cls(typed=typed, sheet=_unquoted(before) if mark else None, area=area)

    def refused(self) -> Target:
        """Return it as one that names a sheet which is not there."""
        words = f"There is no sheet called “{(self.sheet or '')[:_SHOWN_CHARS]}” here."
        return Target(typed=self.typed, fault=words)


def cell_at(name: str) -> tuple[int, int] | None:
    """Return row and column of a cell, counted from 0; None for what is no cell."""
    found = _CELL.fullmatch(name.strip())
    return None if found is None else (int(found[2]) - 1, _column(found[1]))


def _corner(text: str) -> tuple[int, int] | None:
    """Return a cell, the top of a column or the start of a row."""
    if column := _COLUMN.fullmatch(text.strip()):
        return 0, _column(column[1])
    if row := _ROW.fullmatch(text.strip()):
        return int(row[1]) - 1, 0
    return cell_at(text)


def _column(letters: str) -> int:
    col = 0
    for letter in letters.upper():
        col = col * 26 + ord(letter) - ord("A") + 1
    return col - 1


def _unquoted(name: str) -> str | None:
    name = name.strip()
    is_quoted = len(name) > 1 and name[0] == name[-1] == "'"
    return (name[1:-1].replace("''", "'") if is_quoted else name) or None
