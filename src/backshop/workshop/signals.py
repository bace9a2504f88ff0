"""Short-lived notifications: nobody stores them, and who joins late re-reads state (W4.1)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from backshop.base.errors import BackshopError

Publish = Callable[[str, str, Mapping[str, Any]], None]
"""Workbench, name of the signal, what it carries."""

DELTA_S = 0.05  # W5.8: at most one delta in this time
KEEP_S = 2.0  # W5.9: text is kept at least so often
KEEP_BYTES = 4096
KEEP_PROVISIONAL_S = 5.0  # where a call may still follow: most words on the way are shorter
_LOG = logging.getLogger(__name__)


def silent(bench_id: str, name: str, payload: Mapping[str, Any]) -> None:
    """Nobody listens."""


Later = Callable[[float, Callable[[], None]], None]
"""Seconds, and what is to be done then, on another thread."""


def later(seconds: float, do: Callable[[], None]) -> None:
    """Do something after a while."""
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()


class AnswerStream:
    """The text of an answer while it comes: sent in coalesced deltas, kept in larger pieces.

    The deltas joined are exactly the text; `keep` gets every piece once, in order. What waits is
    sent and kept in time also when nothing more comes. Text that may turn out to be no answer can
    be taken back: `withdraw` undoes what was kept of it, and the next delta is the first again
    (W5.8, W5.9).
    """

    def __init__(
        self,
        *,
        send: Callable[[str, int], None],
        keep: Callable[[str], None],
        monotonic: Callable[[], float],
        later: Later = later,
        withdraw: Callable[[], None] | None = None,
    ) -> None:
        self._withdraw = withdraw
        self._keep_s = KEEP_S if withdraw is None else KEEP_PROVISIONAL_S
        self._has_kept = False
        self._send = send
        self._kept = keep
        self._monotonic = monotonic
        self._later = later
        self._lock = threading.RLock()
        self._unsent: list[str] = []
        self._unkept: list[str] = []
        self._unkept_bytes = 0
        self._sent_at: float | None = None
        self._kept_at: float | None = None
        self._seq = 0
        self._due: float | None = None
        """When to come back for what waits."""
        self._is_closed = False
        self.text = ""

    def add(self, piece: str) -> None:
        """Take a piece of text; it is sent and kept when it is time."""
        if not piece:
            return
        with self._lock:
            if self._kept_at is None:  # a short answer is kept once, by its final record
                self._kept_at = self._monotonic()
            self.text += piece
            self._unsent.append(piece)
            self._unkept.append(piece)
            self._unkept_bytes += len(piece.encode(errors="replace"))
            self._look()

    def take_back(self) -> bool:
        """Begin anew: what came was no answer. False where it counts already."""
        with self._lock:
            if self._withdraw is None:
                return not self.text
            if self._has_kept:
                self._withdraw()
            self.text, self._seq, self._has_kept = "", 0, False
            self._unsent.clear()
            self._unkept.clear()
            self._unkept_bytes = 0
            self._kept_at = None
            return True

    def keep(self) -> None:
        """Send and keep everything so far: it counts, whatever comes next."""
        with self._lock:
            self._withdraw = None
            now = self._monotonic()
            self._flush(now)
            if self._unkept:
                self._store(now)

    def close(self) -> None:
        """Send what is left; keeping it is the final record's part."""
        with self._lock:
            self._is_closed = True
            self._flush(self._monotonic())

    def _look(self) -> None:
        """Send and keep what is due; come back for what is not."""
        now = self._monotonic()
        if self._sent_at is None or now - self._sent_at >= DELTA_S:
            self._flush(now)
        is_time = self._kept_at is not None and now - self._kept_at >= self._keep_s
        if self._unkept and (is_time or self._unkept_bytes >= KEEP_BYTES):
            self._store(now)
        if not self._unsent and not self._unkept:
            return
        kept_ago = now - (now if self._kept_at is None else self._kept_at)
        wait_s = DELTA_S if self._unsent else self._keep_s - kept_ago
        if self._due is None or now + wait_s < self._due:
            self._due = now + wait_s
            self._later(wait_s, self._come_back)

    def _come_back(self) -> None:
        with self._lock:
            self._due = None
            if self._is_closed:
                return
            try:
                self._look()
            except BackshopError:  # the turn is over or the store away: its own thread finds out
                _LOG.warning("an answer could not be kept while it came", exc_info=True)

    def _flush(self, now: float) -> None:
        if self._unsent:
            delta, self._unsent = "".join(self._unsent), []
            self._sent_at = now
            self._send(delta, self._seq)
            self._seq += 1

    def _store(self, now: float) -> None:
        piece, self._unkept, self._unkept_bytes = "".join(self._unkept), [], 0
        self._kept_at = now
        self._has_kept = True
        self._kept(piece)
