"""A row of a table as a line of text, alike in every format (F9.7, F10.4)."""

from __future__ import annotations

from collections.abc import Iterable


def table_row(cells: Iterable[str]) -> str:
    """Return one row of a table as a line."""
    shown = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return "| " + " | ".join(shown) + " |"
