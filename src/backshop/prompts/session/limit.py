"""How much a run may use, and the wish to stop it (P2.18)."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from backshop.base.limits import CALLS_PER_TURN_MAX, TOOL_TIMEOUT_S, TURNS_MAX

from ..errors import SessionError

DEADLINE_LEAST_S = 1.0


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of a line of work; None is no limit. `deadline` is timezone-aware."""

    deadline: datetime | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    max_total_tokens: int | None = None
    max_turns: int = TURNS_MAX
    max_calls_per_turn: int = CALLS_PER_TURN_MAX
    tool_timeout_s: float = TOOL_TIMEOUT_S

    def narrowed(self, now: datetime, **changes: Any) -> RunLimits:
        """Return the limits with these made tighter; a looser value changes nothing."""
        known = {one.name for one in fields(self)}
        tighter = {}
        for name, value in changes.items():
            if name not in known:
                raise SessionError(f"{name!r} is no limit", code="BAD_LIMIT")
            _check_limit(name, value, now)
            current = getattr(self, name)
            if value is not None:
                tighter[name] = value if current is None else min(current, value)
        return replace(self, **tighter)


def _check_limit(name: str, value: Any, now: datetime) -> None:
    if value is None:
        return
    if name == "deadline":
        aware = isinstance(value, datetime) and value.tzinfo is not None
        if not aware or value - now <= timedelta(seconds=DEADLINE_LEAST_S):
            raise SessionError(
                "a deadline has a time zone and lies more than a second ahead", code="BAD_LIMIT"
            )
    elif isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise SessionError(f"{name} is a number above 0", code="BAD_LIMIT")


class CancelToken:
    """Asks a run to stop at the next safe place; a child's token also hears its parent's."""

    def __init__(self, parent: CancelToken | None = None) -> None:
        self._parent = parent
        self._changed: threading.Condition = parent._changed if parent else threading.Condition()
        self._asked = False

    def request(self) -> None:
        """Ask to stop; asking twice is fine."""
        with self._changed:
            self._asked = True
            self._changed.notify_all()

    @property
    def requested(self) -> bool:
        """Whether somebody asked."""
        return self._asked or (self._parent is not None and self._parent.requested)

    def wait(self, timeout_s: float) -> bool:
        """Wait until somebody asks, at most so long; return whether somebody did."""
        with self._changed:
            return self._changed.wait_for(lambda: self.requested, timeout_s)

    def reset(self) -> None:
        """Forget an earlier wish, before a new run begins."""
        with self._changed:
            self._asked = False
