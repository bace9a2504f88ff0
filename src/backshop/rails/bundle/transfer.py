"""Exports sessions from the store and brings bundles into it (R9.1–R9.6)."""

from __future__ import annotations

import json
from importlib.metadata import version

from backshop.base.ambient import SystemClock, timestamp
from backshop.base.canon import canonical
from backshop.base.ids import BlobId
from backshop.store import Caller, NewEvent, Part, Pin, Plan, wire

from ..errors import RailsError, not_healthy
from ..repository import Sessions, outside_tokens, stream_of, translated
from ..session import home_event, local
from ..session.home_event import SessionChanged
from ..session.local import ImportOrigin, Local
from . import document, import_check, import_ids
from .document import Content
from .import_ids import Arrival

Json = dict[str, object]
IMPORTS_MAX = 1000


def exported(sessions: Sessions, session_id: str, *, salvage: bool = False) -> str:
    """Return the bundle of a session; a damaged one only as far as it is proved, if asked."""
    content = _content(sessions, session_id, salvage=salvage)
    now = timestamp(SystemClock().now_ms())
    found = document.document(content, exported_at=now, version=version("backshop"))
    return json.dumps(found, ensure_ascii=False, sort_keys=True)


def lines(sessions: Sessions, session_id: str) -> str:
    """Return the events of a session, one canonical object per line, for inspection."""
    with translated():
        events = list(sessions.store.read(stream_of(session_id)))
    return "".join(canonical(wire_form(session_id, wire(one))).decode() + "\n" for one in events)


def imported(sessions: Sessions, text: str, caller: Caller) -> str:
    """Store a bundle's session and return its id, a new one if the old is taken (R9.4)."""
    content = document.checked(text)
    coming = import_ids.as_it_is(content)
    import_check.prove(content, coming)
    if _collides(sessions, content):
        number = 1
        while sessions.exists(import_ids.new_session_id(content, number)):
            number += 1
            if number > IMPORTS_MAX:
                raise RailsError(
                    "VALIDATION_ERROR", "imported too often", "Delete earlier imports first."
                )
        coming = import_ids.as_new(content, number)
    _store(sessions, content, coming, caller)
    sessions.forget(coming.session_id)
    return coming.session_id


def wire_form(session_id: str, event: Json) -> Json:
    """Return an event the way R4.2 writes it: with its session in place of the stream."""
    found = {key: value for key, value in event.items() if key != "stream"}
    return {**found, "sessionId": session_id}


def _store(sessions: Sessions, content: Content, coming: Arrival, caller: Caller) -> None:
    origin = ImportOrigin(
        bundle_id=content.bundle_id,
        session_id=content.session_id,
        salvaged=content.is_salvaged,
    )
    events = [
        NewEvent(
            one.fact,
            one.dedupe_key,
            event_id=one.event_id,
            scope_a=one.run_id,
            scope_b=one.node_id,
            by=one.by,
        )
        for one in coming.events
    ]
    pins = [Pin(BlobId(ref), kind) for ref, kind in coming.pins]
    noted = local.written(Local(origin=origin))  # with the events: read-only from the first moment
    part = Part(stream_of(coming.session_id), events, expected=-1, pins=pins, local=noted)
    told = SessionChanged(session_id=coming.session_id, reason="imported")
    with outside_tokens(), translated():
        plan = Plan((part, home_event.part(told)), coming.blobs)
        sessions.store.append(plan, beginning=caller.beginning)


def _content(sessions: Sessions, session_id: str, *, salvage: bool) -> Content:
    stream = stream_of(session_id)
    origin = sessions.local(session_id).origin
    is_salvaged = origin is not None and origin.salvaged
    with translated():
        health = sessions.store.health(stream)
        if not health.is_healthy and not (salvage and str(health.status) == "corrupt_tail"):
            raise not_healthy(health.reason or "damaged", status=str(health.status))
        events = []
        for event in sessions.store.read(stream):
            if event.idx > health.valid_through:
                break
            events.append(wire_form(session_id, wire(event)))
        pins = [(str(pin.ref), pin.kind) for pin in sessions.store.pins(stream)]
    kept = []
    blobs: dict[str, dict[str, bytes]] = {"snapshot": {}, "workflow": {}, "artifact": {}}
    for ref, kind in sorted(pins):
        data = None if kind == "response" else sessions.maybe_blob(f"sha256:{ref}")
        if data is not None:
            kept.append((ref, kind))
            blobs[kind][ref] = data
    return Content(
        session_id=session_id,
        events=events,
        pins=kept,
        snapshots=blobs["snapshot"],
        workflows=blobs["workflow"],
        artifacts=blobs["artifact"],
        is_salvaged=not health.is_healthy or is_salvaged,
    )


def _collides(sessions: Sessions, content: Content) -> bool:
    runs, nodes = document.ids_of(content)
    return (
        sessions.exists(content.session_id)
        or any(sessions.home_of_run(run) for run in runs)
        or any(sessions.home_of(node) for node in nodes)
    )
