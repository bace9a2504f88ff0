"""Files and folders by a name inside an open folder; no link in the place of one is followed.

Whoever goes down segment by segment cannot be led elsewhere by a link that somebody puts on the
way meanwhile. A link where a file is opened raises `OSError` with `ELOOP`, where a folder is opened
with `ELOOP` or `ENOTDIR`.
"""

from __future__ import annotations

import os
from pathlib import Path

READ = os.O_RDONLY | os.O_NONBLOCK  # a pipe that nobody writes to does not hold us up
EDIT = os.O_RDWR | os.O_NONBLOCK
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def open_root(path: Path) -> int:
    """Open a folder by its path, whose links somebody chose: this one is to be used."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY)


def open_folder(name: str | Path, folder: int | None = None) -> int:
    """Open a folder, never through a link; by its path, or by its name in an open one."""
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)


def open_file(
    name: str | Path, flags: int = READ, mode: int = 0o600, *, folder: int | None = None
) -> int:
    """Open a file, never through a link; by its path, or by its name in an open folder."""
    return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=folder)


def make_folder(name: str, folder: int) -> None:
    """Make a folder in an open one."""
    os.mkdir(name, dir_fd=folder)


def remove_file(name: str, folder: int) -> None:
    """Take a name out of an open folder."""
    os.unlink(name, dir_fd=folder)


def remove_folder(name: str, folder: int) -> None:
    """Take an empty folder out of an open one."""
    os.rmdir(name, dir_fd=folder)


def rename(name: str, new: str, folder: int, target: int | None = None) -> None:
    """Give something in an open folder another name, there or in another folder."""
    os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder if target is None else target)


def replace(name: str, new: str, folder: int) -> None:
    """Put a file of an open folder in the place of another."""
    os.replace(name, new, src_dir_fd=folder, dst_dir_fd=folder)


def look(name: str, folder: int) -> os.stat_result:
    """Return what a name in an open folder is; of a link, the link itself."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False)
