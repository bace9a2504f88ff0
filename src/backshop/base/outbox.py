"""Facts that go with the next append to a stream instead of having one of their own.

A crash before that append loses them, so only facts belong here whose loss costs nothing but
themselves: what a call used, how a call ended whose effect is recorded already.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waiting:
    """A fact on its way, and the blobs it names."""

    fact: object
    pins: tuple[str, ...] = ()


class Outbox:
    """What waits for the next append; any thread may add to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Waiting] = []
        self._offered = 0

    def add(self, fact: object, pins: Sequence[str] = ()) -> None:
        """Let a fact wait."""
        with self._lock:
            self._waiting.append(Waiting(fact, tuple(pins)))

    def waiting(self) -> tuple[Waiting, ...]:
        """Return what waits, oldest first."""
        with self._lock:
            return tuple(self._waiting)

    def offered(self, *, is_wanted: bool = True) -> tuple[Waiting, ...]:
        """Return the same for an append that is being made; one that is not wanted takes nothing.

        What was offered to an append that failed is offered to the next.
        """
        with self._lock:
            self._offered = len(self._waiting) if is_wanted else 0
            return tuple(self._waiting[: self._offered])

    def recorded(self) -> None:
        """Forget what was offered last: the append stands."""
        with self._lock:
            del self._waiting[: self._offered]
            self._offered = 0
