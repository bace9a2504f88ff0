"""Rails against the length of a run and the number of processes.

    python -m benchmarks.measure_rails [advances]

Advance, replay, rehydrate, start and list, at several lengths of one run; then advances by
several processes on one home, a session each. Every time is held against one of the same run: an
advance late in a session against the first ones (at most 1.3 times, T3.2).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import flow, loop, step

from .report import fact, head, row

ADVANCES = 2000
FIRST = 10
LATE_MAX_RATIO = 1.3
LENGTHS = (10, 100, 500, 1000, 2000)
PROCESSES = (1, 2, 4, 8)
EACH = 40  # advances of each process
REPEATED = 15
ACTS = ("advance", "replay", "rehydrate of the tip", "rehydrate of the root", "start", "list")
WORK = flow(
    loop("pass", step("look"), step("note"), type="for", count=1000, maxIterations=1000),
    step("end"),
)


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds an act takes, and its result."""
    began = time.perf_counter()
    result = act()
    return (time.perf_counter() - began) * 1000, result


def median(act: Callable[[], Any], times: int = REPEATED) -> float:
    """Return the median time of an act that can be repeated."""
    return statistics.median(timed(act)[0] for _ in range(times))


def lengths(home: Path, advances: int) -> Iterator[tuple[int, list[float]]]:
    """Yield, for each length of a run, advance, replay, two rehydrates, start and list in ms."""
    agent = Agent(rails_of(home, workflows=[WORK]))
    first = answer = agent.start("user.flow", goal="measure")
    times: list[float] = []
    for number in range(1, advances + 1):
        last = answer
        spent, answer = timed(partial(agent.go, last, f"note {number}"))
        times.append(spent)
        if number in LENGTHS or number == advances:
            yield (
                number,
                [
                    statistics.median(times[-FIRST:]),
                    median(partial(agent.go, last, f"note {number}")),
                    median(partial(agent.look, answer)),
                    median(partial(agent.look, first)),
                    median(partial(agent.start, "user.flow")),
                    median(partial(agent.call, "list_workflows", {})),
                ],
            )
    events = agent.events(first)
    cold = timed(lambda: Agent(rails_of(home)).look(answer))[0]
    fact(f"first look of a fresh process at {events} events, each", cold * 1000 / events, unit="µs")


def walk(home: str) -> tuple[float, float, float]:
    """Advance a run of one's own; return when it began and ended, and the median in ms."""
    agent = Agent(rails_of(Path(home)))
    answer = _patient(partial(agent.start, "user.flow"))
    times = []
    began = time.time()
    for number in range(EACH):
        spent, answer = timed(partial(_patient, partial(agent.go, answer, f"note {number}")))
        times.append(spent)
    return began, time.time(), statistics.median(times)


def _patient(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    while True:  # what is refused because others write is asked again
        found = call()
        if "error" not in found:
            return found
        time.sleep(found["error"]["retry"]["afterMs"] / 1000)


def together(home: Path, processes: int) -> tuple[float, float]:
    """Return the advances of all processes in a second, and the median of one in ms."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        found = [one.result() for one in [pool.submit(walk, str(home)) for _ in range(processes)]]
    spent = max(end for _, end, _ in found) - min(began for began, _, _ in found)
    return processes * EACH / spent, statistics.median(each for _, _, each in found)


def main(advances: int = ADVANCES) -> None:
    """Measure and print the table."""
    head()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        early = late = 0.0
        for number, times in lengths(home, advances):
            for act, spent in zip(ACTS, times, strict=True):
                fact(f"{act} after {number} steps", spent, unit="ms")
            early, late = early or times[0], times[0]
        row(f"the last {FIRST} advances of {advances} / the first", late / early, LATE_MAX_RATIO)
        alone = 0.0
        for processes in PROCESSES:
            rate, each = together(home, processes)
            alone = alone or rate
            fact(f"advances of {processes} processes / of one", rate / alone)
            fact(f"one advance among {processes} processes", each, unit="ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ADVANCES)
