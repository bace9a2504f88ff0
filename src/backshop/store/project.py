"""Folds a stream into a state, incrementally: only new events are read and checked (T3.2)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from backshop.base.errors import ValidationFailed
from backshop.base.event import UnknownEvent

from .connection import Cursor
from .errors import StreamNotHealthy
from .log import EMPTY, Event, chain_break, event_of

S = TypeVar("S")

_CACHED_STATES = 512
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Fold(Generic[S]):
    """How a stream becomes a state. `apply` is total and pure; `name` tells folds apart."""

    name: str
    version: int
    initial: S
    apply: Callable[[S, Event], S]


@dataclass(frozen=True, slots=True)
class Folded(Generic[S]):
    """A state and the event it includes last (None: the stream is empty)."""

    state: S
    last: Event | None

    @property
    def idx(self) -> int:
        """The position of the last event, -1 before the first."""
        return EMPTY if self.last is None else self.last.idx

    @property
    def seq(self) -> int:
        """The place of the last event among all streams; grows even when a stream is born again."""
        return EMPTY if self.last is None else self.last.seq


class FoldCache:
    """States with their positions. Losing one costs time, never facts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: OrderedDict[tuple[str, str, int], Folded[Any]] = OrderedDict()

    def get(self, stream: str, fold: Fold[S]) -> Folded[S]:
        """Return the newest state known, at worst the initial one."""
        key = (stream, fold.name, fold.version)
        with self._lock:
            found = self._states.get(key)
            if found is None:
                return Folded(fold.initial, None)
            self._states.move_to_end(key)
            return found

    def put(self, stream: str, fold: Fold[S], folded: Folded[S]) -> None:
        """Remember a committed state, unless a newer one is known."""
        key = (stream, fold.name, fold.version)
        with self._lock:
            known = self._states.get(key)
            if known is None or known.seq <= folded.seq:
                self._states[key] = folded
            self._states.move_to_end(key)
            while len(self._states) > _CACHED_STATES:
                self._states.popitem(last=False)

    def forget(self, stream: str) -> None:
        """Drop every state of a stream; after its deletion."""
        with self._lock:
            for key in [key for key in self._states if key[0] == stream]:
                del self._states[key]


def forward(cursor: Cursor, stream: str, fold: Fold[S], known: Folded[S]) -> Folded[S]:
    """Bring a state forward by the events after it, checking the chain on the way.

    The last event known is read again: if it is another one by now, the stream was deleted and
    born again meanwhile, and the fold begins anew.

    Raises:
        StreamNotHealthy: the next event is not what was written, or cannot be read.
    """
    rows = _page(cursor, stream, known.idx - 1)
    if known.last is not None:
        if not rows or event_of(rows[0]).hash != known.last.hash:
            return forward(cursor, stream, fold, Folded(fold.initial, None))
        rows = rows[1:]
    while rows:
        for row in rows:
            known = _step(fold, known, event_of(row))
        rows = _page(cursor, stream, known.idx) if len(rows) >= _PAGE - 1 else []
    return known


def _page(cursor: Cursor, stream: str, after: int) -> list[tuple[Any, ...]]:
    return cursor.all("read", {"stream": stream, "after": after, "limit": _PAGE})


def _step(fold: Fold[S], known: Folded[S], event: Event) -> Folded[S]:
    broken = chain_break(known.last, event)
    if broken is not None:
        raise StreamNotHealthy(f"event {event.idx} of {event.stream} is damaged", reason=broken)
    return apply_checked(fold, known, event)


def apply_checked(fold: Fold[S], known: Folded[S], event: Event) -> Folded[S]:
    """Apply one event whose place in the chain is known to be right."""
    try:
        return Folded(fold.apply(known.state, event), event)
    except UnknownEvent as error:
        raise StreamNotHealthy(
            f"event {event.idx} of {event.stream}: {error}", reason="unknown_schema_version"
        ) from error
    except ValidationFailed as error:
        raise StreamNotHealthy(
            f"event {event.idx} of {event.stream} does not fit its kind",
            reason="schema_validation_failed",
        ) from error


def with_new(
    target: tuple[str, Fold[Any]], folded: Folded[Any], parts: Iterable[Sequence[Event]]
) -> Folded[Any]:
    """Return the state after the parts of an append that belong to its stream."""
    stream, fold = target
    for event in (event for part in parts for event in part):
        if event.stream == stream:
            folded = apply_checked(fold, folded, event)
    return folded
