"""What the harness kills of `backshop do`: all of it, and its end, where results go back."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.cli import one_line_program as program
from tests.crash.bench_scenarios import Bench

from backshop.app import Backshop
from backshop.cli import main

Say = Callable[[str], None]
LARGE = "large\n" * 20_000
OWN = {"a.txt": "old\n", "b.txt": "old b\n"}
DRAFT = {"a.txt": LARGE, "b.txt": "new b\n", "deep/made.txt": "made\n"}


def start_draft(folder: Path) -> None:
    """Make a home with a Draft of the person's own files."""
    (folder / "outside").mkdir()
    with Bench(folder) as bench:
        bench.add(OWN)
        bench.write(DRAFT)


def finish(folder: Path, say: Say) -> None:
    """Publish the Draft and write it back."""
    with Bench(folder) as bench:
        bind(bench)
        bench.call("DraftPublish")
        say("published")
        bench.call("WorkbenchWriteBack")
        say("written")


def bind(bench: Bench) -> None:
    """Say where the files are from."""
    own = [{"path": path, "target": str(bench.folder / "outside" / path)} for path in OWN]
    bench.call("WorkbenchBindOriginals", originals=own)


def start_file(folder: Path) -> None:
    """Make a home, and a file of the person's own."""
    (folder / "outside").mkdir()
    (folder / "outside" / "a.txt").write_text("old\n")
    Backshop.open(folder / "home").close()


def do(folder: Path, say: Say) -> None:
    """Do it all in one line."""
    Backshop.open = program.scripted(Backshop.open)  # type: ignore[method-assign]
    words = ("do", "Say it anew", str(folder / "outside" / "a.txt"), "--yes")
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = main([*words, "--model", "scripted:test", "--home", str(folder / "home")])
    say(f"ended {code}")
