"""A bar on the terminal for work that takes long (S4.1)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

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
        self._is_there = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw, unless that was just done."""
        now = time.monotonic()
        if what != self._what:
            self._what, self._drawn = what, 0.0
        if now - self._begun < _AFTER_S or now - self._drawn < _EVERY_S:
            return
        self._drawn, self._is_there = now, True
        self._out.write(f"\r\x1b[2K{_drawn(what.replace('_', ' '), done, total)}")
        self._out.flush()

    def clear(self) -> None:
        """Leave the line as it was."""
        if self._is_there:
            self._is_there, self._drawn = False, 0.0
            self._out.write("\r\x1b[2K")
            self._out.flush()

    @contextmanager
    def giving_way(self) -> Iterator[None]:
        """Take the bar away before anybody else writes, and at the end of the block."""
        out, err = (cast(TextIO, _Behind(one, self)) for one in (sys.stdout, sys.stderr))
        try:
            with redirect_stdout(out), redirect_stderr(err):
                yield
        finally:
            self.clear()


def _drawn(what: str, done: int, total: int) -> str:
    """Return the line; work whose end nobody knows has no share of it that is done (S4.10)."""
    if not total:
        return f"{what} {done}…" if done else f"{what}…"
    part = min(done / total, 1.0)
    full = round(part * _WIDTH)
    return f"[{'#' * full}{'-' * (_WIDTH - full)}] {part:4.0%} {what} {done}/{total}"


class _Behind:
    """A stream of the program that a bar gives way to."""

    def __init__(self, stream: TextIO, bar: Bar) -> None:
        self._stream = stream
        self._bar = bar

    def write(self, text: str) -> int:
        if text:
            self._bar.clear()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
