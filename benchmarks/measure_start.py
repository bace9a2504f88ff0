"""How long commands take to begin: against a bare interpreter and one that loads click (S2.4)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from .report import medians, row

ROUNDS = 11
LIST_S = 0.7
VERSION_S = 0.3
IMPORT_S = 0.15


def main() -> None:
    """Print seconds and ratios."""
    with tempfile.TemporaryDirectory(prefix="bench-start-") as home:
        env = {**os.environ, "BACKSHOP_HOME": home}

        def run(*arguments: str) -> None:
            subprocess.run(
                [sys.executable, *arguments], env=env, check=True, stdout=subprocess.DEVNULL
            )

        cli = ("-m", "backshop.cli")
        run(*cli, "bench", "create", "One")
        works = {
            "python": lambda: run("-c", "pass"),
            "click": lambda: run("-c", "import click"),
            "import": lambda: run("-c", "import backshop"),
            "version": lambda: run(*cli, "--version"),
            "list": lambda: run(*cli, "bench", "list"),
            "call": lambda: run(*cli, "call", "StoreGc"),
        }
        found = medians(works, rounds=ROUNDS)
    print("| what | measured | bar | met |\n|---|---|---|---|")
    row(
        "import backshop, beyond bare Python", found["import"] - found["python"], IMPORT_S, unit="s"
    )
    row("backshop --version", found["version"], VERSION_S, unit="s")
    row("backshop bench list", found["list"], LIST_S, unit="s")
    for name in ("version", "list", "call"):
        ratio = found[name] / found["click"]
        print(f"| {name} / a Python that loads click | {ratio:.1f} × | | |")


if __name__ == "__main__":
    main()
