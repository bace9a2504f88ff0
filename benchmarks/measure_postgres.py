"""T7 on PostgreSQL: appends against bare inserts of the same driver, and four processes."""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from tests.postgres import private_server
from tests.store.store_conformance import Counted

from backshop.store import NewEvent, Part, Plan, Store

from .measure_store import Span
from .report import head, medians, row

COUNT = 200


def main() -> None:
    """Print the table; the server is a private one that waits for the disk."""
    head()
    with private_server() as server, tempfile.TemporaryDirectory(prefix="bench-pg-") as folder:
        appends(server.url(), Path(folder))
        processes(server.url(), Path(folder))


def appends(url: str, folder: Path) -> None:
    """One-event append against a bare insert and commit; with a long history and a short one."""
    count = 0
    bare = psycopg.connect(url, autocommit=True)
    bare.execute("CREATE TABLE bare (seq BIGSERIAL PRIMARY KEY, stream TEXT, body BYTEA)")

    def insert() -> None:
        for _ in range(20):
            bare.execute("BEGIN")
            bare.execute("INSERT INTO bare (stream, body) VALUES ('s', %s)", (b"x" * 200,))
            bare.execute("COMMIT")

    with Store.open(folder / "appends", database_url=url) as store:

        def append(stream: str) -> None:
            nonlocal count
            for _ in range(20):
                count += 1
                event = NewEvent(Counted(number=count, note="x" * 150), f"k{count}")
                store.append(Plan((Part(stream, [event]),)))

        rounds = iter(range(1000))
        for number in range(20):
            ten = [NewEvent(Counted(number=n), f"n{n}") for n in range(10)]
            store.append(Plan((Part(f"bench:short-{number}", ten),)))
        events = [NewEvent(Counted(number=n), f"n{n}") for n in range(10_000)]
        store.append(Plan((Part("bench:long", events),)))
        found = medians(
            {
                "bare": insert,
                "append": lambda: append("bench:new"),
                "short": lambda: append(f"bench:short-{next(rounds)}"),
                "long": lambda: append("bench:long"),
            },
            rounds=15,
        )
    bare.close()
    row("PostgreSQL: append / bare insert + commit", found["append"] / found["bare"], 5)
    row("PostgreSQL: append with 10,000 events / with 10", found["long"] / found["short"], 1.3)


def _appender(
    home: str, url: str, name: str, start: Any, queue: multiprocessing.Queue[Span]
) -> None:
    with Store.open(Path(home), database_url=url, lock_wait_ms=60_000) as store:
        store.append(Plan((Part(f"bench:{name}", [NewEvent(Counted(number=-1), "first")]),)))
        start.wait(60)
        begun = time.time()
        for number in range(COUNT):
            event = NewEvent(Counted(number=number), f"k{number}")
            store.append(Plan((Part(f"bench:{name}", [event]),)))
        queue.put((begun, time.time()))


def processes(url: str, folder: Path) -> None:
    """Throughput of four processes on four streams against one."""
    spawn = multiprocessing.get_context("spawn")
    rates: dict[int, list[float]] = {1: [], 4: []}
    for turn in range(5):
        for number in (1, 4):
            queue: multiprocessing.Queue[Span] = spawn.Queue()
            start = spawn.Barrier(number)
            children = [
                spawn.Process(
                    target=_appender,
                    args=(str(folder / str(n)), url, f"{turn}-{number}-{n}", start, queue),
                )
                for n in range(number)
            ]
            for child in children:
                child.start()
            spans = [queue.get() for _ in children]
            for child in children:
                child.join()
            wall = max(end for _, end in spans) - min(begun for begun, _ in spans)
            rates[number].append(COUNT * number / wall)
    ratio = statistics.median(rates[4]) / statistics.median(rates[1])
    row("PostgreSQL: throughput of 4 processes / of 1", ratio, 0.8, at_least=True)


if __name__ == "__main__":
    main()
