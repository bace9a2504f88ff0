"""Where to look first in a changed file, read off its difference (B12.18)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Hint = dict[str, Any]
_PAGE = re.compile(r"\[page (\d{1,9})\]|--- page (\d{1,9}) ---")


def of_cells(
    sheets: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]] = ()
) -> Hint | None:
    """Return the changed part of the sheet with most changes; rows and columns count from 0.

    Where no cell of it changed, that is the first of the lines that came, or where some went.
    """
    if not sheets:
        return None
    own = {one["sheet"] for one in lines}

    def weight(sheet: Mapping[str, Any]) -> tuple[int, bool]:
        return sheet["cell_count"] - sheet["counts"]["style"], sheet["sheet"] in own

    busiest = max(sheets, key=weight)
    if busiest["bounds"] is not None and not busiest["removed"]:
        return {"sheet": busiest["sheet"], **busiest["bounds"]}
    first = next((one for one in lines if one["sheet"] == busiest["sheet"]), None)
    return {"sheet": busiest["sheet"], **(_of_run(first) if first else {})}


def _of_run(lines: Mapping[str, Any]) -> Hint:
    """Return the first cells of lines that came, or of the line before which some went."""
    is_gone = lines["kind"] == "removed"
    first = (lines["beside"] if is_gone else lines["at"]) - 1
    last = first if is_gone else first + lines["count"] - 1
    ends, others = ("row", "col") if lines["axis"] == "rows" else ("col", "row")
    found = {f"{ends}_start": first, f"{ends}_end": last}
    return {**found, f"{others}_start": 0, f"{others}_end": 0}


def of_lines(start: int, added: Sequence[int]) -> Hint:
    """Return the lines of the first hunk that differ, in the new text; it begins at `start`."""
    if not added:  # only removed: the place it happened
        return {"line_start": max(start, 1), "line_end": max(start, 1)}
    return {"line_start": min(added), "line_end": max(added)}


def of_rows(rows: Sequence[tuple[int | None, int | None]]) -> Hint | None:
    """Return the first changed rows of a table that stand together, counted from 1.

    A row is its number before and after.
    """
    if not rows:
        return None
    first = end = rows[0][1] or rows[0][0] or 0
    for _, at in rows[1:]:
        if at is None or at > end + 1:
            break
        end = at
    return {"row_start": first, "row_end": end}


def of_sections(sections: Sequence[Mapping[str, Any]]) -> Hint | None:
    """Return the first changed section; it counts as the difference counts sections."""
    return _first(sections, "section_index")


def of_slides(slides: Sequence[Mapping[str, Any]]) -> Hint | None:
    """Return the first changed or added slide of the Draft, else the one before a removal."""
    changed = [one for one in slides if one["kind"] in ("changed", "added")]
    if changed:
        return {"slide_index": changed[0]["index_after"]}
    gone = next((one for one in slides if one["kind"] == "removed"), None)
    if gone is None:
        return _first([one for one in slides if one["kind"] == "moved"], "slide_index")
    before = [one["index_after"] for one in slides[: gone["index"]]]
    return {"slide_index": max((at for at in before if at is not None), default=0)}


def of_pages(start: int, lines: Sequence[str]) -> Hint:
    """Return the page of a PDF on which line `start` stands, the first difference, from 0."""
    page = 1
    for line in lines[: max(start - 1, 0) + 1]:
        found = _PAGE.fullmatch(line.strip())
        page = int(found.group(1) or found.group(2)) if found else page
    return {"page_index": page - 1}


def _first(entries: Sequence[Mapping[str, Any]], name: str) -> Hint | None:
    changed = next((one for one in entries if one["kind"] != "same"), None)
    return None if changed is None else {name: changed["index"]}
