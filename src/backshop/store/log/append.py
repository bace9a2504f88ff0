"""The one mutation: check a plan under its locks, refuse or make its events, commit them (T2)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from backshop.base import event as registry
from backshop.base.acting import By
from backshop.base.ambient import Clock, Mint
from backshop.base.canon import canonical, sha256_hex
from backshop.base.errors import ValidationFailed
from backshop.base.event import UnknownEvent
from backshop.base.limits import INLINE_BLOB_MAX_BYTES

from ..database.connection import Ask, Cursor
from ..errors import DuplicateKey, HeadMoved, KeysDiffer, LeaseLost, StreamNotHealthy
from .event import EMPTY, ZERO_HASH, Appended, Event, Head, NewEvent, Part, Plan, event_of, head_of


@dataclass(frozen=True, slots=True)
class Ready:
    """A plan that may be written: checked under its locks, its events made but for `seq`."""

    plan: Plan
    events: tuple[tuple[Event, ...], ...]
    """What each part of the plan gets, in the plan's order."""
    now_ms: int


def prepare(cursor: Cursor, plan: Plan, clock: Clock, mint: Mint, by: By) -> Ready | Appended:
    """Check a plan whose streams the caller's transaction holds; nothing is written yet (T2.2).

    A plan that is recorded already comes back as what was recorded. `by` is who acts.

    Raises:
        HeadMoved: a head other than expected.
        KeysDiffer: some parts are recorded already, others are not.
        DuplicateKey: a later event repeats a key.
        LeaseLost: the run lease has passed to somebody else.
    """
    now_ms = clock.now_ms()
    asked = [
        ask
        for part in plan.parts
        for ask in (
            ("head", {"stream": part.stream}),
            ("key", {"stream": part.stream, "key": part.events[0].dedupe_key}),
        )
    ]
    found = cursor.answers(asked)
    heads = [head_of(rows[0]) if rows else None for rows in found[::2]]
    keys = zip(plan.parts, found[1::2], strict=True)
    recorded = [_recorded(cursor, part, rows) for part, rows in keys]
    if all(recorded):
        return Appended(tuple(recorded), replayed=True)
    if any(recorded):
        raise KeysDiffer("only some parts of the plan are recorded", reason="keys_differ")
    for part, head in zip(plan.parts, heads, strict=True):
        _check_head(part, head)
        _check_lease(cursor, part, now_ms)
    made = (_made(p, head, now_ms, mint, by) for p, head in zip(plan.parts, heads, strict=True))
    return Ready(plan, tuple(made), now_ms)


def commit(cursor: Cursor, ready: Ready) -> Appended:
    """Write what is ready and commit the caller's transaction with it (T2.1).

    All of it goes to the database at once. What draws `seq` holds up everybody else who writes,
    for as long as the database needs and not for as long as we do.
    """
    pairs = zip(ready.plan.parts, ready.events, strict=True)
    parts = sorted(pairs, key=lambda pair: pair[0].stream)
    born = [_birth(part, ready.now_ms) for part, events in parts if events[0].idx == 0]
    rows = [("event_insert", _row(event)) for _, events in parts for event in events]
    rest = [ask for part, events in parts for ask in _around(part, events)]
    drawn = cursor.conclude([*_inline(ready), *born], [*rows, *rest])
    seqs = iter([int(answer[0][0]) for answer in drawn[: len(rows)]])
    written = {
        part.stream: tuple(_with_seq(event, next(seqs)) for event in events)
        for part, events in parts
    }
    return Appended(tuple(written[part.stream] for part in ready.plan.parts), replayed=False)


def check_readable(ready: Ready) -> None:
    """Refuse facts that could not be read again, before they are written.

    Raises:
        StreamNotHealthy: one does not fit its kind.
    """
    for event in (event for part in ready.events for event in part):
        try:
            _ = event.fact
        except (UnknownEvent, ValidationFailed) as error:
            raise StreamNotHealthy(
                f"event {event.idx} of {event.stream} would not fit its kind",
                reason="schema_validation_failed",
            ) from error


def _recorded(cursor: Cursor, part: Part, found: Sequence[tuple[Any, ...]]) -> tuple[Event, ...]:
    if not found:
        return ()
    rows = cursor.all("part", {"stream": part.stream, "key_idx": found[0][0]})
    if not rows:
        raise DuplicateKey("the key event's key belongs to another event", reason="duplicate_key")
    return tuple(event_of(row) for row in rows)


def _check_head(part: Part, head: Head | None) -> None:
    found = EMPTY if head is None else head.last_idx
    if part.expected is not None and part.expected != found:
        raise HeadMoved(f"expected head {part.expected}, found {found}", reason="head_moved")


def _check_lease(cursor: Cursor, part: Part, own_ms: int) -> None:
    if part.lease is None:
        return
    row = cursor.one("lease", {"stream": part.stream})
    if row is None or row[0] != part.lease or row[1] < cursor.now_ms(own_ms):
        raise LeaseLost("the run lease is held by somebody else", reason="lease_lost")


def _inline(ready: Ready) -> list[Ask]:
    """Return what stores the plan's small contents; larger ones are files by now (T2.6)."""
    small = (data for data in ready.plan.blobs if len(data) <= INLINE_BLOB_MAX_BYTES)
    named = sorted({sha256_hex(data): data for data in small}.items())  # one order of locks
    return [
        ("blob_upsert", {"sha256": name, "data": data, "at_ms": ready.now_ms})
        for name, data in named
    ]


def _birth(part: Part, now_ms: int) -> Ask:
    """Return what makes the head of a stream that has no events yet."""
    row = {
        "stream": part.stream,
        "kind": part.stream.partition(":")[0],
        "last_idx": EMPTY,
        "last_hash": ZERO_HASH,
        "last_seq": 0,
        "created_ms": now_ms,
        "keep": 0,
        "local": None,
    }
    return "head_insert", row


def _made(part: Part, head: Head | None, now_ms: int, mint: Mint, by: By) -> tuple[Event, ...]:
    events: list[Event] = []
    idx, previous = (EMPTY, ZERO_HASH) if head is None else (head.last_idx, head.last_hash)
    key_idx = idx + 1
    for number, new in enumerate(part.events):
        said = by if new.by is None else new.by
        body = canonical(registry.signed(registry.to_data(new.fact), said))
        event = _event(new, body, part.stream, key_idx + number, key_idx, now_ms, previous, mint)
        previous = event.hash
        events.append(event)
    return tuple(events)


def _around(part: Part, events: Sequence[Event]) -> list[Ask]:
    """Return what changes beside a part's events: the head, and what the stream pins."""
    name, last = part.stream, events[-1]
    asks: list[Ask] = [
        ("head_update", {"name": name, "last_idx": last.idx, "last_hash": last.hash})
    ]
    if part.local is not None:
        asks.append(("local_set", {"name": name, "local": part.local}))
    asks += [("pin_drop", {"name": name, "ref": ref}) for ref in part.unpins]
    for pin in part.pins:
        row = {"stream": name, "ref": pin.ref, "kind": pin.kind}
        own = {"idx": events[0].idx, "event_id": events[0].event_id}
        asks.append(("pin_insert", {**row, **own}))
    return asks


def _event(
    new: NewEvent,
    body: bytes,
    stream: str,
    idx: int,
    key_idx: int,
    now_ms: int,
    previous: str,
    mint: Mint,
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
        body=body,
        prev_hash=previous,
        hash="",
    )
    return replace(bare, hash=bare.computed_hash())


def _row(event: Event) -> dict[str, Any]:
    return {
        name: getattr(event, name)
        for name in (
            *("stream", "idx", "key_idx", "event_id", "kind", "v", "dedupe_key"),
            *("scope_a", "scope_b", "at_ms", "body", "prev_hash", "hash"),
        )
    }


def _with_seq(event: Event, seq: int) -> Event:
    found = copy.copy(event)  # with what was parsed of it
    object.__setattr__(found, "seq", seq)
    return found
