"""What one process keeps in memory after many turns at many benches.

    python -m benchmarks.kept                 2,400 turns at 200 benches, some ten minutes
    python -m benchmarks.kept 50 600          600 turns at 50 benches

The offline model answers at once here, so that an hour of a team's work passes in minutes; the load
of `benchmarks.load` shows the same processes with everything else they do. States of conversations
are kept up to a weight (T3.2): memory rises until that is reached, and not after it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from backshop.app import Backshop

from .load import MESSAGES, QUESTION

ROWS = 20


def megabytes() -> float:
    """Return what this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(benches: int = 200, turns: int = 2400) -> None:
    """Ask at one bench after the other, and print what is held from time to time."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Backshop.open(Path(folder) / "home", settings={"model.default": "scripted:demo"}) as shop,
    ):
        made = [shop.call("WorkbenchCreateSample", {})["workbench_id"] for _ in range(benches)]
        print(
            f"{benches} benches: {megabytes():.0f} MB\n\n| turns | memory | after |\n|---|---|---|"
        )
        begun = time.perf_counter()
        for done in range(1, turns + 1):
            bench = {"workbench_id": made[(done - 1) // MESSAGES % benches]}
            sent = shop.call("WorkshopSendUserMessage", {**bench, "text": QUESTION})
            shop.call("WorkshopRunAgent", {**bench, "message_id": sent["message_id"]})
            if done % max(1, turns // ROWS) == 0:
                after = time.perf_counter() - begun
                print(f"| {done:,} | {megabytes():.0f} MB | {after:.0f} s |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
