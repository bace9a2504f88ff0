"""What the model tests get."""

from __future__ import annotations

import pytest


class StillClock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.ms = 1_800_000_000_000

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000

    def advance(self, seconds: float) -> None:
        self.ms += int(seconds * 1000)


@pytest.fixture
def clock() -> StillClock:
    return StillClock()
