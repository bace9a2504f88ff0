"""Names of files, given and exchanged in one step; and where an open file really lies."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

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
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done = rename(
        _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    if done == 0:
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
