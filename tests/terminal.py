"""A program at a pty: what a person would see, and what they type."""

from __future__ import annotations

import os
import pty
import select
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WAIT_S = 60


class Terminal:
    """A program at a pty."""

    def __init__(self, *command: str, **more: str) -> None:
        self.seen = ""
        self._place = 0
        self.pid, self._line = pty.fork()
        if self.pid == 0:
            path = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
            os.execve(command[0], list(command), {**path, **more})

    def until(self, text: str) -> str:
        """Read until a text comes; return what came with it."""
        ends = time.monotonic() + WAIT_S
        while text not in self.seen[self._place :]:
            left = ends - time.monotonic()
            assert left > 0, self.seen
            if select.select([self._line], [], [], left)[0]:
                self.seen += os.read(self._line, 65_536).decode(errors="replace")
        start = self._place
        self._place = self.seen.index(text, start) + len(text)
        return self.seen[start : self._place]

    def type(self, text: str) -> None:
        """Type, control characters as they are."""
        os.write(self._line, text.encode())

    def status(self) -> int:
        """Wait for the end."""
        status = os.waitpid(self.pid, 0)[1]
        os.close(self._line)
        return os.waitstatus_to_exitcode(status)
