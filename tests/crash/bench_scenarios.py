"""What the harness kills on a workbench: each changes its files once or twice and says so."""

from __future__ import annotations

import json
import os
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
        url = folder / "home-url"
        settings = {"database_url": url.read_text(encoding="utf-8")} if url.exists() else None
        self.shop = Backshop.open(folder / "home", settings=settings)
        known = self.shop.call("WorkbenchList", {"include_trash": True})["workbenches"]
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


def start_draft(folder: Path, full_view_max: int = 10_000) -> None:
    """The same with a Draft that waits; its folder may show its changes only."""
    start(folder)
    with Bench(folder) as bench:
        bench.shop.call("SettingsSet", {"key": "bench.full_view_max", "value": full_view_max})
    with Bench(folder) as bench:
        bench.write({"a.txt": "changed", "new.txt": "new"})


def start_told(folder: Path) -> None:
    """The same with a conversation: something was published in it, and a Draft waits."""
    start(folder)
    with Bench(folder) as bench:
        bench.call("WorkshopSendUserMessage", text="First")
        bench.write({"a.txt": "changed", "new.txt": "new"})
        bench.call("DraftPublish")
        bench.call("WorkshopSendUserMessage", text="Second")
        bench.write({"a.txt": "waits"})


def warm(folder: Path) -> None:
    """Tell a long one once, so that everything that is loaded on first use is loaded."""
    start_told(folder)
    for scenario in (rewind, reconcile, context):
        scenario(folder, lambda _: None)


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


def bring_back(folder: Path, say: Say) -> None:
    """Throw the Draft away and take that back."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.call("DraftDiscard")
        say("done")
        bench.call("DraftBringBack")
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


def remove(folder: Path, say: Say) -> None:
    """Take a file out, then give another one a new name."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.call("WorkbenchFilesRemove", workbench_paths=["d/c.txt"])
        say("done")
        bench.edit("published", "theirs.txt", say)
        bench.call("WorkbenchFileRename", path="a.txt", new_path="z/a.txt")
        say("done")


def replace(folder: Path, say: Say) -> None:
    """Add a file in place of one that is there."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.add({"a.txt": LARGE}, on_conflict="replace")
        say("done")


def repair(folder: Path, say: Say) -> None:
    """Take over what another program did to Published, then put Published back over more of it."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        (bench.place / "published" / "adopted.txt").write_text("adopted")
        bench.call("PublishedRepair", mode="adopt")
        say("done")
        bench.edit("published", "theirs.txt", say)
        bench.call("PublishedRepair", mode="restore")
        say("done")


def reconcile(folder: Path, say: Say) -> None:
    """Bring the Draft onto what another program made of Published, then publish it."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        (bench.place / "published" / "adopted.txt").write_text("adopted")
        bench.call("PublishedReconcile", keep="both")
        say("done")
        bench.call("DraftPublish")
        say("done")


def rescan(folder: Path, say: Say) -> None:
    """The same in the Draft."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        (bench.place / "draft" / "adopted.txt").write_text("adopted")
        bench.call("DraftRescan", mode="adopt")
        say("done")
        bench.edit("draft", "theirs.txt", say)
        bench.call("DraftRescan", mode="revert")
        say("done")


def correct(folder: Path, say: Say) -> None:
    """The person deletes, renames and reverts paths of the Draft, and goes back a revision."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        first = bench.call("DraftGetState")["revision_id"]
        for name, request in (
            ("DraftDeletePath", {"path": "d/c.txt"}),
            ("DraftRenamePath", {"path": "new.txt", "new_path": "n/new.txt"}),
            ("DraftRevertPath", {"path": "a.txt"}),
            ("DraftRestoreRevision", {"revision_id": first}),
        ):
            bench.call(name, **request)
            say("done")


publish_changes, correct_changes = publish, correct  # where the Draft's folder is not complete


def complete(folder: Path, say: Say) -> None:
    """Have the Draft's folder hold every file, write on, and have it hold the changes again."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.edit("draft", "theirs.txt", say)
        bench.call("DraftFolder", whole=True)
        bench.write({"a.txt": "more", "x/y.txt": LARGE})
        say("done")
        bench.call("DraftFolder", whole=False)
        say("done")


def take_over(folder: Path, say: Say) -> None:
    """Find files that are links of contents, as 0.1.0 made them, and part them."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        for view in ("published", "draft"):
            _linked(bench, view)
        bench.call("WorkbenchOpen")
        say("done")


def _linked(bench: Bench, view: str) -> None:
    aside = bench.place / "meta" / "tmp"
    aside.mkdir(exist_ok=True)
    blobs = bench.shop.store.blobs
    for path in (bench.place / view).rglob("*"):
        if path.is_file():
            os.link(blobs.path(blobs.put(path)), aside / "link")
            (aside / "link").replace(path)
    note = bench.place / f".{view}.view"
    told = json.loads(note.read_text())
    first = {name: told[name] for name in ("inode", "tree", "base", "becoming", "clean_ns")}
    (aside / "note").symlink_to(json.dumps(first))
    (aside / "note").replace(note)


def context(folder: Path, say: Say) -> None:
    """Write a context item and delete it again."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        files = [{"path": "context.md", "content": "Friday. " * 10_000}]
        bench.call("ContextUpdateDirect", category="situation", files=files, create=True)
        say("done")
        bench.call("ContextDelete", category="situation")
        say("done")


def rewind(folder: Path, say: Say) -> None:
    """Go back before the publish, files and Draft included, and forth again."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        first = bench.call("WorkshopGetConversation")["messages"][0]["message_id"]
        bench.call("WorkshopUndoToMessage", message_id=first, mode="restore_published")
        say("done")
        bench.call("WorkshopRedo")
        say("done")


def trash(folder: Path, say: Say) -> None:
    """Throw the bench away and take it back."""
    with Bench(folder) as bench:
        bench.call("WorkbenchOpen")
        bench.call("WorkbenchDelete", confirm=bench.id)
        say("done")
        bench.call("WorkbenchUndelete")
        say("done")
