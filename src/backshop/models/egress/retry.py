"""The one retry schedule of the product (M10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from backshop.base.ambient import random_bits
from backshop.base.errors import ErrorInfo, RetryKind
from backshop.base.limits import (
    RATE_LIMIT_CAP_S,
    RATE_LIMIT_FIRST_S,
    RATE_LIMIT_RETRIES,
    RETRY_TOTAL_S,
    TIMEOUT_RETRIES,
    TRANSIENT_DELAYS_S,
)

_JITTER = 0.2
_TRANSIENT = frozenset(("PROVIDER_UNAVAILABLE", "NETWORK_UNAVAILABLE"))


class Cancel(Protocol):
    """Something a person can stop; waiting on it ends at once when they do."""

    @property
    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Wait until somebody asks, at most so long; return whether somebody did."""
        ...


class Cause(StrEnum):
    """Why a call is made again."""

    TRANSIENT = "transient"
    RATE_LIMIT = "rate_limit"


@dataclass(frozen=True, slots=True)
class Wait:
    """The pause before the next attempt, as clients are told (M10.3)."""

    cause: Cause
    attempt: int
    attempts_max: int
    seconds: float

    @property
    def is_announced(self) -> bool:
        """Whether the person hears of it: every rate limit, transient errors from the second on."""
        return self.cause is Cause.RATE_LIMIT or self.attempt >= 2


@dataclass(slots=True)
class Schedule:
    """Counts the attempts of one call; `after` says whether and how long to wait."""

    random: Callable[[int], int] = random_bits
    transient: int = 0
    timeouts: int = 0
    rate_limited: int = 0
    waited_s: float = 0.0
    is_too_late: bool = False
    """Whether the last wait was refused because the caller's deadline comes first."""

    def after(self, error: ErrorInfo, *, budget_s: float | None = None) -> Wait | None:
        """Return the wait before the next attempt, or None: the error is final.

        `budget_s` is what is left of the caller's deadline; a wait beyond it is not taken.
        """
        wait = self._next(error)
        if wait is None or self.waited_s + wait.seconds > RETRY_TOTAL_S:
            return None
        self.is_too_late = budget_s is not None and wait.seconds >= budget_s
        if self.is_too_late:
            return None
        self.waited_s += wait.seconds
        return wait

    def _next(self, error: ErrorInfo) -> Wait | None:
        if error.retry.kind is RetryKind.NO:
            return None
        if error.error_code == "PROVIDER_RATE_LIMITED":
            return self._rate_limit(error)
        if error.reason == "timeout":
            self.timeouts += 1
        if self.timeouts > TIMEOUT_RETRIES:
            return None
        if error.error_code in _TRANSIENT and self.transient < len(TRANSIENT_DELAYS_S):
            self.transient += 1
            seconds = TRANSIENT_DELAYS_S[self.transient - 1] * self._jitter()
            return Wait(Cause.TRANSIENT, self.transient, len(TRANSIENT_DELAYS_S), seconds)
        return None

    def _rate_limit(self, error: ErrorInfo) -> Wait | None:
        if self.rate_limited >= RATE_LIMIT_RETRIES:
            return None
        seconds = min(RATE_LIMIT_FIRST_S * 2**self.rate_limited, RATE_LIMIT_CAP_S)
        if error.reason == "retry_after" and error.retry.after_ms is not None:
            seconds = error.retry.after_ms / 1000
        if seconds > RATE_LIMIT_CAP_S:
            return None
        self.rate_limited += 1
        return Wait(Cause.RATE_LIMIT, self.rate_limited, RATE_LIMIT_RETRIES, seconds)

    def _jitter(self) -> float:
        return 1 + _JITTER * (self.random(16) / 0x8000 - 1)
