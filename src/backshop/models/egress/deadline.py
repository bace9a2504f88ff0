"""How long a call may take, and the wish to stop it (M8.7, M12.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from backshop.base.ambient import Clock
from backshop.base.limits import (
    CALL_S,
    CONNECT_TIMEOUT_S,
    FIRST_EVENT_LOCAL_S,
    FIRST_EVENT_S,
    IDLE_S,
)

from ..errors import Canceled, NetworkUnavailable, ProviderUnavailable
from .retry import Cancel

_SLICE_S = 0.1  # how soon a cancellation is noticed; M12.1 allows 1 s


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Seconds a call may take, as a whole and in its parts."""

    connect_s: float = CONNECT_TIMEOUT_S
    first_event_s: float = FIRST_EVENT_S
    first_event_local_s: float = FIRST_EVENT_LOCAL_S
    """The same for a server on this machine, which reads a long prompt slowly."""
    idle_s: float = IDLE_S
    call_s: float = CALL_S


class Patience(Protocol):
    """Who says when waiting ends."""

    def connecting(self) -> None:
        """Raise when a connection is waited for no longer."""
        ...

    def reading(self) -> None:
        """Raise when an answer is waited for no longer."""
        ...

    def pause(self) -> float:
        """Return how long one wait may be before asking again."""
        ...


class Watch:
    """The limits of one call, counted from its start."""

    def __init__(self, clock: Clock, cancel: Cancel, limits: CallLimits) -> None:
        self._clock = clock
        self._cancel = cancel
        self._limits = limits
        self._start = self._last = clock.monotonic()
        self._events = 0

    def progress(self) -> None:
        """Note that an event arrived."""
        self._events += 1
        self._last = self._clock.monotonic()

    def connecting(self) -> None:
        """Raise when cancelled or when connecting takes too long."""
        self._stop_if_cancelled()
        if self._clock.monotonic() - self._start >= self._limits.connect_s:
            raise NetworkUnavailable("connecting took too long", reason="connect_timeout")

    def reading(self) -> None:
        """Raise when cancelled, or when the answer does not come, stalls, or never ends."""
        self._stop_if_cancelled()
        now = self._clock.monotonic()
        if now - self._start >= self._limits.call_s:
            raise ProviderUnavailable("the answer took too long", reason="timeout")
        patience = self._limits.idle_s if self._events else self._limits.first_event_s
        if now - self._last >= patience:
            raise ProviderUnavailable("the provider stopped answering", reason="timeout")

    def pause(self) -> float:
        """Return how long one wait may be before looking again."""
        return _SLICE_S

    def _stop_if_cancelled(self) -> None:
        if self._cancel.requested:
            raise Canceled("the call was cancelled")
