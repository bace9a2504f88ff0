"""Whether the process behind a lease still runs: what one machine can tell, and no more (B3.8).

A name of a holder ends with where its process is: the running system, process id, and when that
process began. Only whoever sees the same processes can say that one is gone; a container of its own
or another machine cannot, and counts the holder as alive until its lease runs out.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from backshop.base.canon import sha256_hex

_STATE, _THREADS, _BEGAN = 0, 17, 19  # fields of /proc/<pid>/stat after the name
_GONE = ("Z", "X")  # ended and only not yet collected by its parent


def whereabouts() -> str:
    """Return where this process is, as the end of a holder's name: `machine:pid:began`."""
    pid = os.getpid()
    found = _stat(pid)
    return f"{machine()}:{pid}:{found[_BEGAN] if found else ''}"


def is_dead(holder: str) -> bool:
    """Say whether a holder's process ran here and is gone; what cannot be told counts as alive."""
    parts = holder.split(":")
    if len(parts) not in (4, 5):  # turn, call, machine, pid, and since when (0.1.0: without)
        return False
    where, pid, began = parts[2], parts[3], parts[4] if len(parts) == 5 else ""
    if not where or where != machine() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)  # /proc may hide the processes of other accounts
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    found = _stat(int(pid))
    if found is None:  # hidden, or gone this moment: the next look tells
        return False
    is_over = found[_STATE] in _GONE and int(found[_THREADS]) <= 1
    return is_over or (began != "" and found[_BEGAN] != began)


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


def _stat(pid: int) -> list[str] | None:
    """Return the fields after the name, which may hold anything; None if they cannot be seen."""
    try:
        text = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > _BEGAN else None
