"""What the processes of a race do; importable by children."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from backshop.testing.agent import Agent, rails_of


def run_alone(home: str, steps: int) -> list[str]:
    """Walk a run of one's own; return the pending steps seen."""
    agent = Agent(rails_of(Path(home)))
    answer = agent.start("user.flow")
    seen = []
    for number in range(steps):
        seen.append(answer["pending"]["stepId"])
        answer = _go(agent, answer, f"note {number}")
    return seen


def run_together(home: str, state_token: str, steps: int) -> list[str]:
    """Walk the same run as everybody else; return the answers as text."""
    agent = Agent(rails_of(Path(home)))
    answer = agent.answer("continue_workflow", stateToken=state_token).structured
    first = {"stateToken": state_token, "ackToken": answer["ackToken"]}
    said, now = [], {**answer, **first}
    for number in range(steps):
        now = _go(agent, now, f"note {number}")
        said.append(json.dumps(now))
    return said


def _go(agent: Agent, answer: dict[str, Any], notes: str) -> dict[str, Any]:
    """Acknowledge, making the same call again as long as the answer says to."""
    for _ in range(20):
        found = agent.go(answer, notes)
        if "error" not in found:
            return found
        assert found["error"]["retry"]["kind"] == "retryable_after_ms", found
        time.sleep(found["error"]["retry"]["afterMs"] / 1000)
    raise AssertionError("the lock was never free")
