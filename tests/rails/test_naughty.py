"""Naughty strings in every place a string can be: kept as they are, or refused in words."""

from __future__ import annotations

import json

import pytest
from tests.rails.workflows import flow, step

MORE = ["\x00", "a\x00b", "\u202e", "{{wr.", "{{x}}", "[unset: x]", "\n\n[TRUNCATED]", "../" * 40]


@pytest.fixture(scope="module")
def strings(corpora, scaled):
    """Every string of the corpus, or a part of them; comments are strings too."""
    text = (corpora / "strings" / "naughty.txt").read_text(encoding="utf-8")
    found = [line for line in text.split("\n") if line.strip()]
    return [*found[:: scaled(25, 4)], *MORE]


def facts(bundle: str) -> list[object]:
    return [(one["eventId"], one["data"]) for one in json.loads(bundle)["session"]["events"]]


def fits(text: str) -> bool:
    return "\x00" not in text and "{{" not in text


@pytest.mark.needs("corpora")
@pytest.mark.rule("R7.3", "R7.11", "R5.15")
def test_notes_context_and_artifacts_come_back_as_they_were_given(agent, strings):
    ann = agent(flow(*(step(f"s{n}") for n in range(len(strings) + 1))))
    answer = first = ann.start("user.flow", context={"naughty": strings})
    for text in strings:
        answer = ann.go(
            answer, text, artifacts=[{"kind": text[:40] or "x", text: text}], context={"last": text}
        )
        assert answer.get("kind") == "ok", (text, answer)
        assert ann.look(answer)["recap"]["entries"][-1]["notesMarkdown"] == text
    state = ann.rails.sessions.state(first["session"]["sessionId"])
    tip = state.nodes[state.runs[first["session"]["runId"]].preferred]

    assert tip.context == {"naughty": strings, "last": strings[-1]}


@pytest.mark.needs("corpora")
@pytest.mark.rule("R7.3", "R9.2", "R9.7")
def test_a_workflow_and_a_session_made_of_them_travel_unchanged(agent, strings):
    said = [text for text in strings if fits(text)]
    steps = [step(f"s{n}", title=text[:100], prompt=text) for n, text in enumerate(said)]
    ann = agent(flow(*steps, name="user.naughty", description=said[0][:500]))
    answer = first = ann.start("user.naughty", goal=said[-1][:400])
    for text in said:
        assert text.rstrip("\r\n") in answer["pending"]["prompt"]
        answer = ann.go(answer, text)
    session = first["session"]["sessionId"]
    bundle = ann.studio("RailsSessionExport", sessionId=session)["text"]
    read = ann.studio("RailsSessionExport", sessionId=session, format="markdown")["text"]
    other = agent(home="other")
    came = other.studio("RailsSessionImport", bundle=bundle)["sessionId"]
    again = other.studio("RailsSessionExport", sessionId=came)["text"]

    assert answer["isComplete"]
    assert facts(again) == facts(bundle)
    assert all(text.split()[0] in read for text in said[:3])


@pytest.mark.needs("corpora")
@pytest.mark.rule("R7.3", "R7.1")
def test_no_argument_of_any_tool_breaks_a_call(agent, strings):
    ann = agent(flow(step("one")))
    first = ann.start("user.flow")
    tokens = ("stateToken", "ackToken", "checkpointToken", "sessionToken", "parentStateToken")
    codes = set()
    for text in strings:
        calls = [
            ("start_workflow", {"workflowId": text}),
            ("start_workflow", {"workflowId": "user.flow", "goal": text}),
            ("start_workflow", {"workflowId": "user.flow", "workspacePath": text}),
            ("start_workflow", {"workflowId": "user.flow", "idempotencyKey": text}),
            ("start_workflow", {"workflowId": "user.flow", "context": {text: text}}),
            ("start_workflow", {"workflowId": "user.flow", "preferences": {"autonomy": text}}),
            ("start_session", {"title": text}),
            ("list_workflows", {"query": text, "cursor": text}),
            ("inspect_workflow", {"workflowId": text, "mode": text}),
            ("resume_session", {"query": text, "gitBranch": text}),
            ("resume_session", {"sessionId": text, "runId": text, "resumeRef": text}),
            ("continue_workflow", {"stateToken": first["stateToken"], text: text}),
            *(("continue_workflow", {name: text}) for name in tokens),
            *(("checkpoint_workflow", {name: text, "output": text}) for name in tokens),
        ]
        for tool, arguments in calls:
            answer = ann.answer(tool, **arguments)
            if answer.is_error:
                codes.add(answer.structured["error"]["code"])

    assert "INTERNAL_ERROR" not in codes
    assert codes <= {
        *("VALIDATION_ERROR", "WORKFLOW_NOT_FOUND", "TOKEN_INVALID_FORMAT", "PRECONDITION_FAILED"),
        *("TOKEN_UNSUPPORTED_VERSION", "TOKEN_BAD_SIGNATURE"),
    }
