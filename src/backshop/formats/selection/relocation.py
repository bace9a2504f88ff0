"""Where lines, rows and pages of one version are in another.

An item that stayed is found by alignment, one that was carried elsewhere by its own text when
nothing else has it, one that was rewritten in the block of changes it lay in: by what it has in
common, else by its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from ..diff.alignment import Change, changes

_LOOKED_AT = 200  # items of a block that one item is compared with

Span = tuple[int, int]
"""First and behind the last, counted from 0."""


class Relocation:
    """Two versions of a list, aligned once to ask for many places.

    `is_like` tells whether an old item, by its place, is a version of a new one. Lists longer than
    `most` items together are only compared from their start and their end.
    """

    def __init__(
        self,
        old: Sequence[Hashable],
        new: Sequence[Hashable],
        is_like: Callable[[int, int], bool],
        most: int,
    ) -> None:
        self._old, self._new, self._is_like = old, new, is_like
        found = changes(old, new) if len(old) + len(new) <= most else _outer(old, new)
        self._same: dict[int, int] = {}
        self._block: dict[int, Change] = {}
        i = j = 0
        for change in [*found, Change(len(old), len(old), len(new), len(new))]:
            self._same.update(
                zip(range(i, change.old_start), range(j, change.new_start), strict=True)
            )
            self._block.update(dict.fromkeys(range(change.old_start, change.old_end), change))
            i, j = change.old_end, change.new_end
        self._only = _only(old, new)

    def span(self, start: int, end: int) -> tuple[Span | None, bool]:
        """Return where old items are now, None when they are gone, and whether they differ."""
        homes = [self._home(at) for at in range(start, end)]
        known = [at for at in homes if at is not None]
        if not known:
            block = self._block[start]
            if block.new_start == block.new_end:
                return None, True
            first = min(block.new_start + start - block.old_start, block.new_end - 1)
            return (first, min(first + end - start, block.new_end)), True
        found = (min(known), max(known) + 1)
        is_same = len(known) == end - start == found[1] - found[0] and all(
            self._old[at] == self._new[home]
            for at, home in zip(range(start, end), known, strict=True)
        )
        return found, not is_same

    def _home(self, at: int) -> int | None:
        if at in self._same:
            return self._same[at]
        elsewhere = self._only.get(self._old[at])
        if elsewhere is not None:
            return elsewhere
        block = self._block[at]
        near = block.new_start + at - block.old_start
        is_even = block.old_end - block.old_start == block.new_end - block.new_start
        if is_even:
            return near
        middle = min(max(near, block.new_start), block.new_end)
        first = max(block.new_start, middle - _LOOKED_AT // 2)
        last = min(block.new_end, first + _LOOKED_AT)
        return next((one for one in range(first, last) if self._is_like(at, one)), None)


def _only(old: Sequence[Hashable], new: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return where the items are in the new list that stand once in both."""
    before, after = Counter(old), Counter(new)
    return {
        item: at for at, item in enumerate(new) if after[item] == 1 and before.get(item, 0) == 1
    }


def _outer(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Change]:
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start == len(old) == len(new):
        return []
    return [Change(start, len(old) - end, start, len(new) - end)]
