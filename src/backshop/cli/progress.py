"""A bar on the terminal for work that takes long (S4.1)."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_AFTER_S = 0.5  # shorter work shows nothing
_EVERY_S = 0.1
_WIDTH = 30


class Bar:
    """Draws how far work has come on one line of the error stream, and takes it away again."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw, unless that was just done."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._drawn = what, 0.0
        if now - self._begun < _AFTER_S or now - self._drawn < _EVERY_S:
            return
        self._drawn = now
        part = min(done / total, 1.0) if total else 0.0
        full = round(part * _WIDTH)
        bar = "#" * full + "-" * (_WIDTH - full)
        self._out.write(f"\r\x1b[2K[{bar}] {part:4.0%} {what} {done}/{total}")
        self._out.flush()

    def clear(self) -> None:
        """Leave the line as it was."""
        if self._drawn:
            self._out.write("\r\x1b[2K")
            self._out.flush()
