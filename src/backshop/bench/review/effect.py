"""Effect reports of several writes to one file as one; a later write hides no earlier one (F16)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from backshop.formats import cells_in, remaining

LISTED = 200  # of each list; totals count on
ERRORS_LISTED = 50
UNCOMPUTED_LISTED = 40
_LISTS = ("targets", "changed", "collateral", "recalculated")
SPELLING = {"spelling": 2}
"""Of a report whose places are spelled as F44 says; 0.1.0 counted slides and shapes from 0."""
_OF_DECKS = frozenset({"slide", "shape", "notes"})
_REMOVED = r"( \(removed\))?"
_OLD_SLIDE = re.compile(r"slide ([0-9]+)(?: shape ([0-9]+))?( notes)?" + _REMOVED)
_OLD_BLOCK = re.compile(r"body ([0-9]+)( row [0-9]+)?(?: cell ([0-9]+))?" + _REMOVED)

Report = Mapping[str, Any]


def joined(earlier: Report, later: Report) -> dict[str, Any]:
    """Return what both did, the earlier first.

    An error cell of the earlier one that the later one changed counts only if it is one again.
    """
    earlier, later = as_spelled(earlier), as_spelled(later)
    lists = {key: [*earlier.get(key, ()), *later.get(key, ())][:LISTED] for key in _LISTS}
    before, after = earlier.get("totals", {}), later.get("totals", {})
    touched = {one.get("where") for one in later.get("changed", ())}
    old, new = earlier.get("new_errors", ()), later.get("new_errors", ())
    errors = [one for one in old if one not in touched]
    again = [one for one in new if one in errors]
    number = error_count(earlier) - (len(old) - len(errors)) + error_count(later) - len(again)
    errors += [one for one in new if one not in errors]
    totals = {key: before.get(key, 0) + after.get(key, 0) for key in {*before, *after}}
    left = _uncomputed(earlier, later)
    return {
        **lists,
        **SPELLING,
        "totals": {**totals, "new_errors": number},
        "new_errors": errors[:ERRORS_LISTED],
        **({"uncomputed": left[:UNCOMPUTED_LISTED]} if left else {}),
    }


def as_spelled(report: Report) -> dict[str, Any]:
    """Return a report with its places as they are spelled today (F44.6)."""
    things = [one for key in _LISTS[1:] for one in report.get(key, ())]
    is_deck = any(one.get("kind") in _OF_DECKS for one in things)
    is_document = any(_OLD_BLOCK.fullmatch(str(one.get("where"))) for one in things)
    if "spelling" in report or not (is_deck or is_document):
        return dict(report)
    spelled = _slide if is_deck else _block
    lists = {
        key: [{**one, "where": spelled(str(one.get("where")))} for one in report[key]]
        for key in _LISTS[1:]
        if key in report
    }
    targets = [spelled(str(one)) for one in report.get("targets", ())]
    return {**report, **lists, "targets": targets, **SPELLING}


def _slide(where: str) -> str:
    found = _OLD_SLIDE.fullmatch(where)
    if found is None:
        return where
    shape = f" shape {int(found[2]) + 1}" if found[2] else ""
    return f"slide {int(found[1]) + 1}{shape}{found[3] or ''}{found[4] or ''}"


def _block(where: str) -> str:
    found = _OLD_BLOCK.fullmatch(where)
    if found is None:
        return where
    column = f" column {found[3]}" if found[3] else ""
    return f"paragraph {found[1]}{found[2] or ''}{column}{found[4] or ''}"


def _uncomputed(earlier: Report, later: Report) -> list[dict[str, Any]]:
    """Return the formulas without a result: those of the earlier write that are so still, first.

    A cell that the later one wrote or computed has one, or is named again.
    """
    new: Sequence[Mapping[str, Any]] = later.get("uncomputed", ())
    settled = [*later.get("settled", ()), *(str(one.get("where")) for one in new)]
    found = [
        {**one, "where": where, "count": cells_in(where)}
        for one in earlier.get("uncomputed", ())
        for where in remaining([str(one.get("where"))], settled)
    ]
    return [*found, *map(dict, new)]


def uncomputed_count(report: Report) -> int:
    """Return how many formulas have no result since a write, as far as they are listed."""
    return sum(int(one.get("count", 1)) for one in report.get("uncomputed", ()))


def error_count(report: Report) -> int:
    """Return how many cells show an error since a write; more than are listed, if need be."""
    listed = len(report.get("new_errors", ()))
    return max(listed, int(report.get("totals", {}).get("new_errors", 0)))
