"""The state of a session: folded step by step or at once, its shortcuts agree with the rules."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backshop.rails import graph, lineage, recap
from backshop.rails.fold import apply
from backshop.rails.state import EMPTY
from backshop.testing.agent import Agent, rails_of
from backshop.testing.workflows import LOOP_CONTROL, STOP, flow, step

WORK = flow(*(step(f"s{n}", **(LOOP_CONTROL if n % 3 == 1 else {})) for n in range(30)))
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["advance", "silent", "fail", "checkpoint", "mode"]), st.integers(0, 50)
    ),
    min_size=1,
    max_size=16,
)


@pytest.mark.rule("R5.8", "R5.3", "R5.7", "R5.13", "R5.15", "R5.17", "R5.19", "R7.23")
@settings(max_examples=25)
@given(ACTS)
def test_whatever_happens_the_state_says_what_the_events_say(acts):
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(rails_of(Path(folder), workflows=[WORK]))
        places = [agent.start("user.flow")]
        for number, (act, where) in enumerate(acts):
            at = agent.look(places[where % len(places)])
            places.append(_done(agent, act, at, number))
        session, run_id = at["session"]["sessionId"], at["session"]["runId"]
        state = agent.rails.sessions.state(session)
        folded = EMPTY
        for event in agent.rails.sessions.store.read(f"session:{session}"):
            folded = apply(folded, event)
        agent.rails.sessions.store.close()

    assert folded == state
    assert state.runs[run_id].preferred == graph.leaves(state, run_id)[0].node_id
    for node in state.nodes.values():
        chain = graph.lineage(state, node.node_id)
        notes = {key for one in chain for key in _keys(state, one)}
        assert set(node.context) == notes
        assert node.is_rewound == bool(graph.acked_children(state, node))
        assert recap.recap(state, node, _label)["entries"] == _told(state, chain)
        assert lineage.told(state, node) == len(_told(state, chain))
        for upper in chain:
            assert lineage.at_depth(state, node, upper.depth) == upper
        if node.is_rewound:
            _check_branches(state, node)


def _label(node):
    return recap.Label(node.node_id, node.kind)


def _told(state, chain):
    """What a recap of a lineage tells, found by looking at every node of it (R5.15, R5.19)."""
    inside = {one.node_id for one in chain}
    order = []
    for node in chain:
        order.append(node)
        order += [
            child for child in graph.checkpoint_children(state, node) if child.node_id not in inside
        ]
    return [
        {
            "nodeId": one.node_id,
            "stepId": one.node_id,
            "title": one.kind,
            "notesMarkdown": notes.payload.notes_markdown,
            **({"checkpoint": True} if one.kind == "checkpoint" else {}),
        }
        for one in order
        if one.kind != "blocked_attempt" and (notes := graph.notes_of(one)) is not None
    ]


def _check_branches(state, node):
    below = [
        one
        for one in graph.leaves(state, node.run_id)
        if node in graph.lineage(state, one.node_id)[:-1]
    ]
    path = graph.lineage(state, below[0].node_id)[node.depth + 1 :]
    shown: Any = recap.branches(state, node, _label)

    assert shown["downstream"]["entries"] == _told(state, path)
    assert shown["downstream"]["omittedEntries"] == 0
    assert [one["nodeId"] for one in shown["children"] if one["isPreferred"]] in (
        [path[0].node_id],
        [],
    )


def _keys(state, node):
    """The context keys an act wrote on this very node: each writes its own."""
    parent = state.nodes[node.parent].context if node.parent else {}
    return set(node.context) - set(parent)


def _done(agent, act, at, number):
    context = {f"k{number}": number}
    if act == "checkpoint":
        return agent.call(
            "checkpoint_workflow",
            {
                "stateToken": at["stateToken"],
                "checkpointToken": at["checkpointToken"],
                "output": {"notesMarkdown": f"note {number}"},
            },
        )
    if act == "mode":
        return agent.go(at, "n", context=context, preferences={"autonomy": "full_auto_never_stop"})
    artifacts = [] if act == "fail" else [STOP]
    notes = None if act == "silent" else f"note {number}"
    return agent.go(at, notes, artifacts=artifacts, context=context)
