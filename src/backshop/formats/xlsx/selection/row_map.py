"""Where the rows of a sheet are in another version of it, known again by what they hold.

Rows that are the same at the same number stay; between them what differs is aligned, so that a
sheet of which a few cells changed costs next to nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property

from backshop.formats.diff import alignment

from ..book.sheet_xml import RowSpan, SheetXml, row_pairs
from ..book.workbook import Book
from ..edit.effect import differing_rows
from ..syntax.address import MAX_ROW, Area

_SEARCHED_BLOCK = 40_000  # pairs of rows; in a larger changed block rows go by their order
_PARSED_ROWS = 20_000  # a sheet in which equal bytes mean nothing is aligned up to this size
_NOISE = re.compile(rb' (?:r|s|cm|vm)="[^"]*"')
_FORMULA = re.compile(
    rb"<(?:[\w.\-]+:)?f\b[^>]*?(?:/>|>[^<]*</(?:[\w.\-]+:)?f>)"
    rb"\s*(?:<(?:[\w.\-]+:)?v>[^<]*</(?:[\w.\-]+:)?v>)?"
)
_CELL = re.compile(rb"<(?:[\w.\-]+:)?c\b[^>]*?>.*?</(?:[\w.\-]+:)?c>", re.S)

Side = tuple[Book, SheetXml]
Pairs = list[tuple[RowSpan | None, RowSpan | None]]


class RowMap:
    """The rows of two versions of a sheet; `comparable`: the same bytes mean the same in both."""

    def __init__(self, old: Side, new: Side, *, comparable: bool) -> None:
        self._sides = (old, new)
        self._comparable = comparable
        self._effort = alignment.Effort()

    def area(self, area: Area) -> Area | None:
        """Return where the rows of an area are now; None when all of them are gone."""
        if area.row1 == 1 and area.row2 == MAX_ROW:
            return area
        held = self._held(area) or [area.row1]
        first = next((row for row in held if self.row(row) is not None), None)
        last = next((row for row in reversed(held) if self.row(row) is not None), None)
        if first is None or last is None:
            return None
        start, end = self.row(first), self.row(last)
        assert start is not None, "it was found"
        assert end is not None, "it was found"
        if first == held[0]:
            start -= first - area.row1  # empty rows around them go along
        if last == held[-1]:
            end += area.row2 - last
        return Area(max(1, min(start, end)), area.col1, min(MAX_ROW, max(start, end)), area.col2)

    def row(self, row: int) -> int | None:
        """Return where a row is now; an empty one goes with the one above it."""
        at = bisect_right(self._numbers, row) - 1
        if at < 0:
            return row
        if self._numbers[at] == row:
            return self._moved.get(row, row)
        for above in reversed(self._numbers[: at + 1]):
            there = self._moved.get(above, above)
            if there is not None:
                return there + row - above
        return row

    def _held(self, area: Area) -> list[int]:
        first = bisect_left(self._numbers, area.row1)
        return self._numbers[first : bisect_right(self._numbers, area.row2)]

    @cached_property
    def _numbers(self) -> list[int]:
        return [row.number for row in self._sides[0][1].rows()]

    @cached_property
    def _moved(self) -> dict[int, int | None]:
        """Where the rows that differ are now, None for those that went."""
        found: dict[int, int | None] = {}
        for run in self._runs():
            gone = [left for left, _ in run if left is not None]
            come = [right for _, right in run if right is not None]
            found.update((row.number, None) for row in gone)
            found.update((one.number, two.number) for one, two in self._aligned(gone, come))
        return found

    def _runs(self) -> Iterator[Pairs]:
        """Go through the rows that differ, those that nothing equal stands between together."""
        pairs = self._differing()
        differ = {left.number for left, _ in pairs if left is not None}
        equal = [number for number in self._numbers if number not in differ]
        run: Pairs = []
        before = 0
        for left, right in pairs:
            number = left.number if left else right.number if right else 0
            if run and bisect_left(equal, before) != bisect_left(equal, number):
                yield run
                run = []
            run.append((left, right))
            before = number
        if run:
            yield run

    def _differing(self) -> Pairs:
        (old, one), (new, two) = self._sides
        if self._comparable:
            return list(differing_rows(one, two))
        if len(one.rows()) > _PARSED_ROWS:
            return []
        return [
            (left, right)
            for _, left, right in row_pairs(iter(one.rows()), iter(two.rows()))
            if not (left and right and _text(old, one, left) == _text(new, two, right))
        ]

    def _aligned(
        self, gone: list[RowSpan], come: list[RowSpan]
    ) -> Iterator[tuple[RowSpan, RowSpan]]:
        old, new = (
            [self._sign(side, row) for row in rows] for side, rows in ((0, gone), (1, come))
        )
        i = j = 0
        end = alignment.Change(len(old), len(old), len(new), len(new))
        for change in [*alignment.changes(old, new, effort=self._effort), end]:
            yield from zip(gone[i : change.old_start], come[j : change.new_start], strict=True)
            i, j = change.old_end, change.new_end
            left, right = range(change.old_start, i), range(change.new_start, j)
            yield from ((gone[a], come[b]) for a, b in _alike(old, left, new, right))

    def _sign(self, side: int, row: RowSpan) -> bytes:
        """Return what a row holds whatever its number, the look and the results of its cells."""
        book, xml = self._sides[side]
        if not self._comparable:
            return _text(book, xml, row)
        p = xml.words.prefix
        plain = _NOISE.sub(b"", xml.data[row.inner : row.close]).replace(b"<%sc/>" % p, b"")
        return _FORMULA.sub(b"<f/>", plain) if b"<%sf" % p in plain else plain


def _alike(
    old: list[bytes], gone: range, new: list[bytes], come: range
) -> Iterator[tuple[int, int]]:
    """Pair the rows of a changed block: in order, those that have most in common."""
    if len(gone) == len(come) or len(gone) * len(come) > _SEARCHED_BLOCK:
        yield from zip(gone, come, strict=False)
        return
    cells = {at: set(_CELL.findall(new[at])) for at in come}
    start = come.start
    for offset, at in enumerate(gone):
        own = set(_CELL.findall(old[at]))
        stop = come.stop - max(0, min(len(gone), len(come)) - offset - 1)
        scores = [(len(own & cells[there]), -there) for there in range(start, stop)]
        best = max(scores, default=(0, 0))
        if best[0]:
            yield at, -best[1]
            start = -best[1] + 1


def _text(book: Book, xml: SheetXml, row: RowSpan) -> bytes:
    held = ((c.col, "=" if c.formula else book.value(c).text) for c in xml.cells(row))
    told = "".join(f'<c r="{col}">{text}</c>' for col, text in held if text)
    return told.encode("utf-8", "surrogatepass")
