"""What is stored: the closed set of facts, their order, their ids and keys (R4)."""

from __future__ import annotations

import re

import pytest
from tests.rails.workflows import LOOP_CONTROL, STOP, flow, step

from backshop.base.event import registered
from backshop.base.ids import did
from backshop.rails.session import events as ev

KINDS = {
    *("session_created", "observation_recorded", "run_started", "node_created", "edge_created"),
    *("advance_recorded", "checkpoint_recorded", "validation_performed", "node_output_appended"),
    *("session_output_appended", "context_set", "preferences_changed", "capability_observed"),
    *("user_input_recorded", "gap_recorded", "divergence_recorded", "assessment_recorded"),
    *("warning_recorded", "decision_trace_appended", "preferences_wished"),
}
KEY = re.compile(r"[a-z0-9_:>-]{1,256}")
RICH = flow(
    step(
        "one",
        userInputs=[{"id": "ok", "reason": "needs_user_approval", "prompt": "Ok?"}],
        assessmentRefs=["sure"],
        **LOOP_CONTROL,
    ),
    step("two", runCondition={"var": "never"}),
    step("three"),
    assessments=[
        {
            "id": "sure",
            "purpose": "How sure?",
            "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}],
        }
    ],
    capabilities={"web_browsing": "preferred"},
)
SENT = [
    STOP,
    {"kind": "wr.user_input", "inputId": "ok", "decision": "approved"},
    {"kind": "wr.assessment", "dimensions": {"d": "High"}},
    {"kind": "wr.capability_observation", "capability": "web_browsing", "status": "unavailable"},
    {"kind": "wr.workflow_divergence", "reason": "safety_stop", "summary": "Stopped."},
    {"kind": "wr.gap", "severity": "info", "summary": "Missing."},
]


def stored(agent, answer):
    stream = f"session:{answer['session']['sessionId']}"
    return list(agent.rails.sessions.store.read(stream))


@pytest.mark.rule("R4.2", "R4.19")
def test_the_facts_of_a_session_are_a_closed_set():
    ours = {kind.name for kind in registered() if kind.cls.__module__ == ev.__name__}

    assert ours == KINDS


@pytest.mark.rule("R4.16", "R4.2", "R4.10", "R4.3")
def test_facts_come_in_their_order_with_derived_ids(agent, tmp_path):
    ann = agent(RICH, agent_may_automate=True, agent_may_approve=True)
    first = ann.start(
        "user.flow",
        workspacePath=str(tmp_path),
        context={"a": 1},
        preferences={"riskPolicy": "balanced"},
    )
    begun = len(stored(ann, first))
    ann.go(
        first,
        "n",
        artifacts=SENT,
        context={"b": 2},
        preferences={"autonomy": "full_auto_stop_on_user_deps"},
    )
    events = stored(ann, first)
    session = first["session"]["sessionId"]
    kinds = [event.kind for event in events]

    assert list(dict.fromkeys(kinds[:begun])) == [
        *("session_created", "observation_recorded", "run_started", "node_created"),
        *("context_set", "preferences_changed", "decision_trace_appended"),
    ]
    assert list(dict.fromkeys(kinds[begun:])) == [
        *("advance_recorded", "node_created", "edge_created", "context_set"),
        *("user_input_recorded", "validation_performed", "assessment_recorded"),
        *("capability_observed", "divergence_recorded", "gap_recorded", "preferences_changed"),
        *("node_output_appended", "decision_trace_appended", "warning_recorded"),
    ]
    assert all(KEY.fullmatch(event.dedupe_key) for event in events)
    assert all(event.dedupe_key.startswith(f"{event.kind}:{session}") for event in events)
    assert [event.event_id for event in events] == [
        did("evt", session, event.dedupe_key) for event in events
    ]
    assert str(tmp_path) not in str([event.data for event in events])


@pytest.mark.rule("R4.12", "R4.21", "R5.3")
def test_facts_of_an_acknowledgement_hang_on_the_node_it_makes(agent):
    ann = agent(RICH)
    first = ann.start("user.flow")
    begun = len(stored(ann, first))
    ann.go(first, "n", artifacts=SENT)
    recorded, *rest = stored(ann, first)[begun:]
    made = recorded.fact.outcome.to_node_id

    assert recorded.scope_b == did("node", first["session"]["runId"], "root")
    assert made == did("node", recorded.scope_b, recorded.fact.attempt_id)
    assert recorded.fact.attempt_id == did("att", recorded.scope_b, "ack", 0)
    assert {event.scope_b for event in rest} - {None} == {made}
    assert {event.scope_a for event in rest} == {first["session"]["runId"]}
