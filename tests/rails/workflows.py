"""Small workflows for tests."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def step(name: str, **more: Any) -> Json:
    """Return a step that asks for itself."""
    return {"id": name, "title": name.capitalize(), "prompt": f"Do {name}.", **more}


def flow(*steps: Json, name: str = "user.flow", **more: Any) -> Json:
    """Return a workflow of these steps."""
    return {
        "id": name,
        "name": "Flow",
        "description": "A workflow of a test.",
        "version": "1.0.0",
        "steps": list(steps),
        **more,
    }


def loop(name: str, *body: Json, **settings: Any) -> Json:
    """Return a loop around a body."""
    return {
        "id": name,
        "type": "loop",
        "title": name.capitalize(),
        "loop": {"maxIterations": 5, **settings},
        "body": list(body),
    }


ARTIFACT = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}
LOOP_CONTROL = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}
STOP = {"kind": "wr.loop_control", "decision": "stop"}
GO_ON = {"kind": "wr.loop_control", "decision": "continue"}
