"""What the harness kills on a person's own folder: files exchanged one by one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

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

    def saved_before(handle: int, one: str, two: str) -> None:
        if one == wish.part and (folder / "own" / name).read_text() == before:
            beside = folder / "own" / "beside"
            beside.write_text(THEIRS)
            beside.rename(folder / "own" / name)
        real(handle, one, two)

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
