"""Breaks lines that hold a promise, one by one, and says which no test noticed.

    python tools/guards.py [--only WORDS] [--list] [--workers N]

The lines stand in guards.toml. Each is broken in a copy of the tree, and its tests have to fail
there; a line whose tests pass is a survivor, and the program ends with 1. Every worker has a copy
of its own, and makes sure first that tests there run the copy and not what is installed.
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
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("guards.toml")
PARTS = ("src", "tests", "tools", "examples", "docs", "benchmarks", "pyproject.toml")
TIME_LIMIT_S = 900
WORKERS = 2
HOME = Path("tests") / "test_home_of_guards.py"
HOME_TEXT = """
import pathlib

import backshop


def test_the_copy_is_what_runs():
    assert pathlib.Path(backshop.__file__).is_relative_to({tree!r})
"""


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
    try:
        done = tested(tree, guard.tests)
    except subprocess.TimeoutExpired:
        return True  # it stands still: nobody would overlook that
    finally:
        file.write_text(whole, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{guard.name}: the tests did not run\n{done.stdout[-2000:]}")
    return done.returncode == 1


def tested(tree: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy, over the code of that copy."""
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *tests],
        cwd=tree,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
    )


def check_home(tree: Path) -> None:
    """Make sure that the tests of a copy run its code: else a survivor would say nothing."""
    (tree / HOME).write_text(HOME_TEXT.format(tree=str(tree)), encoding="utf-8")
    done = tested(tree, [str(HOME)])
    (tree / HOME).unlink()
    if done.returncode != 0:
        raise RuntimeError(f"tests of the copy do not run the copy\n{done.stdout[-2000:]}")


def broken_all(wanted: list[Guard], folder: Path, workers: int) -> list[Guard]:
    """Break every line, each worker in its own copy; say each at once, and return survivors."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for number in range(min(workers, len(wanted))):
        tree = folder / f"tree{number}"
        tree.mkdir()
        copy_tree(tree)
        check_home(tree)
        trees.put(tree)

    def judged(guard: Guard) -> tuple[bool, float]:
        tree = trees.get()
        began = time.monotonic()
        try:
            return is_noticed(guard, tree), time.monotonic() - began
        finally:
            trees.put(tree)

    survivors = []
    with ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(judged, one): one for one in wanted}
        try:
            for number, done in enumerate(as_completed(running), 1):
                noticed, seconds = done.result()
                survivors += [] if noticed else [running[done]]
                said = f"{'noticed' if noticed else 'SURVIVED'} ({seconds:.0f} s)"
                print(f"{number}/{len(wanted)} {said}: {running[done].name}", flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # no others after one that did not run
    return survivors


def main() -> int:
    """Break every line and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="those whose name or file holds these words")
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--workers", type=int, default=WORKERS, help="how many lines at once")
    asked = parser.parse_args()
    wanted = [one for one in guards() if asked.only in one.name or asked.only in one.file]
    if asked.list:
        print("\n".join(f"{one.file}: {one.name}" for one in wanted))
        return 0
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        survivors = broken_all(wanted, Path(folder).resolve(), max(1, asked.workers))
    print(f"{len(wanted) - len(survivors)} noticed, {len(survivors)} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
