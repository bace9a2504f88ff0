"""A changed cell as people read it: values as the sheet shows them, beside the plain ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Pair = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCell:
    """Both sides of a changed cell; None where a side has nothing."""

    sides: Pair
    """What it holds: formulas by their words, values as the sheet shows them."""
    results: Pair | None
    """What its formulas show, where that differs."""
    plain: Pair | None
    """The values without their number format, where more than commas tells the two apart."""


def seen_cell(cell: Mapping[str, Any]) -> SeenCell:
    """Return how a cell of F29.5 reads.

    Values that show the same on both sides, or nothing at all, are told without their format.
    """
    held = _pair(cell)
    results = _pair(cell["results"]) if cell.get("results") else None
    shown = _pair(cell["shown"]) if cell.get("shown") else None
    if shown is None or shown[0] == shown[1] or "" in shown:
        return SeenCell(sides=held, results=results, plain=None)
    if cell["kind"] != "formula":
        return SeenCell(sides=shown, results=None, plain=_hidden(held, shown))
    before, after = (
        text if text is None or text.startswith("=") else display
        for text, display in zip(held, shown, strict=True)
    )
    return SeenCell(sides=(before, after), results=results and shown, plain=_hidden(results, shown))


def _hidden(plain: Pair | None, shown: Pair) -> Pair | None:
    """Return plain values, if more than signs between thousands tells them from what is shown."""
    without = tuple(one and one.replace(",", "") for one in shown)
    return None if plain == without else plain


def _pair(sides: Mapping[str, Any]) -> Pair:
    before, after = sides.get("before"), sides.get("after")
    return None if before is None else str(before), None if after is None else str(after)
