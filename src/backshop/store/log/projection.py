"""Folds a stream into a state, incrementally: only new events are read and checked (T3.2)."""

from __future__ import annotations

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from backshop.base.errors import ValidationFailed
from backshop.base.event import UnknownEvent

from ..database.connection import Cursor
from ..errors import StreamNotHealthy
from .event import EMPTY, Event, chain_break, event_of

S = TypeVar("S")

_CACHED_BYTES = 16 * 1024 * 1024
_CACHED_ALWAYS = 32  # the states used last stay, whatever they weigh
_ENTRY_BYTES = 2048  # about what a state takes beside itself
_WEIGHED_AGAIN = 1.25  # times as many events
_WEIGHED_BYTES = 64 * 1024  # looked at for each event since: what is large is seldom looked at
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


Key = tuple[str, str, int]  # stream, name and version of the fold


class FoldCache:
    """States with their positions, up to a weight. Losing one costs time, never facts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: OrderedDict[Key, Folded[Any]] = OrderedDict()
        self._weights: dict[Key, tuple[int, int]] = {}  # at which event, bytes
        self._bytes = 0

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
                last = folded.last and replace(folded.last, body=b"")  # its place is what is needed
                self._states[key] = Folded(folded.state, last)
                self._weigh(key, folded)
            self._states.move_to_end(key)
            while self._bytes > _CACHED_BYTES and len(self._states) > _CACHED_ALWAYS:
                self._drop(next(iter(self._states)))

    def forget(self, stream: str) -> None:
        """Drop every state of a stream; after its deletion."""
        with self._lock:
            for key in [key for key in self._states if key[0] == stream]:
                self._drop(key)

    def _weigh(self, key: Key, folded: Folded[Any]) -> None:
        idx, weight = self._weights.get(key, (EMPTY, 0))
        later = max(idx * (_WEIGHED_AGAIN - 1), weight / _WEIGHED_BYTES)
        if weight and idx <= folded.idx <= idx + later:
            return  # about the same still
        self._weights[key] = (folded.idx, weight_of(folded.state) + _ENTRY_BYTES)
        self._bytes += self._weights[key][1] - weight

    def _drop(self, key: Key) -> None:
        del self._states[key]
        self._bytes -= self._weights.pop(key)[1]


def weight_of(state: object) -> int:
    """Return about how many bytes a value and all it is made of take."""
    seen: set[int] = set()
    todo, total = [state], 0
    while todo:
        one = todo.pop()
        if id(one) not in seen and not isinstance(one, type):
            seen.add(id(one))
            total += sys.getsizeof(one)
            todo.extend(gc.get_referents(one))
    return total


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
