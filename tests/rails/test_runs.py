"""Runs survive what chats do: repeats, rewinds, forks, lost answers (C26–C45, C56–C59, C74–C79)."""

from __future__ import annotations

import json

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, loop, step

from backshop.rails.run import answer as run_answer

BOTH_DATABASES = True
TWO = flow(step("one"), step("two"))
THREE = flow(step("one", prompt="k is {{k}}"), step("two", prompt="k is {{k}}"), step("three"))


def bytes_of(answer) -> bytes:
    return json.dumps([answer.structured, answer.texts]).encode()


@pytest.mark.rule("C26", "R7.12", "R7.15")
def test_a_run_goes_from_step_to_step_and_ends(agent):
    ann = agent(TWO)
    first = ann.start("user.flow", goal="try")
    second = ann.go(first)
    done = ann.go(second)

    assert first["pending"]["stepId"] == "one"
    assert first["nextIntent"] == "perform_pending_then_continue"
    assert second["pending"]["stepId"] == "two"
    assert (done["isComplete"], done["pending"], done["nextCall"]) == (True, None, None)
    assert done["nextIntent"] == "complete"
    assert "ackToken" not in done
    assert done["stateToken"].startswith("st.v1.")
    assert done["checkpointToken"].startswith("chk.v1.")


@pytest.mark.rule("C27", "R6.12")
def test_the_same_acknowledgement_a_hundred_times_gives_the_same_bytes(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    once = ann.reply(first, "did one")
    count = ann.events(first)
    again = {bytes_of(ann.reply(first, "did one")) for _ in range(100)}

    assert again == {bytes_of(once)}
    assert ann.events(first) == count


@pytest.mark.rule("C41", "R6.12")
def test_a_later_program_with_other_words_repeats_what_was_said_before(agent, monkeypatch):
    ann = agent(TWO)
    first = ann.start("user.flow")
    said = ann.reply(first, "did one")
    for intent in list(run_answer._CLOSING):
        monkeypatch.setitem(run_answer._CLOSING, intent, "Words of a later version.")
    later = agent(home="home")
    again = later.reply(first, "did one")
    fetched = later.answer("continue_workflow", stateToken=said.structured["stateToken"])

    assert bytes_of(again) == bytes_of(said)
    assert "Words of a later version." in fetched.texts[0]


@pytest.mark.rule("C28", "R6.13")
def test_other_content_for_a_used_ack_is_refused_and_offered_a_branch(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    once = ann.go(first, "did one")
    count = ann.events(first)
    other = ann.go(first, "did it differently")["error"]
    branch = ann.answer(
        "continue_workflow",
        ackToken=other["details"]["forkAckToken"],
        output={"notesMarkdown": "did it differently"},
    ).structured

    assert other["code"] == "ALREADY_RECORDED"
    assert ann.events(first) > count
    assert branch["stateToken"] != once["stateToken"]
    assert branch["fork"]["siblings"]


def everything(ann, home) -> dict[str, object]:
    """All that is stored: every file's bytes, and every row with the transaction that wrote it."""
    files = [one for one in home.rglob("*") if one.is_file() and not one.name.endswith("-shm")]
    found: dict[str, object] = {one.name: one.read_bytes() for one in files}
    database = ann.rails.sessions.store.database
    if database.dialect == "postgres":
        with database.reader() as cursor:
            tables = cursor.text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in tables:
                found[table] = sorted(map(repr, cursor.text(f"SELECT xmin, ctid, * FROM {table}")))
    return found


@pytest.mark.rule("C29", "R6.10", "R6.4", "R7.23")
def test_fetching_a_step_again_writes_nothing_at_all(agent, tmp_path):
    ann = agent(TWO)
    first = ann.start("user.flow")
    second = ann.go(first)
    before = everything(ann, tmp_path / "home")
    acks = {ann.look(second)["ackToken"] for _ in range(50)}
    forks = {ann.look(first)["ackToken"] for _ in range(50)}
    fresh = agent(home="home")  # another process
    again = fresh.look(second)
    ann.go(first)  # nor does a repeated acknowledgement (C27)

    assert acks == {second["ackToken"], again["ackToken"]}
    assert len(forks) == 1
    assert everything(ann, tmp_path / "home") == before


@pytest.mark.rule("C30", "R7.13", "R5.6", "R5.5")
def test_an_old_token_shows_what_came_of_it_and_branches(agent):
    ann = agent(THREE)
    first = ann.start("user.flow")
    second = ann.go(first, "the first note")
    third = ann.go(second, "the second note")
    old = ann.look(first)
    branch = ann.answer(
        "continue_workflow",
        stateToken=old["stateToken"],
        ackToken=old["ackToken"],
        output={"notesMarkdown": "another first note"},
    ).structured

    assert [one["snippet"] for one in old["branches"]["children"]] == ["the first note"]
    assert old["branches"]["children"][0]["isPreferred"] is True
    assert [e["notesMarkdown"] for e in old["branches"]["downstream"]["entries"]] == [
        "the first note",
        "the second note",
    ]
    assert old["ackToken"] != first["ackToken"]
    assert branch["fork"]["siblings"] == [old["branches"]["children"][0]["nodeId"]]
    assert ann.look(third)["recap"]["entries"][0]["notesMarkdown"] == "the first note"
    assert [e["notesMarkdown"] for e in ann.look(branch)["recap"]["entries"]] == [
        "another first note"
    ]


@pytest.mark.rule("C31", "C32", "C33", "R5.13", "R5.12", "R11.10")
def test_facts_of_one_branch_never_show_in_another(agent):
    ann = agent(THREE, agent_may_automate=True)
    first = ann.start("user.flow")
    left = ann.go(first, "left", context={"k": 1}, preferences={"autonomy": "full_auto_never_stop"})
    right = ann.go(ann.look(first), "right", context={"k": 2})

    assert "k is 1" in left["pending"]["prompt"]
    assert "k is 2" in right["pending"]["prompt"]
    assert "k is [unset: k]" in ann.look(first)["pending"]["prompt"]
    assert left["preferences"]["autonomy"] == "full_auto_never_stop"
    assert right["preferences"]["autonomy"] == "guided"
    assert ann.look(first)["preferences"]["autonomy"] == "guided"
    assert [e["notesMarkdown"] for e in ann.look(right)["recap"]["entries"]] == ["right"]
    assert [e["notesMarkdown"] for e in ann.look(left)["recap"]["entries"]] == ["left"]


@pytest.mark.rule("C34", "R5.8", "R11.9")
def test_the_preferred_tip_is_the_leaf_with_the_latest_activity(agent):
    ann = agent(THREE)
    first = ann.start("user.flow")
    left = ann.go(first, "left")
    right = ann.go(ann.look(first), "right")
    session = first["session"]["sessionId"]

    def tip():
        state = ann.rails.sessions.state(session)
        return state.nodes[state.runs[first["session"]["runId"]].preferred]

    assert tip().outputs[0].payload.notes_markdown == "right"
    deeper = ann.go(left, "left two")
    assert tip().outputs[0].payload.notes_markdown == "left two"
    ann.go(right, "right two")
    assert tip().outputs[0].payload.notes_markdown == "right two"
    assert deeper["pending"]["stepId"] == "three"


@pytest.mark.rule("C36")
def test_two_users_of_one_fork_ack_make_one_sibling_and_then_another(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    ann.go(first, "original")
    offered = ann.look(first)
    one = ann.go(offered, "fork a")
    late = ann.go(offered, "fork b")
    again = ann.answer(
        "continue_workflow",
        ackToken=late["error"]["details"]["forkAckToken"],
        output={"notesMarkdown": "fork b"},
    ).structured

    assert late["error"]["code"] == "ALREADY_RECORDED"
    assert len({one["stateToken"], again["stateToken"]}) == 2
    assert len(again["fork"]["siblings"]) == 2


@pytest.mark.rule("C40", "R2.6", "R2.7")
def test_a_run_keeps_the_text_it_began_with(agent, tmp_path):
    ann = agent(TWO)
    first = ann.start("user.flow")
    file = tmp_path / "home" / "workflows" / "user.flow.json"
    changed = flow(step("one"), step("two", prompt="Changed."))
    file.write_text(json.dumps(changed), encoding="utf-8")
    second = ann.go(first)
    file.unlink()
    looked = ann.look(second)

    assert second["pending"]["prompt"].startswith("Do two.")
    assert [one["code"] for one in second["warnings"]] == ["WORKFLOW_DRIFT"]
    assert [one["code"] for one in looked["warnings"]] == ["WORKFLOW_SOURCE_MISSING"]
    assert looked["pending"]["prompt"].startswith("Do two.")


@pytest.mark.rule("R2.7", "R1.38", "R8.10")
def test_a_run_keeps_the_bindings_it_began_with(agent, tmp_path):
    slot = {"slotId": "review", "purpose": "Who reviews", "default": "wr.rpi"}
    ann = agent(flow(step("one", prompt="Start {{wr.bindings.review}}."), extensionPoints=[slot]))
    place = tmp_path / "project"
    (place / ".backshop").mkdir(parents=True)
    first = ann.start("user.flow", workspacePath=str(place))
    calm = ann.look(first)
    bound = json.dumps({"user.flow": {"review": "team.own"}})
    (place / ".backshop" / "bindings.json").write_text(bound, encoding="utf-8")
    looked = ann.look(first)

    assert calm["warnings"] == []
    assert [one["code"] for one in looked["warnings"]] == ["BINDING_DRIFT", "WORKFLOW_DRIFT"]
    assert looked["warnings"][0]["details"] == {
        "slotId": "review",
        "pinned": "wr.rpi",
        "current": "team.own",
    }
    assert looked["pending"]["prompt"].startswith("Start wr.rpi.")


@pytest.mark.rule("R2.7", "R3.5")
def test_a_new_file_that_takes_the_id_is_noticed(agent, tmp_path):
    ann = agent(TWO)
    workspace = tmp_path / "project"
    (workspace / "workflows").mkdir(parents=True)
    first = ann.start("user.flow", workspacePath=str(workspace))
    calm = ann.look(first)
    shadow = workspace / "workflows" / "mine.json"
    shadow.write_text(json.dumps(flow(step("other"))), encoding="utf-8")
    noticed = ann.look(first)
    shadow.unlink()

    assert calm["warnings"] == []
    assert [one["code"] for one in noticed["warnings"]] == ["WORKFLOW_DRIFT"]
    assert ann.go(first)["warnings"] == []


@pytest.mark.rule("C42", "R8.3", "R8.29")
def test_a_run_keeps_the_mode_it_began_with(agent):
    first = agent(TWO).start("user.flow")
    later = agent(preset="full_auto_nonstop")

    assert later.look(first)["preferences"]["autonomy"] == "guided"
    assert later.start("user.flow")["preferences"]["autonomy"] == "full_auto_never_stop"
    joined = later.start("user.flow", sessionToken=first["sessionToken"])
    assert joined["preferences"]["autonomy"] == "guided"


@pytest.mark.rule("C43")
def test_a_complete_run_can_be_looked_at_and_forked(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    done = ann.go(ann.go(first, "one"), "two")
    looked = ann.look(done)
    fork = ann.go(ann.look(first), "another one")

    assert looked["isComplete"] is True
    assert "ackToken" not in looked
    assert [e["notesMarkdown"] for e in looked["recap"]["entries"]] == ["one", "two"]
    assert fork["pending"]["stepId"] == "two"


@pytest.mark.rule("C44", "C52", "R6.7")
def test_tokens_of_different_runs_or_steps_do_not_mix(agent):
    ann = agent(TWO)
    runs = [ann.start("user.flow") for _ in range(3)]
    second = ann.go(runs[0])
    mixed = ann.error(
        "continue_workflow", stateToken=runs[1]["stateToken"], ackToken=runs[0]["ackToken"]
    )
    older = ann.error(
        "continue_workflow", stateToken=second["stateToken"], ackToken=runs[0]["ackToken"]
    )

    assert mixed["code"] == older["code"] == "TOKEN_SCOPE_MISMATCH"
    assert [ann.go(run)["pending"]["stepId"] for run in runs[1:]] == ["two", "two"]


@pytest.mark.rule("C45", "R7.6", "R7.29", "R11.10")
def test_a_child_run_joins_its_parents_session(agent):
    ann = agent(TWO)
    parent = ann.start("user.flow")
    count = len(ann.rails.sessions.state(parent["session"]["sessionId"]).nodes)
    child = ann.start("user.flow", parentStateToken=parent["stateToken"])
    state = ann.rails.sessions.state(parent["session"]["sessionId"])
    started = state.runs[child["session"]["runId"]].started

    assert child["session"]["sessionId"] == parent["session"]["sessionId"]
    assert started.parent.run_id == parent["session"]["runId"]
    assert len(state.nodes) == count + 1
    assert ann.look(parent)["pending"] == parent["pending"]


@pytest.mark.rule("C53", "R7.7")
@pytest.mark.parametrize(
    "more", [{"output": {"notesMarkdown": "x"}}, {"context": {"a": 1}}, {"preferences": {}}]
)
def test_content_without_an_ack_is_refused(agent, more):
    ann = agent(TWO)
    first = ann.start("user.flow")
    count = ann.events(first)
    error = ann.error("continue_workflow", stateToken=first["stateToken"], **more)

    assert error["code"] == "VALIDATION_ERROR"
    assert "ackToken" in error["suggestion"]
    assert ann.events(first) == count


@pytest.mark.rule("C56", "C57", "C58", "R6.14", "R8.4")
def test_a_blocked_step_is_retried_with_the_tokens_of_the_blocked_answer(agent):
    ann = agent(flow(step("decide", **LOOP_CONTROL), step("after")), agent_may_automate=True)
    first = ann.start("user.flow")
    blocked = ann.go(first, "no artifact")
    again = ann.go(first, "no artifact")
    other = ann.go(first, None, artifacts=[{"kind": "wr.loop_control", "decision": "stop"}])
    advanced = ann.go(blocked, None, artifacts=[{"kind": "wr.loop_control", "decision": "stop"}])
    nonstop = ann.go(ann.look(blocked), None, preferences={"autonomy": "full_auto_never_stop"})
    state = ann.rails.sessions.state(first["session"]["sessionId"])
    kinds = sorted(node.kind for node in state.nodes.values())

    assert blocked["kind"] == "blocked"
    assert blocked["pending"]["stepId"] == "decide"
    assert blocked == again
    assert other["error"]["code"] == "ALREADY_RECORDED"
    assert advanced["pending"]["stepId"] == "after"
    assert nonstop["kind"] == "ok"
    assert [gap["severity"] for gap in nonstop["gaps"]] == ["critical"]
    assert kinds == ["blocked_attempt", "step", "step", "step"]


@pytest.mark.rule("C59", "R8.23")
def test_the_eleventh_block_in_a_row_is_refused(agent):
    ann = agent(flow(step("decide", **LOOP_CONTROL)))
    answer = ann.start("user.flow")
    for _ in range(10):
        answer = ann.go(answer, "nothing")
        assert answer["kind"] == "blocked"
    count = ann.events(answer)
    refused = ann.go(answer, "nothing")
    good = ann.go(answer, None, artifacts=[{"kind": "wr.loop_control", "decision": "stop"}])

    assert refused["error"]["code"] == "PRECONDITION_FAILED"
    assert good["isComplete"] is True
    assert ann.events(answer) > count


@pytest.mark.rule("C76", "C77", "C97", "R7.8", "R5.19")
def test_a_checkpoint_notes_progress_and_keeps_the_step_pending(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    given = {
        "stateToken": first["stateToken"],
        "checkpointToken": first["checkpointToken"],
        "output": {"notesMarkdown": "half way"},
    }
    noted = ann.answer("checkpoint_workflow", **given)
    count = ann.events(first)
    same = ann.answer("checkpoint_workflow", **given)
    by_old = ann.go(first, "by the old ack")
    looked = ann.look(first)
    on = ann.go(noted.structured, "from the checkpoint")

    assert noted.structured["pending"]["stepId"] == "one"
    assert bytes_of(same) == bytes_of(noted)
    assert "fork" not in by_old
    assert {"notesMarkdown": "half way", "checkpoint": True}.items() <= (
        looked["recap"]["entries"][-1].items()
    )
    assert [e["notesMarkdown"] for e in ann.look(on)["recap"]["entries"]] == [
        "half way",
        "from the checkpoint",
    ]
    assert ann.events(first) > count


@pytest.mark.rule("R5.4", "R7.24", "R7.15", "R6.14")
def test_a_checkpoint_of_a_blocked_step_is_as_blocked_as_the_step(agent):
    ann = agent(flow(step("s", requireConfirmation={"kind": "human_approval"}), step("end")))
    first = ann.start("user.flow")
    blocked = ann.go(first)
    noted = ann.answer(
        "checkpoint_workflow",
        stateToken=blocked["stateToken"],
        checkpointToken=blocked["checkpointToken"],
        output={"notesMarkdown": "asked by mail"},
    ).structured
    looked = ann.look(noted)
    ann.approve(noted)
    on = ann.go(noted)

    assert noted["kind"] == looked["kind"] == "blocked"
    assert noted["blockers"] == looked["blockers"] == blocked["blockers"]
    assert noted["nextIntent"] == looked["nextIntent"] == "await_user_confirmation"
    assert on["pending"]["stepId"] == "end"


@pytest.mark.rule("R5.4", "R11.10")
def test_a_node_is_a_step_a_checkpoint_or_an_attempt_and_each_can_be_gone_on_from(agent):
    ann = agent(flow(step("one"), step("decide", **LOOP_CONTROL), step("end")))
    first = ann.start("user.flow")
    noted = ann.answer(
        "checkpoint_workflow",
        stateToken=first["stateToken"],
        checkpointToken=first["checkpointToken"],
        output={"notesMarkdown": "half way", "artifacts": [{"kind": "own.thing"}]},
    ).structured
    second = ann.go(noted)
    blocked = ann.go(second, "no artifact")
    third = ann.go(blocked, None, artifacts=[{"kind": "wr.loop_control", "decision": "stop"}])
    sessions = ann.rails.sessions
    nodes = list(sessions.state(first["session"]["sessionId"]).nodes.values())
    positions = [sessions.snapshot(node.snapshot_ref) for node in nodes]

    assert [node.kind for node in nodes] == [
        *("step", "checkpoint", "step", "blocked_attempt", "step")
    ]
    assert nodes[1].snapshot_ref == nodes[0].snapshot_ref
    assert [one.channel for one in nodes[1].outputs] == ["recap", "artifact"]
    assert positions[3].engine == positions[2].engine
    assert (positions[2].blocked, positions[3].blocked is None) == (None, False)
    assert [node.parent for node in nodes[1:]] == [node.node_id for node in nodes[:-1]]
    assert third["pending"]["stepId"] == "end"


@pytest.mark.rule("R7.24")
@pytest.mark.parametrize("which", ["state", "node", "attempt", "output", "both"])
def test_a_checkpoint_that_is_refused_leaves_nothing(agent, tmp_path, which):
    ann = agent(TWO)
    first, other = ann.start("user.flow"), ann.start("user.flow")
    given = {
        "stateToken": first["stateToken"],
        "checkpointToken": first["checkpointToken"],
        "output": {"notesMarkdown": "half way"},
    }
    given |= {
        "state": {"stateToken": first["stateToken"][:-1]},
        "node": {"stateToken": other["stateToken"]},
        "attempt": {"checkpointToken": first["ackToken"]},
        "output": {"output": {}},
        "both": {"sessionToken": first["sessionToken"]},
    }[which]
    before = everything(ann, tmp_path / "home")
    error = ann.error("checkpoint_workflow", **given)

    assert (
        error["code"]
        == {
            "state": "TOKEN_INVALID_FORMAT",
            "node": "TOKEN_SCOPE_MISMATCH",
            "attempt": "TOKEN_INVALID_FORMAT",
            "output": "VALIDATION_ERROR",
            "both": "VALIDATION_ERROR",
        }[which]
    )
    assert everything(ann, tmp_path / "home") == before


@pytest.mark.rule("R6.7", "R7.24")
def test_a_used_checkpoint_token_is_not_taken_for_another_step(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    given = {"checkpointToken": first["checkpointToken"], "output": {"notesMarkdown": "half way"}}
    ann.answer("checkpoint_workflow", stateToken=first["stateToken"], **given)
    second = ann.go(first)
    error = ann.error("checkpoint_workflow", stateToken=second["stateToken"], **given)

    assert error["code"] == "TOKEN_SCOPE_MISMATCH"


@pytest.mark.rule("R6.7", "R7.8")
def test_a_note_goes_to_no_other_session_than_its_session_token_names(agent):
    ann = agent(TWO)
    one, other = (ann.answer("start_session", title=name).structured for name in ("One", "Other"))
    error = ann.error(
        "checkpoint_workflow",
        sessionToken=one["sessionToken"],
        checkpointToken=other["checkpointToken"],
        output={"notesMarkdown": "for the first"},
    )

    assert error["code"] == "TOKEN_SCOPE_MISMATCH"
    for made in (one, other):
        assert ann.rails.sessions.state(made["session"]["sessionId"]).outputs == ()


@pytest.mark.rule("R6.7", "R7.6")
def test_a_run_joins_no_other_session_than_that_of_its_parent(agent):
    ann = agent(TWO)
    parent, stranger = ann.start("user.flow"), ann.start("user.flow")
    error = ann.error(
        "start_workflow",
        workflowId="user.flow",
        sessionToken=stranger["sessionToken"],
        parentStateToken=parent["stateToken"],
    )

    assert error["code"] == "TOKEN_SCOPE_MISMATCH"
    for run in (parent, stranger):
        assert len(ann.rails.sessions.state(run["session"]["sessionId"]).runs) == 1


@pytest.mark.rule("R7.21")
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"context": {"k": "x" * 300_000}}, "VALIDATION_ERROR"),
        ({"context": {"wr_x": 1}}, "VALIDATION_ERROR"),
        ({"workflowId": "user.none"}, "WORKFLOW_NOT_FOUND"),
        ({"workflowId": "user.broken"}, "WORKFLOW_INVALID"),
        ({"workspacePath": "/no/such/place"}, "PRECONDITION_FAILED"),
        ({"workflowId": "user.each"}, "PRECONDITION_FAILED"),
        ({"sessionToken": "ses.v1.x"}, "TOKEN_INVALID_FORMAT"),
        ({"parentStateToken": "st.v1.x"}, "TOKEN_INVALID_FORMAT"),
    ],
)
def test_a_start_that_fails_leaves_nothing_behind(agent, tmp_path, given, code):
    """Checked with what is wrong alone; tables and files are compared byte by byte."""
    each = loop("l", step("a"), type="forEach", items="list")
    ann = agent(TWO, flow(each, name="user.each"), flow(step("a", prompt=""), name="user.broken"))
    ann.start("user.flow")
    before = everything(ann, tmp_path / "home")
    error = ann.error("start_workflow", **{"workflowId": "user.flow", **given})

    assert error["code"] == code
    assert everything(ann, tmp_path / "home") == before


@pytest.mark.rule("R7.21", "R7.6", "R8.3", "R4.16")
def test_a_start_weighs_goal_context_and_preferences_before_it_chooses(agent):
    ann = agent(
        flow(
            step("careful", runCondition={"var": "goal", "contains": "careful"}),
            step("plain", prompt="{{goal}} {{k}}"),
        ),
        agent_may_automate=True,
    )
    careful = ann.start("user.flow", goal="Be careful")
    plain = ann.start("user.flow", goal="Be quick", context={"k": 7})
    own = ann.start("user.flow", goal="Be careful", context={"goal": "Be quick"})
    auto = ann.start("user.flow", preferences={"autonomy": "full_auto_never_stop"})

    assert careful["pending"]["stepId"] == "careful"
    assert plain["pending"]["prompt"].startswith("Be quick 7")
    assert own["pending"]["stepId"] == "plain"
    assert auto["pending"]["prompt"].endswith("Do not stop; report gaps.")


@pytest.mark.rule("R11.10", "R7.11")
def test_notes_are_of_their_step_and_joined_by_the_recap(agent):
    ann = agent(flow(step("one"), step("two"), step("three")))
    third = ann.go(ann.go(ann.start("user.flow"), "first"), "second")

    assert [one["notesMarkdown"] for one in ann.look(third)["recap"]["entries"]] == [
        *("first", "second")
    ]


@pytest.mark.rule("R6.16")
def test_another_note_for_a_used_checkpoint_token_is_offered_a_new_one(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    given = {"stateToken": first["stateToken"], "checkpointToken": first["checkpointToken"]}
    ann.answer("checkpoint_workflow", **given, output={"notesMarkdown": "a"})
    count = ann.events(first)
    other = ann.error("checkpoint_workflow", **given, output={"notesMarkdown": "b"})
    token = other["details"]["checkpointToken"]
    third = ann.answer(
        "checkpoint_workflow",
        stateToken=first["stateToken"],
        checkpointToken=token,
        output={"notesMarkdown": "b"},
    )

    assert ann.events(first) > count
    assert not third.is_error
    assert token != first["checkpointToken"]


@pytest.mark.rule("C78")
def test_a_complete_run_takes_checkpoints(agent):
    ann = agent(flow(step("only")))
    done = ann.go(ann.start("user.flow"))
    noted = ann.answer(
        "checkpoint_workflow",
        stateToken=done["stateToken"],
        checkpointToken=done["checkpointToken"],
        output={"notesMarkdown": "afterwards"},
    ).structured

    assert noted["isComplete"] is True
    assert ann.look(noted)["recap"]["entries"][-1]["notesMarkdown"] == "afterwards"


@pytest.mark.rule("C79", "R7.9", "R4.23")
def test_a_session_without_a_run_takes_notes(agent):
    ann = agent(TWO)
    made = ann.answer("start_session", title="Tuning").structured
    given = {"sessionToken": made["sessionToken"], "checkpointToken": made["checkpointToken"]}
    noted = ann.answer("checkpoint_workflow", **given, output={"notesMarkdown": "a"})
    same = ann.answer("checkpoint_workflow", **given, output={"notesMarkdown": "a"})
    other = ann.error("checkpoint_workflow", **given, output={"notesMarkdown": "b"})
    state = ann.rails.sessions.state(made["session"]["sessionId"])

    assert made["session"]["title"] == "Tuning"
    assert bytes_of(noted) == bytes_of(same)
    assert other["code"] == "ALREADY_RECORDED"
    assert [one.payload.notes_markdown for one in state.outputs] == ["a"]
    assert ann.start("user.flow", sessionToken=made["sessionToken"])["kind"] == "ok"


@pytest.mark.rule("C99", "R7.6")
def test_an_idempotency_key_makes_one_run(agent):
    ann = agent(TWO)
    given = {"workflowId": "user.flow", "idempotencyKey": "key-00001"}
    one = ann.answer("start_workflow", **given)
    two = ann.answer("start_workflow", **given)
    other = ann.answer("start_workflow", workflowId="user.flow")

    assert bytes_of(one) == bytes_of(two)
    assert other.structured["session"] != one.structured["session"]
    assert len(ann.rails.sessions.ids()) == 2


@pytest.mark.rule("C74", "R7.11")
def test_context_is_bounded_private_and_deletable(agent):
    ann = agent(THREE)
    first = ann.start("user.flow", context={"k": "secret-value", "other": 1})
    second = ann.go(first, context={"k": None})
    big = ann.go(second, context={"k": "x" * (256 * 1024)})
    bad = ann.go(second, context={"constructor": 1})
    reserved = ann.go(second, context={"wr_x": 1})
    state = ann.rails.sessions.state(first["session"]["sessionId"])
    tip = state.nodes[state.runs[first["session"]["runId"]].preferred]

    assert "secret-value" not in json.dumps({k: v for k, v in first.items() if k != "pending"})
    assert dict(tip.context) == {"other": 1}
    assert big["error"]["details"] == {
        "measured": 256 * 1024 + 8,
        "max": 256 * 1024,
        "unit": "JCS bytes",
    }
    assert bad["error"]["code"] == reserved["error"]["code"] == "VALIDATION_ERROR"


@pytest.mark.rule("C73", "R4.13")
def test_long_notes_are_cut_at_a_character_and_kept_whole_beside(agent):
    ann = agent(TWO)
    notes = "x" * 4081 + "é" * 600
    second = ann.go(ann.start("user.flow"), notes)
    entry = ann.look(second)["recap"]["entries"][0]["notesMarkdown"]
    state = ann.rails.sessions.state(second["session"]["sessionId"])
    payload = next(n.outputs[0].payload for n in state.nodes.values() if n.outputs)

    assert len(entry.encode()) <= 4096
    assert entry.endswith("\n\n[TRUNCATED]")
    assert [one["code"] for one in second["warnings"]] == ["NOTES_TRUNCATED"]
    assert ann.rails.sessions.blob(payload.full_ref).decode() == notes


@pytest.mark.rule("C83", "R7.13")
def test_a_long_recap_keeps_the_newest_entries_that_fit(agent):
    ann = agent(flow(*(step(f"s{n}") for n in range(41))))
    answer = ann.start("user.flow")
    for number in range(40):
        answer = ann.go(answer, f"{number:02d}" + "x" * 1022)
    looked = ann.answer("continue_workflow", stateToken=answer["stateToken"])
    recap = looked.structured["recap"]
    kept = [entry["notesMarkdown"][:2] for entry in recap["entries"]]

    assert kept == [f"{n:02d}" for n in range(40 - len(kept), 40)]
    assert 9 <= len(kept) <= 11
    assert recap["omittedEntries"] == 40 - len(kept)
    assert f"{recap['omittedEntries']} older entries were left out" in looked.texts[0]


@pytest.mark.rule("R7.16", "C84")
def test_tokens_stand_only_in_the_last_block_of_the_text(agent):
    ann = agent(TWO)
    found = ann.reply(ann.start("user.flow"), "note")
    head, _, block = found.texts[0].rpartition("```json\n")
    data = json.loads(block.removesuffix("\n```"))

    assert "st.v1." not in head
    assert "ack.v1." not in head
    assert data["next"] == found.structured["nextCall"]
    assert data["checkpointToken"] == found.structured["checkpointToken"]


@pytest.mark.rule("R6.17", "R6.15")
def test_a_resume_ref_fetches_the_tip_and_acknowledges_nothing(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    second = ann.go(first)
    ref = first["session"]["resumeRef"]
    looked = ann.answer("continue_workflow", stateToken=ref).structured
    refused = ann.error("continue_workflow", stateToken=ref, ackToken=second["ackToken"])

    assert looked["stateToken"] == second["stateToken"]
    assert refused["code"] == "TOKEN_SCOPE_MISMATCH"


@pytest.mark.rule("C75", "R5.9", "R5.11")
def test_a_gap_is_open_until_it_is_resolved(agent):
    ann = agent(
        flow(step("decide", **LOOP_CONTROL), step("after"), step("end")), agent_may_automate=True
    )
    first = ann.start("user.flow", preferences={"autonomy": "full_auto_never_stop"})
    second = ann.go(first, "no artifact")
    gap = second["gaps"][0]["gapId"]
    open_end = ann.go(ann.go(second), "end")
    resolved = ann.go(
        ann.look(second),
        "solved",
        artifacts=[
            {"kind": "wr.gap", "severity": "info", "summary": "Solved.", "resolvesGapId": gap}
        ],
    )
    closed_end = ann.go(resolved, "end")

    def status(answer):
        found = ann.answer("resume_session", runId=answer["session"]["runId"]).structured
        return found["candidates"][0]["status"]

    assert closed_end["isComplete"] is True
    assert status(closed_end) == "complete"
    assert open_end["isComplete"] is True
