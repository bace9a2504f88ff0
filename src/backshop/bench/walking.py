"""What lies in a folder, without following links; names and copies of it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from backshop.base.ids import BlobId


def entries(folder: str, prefix: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what is in a view; links and devices are yielded too and never followed."""
    try:
        listed = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with listed:
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                yield from entries(entry.path, f"{prefix}{entry.name}/")
            else:
                yield f"{prefix}{entry.name}", entry


def is_kept(path: Path) -> bool:
    """Whether salvage keeps it: bytes and links; pipes, sockets and devices hold nothing."""
    mode = path.stat(follow_symlinks=False).st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def copy_durably(source: Path, target: Path) -> None:
    """Copy bytes, or a link as a link, until they are on the disk."""
    shutil.copyfile(source, target, follow_symlinks=False)
    if not target.is_symlink():
        with target.open("rb") as file:
            os.fsync(file.fileno())


def content_name(path: Path) -> BlobId:
    """Return the content's name; what is not a regular file has the name of nothing stored."""
    if not stat.S_ISREG(path.stat(follow_symlinks=False).st_mode):
        return BlobId("0" * 64)
    with path.open("rb") as file:
        return BlobId(hashlib.file_digest(file, "sha256").hexdigest())
