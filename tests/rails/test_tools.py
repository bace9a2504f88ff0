"""What the tools refuse and how, discovery, resume, and sessions that are not well."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.rails.agent import Agent, rails_of
from tests.rails.workflows import LOOP_CONTROL, STOP, flow, step
from tests.tamper import tamper

from backshop.base.canon import canonical
from backshop.base.ids import did
from backshop.rails import TOOLS, RailsError, Settings, offered
from backshop.rails.errors import RAILS_CODES
from backshop.rails.session.ordinal import attempt_id
from backshop.rails.token import token as tk
from backshop.rails.tools import refused
from backshop.store import Store

TWO = flow(step("one"), step("two"))
STRINGS = ["", "\x00", "‮", "𝕏" * 50, "{{goal}}", "';--", "A" * 3000, "\ud800"]


def keys_of(ann: Agent) -> tk.Keys:
    return ann.rails.sessions.keyring.keys()


def node_of(ann: Agent, answer) -> str:
    return tk.verify(keys_of(ann), answer["stateToken"], tk.Kind.STATE).node_id or ""


@pytest.mark.rule("R7.3")
@pytest.mark.parametrize("code", RAILS_CODES)
def test_every_code_has_one_envelope_within_its_bytes(code):
    error = RailsError(code, "é" * 3000, "do this", details={"a": 1, "big": "x" * 5000})
    found = refused(error)
    body: Any = found.structured["error"]

    assert found.is_error
    assert set(body) == {"code", "message", "suggestion", "retry", "details"}
    assert len(body["message"].encode()) <= 1024
    assert len(canonical(body["details"])) <= 4096
    assert body["retry"]["kind"] in {
        "not_retryable",
        "retryable_immediate",
        "retryable_after_ms",
    }
    assert (body["retry"].get("afterMs") == 1000) == (
        code in {"TOKEN_SESSION_LOCKED", "SESSION_LOCKED", "STORE_UNAVAILABLE"}
    )


@pytest.mark.rule("R7.1", "S6.2")
def test_descriptions_and_schemas_fit_a_model():
    assert all(len(tool.description.encode()) <= 1200 for tool in TOOLS)
    schemas = json.dumps([tool.input_schema for tool in TOOLS], separators=(",", ":"))
    assert len(schemas) <= 12 * 1024
    assert all(tool.output_schema["type"] == "object" for tool in TOOLS)


@pytest.mark.rule("R7.20", "R7.1")
@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("start_workflow", "Tokens are opaque: send them back unchanged, never make or change one"),
        ("start_workflow", "Several runs can go on at once, each with its own tokens"),
        ("start_workflow", "Nothing but continue_workflow advances a run"),
        ("continue_workflow", "exactly as the step asks; do not invent shapes"),
        ("continue_workflow", "by gathering context and stating assumptions, do not skip them"),
        ("continue_workflow", "disclose assumptions, skips and missing inputs in `output`"),
        ("checkpoint_workflow", "the checkpointToken and the stateToken (or sessionToken) of one"),
    ],
)
def test_the_descriptions_say_what_an_agent_must_and_must_not_do(tool, says):
    assert says in {one.name: one.description for one in TOOLS}[tool]


@pytest.mark.rule("R7.20", "R7.16")
def test_each_block_of_tokens_says_whose_it_is(agent):
    ann = agent(flow(step("one", **LOOP_CONTROL), step("two")))
    first = ann.answer("start_workflow", workflowId="user.flow")
    blocked = ann.reply(first.structured, "words only")
    second = ann.reply(blocked.structured, None, artifacts=[STOP])
    noted = ann.answer(
        "checkpoint_workflow",
        stateToken=second.structured["stateToken"],
        checkpointToken=second.structured["checkpointToken"],
        output={"notesMarkdown": "half way"},
    )
    looked = ann.answer("continue_workflow", stateToken=first.structured["stateToken"])
    done = ann.reply(second.structured, "end")

    for answer in (first, blocked, second, noted, looked, done):
        head, _, block = answer.texts[0].rpartition("```json\n")
        session: Any = answer.structured["session"]
        assert f"orkflow user.flow · resume ref {session['resumeRef']}" in head
        assert str(answer.structured["checkpointToken"]) in block


@pytest.mark.rule("R11.10", "R7.1")
def test_checkpoints_and_resuming_are_on_unless_switched_off():
    assert [tool.name for tool in offered(Settings())] == [tool.name for tool in TOOLS]
    assert {"checkpoint_workflow", "resume_session"} <= {tool.name for tool in TOOLS}


@pytest.mark.rule("R7.1", "C95")
def test_a_tool_that_is_switched_off_is_not_listed():
    names = {tool.name for tool in offered(Settings(checkpoint_workflow=False))}

    assert names == {tool.name for tool in TOOLS} - {"checkpoint_workflow"}


@pytest.mark.rule("R11.11")
def test_without_start_session_there_is_no_session_token(agent):
    ann = agent(TWO)
    shown = {tool.name: tool for tool in offered(Settings(start_session=False))}
    refused_ = shown["start_workflow"].call(
        ann.rails, {"workflowId": "user.flow", "sessionToken": "ses.v1.x"}
    )

    assert "start_session" not in shown
    assert all("sessionToken" not in tool.input_schema["properties"] for tool in shown.values())
    assert "unknown argument" in str(refused_.structured)


@pytest.mark.rule("R7.1", "R7.11", "R7.3")
@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("continue_workflow", {"statetoken": "x"}, "stateToken"),
        ("continue_workflow", {"ackToken": "x", "notes": "n"}, "inside output"),
        ("continue_workflow", {"ackToken": "x", "artifacts": []}, "inside output"),
        ("continue_workflow", {}, "resume_session"),
        ("continue_workflow", {"ackToken": 7}, "ackToken"),
        ("start_workflow", {}, "workflowId"),
        ("start_workflow", {"workflowId": "user.flow", "goal": "x" * 501}, "goal"),
        ("start_workflow", {"workflowId": "user.flow", "preferences": {"autonomy": "wild"}}, ""),
        ("start_workflow", {"workflowId": "user.flow", "idempotencyKey": "short"}, ""),
        ("start_workflow", {"workflowId": "user.flow", "workspacePath": "relative"}, "absolute"),
        ("start_workflow", {"workflowId": "user.flow", "context": {"a b": 1}}, "Context keys"),
        ("start_workflow", {"workflowId": "user.flow", "context": {"a": 2**60}}, "2^53"),
        ("list_workflows", {"limit": 0}, "limit"),
        ("list_workflows", {"cursor": "-1"}, "nextCursor"),
        ("list_workflows", {"query": "x" * 257}, "query"),
        ("checkpoint_workflow", {"checkpointToken": "x", "output": {}}, "stateToken"),
    ],
)
def test_bad_arguments_are_refused_with_what_to_send(agent, tool, arguments, says):
    ann = agent(TWO)
    error = ann.error(tool, **arguments)

    assert error["code"] == "VALIDATION_ERROR"
    assert says in error["suggestion"] + error["message"]
    assert ann.rails.sessions.ids() == []


@pytest.mark.rule("R7.3")
@pytest.mark.parametrize("text", STRINGS)
def test_no_string_breaks_a_tool(agent, text):
    ann = agent(flow(step("one", prompt="{{goal}} {{k}}"), step("two")))
    first = ann.answer("start_workflow", workflowId="user.flow", goal=text, context={"k": text})
    for tool in TOOLS:
        for name in tool.input_schema["properties"]:
            ann.answer(tool.name, **{name: text})
    if not first.is_error:
        second = ann.reply(first.structured, text, context={"other": text})
        assert second.is_error == ("\ud800" in text)


@pytest.mark.rule("R7.11", "C74")
@pytest.mark.parametrize(
    "output",
    [
        {"notesMarkdown": "x" * (256 * 1024 + 1)},
        {"artifacts": [{"kind": "a.b", "x": "y" * (64 * 1024)}]},
        {"artifacts": [{"kind": "a.b"}] * 33},
        {"artifacts": [{"kind": "a.b", "x": "y" * (60 * 1024)}] * 5},
        {"artifacts": [{"nokind": 1}]},
        {"artifacts": ["text"]},
        {"artifacts": "text"},
        {"unknown": 1},
    ],
)
def test_outputs_over_budget_are_refused_and_leave_no_trace(agent, output):
    ann = agent(TWO)
    first = ann.start("user.flow")
    count = ann.events(first)
    error = ann.error("continue_workflow", ackToken=first["ackToken"], output=output)

    assert error["code"] == "VALIDATION_ERROR"
    assert ann.events(first) == count


@pytest.mark.rule("R7.11")
def test_context_nested_too_deeply_or_grown_too_large_is_refused(agent):
    ann = agent(flow(*(step(f"s{n}") for n in range(8))))
    deep: object = 1
    for _ in range(70):
        deep = [deep]
    answer = ann.start("user.flow")
    nested = ann.error("continue_workflow", ackToken=answer["ackToken"], context={"d": deep})
    for number in range(4):
        answer = ann.go(answer, context={f"k{number}": "x" * (250 * 1024)})
    full = ann.error(
        "continue_workflow", ackToken=answer["ackToken"], context={"last": "x" * (250 * 1024)}
    )

    assert nested["code"] == full["code"] == "VALIDATION_ERROR"
    assert full["details"]["max"] == 1024 * 1024


@pytest.mark.rule("R7.3")
def test_unknown_and_invalid_workflows_are_told_apart(agent):
    ann = agent(TWO, flow(step("a", prompt=""), name="user.broken"))
    unknown = ann.error("start_workflow", workflowId="user.flwo")
    broken = ann.error("start_workflow", workflowId="user.broken")
    missing = ann.error("start_workflow", workflowId="user.flow", workspacePath="/no/such/place")

    assert unknown["code"] == "WORKFLOW_NOT_FOUND"
    assert "user.flow" in unknown["suggestion"]
    assert broken["code"] == "WORKFLOW_INVALID"
    assert broken["details"]["findings"]
    assert missing["code"] == "PRECONDITION_FAILED"


@pytest.mark.rule("C98", "R3.9", "R7.4", "R7.5")
def test_broken_files_are_listed_beside_the_others(agent, tmp_path):
    ann = agent(TWO)
    (tmp_path / "home" / "workflows" / "bad.json").write_text("{", encoding="utf-8")
    listed = ann.call("list_workflows", {"query": "flow of a test"})
    mine = [one for one in listed["workflows"] if one["workflowId"] == "user.flow"]
    seen = ann.call("inspect_workflow", {"workflowId": "user.flow"})
    whole = ann.call("inspect_workflow", {"workflowId": "user.flow", "mode": "compiled"})

    assert [one["file"] for one in listed["invalid"]] == ["user:bad.json"]
    assert mine[0]["stepCount"] == 2
    assert [one["stepId"] for one in seen["outline"]] == ["one", "two"]
    assert [one["stepId"] for one in whole["compiled"]["steps"]] == ["one", "two"]


@pytest.mark.rule("R7.4")
def test_a_list_is_read_page_by_page(agent):
    ann = agent(*(flow(step("a"), name=f"user.f{n}") for n in range(5)))
    ids, cursor = [], None
    while True:
        page = ann.call("list_workflows", {"limit": 2, "query": "user", "cursor": cursor})
        ids += [one["workflowId"] for one in page["workflows"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            break

    assert [one for one in ids if one.startswith("user.f")] == [f"user.f{n}" for n in range(5)]


@pytest.mark.rule("C49", "R6.9")
def test_tokens_of_elsewhere_and_of_deleted_sessions_are_refused(agent):
    ann, bob = agent(TWO), agent(TWO, home="other")
    first, theirs = ann.start("user.flow"), bob.start("user.flow")
    foreign = ann.error("continue_workflow", stateToken=theirs["stateToken"])
    keys = keys_of(ann)
    unknown = ann.error(
        "continue_workflow", stateToken=tk.state_token(keys, did("node", "x"), "sha256:" + "0" * 64)
    )
    other_hash = tk.state_token(keys, node_of(ann, first), "sha256:" + "0" * 64)
    hashed = ann.error("continue_workflow", stateToken=other_hash)
    late = tk.ack_token(keys, node_of(ann, first), attempt_id(node_of(ann, first), "ack", 3))
    attempt = ann.error("continue_workflow", ackToken=late)
    ann.rails.sessions.store.delete_stream(f"session:{first['session']['sessionId']}")
    deleted = ann.error("continue_workflow", stateToken=first["stateToken"])

    assert foreign["code"] == "TOKEN_BAD_SIGNATURE"
    assert unknown["code"] == deleted["code"] == "TOKEN_UNKNOWN_NODE"
    assert hashed["code"] == "TOKEN_WORKFLOW_HASH_MISMATCH"
    assert attempt["code"] == "TOKEN_SCOPE_MISMATCH"
    assert attempt["details"] == {"reason": "unknown_attempt"}


@pytest.mark.rule("C50")
def test_tokens_outlive_one_rotation_and_resume_gives_new_ones(agent):
    ann = agent(TWO)
    first = ann.start("user.flow", goal="rotate")
    ann.rails.rotate_keys()
    once = ann.look(first)
    ann.rails.rotate_keys()
    twice = ann.error("continue_workflow", stateToken=first["stateToken"])
    fresh = ann.call("resume_session", {"query": "rotate"})["candidates"][0]

    assert once["pending"]["stepId"] == "one"
    assert twice["code"] == "TOKEN_BAD_SIGNATURE"
    assert ann.look(fresh)["pending"]["stepId"] == "one"


@pytest.mark.rule("C37", "R4.8")
def test_a_held_lock_is_a_retryable_refusal(agent, tmp_path):
    ann = agent(TWO)
    first = ann.start("user.flow")
    ann.rails.sessions.store.close()
    hasty = Agent(rails_of(tmp_path / "home", lock_wait_ms=50))
    with Store.open(tmp_path / "home") as other, other.database.transaction():
        error = hasty.error("continue_workflow", ackToken=first["ackToken"])

    assert error["code"] == "TOKEN_SESSION_LOCKED"
    assert error["retry"] == {"kind": "retryable_after_ms", "afterMs": 1000}
    assert hasty.go(first)["pending"]["stepId"] == "two"


@pytest.mark.rule("C85", "C82", "R4.17", "R4.18")
@pytest.mark.parametrize("index", [0, 3])
def test_a_damaged_session_is_refused_and_never_a_candidate(agent, tmp_path, index):
    ann = agent(TWO)
    first, other = ann.start("user.flow"), ann.start("user.flow")
    stream = f"session:{first['session']['sessionId']}"
    _damage(tmp_path / "home", stream, index)
    ann.rails.sessions.store.close()
    later = Agent(rails_of(tmp_path / "home"))
    error = later.error("continue_workflow", stateToken=first["stateToken"])
    found = later.call("resume_session", {})["candidates"]

    assert error["code"] == "SESSION_NOT_HEALTHY"
    assert error["details"]["reason"] == "digest_mismatch"
    assert [one["sessionId"] for one in found] == [other["session"]["sessionId"]]
    assert later.go(other)["pending"]["stepId"] == "two"
    assert later.start("user.flow")["kind"] == "ok"


def _damage(home, stream: str, index: int) -> None:
    tamper(
        home,
        "UPDATE event SET dedupe_key = dedupe_key || 'x' WHERE stream = ? AND idx = ?",
        stream,
        index,
    )


@pytest.mark.rule("C80", "R7.18", "R7.10", "R7.30")
def test_resume_finds_work_by_what_is_said_about_it(agent):
    ann = agent(flow(step("one"), step("two"), step("three")))
    auth = ann.start("user.flow", goal="Review AUTH-1234")
    ann.go(ann.go(auth, "the widget was blue"), "nothing new")
    ann.start("user.flow", goal="Something else")
    ann.answer("start_session", title="Loose notes")

    def ask(**arguments):
        return ann.call("resume_session", arguments)

    by_goal = ask(query="auth-1234 review")
    by_notes = ask(query="widget blue")
    half = ask(query="widget green")
    exact = ask(resumeRef=auth["session"]["resumeRef"])
    plain = ask()

    assert by_goal["candidates"][0]["whyMatched"] == ["matched_identity"]
    assert by_goal["recommended"] == 0
    assert by_notes["candidates"][0]["whyMatched"] == ["matched_deep"]
    assert by_notes["candidates"][0]["confidence"] == "medium"
    assert half["candidates"][0]["whyMatched"] == ["matched_partial"]
    assert exact["candidates"][0]["whyMatched"] == ["matched_exact_id"]
    assert [one["title"] for one in plain["candidates"]] == [
        "Loose notes",
        "Something else",
        "Review AUTH-1234",
    ]
    assert plain["totalEligible"] == 3
    assert plain["recommended"] is None
    assert plain["candidates"][0]["nextCall"]["tool"] == "checkpoint_workflow"


@pytest.mark.rule("C80", "C81", "R4.11")
def test_resume_prefers_the_branch_one_stands_on(agent, tmp_path):
    repo = tmp_path / "repo"
    (repo / ".git" / "refs" / "heads" / "feature").mkdir(parents=True)
    (repo / ".git" / "HEAD").write_text("ref: refs/heads/feature/auth\n", encoding="utf-8")
    (repo / ".git" / "refs" / "heads" / "feature" / "auth").write_text("a" * 40, encoding="utf-8")
    ann = agent(TWO)
    here = ann.start("user.flow", workspacePath=str(repo))
    for _ in range(6):
        ann.start("user.flow")
    by_sha = ann.call("resume_session", {"workspacePath": str(repo)})
    (repo / ".git" / "refs" / "heads" / "feature" / "auth").write_text("b" * 40, encoding="utf-8")
    by_branch = ann.call("resume_session", {"workspacePath": str(repo)})
    stream = f"session:{here['session']['sessionId']}"
    stored = [event.data for event in ann.rails.sessions.store.read(stream)]

    assert by_sha["candidates"][0]["whyMatched"] == ["matched_head_sha", "matched_repo_root"]
    assert by_branch["candidates"][0]["whyMatched"] == ["matched_branch", "matched_repo_root"]
    assert by_branch["candidates"][0]["gitBranch"] == "feature/auth"
    assert len(by_branch["candidates"]) == 5
    assert str(tmp_path) not in json.dumps(stored)
    ann.go(here)
    state = ann.rails.sessions.state(here["session"]["sessionId"])
    assert state.observations["git_head_sha"] == "b" * 40


@pytest.mark.rule("R4.11")
def test_a_branch_may_be_left_and_returned_to(agent, tmp_path):
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    ann = agent(flow(*(step(f"s{n}") for n in range(6))))

    def on(branch):
        (repo / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}", encoding="utf-8")

    on("main")
    answer = ann.start("user.flow", workspacePath=str(repo))
    for branch in ("other", "main", "other", "main"):
        on(branch)
        answer = ann.go(answer)
        state = ann.rails.sessions.state(answer["session"]["sessionId"])
        assert state.observations["git_branch"] == branch


@pytest.mark.rule("R3.11", "R3.6", "R1.5")
def test_old_ids_and_aliases_say_what_to_use_instead(agent):
    ann = agent(flow(step("one"), name="my-flow"))
    legacy = ann.start("my-flow")
    alias = ann.start("change_review")
    listed = ann.call("inspect_workflow", {"workflowId": "change_review"})

    assert [(one["code"], one["details"]) for one in legacy["warnings"]] == [
        ("LEGACY_WORKFLOW_ID", {"workflowId": "my-flow", "suggestedId": "user.my_flow"})
    ]
    assert [one["code"] for one in alias["warnings"]] == ["WORKFLOW_ID_ALIASED"]
    assert alias["session"]["workflowId"] == "wr.change_review"
    assert listed["warnings"][0]["details"]["canonicalId"] == "wr.change_review"


@pytest.mark.rule("R5.16", "R7.28")
def test_search_goes_by_words_whatever_their_form_and_also_looks_at_session_notes(agent):
    ann = agent(TWO)
    wide = ann.start("user.flow", goal="Ｆｉｘ the CACHE-key")
    made = ann.answer("start_session", title="Diary").structured
    run = ann.start("user.flow", goal="Elsewhere", sessionToken=made["sessionToken"])
    ann.answer(
        "checkpoint_workflow",
        sessionToken=made["sessionToken"],
        checkpointToken=made["checkpointToken"],
        output={"notesMarkdown": "The lighthouse blinks."},
    )

    def best(query: str):
        return ann.call("resume_session", {"query": query})["candidates"][0]

    assert best("fix cache-key")["runId"] == wide["session"]["runId"]
    assert best("lighthouse")["runId"] == run["session"]["runId"]
    assert best("lighthouse")["whyMatched"] == ["matched_deep"]
