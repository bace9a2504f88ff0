"""Goes through a large part a piece at a time, so that never all of it is in memory."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.base.system.mapped_bytes import Content, release

PIECE_BYTES = 1 << 20


def pieces(data: Content, mark: bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield pieces with their places, each cut before a `mark`; all together are the whole."""
    at = start
    while at < end:
        stop = data.find(mark, min(at + PIECE_BYTES, end), end)
        stop = end if stop < 0 else stop
        yield at, data[at:stop]
        release(data, at, stop)
        at = stop
