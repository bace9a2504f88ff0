"""T7: appends against the bare driver, growing streams, several processes, trees against git."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.store.store_conformance import Counted

from backshop.base import tree
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.store import NewEvent, Part, Pin, Placer, Plan, Shown, Store, View
from backshop.store.database.driver import sqlite_module

from .report import head, medians, row

FILES = int(os.environ.get("BENCH_FILES", "10000"))
FILE_BYTES = 25_000
REVISIONS = 200


def main() -> None:
    """Print the table of the store."""
    head()
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
        appends(Path(folder))
        processes(Path(folder))
        trees(Path(folder))


def appends(folder: Path) -> None:
    """One-event append against a bare insert and commit; with a long history and a short one."""
    bare = sqlite_module().connect(str(folder / "bare.db"), isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY, stream TEXT, body BLOB)")
    count = 0

    def insert() -> None:
        for _ in range(20):
            bare.execute("BEGIN IMMEDIATE")
            bare.execute("INSERT INTO event (stream, body) VALUES ('s', ?)", (b"x" * 200,))
            bare.execute("COMMIT")

    with Store.open(folder / "appends") as store:

        def append(stream: str) -> None:
            nonlocal count
            for _ in range(20):
                count += 1
                event = NewEvent(Counted(number=count, note="x" * 150), f"k{count}")
                store.append(Plan((Part(stream, [event]),)))

        rounds = iter(range(1000))

        def append_short() -> None:
            append(f"bench:short-{next(rounds)}")  # each has ten events by now

        for number in range(20):
            ten = [NewEvent(Counted(number=n), f"n{n}") for n in range(10)]
            store.append(Plan((Part(f"bench:short-{number}", ten),)))
        events = [NewEvent(Counted(number=n), f"n{n}") for n in range(10_000)]
        store.append(Plan((Part("bench:long", events),)))
        works = {
            "bare": insert,
            "append": lambda: append("bench:new"),
            "short": append_short,
            "long": lambda: append("bench:long"),
        }
        found = medians(works, rounds=15)
    bare.close()
    row("one-event append / bare insert + commit", found["append"] / found["bare"], 2)
    row("append with 10,000 events / with 10", found["long"] / found["short"], 1.3)


Span = tuple[float, float]


def _appender(
    home: str, name: str, count: int, start: Any, queue: multiprocessing.Queue[Span]
) -> None:
    with Store.open(Path(home), lock_wait_ms=60_000) as store:
        store.append(Plan((Part(f"bench:{name}", [NewEvent(Counted(number=-1), "first")]),)))
        start.wait(60)  # everybody is loaded and open: now they compete
        begun = time.time()
        for number in range(count):
            event = NewEvent(Counted(number=number), f"k{number}")
            store.append(Plan((Part(f"bench:{name}", [event]),)))
        queue.put((begun, time.time()))


def processes(folder: Path) -> None:
    """Throughput of four processes on four streams against one, over the time they all took."""
    spawn = multiprocessing.get_context("spawn")
    rates: dict[int, list[float]] = {1: [], 4: []}
    for turn in range(5):
        for number in (1, 4):
            home = folder / f"processes-{turn}-{number}"
            Store.open(home).close()
            queue: multiprocessing.Queue[Span] = spawn.Queue()
            start = spawn.Barrier(number)
            children = [
                spawn.Process(target=_appender, args=(str(home), str(n), 500, start, queue))
                for n in range(number)
            ]
            for child in children:
                child.start()
            spans = [queue.get() for _ in children]
            for child in children:
                child.join()
            wall = max(end for _, end in spans) - min(begun for begun, _ in spans)
            rates[number].append(500 * number / wall)
    ratio = statistics.median(rates[4]) / statistics.median(rates[1])
    row("throughput of 4 processes / of 1", ratio, 0.8, at_least=True)


def trees(folder: Path) -> None:
    """Recording one changed file, going back, and bytes, against git and a copy."""
    source = folder / "source"
    files = _write_files(source)
    _git(source, "init", "-q")
    for key, value in (("core.fsync", "all"), ("core.fsyncMethod", "fsync"), ("gc.auto", "0")):
        _git(source, "config", key, value)
    _git(source, "add", "-A")
    _git(source, "commit", "-qm", "start")
    with Store.open(folder / "many") as first, Store.open(folder / "few") as second:
        bench, other = (
            _Trees(store, folder / name, source, list(files.items()))
            for store, name in ((first, "many-view"), (second, "few-view"))
        )
        found = medians(
            {
                "record": bench.record,
                "commit": bench.commit,
                "back": bench.back,
                "checkout": bench.checkout,
                "copy": bench.copy,
            },
            between=bench.forward,
        )
        row(
            "one file of many recorded / git commit, full fsync",
            found["record"] / found["commit"],
            0.5,
        )
        row("going back one revision / git checkout", found["back"] / found["checkout"], 2)
        row("going back one revision / copying the folder", found["back"] / found["copy"], 0.15)
        stored = bench.stored_ratio()
        again = medians(
            {"many": bench.back, "few": other.back},
            rounds=25,
            between=lambda done: (bench if done == "many" else other).show(),
        )
        row(f"going back with {REVISIONS} revisions / with one", again["many"] / again["few"], 1.3)
        row(f"bytes stored for {REVISIONS} revisions / distinct content", stored, 1.1)


class _Trees:
    def __init__(
        self, store: Store, folder: Path, source: Path, files: list[tuple[str, Path]]
    ) -> None:
        self._store, self._folder, self._source, self._files = store, folder, source, files
        blobs = store.blobs.put_many(path for _, path in files)
        entries = {
            BenchPath(name): tree.File(blob, FILE_BYTES)
            for (name, _), blob in zip(files, blobs, strict=True)
        }
        built = tree.build(entries)
        _record(store, built, "start")
        self._trees = [built.id]
        self._turn = 0
        self._view = View(folder / "view", store.load_tree, Placer(store.blobs))
        self._show(built.id)
        self.record()
        self.show()

    def _show(self, wanted: TreeId) -> None:
        self._view.show(Shown(wanted), lambda *_: None, lambda _: None)

    def record(self) -> None:
        """Change one file and make it durable."""
        self._turn += 1
        content = (f"{self._turn:08d}" * (10_240 // 8)).encode()
        blob = self._store.blobs.put(content)
        change: dict[BenchPath, tree.File | None] = {
            BenchPath(self._files[self._turn][0]): tree.File(blob, len(content))
        }
        built = tree.change(self._trees[-1], change, self._store.load_tree)
        _record(self._store, built, str(self._turn))
        self._trees.append(built.id)

    def commit(self) -> None:
        """Do the same with git."""
        path = self._files[self._turn][1]
        path.write_bytes((f"{self._turn:08d}" * (10_240 // 8)).encode())
        _git(self._source, "commit", "-qam", "next")

    def forward(self, done: str) -> None:
        """Between the measured steps: the newest revision is shown, git is on its branch."""
        if done == "commit":
            self.show()
        elif done == "checkout":
            _git(self._source, "checkout", "-q", "-")
        elif done == "copy":
            shutil.rmtree(self._folder / "copied")

    def back(self) -> None:
        """Go from the newest revision to the one before, folder included."""
        self._show(self._trees[-2])

    def show(self) -> None:
        """Show the newest revision."""
        self._show(self._trees[-1])

    def checkout(self) -> None:
        """Do the same with git."""
        _git(self._source, "checkout", "-q", "HEAD~1")

    def copy(self) -> None:
        """Copy the folder."""
        ignore = shutil.ignore_patterns(".git")
        shutil.copytree(self._source, self._folder / "copied", ignore=ignore)

    def stored_ratio(self) -> float:
        """Return bytes on disk against the distinct contents."""
        while self._turn < REVISIONS:
            self.record()
        self.show()
        stored = sum(p.stat().st_size for p in self._store.blobs.folder.rglob("*") if p.is_file())
        stored += sum(path.stat().st_size for path in self._store.home.glob("store.db*"))
        return stored / (len(self._files) * FILE_BYTES + self._turn * 10_240)


def _record(store: Store, built: tree.Built, key: str) -> None:
    event = NewEvent(Counted(number=1), f"tree:{key}")
    part = Part("bench:t", [event], pins=[Pin(BlobId(built.id), "tree")])
    store.append(Plan((part,), tuple(built.nodes.values())))


def _write_files(folder: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for number in range(FILES):
        name = f"d{number % 100:02d}/file-{number:05d}.bin"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(FILE_BYTES // 2).hex().encode())
        files[name] = path
    return files


def _git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=b", "-c", "user.email=b@example.invalid")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)
