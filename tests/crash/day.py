"""A day on a workbench: messages, Drafts, publishing, rewinding, restoring, each one said."""

from __future__ import annotations

from pathlib import Path

from tests.crash.bench_scenarios import Bench, Say, warm

__all__ = ["live", "start", "warm"]

ROUNDS = 2


def start(folder: Path) -> None:
    """Make a bench with files and a checkpoint of them."""
    with Bench(folder) as bench:
        bench.add({"a.txt": "one", "b.txt": "two"})
        bench.call("CheckpointCreate", description="good")


def live(folder: Path, say: Say) -> None:
    """Go through the day, saying each step when its command has answered."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        first = bench.call("CheckpointsList")["checkpoints"][-1]["checkpoint_id"]
        for number in range(ROUNDS):
            sent = bench.call("WorkshopSendUserMessage", text=f"Request {number}")
            say("done")
            bench.write({"a.txt": f"written {number}", f"n{number}.txt": "x" * 5000})
            say("done")
            bench.call("DraftPublish")
            say("done")
            bench.write({"b.txt": f"again {number}"})
            say("done")
            there = {"message_id": sent["message_id"], "mode": "restore_published"}
            bench.call("WorkshopUndoToMessage", **there)
            say("done")
            bench.call("CheckpointRestore", checkpoint_id=first)
            say("done")
