"""Where the blocks of a document stand on the pages LibreOffice draws of it (U8.16).

A block has a rectangle only where it is certain: not among columns, not in a frame, and not where
what follows it stands above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .outline import Rect

_NEXT = 50  # blocks that are looked through for the one that follows
_LEAST = 12.0  # height of what is outlined
_PAD = {False: 2.0, True: 4.0}  # around a paragraph, and around a table
_SLACK = 3.0  # by which the letters of a line may begin above it


@dataclass(frozen=True)
class Mark:
    """A point of a page, in pixels of a screen."""

    page: int
    x: float
    y: float


@dataclass(frozen=True)
class Places:
    """The blocks of one version: `found` is what F29.13 tells."""

    found: Mapping[str, Any]

    @property
    def page_count(self) -> int:
        """How many pages there are; none where nothing is known."""
        return int(self.found.get("page_count", 0))

    @property
    def block_count(self) -> int:
        """How many blocks may have a place."""
        return len(self._begins)

    @cached_property
    def _begins(self) -> list[Mark | None]:
        pairs = zip(self.found.get("begins", ()), self.found.get("ends", ()), strict=True)
        return [Mark(*known) if (known := begin or end) else None for begin, end in pairs]

    @cached_property
    def _ends(self) -> list[Mark | None]:
        return [one and Mark(*one) for one in self.found.get("ends", ())]

    @cached_property
    def _pages(self) -> list[int]:
        """Of each block the page it begins on, as far as that is known the one before it."""
        pages, last = [], 0
        for one in self._begins:
            last = last if one is None else one.page
            pages.append(last)
        return pages

    def page_of(self, block: int) -> int:
        """Return the page a block begins on, else that of the blocks before it."""
        return self._pages[min(block, len(self._pages) - 1)] if self._pages else 0

    def pages_of(self, block: int) -> range:
        """Return the pages a block stands on."""
        first = self.page_of(block)
        end = self._ends[block] if block < len(self._ends) else None
        return range(first, max(first, end.page if end is not None else first) + 1)

    def first_on(self, page: int) -> int | None:
        """Return the block that is the first on a page, or goes on there."""
        begun = [at for at, one in enumerate(self._pages) if one < page]
        here = next((at for at, one in enumerate(self._pages) if one == page), None)
        return here if here is not None else (begun[-1] if begun else None)

    def rect(self, block: int, page: int, texts: Sequence[Rect], size: Rect) -> Rect | None:
        """Return where a block stands on a page, whose texts and size are given."""
        begin = self._begins[block] if block < len(self._begins) else None
        end = self._ends[block] if block < len(self._ends) else None
        section = self._section(block)
        if begin is None or block in self._floating or section["columns"] > 1:
            return None
        after = self._next(block)
        is_whole = block in self._tables  # all lines up to what follows are its own
        if end is None:
            if after is None or after.page != begin.page:
                return None
            is_whole, end = True, begin
        if not begin.page <= page <= end.page:
            return None
        top = begin.y if page == begin.page else section["top"]
        limit = size[3] - section["bottom"]
        if after is not None and (after.page < page or (after.page == page and after.y <= top)):
            return None
        if after is not None and after.page == page:
            limit = after.y
        lines = [
            one
            for one in texts
            if top - _SLACK <= one[1] + one[3] / 2 <= limit
            and (is_whole or page != end.page or one[1] <= end.y + 1.5 * max(one[3], _LEAST))
        ]
        left = min((one[0] for one in lines), default=section["left"])
        right = max((one[0] + one[2] for one in lines), default=size[2] - section["right"])
        bottom = max((one[1] + one[3] for one in lines), default=limit)
        if page == begin.page:
            left = min(left, begin.x)
        pad = _PAD[block in self._tables]
        height = max(bottom - top, _LEAST) + 2 * pad
        return left - pad, top - pad, max(right - left, _LEAST) + 2 * pad, height

    def _next(self, block: int) -> Mark | None:
        """Return where the next block of the flow begins."""
        near = range(block + 1, min(block + 1 + _NEXT, len(self._begins)))
        marks = (self._begins[at] for at in near if at not in self._floating)
        return next((one for one in marks if one is not None), None)

    @cached_property
    def _tables(self) -> frozenset[int]:
        return frozenset(self.found.get("tables", ()))

    @cached_property
    def _floating(self) -> frozenset[int]:
        return frozenset(self.found.get("floating", ()))

    def _section(self, block: int) -> Mapping[str, float]:
        sections: Sequence[Mapping[str, float]] = self.found["sections"]
        return [one for one in sections if one["first_block"] <= block][-1]


def around(rects: Sequence[Rect]) -> Rect | None:
    """Return the rectangle around some."""
    if not rects:
        return None
    left, top = min(one[0] for one in rects), min(one[1] for one in rects)
    right = max(one[0] + one[2] for one in rects)
    bottom = max(one[1] + one[3] for one in rects)
    return left, top, right - left, bottom - top


def same_blocks(
    counts: tuple[int, int], own: tuple[Sequence[int], Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Yield the blocks before and after that are one another's, where that is known of all.

    `own` are those that one side alone has: the others are pairs, in order.
    """
    kept = [
        [at for at in range(count) if at not in alone]
        for count, alone in zip(counts, map(frozenset, own), strict=True)
    ]
    if len(kept[0]) == len(kept[1]):
        yield from zip(*kept, strict=True)
