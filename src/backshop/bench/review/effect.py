"""Effect reports of several writes to one file as one; a later write hides no earlier one (F16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backshop.formats import cells_in, remaining

LISTED = 200  # of each list; totals count on
ERRORS_LISTED = 50
UNCOMPUTED_LISTED = 40
_LISTS = ("targets", "changed", "collateral", "recalculated")

Report = Mapping[str, Any]


def joined(earlier: Report, later: Report) -> dict[str, Any]:
    """Return what both did, the earlier first.

    An error cell of the earlier one that the later one changed counts only if it is one again.
    """
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
        "totals": {**totals, "new_errors": number},
        "new_errors": errors[:ERRORS_LISTED],
        **({"uncomputed": left[:UNCOMPUTED_LISTED]} if left else {}),
    }


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
