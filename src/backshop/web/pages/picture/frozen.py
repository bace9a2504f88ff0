"""What of a sheet stays while its picture scrolls: heads, frozen rows and columns (U8.10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Data = Mapping[str, Any]
MOST = 20  # frozen lines that are drawn again beside a window that begins after them
Window = tuple[int, int, int, int]
"""First row, first column, how many of each."""
Drawn = Callable[[Window], tuple[Data, str] | None]
"""Draws a further window: its drawing and where that is to be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Frozen cells that the window itself does not show."""

    address: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What stays: how far it reaches in the drawing, and further drawings of it."""

    head_x: float
    head_y: float
    x: float
    y: float
    pieces: Mapping[str, Piece] = field(default_factory=dict)
    """`rows`, `columns` and the `corner` of both, each where the window begins after them."""

    def as_data(self) -> dict[str, Any]:
        """Return it as the page has it."""
        return asdict(self)


def kept(drawing: Data, rows: int, cols: int, drawn: Drawn) -> Kept | None:
    """Return what stays of a drawn window; None for a chart sheet, which has no lines."""
    across, down = drawing["columns"], drawing["rows"]
    if not across or not down:
        return None
    frozen, row, col = drawing["frozen"], drawing["row_start"], drawing["col_start"]
    top, left = frozen["rows"], frozen["columns"]
    is_below = 0 < top <= min(row, MOST)
    is_beside = 0 < left <= min(col, MOST)
    wanted: dict[str, Window] = {}
    if is_below:
        wanted["rows"] = (0, col, top, cols)
    if is_beside:
        wanted["columns"] = (row, 0, rows, left)
    if is_below and is_beside:
        wanted["corner"] = (0, 0, top, left)
    found = {name: drawn(window) for name, window in wanted.items()}
    pieces = {name: _piece(*one) for name, one in found.items() if one is not None}
    beside = found.get("columns")
    if beside is not None and not _is_alike(beside[0]["rows"], down):
        pieces = {name: one for name, one in pieces.items() if name == "rows"}
    return Kept(
        head_x=across[0],
        head_y=down[0],
        x=across[min(max(left - col, 0), len(across) - 1)],
        y=down[min(max(top - row, 0), len(down) - 1)],
        pieces=pieces,
    )


def _piece(drawing: Data, address: str) -> Piece:
    x, y = drawing["columns"][0], drawing["rows"][0]
    width, height = drawing["columns"][-1] - x, drawing["rows"][-1] - y
    return Piece(address=address, x=x, y=y, width=round(width, 2), height=round(height, 2))


def _is_alike(one: list[float], other: list[float]) -> bool:
    """Say whether rows stand at the same heights, as far as both have them.

    Rows that say no height are as tall as the text of the window needs: then they may differ.
    """
    return all(abs(a - b) < 1 for a, b in zip(one, other, strict=False))
