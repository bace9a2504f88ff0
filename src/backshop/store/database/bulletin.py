"""News between processes on PostgreSQL: `LISTEN` and `NOTIFY` (T6.3).

Only the wish to look travels, with the position of what is new: facts are read from the log, so
nothing is lost when a connection drops. Signals (W4.1) travel whole; who is away misses them.
"""

from __future__ import annotations

import json
import logging
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

NEWS, SIGNALS = "backshop_news", "backshop_signals"
PIECE_CHARS = 6000  # PostgreSQL carries less than 8,000 bytes at once
PARTIAL_MAX = 64  # signals whose pieces are still on their way
_LOOK_S = 0.25  # how soon the end is noticed
_AGAIN_S = 0.5  # before a lost connection is made again
_LOG = logging.getLogger(__name__)

Heard = Callable[[int], None]
Signal = Callable[[dict[str, Any]], None]


class Bulletin:
    """Hears what other processes commit and signal; starts with the first who wants to hear."""

    def __init__(
        self,
        connect: Callable[[], Any],
        errors: tuple[type[BaseException], ...],
        heard: Heard,
    ) -> None:
        self._connect = connect
        self._errors = errors
        self._heard = heard
        self._signalled: Signal | None = None
        self._name = uuid.uuid4().hex
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()
        self._sending = threading.Lock()
        self._outgoing: Any = None
        self._pieces: dict[str, dict[int, str]] = {}
        self.is_listening = False
        """Whether news comes by itself now; if not, whoever waits has to look."""

    def listen(self, signalled: Signal | None = None) -> None:
        """Begin to hear, once; `signalled` gets the signals of other processes."""
        with self._guard:
            self._signalled = signalled or self._signalled
            if self._thread is None and not self._ends.is_set():
                self._thread = threading.Thread(
                    target=self._follow, name="backshop-bulletin", daemon=True
                )
                self._thread.start()

    def send(self, signal: dict[str, Any]) -> None:
        """Tell other processes something short-lived; what cannot be sent is forgotten."""
        text = json.dumps(signal)  # ASCII: one character is one byte
        pieces = [text[n : n + PIECE_CHARS] for n in range(0, len(text), PIECE_CHARS)]
        key = uuid.uuid4().hex if len(pieces) > 1 else ""
        with self._sending, suppress(*self._errors):
            for n, piece in enumerate(pieces):
                self._notify(f"{self._name} {key} {n} {len(pieces)} {piece}")

    def _notify(self, payload: str) -> None:
        """Send one piece; a connection that was lost since the last one is replaced once."""
        for _ in range(2):
            try:
                if self._outgoing is None:
                    self._outgoing = self._connect()
                self._outgoing.execute("SELECT pg_notify(%s, %s)", (SIGNALS, payload))
            except self._errors:
                self._hang_up()
                continue
            return

    def _hang_up(self) -> None:
        if self._outgoing is not None:
            with suppress(*self._errors):
                self._outgoing.close()
            self._outgoing = None

    def close(self) -> None:
        """Hear and send nothing more."""
        self._ends.set()
        if self._thread is not None:
            self._thread.join(_LOOK_S * 8)
        with self._sending:
            self._hang_up()

    # ------------------------------------------------------------ hearing

    def _follow(self) -> None:
        while not self._ends.is_set():
            try:
                self._hear()
            except Exception as error:  # a worker's loop: meanwhile whoever waits looks itself
                _LOG.info("news of other processes do not come by themselves: %s", error)
            finally:
                self.is_listening = False
            self._ends.wait(_AGAIN_S)

    def _hear(self) -> None:
        with self._connect() as connection:
            for channel in (NEWS, SIGNALS):
                connection.execute(f"LISTEN {channel}")
            self.is_listening = True
            self._heard(0)  # something may have come while nobody listened
            while not self._ends.is_set():
                for note in connection.notifies(timeout=_LOOK_S):
                    if note.channel == NEWS:
                        self._heard(int(note.payload))
                    else:
                        self._take(note.payload)

    def _take(self, payload: str) -> None:
        sender, key, number, count, piece = payload.split(" ", 4)
        if sender == self._name or self._signalled is None:
            return
        if key:
            parts = self._pieces.setdefault(key, {})
            parts[int(number)] = piece
            if len(parts) < int(count):
                while len(self._pieces) > PARTIAL_MAX:
                    self._pieces.pop(next(iter(self._pieces)))
                return
            del self._pieces[key]
            piece = "".join(parts[n] for n in range(int(count)))
        self._signalled(json.loads(piece))
