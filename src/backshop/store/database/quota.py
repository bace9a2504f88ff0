"""Counts that all processes of a home share, minute by minute (T6.5).

A process draws several at once and spends them by itself, so that not every request is a write.
Losing the rows costs nothing but the count of one minute.
"""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.ambient import Clock

from .engine import Database

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was granted, and how long it and its minute last."""

    granted: int
    lasts_ms: int


class Quotas:
    """Rows beside the log: how much of something was used in a minute of the database's clock."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._swept = 0  # the minute before which nothing is left

    def draw(self, name: str, wanted: int, most: int) -> Drawn:
        """Take up to `wanted`, as far as `most` in this minute allows."""
        with self._database.transaction() as cursor:
            cursor.lock_lease(f"quota {name}")
            now_ms = cursor.now_ms(self._clock.now_ms())
            minute = now_ms // MINUTE_MS
            row = cursor.one("quota", {"name": name, "minute": minute})
            used = 0 if row is None else int(row[0])
            granted = max(0, min(wanted, most - used))
            if granted:
                put = {"name": name, "minute": minute, "used": used + granted}
                cursor.run("quota_put", put)
        if minute > self._swept:
            self._sweep(int(minute))
        return Drawn(granted, int((minute + 1) * MINUTE_MS - now_ms))

    def _sweep(self, minute: int) -> None:
        """Drop the rows of minutes that are over: in a transaction that holds nothing else."""
        with self._database.transaction() as cursor:
            cursor.lock_lease("quota")
            cursor.run("quota_drop", {"minute": minute})
        self._swept = minute
