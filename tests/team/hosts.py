"""Machines of a team, as processes: each has a home of its own, all share database and contents."""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.crash import workshop_story as story
from tests.team import apart

from backshop.app import Backshop
from backshop.app import shop as home
from backshop.app.operation import queue, worker
from backshop.base.ambient import SystemClock
from backshop.base.system import liveness

STARTS_S = 120.0


class SkewedClock(SystemClock):
    """The clock of a machine that is wrong by so many milliseconds."""

    def __init__(self, by_ms: int) -> None:
        self._by_ms = by_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._by_ms


STUCK_AT, STUCK_MS = 5, 600_000
"""After three tool calls, in the middle of an item that has written, and longer than any test."""


def script(delay_ms: int, *, is_stuck: bool = False) -> list[dict[str, Any]]:
    """Return the story of the crash tests; its model may be slow, or never go on by itself."""
    steps = []
    for number, step in enumerate(story.SCRIPT):
        respond: dict[str, Any] = dict(step["respond"])
        waits = STUCK_MS if is_stuck and number == STUCK_AT else delay_ms
        steps.append({**step, "respond": {**respond, "delay_ms": waits}})
    return steps


def opened(wish: dict[str, Any], *, door: str = "python") -> Backshop:
    """Open one machine's home with the story's model."""
    clock = SkewedClock(wish.get("skew_ms", 0))
    settings = {"model.default": "scripted:story", **wish["settings"]}
    shop = Backshop.open(wish["home"], settings=settings, clock=clock, door=door)
    told = script(wish.get("delay_ms", 0), is_stuck=wish.get("is_stuck", False))
    shop.models.play("story", wish.get("script") or told)
    return shop


class Worker:
    """A worker in a process of its own, with a log of what it said."""

    def __init__(self, wish: dict[str, Any]) -> None:
        self._log = Path(f"{wish['home']}.log")
        self._ready = _FORKS.Event()
        args = (wish, dict(os.environ), str(self._log), self._ready)
        self.process = _FORKS.Process(target=_child, args=args, daemon=True)
        self.process.start()

    @property
    def said(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    @property
    def network(self) -> str:
        """The network it is on."""
        return self.said.partition("on ")[2].partition("\n")[0]

    def wait_ready(self) -> Worker:
        assert self._ready.wait(STARTS_S), self.said
        return self

    def kill(self) -> None:
        """End it as a power failure does."""
        self.process.kill()
        self.process.join(10)

    def stop(self) -> int | None:
        """Ask it to end; return how it did."""
        self.process.terminate()
        return self.wait()

    def wait(self) -> int | None:
        """Wait for its end; return how it ended."""
        self.process.join(STARTS_S)
        return self.process.exitcode


def calling(wish: dict[str, Any], name: str, request: dict[str, Any]) -> Any:
    """Start a server in a process of its own that was asked for one thing."""
    made = _FORKS.Process(target=_call, args=(wish, dict(os.environ), name, request), daemon=True)
    made.start()
    return made


def _call(wish: dict[str, Any], environment: dict[str, str], name: str, request: Any) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with opened(wish) as shop:
        shop.call(name, request)


def _child(wish: dict[str, Any], environment: dict[str, str], log: str, ready: Any) -> None:
    os.environ.clear()
    os.environ.update(environment)
    with Path(log).open("w") as said:
        os.dup2(said.fileno(), 2)
    if "way_out" in wish:
        apart.leave_the_network(os.environ["AWS_ENDPOINT_URL"], wish["way_out"])
        print(f"on {apart.network()}", file=sys.stderr, flush=True)
    name = wish.get("machine")
    if name:  # a process that others on this machine cannot look for
        vars(liveness)["machine"] = lambda: name
    wish["settings"] = {**wish["settings"], "team.workers": "inside"}
    if "contents_delays_s" in wish:
        patch(
            "backshop.store.blob.object_storage.TRANSIENT_DELAYS_S", wish["contents_delays_s"]
        ).start()
    if "store_tries" in wish:
        vars(worker)["STORE_TRIES"] = wish["store_tries"]
    if "version" in wish:
        vars(queue)["__version__"] = vars(home)["__version__"] = wish["version"]
    with opened(wish, door="worker") as shop:
        shop.work(turns=4, grace_s=wish.get("grace_s", 0), ready=ready.set)


_FORKS = multiprocessing.get_context("forkserver")  # a warm process to begin from
_FORKS.set_forkserver_preload(
    ["tests.team.hosts", "backshop.app.operation.worker", "backshop.bench.tools"]
)
