"""How state is read and written: slices and digests of a session or of a tool's transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from ..digest import digest
from ..errors import SessionError
from ..name import check_key
from ..slices import LOG, SessionView, SliceView, slice_of
from .bus import DispatchResult
from .history import SliceAppended, SliceCleared, SliceDispatched, SliceReplaced, Slices

T = TypeVar("T")


def appended(cls: type, items: Sequence[Any]) -> SliceAppended:
    """Return the event that adds items to the slice of their type."""
    kind = slice_of(cls)
    for item in items:
        if type(item) is not cls:
            raise SessionError(f"{type(item).__name__} is not {cls.__name__}", code="WRONG_ITEM")
    encoded = tuple(kind.encode(item) for item in items)
    return SliceAppended(slice=kind.name, version=kind.version, items=encoded)


def dispatched(item: object) -> SliceDispatched:
    """Return the event that hands an item to the reducers of its type."""
    kind = slice_of(type(item))
    return SliceDispatched(slice=kind.name, version=kind.version, item=kind.encode(item))


@dataclass(frozen=True, slots=True)
class SliceAccess(SliceView[T], Generic[T]):
    """A slice that can also be changed: every change is an event."""

    _cls: type[T]
    _dispatch: Callable[[object], object]

    def append(self, item: T) -> None:
        """Add an item as it is; reducers are asked by `session.dispatch(item)`."""
        self._dispatch(appended(self._cls, (item,)))

    def replace(self, items: Sequence[T]) -> None:
        """Put these items in place of all."""
        self._require_state()
        self._dispatch(self._replaced(items))

    def clear(self, where: Callable[[T], bool] | None = None) -> None:
        """Remove the items the predicate holds for, or all."""
        self._require_state()
        if where is None:
            self._dispatch(SliceCleared(slice=slice_of(self._cls).name))
        else:
            self._dispatch(self._replaced([item for item in self.all() if not where(item)]))

    def _replaced(self, items: Sequence[T]) -> SliceReplaced:
        made = appended(self._cls, items)
        return SliceReplaced(slice=made.slice, version=made.version, items=made.items)

    def _require_state(self) -> None:
        if slice_of(self._cls).policy is LOG:
            raise SessionError("a log slice only grows", code="LOG_IS_APPEND_ONLY")


class DigestAccess:
    """The digests of a session: `session.workspace_digest` (P2.17)."""

    def __init__(self, session: Writable) -> None:
        self._session = session

    def set(
        self,
        section_key: str,
        body: str,
        *,
        source: digest.DigestSource = "user",
        summary: str = "",
        fingerprint: str = "",
        model_id: str = "",
        prompt_ref: str = "",
    ) -> digest.DigestItem:
        """Clean a digest and record it as the newest of its key; return what was stored."""
        check_key(section_key, "section key", error=SessionError)
        clean = digest.normalise_digest(body)
        item = digest.DigestItem(
            section_key=str(section_key),
            body=clean.body,
            summary=digest.normalise_digest(summary).body,
            source=source,
            fingerprint=fingerprint,
            created_at=self._session.now(),
            model_id=model_id,
            prompt_ref=prompt_ref,
            truncated=clean.truncated,
            suspect=clean.suspect,
        )
        self._session.dispatch(digest.DigestUpdated(item=item))
        return item

    def latest(self, section_key: str = digest.DIGEST_KEY) -> digest.DigestItem | None:
        """Return the newest digest of a key, or None."""
        found = self.history(section_key)
        return found[-1] if found else None

    def history(self, section_key: str = digest.DIGEST_KEY) -> tuple[digest.DigestItem, ...]:
        """Return the kept digests of a key, oldest first."""
        items = self._session.view()[digest.DigestItem]
        return items.where(lambda item: item.section_key == section_key)

    def clear(self, section_key: str = digest.DIGEST_KEY) -> None:
        """Take the digests of a key away."""
        self._session.dispatch(digest.DigestCleared(section_key=str(section_key)))


class Writable:
    """What a session and a tool's transaction have in common."""

    session_id: str

    def view(self) -> SessionView:
        """Return the state, read-only."""
        raise NotImplementedError

    def dispatch(self, event: object) -> DispatchResult:
        """Record an event."""
        raise NotImplementedError

    def now(self) -> datetime:
        """Return the time of the session's clock, in UTC."""
        raise NotImplementedError

    def __getitem__(self, cls: type[T]) -> SliceAccess[T]:
        return SliceAccess(self.view()[cls].all(), cls, self.dispatch)

    @property
    def workspace_digest(self) -> DigestAccess:
        """The digests recorded here."""
        return DigestAccess(self)


class Owner(Protocol):
    """A session as its transaction needs it."""

    @property
    def session_id(self) -> str: ...

    @property
    def seq(self) -> int: ...

    def now(self) -> datetime: ...

    def after(self, events: Sequence[object]) -> Slices: ...

    def commit(
        self,
        events: Sequence[object],
        *,
        cause_id: str | None = None,
        turn_id: str | None = None,
    ) -> DispatchResult: ...

    def is_history(self, event: object) -> bool: ...

    def put(self, content: bytes) -> str: ...

    def get(self, ref: str) -> bytes: ...


class Transaction(Writable):
    """A tool's view of its session: it sees what it did, others only once it succeeded."""

    def __init__(self, session: Owner) -> None:
        self.session = session
        self.session_id = session.session_id
        self._events: list[object] = []
        self._lock = threading.Lock()
        self._open = True

    def view(self) -> SessionView:
        """Return the state with this transaction's events in it."""
        with self._lock:
            events = list(self._events)
        return SessionView(self.session_id, self.session.seq, self.session.after(events))

    def dispatch(self, event: object) -> DispatchResult:
        """Buffer an event; it must be one the session would take."""
        with self._lock:
            self._require_open()
            self.session.after([*self._events, event])
            self._events.append(event)
        return DispatchResult()

    def now(self) -> datetime:
        """Return the time of the session's clock."""
        return self.session.now()

    def put(self, content: bytes) -> str:
        """Keep a payload beside the log."""
        return self.session.put(content)

    def get(self, ref: str) -> bytes:
        """Return a kept payload."""
        return self.session.get(ref)

    def commit(self, *also: object, turn_id: str | None = None) -> DispatchResult:
        """Record what was buffered, and `also`, together; nothing can be added afterwards."""
        with self._lock:
            self._require_open()
            self._open = False
            events = [*self._events, *also]
        return self.session.commit(events, turn_id=turn_id)

    def discard(self, *also: object, turn_id: str | None = None) -> DispatchResult:
        """Forget what was buffered but for history, which is recorded with `also` (P2.3).

        A handler that is still running can add nothing more.
        """
        with self._lock:
            self._open = False
            kept = [event for event in self._events if self.session.is_history(event)]
            self._events.clear()
        return self.session.commit([*kept, *also], turn_id=turn_id)

    def _require_open(self) -> None:
        if not self._open:
            raise SessionError("the tool's transaction has ended", code="TRANSACTION_ENDED")
