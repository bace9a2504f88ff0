"""A conversation in a real terminal: a person at a pty, Ctrl-C and Ctrl-D included."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.terminal import Terminal

from backshop.app import Backshop

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


@pytest.mark.rule("S4.17")
def test_a_person_is_asked_about_a_workbench_by_its_name(tmp_path: Path):
    home = tmp_path / "home"
    with Backshop.open(home) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Talk"})["workbench_id"]

    terminal = Terminal(
        sys.executable, "-m", "backshop.cli", "bench", "delete", bench[:9], "--home", str(home)
    )
    asked = terminal.until("[y/N]")
    terminal.type("n\n")
    terminal.until("Nothing was done.")

    assert f"Delete Talk ({bench})?" in asked
