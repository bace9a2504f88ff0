"""Slows down whoever guesses tokens: wrong ones are counted by address, and in all (T6.4)."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict, deque

from backshop.base.ambient import Clock
from backshop.base.errors import LimitExceeded, Retry, RetryKind

MINUTE_S = 60.0
PER_ADDRESS = 10
IN_ALL = 200  # from many addresses at once
ADDRESSES_MAX = 10_000
KNOWN_MAX = 1000


class TokenThrottle:
    """Wrong tokens of the last minute, for every door of a server.

    While there were too many even a right one waits, so that nothing is learnt from trying on. What
    was let in before does not: whoever guesses must not lock out the people beside them.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: dict[str, deque[float]] = {}
        self._all: deque[float] = deque()
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def check(self, address: str, token: str) -> None:
        """Refuse a token from where, or when, too many wrong ones came.

        Raises:
            LimitExceeded: `too_many_guesses`, with the time to wait.
        """
        with self._lock:
            now = self._clock.monotonic()
            if _digest(token) in self._known:
                return
            for wrong, most in ((self._of(address, now), PER_ADDRESS), (self._all, IN_ALL)):
                _forget(wrong, now)
                if len(wrong) >= most:
                    wait_ms = max(1, int((wrong[0] + MINUTE_S - now) * 1000))
                    raise LimitExceeded(
                        "too many wrong tokens",
                        reason="too_many_guesses",
                        retry=Retry(RetryKind.LATER, wait_ms),
                    )

    def note_wrong(self, address: str) -> None:
        """Count a wrong token."""
        with self._lock:
            now = self._clock.monotonic()
            self._wrong.setdefault(address, self._of(address, now)).append(now)
            self._all.append(now)
            while len(self._wrong) > ADDRESSES_MAX:
                self._wrong.pop(next(iter(self._wrong)))

    def note_right(self, token: str) -> None:
        """Remember a token that was let in; only its hash is kept."""
        with self._lock:
            self._known[_digest(token)] = None
            self._known.move_to_end(_digest(token))
            while len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)

    def _of(self, address: str, now: float) -> deque[float]:
        found = self._wrong.get(address)
        if found is None:
            return deque()
        _forget(found, now)
        if not found:
            del self._wrong[address]
        return found


def wait_s(error: LimitExceeded) -> int:
    """Return the whole seconds a refusal says to wait."""
    return -(-(error.retry.after_ms or 1000) // 1000)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _forget(wrong: deque[float], now: float) -> None:
    while wrong and wrong[0] <= now - MINUTE_S:
        wrong.popleft()
