"""Waiting for what is new: told by this process, by others where the database carries that."""

from __future__ import annotations

import threading
from collections.abc import Callable

from backshop.base.ambient import Clock

from .engine import Database

_POLL_S = 0.1
_TOLD_S = 2.0  # how often one looks who would be told


class News:
    """The newest position this process knows of, and who waits for a later one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._heard = 0
        self.bulletin = database.bulletin(self.hear)
        """What carries news between machines; None on SQLite."""

    def hear(self, seq: int) -> None:
        """Wake whoever waits; 0 says that something may have been missed."""
        with self._changed:
            self._heard = max(self._heard, seq)
            self._changed.notify_all()

    def wait(self, after_seq: int, timeout_s: float, last_seq: Callable[[], int]) -> bool:
        """Wait until there is an event after a position; `last_seq` looks for it."""
        ends = self._clock.monotonic() + timeout_s
        if self.bulletin is not None:
            self.bulletin.listen()
        while True:
            if last_seq() > after_seq:
                return True
            left = ends - self._clock.monotonic()
            if left <= 0:
                return False
            with self._changed:
                if self._heard > after_seq:
                    return True
                is_told = self.bulletin is not None and self.bulletin.is_listening
                self._changed.wait(min(left, _TOLD_S if is_told else _POLL_S))

    def close(self) -> None:
        """Hear nothing more of other processes."""
        if self.bulletin is not None:
            self.bulletin.close()
