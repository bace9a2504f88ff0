"""A workbench through its commands against git and a copy: write, go back, publish, restore (T7).

`BENCH_FILES=500 python -m benchmarks bench` is a small run; the bars are meant for 10,000 files,
those in seconds for 100,000 (B2.10, B10.5).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from backshop.app import Backshop
from backshop.bench import Author, Put, Source

from .report import fact, head, medians, row

FILES = int(os.environ.get("BENCH_FILES", "10000"))
FILE_BYTES = 25_000
CHANGED_BYTES = 10_240
REVISIONS = 200
BACK_ROUNDS = 41  # a few milliseconds each; what the writes before left to do is over in a few
AGENT = Author(source=Source(kind="workshop", ref="turn"))


def main() -> None:
    """Print the table of the bench."""
    head()
    with tempfile.TemporaryDirectory(prefix="bench-bench-") as folder:
        source = Path(folder) / "source"
        names = _write_files(source)
        with Backshop.open(Path(folder) / "home") as shop:
            _measure(shop, Path(folder), source, names)


def _measure(shop: Backshop, folder: Path, source: Path, names: list[str]) -> None:
    ours = _Ours(shop, source, names)
    git = _Git(folder, source, names)
    first = medians({"ours": ours.add, "git": git.add}, rounds=1)
    row(f"adding {FILES} files / git add + commit, full fsync", first["ours"] / first["git"], 1.1)
    kept = medians({"checkpoint": ours.checkpoint}, rounds=5)
    row("a checkpoint", kept["checkpoint"], 0.05, unit="s")
    with Backshop.open(folder / "home") as other:  # which knows nothing of the bench yet
        begun = medians({"write": lambda: ours.write(other)}, rounds=1)
    row("the first write to a Draft", begun["write"], 1, unit="s")
    git.commit()
    ours.write()
    git.commit()
    early = medians({"back": ours.back}, BACK_ROUNDS, between=lambda _: ours.forward())
    found = medians(
        {
            "write": ours.write,
            "commit": git.commit,
            "back": ours.back,
            "checkout": git.checkout,
            "copy": git.copy,
        },
        between=lambda done: _put_back(done, ours, git),
    )
    row("one changed file written / git commit", found["write"] / found["commit"], 0.5)
    row("going back one revision / git checkout", found["back"] / found["checkout"], 2)
    row("going back one revision / copying the folder", found["back"] / found["copy"], 0.15)
    while ours.turn < REVISIONS:
        ours.write()
    row(f"bytes stored for {REVISIONS} revisions / distinct content", ours.stored_ratio(), 1.1)
    size = ours.call("WorkbenchGetSize")
    fact("folders on disk beside them / files", size["folder_bytes"] / size["file_bytes"])
    late = medians({"back": ours.back}, BACK_ROUNDS, between=lambda _: ours.forward())
    row(f"going back after {REVISIONS} revisions / after 2", late["back"] / early["back"], 1.3)
    ends = medians({"publish": ours.publish, "restore": ours.restore, "commit": git.commit}, 5)
    fact("publishing one changed file / git commit", ends["publish"] / ends["commit"])
    filled = medians({"whole": lambda: ours.call("DraftFolder", whole=True)}, rounds=1)
    fact("every file of the Draft in its folder", filled["whole"], unit="s")
    fact("restoring a checkpoint / git commit", ends["restore"] / ends["commit"])


def _put_back(done: str, ours: _Ours, git: _Git) -> None:
    """Between the measured steps: the newest state is shown on both sides."""
    if done == "back":
        ours.forward()
    elif done == "checkout":
        git.forward()
    elif done == "copy":
        git.drop_copy()


class _Ours:
    """The bench: every step is a command, with its folders brought along."""

    def __init__(self, shop: Backshop, source: Path, names: list[str]) -> None:
        self._shop, self._source, self._names = shop, source, names
        request = {"name": "Bench", "profile": "large"}
        self._id = shop.call("WorkbenchCreate", request)["workbench_id"]
        self._revisions: list[str] = []
        self.turn = 0

    def call(self, name: str, **request: object) -> Any:
        return self._shop.call(name, {"workbench_id": self._id, **request})

    def add(self) -> None:
        folders = sorted(str(path) for path in self._source.glob("d*"))
        added = self.call("WorkbenchFilesAdd", source_paths=folders, recursive=True)
        assert len(added["add_results"]) == FILES

    def write(self, shop: Backshop | None = None) -> None:
        """Write one file as an agent's tool does: content, Draft, revision, folder."""
        self.turn += 1
        shop = shop or self._shop
        content = _content(self.turn)
        blob = shop.store.blobs.put(content)
        put = Put(path=self._names[self.turn % FILES], blob=blob, size=len(content))
        done = shop.benches.apply_batch(self._id, [put], AGENT)
        assert done.draft_revision_id is not None
        self._revisions.append(done.draft_revision_id)

    def back(self) -> None:
        self.call("DraftRestoreRevision", revision_id=self._revisions[-2])

    def forward(self) -> None:
        self.call("DraftRestoreRevision", revision_id=self._revisions[-1])

    def checkpoint(self) -> None:
        self.call("CheckpointCreate")

    def publish(self) -> None:
        self.call("DraftPublish")

    def restore(self) -> None:
        listed = self.call("CheckpointsList", limit=1)["checkpoints"]
        self.call("CheckpointRestore", checkpoint_id=listed[0]["checkpoint_id"])
        self.write()  # a Draft for the next publish; a fraction of the step

    def stored_ratio(self) -> float:
        home = self._shop.config.home
        blobs = (path for path in (home / "blobs").rglob("*") if path.is_file())
        stored = sum(path.stat().st_size for path in blobs)
        stored += sum(path.stat().st_size for path in home.glob("store.db*"))
        return stored / (FILES * FILE_BYTES + self.turn * CHANGED_BYTES)


class _Git:
    """The same with git, everything synced."""

    def __init__(self, folder: Path, source: Path, names: list[str]) -> None:
        self._copied = folder / "copied"
        self._source, self._names = source, names
        self._turn = 0
        self._run("init", "-q")
        for key, value in (("core.fsync", "all"), ("core.fsyncMethod", "fsync"), ("gc.auto", "0")):
            self._run("config", key, value)

    def add(self) -> None:
        self._run("add", "-A")
        self._run("commit", "-qm", "start")

    def commit(self) -> None:
        self._turn += 1
        (self._source / self._names[self._turn % FILES]).write_bytes(_content(self._turn))
        self._run("commit", "-qam", "next")

    def checkout(self) -> None:
        self._run("checkout", "-q", "HEAD~1")

    def forward(self) -> None:
        self._run("checkout", "-q", "-")

    def copy(self) -> None:
        shutil.copytree(self._source, self._copied, ignore=shutil.ignore_patterns(".git"))

    def drop_copy(self) -> None:
        shutil.rmtree(self._copied)

    def _run(self, *args: str) -> None:
        identity = ("-c", "user.name=b", "-c", "user.email=b@example.invalid")
        subprocess.run(["git", *identity, *args], cwd=self._source, check=True, capture_output=True)


def _content(turn: int) -> bytes:
    return (f"{turn:08d}" * (CHANGED_BYTES // 8)).encode()


def _write_files(folder: Path) -> list[str]:
    names = []
    for number in range(FILES):
        name = f"d{number % 100:02d}/file-{number:05d}.bin"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(FILE_BYTES // 2).hex().encode())
        names.append(name)
    return names
