"""How many changes of which kind the writes to a file made, by their effect reports, and in words.

Counted is write by write; how many cells or lines differ in the end is counted by a comparison.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_CALLED = {"rows": "row order"}
"""What changes are called that are not named like the thing that changed."""
_LINES = re.compile(r"lines (\d+)-(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many things of a kind the writes changed: cell, paragraph, line …; empty is any."""

    what: str
    count: int


def counted(report: Mapping[str, Any]) -> tuple[Counted, ...]:
    """Return how many things of which kind a report says are changed.

    Results that only follow are none: they are told apart as recalculated. Where its list is cut,
    the total counts, under the kind that all other listed ones have.
    """
    listed = [one for one in report.get("changed") or () if isinstance(one, Mapping)]
    follows = {_place(one) for one in report.get("recalculated") or ()}
    totals = report.get("totals") or {}
    total = totals.get("changed", len(listed))
    counts: Counter[str] = Counter()
    cells: set[str] = set()  # value, formula and look of one cell are one thing to a person
    has_other_slides = any(one.get("aspect") in ("added", "removed") for one in listed)
    for one in listed:
        if one.get("where") == "slide order" and has_other_slides:
            continue  # it follows from slides that came or went
        if one.get("kind") == "cell":
            if _place(one) not in follows:
                cells.add(str(one.get("where")))
            continue
        lines = _LINES.fullmatch(str(one.get("where")))
        size = int(lines[2]) - int(lines[1]) + 1 if lines else 1
        counts[str(one.get("kind"))] += size
    if cells:
        counts["cell"] = len(cells)
    if total > len(listed):
        if totals.get("cells") and any(one.get("kind") == "cell" for one in listed):
            counts["cell"] = totals["cells"]
            return _by_kind(counts)
        own = [one for one in listed if _place(one) not in follows]
        kinds = {str(one.get("kind")) for one in own}
        total -= totals.get("recalculated", 0)
        if total <= len(own):
            return _by_kind(counts)
        what = next(iter(kinds)) if len(kinds) == 1 and "line" not in kinds else ""
        return (Counted(what=what, count=total),)
    return _by_kind(counts)


def _place(one: Mapping[str, Any]) -> tuple[str, str]:
    return str(one.get("where")), str(one.get("aspect"))


def _by_kind(counts: Counter[str]) -> tuple[Counted, ...]:
    parts = counts.pop("part", 0)  # of the file's package: it follows from what people see
    if not counts:
        return (Counted(what="", count=parts),) if parts else ()
    return tuple(Counted(what=what, count=count) for what, count in counts.most_common())


def changes_said(counts: Iterable[Counted]) -> list[str]:
    """Return counted changes in words: `51 cell changes`, `1 change`."""
    return [
        " ".join(
            (
                str(one.count),
                *_CALLED.get(one.what, one.what).split(),
                f"change{'s'[: one.count != 1]}",
            )
        )
        for one in counts
    ]
