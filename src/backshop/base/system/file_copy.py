"""Content that goes from one open file to another inside the system, without being read here."""

from __future__ import annotations

import errno
import fcntl
import os

_FICLONE = 0x40049409
UNSUPPORTED = frozenset(
    {
        *(errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.EPERM, errno.ENOSYS),
        errno.EACCES,
    }
)
"""What `OSError.errno` is where a way is not to be had: the next one is tried."""


def clone(source: int, target: int) -> None:
    """Let both files share what is stored until one of them changes."""
    fcntl.ioctl(target, _FICLONE, source)


def copy_range(source: int, target: int) -> None:
    """Copy from here on, as far as the system does; nothing where it does not."""
    copy = getattr(os, "copy_file_range", None)  # Linux alone has it
    while copy is not None and copy(source, target, 1 << 30):
        pass
