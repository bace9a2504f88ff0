"""The person's side: look, steer, approve, keep, delete (R7.26, R10.2–R10.6)."""

from __future__ import annotations

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, step

from backshop.base.codec import encode
from backshop.rails import Studio, studio_requests

TWO = flow(step("one"), step("two"))
NEVER = {"runCondition": {"var": "never", "equals": "so"}}
NONSTOP = {"autonomy": "full_auto_never_stop"}


@pytest.mark.rule("C64", "R8.21")
def test_an_approval_by_the_person_lets_a_plain_retry_pass(agent):
    ann = agent(flow(step("s", requireConfirmation={"kind": "human_approval"}), step("end")))
    blocked = ann.go(ann.start("user.flow"))
    tip = ann.studio("RailsRunGet", runId=blocked["session"]["runId"])["preferredTip"]
    unknown = ann.refused("RailsUserInputRecord", nodeId=tip, inputId="x", decision="approved")
    ann.studio("RailsUserInputRecord", nodeId=tip, inputId="approval", decision="approved")

    assert unknown["code"] == "VALIDATION_ERROR"
    assert ann.go(blocked)["pending"]["stepId"] == "end"


@pytest.mark.rule("R8.3", "R7.19", "R5.12")
def test_the_person_changes_mode_and_inputs_at_the_tip(agent):
    ann = agent(flow(step("one", **LOOP_CONTROL), step("two", prompt="k is {{k}}")))
    first = ann.start("user.flow")
    run = first["session"]["runId"]
    changed = ann.studio("RailsRunSetPreferences", runId=run, preferences=NONSTOP)
    ann.studio("RailsRunSetContext", runId=run, set={"k": 7}, removed=["gone"])
    second = ann.go(first)

    assert changed["preferences"]["autonomy"] == "full_auto_never_stop"
    assert second["kind"] == "ok"
    assert "k is 7" in second["pending"]["prompt"]
    assert second["gaps"][0]["severity"] == "critical"


@pytest.mark.rule("R5.11", "R5.9", "R7.19")
def test_the_person_closes_a_gap(agent):
    ann = agent(flow(step("one", **LOOP_CONTROL)), agent_may_automate=True)
    done = ann.go(ann.start("user.flow", preferences=NONSTOP))
    run, gap = done["session"]["runId"], done["gaps"][0]["gapId"]
    before = ann.studio("RailsRunGet", runId=run)["status"]
    ann.studio("RailsGapResolve", gapId=gap, summary="The decision was made by phone.")
    again = ann.refused("RailsGapResolve", gapId=gap, summary="twice")

    assert before == "complete_with_gaps"
    assert ann.studio("RailsRunGet", runId=run)["status"] == "complete"
    assert again["code"] == "VALIDATION_ERROR"


@pytest.mark.rule("R10.2", "R10.3", "R5.18")
def test_sessions_are_listed_newest_first_and_filtered(agent):
    ann = agent(TWO, flow(step("one"), name="user.other"))
    first = ann.start("user.flow", goal="Tidy the cellar")
    second = ann.start("user.other", goal="Paint the door")
    done = ann.go(second)
    listed = ann.studio("RailsSessionsList")["sessions"]
    page = ann.studio("RailsSessionGet", sessionId=first["session"]["sessionId"])

    def ids(**wanted):
        rows = ann.studio("RailsSessionsList", **wanted)["sessions"]
        return [row["title"] for row in rows]

    assert [row["title"] for row in listed] == ["Paint the door", "Tidy the cellar"]
    assert [row["status"] for row in listed] == ["complete", "in_progress"]
    assert ids(status="complete") == ["Paint the door"]
    assert ids(workflowId="user.flow") == ["Tidy the cellar"]
    assert ids(query="cellar") == ["Tidy the cellar"]
    assert ids(limit=1) == ["Paint the door"]
    assert ids(limit=1, cursor="1") == ["Tidy the cellar"]
    assert page["runList"][0]["resumeRef"] == first["session"]["resumeRef"]
    assert done["isComplete"] is True


@pytest.mark.rule("R10.2")
@pytest.mark.parametrize("cursor", ["9" * 5000, "9" * 20, "-1", "x", "²"])
def test_a_cursor_that_no_page_gave_is_refused(agent, cursor):
    ann = agent(TWO)
    ann.start("user.flow")

    assert ann.refused("RailsSessionsList", cursor=cursor)["code"] == "VALIDATION_ERROR"


@pytest.mark.rule("R10.4", "R10.5", "R10.6")
def test_a_run_is_a_graph_of_nodes_with_causes(agent):
    ann = agent(flow(step("one"), step("maybe", runCondition={"var": "x"}), step("two")))
    first = ann.start("user.flow")
    ann.go(first, "left")
    ann.go(ann.look(first), "right", artifacts=[{"kind": "own.thing", "a": 1}])
    graph = ann.studio("RailsRunGet", runId=first["session"]["runId"])
    tip = ann.studio("RailsNodeGet", nodeId=graph["preferredTip"])
    forked = ann.studio("RailsRunFork", nodeId=graph["nodes"][0]["nodeId"])

    assert [edge["cause"] for edge in graph["edges"]] == ["tip_advance", "non_tip_advance"]
    assert [node["isTip"] for node in graph["nodes"]] == [False, True, True]
    assert {one["stepId"] for one in graph["skipped"]} == {"maybe"}
    assert graph["branches"] == 2
    assert [one["channel"] for one in tip["outputs"]] == ["recap", "artifact"]
    assert "fork" in tip["badges"]
    assert forked["pending"]["stepId"] == "one"
    assert len(forked["branches"]["children"]) == 2


@pytest.mark.rule("R9.10", "R4.18", "C49")
def test_deleting_a_session_needs_its_name_and_ends_its_tokens(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    session = first["session"]["sessionId"]
    ann.studio("RailsSessionSetKeep", sessionId=session, keep=True)
    kept = ann.studio("RailsSessionsList")["sessions"][0]["keep"]
    unsure = ann.refused("RailsSessionDelete", sessionId=session, confirm="yes")
    ann.studio("RailsSessionDelete", sessionId=session, confirm=session)

    assert kept is True
    assert unsure["code"] == "VALIDATION_ERROR"
    assert ann.error("continue_workflow", ackToken=first["ackToken"])["code"] == (
        "TOKEN_UNKNOWN_NODE"
    )
    assert ann.studio("RailsSessionsList")["sessions"] == []


@pytest.mark.rule("R5.5", "R7.19")
def test_an_intended_fork_says_so(agent):
    from backshop.rails import Request, Submitted

    ann = agent(TWO)
    first = ann.start("user.flow")
    ann.go(first, "left")
    again = ann.look(first)
    ann.rails.execution.advance(
        again["ackToken"], Request(output=Submitted("right")), is_intended_fork=True
    )
    graph = ann.studio("RailsRunGet", runId=first["session"]["runId"])

    assert [edge["cause"] for edge in graph["edges"]] == ["tip_advance", "intentional_fork"]


@pytest.mark.rule("R5.5", "R7.26", "R6.5", "R6.6")
def test_a_fork_by_the_person_is_recorded_as_asked_for_and_takes_nothing_away(agent):
    """The agent's own ack stays good, whichever of both is used first."""
    ann = agent(TWO)
    first = ann.start("user.flow")
    run = first["session"]["runId"]
    root = ann.studio("RailsRunGet", runId=run)["preferredTip"]
    forked = ann.studio("RailsRunFork", nodeId=root)
    early = ann.go(forked, "by the person")
    ann.go(first, "by the agent")
    late = ann.studio("RailsRunFork", nodeId=root)
    ann.go(late, "once more")
    again = ann.go(forked, "by the person")
    graph = ann.studio("RailsRunGet", runId=run)

    assert forked["ackToken"] not in (first["ackToken"], late["ackToken"])
    assert again == early
    assert [edge["cause"] for edge in graph["edges"]] == [
        "intentional_fork",
        "non_tip_advance",
        "intentional_fork",
    ]


@pytest.mark.rule("R9.4", "R6.5")
def test_forks_keep_their_cause_when_a_session_travels(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    ann.go(first, "left")
    root = ann.studio("RailsRunGet", runId=first["session"]["runId"])["nodes"][0]["nodeId"]
    ann.go(ann.studio("RailsRunFork", nodeId=root), "right")
    session = first["session"]["sessionId"]
    text = ann.studio("RailsSessionExport", sessionId=session, format="bundle")["text"]
    copy = ann.studio("RailsSessionImport", bundle=text)["sessionId"]
    run = ann.studio("RailsSessionGet", sessionId=copy)["runList"][0]["runId"]
    graph = ann.studio("RailsRunGet", runId=run)
    ann.go(ann.studio("RailsRunFork", nodeId=graph["nodes"][0]["nodeId"]), "again")

    assert [edge["cause"] for edge in graph["edges"]] == ["tip_advance", "intentional_fork"]
    assert len(ann.studio("RailsRunGet", runId=run)["nodes"]) == 4


@pytest.mark.rule("R5.9")
def test_work_nobody_goes_on_with_is_dormant(agent):
    from backshop.rails.studio.request import SessionsList
    from backshop.testing.ambient import FixedClock

    ann = agent(flow(step("one")))
    ann.go(ann.start("user.flow"))
    ann.start("user.flow")
    later = Studio(ann.rails, FixedClock(4_000_000_000_000))
    rows = later.sessions_list(SessionsList()).sessions
    dormant = later.sessions_list(SessionsList(status="dormant")).sessions

    assert [row.status for row in rows] == ["dormant", "complete"]
    assert dormant == rows[:1]


@pytest.mark.rule("R10.5", "R9.7", "R8.24")
def test_artifacts_are_shown_by_the_renderer_of_their_contract(agent):
    changed = {
        "kind": "mr_review.changed_files",
        "changedFiles": [
            {"path": "b.py", "summary": "x | y", "risk": "L"},
            {"path": "a.py", "summary": "old", "risk": "L"},
            {"path": "a.py", "summary": "new", "risk": "H"},
        ],
    }
    remark = {"severity": "Minor", "location": {"file": "a.py", "line": 3}, "title": "Empty"}
    findings = {"kind": "mr_review.findings", "findings": [{**remark, "rationale": "It fails."}]}
    ann = agent(flow(step("one"), step("two")))
    first = ann.start("user.flow")
    ann.go(first, artifacts=[changed, findings, {"kind": "own.thing", "a": "```"}])
    text = ann.studio(
        "RailsSessionExport", sessionId=first["session"]["sessionId"], format="markdown"
    )["text"]

    assert "| a.py | H | new |\n| b.py | L | x / y |" in text
    assert "- **Minor** `a.py:3` Empty: It fails." in text
    assert '"a": "` ` `"' in text


@pytest.mark.rule("R10.4", "R10.5")
def test_a_node_shows_what_it_asks_of_the_person(agent):
    asks = {"id": "colour", "reason": "needs_user_artifact", "prompt": "Which colour?"}
    ann = agent(flow(step("s", userInputs=[asks]), step("end")))
    blocked = ann.go(ann.start("user.flow"))
    tip = ann.studio("RailsRunGet", runId=blocked["session"]["runId"])["preferredTip"]
    before = ann.studio("RailsNodeGet", nodeId=tip)["inputs"]
    ann.studio("RailsUserInputRecord", nodeId=tip, inputId="colour", decision="provided")
    page = ann.studio("RailsNodeGet", nodeId=tip)

    assert [(one["id"], one["decision"]) for one in before] == [("colour", None)]
    assert page["inputs"][0]["decision"] == "provided"
    assert page["preferencesSource"] == "system"
    assert page["resume"]["call"]["arguments"]["stateToken"] == blocked["stateToken"]


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("RailsSessionGet", {"sessionId": "sess_x"}),
        ("RailsRunGet", {"runId": "run_x"}),
        ("RailsNodeGet", {"nodeId": "node_x"}),
        ("RailsRunFork", {"nodeId": "node_x"}),
        ("RailsRunSetContext", {"runId": "run_x"}),
        ("RailsSessionDelete", {"sessionId": "sess_x", "confirm": "sess_x"}),
        ("RailsSessionExport", {"sessionId": "sess_x"}),
        ("RailsGapResolve", {"gapId": "gap_x", "summary": "s"}),
    ],
)
def test_ids_that_name_nothing_are_refused(agent, name, request_):
    assert agent(TWO).refused(name, **request_)["code"] in {
        "VALIDATION_ERROR",
        "TOKEN_UNKNOWN_NODE",
    }


@pytest.mark.rule("R9.8", "C92", "C100")
def test_sessions_nobody_uses_expire_unless_they_are_kept(agent):
    from backshop.rails import StartWorkflow
    from backshop.rails.studio.request import SessionsExpire
    from backshop.testing.ambient import FixedClock

    ann = agent(TWO)
    old, kept = (ann.start("user.flow")["session"]["sessionId"] for _ in range(2))
    built = ann.rails.start_workflow(StartWorkflow(workflow_id="user.flow"), driver="builtin")
    ann.studio("RailsSessionSetKeep", sessionId=kept, keep=True)
    later = Studio(ann.rails, FixedClock(4_000_000_000_000))
    now = ann.studio("RailsSessionsExpire", apply=True)
    counted = later.sessions_expire(SessionsExpire())
    swept = later.sessions_expire(SessionsExpire(apply=True))
    of_a_bench = built.structured["session"]["sessionId"]
    refused = ann.refused("RailsSessionDelete", sessionId=of_a_bench, confirm=of_a_bench)
    left = ann.rails.sessions.ids()

    assert now["sessions"] == []
    assert counted.sessions == swept.sessions == (old,)
    assert refused["code"] == "PRECONDITION_FAILED"
    assert sorted(left) == sorted([kept, built.structured["session"]["sessionId"]])


@pytest.mark.rule("R3.8", "R2.6")
def test_the_text_a_run_keeps_can_be_seen_when_its_source_is_gone(agent, tmp_path):
    ann = agent(TWO)
    first = ann.start("user.flow")
    (tmp_path / "home" / "workflows" / "user.flow.json").unlink()
    kept = ann.studio("RailsRunGet", runId=first["session"]["runId"])["workflowHash"]
    pinned = ann.studio("RailsWorkflowPinned", workflowHash=kept)
    unknown = ann.refused("RailsWorkflowPinned", workflowHash="sha256:" + "0" * 64)

    assert [one["stepId"] for one in pinned["outline"]] == ["one", "two"]
    assert pinned["compiled"]["workflowId"] == "user.flow"
    assert unknown["code"] == "VALIDATION_ERROR"


@pytest.mark.rule("R10.1", "R6.11")
def test_nothing_the_person_does_completes_a_step(agent):
    ask = {"id": "go", "reason": "needs_user_choice", "prompt": "Go?", "contextKey": "go"}
    ask |= {"choiceKind": "scope_boundary"}
    ann = agent(flow(step("one", userInputs=[ask]), step("two")))
    first = ann.start("user.flow")
    run, session = first["session"]["runId"], first["session"]["sessionId"]
    root = ann.studio("RailsRunGet", runId=run)["preferredTip"]
    ann.studio("RailsRunSetPreferences", runId=run, preferences=NONSTOP)
    ann.studio("RailsRunSetContext", runId=run, set={"go": "yes"})
    ann.studio("RailsUserInputRecord", nodeId=root, inputId="go", decision="provided")
    ann.studio("RailsRunFork", nodeId=root)
    ann.studio("RailsSessionSetKeep", sessionId=session, keep=True)
    graph = ann.studio("RailsRunGet", runId=run)

    assert [node["nodeId"] for node in graph["nodes"]] == [root]
    assert ann.go(first)["pending"]["stepId"] == "two"


@pytest.mark.rule("R5.10", "R8.28")
def test_what_a_blocked_attempt_brought_is_shown_found_and_counts_with_the_next(agent):
    ann = agent(flow(step("one", **LOOP_CONTROL), step("two")))
    blocked = ann.go(ann.start("user.flow"), "only words")
    node = ann.studio("RailsRunGet", runId=blocked["session"]["runId"])["preferredTip"]
    page = ann.studio("RailsNodeGet", nodeId=node)
    looked = ann.look(blocked)

    assert [one["notesMarkdown"] for one in page["outputs"]] == ["only words"]
    assert looked["recap"]["entries"] == []
    assert looked["handedIn"] == {"notesMarkdown": "only words"}
    assert ann.call("resume_session", {"query": "only words"})["candidates"][0]["whyMatched"] == [
        "matched_notes"
    ]


@pytest.mark.rule("U6.2", "R7.26")
def test_a_long_run_is_shown_in_windows_that_together_are_all_of_it(agent):
    steps = [step(f"s{n}", **(NEVER if n % 5 == 3 else {})) for n in range(30)]
    ann = agent(flow(*steps))
    answer = first = ann.start("user.flow")
    while answer["pending"] is not None:
        answer = ann.go(answer)
    ann.go(ann.look(first), "a branch")
    run_id = first["session"]["runId"]
    whole = ann.studio("RailsRunGet", runId=run_id)
    windows, around = [], whole["nodes"][0]["nodeId"]
    while around is not None:
        windows.append(ann.studio("RailsRunGet", runId=run_id, limit=10, around=around))
        around = windows[-1]["window"]["later"]
    newest = ann.studio("RailsRunGet", runId=run_id, limit=10)

    seen = {one["nodeId"]: one for window in windows for one in window["nodes"]}
    skipped = {repr(one): one for window in windows for one in window["skipped"]}
    assert whole["window"]["total"] == len(whole["nodes"]) == whole["window"]["count"]
    assert (whole["window"]["earlier"], whole["window"]["later"]) == (None, None)
    assert list(seen.values()) == whole["nodes"]
    assert list(skipped.values()) == whole["skipped"] != []
    assert {len(window["nodes"]) for window in windows} == {10}
    assert newest["preferredTip"] in {one["nodeId"] for one in newest["nodes"]}
    assert newest["window"]["earlier"] in seen
    assert newest["window"]["later"] is None


@pytest.mark.rule("R10.2", "R10.5", "S5.4")
def test_answers_are_typed_here_and_say_null_where_nothing_is_known(agent):
    ann = agent(TWO)
    first = ann.start("user.flow")
    run = first["session"]["runId"]
    row = ann.studio("RailsSessionsList")["sessions"][0]
    node = ann.studio("RailsRunGet", runId=run)["nodes"][0]
    page = Studio(ann.rails).run_get(studio_requests.RunGet(run_id=run))

    assert [key for key, value in row.items() if value is None] == ["gitBranch", "workspaceName"]
    assert [key for key, value in node.items() if value is None] == [
        "parentNodeId",
        "completedStepId",
    ]
    assert (page.run_id, page.nodes[0].pending_step_id) == (run, "one")
    assert encode(page.window) == {
        "first": 0,
        "count": 1,
        "total": 1,
        "earlier": None,
        "later": None,
    }
