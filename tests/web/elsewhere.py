"""What happens on a home elsewhere, while a server shows it: commands of processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.web.browsing import Served

ROOT = Path(__file__).resolve().parents[2]


def environment(served: Served) -> dict[str, str]:
    """Return what such a process finds around it."""
    return {
        "PYTHONPATH": str(ROOT / "src"),
        "BACKSHOP_HOME": str(served.shop.config.home),
        "HOME": os.environ["HOME"],
        "PATH": os.environ["PATH"],
    }


def terminal(served: Served, *arguments: str) -> str:
    """Run a command as somebody does in a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "backshop.cli", *arguments],
        env=environment(served),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def committed_ms(served: Served) -> int:
    """Return when the newest fact was committed."""
    store = served.shop.store
    return store.tail(store.last_seq() - 1, 1)[0].at_ms
