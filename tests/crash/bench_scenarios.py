"""What the harness kills on a workbench: each changes its files once or twice and says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backshop.app import Backshop
from backshop.bench import Author, Put, Source

Say = Callable[[str], None]
AGENT = Author(source=Source(kind="workshop", ref="turn"))
THEIRS = "written by another program"
LARGE = "large\n" * 20_000


class Bench:
    """The one bench of a scenario's home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shop = Backshop.open(folder / "home")
        known = self.shop.call("WorkbenchList", {})["workbenches"]
        self.id = known[0]["workbench_id"] if known else self._new()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.shop.close()

    def _new(self) -> str:
        return str(self.shop.call("WorkbenchCreate", {"name": "Crash"})["workbench_id"])

    @property
    def place(self) -> Path:
        """The bench's folder."""
        return self.folder / "home" / "benches" / self.id

    def call(self, name: str, /, **request: object) -> Any:
        """Run a command about the bench."""
        return self.shop.call(name, {"workbench_id": self.id, **request})

    def add(self, files: dict[str, str], **options: object) -> None:
        """Add files from outside."""
        outside = self.folder / "outside"
        outside.mkdir(exist_ok=True)
        for name, text in files.items():
            (outside / name).write_text(text)
        sources = [str(outside / name) for name in files]
        self.call("WorkbenchFilesAdd", source_paths=sources, **options)

    def write(self, files: dict[str, str]) -> None:
        """Write to the Draft as an agent does."""
        blobs = self.shop.store.blobs
        puts = [Put(path=p, blob=blobs.put(t.encode()), size=len(t)) for p, t in files.items()]
        self.shop.benches.apply_batch(self.id, puts, AGENT)

    def edit(self, view: str, name: str, say: Say) -> None:
        """Write into a folder as another program does."""
        (self.place / view / name).write_text(THEIRS)
        say(f"theirs {view}/{name}")


def start(folder: Path) -> None:
    """Make a bench with files, a checkpoint and a little history."""
    with Bench(folder) as bench:
        bench.add({"a.txt": "one", "b.txt": "two"})
        bench.add({"c.txt": "deep"}, dest_dir="d")
        bench.call("CheckpointCreate", description="good")
        bench.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])


def start_draft(folder: Path) -> None:
    """The same with a Draft that waits."""
    start(folder)
    with Bench(folder) as bench:
        bench.write({"a.txt": "changed", "new.txt": "new"})


def add(folder: Path, say: Say) -> None:
    """Add a small and a large file while another program has a file of its own there."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.edit("published", "theirs.txt", say)
        bench.add({"e.txt": "e", "large.txt": LARGE})
        say("done")


def batch(folder: Path, say: Say) -> None:
    """Open a Draft with a batch and write another one over an outside edit."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.write({"a.txt": "first", "x/y.txt": LARGE})
        say("done")
        bench.edit("draft", "theirs.txt", say)
        bench.write({"a.txt": "second"})
        say("done")


def publish(folder: Path, say: Say) -> None:
    """Publish what waits."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        done = bench.call("DraftPublish")
        say("done" if not done["warnings"] else "done with " + ",".join(done["warnings"]))


def discard(folder: Path, say: Say) -> None:
    """Throw the Draft away though another program wrote into its folder."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.edit("draft", "theirs.txt", say)
        bench.call("DraftDiscard")
        say("done")


def restore(folder: Path, say: Say) -> None:
    """Bring the checkpoint back over an outside edit."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.edit("published", "theirs.txt", say)
        wanted = bench.call("CheckpointsList")["checkpoints"][-1]["checkpoint_id"]
        bench.call("CheckpointRestore", checkpoint_id=wanted)
        say("done")


def recover(folder: Path, say: Say) -> None:
    """Find the folders gone and make them again."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        for view in ("published", "draft"):
            shutil.rmtree(bench.place / view)
        bench.call("WorkbenchOpen")
        say("done")
