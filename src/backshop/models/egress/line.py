"""Connections kept between calls, so that not every call has to find its provider anew (M4.13).

A line carries one call at a time and leads to one server. Whether a request may be sent is asked
anew for every request; a line only spares the way.
"""

from __future__ import annotations

import os
import ssl
import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import httpcore2

from backshop.base.ambient import Clock
from backshop.base.limits import KEPT_LINE_S

from ..errors import ProviderUnavailable
from .network import Network

_KEPT_MAX = 8  # lines nobody uses; a turn needs one
_REST_MAX_BYTES = 64 * 1024  # of an answer behind its last event
_LOOKS_MAX = 4  # at what should be there already


class Line:
    """A way to one server: at most one connection, and at most one request on it."""

    def __init__(self, network: Network, ssl_context: ssl.SSLContext | None) -> None:
        self.network = network
        self._rest: tuple[httpcore2.Response, Iterator[bytes]] | None = None
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl_context,
            network_backend=network,
            max_connections=1,
            keepalive_expiry=KEPT_LINE_S,
            retries=0,
        )

    @property
    def is_warm(self) -> bool:
        """Whether the connection of an earlier request stands."""
        return any(one.is_idle() and not one.has_expired() for one in self._pool.connections)

    @property
    def is_useful(self) -> bool:
        """Whether there is a connection that may carry another call."""
        return self._rest is not None or self.is_warm

    def send(self, request: httpcore2.Request) -> httpcore2.Response:
        """Send a request and return its answer, whose body is still to be read."""
        return self._pool.handle_request(request)

    def leave(self, answer: httpcore2.Response, rest: Iterator[bytes]) -> None:
        """Take an answer whose last event was read; what follows it is read when it is there."""
        self._rest = (answer, rest)

    def clear(self) -> None:
        """Read what is left of the last answer, without waiting, so that the next may follow."""
        if self._rest is None:
            return
        (answer, rest), self._rest = self._rest, None
        self.network.watch = _Impatience()
        total = 0
        with suppress(httpcore2.NetworkError, httpcore2.ProtocolError, ProviderUnavailable):
            for piece in rest:
                total += len(piece)
                if total > _REST_MAX_BYTES:
                    break
        answer.close()  # where the answer goes on, its connection is closed with it

    def close(self) -> None:
        """Close the connection."""
        if self._rest is not None:
            self._rest[0].close()
            self._rest = None
        self._pool.close()


@dataclass(frozen=True, slots=True)
class _Kept:
    where: Hashable
    line: Line
    until: float


class Lines:
    """The lines of this process that nobody uses, by where they lead."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: list[_Kept] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        weakref.finalize(self, _close_all, self._kept)

    def take(self, where: Hashable, make: Callable[[], Line]) -> Line:
        """Return a line that leads there: one that is kept, else a new one."""
        self._forget_the_parents()
        with self._lock:
            found = next((one for one in reversed(self._kept) if one.where == where), None)
            if found is not None:
                self._kept.remove(found)
        if found is None:
            return make()
        found.line.clear()
        return found.line

    def give(self, where: Hashable, line: Line) -> None:
        """Keep a line for the next call; old ones go, and those that are too many."""
        self._forget_the_parents()
        now = self._clock.monotonic()
        with self._lock:
            self._kept.append(_Kept(where, line, now + KEPT_LINE_S))
            gone = [one for one in self._kept if one.until <= now] + self._kept[:-_KEPT_MAX]
            self._kept[:] = [one for one in self._kept if one not in gone]
        _close_all(gone)

    def close(self) -> None:
        """Close every line nobody uses."""
        with self._lock:
            gone, self._kept[:] = self._kept[:], []
        _close_all(gone)

    def _forget_the_parents(self) -> None:
        """Close what a fork inherited: two processes must not speak on one connection."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._lock = threading.Lock()  # the parent's may be held by a thread that is not here
            self.close()


class _Impatience:
    """Stands in for a call's watch where what is read should be there already."""

    def __init__(self) -> None:
        self._looks = 0

    def connecting(self) -> None:
        """Refuse: nothing is connected for the rest of an answer."""
        raise ProviderUnavailable("the connection is gone", reason="stream_interrupted")

    def reading(self) -> None:
        """Stop looking soon."""
        self._looks += 1
        if self._looks > _LOOKS_MAX:
            raise ProviderUnavailable("the answer goes on", reason="stream_interrupted")

    def pause(self) -> float:
        """Return next to nothing."""
        return 0.001


def _close_all(lines: list[_Kept]) -> None:
    while lines:
        lines.pop().line.close()
