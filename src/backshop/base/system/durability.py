"""What is on the disk and outlives a loss of power: files, names in folders, a file system."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from . import IS_LINUX

_SYNCFS_SINCE = (5, 8)  # the Linux whose syncfs reports what could not be written


def sync(handle: int) -> None:
    """Make an open file durable, or the names in an open folder."""
    os.fsync(handle)


def sync_file(path: Path) -> None:
    """Make what a file holds durable."""
    _sync(path, os.O_RDONLY)


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable."""
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def sync_file_system(folder: Path) -> bool:
    """Write out everything the file system holds back; False where that cannot be relied on."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if call is None or not IS_LINUX or _kernel() < _SYNCFS_SINCE:
        return False
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if call(handle) == 0:
            return True
        number = ctypes.get_errno()
        if number == errno.ENOSYS:
            return False
        raise OSError(number, os.strerror(number))
    finally:
        os.close(handle)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _kernel() -> tuple[int, int]:
    major, minor, *_ = os.uname().release.split(".")
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)
