"""Changes in words, in the terminal: of a cell, and beyond a difference that is shown (B12.22)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from backshop.formats import lines_said, seen_cell

from ..door import clean


def also_lines(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for every place."""
    for one in entries:
        part = one["part"] if one["part"] and one["part"] not in one["text"] else ""
        yield f"also changed: {clean(one['text'])}" + (f"  ({clean(part)})" if part else "")


def cell_text(cell: Mapping[str, Any]) -> str:
    """Return what changed in a cell for people."""
    formats = clean("; ".join(cell.get("formats") or ()))
    if cell["kind"] == "style":
        return f"{cell['what']}: {formats}"
    absent = "(not stored)" if cell["kind"] == "result" else "(empty)"
    seen = seen_cell(cell)
    said = f"{cell['what']}: {_pair(seen.sides, absent)}"
    if cell.get("formula"):
        said += f"  {clean(cell['formula'])}"
    if seen.results:
        said += f"  (result {_pair(seen.results, '(none)')})"
    if seen.plain:
        said += f"  (without number format {_pair(seen.plain, '(none)')})"
    return f"{said}  [{formats}]" if formats else said


def line_texts(
    lines: Sequence[Mapping[str, Any]], following: Mapping[str, Any] | None
) -> Iterator[str]:
    """Go through the rows and columns that came or went, and what follows them, for people."""
    for one in lines:
        sign = "+" if one["kind"] == "inserted" else "-"
        yield f"{sign} {clean(one['sheet'])}: {lines_said(one)}{_held(one)}"
    if following and following["count"]:
        more = "" if following["is_all"] else "at least "
        yield f"  {more}{following['count']} formula(s) and name(s) follow"


def _held(lines: Mapping[str, Any]) -> str:
    """Return what removed lines held; what came into others is told cell by cell."""
    if lines["kind"] == "inserted" or not lines["texts"]:
        return ""
    texts = ", ".join(clean(text) for text in lines["texts"])
    count = lines["cell_count"]
    is_all = count is not None and count <= len(lines["texts"])
    return f": {texts}" if is_all else f": {texts}, …"


def moved_from(cell: Mapping[str, Any]) -> str:
    """Return where a cell was before lines came or went."""
    return f" (was {cell['cell_before']})" if cell.get("cell_before") else ""


def _pair(sides: Iterable[str | None], absent: str) -> str:
    return " → ".join(absent if one is None else clean(one) for one in sides)
