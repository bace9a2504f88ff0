"""Bytes of a file that are looked at where they are, and given back when they were.

They need no memory of their own: what is not looked at is on the disk, and `release` lets go of
what was. They can be asked like `bytes`, and searched by regular expressions.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import TypeAlias

_NEAR_BYTES = 1 << 16
_STEP_BYTES = 1 << 20
_PAGE = mmap.ALLOCATIONGRANULARITY
_UNNEEDED: int | None = getattr(mmap, "MADV_DONTNEED", None)  # some systems have no word for it


class MappedBytes(mmap.mmap):
    """A whole file, read only; it must not change and must not be empty."""

    def __new__(cls, descriptor: int) -> MappedBytes:
        """Look at an open file; the descriptor may be closed afterwards."""
        return super().__new__(cls, descriptor, 0, access=mmap.ACCESS_READ)

    def release(self, start: int, end: int) -> None:
        """Let go of what was looked at; it can be looked at again."""
        first, last = -(-start // _PAGE) * _PAGE, min(end, len(self)) // _PAGE * _PAGE
        if _UNNEEDED is not None and last > first:
            self.madvise(_UNNEEDED, first, last - first)

    @property
    def find_near(self) -> Callable[..., int]:
        """How to find what is probably near: without looking at pieces, which costs more."""
        return super().find

    def find(self, sub: bytes, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]  # of bytes only
        """Return where `sub` is first, -1 without it; far ways are gone piece by piece."""
        end = len(self) if end is None else min(end, len(self))
        near = super().find(sub, start, min(end, start + _NEAR_BYTES))
        if near >= 0 or end - start <= _NEAR_BYTES:
            return near
        for at in range(start, end, _STEP_BYTES):
            stop = min(at + _STEP_BYTES, end)
            place = self[at : min(stop + len(sub) - 1, end)].find(sub)
            if place >= 0:
                return at + place
            self.release(at, stop)
        return -1

    def index(self, sub: bytes, start: int = 0, end: int | None = None) -> int:
        """Return where `sub` is first.

        Raises:
            ValueError: it is not there.
        """
        place = self.find(sub, start, end)
        if place < 0:
            raise ValueError("the bytes are not there")
        return place

    def count(self, sub: bytes, start: int = 0, end: int | None = None) -> int:
        """Return how often `sub` is there, which must not overlap itself."""
        end = len(self) if end is None else min(end, len(self))
        total = 0
        for at in range(start, end, _STEP_BYTES):
            stop = min(at + _STEP_BYTES, end)
            total += self[at : min(stop + len(sub) - 1, end)].count(sub)
            self.release(at, stop)
        return total

    def startswith(self, prefix: bytes, start: int = 0) -> bool:
        """Whether `prefix` is at a place."""
        return self[start : start + len(prefix)] == prefix

    def __contains__(self, sub: object) -> bool:
        return isinstance(sub, bytes) and self.find(sub) >= 0


Content: TypeAlias = bytes | MappedBytes
"""What a file or a part of it holds, in memory or on the disk."""


def release(data: Content, start: int, end: int) -> None:
    """Let go of what was looked at, where that is possible."""
    if isinstance(data, MappedBytes):
        data.release(start, end)
