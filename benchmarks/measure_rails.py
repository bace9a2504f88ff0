"""Rails against the length of a run: advance, replay, rehydrate, start, list.

    python -m benchmarks.measure_rails [advances]

Every time is held against one of the same run: an advance late in a session against the first
ones (at most 1.3 times, T3.2).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backshop.testing.agent import Agent, rails_of
from backshop.testing.workflows import flow, loop, step

ADVANCES = 2000
FIRST = 10
LATE_MAX_RATIO = 1.3
WORK = flow(
    loop("pass", step("look"), step("note"), type="for", count=1000, maxIterations=1000),
    step("end"),
)


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds an act takes, and its result."""
    began = time.perf_counter()
    result = act()
    return (time.perf_counter() - began) * 1000, result


def median(act: Callable[[], Any], times: int = 20) -> float:
    """Return the median time of an act that can be repeated."""
    return statistics.median(timed(act)[0] for _ in range(times))


def main(advances: int = ADVANCES) -> int:
    """Measure, print, and say by the exit code whether the bar is met."""
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(rails_of(Path(folder), workflows=[WORK]))
        first = answer = agent.start("user.flow", goal="measure")
        times = []
        for number in range(advances):
            began = time.perf_counter()
            answer = agent.go(answer, f"note {number}")
            times.append((time.perf_counter() - began) * 1000)
        early, late = statistics.median(times[:FIRST]), statistics.median(times[-FIRST:])
        middle = statistics.median(times)
        print(f"advance, first {FIRST}:       {early:8.2f} ms")
        print(f"advance, all {advances}:      {middle:8.2f} ms")
        print(f"advance, last {FIRST}:        {late:8.2f} ms   {late / early:.2f} × the first")
        replay = median(lambda: agent.go(first, "note 0"))
        print(f"replay of the first:    {replay:8.2f} ms   {replay / middle:.2f} × an advance")
        tip, root = median(lambda: agent.look(answer)), median(lambda: agent.look(first))
        print(f"rehydrate the tip:      {tip:8.2f} ms   {tip / middle:.2f} × an advance")
        print(f"rehydrate the root:     {root:8.2f} ms   {root / middle:.2f} × an advance")
        start = median(lambda: agent.start("user.flow"))
        print(f"start:                  {start:8.2f} ms   {start / middle:.2f} × an advance")
        listed = median(lambda: agent.call("list_workflows", {}))
        print(f"list:                   {listed:8.2f} ms   {listed / middle:.2f} × an advance")
        again = Agent(rails_of(Path(folder)))
        cold = timed(lambda: again.look(answer))[0]
        events = agent.events(first)
        print(
            f"first look of a process:{cold:8.2f} ms   {cold / events:.3f} ms for each of {events}"
        )
        return 0 if late <= LATE_MAX_RATIO * early else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ADVANCES))
