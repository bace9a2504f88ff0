"""How often a wrong token may be tried: a few times a minute, and nobody who is known waits."""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict, deque

from backshop.base.ambient import Clock, SystemClock

WRONG_MAX = 20  # wrong tokens in a minute, of all callers together: they share one machine
MINUTE_S = 60.0
_KNOWN_MAX = 1000


class Guesses:
    """Counts wrong tokens. What was right before is asked about without waiting."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._wrong: deque[float] = deque(maxlen=WRONG_MAX)
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, given: bytes) -> int:
        """Return how long this token has to wait before it is looked at; 0 is not at all."""
        with self._lock:
            if _digest(given) in self._known or len(self._wrong) < WRONG_MAX:
                return 0
            return max(0, math.ceil(self._wrong[0] + MINUTE_S - self._clock.monotonic()))

    def wrong(self) -> None:
        """Count one."""
        with self._lock:
            self._wrong.append(self._clock.monotonic())

    def right(self, given: bytes) -> None:
        """Remember a token that was let in; only its hash is kept."""
        with self._lock:
            self._known[_digest(given)] = None
            self._known.move_to_end(_digest(given))
            while len(self._known) > _KNOWN_MAX:
                self._known.popitem(last=False)


def _digest(given: bytes) -> bytes:
    return hashlib.sha256(given).digest()
