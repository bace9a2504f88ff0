"""What a stream's chain says about itself; nothing is repaired here (T5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from backshop.base.errors import ValidationFailed
from backshop.base.event import UnknownEvent
from backshop.base.ids import BlobId

from .connection import Cursor
from .errors import StreamNotHealthy
from .log import EMPTY, ZERO_HASH, Event, chain_break, event_of, require_head


class Status(StrEnum):
    """The four states of a stream."""

    HEALTHY = "healthy"
    CORRUPT_TAIL = "corrupt_tail"
    CORRUPT_HEAD = "corrupt_head"
    UNKNOWN_VERSION = "unknown_version"


@dataclass(frozen=True, slots=True)
class Health:
    """A stream's state; `valid_through` is the last index that can be trusted (-1: none)."""

    status: Status
    reason: str | None = None
    valid_through: int = EMPTY

    @property
    def is_healthy(self) -> bool:
        """Say whether the stream takes writes."""
        return self.status is Status.HEALTHY


_PAGE = 1000


def check_stream(cursor: Cursor, stream: str, has_blob: Callable[[BlobId], bool]) -> Health:
    """Check the whole stream: chain, head, kinds, and the presence of every pinned blob."""
    head = require_head(cursor.one("head", {"stream": stream}))
    last: Event | None = None
    while True:
        after = EMPTY if last is None else last.idx
        rows = cursor.all("read", {"stream": stream, "after": after, "limit": _PAGE})
        for row in rows:
            event = event_of(row)
            reason = chain_break(last, event) or _unreadable(event)
            if reason is not None:
                return _damaged(reason, last)
            last = event
        if len(rows) < _PAGE:
            break
    ends = (EMPTY, ZERO_HASH) if last is None else (last.idx, last.hash)
    if ends != (head.last_idx, head.last_hash):
        return _damaged("head_mismatch", last)
    is_bench = stream.startswith("bench:")  # there a missing blob is bench health (T5.1, B3.11)
    if not is_bench and any(
        not has_blob(BlobId(ref)) for ref, _ in cursor.all("pins", {"stream": stream})
    ):
        return _damaged("missing_blob", last)
    return Health(Status.HEALTHY, None, ends[0])


def check_tail(cursor: Cursor, stream: str) -> None:
    """Check head and last event only: cheap enough for every opening.

    Raises:
        StreamNotHealthy: they do not agree.
    """
    row = cursor.one("head", {"stream": stream})
    if row is None:
        return
    head = require_head(row)
    found = cursor.one("read_one", {"stream": stream, "idx": head.last_idx})
    if found is None:
        agrees = head.last_idx == EMPTY
    else:
        event = event_of(found)
        agrees = event.hash == head.last_hash == event.computed_hash()
    beyond = cursor.one("read_one", {"stream": stream, "idx": head.last_idx + 1})
    if not agrees or beyond is not None:
        raise StreamNotHealthy(f"the end of {stream} is damaged", reason="head_mismatch")


def _unreadable(event: Event) -> str | None:
    try:
        _ = event.fact
    except UnknownEvent:
        return "unknown_schema_version"
    except ValidationFailed:
        return "schema_validation_failed"
    return None


def _damaged(reason: str, last: Event | None) -> Health:
    if reason == "unknown_schema_version":
        return Health(Status.UNKNOWN_VERSION, reason, EMPTY if last is None else last.idx)
    if last is None:
        return Health(Status.CORRUPT_HEAD, reason, EMPTY)
    return Health(Status.CORRUPT_TAIL, reason, last.idx)
