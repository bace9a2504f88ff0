"""Parts two lists of lines or rows where every subset of the differences parts them again.

An alignment in general depends on everything that differs, so with one difference taken back the
others may be cut in other places. Here lists are parted only at *firm* items: an item that stands
once in the old list counts for every place of the new list that has it, and those that belong to
every longest rising chain of such places are firm. Taking back what lies between two firm items
puts the old items there: chains can only grow by what is in its own place, so that the firm items
stay firm, and what lies between them stays what it was.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """`old[old_start:old_end]` became `new[new_start:new_end]`; one of the two may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int

    @property
    def old(self) -> range:
        """The places on the old side."""
        return range(self.old_start, self.old_end)

    @property
    def new(self) -> range:
        """The places on the new side."""
        return range(self.new_start, self.new_end)

    @property
    def is_even(self) -> bool:
        """Whether as many went as came."""
        return len(self.old) == len(self.new)


@dataclass(frozen=True, slots=True)
class Gap:
    """What differs between two firm items, without what is the same at its start and its end.

    `is_fresh`: nothing new in it stands once in the old list, here or elsewhere; then pairs of it
    may be taken back one by one and the firm items around stay firm. `is_single`: everything old
    in it stands once in the old list, so that what is taken back becomes firm itself.
    """

    segment: Segment
    is_fresh: bool
    is_single: bool


def gaps(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Gap]:
    """Return what differs, in order; everything between two gaps is the same."""
    counts = Counter(old)
    once = {item: at for at, item in enumerate(old) if counts[item] == 1}
    found: list[Gap] = []
    i = j = 0
    for x, y in [*_firm(once, new), (len(old), len(new))]:
        whole = Segment(i, x, j, y)
        inner = _trimmed(old, new, whole)
        if len(inner.old) or len(inner.new):
            is_fresh = not any(new[at] in once for at in whole.new)
            is_single = all(old[at] in once for at in whole.old)
            found.append(Gap(inner, is_fresh, is_single))
        i, j = x + 1, y + 1
    return found


def _firm(once: dict[Hashable, int], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of the items that every longest rising chain has, rising on both sides."""
    pairs = [(once[item], at) for at, item in enumerate(new) if item in once]
    ahead = _chains([x for x, _ in pairs])
    behind = _chains([-x for x, _ in reversed(pairs)])[::-1]
    longest = max(ahead, default=0)
    on_chain = [a + b - 1 == longest for a, b in zip(ahead, behind, strict=True)]
    at_level = Counter(a for a, is_on in zip(ahead, on_chain, strict=True) if is_on)
    return [
        pair
        for pair, level, is_on in zip(pairs, ahead, on_chain, strict=True)
        if is_on and at_level[level] == 1
    ]


def _chains(values: Sequence[int]) -> list[int]:
    """Return for each value how long the longest rising chain is that ends with it."""
    tails: list[int] = []
    lengths = []
    for value in values:
        at = bisect_left(tails, value)
        tails[at : at + 1] = [value]
        lengths.append(at + 1)
    return lengths


def _trimmed(old: Sequence[Hashable], new: Sequence[Hashable], whole: Segment) -> Segment:
    i, n, j, m = whole.old_start, whole.old_end, whole.new_start, whole.new_end
    while i < n and j < m and old[i] == new[j]:
        i, j = i + 1, j + 1
    while i < n and j < m and old[n - 1] == new[m - 1]:
        n, m = n - 1, m - 1
    return Segment(i, n, j, m)
