"""Which rows and columns of a sheet were hidden or shown again, and how that is said (B12.22)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..alignment.column_run import ColumnDifference, Said
from ..book.hidden_line import spans
from ..book.workbook import truth
from ..syntax.address import column_name

_NAMED = 5  # runs of lines that are named; of the others how many lines they have
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


def turned_words(rows: Mapping[int, bool], columns: Mapping[int, bool]) -> list[str]:
    """Return which lines were hidden or shown: `row 8 hidden`, `columns B-D, F shown`."""
    found = []
    for is_hidden in (True, False):
        numbers = sorted(line for line, turned in rows.items() if turned == is_hidden)
        letters = sorted(line for line, turned in columns.items() if turned == is_hidden)
        verb = "hidden" if is_hidden else "shown"
        if numbers:
            found.append(f"{_named('row', numbers)} {verb}")
        if letters:
            found.append(f"{_named('column', letters)} {verb}")
    return found


def _besides(said: Said) -> Said:
    return tuple(one for one in said if one[0] not in _SIZES)


def _named(what: str, lines: Sequence[int]) -> str:
    runs = spans(lines, column_name if what == "column" else str)
    shown = runs[:_NAMED]
    more = len(lines) - sum(count for _, count in shown)
    rest = f" and {more} more" if more else ""
    return f"{what}{'s'[: len(lines) != 1]} {', '.join(name for name, _ in shown)}{rest}"
