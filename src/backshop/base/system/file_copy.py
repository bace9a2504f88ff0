"""Content that goes from one open file to another inside the system, without being read here."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress

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


def copy_attributes(source: int, target: int) -> None:
    """Give a file the owner, rights and further attributes of another, as far as one may."""
    found, own = os.fstat(source), os.fstat(target)
    if (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid):
        with suppress(PermissionError):  # only the administrator gives files away
            os.fchown(target, found.st_uid, found.st_gid)
    os.fchmod(target, stat.S_IMODE(found.st_mode) & 0o777)
    for name in _further(source):
        with suppress(OSError):  # some belong to the system, and some places have none
            os.setxattr(target, name, os.getxattr(source, name))


def _further(handle: int) -> list[str]:
    listed = getattr(os, "listxattr", None)  # Linux alone has it
    try:
        return [] if listed is None else list(listed(handle))
    except OSError:
        return []
