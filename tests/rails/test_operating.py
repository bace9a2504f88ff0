"""What an operator sees of all runs at once: what waits, who is at work, branches begun (R10)."""

from __future__ import annotations

import pytest
from tests.rails.workflows import LOOP_CONTROL, flow, loop, step

from backshop.base.acting import agent_acting

ASKS = flow(
    step("plan", requireConfirmation=True),
    step("sign", requireConfirmation={"kind": "human_approval"}),
    step("end", **LOOP_CONTROL),
)
WISH = {"autonomy": "full_auto_never_stop"}


@pytest.mark.rule("R10.11", "R5.20", "R8.21")
def test_what_waits_is_listed_until_the_person_has_answered_it(agent):
    ann = agent(ASKS)
    first = ann.start("user.flow", goal="Sign the lease", preferences=WISH)
    run = first["session"]["runId"]

    def kinds() -> list[str]:
        return [one["kind"] for one in ann.studio("RailsWaitingList")["waiting"]]

    begun = kinds()
    ann.studio("RailsRunSetPreferences", runId=run, preferences={"autonomy": "guided"})
    confirming = kinds()
    blocked = ann.go(ann.go(first, "Planned."), "The lease, page 2 changed.")
    [waits] = ann.studio("RailsWaitingList")["waiting"]
    before = ann.studio("RailsRunGet", runId=run)
    ann.approve(blocked)
    after = ann.studio("RailsRunGet", runId=run)
    said = ann.studio("RailsNodeGet", nodeId=waits["nodeId"])["inputs"][0]
    answered = kinds()
    other = ann.go(blocked, "Another lease.")
    reopened = kinds()
    ann.approve(other)
    last = ann.go(other, "Another lease.")
    ann.go(last, "no decision")

    assert (begun, confirming) == (["confirmation", "wish"], ["confirmation"])
    assert (waits["kind"], waits["title"], waits["step"]) == ("approval", "Sign the lease", "Sign")
    assert waits["handedIn"] == "The lease, page 2 changed."
    assert (before["status"], before["nodes"][-1]["badges"]) == ("blocked", ["blocked"])
    assert (after["status"], after["nodes"][-1]["badges"]) == ("in_progress", ["answered"])
    assert (said["decision"], said["isOpen"], answered) == ("approved", False, [])
    assert reopened == ["approval"]  # the word was for what was handed in then
    assert kinds() == ["blocked"]


@pytest.mark.rule("R10.11")
def test_a_run_that_never_stops_and_a_rejected_step_wait_for_nobody(agent):
    ann = agent(ASKS, agent_may_automate=True)
    ann.go(ann.start("user.flow", preferences=WISH), "Planned.")
    blocked = ann.go(ann.go(ann.start("user.flow"), "Planned."), "Ready.")
    tip = ann.studio("RailsRunGet", runId=blocked["session"]["runId"])["preferredTip"]
    ann.studio("RailsUserInputRecord", nodeId=tip, inputId="approval", decision="rejected")
    [left] = ann.studio("RailsWaitingList")["waiting"]

    assert (left["kind"], left["nodeId"]) == ("blocked", tip)  # by their own word
    assert ann.studio("RailsRunGet", runId=blocked["session"]["runId"])["status"] == "blocked"


@pytest.mark.rule("R8.40", "R8.41", "R8.21", "R10.11")
def test_what_a_person_says_of_a_step_reaches_the_agent_and_other_content_is_asked_anew(agent):
    ann = agent(ASKS)
    blocked = ann.go(ann.go(ann.start("user.flow"), "Planned."), "All payments.")
    run = blocked["session"]["runId"]

    def answers(decision: str, words: str) -> None:
        tip = ann.studio("RailsRunGet", runId=run)["preferredTip"]
        said = {"nodeId": tip, "inputId": "approval", "decision": decision, "summary": words}
        ann.studio("RailsUserInputRecord", **said)

    answers("rejected", "Leave the double payments out")
    [left] = ann.studio("RailsWaitingList")["waiting"]
    looked = ann.look(blocked)
    same = ann.go(looked, "All payments.")
    changed = ann.go(same, "Without the double ones.")
    [asked] = ann.studio("RailsWaitingList")["waiting"]
    answers("approved", "Tell Ann too")
    done = ann.go(changed, "Without the double ones.")
    told = ann.look(done)["recap"]["entries"][-1]

    assert (left["kind"], left["handedIn"]) == ("blocked", "All payments.")
    assert left["text"] == "You rejected this: Leave the double payments out"
    rejection = {
        "inputId": "approval",
        "decision": "rejected",
        "words": "Leave the double payments out",
    }
    assert looked["personSaid"] == same["personSaid"] == [rejection]
    assert "They said: Leave the double payments out" in same["blockers"][0]["message"]
    assert "asked anew" in same["blockers"][0]["suggestedFix"]
    assert "rejected" not in changed["blockers"][0]["message"]
    assert (asked["kind"], asked["handedIn"]) == ("approval", "Without the double ones.")
    assert done["kind"] == "ok"
    assert done["personSaid"][-1]["words"] == told["personSaid"][-1]["words"] == "Tell Ann too"


@pytest.mark.rule("R8.42", "R8.33")
def test_a_step_that_names_a_key_that_others_read_has_a_blank_for_it(agent):
    compare = step("compare", prompt="Set `difference` and the list `lines`; `other` is nothing.")
    ask = step("ask", runCondition={"var": "difference", "equals": "large"})
    each = {"type": "forEach", "items": "lines", "itemVar": "line"}
    ann = agent(flow(compare, ask, loop("each", step("look", prompt="{{line}}"), **each)))
    begun = ann.start("user.flow")
    blank = begun["nextCall"]["arguments"]["context"]
    copied = ann.go(begun, "Compared.", context=blank)
    done = ann.go(copied, context={"difference": "large", "lines": ["a"]})

    assert blank == {"difference": "<the value of difference>", "lines": "<a list>"}
    assert [one["code"] for one in copied["blockers"]] == ["MISSING_CONTEXT_KEY"] * 2
    assert copied["nextCall"]["arguments"]["context"] == blank
    assert done["pending"]["stepId"] == "ask"
    assert "context" not in done["nextCall"]["arguments"]


@pytest.mark.rule("R10.12", "R5.8", "R5.19", "R6.5", "R9.4")
def test_a_person_begins_a_branch_that_agents_find_and_no_token_is_spent(agent):
    ann = agent(flow(step("one"), step("two"), step("three")))
    first = ann.start("user.flow", goal="Two ways")
    second = ann.go(first, "left")
    third = ann.go(second, "went on")
    run = first["session"]["runId"]
    root = ann.studio("RailsRunGet", runId=run)["nodes"][0]["nodeId"]
    made = ann.studio("RailsRunBranch", nodeId=root, note="Begin with the tests.")
    graph = ann.studio("RailsRunGet", runId=run)
    resumed = ann.call("resume_session", {"resumeRef": first["session"]["resumeRef"]})
    there = ann.call("continue_workflow", resumed["candidates"][0]["nextCall"]["arguments"])
    notes = [one["notesMarkdown"] for one in there["recap"]["entries"]]
    beside = [one["notesMarkdown"] for one in ann.look(third)["recap"]["entries"]]
    checkpoint = {key: first[key] for key in ("stateToken", "checkpointToken")}
    kept = ann.call("checkpoint_workflow", {**checkpoint, "output": {"notesMarkdown": "x"}})
    ann.go(there, "right")
    ended = ann.studio("RailsRunGet", runId=run)
    text = ann.studio("RailsSessionExport", sessionId=first["session"]["sessionId"])["text"]
    copy = ann.studio("RailsSessionImport", bundle=text)["sessionId"]

    assert graph["preferredTip"] == made["nodeId"]
    assert [edge["cause"] for edge in graph["edges"]][-1] == "intentional_fork"
    assert (graph["branches"], ended["branches"]) == (2, 2)
    assert there["pending"]["stepId"] == "one"
    assert notes == ["The person asked for this branch: Begin with the tests."]
    assert beside == ["left", "went on"]  # it is for the branch alone
    assert kept["kind"] == "ok"
    assert ann.studio("RailsSessionGet", sessionId=copy)["runList"][0]["branches"] == 2


@pytest.mark.rule("R10.12")
def test_where_nothing_is_pending_no_branch_begins(agent):
    ann = agent(flow(step("one")))
    done = ann.go(ann.start("user.flow"))
    tip = ann.studio("RailsRunGet", runId=done["session"]["runId"])["preferredTip"]

    assert ann.refused("RailsRunBranch", nodeId=tip)["code"] == "PRECONDITION_FAILED"


@pytest.mark.rule("R10.13", "R10.14")
def test_runs_are_filtered_and_counted_and_say_who_is_at_work(agent):
    ann = agent(ASKS, flow(step("one"), name="user.other"))
    with agent_acting("mcp:claude-code"):
        one = ann.start("user.flow", goal="Sign the lease")
    with agent_acting("agent"):
        two = ann.start("user.other", goal="Paint the door")
        ann.go(two, "painted")
    ann.start("user.other", goal="Nobody said who")

    def titles(**wanted):
        return [row["title"] for row in ann.studio("RailsRunsList", **wanted)["runs"]]

    every = ann.studio("RailsRunsList")
    assert titles() == ["Nobody said who", "Paint the door", "Sign the lease"]
    assert titles(agent="mcp:claude-code") == ["Sign the lease"]
    assert titles(workflowId="user.other", status="complete") == ["Paint the door"]
    assert titles(query="sign lease") == titles(atWork=True) == ["Sign the lease"]
    ref = every["runs"][-1]["resumeRef"]
    assert titles(query=ref) == titles(query=f"{ref[:7]} lease") == ["Sign the lease"]
    assert titles(query=ref[2]) == []  # a letter of an id is no word of anybody's
    assert titles(limit=1, cursor="1") == ["Paint the door"]
    assert titles(withinHours=1) == titles()
    assert (every["total"], every["byStatus"]) == (3, {"in_progress": 2, "complete": 1})
    assert every["agents"] == {"agent": 1, "mcp:claude-code": 1}
    assert every["workflows"] == {"user.flow": 1, "user.other": 2}
    assert every["runs"][-1]["nowAt"] == "Plan"
    assert one["session"]["runId"] == every["runs"][-1]["runId"]
