"""Whether another program has an open file open too, in order to write into it.

The system tells by a lease: it is given only while nobody can write into the file, and taken back
from whom it was given to as soon as somebody opens it to write. A lease is for the file's owner.
"""

from __future__ import annotations

import fcntl
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import IS_LINUX

Answer = Callable[[], bool | None]


@contextmanager
def watched(handle: int) -> Iterator[Answer]:
    """Give a question to ask while this lasts: may somebody have written since it began?

    The file is open to read. None means that it cannot be told here: another's file, or a file
    system without leases.
    """
    if not IS_LINUX:
        yield lambda: None
        return
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # ignored; SIGIO would end the process
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        yield lambda: True
        return
    except OSError:
        yield lambda: None
        return
    try:
        yield lambda: fcntl.fcntl(handle, fcntl.F_GETLEASE) != fcntl.F_RDLCK
    finally:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
