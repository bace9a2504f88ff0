"""How long commands take to begin, in processor time of their own process (S2.4).

Processor time, because the clock says more about what else the machine does; on an idle machine
the two agree within a few hundredths.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from .report import child_env, fact, head, row

ROUNDS = 11
CLI = ("-m", "backshop.cli")
WORKS = {
    "python": ("-c", "pass"),
    "click": ("-c", "import click"),
    "import": ("-c", "import backshop"),
    "version": (*CLI, "--version"),
    "list": (*CLI, "bench", "list"),
    "gc": (*CLI, "call", "StoreGc"),
}


def main() -> None:
    """Print seconds, and ratios to an interpreter that loads click."""
    times: dict[str, list[float]] = {name: [] for name in WORKS}
    with tempfile.TemporaryDirectory(prefix="bench-start-") as home:
        env = child_env(BACKSHOP_HOME=home)
        _seconds((*CLI, "bench", "create", "One"), env)
        for arguments in WORKS.values():
            _seconds(arguments, env)
        for _ in range(ROUNDS):
            for name, arguments in WORKS.items():
                times[name].append(_seconds(arguments, env))
    found = {name: statistics.median(taken) for name, taken in times.items()}
    head()
    row("import backshop, beyond bare Python", found["import"] - found["python"], 0.15, unit="s")
    row("backshop --version", found["version"], 0.3, unit="s")
    fact("backshop bench list", found["list"], unit="s")
    for name in ("version", "list", "gc"):
        fact(f"{name} / a Python that loads click", found[name] / found["click"])


def _seconds(arguments: tuple[str, ...], env: dict[str, str]) -> float:
    """Return the processor time of one process."""
    child = subprocess.Popen([sys.executable, *arguments], env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, arguments
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
