"""Whether the process behind a lease still runs: what one machine can tell, and no more (B3.8).

A name of a holder ends with where its process is: the running system, process id, and when that
process began. Only whoever sees the same processes can say that one is gone; a container of its own
or another machine cannot, and counts the holder as alive until its lease runs out.
"""

from __future__ import annotations

import os

from backshop.base.system import liveness


def whereabouts() -> str:
    """Return where this process is, as the end of a holder's name: `machine:pid:began`."""
    pid = os.getpid()
    return f"{liveness.machine()}:{pid}:{liveness.began(pid)}"


def is_dead(holder: str) -> bool:
    """Say whether a holder's process ran here and is gone; what cannot be told counts as alive."""
    parts = holder.split(":")
    if len(parts) not in (4, 5):  # turn, call, machine, pid, and since when (0.1.0: without)
        return False
    where, pid, began = parts[2], parts[3], parts[4] if len(parts) == 5 else ""
    if not where or where != liveness.machine() or not pid.isdigit():
        return False
    return liveness.is_gone(int(pid), began)
