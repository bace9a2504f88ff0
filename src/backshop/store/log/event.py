"""Events and plans: what they look like, and how events are chained (T1)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from backshop.base import event as registry
from backshop.base.acting import By, by_of
from backshop.base.canon import canonical, parse, sha256_hex
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId, check_sha256
from backshop.base.limits import DEDUPE_KEY_MAX_CHARS

ZERO_HASH = "0" * 64
EMPTY = -1
_FIRST = json.JSONDecoder()
_SIGNED_BYTES = 1024
_SIGNED = f'{{"{registry.SIGNATURE}":'.encode()  # it comes first in canonical order
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
    by: By | None = None
    """Who acted, of what was recorded elsewhere before; None is whoever acts now."""


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
        """The stored JSON object of the fact."""
        return registry.unsigned(self._stored)

    @cached_property
    def by(self) -> By | None:
        """Who acted; None where it was not recorded (T1.6)."""
        if not self.body.startswith(_SIGNED):
            return None
        try:  # the rest of the fact is not read for it
            said, _ = _FIRST.raw_decode(self.body[len(_SIGNED) : _SIGNED_BYTES].decode())
        except ValueError:
            said = self._stored[registry.SIGNATURE]
        return by_of(said)

    @cached_property
    def _stored(self) -> dict[str, Any]:
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
