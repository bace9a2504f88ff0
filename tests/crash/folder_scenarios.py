"""What the harness kills on a person's own folder: files exchanged one by one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.crash.bench_scenarios import Bench

from backshop.app import Backshop
from backshop.base.canon import sha256_hex
from backshop.base.ids import BlobId
from backshop.base.system import file_name
from backshop.bench.folder.exchange import Became, Wish, exchange_file

Say = Callable[[str], None]
OLD, NEW = "old\n", "old\nand new\n" + "more\n" * 10_000
THEIRS = "written by another program"
WISHES: dict[str, tuple[str | None, str | None]] = {
    "changed.txt": (OLD, NEW),
    "shorter.txt": (NEW, OLD),
    "new.txt": (None, NEW),
    "gone.txt": (OLD, None),
    "theirs.txt": (OLD, NEW),
}


def start_files(folder: Path) -> None:
    """Make a folder as it was reviewed."""
    (folder / "own").mkdir()
    (folder / "contents").mkdir()
    for name, (before, after) in WISHES.items():
        if before is not None:
            (folder / "own" / name).write_text(before)
        if after is not None:
            (folder / "contents" / name).write_text(after)


def exchange(folder: Path, say: Say) -> None:
    """Exchange every file; another program saves one of them at the last moment."""
    for name in WISHES:
        became = exchanged(folder, name, is_late=name == "theirs.txt")
        say(f"{name} {became}")


def exchange_by_turns(folder: Path, say: Say) -> None:
    """The same where names cannot be exchanged."""
    file_name._RENAME_EXCHANGE = 1 << 30
    exchange(folder, say)


def exchanged(folder: Path, name: str, *, is_late: bool = False) -> Became:
    """Exchange one file, or go on with it."""
    before, after = WISHES[name]
    wish = Wish(
        name=name,
        before=_blob(before),
        after=_blob(after),
        content=None if after is None else folder / "contents" / name,
    )
    real = file_name.rename_new

    target = folder / "own" / name

    def saved_before(folder: int, name: str, new: str) -> None:
        if name == wish.part and target.read_text() == before:
            beside = target.with_name("beside")
            beside.write_text(THEIRS)
            beside.rename(target)
        real(folder, name, new)

    if is_late:
        file_name.rename_new = saved_before
    try:
        return exchange_file(
            folder / "own" / name, wish, lambda handle: _kept(folder, handle)
        ).became
    finally:
        file_name.rename_new = real


def _kept(folder: Path, handle: int) -> None:
    with os.fdopen(os.dup(handle), "rb") as file:
        (folder / "kept").write_bytes(file.read())


def _blob(text: str | None) -> BlobId | None:
    return None if text is None else BlobId(sha256_hex(text.encode()))


# ---------------------------------------------------------------- a bench of a folder

COUNT = 16
BEFORE = {f"d{n % 3}/{n}.txt": f"old {n}\n" for n in range(COUNT)}
AFTER = {
    **{path: f"{text}and new\n" for path, text in BEFORE.items() if not path.startswith("d0")},
    **{f"new/{n}.txt": f"new {n}\n" for n in range(COUNT // 4)},
}


def start_bench(folder: Path) -> None:
    """Make a bench of a folder with a Draft that changes, adds and deletes files."""
    for name, text in BEFORE.items():
        path = folder / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Backshop.open(folder / "home") as shop:
        shop.call("WorkbenchOpenFolder", {"folder": str(folder / "own")})
    with Bench(folder) as bench:
        bench.write(AFTER)
        gone = [path for path in BEFORE if path not in AFTER]
        for one in gone:
            bench.call("DraftDeletePath", path=one)
        bench.call("ReviewSetDeletionConfirmations", paths=gone)


def start_unwritten(folder: Path) -> None:
    """The same, published while the folder was not there."""
    start_bench(folder)
    with Bench(folder) as bench:
        (folder / "own").rename(folder / "away")
        bench.call("DraftPublish")
        (folder / "away").rename(folder / "own")


def publish_folder(folder: Path, say: Say) -> None:
    """Publish, which writes into the folder."""
    with Bench(here(folder)) as bench:
        bench.call("DraftPublish")
        say("done")


def resume_folder(folder: Path, say: Say) -> None:
    """Open, which goes on with what was begun."""
    with Bench(here(folder)) as bench:
        bench.call("WorkbenchOpen")
        say("done")


def here(folder: Path) -> Path:
    """Let the bench of a copied home follow the folder that was copied with it."""
    with Bench(folder) as bench:
        bench.call("FolderFollow", folder=str(folder / "own"))
    return folder


def warm(folder: Path) -> None:
    """Tell a short one once, so that everything that is loaded on first use is loaded."""
    start_bench(folder)
    publish_folder(folder, lambda _: None)
