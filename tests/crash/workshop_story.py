"""A turn of the built-in agent with several items; children of the crash harness tell it.

`kill` in the folder says before which append the child kills itself.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.workshop.conftest import calls, plan, says, write

from backshop.app import Backshop
from backshop.store import log

Say = Callable[[str], None]
SETTINGS = {"model.default": "scripted:story"}
TABLE = "rows\nend\n"
DONE = {"table.txt": "rows\none\ntwo\nthree\nend\n", "new.txt": "new\n"}


def row(text: str) -> tuple[str, dict[str, Any]]:
    """Return a call that adds a row: made twice, it would show."""
    edit = {"search": "end\n", "replace": f"{text}\nend\n"}
    return "edit_text_file", {"path": "table.txt", "edits": [edit]}


SCRIPT = [
    calls("research", 1, ("list_files", {})),
    says("research", "A table."),
    says("plan", plan("First row", "Two rows", "A file")),
    calls("implement", 1, row("one"), item=1),
    calls("implement", 1, row("two"), item=2),
    calls("implement", 2, row("three"), item=2),
    calls("implement", 1, write("new.txt", "new\n"), item=3),
    says("implement", "Done."),
    {
        "when": {"purpose": "summary"},
        "times": 0,
        "respond": {"deltas": ["I changed ", "table.txt and new.txt."]},
    },
]


def start(folder: Path) -> None:
    """Make the home, a bench with a table, and a message."""
    with Backshop.open(folder / "home", settings=SETTINGS) as shop:
        bench = shop.call("WorkbenchCreate", {"name": "Story"})["workbench_id"]
        (folder / "table.txt").write_text(TABLE)
        paths = {"workbench_id": bench, "source_paths": [str(folder / "table.txt")]}
        shop.call("WorkbenchFilesAdd", paths)
        sent = {"workbench_id": bench, "text": "Add rows and a file"}
        message = shop.call("WorkshopSendUserMessage", sent)["message_id"]
    (folder / "ids").write_text(f"{bench} {message}")


def opened(folder: Path) -> tuple[Backshop, str, str]:
    """Open the story's home with its model; the bench and the message."""
    bench, message = (folder / "ids").read_text().split()
    shop = Backshop.open(folder / "home", settings=SETTINGS)
    shop.models.play("story", SCRIPT)
    return shop, bench, message


def run(folder: Path, say: Say) -> None:
    """Run the turn; say how many appends it made."""
    at = int((folder / "kill").read_text()) if (folder / "kill").exists() else 0
    count = [0]
    original = log.append

    def counting(*args: Any) -> Any:
        count[0] += 1
        if count[0] == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*args)

    shop, bench, message = opened(folder)
    log.append = counting  # type: ignore[assignment]  # the child is killed or ends soon
    with shop:
        done = shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
    say(f"{done['status']} {count[0]}")
