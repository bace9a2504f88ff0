"""Edges follow from nodes and attempts; runs that leave them out have them all the same (R4.16)."""

from __future__ import annotations

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, step

from backshop.rails.session.fold import apply
from backshop.rails.session.state import SessionState


def folded(events) -> dict[str, tuple[object, ...]]:
    state = SessionState()
    for event in events:
        state = apply(state, event)
    forks = sum(run.forks for run in state.runs.values())
    return {"": (forks,)} | {name: (node.edge, node.children) for name, node in state.nodes.items()}


@pytest.mark.rule("R4.16", "R5.5")
def test_edges_of_a_run_are_the_same_whether_they_are_stored_or_not(agent):
    ann = agent(flow(step("one"), step("two", **LOOP_CONTROL), step("three")))
    first = ann.start("user.flow")
    run = first["session"]["runId"]
    root = ann.studio("RailsRunGet", runId=run)["preferredTip"]
    second = ann.go(first, "the straight way")
    blocked = ann.go(second, "no decision")  # an attempt that is refused
    ann.go(ann.studio("RailsRunFork", nodeId=root), "a branch that was asked for")
    ann.go(ann.look(first), "a branch that was not")
    stored = list(ann.rails.sessions.store.read(f"session:{first['session']['sessionId']}"))
    without = [one for one in stored if one.kind != "edge_created"]

    assert blocked["kind"] == "blocked"
    assert len(stored) - len(without) == 4
    assert folded(without) == folded(stored)
    assert folded(without)[""] == (2,)
