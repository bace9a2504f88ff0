"""Clock and id mint: the only readers of time and randomness."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from .ids import ulid

_ENTROPY_BITS = 80


class Clock(Protocol):
    """Where the time comes from."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()


def random_bits(count: int) -> int:
    """Return `count` random bits from the operating system."""
    return int.from_bytes(os.urandom((count + 7) // 8), "big") >> (-count % 8)


class Mint:
    """Makes `<prefix>_<ULID>` ids that grow even when the clock stands still or goes back."""

    def __init__(self, clock: Clock, random: Callable[[int], int] = random_bits) -> None:
        self._clock = clock
        self._random = random
        self._lock = threading.Lock()
        self._last = (-1, 0)

    def new(self, prefix: str) -> str:
        """Return a fresh id, greater than every one this mint made before."""
        with self._lock:
            at_ms = max(self._clock.now_ms(), self._last[0])
            if at_ms == self._last[0]:
                entropy = self._last[1] + 1
                if entropy >> _ENTROPY_BITS:
                    at_ms, entropy = at_ms + 1, self._random(_ENTROPY_BITS - 1)
            else:
                entropy = self._random(_ENTROPY_BITS - 1)  # top bit clear: room to count up
            self._last = (at_ms, entropy)
        return f"{prefix}_{ulid(at_ms, entropy)}"


def timestamp(at_ms: int) -> str:
    """Return RFC 3339 UTC with milliseconds and `Z` (B1.4)."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03d}Z"
