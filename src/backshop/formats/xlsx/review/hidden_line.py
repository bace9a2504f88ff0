"""Which columns of a sheet were hidden or shown again (B12.22)."""

from __future__ import annotations

from collections.abc import Iterable

from ..alignment.column_run import ColumnDifference, Said
from ..book.workbook import truth

_SIZES = frozenset({"hidden", "width", "customWidth", "bestFit"})


def turned_columns(differences: Iterable[ColumnDifference]) -> dict[int, bool]:
    """Return the columns that were hidden (true) or shown (false)."""
    found: dict[int, bool] = {}
    for one in differences:
        before, after = (truth(dict(said).get("hidden")) for said in (one.before, one.after))
        if before != after:
            found |= dict.fromkeys(range(one.first, one.last + 1), after)
    return found


def differs_besides(one: ColumnDifference) -> bool:
    """Whether columns differ in more than what hides and shows them."""
    return _besides(one.before) != _besides(one.after)


def _besides(said: Said) -> Said:
    return tuple(one for one in said if one[0] not in _SIZES)
