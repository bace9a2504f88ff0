"""Short-lived notifications: nobody stores them, and who joins late re-reads state (W4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Publish = Callable[[str, str, Mapping[str, Any]], None]
"""Workbench, name of the signal, what it carries."""

DELTA_S = 0.05  # W5.8: at most one delta in this time
KEEP_S = 2.0  # W5.9: text is kept at least so often
KEEP_BYTES = 4096


def silent(bench_id: str, name: str, payload: Mapping[str, Any]) -> None:
    """Nobody listens."""


class AnswerStream:
    """The text of an answer while it comes: sent in coalesced deltas, kept in larger pieces.

    The deltas joined are exactly the text; `keep` gets every piece once, in order.
    """

    def __init__(
        self,
        *,
        send: Callable[[str, int], None],
        keep: Callable[[str], None],
        monotonic: Callable[[], float],
    ) -> None:
        self._send = send
        self._keep = keep
        self._monotonic = monotonic
        self._unsent: list[str] = []
        self._unkept: list[str] = []
        self._unkept_bytes = 0
        self._sent_at: float | None = None
        self._kept_at: float | None = None
        self._seq = 0
        self.text = ""

    def add(self, piece: str) -> None:
        """Take a piece of text; it is sent and kept when it is time."""
        if not piece:
            return
        self.text += piece
        self._unsent.append(piece)
        self._unkept.append(piece)
        self._unkept_bytes += len(piece.encode(errors="replace"))
        now = self._monotonic()
        if self._sent_at is None or now - self._sent_at >= DELTA_S:
            self._flush(now)
        is_time = self._kept_at is None or now - self._kept_at >= KEEP_S
        if is_time or self._unkept_bytes >= KEEP_BYTES:
            self._store(now)

    def close(self) -> None:
        """Send what is left; keeping it is the final record's part."""
        self._flush(self._monotonic())

    def _flush(self, now: float) -> None:
        if self._unsent:
            delta, self._unsent = "".join(self._unsent), []
            self._sent_at = now
            self._send(delta, self._seq)
            self._seq += 1

    def _store(self, now: float) -> None:
        piece, self._unkept, self._unkept_bytes = "".join(self._unkept), [], 0
        self._kept_at = now
        self._keep(piece)
