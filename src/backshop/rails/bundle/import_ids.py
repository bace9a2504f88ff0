"""A checked bundle on its way in: as it is, or under new ids (R9.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backshop.base.acting import By, by_of
from backshop.base.errors import ValidationFailed
from backshop.base.event import SIGNATURE, UnknownEvent, from_data, unsigned
from backshop.base.ids import did

from ..run.plan import event_id
from ..session import events as ev
from ..session.ordinal import attempt_id, purpose_of
from .document import Content, bad, is_id

Json = dict[str, object]
_PROSE = frozenset({"notesMarkdown", "summary", "message", "set", "rationale", "guidance"})


@dataclass(frozen=True, slots=True)
class Incoming:
    """An event on its way in, decoded."""

    fact: object
    dedupe_key: str
    event_id: str
    run_id: str | None
    node_id: str | None
    by: By
    """Who acted where it was recorded, as far as that was said there."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A checked bundle: what to append and to store."""

    session_id: str
    events: tuple[Incoming, ...]
    pins: tuple[tuple[str, str], ...]
    blobs: tuple[bytes, ...] = field(repr=False)


def as_it_is(content: Content) -> Arrival:
    """Return a session as it is, ids and all."""
    return _arrived(content.session_id, content, lambda name: name, {})


def as_new(content: Content, number: int) -> Arrival:
    """Return a session under new ids, each derived from the old one (R9.4)."""
    bundle = content.bundle_id
    session_id = new_session_id(content, number)
    attempts = _renumbered(content, lambda old: _mapped(bundle, number, old))

    def rename(old: str) -> str:
        return attempts.get(old) or _mapped(bundle, number, old)

    return _arrived(session_id, content, rename, attempts)


def new_session_id(content: Content, number: int) -> str:
    """Return the id a session gets when it is imported for the n-th time."""
    return _mapped(content.bundle_id, number, content.session_id)


def _mapped(bundle: str, number: int, old: str) -> str:
    return did(old.partition("_")[0], "import", bundle, number, old)


def _renumbered(content: Content, rename: Callable[[str], str]) -> dict[str, str]:
    """Return new attempt ids: the j-th attempt of a node stays its j-th (R6.5)."""
    counts: dict[tuple[str, str], int] = {}
    found: dict[str, str] = {}
    for event in content.events:
        kind, data = event["kind"], event["data"]
        assert isinstance(data, Mapping)
        old = data.get("attemptId")
        if not isinstance(old, str) or old in found:
            continue
        scope = event.get("scope")
        node = scope.get("nodeId") if isinstance(scope, Mapping) else None
        if kind == "session_output_appended":
            owner, purpose = content.session_id, "checkpoint"
        elif kind in ("advance_recorded", "checkpoint_recorded") and isinstance(node, str):
            owner, purpose = node, "ack" if kind == "advance_recorded" else "checkpoint"
            asked = {one: counts.get((node, one), 0) for one in ("fork", "branch")}
            purpose = purpose_of(node, str(old), purpose, asked)
        else:
            continue
        number = counts.get((owner, purpose), 0)
        counts[owner, purpose] = number + 1
        found[old] = attempt_id(rename(owner), purpose, number)
    return found


def _arrived(
    session_id: str, content: Content, rename: Callable[[str], str], attempts: Mapping[str, str]
) -> Arrival:
    keys: dict[str, str] = {}
    moved = session_id != content.session_id
    for event in content.events:
        key = str(event["dedupeKey"])
        if moved:
            key = _renamed_key(key, rename)
        keys[str(event["eventId"])] = event_id(session_id, key)

    def change(old: str) -> str:
        return keys.get(old) or (rename(old) if moved and is_id(old) else old)

    incoming = []
    for event in content.events:
        scope = event.get("scope")
        scope = scope if isinstance(scope, Mapping) else {}
        data = event["data"]
        assert isinstance(data, dict)
        by, data = _by(data), unsigned(data)
        name, version = str(event["kind"]), event["v"]
        assert isinstance(version, int)
        key = str(event["dedupeKey"])
        incoming.append(
            Incoming(
                _decoded(name, version, _renamed(data, change) if moved else data),
                _renamed_key(key, rename) if moved else key,
                keys[str(event["eventId"])],
                change(str(scope["runId"])) if "runId" in scope else None,
                change(str(scope["nodeId"])) if "nodeId" in scope else None,
                by,
            )
        )
    pins = tuple((ref, kind) for ref, kind in content.pins if kind != "response")
    blobs = (
        *content.snapshots.values(),
        *content.workflows.values(),
        *content.artifacts.values(),
    )
    return Arrival(session_id, tuple(incoming), pins, tuple(blobs))


def _renamed_key(key: str, rename: Callable[[str], str]) -> str:
    kind, _, rest = key.partition(":")
    parts = []
    for part in rest.split(":"):
        ends = [rename(one) if is_id(one) else one for one in part.split("->")]
        parts.append("->".join(ends))
    return f"{kind}:{':'.join(parts)}"


def _renamed(data: Json, change: Callable[[str], str]) -> Json:
    """Rename ids in data; what people and agents wrote stays as it is."""

    def walk(value: object) -> object:
        if isinstance(value, str):
            return change(value) if is_id(value) else value
        if isinstance(value, list):
            return [walk(one) for one in value]
        if isinstance(value, dict):
            return {k: v if k in _PROSE else walk(v) for k, v in value.items()}
        return value

    found = walk(data)
    assert isinstance(found, dict)
    return found


def _by(data: Json) -> By:
    """Return who acted; what cannot be checked is not let in (R4.19)."""
    said = data.get(SIGNATURE, {})
    found = by_of(said) or By()
    if found.data() != said:
        raise bad("BUNDLE_INVALID_FORMAT", "who acted in an event is not well formed")
    return found


def _decoded(name: str, version: int, data: Json) -> object:
    try:
        fact = from_data(name, version, data)
    except (UnknownEvent, ValidationFailed) as error:
        raise bad("BUNDLE_INVALID_FORMAT", f"an event of kind {name[:40]!r} is unknown") from error
    if not isinstance(fact, ev.Fact):
        raise bad("BUNDLE_INVALID_FORMAT", f"an event of kind {name[:40]!r} does not belong here")
    return fact
