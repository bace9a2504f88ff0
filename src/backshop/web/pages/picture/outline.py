"""What is outlined in a picture of a document, and the entries the outlines lead to (U8.3).

Rectangles are in pixels of the drawing they lie over. Everything in an entry that a file says is
text for the template to escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from backshop.base.labels import headline

SIGNS = {"added": "+", "changed": "~", "removed": "−", "moved": "→", "format": "¶"}
WORDS = {
    "added": "added",
    "changed": "changed",
    "removed": "removed",
    "moved": "moved",
    "format": "format changed",
}
LINES_SHOWN = 6  # of one entry
ABOUT_CHARS = 80  # of what is gone, where a comment names it
SHOWN_MAX = 200  # entries of one picture
FIT_PX = 420  # about as wide as a slide beside another is shown: signs are scaled to be read then
Data = Mapping[str, Any]
Rect = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One thing of an entry, before and after; None where that side has nothing."""

    at: str
    before: str | None
    after: str | None
    formulas: tuple[str | None, str | None] | None = None
    """The formulas, where what they show stands in `before` and `after`."""
    plain: tuple[str | None, str | None] | None = None
    """The values without their number format, where that tells more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change as the list beside a picture has it."""

    number: int
    change: str
    label: str
    what: str = ""
    place: str | None = None
    """The place in the Draft as a comment spells it; None where the Draft has none."""
    near: str = ""
    """Of what is gone: the place in the Draft beside which it was; empty: the whole file."""
    sides: tuple[Side, ...] = ()
    pieces: tuple[Sequence[Data], ...] = ()
    """Lines of text with what came and went marked in them."""
    facts: tuple[str, ...] = ()
    more: int = 0

    @property
    def plain(self) -> list[Side]:
        """What has more to tell without its number format."""
        return [one for one in self.sides if one.plain]

    @property
    def about_gone(self) -> str | None:
        """How a comment on what is gone begins, as it stands at another place (U8.14)."""
        if self.place is not None:
            return None
        text = " ".join("".join(str(one["text"]) for one in line) for line in self.pieces)
        return comment_head(f"what was removed, {self.label}", text or next(iter(self.facts), ""))

    @property
    def sign(self) -> str:
        """The sign of what became of it."""
        return SIGNS[self.change]

    @property
    def word(self) -> str:
        """The same as a word."""
        return WORDS[self.change]

    @property
    def tone(self) -> str:
        """The colour it is told in, beside its sign."""
        return self.change if self.change in ("added", "removed") else "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A rectangle over a picture that leads to an entry, or to a comment."""

    x: float
    y: float
    width: float
    height: float
    entry: Entry | None = None
    remark: int | None = None
    """The number of the comment it leads to."""
    unit: float = 1.0
    """How large its sign is: pictures that are shown smaller have larger ones."""


def comment_head(label: str, text: str) -> str:
    """Return how a comment begins that cannot stand at what it is about."""
    words = headline(text, ABOUT_CHARS)
    return f"About {label}{f' (“{words}”)' if words else ''}: "


def outline(rect: Rect, **facts: Any) -> Outline:
    """Return an outline around a rectangle."""
    x, y, width, height = (round(one, 1) for one in rect)
    return Outline(x=x, y=y, width=width, height=height, **facts)


def unit_of(width: float) -> float:
    """Return the size of signs over a picture that is shown as wide as its box."""
    return round(max(1.0, width / FIT_PX), 2)


# ---------------------------------------------------------------- cells


@dataclass(frozen=True, slots=True)
class Region:
    """Cells beside one another to which the same happened; rows and columns count from 0."""

    row: int
    col: int
    last_row: int
    last_col: int
    key: tuple[str, ...]

    def cells(self) -> Iterable[tuple[int, int]]:
        """Yield the cells, row by row."""
        for row in range(self.row, self.last_row + 1):
            for col in range(self.col, self.last_col + 1):
                yield row, col


def regions(cells: Mapping[tuple[int, int], tuple[str, ...]]) -> list[Region]:
    """Return changed cells as few rectangles: runs of a column first, then columns of one length.

    They come in reading order of their first cells.
    """
    runs = [
        Region(rows[0], col, rows[-1], col, key)
        for col, key, rows in _runs(sorted(cells, key=lambda cell: (cell[1], cell[0])), cells)
    ]
    runs.sort(key=lambda one: (one.row, one.last_row, one.key, one.col))
    found: list[Region] = []
    for one in runs:
        last = found[-1] if found else None
        is_beside = (
            last is not None
            and (last.row, last.last_row, last.key) == (one.row, one.last_row, one.key)
            and last.last_col + 1 == one.col
        )
        if last is not None and is_beside:
            found[-1] = Region(last.row, last.col, last.last_row, one.col, last.key)
        else:
            found.append(one)
    return sorted(found, key=lambda one: (one.row, one.col))


def _runs(
    order: Sequence[tuple[int, int]], cells: Mapping[tuple[int, int], tuple[str, ...]]
) -> Iterable[tuple[int, tuple[str, ...], list[int]]]:
    """Yield column, key and rows of cells that stand below one another."""
    numbered = [(col, cells[row, col], row - at, row) for at, (row, col) in enumerate(order)]
    for (col, key, _), run in groupby(numbered, lambda one: one[:3]):
        yield col, key, [row for *_, row in run]


def cell_rect(drawing: Data, row: int, col: int, last_row: int, last_col: int) -> Rect | None:
    """Return where cells stand in a drawn sheet; None where its window does not show them."""
    across = _span(drawing["columns"], col - drawing["col_start"], last_col - drawing["col_start"])
    down = _span(drawing["rows"], row - drawing["row_start"], last_row - drawing["row_start"])
    if across is None or down is None:
        return None
    return across[0], down[0], across[1] - across[0], down[1] - down[0]


def _span(edges: Sequence[float], first: int, last: int) -> tuple[float, float] | None:
    first, last = max(first, 0), min(last, len(edges) - 2)
    return (edges[first], edges[last + 1]) if first <= last else None
