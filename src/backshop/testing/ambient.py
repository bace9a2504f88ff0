"""A clock that moves only when told."""

from __future__ import annotations

START_MS = 1_760_000_000_000


class FixedClock:
    """A clock for tests. It can also go back, as real ones do."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Return the time it was set to."""
        return self._now_ms

    def monotonic(self) -> float:
        """Return the same time in seconds."""
        return self._now_ms / 1000

    def move(self, delta_ms: int) -> None:
        """Move forwards or back."""
        self._now_ms += delta_ms
