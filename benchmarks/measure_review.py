"""B11.8: a review of 2,000 changed files is listed at once; differences are made when looked at.

Beside it the same is asked of git: which of two folders' files differ, and how one of them does.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from backshop.app import Backshop
from backshop.bench import Author, Put, Source

from .report import fact, head, row

FILES = 2_400
CHANGED = 2_000
BATCH = 200
LINES = 120


def main() -> None:
    """Print the table of the review."""
    head()
    with tempfile.TemporaryDirectory(prefix="bench-review-") as folder:
        _measure(Path(folder))


def _measure(folder: Path) -> None:
    outside = folder / "outside"
    outside.mkdir()
    for number in range(FILES):
        (outside / f"{number:04}.md").write_text(_text(number), "utf-8")
    with Backshop.open(folder / "home") as shop:
        asked = {"name": "Review", "profile": "large"}
        bench = shop.call("WorkbenchCreate", asked)["workbench_id"]
        about = {"workbench_id": bench}
        paths = [str(path) for path in sorted(outside.iterdir())]
        shop.call("WorkbenchFilesAdd", {**about, "source_paths": paths})
        _change(shop, bench)
    with Backshop.open(folder / "home") as shop:  # nothing is remembered from the writing
        shop.call("DraftGetState", about)
        first, found = _timed(shop, "ReviewGetChangeSet", {**about, "limit": 5000})
        again, _ = _timed(shop, "ReviewGetChangeSet", {**about, "limit": 5000})
        assert len(found["entries"]) == CHANGED
        _timed(shop, "ReviewGetDiff", {**about, "path": "0001.md"})  # starts a worker
        one, _ = _timed(shop, "ReviewGetDiff", {**about, "path": "0002.md"})
    listing, comparing = _git(folder)
    row(f"list {CHANGED} changed files, cold", first, 1.6, unit="s")
    row(f"list {CHANGED} changed files, again", again, 1, unit="s")
    row("difference of one of them", one, 0.2, unit="s")
    fact("listing, cold / git diff --name-status of two folders", first / listing)
    fact("listing, again / git diff --name-status of two folders", again / listing)
    fact("difference of one / git diff of two files", one / comparing)


def _git(folder: Path) -> tuple[float, float]:
    """Return how long git takes to list what differs, and to compare one file."""
    before, after = folder / "outside", folder / "changed"
    after.mkdir()
    for number in range(FILES):
        text = _text(number)
        changed = text.replace("line 60 ", "LINE 60 ") if number < CHANGED else text
        (after / f"{number:04}.md").write_text(changed, "utf-8")
    times = []
    for words in (
        ("--name-status", str(before), str(after)),
        (str(before / "0002.md"), str(after / "0002.md")),
    ):
        begun = time.perf_counter()
        subprocess.run(["git", "diff", "--no-index", *words], capture_output=True, check=False)
        times.append(time.perf_counter() - begun)
    return times[0], times[1]


def _change(shop: Backshop, bench: str) -> None:
    author = Author(source=Source(kind="workshop", ref="turn"))
    for start in range(0, CHANGED, BATCH):
        puts = []
        for number in range(start, start + BATCH):
            data = _text(number).replace("line 60 ", "LINE 60 ").encode()
            blob = shop.store.blobs.put(data)
            puts.append(Put(path=f"{number:04}.md", blob=blob, size=len(data)))
        shop.benches.apply_batch(bench, puts, author)


def _text(number: int) -> str:
    return "".join(f"line {line} of file {number}\n" for line in range(LINES))


def _timed(shop: Backshop, name: str, request: dict[str, object]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = shop.call(name, request)
    return time.perf_counter() - begun, found


if __name__ == "__main__":
    main()
