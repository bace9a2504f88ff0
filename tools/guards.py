"""Breaks lines that hold a promise, one by one, and says which no test noticed.

    python tools/guards.py [--only WORDS] [--list]

The lines stand in guards.toml. Each is broken in a copy of the tree, and its tests have to fail
there; a line whose tests pass is a survivor, and the program ends with 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("guards.toml")
PARTS = ("src", "tests", "tools", "examples", "docs", "benchmarks", "pyproject.toml")
TIME_LIMIT_S = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A line, what breaks it, and the tests that must notice."""

    name: str
    file: str
    line: str
    broken: str
    tests: list[str]

    def broken_text(self, root: Path) -> str:
        """Return the file with the line broken; it has to stand there exactly once."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.line) != 1:
            raise ValueError(f"{self.name}: the line stands {text.count(self.line)} times")
        return text.replace(self.line, self.broken)


def guards() -> list[Guard]:
    """Return every guard of the list."""
    found = tomllib.loads(LIST.read_text(encoding="utf-8"))["guard"]
    return [Guard(**one) for one in found]


def copy_tree(target: Path) -> None:
    """Put a copy of what tests need into a folder."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, target / part)


def is_noticed(guard: Guard, tree: Path) -> bool:
    """Break one line in the copy, run its tests there, and put it back."""
    file = tree / guard.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(guard.broken_text(tree), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *guard.tests],
            cwd=tree,
            env=env,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return True  # it stands still: nobody would overlook that
    finally:
        file.write_text(whole, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{guard.name}: the tests did not run\n{done.stdout[-2000:]}")
    return done.returncode == 1


def main() -> int:
    """Break every line and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="those whose name or file holds these words")
    parser.add_argument("--list", action="store_true", help="only name them")
    asked = parser.parse_args()
    wanted = [one for one in guards() if asked.only in one.name or asked.only in one.file]
    if asked.list:
        print("\n".join(f"{one.file}: {one.name}" for one in wanted))
        return 0
    survivors = []
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        copy_tree(tree)
        for number, one in enumerate(wanted, 1):
            began = time.monotonic()
            noticed = is_noticed(one, tree)
            survivors += [] if noticed else [one]
            said = "noticed" if noticed else "SURVIVED"
            print(
                f"{number}/{len(wanted)} {said} ({time.monotonic() - began:.0f} s): {one.name}",
                flush=True,
            )
    print(f"{len(wanted) - len(survivors)} noticed, {len(survivors)} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
