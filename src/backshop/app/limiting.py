"""What one person and one workbench may use, counted over all processes of a home (T6.5)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields

from backshop.base.ambient import Clock
from backshop.base.errors import LimitExceeded, Retry, RetryKind
from backshop.base.ids import UserId
from backshop.store import Store

from .config import Config
from .people import People

AT_ONCE = 20  # a process draws a twentieth of a minute's requests at a time
TURN_WAIT_MS = 5000
TURNS = frozenset({"WorkshopRunAgent", "WorkshopRegenerate"})
BRINGING = frozenset({"WorkbenchFilesAdd", "WorkbenchFork", "WorkbenchCreateSample", *TURNS})
"""Commands after which more is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be used; 0 is no limit."""

    requests_per_minute: int = 0
    bench_requests_per_minute: int = 0
    turns: int = 0
    stored_bytes: int = 0


def limits_of(config: Config) -> Limits:
    """Return the limits that are set."""
    return Limits(**{one.name: config[f"team.{one.name}"] for one in fields(Limits)})


@dataclass(slots=True)
class _Permits:
    left: int
    until: float


class Limiter:
    """Refuses what goes beyond a limit. Safe for threads."""

    def __init__(
        self,
        store: Store,
        people: People,
        clock: Clock,
        limits: Limits,
        *,
        turns_of: Callable[[UserId], int],
        bytes_of: Callable[[str], int],
    ) -> None:
        self._store = store
        self._people = people
        self._clock = clock
        self._limits = limits
        self._turns_of = turns_of
        self._bytes_of = bytes_of
        self._permits: dict[str, _Permits] = {}
        self._lock = threading.Lock()

    def count(self, user: UserId) -> None:
        """Count a call of somebody's, whatever becomes of it.

        Raises:
            LimitExceeded: `user_limit`, with the name of the setting.
        """
        self._count("team.requests_per_minute", user, self._limits.requests_per_minute)

    def admit(self, command: str, user: UserId, subjects: Collection[str]) -> None:
        """Count a call that somebody may make against the workbenches it is about.

        Raises:
            LimitExceeded: `user_limit`, with the name of the setting.
        """
        limits = self._limits
        for bench_id in sorted(one for one in subjects if one.startswith("wb_")):
            most = limits.bench_requests_per_minute
            self._count("team.bench_requests_per_minute", bench_id, most)
        if limits.turns and command in TURNS and self._turns_of(user) >= limits.turns:
            raise _refusal("team.turns", f"{limits.turns} turns are running", TURN_WAIT_MS)
        if command in BRINGING:
            self.require_room(user)

    def require_room(self, user: UserId) -> None:
        """Refuse somebody whose workbenches hold as much as they may."""
        most = self._limits.stored_bytes
        if not most:
            return
        grants = self._people.state.grants.items()
        owned = (s for (s, who), grant in grants if who == user and grant.owner)
        if sum(self._bytes_of(subject) for subject in owned if subject.startswith("wb_")) >= most:
            raise _refusal("team.stored_bytes", f"{most} bytes are stored", None)

    def _count(self, setting: str, about: str, most: int) -> None:
        if not most:
            return
        with self._lock:
            now = self._clock.monotonic()
            permits = self._permits.get(about)
            if permits is not None and permits.left > 0 and now < permits.until:
                permits.left -= 1
                return
            drawn = self._store.quotas.draw(about, max(1, most // AT_ONCE), most)
            if not drawn.granted:
                raise _refusal(setting, f"more than {most} requests in a minute", drawn.lasts_ms)
            self._permits = {k: v for k, v in self._permits.items() if now < v.until}
            self._permits[about] = _Permits(drawn.granted - 1, now + drawn.lasts_ms / 1000)


def _refusal(setting: str, text: str, wait_ms: int | None) -> LimitExceeded:
    retry = Retry(RetryKind.NO) if wait_ms is None else Retry(RetryKind.LATER, max(1, wait_ms))
    return LimitExceeded(text, reason="user_limit", detail=setting, retry=retry)
