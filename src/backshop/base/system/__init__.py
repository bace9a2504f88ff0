"""What operating systems do each in its own way; nowhere else is that known.

Locks between processes, durability, links and open folders, child processes and the fence around
them, life of other processes, accounts, signals: one module each, all for Linux. `sys.platform` is
asked here alone. On another system of the same family a module does the plain and safe thing, and
says so, or refuses; on any other the first import refuses.
"""

from __future__ import annotations

import errno
import sys

if sys.platform == "win32":
    raise ImportError("Backshop runs on Linux, and this is Windows; inside WSL it is Linux")

IS_LINUX = sys.platform == "linux"
NAME = sys.platform


def require_linux(what: str) -> None:
    """Refuse what no other system does safely.

    Raises:
        OSError: this is another system.
    """
    if not IS_LINUX:
        raise OSError(errno.ENOSYS, f"{what} needs Linux, and this is {NAME}")
