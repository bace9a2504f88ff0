"""How an answer's bytes are read: whole events, bounded documents, the start of an error (M8.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from backshop.base.limits import ERROR_BODY_MAX_BYTES, MIB

from ..errors import BadResponse
from .deadline import Watch
from .sse import Frames

_ANSWER_MAX_BYTES = 64 * MIB  # more text than any model writes

Reading = Callable[[Iterator[bytes], Watch], Iterator[bytes]]


def events(chunks: Iterator[bytes], watch: Watch, frames: Frames) -> Iterator[bytes]:
    """Pass whole events on; bytes that complete none are no progress, so trickling ends (M8.7)."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > _ANSWER_MAX_BYTES:
            raise BadResponse("the answer is too large", reason="answer_too_large")
        before = frames.events
        whole = frames.feed(chunk)
        if frames.events > before:
            watch.progress()
        watch.reading()
        if whole:
            yield whole
    yield frames.flush()


def bounded(chunks: Iterator[bytes], watch: Watch) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > _ANSWER_MAX_BYTES:
            raise BadResponse("the answer is too large", reason="answer_too_large")
        watch.progress()
        watch.reading()
        yield chunk


def first_bytes(chunks: Iterator[bytes], watch: Watch) -> Iterator[bytes]:
    """Read as much of an error as is looked at (M11.6)."""
    left = ERROR_BODY_MAX_BYTES
    for chunk in chunks:
        watch.progress()
        watch.reading()
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return
