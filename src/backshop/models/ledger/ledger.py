"""Remembers what left the machine, under which permission, and what it cost (M4, M13.2)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from backshop.base.ambient import Mint, timestamp
from backshop.base.field_copy import made_from
from backshop.base.ids import BlobId
from backshop.base.outbox import Outbox
from backshop.base.usage import Used, with_call
from backshop.store import Event, Fold, NewEvent, Part, Pin, Plan, Store

from ..egress.gate import Outgoing
from . import events
from .consent import Consent, Scope

HOME = "home"


class Scopes(Protocol):
    """Who knows what a workbench holds that the person brought in (M4.6)."""

    def scope(self, workbench_id: str) -> Scope:
        """Return the scope of a workbench now; raise `NotFound` when there is none."""
        ...

    def model(self, workbench_id: str) -> str | None:
        """Return the model a workbench uses next, None where it has none of its own."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressEvent:
    """One line of the record of what left (M4.12)."""

    position: int
    at: str
    kind: str
    provider_id: str
    model_id: str | None
    host: str
    scope_hash: str | None
    purpose: str
    bytes_out: int
    run_id: str | None
    status: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_cache_write: int | None = None
    usd_estimate: float | None = None
    duration_ms: int | None = None


def _apply_consent(state: tuple[Consent, ...], event: Event) -> tuple[Consent, ...]:
    match event.fact:
        case events.ConsentGranted() as fact:
            granted = made_from(Consent, fact, without=("scope_hash",), persisted=True)
            return (*state, granted)
        case events.ConsentRevoked() as fact:
            return tuple(one for one in state if not revokes(fact, one))
        case _:
            return state


def _apply_spent(state: dict[str, Used], event: Event) -> dict[str, Used]:
    return _with(state, event.fact)


def _with(state: dict[str, Used], fact: object) -> dict[str, Used]:
    if not isinstance(fact, events.ModelCalled) or not fact.is_answered:
        return state
    keys = ("", f"model:{fact.model_id}", *([f"run:{fact.run_id}"] if fact.run_id else []))
    new = {key: with_call(state.get(key, Used()), fact.usage, fact.usd_estimate) for key in keys}
    return {**state, **new}


CONSENTS: Fold[tuple[Consent, ...]] = Fold("models.consents", 1, (), _apply_consent)
SPENT: Fold[dict[str, Used]] = Fold("models.spent", 1, {}, _apply_spent)


def revokes(fact: events.ConsentRevoked, consent: Consent) -> bool:
    """Say whether a revocation takes this permission back."""
    return (
        consent.workbench_id == fact.workbench_id
        and fact.provider_id in (None, consent.provider_id)
        and fact.model_id in (None, consent.model_id)
    )


class Ledger:
    """The models room's part of the store: consents in `home`, the rest beside the bench."""

    def __init__(self, store: Store, mint: Mint) -> None:
        self._store = store
        self._mint = mint
        self._session: tuple[Consent, ...] = ()  # M4.8: gone when the process ends
        self._lock = threading.Lock()
        self._outboxes: dict[str, Outbox] = {}

    def consents(self) -> tuple[Consent, ...]:
        """Return every permission in force, stored ones first."""
        return (*self._store.state(HOME, CONSENTS), *self._session)

    def grant(self, consent: Consent) -> None:
        """Keep a permission, across restarts or for this process."""
        if not consent.persisted:
            with self._lock:
                self._session = (*self._session, consent)
            return
        scope_hash = consent.scope.hash()
        fact = made_from(
            events.ConsentGranted, consent, without=("persisted",), scope_hash=scope_hash
        )
        self._append(HOME, fact)

    def revoke(self, fact: events.ConsentRevoked) -> None:
        """Take permissions back."""
        with self._lock:
            self._session = tuple(one for one in self._session if not revokes(fact, one))
        if any(revokes(fact, one) for one in self._store.state(HOME, CONSENTS)):
            self._append(HOME, fact)

    def sent(self, outgoing: Outgoing, consent_mode: str) -> str:
        """Record a request before its first byte; return the id its end is recorded under."""
        errand = outgoing.errand
        call_id = self._mint.new("evt")
        self._append(
            stream_of(errand.workbench_id),
            events.EgressSent(
                call_id=call_id,
                kind=errand.kind.value,
                provider_id=outgoing.provider_id,
                model_id=errand.model_id,
                host=outgoing.host,
                scope_hash=outgoing.scope_hash,
                consent_mode=consent_mode,
                purpose=errand.purpose.value,
                bytes_out=outgoing.bytes_out,
                run_id=errand.run_id,
            ),
            scope=errand.run_id,
        )
        return call_id

    def blocked(self, outgoing: Outgoing) -> None:
        """Record a request that policy refused."""
        errand = outgoing.errand
        self._append(
            stream_of(errand.workbench_id),
            events.EgressBlockedRecord(
                provider_id=outgoing.provider_id,
                model_id=errand.model_id,
                host=outgoing.host,
                reason=outgoing.blocked or "policy",
                purpose=errand.purpose.value,
                run_id=errand.run_id,
            ),
            scope=errand.run_id,
        )

    @contextmanager
    def joining(self, workbench_id: str, outbox: Outbox) -> Iterator[None]:
        """Let what calls for a workbench came to go with the appends of who works on it."""
        self._outboxes[workbench_id] = outbox
        try:
            yield
        finally:
            del self._outboxes[workbench_id]

    def ended(self, workbench_id: str | None, fact: events.EgressCompleted) -> None:
        """Record how a request that left ended."""
        self._later(workbench_id, fact)

    def called(self, workbench_id: str | None, fact: events.ModelCalled) -> None:
        """Record what a call used."""
        self._later(workbench_id, fact, scope=fact.run_id)

    def _later(
        self,
        workbench_id: str | None,
        fact: events.EgressCompleted | events.ModelCalled,
        *,
        scope: str | None = None,
    ) -> None:
        prompt = fact.prompt if isinstance(fact, events.ModelCalled) else None
        pins = () if prompt is None else (prompt.rendered_ref,)
        outbox = self._outboxes.get(workbench_id or "")
        if outbox is None:
            self._append(stream_of(workbench_id), fact, scope=scope, pins=pins)
        else:
            outbox.add(fact, pins)

    def changed(self, provider_id: str, status: str) -> None:
        """Record how a provider stands after somebody changed it."""
        self._append(HOME, events.ProviderChanged(provider_id=provider_id, status=status))

    def spent(self, workbench_id: str | None) -> dict[str, Used]:
        """Return what was used: all of it under "", by `model:<id>` and by `run:<id>`."""
        found, outbox = self._store.state(stream_of(workbench_id), SPENT), None
        if workbench_id is not None:
            outbox = self._outboxes.get(workbench_id)
        for one in () if outbox is None else outbox.waiting():
            found = _with(found, one.fact)
        return found

    def egress_events(
        self, workbench_id: str | None, *, run_id: str | None, after: int, limit: int
    ) -> tuple[EgressEvent, ...]:
        """Return the record of what left, oldest first; without an end the status is unknown."""
        found: dict[str, EgressEvent] = {}
        for event in self._store.read(stream_of(workbench_id)):
            _note(found, event)
        wanted = [
            one for one in found.values() if one.position > after and run_id in (None, one.run_id)
        ]
        return tuple(wanted[:limit])

    def _append(
        self, stream: str, fact: Any, *, scope: str | None = None, pins: Sequence[str] = ()
    ) -> None:
        new = NewEvent(fact, dedupe_key=self._mint.new("evt"), scope_a=scope)
        named = [Pin(BlobId(ref), "payload") for ref in pins]
        self._store.append(Plan((Part(stream, (new,), pins=named),)))


def spent_of(store: Store, workbench_id: str, run_id: str | None) -> Used:
    """Return what a run has used, or the whole workbench when there is none (M13.2)."""
    key = f"run:{run_id}" if run_id else ""
    return store.state(stream_of(workbench_id), SPENT).get(key, Used())


def stream_of(workbench_id: str | None) -> str:
    """Return the stream a call is recorded in (M4.12)."""
    return f"bench:{workbench_id}" if workbench_id else HOME


def _note(found: dict[str, EgressEvent], event: Event) -> None:
    match event.fact:
        case events.EgressSent() as fact:
            found[fact.call_id] = _line(event, fact, kind=fact.kind, status="unknown")
        case events.EgressBlockedRecord() as fact:
            found[event.event_id] = _line(event, fact, kind="blocked", status=fact.reason)
        case events.EgressCompleted() as fact if fact.call_id in found:
            found[fact.call_id] = replace(
                found[fact.call_id],
                status=fact.status,
                tokens_in=fact.tokens_in,
                tokens_out=fact.tokens_out,
                tokens_cached=fact.tokens_cached,
                tokens_cache_write=fact.tokens_cache_write,
                usd_estimate=fact.usd_estimate,
                duration_ms=fact.duration_ms,
            )


def _line(
    event: Event, fact: events.EgressSent | events.EgressBlockedRecord, *, kind: str, status: str
) -> EgressEvent:
    return EgressEvent(
        position=event.idx,
        at=timestamp(event.at_ms),
        kind=kind,
        provider_id=fact.provider_id,
        model_id=fact.model_id,
        host=fact.host,
        scope_hash=getattr(fact, "scope_hash", None),
        purpose=fact.purpose,
        bytes_out=getattr(fact, "bytes_out", 0),
        run_id=fact.run_id,
        status=status,
    )
