"""Driver connections of one database: so many at once, given back when nobody uses them (T2.8).

A server has connections for everybody, and each costs it memory: a process must not keep what it
needed once for ever. A file has no such limit.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import StoreBusy

IDLE_S = 30.0  # before a connection that nobody uses is given back


class Pool:
    """Connections that are open and not in use, and how many may be in use."""

    def __init__(
        self,
        close: Callable[[Any], None],
        *,
        kept: int,
        limit: int | None = None,
        wait_s: float = 0.0,
        idle_s: float | None = None,
    ) -> None:
        self._close = close
        self._kept = kept
        self._limit = limit
        self._slots = None if limit is None else threading.BoundedSemaphore(limit)
        self._wait_s = wait_s
        self._idle_s = idle_s
        self._own = threading.local()
        self._guard = threading.Lock()
        self._idle: deque[tuple[float, Any]] = deque()  # the longest unused first
        self._timer: threading.Timer | None = None
        self._is_closed = False

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold the right to one connection; a thread's second never waits for its first.

        Raises:
            StoreBusy: all of them have been in use for as long as we wait.
        """
        depth = getattr(self._own, "depth", 0)
        slots = self._slots if depth == 0 else None
        if slots is not None and not slots.acquire(timeout=self._wait_s):
            raise StoreBusy(
                f"all {self._limit} connections of this process to the database are in use",
                reason="connections_in_use",
                hints=("store.connections says how many there may be",),
            )
        self._own.depth = depth + 1
        try:
            yield
        finally:
            self._own.depth = depth
            if slots is not None:
                slots.release()

    def take(self) -> Any | None:
        """Return the one used last, None if there is none."""
        with self._guard:
            return self._idle.pop()[1] if self._idle else None

    def give_back(self, connection: Any) -> None:
        """Keep a connection for a while, unless there are enough."""
        with self._guard:
            is_kept = not self._is_closed and len(self._idle) < self._kept
            if is_kept:
                self._idle.append((time.monotonic(), connection))
                self._look_later()
        if not is_kept:
            self._close(connection)

    def close(self) -> None:
        """Close what is not in use; what is comes back to be closed."""
        with self._guard:
            self._is_closed = True
            left = [connection for _, connection in self._idle]
            self._idle.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for connection in left:
            self._close(connection)

    def _look_later(self) -> None:
        """Have the one that was unused longest looked at when its time is over."""
        if self._idle_s is None or self._timer is not None or not self._idle:
            return
        left_s = self._idle[0][0] + self._idle_s - time.monotonic()
        self._timer = threading.Timer(max(0.0, left_s), self._look)
        self._timer.daemon = True
        self._timer.name = "backshop-idle-connections"
        self._timer.start()

    def _look(self) -> None:
        """Close those that nobody used for long enough."""
        assert self._idle_s is not None
        gone = []
        with self._guard:
            self._timer = None
            before = time.monotonic() - self._idle_s
            while self._idle and self._idle[0][0] <= before:
                gone.append(self._idle.popleft()[1])
            if not self._is_closed:
                self._look_later()
        for connection in gone:
            self._close(connection)
