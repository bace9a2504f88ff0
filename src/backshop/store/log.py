"""Events: what one looks like, and the one mutation, `append(plan)` (T1, T2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backshop.base import event as registry
from backshop.base.ambient import Clock, Mint
from backshop.base.canon import canonical, parse, sha256_hex
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId, check_sha256
from backshop.base.limits import DEDUPE_KEY_MAX_CHARS, INLINE_BLOB_MAX_BYTES

from .connection import Cursor
from .errors import DuplicateKey, HeadMoved, KeysDiffer, LeaseLost

ZERO_HASH = "0" * 64
EMPTY = -1
_KEY = re.compile(rf"[!-~]{{1,{DEDUPE_KEY_MAX_CHARS}}}")
_STREAM = re.compile(r"[a-z][a-z-]*(:[^\x00-\x20\x7f]{1,400})?")


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A fact on its way into a stream. `dedupe_key` is unique in the stream."""

    fact: Any
    dedupe_key: str
    event_id: str | None = None
    scope_a: str | None = None
    scope_b: str | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """A blob the stream needs for as long as it exists. `kind` "tree" pins all below it."""

    ref: BlobId
    kind: str


@dataclass(frozen=True, slots=True)
class Part:
    """What one stream gets. `expected` is the head index the plan was made on, None is any."""

    stream: str
    events: Sequence[NewEvent]
    expected: int | None = None
    pins: Sequence[Pin] = ()
    unpins: Sequence[BlobId] = ()
    """What the stream needs no longer: pruned revisions and checkpoints."""
    lease: str | None = None
    """Owner of the run lease; the append is refused if somebody else holds it by now."""
    local: str | None = None
    """What to note at the stream's head with the append; None leaves what is there."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one append commits: all of it or nothing. `blobs` are stored with it."""

    parts: Sequence[Part]
    blobs: Sequence[bytes] = field(default=(), repr=False)


@dataclass(frozen=True)
class Event:
    """A committed fact: one row (T1.2). `data` and `fact` are parsed when asked for."""

    seq: int
    stream: str
    idx: int
    key_idx: int
    event_id: str
    kind: str
    v: int
    dedupe_key: str
    scope_a: str | None
    scope_b: str | None
    at_ms: int
    body: bytes
    prev_hash: str
    hash: str

    @cached_property
    def data(self) -> dict[str, Any]:
        """The stored JSON object."""
        value = parse(self.body)
        if not isinstance(value, dict):
            raise ValidationFailed("an event's body is not an object", reason="bad_json")
        return value

    @cached_property
    def fact(self) -> Any:
        """The typed fact, upgraded to its current version."""
        return registry.from_body(self.kind, self.v, self.body)

    def computed_hash(self) -> str:
        """Return the hash this row must have."""
        return sha256_hex(_envelope(self))


@dataclass(frozen=True, slots=True)
class Head:
    """Where a stream ends."""

    stream: str
    last_idx: int
    last_hash: str
    last_seq: int
    created_ms: int
    keep: bool
    local: str | None


@dataclass(frozen=True, slots=True)
class Appended:
    """The recorded facts, part by part; `replayed` if they had been recorded before."""

    parts: tuple[tuple[Event, ...], ...]
    replayed: bool

    @property
    def events(self) -> tuple[Event, ...]:
        """All events of all parts."""
        return tuple(event for part in self.parts for event in part)

    @property
    def last_seq(self) -> int:
        """The position of the newest of them, 0 if there are none."""
        return max((event.seq for event in self.events), default=0)


def event_of(row: tuple[Any, ...]) -> Event:
    """Return a row of the event table as a value."""
    seq, stream, idx, key_idx, event_id, kind, v, key, a, b, at_ms, body, prev, digest = row
    if isinstance(body, str):  # not written by us; the hash will say so
        body = body.encode()
    return Event(
        seq, stream, idx, key_idx, event_id, kind, v, key, a, b, at_ms, bytes(body), prev, digest
    )


def head_of(row: tuple[Any, ...]) -> Head:
    """Return a row of the stream table as a value."""
    stream, _kind, last_idx, last_hash, last_seq, created_ms, keep, local = row
    return Head(stream, last_idx, last_hash, last_seq, created_ms, bool(keep), local)


def check_plan(plan: Plan) -> None:
    """Refuse what cannot be stored, before anything is touched."""
    if not plan.parts:
        raise ValidationFailed("a plan has no parts", reason="bad_plan")
    streams = [part.stream for part in plan.parts]
    if len(set(streams)) != len(streams):
        raise ValidationFailed("a plan names a stream twice", reason="bad_plan")
    for part in plan.parts:
        check_stream(part.stream)
        if not part.events:
            raise ValidationFailed("a part has no events", reason="bad_plan")
        for new in part.events:
            if _KEY.fullmatch(new.dedupe_key) is None:
                raise ValidationFailed("a dedupe key is not printable ASCII", reason="bad_key")
        for pin in part.pins:
            check_sha256(pin.ref)


def check_stream(name: str) -> str:
    """Return `name` if it can name a stream."""
    if _STREAM.fullmatch(name) is None:
        raise ValidationFailed("not a stream name", reason="bad_stream")
    return name


def append(cursor: Cursor, plan: Plan, clock: Clock, mint: Mint) -> Appended:
    """Commit a plan inside the caller's transaction (T2.1, T2.2).

    Raises:
        HeadMoved: a head other than expected.
        KeysDiffer: some parts are recorded already, others are not.
        DuplicateKey: a later event repeats a key.
        LeaseLost: the run lease has passed to somebody else.
    """
    parts = sorted(plan.parts, key=lambda part: part.stream)  # one order of locks for everybody
    now_ms = clock.now_ms()
    heads = {part.stream: _locked_head(cursor, part.stream, now_ms) for part in parts}
    recorded = {part.stream: _recorded(cursor, part) for part in parts}
    if all(recorded.values()):
        return Appended(tuple(recorded[part.stream] for part in plan.parts), replayed=True)
    if any(recorded.values()):
        raise KeysDiffer("only some parts of the plan are recorded", reason="keys_differ")
    for part in parts:
        _check_head(part, heads[part.stream])
        _check_lease(cursor, part, now_ms)
    _store_blobs(cursor, plan.blobs, now_ms)
    cursor.lock_seq()
    written = {
        part.stream: _write(cursor, part, heads[part.stream], now_ms, mint) for part in parts
    }
    appended = Appended(tuple(written[part.stream] for part in plan.parts), replayed=False)
    cursor.announce(appended.last_seq)
    return appended


def _locked_head(cursor: Cursor, stream: str, now_ms: int) -> Head:
    """Return the head of a locked stream; a new one gets its row first."""
    cursor.lock_stream(stream)
    row = cursor.one("head", {"stream": stream})
    if row is None:
        kind = stream.partition(":")[0]
        cursor.run(
            "head_insert",
            {
                "stream": stream,
                "kind": kind,
                "last_idx": EMPTY,
                "last_hash": ZERO_HASH,
                "last_seq": 0,
                "created_ms": now_ms,
                "keep": 0,
                "local": None,
            },
        )
        row = cursor.one("head", {"stream": stream})
    assert row is not None
    return head_of(row)


def _recorded(cursor: Cursor, part: Part) -> tuple[Event, ...]:
    key = {"stream": part.stream, "key": part.events[0].dedupe_key}
    found = cursor.one("key", key)
    if found is None:
        return ()
    rows = cursor.all("part", {"stream": part.stream, "key_idx": found[0]})
    if not rows:
        raise DuplicateKey("the key event's key belongs to another event", reason="duplicate_key")
    return tuple(event_of(row) for row in rows)


def _check_head(part: Part, head: Head) -> None:
    if part.expected is not None and part.expected != head.last_idx:
        raise HeadMoved(
            f"expected head {part.expected}, found {head.last_idx}", reason="head_moved"
        )


def _check_lease(cursor: Cursor, part: Part, own_ms: int) -> None:
    if part.lease is None:
        return
    row = cursor.one("lease", {"stream": part.stream})
    if row is None or row[0] != part.lease or row[1] < cursor.now_ms(own_ms):
        raise LeaseLost("the run lease is held by somebody else", reason="lease_lost")


def _store_blobs(cursor: Cursor, blobs: Iterable[bytes], now_ms: int) -> None:
    for data in blobs:
        if len(data) <= INLINE_BLOB_MAX_BYTES:  # larger ones are files by now (T2.6)
            row = {"sha256": sha256_hex(data), "data": data, "at_ms": now_ms}
            cursor.run("blob_upsert", row)


def _write(cursor: Cursor, part: Part, head: Head, now_ms: int, mint: Mint) -> tuple[Event, ...]:
    events: list[Event] = []
    idx, previous, seq = head.last_idx, head.last_hash, head.last_seq
    key_idx = idx + 1
    for new in part.events:
        idx += 1
        event = _event(new, part.stream, idx, key_idx, now_ms, previous, mint)
        row = cursor.one("event_insert", _row(event))
        assert row is not None
        seq, previous = int(row[0]), event.hash
        events.append(_with_seq(event, seq))
    cursor.run(
        "head_update",
        {"name": part.stream, "last_idx": idx, "last_hash": previous, "last_seq": seq},
    )
    if part.local is not None:
        cursor.run("local_set", {"name": part.stream, "local": part.local})
    for ref in part.unpins:
        cursor.run("pin_drop", {"name": part.stream, "ref": ref})
    for pin in part.pins:
        cursor.run(
            "pin_insert",
            {
                "stream": part.stream,
                "ref": pin.ref,
                "kind": pin.kind,
                "idx": key_idx,
                "event_id": events[0].event_id,
            },
        )
    return tuple(events)


def _event(
    new: NewEvent, stream: str, idx: int, key_idx: int, now_ms: int, previous: str, mint: Mint
) -> Event:
    kind = registry.type_of(new.fact)
    bare = Event(
        seq=0,
        stream=stream,
        idx=idx,
        key_idx=key_idx,
        event_id=new.event_id or mint.new("evt"),
        kind=kind.name,
        v=kind.version,
        dedupe_key=new.dedupe_key,
        scope_a=new.scope_a,
        scope_b=new.scope_b,
        at_ms=now_ms,
        body=canonical(registry.to_data(new.fact)),
        prev_hash=previous,
        hash="",
    )
    return _replaced(bare, hash=bare.computed_hash())


def _row(event: Event) -> dict[str, Any]:
    return {
        name: getattr(event, name)
        for name in (
            *("stream", "idx", "key_idx", "event_id", "kind", "v", "dedupe_key"),
            *("scope_a", "scope_b", "at_ms", "body", "prev_hash", "hash"),
        )
    }


def _replaced(event: Event, **changes: Any) -> Event:
    return Event(**{**_row(event), "seq": event.seq, **changes})


def _with_seq(event: Event, seq: int) -> Event:
    return _replaced(event, seq=seq)


def _envelope(event: Event) -> bytes:
    """Return the canonical object that is hashed; the body is canonical already, so it is spliced.

    The keys come in canonical order: data, dedupeKey, …, v.
    """
    scope: dict[str, str] = {}
    if event.scope_a is not None:
        scope["runId"] = event.scope_a
    if event.scope_b is not None:
        scope["nodeId"] = event.scope_b
    rest: dict[str, Any] = {
        "dedupeKey": event.dedupe_key,
        "eventId": event.event_id,
        "eventIndex": event.idx,
        "kind": event.kind,
        "prevHash": f"sha256:{event.prev_hash}",
        "stream": event.stream,
        "timestampMs": event.at_ms,
        "v": event.v,
    }
    if scope:
        rest["scope"] = scope
    return b'{"data":' + event.body + b"," + canonical(rest)[1:]


def chain_break(previous: Event | None, event: Event) -> str | None:
    """Return why `event` cannot follow `previous`, or None."""
    wanted = (previous.idx + 1, previous.hash) if previous else (0, ZERO_HASH)
    if event.idx != wanted[0]:
        return "non_contiguous_indices"
    try:
        agrees = event.prev_hash == wanted[1] and event.hash == event.computed_hash()
    except ValidationFailed:  # a column holds what was never written
        agrees = False
    return None if agrees else "digest_mismatch"


def wire(event: Event) -> dict[str, Any]:
    """Return the event as it is exported: the hashed object with its hash."""
    value = parse(_envelope(event))
    assert isinstance(value, dict)
    return {**value, "hash": f"sha256:{event.hash}"}


def require_head(row: tuple[Any, ...] | None) -> Head:
    """Return the head of a stream that must exist."""
    if row is None:
        raise NotFound("there is no such stream", reason="not_found")
    return head_of(row)
