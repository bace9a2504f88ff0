"""Names of files, given and exchanged in one step; and where an open file really lies."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100


def link(source: str | Path, name: Path) -> None:
    """Give a file one more name.

    Raises:
        FileExistsError: something has that name; it stays as it is.
    """
    os.link(source, name)


def exchange(one: Path, two: Path) -> bool:
    """Swap two names atomically; False where the system cannot (B3.5)."""
    return _renamed(_AT_FDCWD, one, two, _RENAME_EXCHANGE)


def exchange_in(folder: int, one: str, two: str) -> bool:
    """Swap two names of an open folder atomically; False where the system cannot."""
    return _renamed(folder, one, two, _RENAME_EXCHANGE)


def rename_new(folder: int, name: str, new: str) -> None:
    """Give something in an open folder another name that is free, in one step.

    Where the system cannot, a file is linked and its old name taken away; then both are there for
    a moment.

    Raises:
        FileExistsError: something has that name; both stay as they are.
    """
    if not _renamed(folder, name, new, _RENAME_NOREPLACE):
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(name, dir_fd=folder)


def _renamed(folder: int, name: str | Path, new: str | Path, how: int) -> bool:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(folder, os.fsencode(name), folder, os.fsencode(new), ctypes.c_uint(how)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))


def real_path(handle: int, path: Path) -> str:
    """Return where an open file really lies; of the handle itself where the system tells."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115  # once per file
    except OSError:
        return os.path.realpath(path)
