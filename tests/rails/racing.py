"""What the processes of a race do; importable by children."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.rails.agent import Agent, rails_of


def run_alone(home: str, url: str | None, steps: int) -> list[str]:
    """Walk a run of one's own; return the pending steps seen."""
    agent = Agent(rails_of(Path(home), database_url=url))
    answer = _asked(partial(agent.start, "user.flow"))
    seen = []
    for number in range(steps):
        seen.append(answer["pending"]["stepId"])
        answer = _asked(partial(agent.go, answer, f"note {number}"))
    return seen


def run_together(home: str, url: str | None, tokens: dict[str, str], steps: int) -> list[str]:
    """Walk the same run as everybody else; return the answers as text.

    All begin with the tokens of one answer: who fetched its own after somebody had advanced
    would get an ack that branches.
    """
    agent = Agent(rails_of(Path(home), database_url=url))
    said: list[str] = []
    now: dict[str, Any] = dict(tokens)
    for number in range(steps):
        now = _asked(partial(agent.go, now, f"note {number}"))
        said.append(json.dumps(now))
    return said


def _asked(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Call, and make the same call again as long as the answer says to."""
    for _ in range(20):
        found = call()
        if "error" not in found:
            return found
        assert found["error"]["retry"]["kind"] == "retryable_after_ms", found
        time.sleep(found["error"]["retry"]["afterMs"] / 1000)
    raise AssertionError("the lock was never free")
