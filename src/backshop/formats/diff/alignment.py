"""Aligns two sequences: patience anchors, then Myers between them.

Lines that occur once on both sides are anchors that people recognise; the gaps between them are
small and get a shortest edit. A gap too wild for that counts as replaced, which is true, only less
fine; so do the gaps that are left when the effort is spent. Nothing here depends on hashes or time,
so the same two files always give the same alignment.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_MAX_EDITS = 1_000  # of one gap; beyond it the gap counts as replaced
_MAX_STEPS = 20_000_000  # of one comparison, about three seconds
_MYERS_STEPS = 5  # one step of a shortest edit costs as much as looking at so many items


@dataclass(slots=True)
class Effort:
    """How many steps are left; shared by comparisons that must not take too long together."""

    steps: int = _MAX_STEPS

    def spend(self, steps: int) -> bool:
        """Take steps; say whether there were enough."""
        self.steps -= steps
        return self.steps >= 0


@dataclass(frozen=True, slots=True)
class Change:
    """`old[old_start:old_end]` became `new[new_start:new_end]`; one of the two may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(
    old: Sequence[Hashable], new: Sequence[Hashable], *, effort: Effort | None = None
) -> list[Change]:
    """Return what differs, in order; what lies between two changes is equal."""
    table: dict[Hashable, int] = {}
    a = [table.setdefault(item, len(table)) for item in old]
    b = [table.setdefault(item, len(table)) for item in new]
    pairs = _matches(a, b, effort or Effort())
    result = []
    i = j = 0
    for x, y in [*pairs, (len(a), len(b))]:
        if i < x or j < y:
            result.append(Change(i, x, j, y))
        i, j = x + 1, y + 1
    return result


def aligned(
    old: Sequence[Hashable], new: Sequence[Hashable]
) -> Iterator[tuple[list[tuple[int, int]], range, range]]:
    """Go through both sides: places that are equal, then what went and what came behind them."""
    i = j = 0
    for change in [*changes(old, new), Change(len(old), len(old), len(new), len(new))]:
        same = zip(range(i, change.old_start), range(j, change.new_start), strict=True)
        i, j = change.old_end, change.new_end
        yield list(same), range(change.old_start, i), range(change.new_start, j)


def _matches(a: list[int], b: list[int], effort: Effort) -> list[tuple[int, int]]:
    """Return index pairs of equal items, rising on both sides."""
    found: list[tuple[int, int]] = []
    stack = [(0, len(a), 0, len(b))]
    while stack:
        i, n, j, m = stack.pop()
        while i < n and j < m and a[i] == b[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        while i < n and j < m and a[n - 1] == b[m - 1]:
            n, m = n - 1, m - 1
            found.append((n, m))
        if i == n or j == m or not effort.spend(n - i + m - j):
            continue
        anchors = _anchors(a[i:n], b[j:m])
        if not anchors:
            found.extend((i + x, j + y) for x, y in _myers(a[i:n], b[j:m], effort))
            continue
        edges = [(-1, -1), *anchors, (n - i, m - j)]
        found.extend((i + x, j + y) for x, y in anchors)
        for (x0, y0), (x1, y1) in pairwise(edges):
            stack.append((i + x0 + 1, i + x1, j + y0 + 1, j + y1))
    return sorted(found)


def _anchors(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Return the longest rising row of items that occur once on each side."""
    counts_a, counts_b = Counter(a), Counter(b)
    where = {item: y for y, item in enumerate(b) if counts_b[item] == 1}
    pairs = [(x, where[v]) for x, v in enumerate(a) if counts_a[v] == 1 and v in where]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, y) in enumerate(pairs):
        at = bisect_left(tails, y)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [y]
        ends[at : at + 1] = [index]
    row = []
    index = ends[-1] if ends else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _myers(a: list[int], b: list[int], effort: Effort) -> list[tuple[int, int]]:
    """Return the matches of a shortest edit, or none when it would take too many steps."""
    n, m = len(a), len(b)
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(n + m, _MAX_EDITS) + 1):
        trace.append(dict(furthest))
        steps = edits + 1
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            start = x
            while x < n and y < m and a[x] == b[y]:
                x, y = x + 1, y + 1
            steps += x - start
            furthest[k] = x
            if x >= n and y >= m:
                return _walk_back(trace, n, m)
        if not effort.spend(_MYERS_STEPS * steps):
            break
    return []


def _walk_back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    found = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        k = x - y
        down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
        before_k = k + 1 if down else k - 1
        before_x = furthest.get(before_k, 0)
        before_y = before_x - before_k
        while x > before_x and y > before_y and x > 0 and y > 0:
            x, y = x - 1, y - 1
            found.append((x, y))
        if edits == 0:
            break
        x, y = before_x, before_y
    return found[::-1]
