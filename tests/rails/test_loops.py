"""Loops: entered when asked, left when decided, bounded always (C16–C25)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rails.workflows import ARTIFACT, GO_ON, LOOP_CONTROL, STOP, flow, loop, step

from backshop.rails.compile import compile_data, workflow_hash
from backshop.rails.run import interpret
from backshop.rails.run.interpret import Workflow
from backshop.rails.run.snapshot import Snapshot, load

OVER = {"type": "forEach", "items": "list", "itemVar": "item"}
WHILE = {"type": "while", "conditionSource": ARTIFACT}
DECIDE = step("decide", **LOOP_CONTROL)


def instances(agent, answer) -> set[str]:
    """Every instance that was ever completed, over all snapshots of the session."""
    sessions = agent.rails.sessions
    nodes = sessions.state(answer["session"]["sessionId"]).nodes.values()
    return {key for node in nodes for key in sessions.snapshot(node.snapshot_ref).engine.completed}


def traces(agent, answer) -> list[str]:
    stream = f"session:{answer['session']['sessionId']}"
    return [
        entry.kind
        for event in agent.rails.sessions.store.read(stream)
        if event.kind == "decision_trace_appended"
        for entry in event.fact.entries
    ]


@pytest.mark.rule("C16", "R1.24", "R5.2")
def test_for_each_runs_the_body_once_per_item(agent):
    text = "{{item.name}} {{currentIteration}} {{currentIndex}}"
    ann = agent(flow(step("s"), loop("l", step("a", prompt=text), step("b"), **OVER)))
    first = ann.start("user.flow", context={"list": [{"name": n} for n in "xyz"]})
    answer, seen = ann.go(first), []
    while not answer["isComplete"]:
        seen.append((answer["pending"]["stepId"], answer["pending"]["prompt"].split("\n")[2]))
        answer = ann.go(answer)

    assert seen == [
        ("a", "x 1 0"),
        ("b", "Do b."),
        ("a", "y 2 1"),
        ("b", "Do b."),
        ("a", "z 3 2"),
        ("b", "Do b."),
    ]
    assert {f"l@{n}::{s}" for n in range(3) for s in "ab"} <= instances(ann, first)


@pytest.mark.rule("C17", "R1.25")
def test_a_missing_list_blocks_until_it_is_sent_or_is_skipped_with_a_gap(agent):
    ann = agent(flow(step("s"), loop("l", step("a"), **OVER), step("end")), agent_may_automate=True)
    first = ann.start("user.flow")
    blocked = ann.go(first)
    entered = ann.go(blocked, context={"list": [{}]})
    skipped = ann.go(ann.look(first), preferences={"autonomy": "full_auto_never_stop"})

    assert [b["code"] for b in blocked["blockers"]] == ["MISSING_CONTEXT_KEY"]
    assert blocked["blockers"][0]["pointer"] == {"kind": "context_key", "key": "list"}
    assert blocked["pending"]["stepId"] == "s"
    assert entered["pending"]["stepId"] == "a"
    assert skipped["pending"]["stepId"] == "end"
    assert [g["severity"] for g in skipped["gaps"]] == ["critical"]


@pytest.mark.rule("R1.25")
def test_a_loop_at_the_start_names_the_missing_key_and_records_nothing(agent):
    ann = agent(flow(loop("l", step("a"), **OVER), step("end")), agent_may_automate=True)
    refused = ann.start("user.flow")
    nonstop = ann.start("user.flow", preferences={"autonomy": "full_auto_never_stop"})

    assert refused["error"]["code"] == "PRECONDITION_FAILED"
    assert refused["error"]["details"] == {"contextKey": "list"}
    assert nonstop["pending"]["stepId"] == "end"
    assert len(nonstop["gaps"]) == 1
    assert len(ann.rails.sessions.ids()) == 1


@pytest.mark.rule("C18")
def test_items_whose_fields_are_used_must_be_objects(agent):
    ann = agent(flow(step("s"), loop("l", step("a", prompt="{{item.name}}"), **OVER)))
    blocked = ann.go(ann.start("user.flow", context={"list": ["text"]}))

    assert "item 0 is string, 'text'" in blocked["blockers"][0]["message"]


@pytest.mark.rule("C19", "C20", "R1.25")
def test_the_agent_decides_about_another_pass(agent):
    ann = agent(flow(loop("l", step("a"), DECIDE, **WHILE), loop("m", step("b"), **WHILE)))
    answer, seen = ann.start("user.flow"), []
    for decision in (GO_ON, GO_ON, {**STOP, "loopId": "quite-another"}):
        seen.append(answer["pending"]["loop"]["iteration"])
        answer = ann.go(ann.go(answer), None, artifacts=[decision])

    assert seen == [1, 2, 3]
    assert answer["pending"]["stepId"] == "b"
    assert answer["pending"]["loop"] == {"loopId": "m", "iteration": 1, "maxIterations": 5}


@pytest.mark.rule("C21", "R1.26")
def test_a_loop_ends_at_its_limit_with_a_warning(agent):
    ann = agent(flow(loop("l", DECIDE, **WHILE, maxIterations=2), step("end")))
    answer = ann.start("user.flow")
    for _ in range(2):
        answer = ann.go(answer, None, artifacts=[GO_ON])

    assert answer["kind"] == "ok"
    assert answer["pending"]["stepId"] == "end"
    assert [(g["severity"], g["reason"]["detail"]) for g in answer["gaps"]] == [
        ("warning", "loop_limit_reached")
    ]
    assert [w["code"] for w in answer["warnings"]] == ["LOOP_LIMIT_REACHED"]


@pytest.mark.rule("C22", "R4.15")
def test_a_loop_that_is_not_entered_leaves_its_trace(agent):
    done = {"type": "until", "condition": {"var": "done", "equals": True}}
    ann = agent(flow(loop("l", step("a"), **done), step("end")))
    first = ann.start("user.flow", context={"done": True})

    assert first["pending"]["stepId"] == "end"
    assert traces(ann, first) == ["evaluated_condition", "exited_loop", "selected_next_step"]


@pytest.mark.rule("C23")
def test_a_pass_that_has_begun_is_finished(agent):
    going = {"type": "while", "condition": {"var": "go"}}
    ann = agent(flow(loop("l", step("a"), step("b"), **going), step("end")))
    first = ann.start("user.flow", context={"go": True})
    middle = ann.go(first, context={"go": False})

    assert middle["pending"]["stepId"] == "b"
    assert ann.go(middle)["pending"]["stepId"] == "end"


@pytest.mark.rule("C24")
def test_a_loop_decision_is_required_or_counts_as_stop(agent):
    ann = agent(
        flow(loop("l", DECIDE, step("rest"), **WHILE), step("end")), agent_may_automate=True
    )
    first = ann.start("user.flow")
    blocked = ann.go(first, "no artifact")
    nonstop = ann.go(ann.look(first), preferences={"autonomy": "full_auto_never_stop"})

    assert [b["code"] for b in blocked["blockers"]] == ["MISSING_REQUIRED_OUTPUT"]
    assert blocked["example"] == STOP
    assert nonstop["pending"]["stepId"] == "end"
    assert [g["severity"] for g in nonstop["gaps"]] == ["critical"]


@pytest.mark.rule("C25", "R1.23")
def test_loops_stand_in_loops(agent):
    twice = {"type": "for", "count": 2}
    ann = agent(flow(loop("o", loop("i", step("s"), **twice), step("t"), **twice)))
    answer = first = ann.start("user.flow")
    seen = []
    while not answer["isComplete"]:
        seen.append(answer["pending"]["stepId"])
        answer = ann.go(answer)

    assert seen == ["s", "s", "t", "s", "s", "t"]
    assert {"o@0/i@1::s", "o@1/i@0::s", "o@1::t"} <= instances(ann, first)


def compiled(*steps) -> Workflow:
    outcome = compile_data(flow(*steps))
    assert outcome.compiled is not None, outcome.findings
    return Workflow(outcome.compiled, workflow_hash(outcome.compiled))


def test_nested_loops_without_eligible_steps_end_in_bounded_work():
    never = step("s", runCondition={"var": "never"})
    inner = loop("d", never, type="for", count=1000, maxIterations=1000)
    for name in "cba":
        inner = loop(name, inner, type="for", count=1000, maxIterations=1000)
    choice = interpret.begin(compiled(inner), {}, skip_missing=False)

    assert choice.engine is not None
    assert choice.engine.is_complete
    assert {one.loop_id for one in choice.limits} == set("abcd")


@pytest.mark.parametrize(("most", "ended_early"), [(3, {"a", "b"}), (100, set())])
def test_passes_of_nested_loops_are_counted_together(monkeypatch, most, ended_early):
    monkeypatch.setattr(interpret, "MAX_PASSES", most)
    never = step("s", runCondition={"var": "never"})
    inner = loop("b", never, type="for", count=4, maxIterations=9)

    choice = interpret.begin(
        compiled(loop("a", inner, type="for", count=4, maxIterations=9)), {}, skip_missing=False
    )

    assert choice.engine is not None
    assert choice.engine.is_complete
    assert {one.loop_id for one in choice.limits} == ended_early


@pytest.mark.rule("C15", "R1.22")
def test_the_first_eligible_step_is_pending_and_none_means_complete():
    never = {"runCondition": {"var": "never"}}
    second = interpret.begin(compiled(step("a", **never), step("b")), {}, skip_missing=False)
    none = interpret.begin(compiled(step("a", **never)), {}, skip_missing=False)

    assert second.engine is not None
    assert second.engine.pending == interpret.Pending("b")
    assert none.engine is not None
    assert none.engine.is_complete


@pytest.mark.rule("R1.22")
def test_a_step_skipped_earlier_becomes_eligible_when_context_changes(agent):
    ann = agent(flow(step("a", runCondition={"var": "x"}), step("b"), step("c")))
    first = ann.start("user.flow")
    back = ann.go(first, context={"x": True})

    assert first["pending"]["stepId"] == "b"
    assert back["pending"]["stepId"] == "a"
    assert ann.go(back)["pending"]["stepId"] == "c"


BODIES = st.lists(
    st.sampled_from(["step", "skip", "for0", "for2", "while", "nest"]), min_size=1, max_size=4
)


def made(kinds: list[str], prefix: str = "n") -> list[dict[str, object]]:
    steps = []
    for number, kind in enumerate(kinds):
        name = f"{prefix}{number}"
        body = step(f"{name}s")
        if kind == "step":
            steps.append(step(name))
        elif kind == "skip":
            steps.append(step(name, runCondition={"var": "nothing"}))
        elif kind == "while":
            going = {"type": "while", "condition": {"var": "go"}, "maxIterations": 3}
            steps.append(loop(name, body, **going))
        elif kind == "nest":
            inner = loop(f"{name}i", body, type="for", count=2)
            steps.append(loop(name, inner, step(f"{name}t"), type="for", count=2))
        else:
            steps.append(loop(name, body, step(f"{name}t"), type="for", count=int(kind[3])))
    return steps


@pytest.mark.rule("R5.1", "R5.2", "R1.22")
@given(BODIES, st.lists(st.booleans(), max_size=40))
def test_every_walk_ends_repeats_itself_and_survives_storage(kinds, goes):
    workflow = compiled(*made(kinds))
    choice = interpret.begin(workflow, {"go": True}, skip_missing=False)
    seen = set()
    for number in range(200):
        assert choice.engine is not None
        assert load(Snapshot(workflow.hash, choice.engine).data).engine == choice.engine
        if choice.engine.pending is None:
            break
        assert choice.engine.pending.key not in seen
        seen.add(choice.engine.pending.key)
        context = {"go": goes[number]} if number < len(goes) else {}
        engine = choice.engine
        choice = interpret.after(workflow, engine, context, skip_missing=False)
        assert choice == interpret.after(workflow, engine, context, skip_missing=False)
    else:
        raise AssertionError("the walk did not end")
