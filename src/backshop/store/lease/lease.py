"""Run leases: at most one active agent run per bench, judged by the database's clock (B3.8).

A holder whose process is gone, as far as this machine can tell, holds nothing any more.
"""

from __future__ import annotations

from typing import Any

from backshop.base.ambient import Clock

from ..database.engine import Database
from ..log.event import check_stream
from .process import is_dead


class Leases:
    """Lease rows beside the log. Losing them costs time, never facts (T1.5)."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def take(self, stream: str, owner: str, duration_s: float) -> bool:
        """Take or renew the lease; False if somebody else holds it."""
        check_stream(stream)
        with self._database.transaction() as cursor:
            cursor.lock_lease(stream)
            now_ms = cursor.now_ms(self._clock.now_ms())
            row = cursor.one("lease", {"stream": stream})
            if row is not None and row[0] != owner and _is_held(row, now_ms):
                return False
            expires = now_ms + int(duration_s * 1000)
            cursor.run("lease_put", {"stream": stream, "owner": owner, "expires_ms": expires})
        return True

    def pass_on(self, stream: str, owner: str, to: str, duration_s: float) -> bool:
        """Let `to` hold what `owner` held, or renew it for the same one.

        False if it is not the owner's any more. Unlike `take` this never gives a lease to somebody
        who lost it: of several that were offered the same one, a single one gets it.
        """
        with self._database.transaction() as cursor:
            cursor.lock_lease(check_stream(stream))
            row = cursor.one("lease", {"stream": stream})
            if row is None or row[0] != owner:
                return False
            expires = cursor.now_ms(self._clock.now_ms()) + int(duration_s * 1000)
            cursor.run("lease_put", {"stream": stream, "owner": to, "expires_ms": expires})
        return True

    def run_out(self, since_s: float) -> list[str]:
        """Return the streams whose holder gave no sign since the lease ran out so long ago."""
        with self._database.reader() as cursor:
            before_ms = cursor.now_ms(self._clock.now_ms()) - int(since_s * 1000)
            return [str(row[0]) for row in cursor.all("leases_run_out", {"before": before_ms})]

    def held(self) -> list[str]:
        """Return the streams whose lease somebody holds."""
        with self._database.reader() as cursor:
            now_ms = cursor.now_ms(self._clock.now_ms())
            rows = cursor.all("leases_held", {"now_ms": now_ms})
        return [str(stream) for stream, owner in rows if not is_dead(str(owner))]

    def drop(self, stream: str, owner: str) -> None:
        """Give the lease back; nothing happens if it is not held."""
        with self._database.transaction() as cursor:
            cursor.run("lease_drop", {"name": stream, "owner": owner})

    def end(self, stream: str, owner: str) -> None:
        """Let the lease run out now: anybody may take it, and `run_out` still tells of the work."""
        with self._database.transaction() as cursor:
            cursor.lock_lease(check_stream(stream))
            ended_ms = cursor.now_ms(self._clock.now_ms()) - 1
            row = cursor.one("lease", {"stream": stream})
            if row is not None and row[1] > ended_ms:  # when it ran out by itself stays known
                cursor.run("lease_end", {"name": stream, "owner": owner, "ended_ms": ended_ms})

    def forget(self, stream: str) -> None:
        """Let nothing tell of the work any more; a lease that somebody holds stays theirs."""
        with self._database.transaction() as cursor:
            cursor.lock_lease(check_stream(stream))
            now_ms = cursor.now_ms(self._clock.now_ms())
            cursor.run("lease_forget", {"name": stream, "now_ms": now_ms})

    def end_if_dead(self, stream: str) -> None:
        """Let the lease of a process that is gone run out now, so that the work is found."""
        with self._database.reader() as cursor:
            row = cursor.one("lease", {"stream": stream})
        if row is not None and is_dead(str(row[0])):
            self.end(stream, str(row[0]))

    def holder(self, stream: str) -> str | None:
        """Return who holds the lease now, or None; a process that is gone holds none."""
        with self._database.reader() as cursor:
            row = cursor.one("lease", {"stream": stream})
            if row is None or not _is_held(row, cursor.now_ms(self._clock.now_ms())):
                return None
        return str(row[0])


def _is_held(row: tuple[Any, ...], now_ms: int) -> bool:
    return bool(row[1] >= now_ms) and not is_dead(str(row[0]))
