"""A conversation in a real terminal: a person at a pty, Ctrl-C and Ctrl-D included."""

from __future__ import annotations

import os
import pty
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backshop.app import Backshop

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 60
SLOW = """
import sys
from backshop.app import Backshop
from backshop.cli import main

opened = Backshop.open
STEPS = [
    {"when": {"purpose": "research", "contains": "slowly"}, "times": 0,
     "respond": {"text": "x", "delay_ms": 600_000}},
    {"when": {"purpose": "research"}, "times": 0, "respond": {"text": "Nothing there."}},
    {"when": {"purpose": "plan"}, "times": 0, "respond": {"text": "## Items\\nnone"}},
    {"when": {"purpose": "summary"}, "times": 0, "respond": {"text": "All is well."}},
]

def with_script(*args, **more):
    shop = opened(*args, **more)
    shop.models.play("slow", STEPS)
    return shop

Backshop.open = with_script
sys.exit(main(sys.argv[1:]))
"""


class Terminal:
    """A program at a pty."""

    def __init__(self, *command: str) -> None:
        self.seen = ""
        self._place = 0
        self.pid, self._line = pty.fork()
        if self.pid == 0:
            path = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
            os.execve(command[0], list(command), path)

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


@pytest.fixture
def chat(tmp_path: Path) -> Callable[[], Terminal]:
    home = tmp_path / "home"
    with Backshop.open(home) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Talk"})["workbench_id"]
        (tmp_path / "a.txt").write_text("a")
        files = {"workbench_id": bench, "source_paths": [str(tmp_path / "a.txt")]}
        shop.call("WorkbenchFilesAdd", files)
        shop.models.play("slow", [])
        shop.call("WorkshopSwitchModel", {"workbench_id": bench, "model_id": "scripted:slow"})
    return lambda: Terminal(sys.executable, "-c", SLOW, "chat", "Talk", "--home", str(home))


@pytest.mark.rule("W5.11", "W3.2", "S4.2", "M12.1")
@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_stops_the_turn_and_the_talk_goes_on(chat, times):
    terminal = chat()
    terminal.until("> ")
    terminal.type("slowly, please\n")
    terminal.until("Analyzing files")
    began = time.monotonic()
    terminal.type("\x03" * times)
    told = terminal.until("> ")
    took = time.monotonic() - began
    terminal.type("and now?\n")
    answer = terminal.until("> ")
    terminal.type("\x04")

    assert "Stopped.\r\n\r\n| No file was changed." in told
    assert took < 30  # the model would have taken ten minutes
    assert "All is well." in answer
    assert "Traceback" not in terminal.seen
    assert terminal.status() == 0
