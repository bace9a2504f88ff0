"""Changes in words, in the terminal: of a cell, and beyond a difference that is shown (B12.22)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
    said = f"{cell['what']}: {_pair(cell, absent)}"
    if cell.get("formula"):
        said += f"  {clean(cell['formula'])}"
    if cell.get("results"):
        said += f"  (result {_pair(cell['results'], '(none)')})"
    return f"{said}  [{formats}]" if formats else said


def _pair(sides: Mapping[str, Any], absent: str) -> str:
    texts = (sides.get(side) for side in ("before", "after"))
    return " → ".join(absent if one is None else clean(str(one)) for one in texts)
