"""Machines of a team, as processes: each has a home of its own and shares database and contents.

Run as a program it is one worker: `python -m tests.team.hosts '{"home": …, "settings": …}'`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.crash import workshop_story as story

from backshop.app import Backshop
from backshop.base.ambient import SystemClock
from backshop.workshop import holding

REPOSITORY = Path(__file__).resolve().parents[2]
READY = "The worker is ready."
STARTS_S = 120.0


class SkewedClock(SystemClock):
    """The clock of a machine that is wrong by so many milliseconds."""

    def __init__(self, by_ms: int) -> None:
        self._by_ms = by_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._by_ms


def script(delay_ms: int) -> list[dict[str, Any]]:
    """Return the story of the crash tests, told slowly enough to be interrupted."""
    steps = []
    for step in story.SCRIPT:
        respond: dict[str, Any] = dict(step["respond"])
        steps.append({**step, "respond": {**respond, "delay_ms": delay_ms}})
    return steps


def opened(wish: dict[str, Any]) -> Backshop:
    """Open one machine's home with the story's model."""
    clock = SkewedClock(wish.get("skew_ms", 0))
    settings = {"model.default": "scripted:story", **wish["settings"]}
    shop = Backshop.open(wish["home"], settings=settings, clock=clock)
    shop.models.play("story", script(wish.get("delay_ms", 0)))
    return shop


class Worker:
    """A worker in a process of its own."""

    def __init__(self, wish: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.team.hosts", json.dumps(wish)],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}"},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._ready = threading.Event()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self.said.append(line.rstrip())
                if READY in line:
                    self._ready.set()
        self._ready.set()

    def wait_ready(self) -> Worker:
        assert self._ready.wait(STARTS_S), self.said
        assert self.process.poll() is None, self.said
        return self

    def kill(self) -> None:
        """End it as a power failure does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        self._listener.join(10)

    def stop(self) -> int:
        """Ask it to end; return how it did."""
        self.process.terminate()
        code = self.process.wait(60)
        self._listener.join(10)
        return code


def main(wish: dict[str, Any]) -> None:
    name = wish.get("machine")
    if name:  # a process that others on this machine cannot look for
        holding._machine = lambda: name  # type: ignore[assignment]
    wish["settings"] = {**wish["settings"], "team.workers": "inside"}
    with opened(wish) as shop:
        shop.work(turns=4, grace_s=wish.get("grace_s", 0), ready=lambda: _say(READY))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
