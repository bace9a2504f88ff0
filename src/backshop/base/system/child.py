"""Child processes: forked, bounded in memory, ended with all they started."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import suppress

from . import require_linux


def fork() -> int:
    """Go on as two processes; return 0 in the child, its id in the parent."""
    return os.fork()


def end(pid: int) -> None:
    """Kill a child of ours, whatever it does, and collect it."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def end_group(pid: int) -> None:
    """Kill a child that leads a session of its own, with all it started; one that is gone is."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def bound_memory(size_bytes: int) -> None:
    """Bound the address space; a bound that stands already cannot be raised, only kept."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def leave_no_core() -> None:
    """Let no copy of this process's memory be written when it crashes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def mapped_bytes() -> int:
    """Return how much of the address space this process uses already."""
    require_linux("a bound on memory")
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # not a user's file
        return int(file.read().split()[0]) * resource.getpagesize()
