"""Where a publish or a restore stands, said while it is at work (B9.2, B10.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from backshop.base.progress import report, watched

from ..repository import BenchRepository

STEP_PERCENT = 5  # of files, so that a long phase says so some twenty times
ROLLING_BACK = "rolling_back"

Begin = Callable[[str], None]


@contextmanager
def announced(
    desk: BenchRepository,
    bench_id: str,
    event: str,
    phases: tuple[str, ...],
    undone: tuple[str, ...],
) -> Iterator[Begin]:
    """Give a function that says which phase begins; a failure in one of `undone` says that too.

    What the work reports of its files becomes the percentage of the phase it is in.
    """
    phase, percent = "", 0

    def begin(name: str) -> None:
        nonlocal phase, percent
        phase, percent = name, 0
        desk.announce(bench_id, event, {"phase": name})
        report(name, 0, 0)  # how far its files are is told below it; phases have no share of it

    def counted(what: str, done: int, total: int) -> None:
        nonlocal percent
        part = done * 100 // total if total else 0
        if what not in phases and part >= percent + STEP_PERCENT:
            percent = part
            desk.announce(bench_id, event, {"phase": phase, "percent": part})

    with watched(counted):
        try:
            yield begin
        except BaseException:
            if phase in undone:
                desk.announce(bench_id, event, {"phase": ROLLING_BACK})
            raise
