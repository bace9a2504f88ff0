"""What lies in a folder, without following links; names and copies of it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from backshop.base.ids import BlobId
from backshop.base.system import durability
from backshop.store import LEFTOVERS


def entries(folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what is in a view; links and devices are yielded too and never followed.

    So is a folder that cannot be looked into, in place of what is in it. What somebody who was
    killed left on its way to a place is not.

    Raises:
        OSError: the view itself cannot be looked into.
    """
    waiting: list[tuple[str, os.DirEntry[str] | None]] = [("", None)]
    while waiting:  # no recursion: others may nest folders as deep as they like
        path, found = waiting.pop()
        try:
            with os.scandir(folder if found is None else found.path) as listed:
                inside = list(listed)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            if found is None:
                raise
            yield path, found
            continue
        for entry in inside:
            name = f"{path}/{entry.name}" if path else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append((name, entry))
            elif entry.name not in LEFTOVERS:
                yield name, entry


def is_kept(path: Path) -> bool:
    """Whether salvage keeps it: bytes and links; pipes, sockets and devices hold nothing."""
    mode = path.stat(follow_symlinks=False).st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def made_folder(folder: Path) -> None:
    """Make a folder and those above it, however many."""
    for one in (*reversed(folder.parents), folder):
        one.mkdir(exist_ok=True)


def copy_durably(source: Path, target: Path) -> None:
    """Copy bytes, or a link as a link, until they are on the disk."""
    shutil.copyfile(source, target, follow_symlinks=False)
    if not target.is_symlink():
        with target.open("rb") as file:
            durability.sync(file.fileno())


def content_name(path: Path) -> BlobId:
    """Return the content's name; what is not a regular file has the name of nothing stored."""
    if not stat.S_ISREG(path.stat(follow_symlinks=False).st_mode):
        return BlobId("0" * 64)
    with path.open("rb") as file:
        return BlobId(hashlib.file_digest(file, "sha256").hexdigest())
