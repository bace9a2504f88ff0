"""What a sheet says of its columns: widths, formats, outline. Compared and put column by column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from lxml import etree

from backshop.formats.package.guard import Element

from ..book.element_order import insert_in_order
from ..book.workbook import child, children, like
from ..edit.layout import ORDER
from ..syntax.address import MAX_COL

Said = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ColumnRun:
    """Columns from one to another of which the same is said."""

    first: int
    last: int
    said: Said


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """Columns from one to another of which something else is said now."""

    first: int
    last: int
    before: Said
    after: Said


def column_runs(root: Element, style: Callable[[int], str]) -> list[ColumnRun]:
    """Return the columns of which something is said; `style` gives a format in full."""
    found = []
    for item in children(child(root, "cols"), "col"):
        ends = [item.get(name) or "" for name in ("min", "max")]
        if not all(end.isdigit() and len(end) < 6 for end in ends):
            continue
        said = {
            str(key): str(value)
            for key, value in item.attrib.items()
            if key not in ("min", "max") and "}" not in str(key)
        }
        if said.get("style", "").isdigit():
            said["style"] = style(int(said["style"]))
        run = ColumnRun(int(ends[0]), min(int(ends[1]), MAX_COL), tuple(sorted(said.items())))
        if run.first <= run.last:
            found.append(run)
    return sorted(found, key=lambda run: run.first)


def differing_columns(old: list[ColumnRun], new: list[ColumnRun]) -> list[ColumnDifference]:
    """Return the columns that differ, those that do so in the same way together."""
    found: list[ColumnDifference] = []
    edges = sorted({edge for run in (*old, *new) for edge in (run.first, run.last + 1)})
    sides = [([run.first for run in runs], runs) for runs in (old, new)]
    for first, behind in pairwise(edges):
        before, after = (_said(first, *side) for side in sides)
        if before != after:
            found.append(ColumnDifference(first, behind - 1, before, after))
    return _joined(found)


def _said(col: int, firsts: list[int], runs: list[ColumnRun]) -> Said:
    at = bisect_right(firsts, col) - 1
    return runs[at].said if at >= 0 and col <= runs[at].last else ()


def parted(
    differences: Iterable[ColumnDifference], came: Callable[[int], object]
) -> dict[object, list[ColumnDifference]]:
    """Return differences by what columns came with, None for those that were there."""
    found: dict[object, list[ColumnDifference]] = {}
    for one in differences:
        start = one.first
        for col in range(one.first, one.last + 1):
            if col == one.last or came(col) != came(col + 1):
                piece = replace(one, first=start, last=col)
                found.setdefault(came(col), []).append(piece)
                start = col + 1
    return found


def told_columns(
    differences: Iterable[ColumnDifference], told: Callable[[int], int]
) -> list[ColumnDifference]:
    """Return differences in other names of columns, those that follow one another together."""
    found = []
    for one in differences:
        start = one.first
        for col in range(one.first, one.last + 1):
            if col == one.last or told(col + 1) != told(col) + 1:
                found.append(replace(one, first=told(start), last=told(col)))
                start = col + 1
    return _joined(found)


def _joined(items: list[ColumnDifference]) -> list[ColumnDifference]:
    found: list[ColumnDifference] = []
    for one in items:
        last = found[-1] if found else None
        follows = last is not None and last.last + 1 == one.first
        if (
            last is not None
            and follows
            and replace(one, first=last.first) == replace(last, last=one.last)
        ):
            found[-1] = replace(last, last=one.last)
        else:
            found.append(one)
    return found


def put_columns(
    root: Element, other: Element, wanted: list[tuple[int, int]], number: Callable[[int], int]
) -> None:
    """Let some columns be as another version of the sheet has them."""
    own = column_runs(root, str)
    theirs = column_runs(other, lambda style: str(number(style)))
    kept = [piece for run in own for piece in _outside(run, wanted)]
    taken = [
        ColumnRun(max(run.first, first), min(run.last, last), run.said)
        for run in theirs
        for first, last in wanted
        if run.first <= last and first <= run.last
    ]
    for item in children(root, "cols"):
        root.remove(item)
    made = sorted([*kept, *taken], key=lambda run: run.first)
    if not made:
        return
    parent = etree.Element(like(root, "cols"))
    for run in made:
        ends = {"min": str(run.first), "max": str(run.last)}
        etree.SubElement(parent, like(root, "col"), {**ends, **dict(run.said)})
    insert_in_order(root, parent, ORDER)


def _outside(run: ColumnRun, wanted: list[tuple[int, int]]) -> Iterator[ColumnRun]:
    """Go through what is left of a run without some columns."""
    start = run.first
    for first, last in sorted(wanted):
        if last < start or first > run.last:
            continue
        if start < first:
            yield ColumnRun(start, first - 1, run.said)
        start = last + 1
    if start <= run.last:
        yield ColumnRun(start, run.last, run.said)
