"""What one person and one workbench may use, counted over all processes of a home (T6.5)."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Protocol

from backshop.base.acting import acting_user
from backshop.base.ambient import Clock
from backshop.base.errors import LimitExceeded, Retry, RetryKind
from backshop.base.ids import UserId
from backshop.store import Store

from ..settings.resolution import Config
from .people import People

AT_ONCE = 20  # a process draws a twentieth of a minute's requests at a time
TURN_WAIT_MS = 5000


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


_counted: ContextVar[set[str] | None] = ContextVar("backshop_counted", default=None)


@contextmanager
def one_request() -> Iterator[None]:
    """Let all that the block calls count as one request, of a person and of a workbench (T6.5)."""
    token = _counted.set(set())
    try:
        yield
    finally:
        _counted.reset(token)


@dataclass(slots=True)
class _Permits:
    left: int
    until: float


class Usage(Protocol):
    """Knows what is used now."""

    def turns_of(self, user: UserId) -> int:
        """Return how many turns are being worked on for somebody."""
        ...

    def bytes_of(self, bench_id: str) -> int:
        """Return how much Published of a workbench holds."""
        ...


class LoggedUsage:
    """What is used, as the log and the leases have it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def turns_of(self, user: UserId) -> int:
        """Return how many turns are being worked on for somebody."""
        from backshop.workshop import turns_of  # loaded where turns are limited (S2.4)

        return len(turns_of(self._store, user))

    def bytes_of(self, bench_id: str) -> int:
        """Return how much Published of a workbench holds."""
        from backshop.bench import published_bytes  # loaded where bytes are limited (S2.4)

        return published_bytes(self._store, bench_id)


class Limiter:
    """Refuses what goes beyond a limit. Safe for threads."""

    def __init__(
        self,
        store: Store,
        people: People,
        clock: Clock,
        limits: Limits,
        usage: Usage | None = None,
    ) -> None:
        self._store = store
        self._people = people
        self._clock = clock
        self._limits = limits
        self._usage = usage or LoggedUsage(store)
        self._permits: dict[str, _Permits] = {}
        self._lock = threading.Lock()

    def count(self, user: UserId) -> None:
        """Count a call of somebody's, whatever becomes of it.

        Raises:
            LimitExceeded: `user_limit`, with the name of the setting.
        """
        self._count("team.requests_per_minute", user, self._limits.requests_per_minute)

    def count_about(self, subjects: Collection[str]) -> None:
        """Count a call that somebody may make against the workbenches it is about.

        Raises:
            LimitExceeded: `user_limit`, with the name of the setting.
        """
        most = self._limits.bench_requests_per_minute
        for bench_id in sorted(one for one in subjects if one.startswith("wb_")):
            self._count("team.bench_requests_per_minute", bench_id, most)

    def require_turn(self, user: UserId | None) -> None:
        """Refuse another turn to somebody who has as many running as they may; not to the owner.

        Raises:
            LimitExceeded: `user_limit`, with the name of the setting.
        """
        most = self._limits.turns
        if most and user is not None and self._usage.turns_of(user) >= most:
            raise _refusal("team.turns", f"{most} turns are running", TURN_WAIT_MS)

    def require_room(self, bench_id: str, more_bytes: int) -> None:
        """Refuse so many bytes more in a workbench when that is too much for whoever made it.

        One that is only being made is of whoever asked. What the home's owner made has no limit.

        Raises:
            LimitExceeded: `user_limit`, with the name of the setting.
        """
        most = self._limits.stored_bytes
        if not most:
            return
        grants = [(of, who) for (of, who), one in self._people.state.grants.items() if one.owner]
        owner = next((who for of, who in grants if of == bench_id), None)
        if owner is None and self._store.head(f"bench:{bench_id}") is None:
            owner = acting_user()
        if owner is None:
            return
        theirs = [of for of, who in grants if who == owner and of.startswith("wb_")]
        if sum(map(self._usage.bytes_of, theirs)) + more_bytes > most:
            text = f"more than {most} bytes would be stored"
            raise _refusal("team.stored_bytes", text, None)

    def _count(self, setting: str, about: str, most: int) -> None:
        counted = _counted.get()
        if not most or (counted is not None and about in counted):
            return
        if counted is not None:
            counted.add(about)
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
