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

import pysqlite3

from backshop.base import tree
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.store import NewEvent, Part, Pin, Placer, Plan, Store, View
from backshop.testing.conformance.store import Counted

from .report import head, medians, row

FILES = int(os.environ.get("BENCH_FILES", "10000"))
FILE_BYTES = 25_000
REVISIONS = 20


def main() -> None:
    """Print the table of the store."""
    head()
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
        appends(Path(folder))
        processes(Path(folder))
        trees(Path(folder))


def appends(folder: Path) -> None:
    """One-event append against a bare insert and commit; with a long history and a short one."""
    bare = pysqlite3.connect(str(folder / "bare.db"), isolation_level=None)
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

        append("bench:short")
        events = [NewEvent(Counted(number=n), f"n{n}") for n in range(10_000)]
        store.append(Plan((Part("bench:long", events),)))
        works = {
            "bare": insert,
            "append": lambda: append("bench:new"),
            "short": lambda: append("bench:short"),
            "long": lambda: append("bench:long"),
        }
        found = medians(works, rounds=15)
    bare.close()
    row("one-event append / bare insert + commit", found["append"] / found["bare"], 2)
    row("append with 10,000 events / with 10", found["long"] / found["short"], 1.3)


def _appender(home: str, name: str, count: int, queue: multiprocessing.Queue[float]) -> None:
    with Store.open(Path(home), lock_wait_ms=60_000) as store:
        store.append(Plan((Part(f"bench:{name}", [NewEvent(Counted(number=-1), "first")]),)))
        begun = time.perf_counter()
        for number in range(count):
            event = NewEvent(Counted(number=number), f"k{number}")
            store.append(Plan((Part(f"bench:{name}", [event]),)))
        queue.put(time.perf_counter() - begun)


def processes(folder: Path) -> None:
    """Throughput of four processes on four streams against one process."""
    spawn = multiprocessing.get_context("spawn")
    rates: dict[int, list[float]] = {1: [], 4: []}
    for turn in range(3):
        for number in (1, 4):
            home = folder / f"processes-{turn}-{number}"
            Store.open(home).close()
            queue: multiprocessing.Queue[float] = spawn.Queue()
            children = [
                spawn.Process(target=_appender, args=(str(home), str(n), 300, queue))
                for n in range(number)
            ]
            for child in children:
                child.start()
            longest = max(queue.get() for _ in children)
            for child in children:
                child.join()
            rates[number].append(300 * number / longest)
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
    with Store.open(folder / "trees") as store:
        blobs = store.blobs.put_many(path for path in files.values())
        entries = {
            BenchPath(name): tree.File(blob, FILE_BYTES)
            for name, blob in zip(files, blobs, strict=True)
        }
        built = tree.build(entries)
        _record(store, built, "start")
        bench = _Trees(store, built, folder, source, list(files.items()))
        found = medians(
            {
                "record": bench.record,
                "commit": bench.commit,
                "back": bench.back,
                "checkout": bench.checkout,
                "copy": bench.copy,
            }
        )
        row(
            "one file of many recorded / git commit, full fsync",
            found["record"] / found["commit"],
            0.5,
        )
        row("going back one revision / git checkout", found["back"] / (found["checkout"] / 2), 2)
        row("going back one revision / copying the folder", found["back"] / found["copy"], 0.15)
        row("bytes stored / distinct content", bench.stored_ratio(), 1.1)


class _Trees:
    def __init__(
        self,
        store: Store,
        built: tree.Built,
        folder: Path,
        source: Path,
        files: list[tuple[str, Path]],
    ) -> None:
        self._store, self._folder, self._source, self._files = store, folder, source, files
        self._trees = [built.id]
        self._turn = 0
        self._view = View(folder / "view", store.load_tree, Placer(store.blobs))
        self._view.show(built.id)
        self.record()
        self._view.show(self._trees[-1])

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

    def back(self) -> None:
        """Show the revision before, then (untimed by git's side too) the newest again."""
        self._view.show(self._trees[-2])

    def checkout(self) -> None:
        """Go back one commit and forward again with git; half of it is one way."""
        _git(self._source, "checkout", "-q", "HEAD~1")
        _git(self._source, "checkout", "-q", "-")

    def copy(self) -> None:
        """Copy the folder."""
        target = self._folder / "copied"
        shutil.copytree(self._source, target, ignore=shutil.ignore_patterns(".git"))
        shutil.rmtree(target)

    def stored_ratio(self) -> float:
        """Return bytes on disk against the distinct contents."""
        for _ in range(REVISIONS):
            self.record()
        stored = sum(p.stat().st_size for p in self._store.blobs.folder.rglob("*") if p.is_file())
        stored += (self._store.home / "store.db").stat().st_size
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
