"""A prompt session: typed state of one line of work with a model, kept as events (P2)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from backshop.base import event as registry
from backshop.base.ambient import Clock, Mint, SystemClock
from backshop.base.errors import BackshopError
from backshop.base.ids import check_id
from backshop.base.usage import TokenUsage

if TYPE_CHECKING:
    from backshop.store import Store

from ..errors import SessionError
from ..slices import LOG, STATE, Reducer, SessionView, check_reducer, is_slice, slice_of
from . import history
from .access import Transaction, Writable, dispatched
from .bus import Bus, DispatchResult, Envelope
from .limit import CancelToken, RunLimits
from .log import LogConflict, MemoryLog, NewRecord, PassingLog, Recorded, SessionLog, StoreLog

MAX_DEPTH = 3
CONFLICT_RETRIES = 3


class Session(Writable):
    """Typed state made of events, with a bus, limits and children.

    Without a log it lives in memory; with a `Store` (or any `SessionLog`) it is durable, and
    opening the same `session_id` again gives the same slices.
    """

    limits: RunLimits
    spent: TokenUsage
    _clock: Clock
    _mint: Mint
    _history: history.History

    def __init__(
        self,
        *,
        session_id: str | None = None,
        log: SessionLog | Store | None = None,
        parent: Session | None = None,
        tags: Sequence[str] = (),
        clock: Clock | None = None,
        strict_bus: bool = False,
    ) -> None:
        self._clock = clock or (parent._clock if parent else SystemClock())
        self._mint = parent._mint if parent else Mint(self._clock)
        self.session_id = check_id(session_id, "ps") if session_id else self._mint.new("ps")
        self.parent = parent
        self.tags = tuple(tags)
        self.bus = Bus()
        self.cancel: CancelToken = CancelToken(parent.cancel if parent else None)
        self.limits = parent.limits if parent else RunLimits()
        self.spent = TokenUsage()
        self.strict_bus = strict_bus
        self._turn_id: str | None = None
        self._lock = threading.RLock()
        self._closed = False
        self._log = _log_of(log, parent, self._clock)
        routes = parent._history.routes if parent else history.BUILT_IN
        self._history = history.History(routes, self._log.get)
        self._history.add(self._log.read(self.session_id))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def seq(self) -> int:
        """The seq of the last event; 0 before the first."""
        return self._history.seq

    @property
    def closed(self) -> bool:
        """Whether the session takes no more events."""
        return self._closed

    def close(self) -> None:
        """Take no more events; what is recorded stays."""
        self._closed = True

    def now(self) -> datetime:
        """Return the time of the session's clock, in UTC."""
        return _utc(self._clock.now_ms())

    def monotonic(self) -> float:
        """Return seconds of the session's clock that never go back."""
        return self._clock.monotonic()

    def new_id(self, prefix: str) -> str:
        """Return a fresh id from the session's mint."""
        return self._mint.new(prefix)

    def view(self) -> SessionView:
        """Return the state, read-only; it does not change when the session does."""
        with self._lock:
            return SessionView(self.session_id, self._history.seq, self._history.slices)

    def register(self, event_type: type, slice_type: type, reducer: Reducer) -> None:
        """Let `reducer` change a slice on events of a type, also on those recorded before.

        Events are dataclasses marked with `event_type` or `slice_type`.

        Raises:
            SessionError: `UNKNOWN_EVENT`, `UNKNOWN_SLICE`, `BAD_REDUCER`.
        """
        _require_event(event_type)
        check_reducer(reducer)
        route = history.Route(event_type, slice_of(slice_type), reducer)
        with self._lock:
            self._history = self._history.rerouted((*self._history.routes, route))

    def dispatch(
        self, event: object, *, cause_id: str | None = None, turn_id: str | None = None
    ) -> DispatchResult:
        """Record an event, then swap the state, then tell subscribers (P2.7).

        Raises:
            SessionError: `UNROUTED_EVENT`, `SESSION_CLOSED`, `SESSION_CONFLICT`.
            ReducerError: nothing was changed.
        """
        return self.commit((event,), cause_id=cause_id, turn_id=turn_id)

    def commit(
        self,
        events: Sequence[object],
        *,
        cause_id: str | None = None,
        turn_id: str | None = None,
    ) -> DispatchResult:
        """Record several events together: all of them or none."""
        if not events:
            return DispatchResult()
        recorded = self._record(events, cause_id, turn_id or self._turn_id)
        errors = [error for one in recorded for error in self._announce(one)]
        for fact in (one.fact for one in recorded):
            if any(kind.propagate == "up" for kind in history.routed(fact, self._history.routes)):
                for above in self.ancestors():
                    errors.extend(above._take(fact, cause_id, turn_id))
        if errors and self.strict_bus:
            raise ExceptionGroup("subscribers failed", errors)
        return DispatchResult(tuple(self._envelope(one) for one in recorded), tuple(errors))

    def publish(self, event: object, *, turn_id: str | None = None) -> tuple[Exception, ...]:
        """Tell subscribers of something that is not stored, such as a piece of an answer."""
        envelope = Envelope(
            event_id=self._mint.new("evt"),
            session_id=self.session_id,
            seq=0,
            at=self.now(),
            type=type(event).__name__,
            v=1,
            event=event,
            turn_id=turn_id,
        )
        buses = (self.bus, *(above.bus for above in self.ancestors()))
        return tuple(error for bus in buses for error in bus.deliver(envelope))

    def begin(self) -> Transaction:
        """Return a transaction: what a tool dispatches is kept only if it succeeds (P2.12)."""
        return Transaction(self)

    def put(self, content: bytes) -> str:
        """Keep a payload beside the log; return its sha256, to be named in a `…_ref` field."""
        return self._log.put(content)

    def get(self, ref: str) -> bytes:
        """Return a kept payload."""
        return self._log.get(ref)

    def snapshot(self) -> history.Snapshot:
        """Return the slices as data that can be stored, compared and restored."""
        view = self.view()
        return history.take_snapshot(self.session_id, view.seq, view.slices)

    def snapshot_at(self, seq: int) -> history.Snapshot:
        """Return the state as it was right after an earlier event, active or not."""
        with self._lock:
            past = history.History(self._history.routes, self._log.get)
            past.add(one for one in self._history.records if one.seq <= seq)
        return history.take_snapshot(self.session_id, past.seq, past.slices, policy=STATE)

    def is_active(self, seq: int) -> bool:
        """Say whether `rewind_to` may go to this event."""
        with self._lock:
            return self._history.is_active(seq)

    def restore(self, snapshot: history.Snapshot) -> None:
        """Make the state that of a snapshot; history stays.

        Raises:
            SnapshotError: an unknown slice or a newer version; nothing was changed.
        """
        history.snapshot_state(snapshot)
        self.dispatch(history.SessionRestored(snapshot_ref=self.put(snapshot.to_json())))

    def rewind_to(self, seq: int, message_id: str = "") -> None:
        """Take back what happened after `seq`; nothing is deleted (P2.14).

        Raises:
            SessionError: `REWIND_TARGET_INACTIVE`.
        """
        self.dispatch(history.SessionRewound(to_seq=seq, message_id=message_id))

    def reload(self) -> None:
        """Take over what others appended to the stream."""
        with self._lock:
            self._history.add(self._log.read(self.session_id, after=self._history.seq))

    def child(self, purpose: str, *, is_passing: bool = False) -> Session:
        """Return a session with a copy of this one's state and a stream of its own (P2.16).

        What a passing one records is gone with it: somebody else keeps what it does.
        """
        log = PassingLog(self._clock, self._log) if is_passing else None
        if len(self.ancestors()) + 1 >= MAX_DEPTH:
            raise SessionError("sessions nest three deep", code="SESSION_TOO_DEEP")
        view = self.view()
        state = history.take_snapshot(self.session_id, view.seq, view.slices, policy=STATE)
        made = Session(parent=self, tags=self.tags, strict_bus=self.strict_bus, log=log)
        made._record(
            [
                history.SessionForked(
                    parent_id=self.session_id,
                    purpose=purpose,
                    snapshot_ref=made.put(state.to_json()),
                )
            ],
            None,
            None,
        )
        return made

    def ancestors(self) -> tuple[Session, ...]:
        """Return parent, grandparent and so on."""
        above, found = self.parent, []
        while above is not None:
            found.append(above)
            above = above.parent
        return tuple(found)

    @contextmanager
    def during(self, turn_id: str | None) -> Iterator[None]:
        """Let what is recorded in this block belong to a turn."""
        before, self._turn_id = self._turn_id, turn_id or self._turn_id
        try:
            yield
        finally:
            self._turn_id = before

    @contextmanager
    def limited(self, **changes: Any) -> Iterator[RunLimits]:
        """Narrow the limits for a block; the tighter value wins."""
        before = self.limits
        self.limits = before.narrowed(self.now(), **changes)
        try:
            yield self.limits
        finally:
            self.limits = before

    def charge(self, usage: TokenUsage) -> None:
        """Add to what this session and its ancestors have spent."""
        for one in (self, *self.ancestors()):
            with one._lock:
                one.spent = one.spent + usage

    def after(self, events: Sequence[object]) -> history.Slices:
        """Return the slices as they would be after these events."""
        with self._lock:
            facts = [self._storable(event) for event in events]
            return self._history.after(facts)

    def is_history(self, event: object) -> bool:
        """Say whether an event changes `LOG` slices and no other (P2.3)."""
        return all(kind.policy is LOG for kind in history.routed(event, self._history.routes))

    def _take(self, fact: object, cause_id: str | None, turn_id: str | None) -> Iterator[Exception]:
        for one in self._record((fact,), cause_id, turn_id):
            yield from self.bus.deliver(self._envelope(one))

    def _record(
        self, events: Sequence[object], cause_id: str | None, turn_id: str | None
    ) -> tuple[Recorded, ...]:
        with self._lock:
            if self._closed:
                raise SessionError("the session is closed", code="SESSION_CLOSED")
            facts = [_lasting(self._storable(event)) for event in events]
            records = [NewRecord(self._mint.new("evt"), fact, cause_id, turn_id) for fact in facts]
            for _ in range(CONFLICT_RETRIES + 1):
                for fact in facts:
                    if isinstance(fact, history.SessionRewound):
                        self._history.require_active(fact.to_seq)
                self._history.after(facts)  # every reducer has agreed before anything is written
                try:
                    recorded = self._log.append(self.session_id, records, after=self._history.seq)
                except LogConflict:
                    self.reload()
                    continue
                self._history.add(recorded)
                return recorded
        raise SessionError("others kept writing to the session", code="SESSION_CONFLICT")

    def _storable(self, event: object) -> object:
        """Return the fact that records an event: itself, or its arrival in its slice."""
        kind: type = type(event)
        if _is_system(event):
            return event
        if not history.routed(event, self._history.routes):
            raise SessionError(f"nothing routes {kind.__name__}", code="UNROUTED_EVENT")
        if _is_event(event):
            return event
        return dispatched(event)

    def _announce(self, one: Recorded) -> Iterator[Exception]:
        envelope = self._envelope(one)
        yield from self.bus.deliver(envelope)
        for above in self.ancestors():
            yield from above.bus.deliver(envelope)

    def _envelope(self, one: Recorded) -> Envelope:
        kind = registry.type_of(one.fact)
        return Envelope(
            event_id=one.event_id,
            session_id=self.session_id,
            seq=one.seq,
            at=_utc(one.at_ms),
            type=kind.name,
            v=kind.version,
            event=history.item_of(one.fact),
            cause_id=one.cause_id,
            turn_id=one.turn_id,
        )


def _log_of(log: SessionLog | Store | None, parent: Session | None, clock: Clock) -> SessionLog:
    if log is None:
        return parent._log if parent else MemoryLog(clock)
    return log if isinstance(log, SessionLog) else StoreLog(log)


def _is_event(event: object) -> bool:
    return registry.event_name(type(event)) is not None


def _require_event(kind: type) -> None:
    if registry.event_name(kind) is None and not is_slice(kind):
        raise SessionError(
            f"{kind.__name__} cannot be dispatched: mark it with @event_type or @slice_type",
            code="UNKNOWN_EVENT",
        )


def _is_system(event: object) -> bool:
    return isinstance(
        event,
        history.SliceAppended
        | history.SliceDispatched
        | history.SliceReplaced
        | history.SliceCleared
        | history.SessionForked
        | history.SessionRestored
        | history.SessionRewound,
    )


def _lasting(fact: object) -> object:
    """Return a fact that reads back as it was written; another one would spoil its stream.

    Dataclasses do not check their fields, so a wrong value would be noticed only on opening.
    """
    kind = registry.type_of(fact)
    try:
        same = registry.from_data(kind.name, kind.version, registry.to_data(fact)) == fact
    except (BackshopError, TypeError, ValueError, UserWarning) as error:
        raise SessionError(  # a UserWarning only where warnings are errors
            f"a value in {kind.name} does not fit its field: {error}", code="BAD_EVENT"
        ) from error
    if not same:
        raise SessionError(f"{kind.name} would not read back as it was written", code="BAD_EVENT")
    return fact


def _utc(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
