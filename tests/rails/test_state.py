"""Random histories of a session: whatever happens, it says what a plain model says.

Two programs act on one home, in any order, from any earlier place. One is opened anew, calls are
sent again by the other, and programs die before or after what they commit. The model knows only
which values were sent along on the way to a place. Folded step by step or at once, the state and
its shortcuts agree with the rules.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import PROOF
from tests.histories import Histories
from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import LOOP_CONTROL, STOP, flow, step

from backshop.rails import Settings
from backshop.rails.run import graph, recap
from backshop.rails.session import lineage
from backshop.rails.session.fold import apply
from backshop.rails.session.state import EMPTY

WORK = flow(*(step(f"s{n}", **(LOOP_CONTROL if n % 3 == 1 else {})) for n in range(30)))
MOMENTS = ["nothing", "opened anew", "died before the commit", "died after it", "sent again"]
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["advance", "silent", "fail", "checkpoint", "mode"]),
        st.integers(0, 50),
        st.integers(0, 1),
        st.sampled_from(MOMENTS),
    ),
    min_size=1,
    max_size=16,
)


class _Died(BaseException):
    """What a killed process never gets to raise; the connection is dropped as it would be."""


@pytest.mark.rule("R5.8", "R5.3", "R5.7", "R5.13", "R5.15", "R5.17", "R5.19", "R7.23")
@pytest.mark.timeout(7200 if PROOF else 120)
@settings(max_examples=1000 if PROOF else 25)
@given(ACTS)
def test_whatever_happens_the_state_says_what_the_events_say(acts):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        bold = Settings(agent_may_automate=True)
        agents = [Agent(rails_of(home, workflows=[WORK], settings=bold)) for _ in range(2)]
        places: list[tuple[Any, set[str]]] = [(agents[0].start("user.flow"), set())]
        for number, (act, where, who, moment) in enumerate(acts):
            place, sent = places[where % len(places)]
            if moment == "opened anew":
                agents[who].rails.sessions.store.close()
                agents[who] = Agent(rails_of(home, settings=bold))
            at = agents[who].look(place)
            before = agents[who].events(at)
            if moment.startswith("died"):
                _die(home, moment, act, at, number)
                assert (agents[who].events(at) == before) == (moment != "died after it")
            answer = _done(agents[who], act, at, number)
            if moment == "sent again":
                after = agents[who].events(at)
                assert _done(agents[1 - who], act, at, number) == answer
                assert agents[1 - who].events(at) == after
            places.append((answer, sent if act == "checkpoint" else {*sent, f"k{number}"}))
        session, run_id = at["session"]["sessionId"], at["session"]["runId"]
        state = agents[0].rails.sessions.state(session)
        other = agents[1].rails.sessions.state(session)
        folded = EMPTY
        for event in agents[0].rails.sessions.store.read(f"session:{session}"):
            folded = apply(folded, event)
        for agent in agents:
            agent.rails.sessions.store.close()
    Histories.ended += 1

    assert folded == state == other
    assert sorted(sorted(node.context) for node in state.nodes.values()) == sorted(
        sorted(sent) for _, sent in places
    )
    assert state.runs[run_id].preferred == graph.leaves(state, run_id)[0].node_id
    for node in state.nodes.values():
        chain = graph.lineage(state, node.node_id)
        notes = {key for one in chain for key in _keys(state, one)}
        assert set(node.context) == notes
        assert node.is_rewound == bool(graph.acked_children(state, node))
        assert recap.recap(state, node, _label, _preview)["entries"] == _told(state, chain)
        assert lineage.told(state, node) == len(_told(state, chain))
        for upper in chain:
            assert lineage.at_depth(state, node, upper.depth) == upper
        if node.is_rewound:
            _check_branches(state, node)


def _die(home, moment, act, at, number):
    """Let a third program do the act, and end before or right after its first commit."""
    dying = Agent(rails_of(home, settings=Settings(agent_may_automate=True)))
    database = dying.rails.sessions.store.database
    run = database.execute

    def until_commit(connection, text, params=None):
        if not text.endswith("COMMIT"):
            return run(connection, text, params)
        if moment == "died after it":
            run(connection, text, params)
        raise _Died

    database.execute = until_commit  # type: ignore[method-assign]
    with suppress(_Died):
        _done(dying, act, at, number)
    dying.rails.sessions.store.close()


def _label(node):
    return recap.Label(node.node_id, node.kind)


def _preview(output):
    return output.output_id


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
            "notesMarkdown": notes.payload.notes_markdown if notes else "",
            **({"artifacts": artifacts} if (artifacts := _artifacts(one)) else {}),
            **({"checkpoint": True} if one.kind == "checkpoint" else {}),
        }
        for one in order
        if one.kind != "blocked_attempt" and one.outputs
        for notes in [graph.notes_of(one)]
    ]


def _artifacts(node):
    return [
        {"kind": one.payload.kind, "preview": one.output_id} for one in graph.artifacts_of(node)
    ]


def _check_branches(state, node):
    below = [
        one
        for one in graph.leaves(state, node.run_id)
        if node in graph.lineage(state, one.node_id)[:-1]
    ]
    path = graph.lineage(state, below[0].node_id)[node.depth + 1 :]
    shown: Any = recap.branches(state, node, _label, _preview)

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
