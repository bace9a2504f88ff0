"""A turn of the built-in agent with six items; children of the crash harness tell it.

`kill` in the folder says before which durable write the child kills itself: `append 3`, the third
append to the log, `batch 3`, the third that holds a batch of the Draft, or `file 3`, the third step
that makes a file or folder last. `url` says where
the database is when it is a server.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.workshop.conftest import calls, plan, says, write

from backshop.app import Backshop
from backshop.store.log import append
from backshop.workshop import signals
from backshop.workshop.signals import AnswerStream

Say = Callable[[str], None]
MODEL = {"model.default": "scripted:story"}
TABLE = "rows\nend\n"
ITEMS = 6
DONE = {
    "table.txt": "rows\none\ntwo\nthree\nfour\nfive\nend\n",
    "new.txt": "new, then newer\n",
    "big.txt": "x" * 90_000,  # more than fits into the database: a file is written first
}
ANSWER = "I changed table.txt, new.txt and big.txt."


def row(text: str) -> tuple[str, dict[str, Any]]:
    """Return a call that adds a row: made twice, it would show."""
    edit = {"search": "end\n", "replace": f"{text}\nend\n"}
    return "edit_text_file", {"path": "table.txt", "edits": [edit]}


def newer() -> tuple[str, dict[str, Any]]:
    """Return a call that changes what an earlier item made."""
    edit = {"search": "new\n", "replace": "new, then newer\n"}
    return "edit_text_file", {"path": "new.txt", "edits": [edit]}


SCRIPT = [
    calls("research", 1, ("list_files", {})),
    says("research", "A table."),
    says("plan", plan("First row", "Two rows", "A file", "A large file", "More", "The last row")),
    calls("implement", 1, row("one"), item=1),
    calls("implement", 1, row("two"), item=2),
    calls("implement", 2, row("three"), item=2),
    calls("implement", 1, write("new.txt", "new\n"), item=3),
    calls("implement", 1, write("big.txt", DONE["big.txt"]), item=4),
    calls("implement", 1, row("four"), newer(), item=5),
    calls("implement", 1, row("five"), item=6),
    says("implement", "Done."),
    {
        "when": {"purpose": "summary"},
        "times": 0,
        "respond": {"deltas": ["I changed table.txt, ", "new.txt and big.txt."]},
    },
]


DIRECT = [
    calls("work", 1, row("one")),
    calls("work", 2, row("two")),
    says("work", "Two rows."),
]
"""The same by direct work, told where the folder has a file `direct`."""
DIRECTLY_DONE = {"table.txt": "rows\none\ntwo\nend\n"}


def settings(folder: Path) -> dict[str, str]:
    """Return what the story's home is opened with."""
    url = folder / "url"
    return MODEL | ({"database_url": url.read_text()} if url.exists() else {})


def start(folder: Path) -> None:
    """Make the home, a bench with a table, and a message."""
    with Backshop.open(folder / "home", settings=settings(folder)) as shop:
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
    shop = Backshop.open(folder / "home", settings=settings(folder))
    shop.models.play("story", DIRECT if (folder / "direct").exists() else SCRIPT)
    return shop, bench, message


def warm(folder: Path) -> None:
    """Tell the story once, so that everything it loads on first use is loaded."""
    start(folder)
    shop, bench, message = opened(folder)
    with shop:
        shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})


def stream(folder: Path, say: Say) -> None:
    """Run the turn, and be killed while its answer comes."""
    shop, bench, message = opened(folder)
    original = AnswerStream.add

    def add(self: AnswerStream, piece: str) -> None:
        if self.text:
            os.kill(os.getpid(), signal.SIGKILL)
        original(self, piece)

    AnswerStream.add = add  # type: ignore[method-assign]  # the child ends here
    signals.KEEP_S = 0.0  # as if two seconds had passed since the first piece
    with shop:
        shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
    say("not killed")


LASTING = ("fsync", "rename", "replace", "link", "unlink", "mkdir", "rmdir")


def _has_batch(cursor: Any, ready: append.Ready) -> bool:
    return any(event.kind == "draft.batch_applied" for part in ready.events for event in part)


def run(folder: Path, say: Say) -> None:
    """Run the turn; say how many durable writes of each sort it made, of all threads together."""
    kill = (folder / "kill").read_text().split() if (folder / "kill").exists() else ["", "0"]
    counts = {"append": 0, "batch": 0, "file": 0}
    guard = threading.Lock()

    def counted(sort: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def write(*args: Any, **more: Any) -> Any:
            with guard:
                counts[sort] += 1
                counts["batch"] += sort == "append" and _has_batch(*args)
                if kill in [[sort, str(counts[sort])], ["batch", str(counts["batch"])]]:
                    os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **more)

        return write

    shop, bench, message = opened(folder)
    append.commit = counted("append", append.commit)  # the child is killed or ends soon
    for name in LASTING:
        setattr(os, name, counted("file", getattr(os, name)))
    with shop:
        done = shop.call("WorkshopRunAgent", {"workbench_id": bench, "message_id": message})
    say(f"{done['status']} {counts['append']} {counts['file']}")
