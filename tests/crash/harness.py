"""Kills a scenario at its n-th system call, for every n, and lets the test look at what is left.

The scenario runs in a forked child under `strace` fault injection, which sees inside SQLite too.
It is named as `module:function`, gets a folder and a `say` function, and says what it has been
promised (an acknowledged append, say). A fork server is kept, so that a kill costs about 0.1 s.

    with Harness() as harness:
        for kill in harness.kills("tests.crash.scenarios:append", folder, sample=30):
            check(kill.folder, kill.said)
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, Any

REPOSITORY = Path(__file__).resolve().parents[2]
CALLS = (
    "fsync,fdatasync,syncfs,rename,renameat,renameat2,link,linkat,symlink,unlink,unlinkat,"
    "write,pwrite64,ftruncate,mkdir,mkdirat,copy_file_range,fchmod"
)
_FAR = 65_535  # the largest count strace takes; never reached


@dataclass(frozen=True)
class Outcome:
    """What a child did: what it said before it ended, and how it ended."""

    folder: Path
    said: list[str]
    ended: str
    """`killed`, `done`, or the text of the error it failed with."""
    how: str = ""
    """The scenario, and the call or the moment (with its seed) it was disturbed at."""
    counts: dict[str, int] = field(default_factory=dict)
    """How often each system call was made, where they were traced."""


class Tally:
    """How many children were killed or had their calls fail since the count began, and the last."""

    kills = 0
    failures = 0
    last = ""


class Harness:
    """Runs scenarios in children that are killed, or whose system calls fail."""

    def __enter__(self) -> Harness:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env={"PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}", "PATH": "/usr/bin:/bin"},
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        _pipe(self._server.stdin).close()
        self._server.wait(10)
        _pipe(self._server.stdout).close()

    def run(
        self, scenario: str, folder: Path, inject: str | None = None, calls: str = CALLS
    ) -> Outcome:
        """Run a scenario once; `inject` is strace's, such as `signal=KILL:when=3`."""
        return self._ordered(
            {"scenario": scenario, "folder": str(folder), "inject": inject, "calls": calls}
        )

    def _ordered(self, order: dict[str, Any]) -> Outcome:
        pipe = _pipe(self._server.stdin)
        pipe.write(json.dumps(order) + "\n")
        pipe.flush()
        answer = json.loads(_pipe(self._server.stdout).readline())
        Tally.kills += answer["ended"] == "killed"
        Tally.failures += "error=" in (order["inject"] or "")
        Tally.last = (
            f"{order['scenario']}, {order.get('moment') or order['inject'] or 'undisturbed'}"
        )
        folder, counts = Path(order["folder"]), answer.get("counts", {})
        return Outcome(folder, answer["said"], answer["ended"], Tally.last, counts)

    def random_kills(
        self, scenario: str, start: Path, *, count: int, within_ms: float, seed: int = 5
    ) -> Iterator[Outcome]:
        """Kill the scenario at random moments, without anything tracing it."""
        moments = random.Random(seed)
        for number in range(1, count + 1):
            after_ms = moments.uniform(0, within_ms)
            outcome = self._ordered(
                {
                    "scenario": scenario,
                    "folder": str(_copied(start)),
                    "inject": None,
                    "calls": CALLS,
                    "kill_after_ms": after_ms,
                    "moment": f"killed after {after_ms:.3f} of {within_ms:.3f} ms"
                    f" (moment {number} of seed {seed})",
                }
            )
            yield outcome
            shutil.rmtree(outcome.folder)

    def kills(
        self, scenario: str, start: Path, *, sample: int | None, seed: int = 7
    ) -> Iterator[Outcome]:
        """Kill the scenario at each call (or a seeded sample of them), each time on a fresh copy.

        `start` is the folder the scenario begins with; it is not changed.
        """
        total = self.count(scenario, start)
        for point in _points(total, sample, f"{scenario} {seed}"):
            outcome = self._on_copy(scenario, start, f"signal=KILL:when={point}")
            yield outcome
            shutil.rmtree(outcome.folder)

    def kills_at_each(
        self, scenario: str, start: Path, *, sample: int | None, seed: int = 7
    ) -> Iterator[Outcome]:
        """Kill the scenario at each call of each kind (or a seeded sample of them).

        `strace` counts every kind of call by itself, so that among several kinds only the one
        that is called most often is reached at high numbers; here each has its turn.
        """
        folder = _copied(start)
        whole = self.run(scenario, folder, f"signal=CONT:when={_FAR}")
        shutil.rmtree(folder)
        assert whole.ended.startswith("done"), whole
        places = [
            (call, number)
            for call, count in sorted(whole.counts.items())
            for number in range(1, count + 1)
        ]
        for point in _points(len(places), sample, f"{scenario} {seed}"):
            call, number = places[point - 1]
            outcome = self._on_copy(scenario, start, f"signal=KILL:when={number}", call)
            yield outcome
            shutil.rmtree(outcome.folder)

    def failures(
        self, scenario: str, start: Path, errno: str, *, sample: int | None, calls: str = CALLS
    ) -> Iterator[Outcome]:
        """Make every call from the n-th on fail with an error, as a full disk does."""
        total = self.count(scenario, start, calls)
        for point in _points(total, sample, f"{scenario} {errno} {calls}"):
            outcome = self._on_copy(scenario, start, f"error={errno}:when={point}+", calls)
            yield outcome
            shutil.rmtree(outcome.folder)

    def count(self, scenario: str, start: Path, calls: str = CALLS) -> int:
        """Return how many of the system calls a whole run makes; at least one."""
        folder = _copied(start)
        order = self.run(scenario, folder, f"signal=CONT:when={_FAR}", calls)
        shutil.rmtree(folder)
        assert order.ended.startswith("done"), order
        return int(order.ended.split()[1])

    def _on_copy(self, scenario: str, start: Path, inject: str, calls: str = CALLS) -> Outcome:
        return self.run(scenario, _copied(start), inject, calls)


def _points(total: int, sample: int | None, seed: str) -> list[int]:
    """Return every point of a run, or one of each of so many equal parts of it."""
    if sample is None or sample >= total:
        return list(range(1, total + 1))
    chosen = random.Random(seed)
    ends = [total * part // sample for part in range(sample + 1)]
    return [chosen.randint(first + 1, last) for first, last in pairwise(ends)]


def _copied(start: Path) -> Path:
    target = start.with_name(f"{start.name}-copy")
    shutil.copytree(start, target, symlinks=True)
    return target


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
