"""Whether another process of this running system lives, and since when."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ..canon import sha256_hex

_STATE, _THREADS, _BEGAN = 0, 17, 19  # fields of /proc/<pid>/stat after the name
_GONE = ("Z", "X")  # ended and only not yet collected by its parent


@cache
def machine() -> str:
    """Return a name for this running system as processes see each other; empty if there is none.

    Containers have process ids of their own: the same number is another process there.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115  # not a path: `pid:[…]`
    except OSError:
        return ""
    return sha256_hex(f"{boot} {space} {os.uname().nodename}".encode())[:16]


def began(pid: int) -> str:
    """Return when a process began, in the system's own words; empty if it cannot be seen."""
    found = _stat(pid)
    return found[_BEGAN] if found else ""


def is_gone(pid: int, since: str) -> bool:
    """Say whether the process that began then has ended; what cannot be told counts as alive.

    Without a beginning, any process of that id is taken for it.
    """
    try:
        os.kill(pid, 0)  # /proc may hide the processes of other accounts
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    found = _stat(pid)
    if found is None:  # hidden, or gone this moment: the next look tells
        return False
    is_over = found[_STATE] in _GONE and int(found[_THREADS]) <= 1
    return is_over or (since != "" and found[_BEGAN] != since)


def _stat(pid: int) -> list[str] | None:
    """Return the fields after the name, which may hold anything; None if they cannot be seen."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > _BEGAN else None
