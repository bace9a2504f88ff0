"""Where a session's events are kept: in memory, or in the event store (P2.13)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from backshop.base.ambient import Clock
from backshop.base.canon import canonical, sha256_hex
from backshop.base.errors import NotFound
from backshop.base.event import to_data, type_of
from backshop.base.ids import BlobId

if TYPE_CHECKING:
    from backshop.store import Part, Store

_SHA256 = re.compile(r"[0-9a-f]{64}")


def session_stream(session_id: str) -> str:
    """Return the stream a session is kept in (T1.1)."""
    return f"prompt-session:{session_id}"


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A fact on its way into a session's log."""

    event_id: str
    fact: Any
    cause_id: str | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A fact in a session's log; `seq` is 1-based and has no gaps."""

    seq: int
    event_id: str
    at_ms: int
    fact: Any
    cause_id: str | None = None
    turn_id: str | None = None


class LogConflict(Exception):
    """Somebody else has appended since."""


@runtime_checkable
class SessionLog(Protocol):
    """What a session needs of its log."""

    def append(
        self, session_id: str, records: Sequence[NewRecord], *, after: int
    ) -> tuple[Recorded, ...]:
        """Append all or nothing; `after` is the last seq the caller knows.

        Raises:
            LogConflict: the log has moved on.
        """
        ...

    def read(self, session_id: str, *, after: int = 0) -> Iterator[Recorded]:
        """Yield what stands after `after`."""
        ...

    def put(self, content: bytes) -> str:
        """Keep a payload; return its sha256."""
        ...

    def get(self, ref: str) -> bytes:
        """Return a kept payload."""
        ...


class MemoryLog:
    """A log that lives as long as its process, with the promises of the durable one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._events: dict[str, list[tuple[Recorded, str, int, bytes]]] = {}
        self._blobs: dict[str, bytes] = {}

    def append(
        self, session_id: str, records: Sequence[NewRecord], *, after: int
    ) -> tuple[Recorded, ...]:
        """Append all or nothing."""
        stored = [
            (type_of(one.fact).name, type_of(one.fact).version, canonical(to_data(one.fact)))
            for one in records
        ]
        with self._lock:
            events = self._events.setdefault(session_id, [])
            if len(events) != after:
                raise LogConflict
            now = self._clock.now_ms()
            made = tuple(
                Recorded(after + place, one.event_id, now, one.fact, one.cause_id, one.turn_id)
                for place, one in enumerate(records, 1)
            )
            events.extend(
                (one, name, v, data) for one, (name, v, data) in zip(made, stored, strict=True)
            )
        return made

    def read(self, session_id: str, *, after: int = 0) -> Iterator[Recorded]:
        """Yield what stands after `after`."""
        with self._lock:
            found = self._events.get(session_id, [])[after:]
        yield from (one for one, *_ in found)

    def put(self, content: bytes) -> str:
        """Keep a payload; return its sha256."""
        ref = sha256_hex(content)
        self._blobs[ref] = content
        return ref

    def get(self, ref: str) -> bytes:
        """Return a kept payload."""
        try:
            return self._blobs[ref]
        except KeyError:
            raise NotFound("there is no such payload", reason="not_found") from None


class PassingLog(MemoryLog):
    """A log of what others record: events go with the process, payloads are kept."""

    def __init__(self, clock: Clock, kept: SessionLog) -> None:
        super().__init__(clock)
        self._kept = kept

    def put(self, content: bytes) -> str:
        """Keep a payload; return its sha256."""
        return self._kept.put(content)

    def get(self, ref: str) -> bytes:
        """Return a kept payload."""
        return self._kept.get(ref)


class StoreLog:
    """The event store as a session's log: durable, shared between processes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def append(
        self, session_id: str, records: Sequence[NewRecord], *, after: int
    ) -> tuple[Recorded, ...]:
        """Append all or nothing, pinning the payloads that the facts name."""
        from backshop.store import HeadMoved, Plan  # loaded on first use: prompts run without

        part = part_of(session_id, records, after=after)
        try:
            appended = self._store.append(Plan([part]))
        except HeadMoved as error:
            raise LogConflict from error
        return tuple(
            Recorded(row.idx + 1, row.event_id, row.at_ms, one.fact, one.cause_id, one.turn_id)
            for row, one in zip(appended.events, records, strict=True)
        )

    def read(self, session_id: str, *, after: int = 0) -> Iterator[Recorded]:
        """Yield what stands after `after`."""
        for row in self._store.read(session_stream(session_id), after - 1):
            yield Recorded(row.idx + 1, row.event_id, row.at_ms, row.fact, row.scope_b, row.scope_a)

    def put(self, content: bytes) -> str:
        """Keep a payload; return its sha256."""
        return self._store.blobs.put(content)

    def get(self, ref: str) -> bytes:
        """Return a kept payload."""
        return self._store.blobs.read(BlobId(ref))


def part_of(session_id: str, records: Sequence[NewRecord], *, after: int | None) -> Part:
    """Return a session's part of a plan, for writing it together with other streams (P2.15)."""
    from backshop.store import NewEvent, Part, Pin  # loaded on first use

    return Part(
        session_stream(session_id),
        [
            NewEvent(one.fact, one.event_id, one.event_id, one.turn_id, one.cause_id)
            for one in records
        ],
        expected=None if after is None else after - 1,
        pins=tuple(
            Pin(BlobId(ref), "payload")
            for ref in sorted({ref for one in records for ref in _refs(to_data(one.fact))})
        ),
    )


def _refs(data: object) -> Iterator[str]:
    """Yield the payloads a fact names: values of fields that end in `_ref`."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key.endswith("_ref") and isinstance(value, str) and _SHA256.fullmatch(value):
                yield value
            else:
                yield from _refs(value)
    elif isinstance(data, list):
        for item in data:
            yield from _refs(item)
