"""B24.10: a comment and a decision cost the same however many files the bench has.

The same is done on a bench of 10 files and on one of 10,000; what is told is the time besides the
work on the file itself, which is measured alone (`Formats.separate` and `compose`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from backshop.app import Backshop
from backshop.base.paths import BenchPath
from backshop.bench import Author, Put, Source

from .report import fact, head, medians, row

SMALL, LARGE = 10, 10_000
LINES = 120
BAR_S = 0.05


def main() -> None:
    """Print what comments and decisions take."""
    head()
    with tempfile.TemporaryDirectory(prefix="bench-discussion-") as folder:
        taken = {files: _measure(Path(folder) / str(files), files) for files in (SMALL, LARGE)}
    for what in ("comment", "answer", "list", "leave one change"):
        row(
            f"{what}, {LARGE} files, besides the file's own work",
            taken[LARGE][what],
            BAR_S,
            unit="s",
        )
        fact(f"{what}, {LARGE} files / {SMALL} files", taken[LARGE][what] / taken[SMALL][what])


def _measure(folder: Path, files: int) -> dict[str, float]:
    outside = folder / "outside"
    outside.mkdir(parents=True)
    for number in range(files):
        (outside / f"{number:05}.md").write_text(_text(number), "utf-8")
    with Backshop.open(folder / "home") as shop:
        bench = shop.call("WorkbenchCreate", {"name": "D", "profile": "large"})["workbench_id"]
        about = {"workbench_id": bench}
        added = {**about, "source_paths": [str(outside)], "recursive": True}
        shop.call("WorkbenchFilesAdd", added)
        path = shop.call("WorkbenchFilesList", {**about, "limit": 1})["files"][0]["path"]
        data = _text(0).replace("line 60 ", "LINE 60 ").replace("line 90 ", "LINE 90 ").encode()
        put = Put(path=path, blob=shop.store.blobs.put(data), size=len(data))
        author = Author(source=Source(kind="workshop", ref="turn"))
        shop.benches.apply_batch(bench, [put], author)
        return _timed(shop, about, path)


def _timed(shop: Backshop, about: dict[str, str], path: str) -> dict[str, float]:
    def call(name: str, **request: object) -> dict[str, object]:
        found: dict[str, object] = shop.call(name, {**about, **request})
        return found

    comment_id = call("ReviewAddComment", path=path, text="first", at="line 3")["comment_id"]
    changes = shop.call("ReviewListChanges", {**about, "path": path})["changes"]
    one = changes[0]["id"]
    call("DraftLeaveChanges", path=path, ids=[one])
    call("DraftTakeChanges", path=path, ids=[one])
    taken = medians(
        {
            "comment": lambda: call("ReviewAddComment", path=path, text="x"),
            "answer": lambda: call("ReviewAnswerComment", comment_id=comment_id, text="x"),
            "list": lambda: call("ReviewListComments", path=path),
            "leave one change": lambda: call("DraftLeaveChanges", path=path, ids=[one]),
        },
        between=lambda what: (
            call("DraftTakeChanges", path=path, ids=[one]) if what.startswith("leave") else None
        ),
    )
    own = medians({"compose": lambda: _composed(shop, about["workbench_id"], path, one)})["compose"]
    return {**taken, "leave one change": max(0.0, taken["leave one change"] - own)}


def _composed(shop: Backshop, bench: str, path: str, left: str) -> None:
    """Do what a decision does to the file itself, and nothing else."""
    desk, formats = shop.benches.desk, shop.benches.formats
    draft = desk.state(bench).draft
    assert draft is not None
    sides = [
        formats.source(desk.store.blobs.path(file.sha256), path, file.sha256)
        for file in (desk.find(tree, BenchPath(path)) for tree in (draft.base_tree, draft.tree))
    ]
    with tempfile.TemporaryDirectory() as folder:
        formats.compose(sides[0], sides[1], frozenset({left}), Path(folder) / "out")


def _text(number: int) -> str:
    return "".join(f"line {line} of file {number}\n" for line in range(LINES))


if __name__ == "__main__":
    main()
