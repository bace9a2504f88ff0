"""The bus of a session: who hears about its events, in order, on the dispatching thread (P2.9)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from ..callables import fits, is_deferred
from ..errors import SessionError

T = TypeVar("T")
_LOG = logging.getLogger("backshop.prompts.session.bus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """An event with its place in its session; `seq` is 0 for what is published and not stored."""

    event_id: str
    session_id: str
    seq: int
    at: datetime
    type: str
    v: int
    event: Any
    cause_id: str | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """What a dispatch recorded, and the errors of handlers that heard of it."""

    events: tuple[Envelope, ...] = ()
    errors: tuple[Exception, ...] = ()


Handler = Callable[[Envelope], object]


def _check(handler: Handler) -> None:
    if is_deferred(handler) or not fits(handler, None):
        name = getattr(handler, "__name__", type(handler).__name__)
        raise SessionError(
            f"{name} cannot be called as handler(envelope) and run at once", code="BAD_SUBSCRIBER"
        )


class Bus:
    """Delivers events to handlers; a handler that fails loses nothing but its own work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handlers: tuple[tuple[type, Handler], ...] = ()

    def subscribe(self, event_type: type, handler: Handler) -> Callable[[], None]:
        """Call `handler` with the envelope of each event of this type (`object`: of any).

        Returns a function that ends the subscription.

        Raises:
            SessionError: `BAD_SUBSCRIBER`; delivery is synchronous, an async handler would never
                run.
        """
        _check(handler)
        entry = (event_type, handler)
        with self._lock:
            self._handlers = (*self._handlers, entry)

        def unsubscribe() -> None:
            with self._lock:
                self._handlers = tuple(one for one in self._handlers if one is not entry)

        return unsubscribe

    def deliver(self, envelope: Envelope) -> list[Exception]:
        """Tell everybody who asked; return what their handlers raised."""
        errors = []
        for wanted, handler in self._handlers:
            if not isinstance(envelope.event, wanted):
                continue
            try:
                handler(envelope)
            except Exception as error:  # a subscriber is somebody else's code: P2.9
                _LOG.exception("a subscriber of %s failed", envelope.type)
                errors.append(error)
        return errors
