"""Which rows and columns of a sheet nobody sees, and how lines are named together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from backshop.formats.package.guard import Element

from ..syntax.address import MAX_COL, column_name
from .sheet_xml import SheetXml, attributes
from .workbook import child, children, truth

_NAMED = 5  # runs of lines that are named; of the others how many lines they have
_HIDDEN_ROW = re.compile(rb"<(?:[\w.\-]+:)?row\s[^<>]*?\bhidden\s*=")


def hidden_rows(xml: SheetXml) -> list[int]:
    """Return the rows that are hidden, by hand or by a filter."""
    if not _HIDDEN_ROW.search(xml.data):
        return []
    found = []
    for row in xml.iter_rows():
        tag = xml.data[row.start : row.inner]
        if b"hidden" in tag and truth(attributes(tag).get(b"hidden", b"").decode()):
            found.append(row.number)
    return found


def hidden_columns(root: Element) -> list[int]:
    """Return the columns that are hidden, in order."""
    found: set[int] = set()
    for item in children(child(root, "cols"), "col"):
        ends = [item.get(name) or "" for name in ("min", "max")]
        if truth(item.get("hidden")) and all(end.isdigit() and len(end) < 6 for end in ends):
            found.update(range(int(ends[0]), min(int(ends[1]), MAX_COL) + 1))
    return sorted(found)


def spans(lines: Iterable[int], called: Callable[[int], str] = str) -> list[tuple[str, int]]:
    """Return lines in order by their names, those that follow one another as one: `10-12`, 3."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and runs[-1][1] + 1 == line:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return [
        (called(first) if first == last else f"{called(first)}-{called(last)}", last - first + 1)
        for first, last in runs
    ]


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


def _named(what: str, lines: Sequence[int]) -> str:
    runs = spans(lines, column_name if what == "column" else str)
    shown = runs[:_NAMED]
    more = len(lines) - sum(count for _, count in shown)
    rest = f" and {more} more" if more else ""
    return f"{what}{'s'[: len(lines) != 1]} {', '.join(name for name, _ in shown)}{rest}"
