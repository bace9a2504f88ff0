"""Rails that keep an agent honest: nothing suggested passes as done, nobody speaks for another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import PROOF
from tests.rails.agent import Agent, rails_of
from tests.rails.walker import walk
from tests.rails.workflows import ARTIFACT, GO_ON, LOOP_CONTROL, STOP, flow, loop, step

from backshop.rails import Settings
from backshop.rails.packs import PACKS
from backshop.rails.run import form

REPORT = {"outputContract": {"contractRef": "wr.contracts.verification_report"}}
REAL: dict[str, Any] = {
    "kind": "wr.verification_report",
    "checks": [{"name": "unit tests", "result": "pass", "evidence": "7 passed"}],
    "summary": "All seven pass.",
}
APPROVED = {"kind": "wr.user_input", "inputId": "approval", "decision": "approved"}
APPROVAL = {"requireConfirmation": {"kind": "human_approval"}}
NEVER_STOP = {"autonomy": "full_auto_never_stop"}


def literal(ann: Agent, answer: Any) -> Any:
    return ann.call("continue_workflow", answer["nextCall"]["arguments"])


def codes(answer: Any) -> list[str]:
    return [one["code"] for one in answer.get("blockers", ())]


def facts(ann: Agent, answer: Any, kind: str) -> list[Any]:
    stream = f"session:{answer['session']['sessionId']}"
    return [one.fact for one in ann.rails.sessions.store.read(stream) if one.kind == kind]


# ------------------------------------------------------------ suggested calls


class Literalist:
    """Sends every suggested call as it is before the walk goes on, and notes what went through."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.passed: list[tuple[str, str]] = []
        self.sent = 0

    def __call__(self, answer: Any) -> None:
        if answer["kind"] == "blocked":
            return  # its own suggestion was tried in a branch below
        again = answer
        for _ in range(2):
            again = literal(self.agent, again)
            self.sent += 1
            if again["kind"] != "blocked" or again["pending"] is None:
                self.passed.append((answer["session"]["workflowId"], answer["pending"]["stepId"]))
                return

    def walked(self, workflow_id: str) -> bool:
        """Walk a workflow in branches beside what was tried; return whether it came to its end."""

        def call(tool: str, arguments: Any) -> Any:
            found = self.agent.call(tool, arguments)
            if "error" in found and "forkAckToken" in found["error"].get("details", {}):
                token = found["error"]["details"]["forkAckToken"]
                found = self.agent.call(tool, {**arguments, "ackToken": token})
            return found

        return walk(call, workflow_id, ask=self.agent.approve, seen=self).is_complete


@pytest.mark.rule("R8.33", "R7.12")
def test_no_suggested_call_of_a_bundled_workflow_passes_as_it_is(tmp_path, scaled):
    tried = Literalist(Agent(rails_of(tmp_path)))
    listed = tried.agent.call("list_workflows", {})["workflows"]
    stuck = []
    for preset in ("guided", "full_auto")[: scaled(1, 2)]:
        tried.agent.rails.settings = Settings(preset=preset)
        stuck += [one["workflowId"] for one in listed if not tried.walked(one["workflowId"])]

    assert tried.passed == []
    assert stuck == []
    assert tried.sent > 2 * len(listed)


@pytest.mark.needs("corpora")
@pytest.mark.timeout(1200 if PROOF else 120)
@pytest.mark.rule("R8.33", "R7.12", "C101")
def test_no_suggested_call_of_a_published_workflow_passes_as_it_is(tmp_path, corpora, scaled):
    rails = rails_of(tmp_path, bundled_dirs=(corpora / "workflows",))
    tried = Literalist(Agent(rails))
    listed = tried.agent.call("list_workflows", {"limit": 200})["workflows"]

    stuck = [
        one["workflowId"] for one in listed[:: scaled(6, 1)] if not tried.walked(one["workflowId"])
    ]

    assert tried.passed == []
    assert stuck == []


@pytest.mark.needs("corpora")
@pytest.mark.timeout(1200 if PROOF else 120)
@pytest.mark.rule("R8.33", "R8.7", "C101")
def test_a_run_of_suggested_calls_never_completes_without_gaps(tmp_path, corpora, scaled):
    """In never-stop mode nothing blocks: then every made-up output is a critical gap."""
    rails = rails_of(
        tmp_path,
        bundled_dirs=(corpora / "workflows",),
        settings=Settings(preset="full_auto_nonstop"),
    )
    agent, silent = Agent(rails), []
    for one in agent.call("list_workflows", {"limit": 200})["workflows"][:: scaled(8, 1)]:
        answer = agent.start(one["workflowId"], goal="see")
        for _ in range(400):
            if "error" in answer or answer["isComplete"]:
                break
            answer = literal(agent, answer)
            if not any(gap["severity"] == "critical" for gap in answer.get("gaps", ())):
                silent.append((one["workflowId"], answer.get("pending")))

    assert silent == []


@pytest.mark.rule("R8.33")
@pytest.mark.parametrize("ref", PACKS)
def test_the_form_of_every_contract_is_refused_and_its_example_too(agent, ref):
    ann = agent(flow(step("one", outputContract={"contractRef": ref}), step("two")))
    first = ann.start("user.flow")
    example = first["pending"]["outputContract"]["example"]

    by_form = literal(ann, first)
    by_example = ann.go(by_form, None, artifacts=[example])

    assert by_form["kind"] == "blocked"
    is_closed = not any(form.copies(PACKS[ref].schema, example, example))
    assert by_example["kind"] == ("ok" if is_closed else "blocked")


@pytest.mark.rule("R8.34")
@pytest.mark.parametrize("pack", PACKS.values(), ids=lambda one: one.kind)
def test_every_text_of_an_example_says_that_it_is_one(pack):
    copied = form.copies(pack.schema, pack.example, pack.example)
    free = list(form._free(pack.schema, pack.example))

    assert len(copied) == len(free)
    assert all("example" in text.lower() for _, text in free)


@pytest.mark.rule("R8.34")
def test_one_text_of_an_example_among_ones_own_is_refused_and_words_of_closed_sets_never(agent):
    ann = agent(flow(step("one", **REPORT), step("two")))
    first = ann.start("user.flow")
    example = first["pending"]["outputContract"]["example"]
    borrowed = {
        **REAL,
        "checks": [{**REAL["checks"][0], "evidence": "example: 212  passed in 3.1 s"}],
    }

    blocked = ann.go(first, None, artifacts=[borrowed])
    own = ann.go(blocked, None, artifacts=[REAL])

    assert example["checks"][0]["evidence"] == "Example: 212 passed in 3.1 s"
    assert codes(blocked) == ["INVALID_REQUIRED_OUTPUT"]
    assert "checks.0.evidence: the text of the example" in blocked["validation"]["issues"][0]
    assert REAL["checks"][0]["result"] == example["checks"][0]["result"]
    assert own["kind"] == "ok"


@pytest.mark.rule("R8.34")
def test_an_example_is_a_gap_in_never_stop_mode(agent):
    ann = agent(flow(step("one", **REPORT), step("two")), preset="full_auto_nonstop")
    first = ann.start("user.flow")

    went = ann.go(first, None, artifacts=[first["pending"]["outputContract"]["example"]])

    assert went["pending"]["stepId"] == "two"
    assert [one["reason"]["detail"] for one in went["gaps"]] == ["invalid_required_output"]


@pytest.mark.rule("R8.33", "R8.11")
@pytest.mark.parametrize("notes", ["<what you did>", " <what you did in this step>\n", "<notes>"])
@pytest.mark.parametrize("more", [{}, {"notesOptional": True}, REPORT])
def test_a_placeholder_is_no_note(agent, notes, more):
    ann = agent(flow(step("one", **more), step("two")))
    artifacts = [REAL] if more is REPORT else None

    blocked = ann.go(ann.start("user.flow"), notes, artifacts=artifacts)
    seen = ann.look(blocked)

    assert codes(blocked) == ["MISSING_REQUIRED_NOTES"]
    assert notes.strip() not in json.dumps(seen["recap"])
    assert ann.go(blocked, "did it", artifacts=artifacts)["kind"] == "ok"


@pytest.mark.rule("R8.33")
def test_a_placeholder_is_no_checkpoint_note(agent):
    ann = agent(flow(step("one")))
    first = ann.start("user.flow")
    noted = ann.answer("start_session", title="t")
    suggested = json.loads(noted.texts[0].split("```json\n")[1].removesuffix("\n```"))["next"]
    given = {key: first[key] for key in ("stateToken", "checkpointToken")}

    refused = ann.error("checkpoint_workflow", output={"notesMarkdown": "<what to keep>"}, **given)
    of_session = ann.error(suggested["tool"], **suggested["arguments"])

    assert refused["code"] == of_session["code"] == "VALIDATION_ERROR"


@given(st.text(max_size=40))
def test_only_a_whole_text_in_angle_brackets_is_a_placeholder(text):
    assert not form.is_blank(f"a{text}")
    assert form.is_blank(f"<{text}>") <= (not set(text) & {"<", ">", "=", "@"})


@pytest.mark.parametrize(
    "text", ["<https://example.org>", "<a@b.org>", '<img src="x">', "</div>", "<!-- x -->", "a <b>"]
)
def test_addresses_and_tags_are_no_placeholders(text):
    assert not form.is_blank(text)


@pytest.mark.rule("R8.33")
@pytest.mark.parametrize("text", ["<lambda>", "<module>", "<none>", "<br/>", "<script>"])
def test_a_field_may_name_something_that_stands_in_brackets(text):
    assert list(form.blanks({"checks": [{"name": text}]})) == []
    assert list(form.blanks({"checks": [{"name": "<text>"}, {"name": "<a|b>"}]})) != []


@pytest.mark.rule("R8.33")
def test_a_loop_is_never_decided_for_the_agent(agent):
    ann = agent(flow(loop("again", step("look"), step("decide", **LOOP_CONTROL), type="while")))
    decide = ann.go(ann.start("user.flow"), "looked")
    suggested = decide["nextCall"]["arguments"]["output"]["artifacts"]

    assert suggested == [{"kind": "wr.loop_control", "decision": "<continue|stop>"}]
    assert literal(ann, decide)["kind"] == "blocked"


@pytest.mark.rule("R8.15", "R7.12")
@pytest.mark.parametrize("capability", ["delegation", "web_browsing"])
def test_a_probe_asks_for_its_own_capability_and_takes_the_answer(agent, capability):
    ann = agent(flow(step("one"), capabilities={capability: "required"}))
    answer = ann.answer("start_workflow", workflowId="user.flow")
    first = answer.structured
    (suggested,) = first["nextCall"]["arguments"]["output"]["artifacts"]
    other = {"delegation": "web_browsing", "web_browsing": "delegation"}[capability]
    blocked = literal(ann, first)
    wrong = ann.go(
        blocked, None, artifacts=[{**suggested, "capability": other, "status": "available"}]
    )

    went = ann.go(wrong, None, artifacts=[{**suggested, "status": "available"}])

    assert suggested["capability"] == capability
    assert other not in answer.texts[0]
    assert other not in json.dumps([blocked["blockers"], blocked["example"]])
    assert codes(wrong)[0] == "INVALID_REQUIRED_OUTPUT"
    assert went["pending"]["stepId"] == "one"


# ------------------------------------------------------------ what was handed in stays


@pytest.mark.rule("R6.14", "R5.10", "C102")
def test_notes_survive_the_correcting_loop(agent):
    ann = agent(flow(step("one", **REPORT), step("two")))
    bad = {"kind": "wr.verification_report", "checks": []}

    blocked = ann.go(ann.start("user.flow"), "Found the zebra in stable nine.", artifacts=[bad])
    while_blocked = ann.call("resume_session", {"query": "zebra"})
    asked = blocked["nextCall"]["arguments"]["output"]
    second = ann.go(blocked, None, artifacts=[REAL])
    found = ann.call("resume_session", {"query": "zebra stable"})
    seen = ann.look(second)

    assert blocked["handedIn"] == {"notesMarkdown": "Found the zebra in stable nine."}
    assert "notesMarkdown" not in asked
    assert while_blocked["matched"] == found["matched"] == 1
    assert [one["notesMarkdown"] for one in seen["recap"]["entries"]] == [
        "Found the zebra in stable nine."
    ]


@pytest.mark.rule("R6.14")
def test_artifacts_that_were_right_need_not_be_sent_again(agent):
    assessment = {
        "id": "ready",
        "purpose": "Is it?",
        "dimensions": [{"id": "evidence", "purpose": "How much", "levels": ["low", "high"]}],
    }
    ann = agent(
        flow(step("one", **REPORT, assessmentRefs=["ready"]), step("two"), assessments=[assessment])
    )
    first = ann.start("user.flow")
    unsure = {"kind": "wr.assessment", "dimensions": {"evidence": "who knows"}}

    blocked = ann.go(first, None, artifacts=[REAL, unsure, {"kind": "my.table", "rows": 3}])
    (asked,) = blocked["nextCall"]["arguments"]["output"]["artifacts"]
    again = ann.look(blocked)
    went = ann.go(again, None, artifacts=[{**asked, "dimensions": {"evidence": "high"}}])
    (entry,) = ann.look(went)["recap"]["entries"]

    assert asked["dimensions"] == {"evidence": "<low|high>"}
    assert again["nextCall"]["arguments"]["output"] == {"artifacts": [asked]}
    assert blocked["handedIn"] == again["handedIn"] == {"artifactKinds": ["my.table", REAL["kind"]]}
    assert went["pending"]["stepId"] == "two"
    assert {one["kind"] for one in entry["artifacts"]} == {
        "my.table",
        REAL["kind"],
        "wr.assessment",
    }


@pytest.mark.rule("R7.13", "R5.15")
def test_fetching_a_step_again_gives_back_goal_notes_and_artifacts(agent):
    ann = agent(flow(step("one", **REPORT), step("two"), step("three")))
    first = ann.start("user.flow", goal="Prove the parser")
    third = ann.go(ann.go(first, None, artifacts=[REAL]), "Wrote it down.")
    seen = ann.answer("continue_workflow", stateToken=third["stateToken"])
    one, two = seen.structured["recap"]["entries"]

    assert seen.structured["goal"] == "Prove the parser"
    assert json.loads(one["artifacts"][0]["preview"]) == REAL
    assert (one["stepId"], one["notesMarkdown"]) == ("one", "")
    assert (two["stepId"], two["notesMarkdown"]) == ("two", "Wrote it down.")
    for said in ("Goal: Prove the parser", "All seven pass.", "Wrote it down."):
        assert said in seen.texts[0]


# ------------------------------------------------------------ finding work


@pytest.mark.rule("R5.16", "R7.18")
@pytest.mark.parametrize(
    ("goal", "query"),
    [
        ("Исправить ошибку входа", "ошибку"),
        ("修复登录页面的错误", "登录"),
        ("ログイン画面の不具合を直す", "画面"),
        ("로그인 버그를 고친다", "버그"),
        ("แก้ไขข้อผิดพลาด", "ผิดพลาด"),
        ("إصلاح خطأ الدخول، اليوم", "الدخول"),
        ("हिन्दी अनुवाद जाँचें", "अनुवाद"),
        ("Größe ändern", "GRÖSSE"),
        ("Fix AUTH-9876 for good", "9876"),
        ("Fix AUTH-9876 for good", "auth-9876"),
        ("Find the bug", "bugs"),
        ("Find the bugs", "bug"),
        ("Write the queries", "query"),
    ],
)
def test_work_is_found_by_words_of_every_script(agent, goal, query):
    ann = agent(flow(step("one")))
    ann.start("user.flow", goal="Something else")
    wanted = ann.start("user.flow", goal=goal)

    found = ann.call("resume_session", {"query": query})

    assert found["matched"] == 1
    assert found["recommended"] == 0
    assert found["candidates"][0]["runId"] == wanted["session"]["runId"]
    assert found["candidates"][0]["whyMatched"] == ["matched_identity"]


@pytest.mark.rule("R3.7", "R5.16")
def test_workflows_are_listed_by_words_of_every_script(agent):
    ann = agent(flow(step("one"), name="user.a", description="Проверка таблиц. 表格检查"))

    for query in ("таблиц", "检查"):
        (found,) = ann.call("list_workflows", {"query": query})["workflows"]
        assert found["workflowId"] == "user.a"


@pytest.mark.rule("R7.10", "R7.18")
def test_resuming_says_when_nothing_matched(agent):
    ann = agent(flow(step("one")))
    ann.start("user.flow", goal="Paint the fence")

    found = ann.answer("resume_session", query="submarine")

    assert found.structured["matched"] == 0
    assert found.structured["recommended"] is None
    assert found.texts[0].startswith("Nothing here matches 'submarine'. What is recent")
    unknown = ann.answer("resume_session", resumeRef="r-aaaaaaaaaa")
    assert unknown.texts[0].startswith("There is no work 'r-aaaaaaaaaa' here.")


@pytest.mark.rule("R7.18")
def test_an_exact_reference_brings_that_work_alone(agent):
    ann = agent(flow(step("one")))
    for number in range(5):
        ann.start("user.flow", goal=f"number {number}")
    wanted = ann.start("user.flow", goal="the one")["session"]
    ann.start("user.flow", goal="later")

    for asked in ({"resumeRef": wanted["resumeRef"]}, {"runId": wanted["runId"]}):
        found = ann.call("resume_session", {**asked, "query": "number"})
        assert [one["runId"] for one in found["candidates"]] == [wanted["runId"]]
        assert (found["matched"], found["recommended"]) == (1, 0)


@pytest.mark.rule("R7.10", "R7.16")
def test_the_text_of_resuming_has_snippet_reason_and_call(agent):
    ann = agent(flow(step("one"), step("two")))
    ann.go(ann.start("user.flow", goal="Paint the fence"), "Bought green paint.")

    answer = ann.answer("resume_session", query="fence")
    (one,) = answer.structured["candidates"]
    told = json.loads(answer.texts[0].split("```json\n")[1].removesuffix("\n```"))

    assert told == [{"n": 1, "next": one["nextCall"]}]
    assert "Bought green paint." in answer.texts[0]
    assert "your words are in its title" in answer.texts[0]


# ------------------------------------------------------------ whose word it is


@pytest.mark.rule("R8.4", "R7.6", "R8.3")
def test_a_wish_for_more_automation_is_noted_and_waits_for_the_person(agent):
    ann = agent(flow(step("one"), step("two")))
    first = ann.start("user.flow", preferences=NEVER_STOP)
    second = ann.go(first, preferences={"riskPolicy": "aggressive"})
    run = first["session"]["runId"]

    seen = ann.look(second)["preferences"]
    page = ann.studio("RailsNodeGet", nodeId=ann.studio("RailsRunGet", runId=run)["preferredTip"])
    allowed = ann.studio("RailsRunSetPreferences", runId=run, preferences=seen["wished"])

    assert first["preferences"] == {
        "autonomy": "guided",
        "riskPolicy": "conservative",
        "wished": NEVER_STOP,
    }
    assert [one["code"] for one in first["warnings"]] == ["AUTOMATION_NOT_GRANTED"]
    assert seen["wished"] == page["preferences"]["wished"] == {"riskPolicy": "aggressive"}
    assert "mode_wish" in page["badges"]
    assert allowed["preferences"] == {"autonomy": "guided", "riskPolicy": "aggressive"}
    wishes = facts(ann, first, "preferences_wished")
    assert [one.wanted[0].value for one in wishes] == ["full_auto_never_stop", "aggressive"]


@pytest.mark.rule("R8.4", "R4.2")
def test_an_agent_can_make_a_run_more_careful_and_the_record_says_who_did(agent):
    ann = agent(flow(step("one"), step("two")), preset="full_auto")
    first = ann.start("user.flow", preferences={"riskPolicy": "conservative"})

    second = ann.go(first, preferences={"autonomy": "guided"})
    ann.studio(
        "RailsRunSetPreferences",
        runId=first["session"]["runId"],
        preferences={"autonomy": "full_auto_stop_on_user_deps"},
    )

    assert second["preferences"] == {"autonomy": "guided", "riskPolicy": "conservative"}
    sources = [one.source for one in facts(ann, first, "preferences_changed")]
    assert sources == ["system", "agent", "agent", "user"]


@pytest.mark.rule("R8.4", "C58")
def test_a_blocked_step_stays_blocked_whatever_mode_its_agent_asks_for(agent):
    flowed = flow(step("one", **REPORT), step("two"))
    ann, bold = agent(flowed), agent(flowed, home="bold", agent_may_automate=True)

    blocked = ann.go(ann.go(ann.start("user.flow")), None, preferences=NEVER_STOP)
    allowed = bold.go(bold.go(bold.start("user.flow")), None, preferences=NEVER_STOP)

    assert blocked["kind"] == "blocked"
    assert blocked["preferences"]["wished"] == NEVER_STOP
    assert allowed["kind"] == "ok"
    assert allowed["pending"]["stepId"] == "two"
    assert [one.source for one in facts(bold, allowed, "preferences_changed")] == [
        "system",
        "agent",
    ]


@pytest.mark.rule("R8.31", "R8.23")
def test_no_refusal_suggests_to_lift_the_brakes(agent):
    ann = agent(
        flow(step("one", **APPROVAL), capabilities={"web_browsing": "required"}), max_blocked=1
    )
    probe = ann.start("user.flow")
    (suggested,) = probe["nextCall"]["arguments"]["output"]["artifacts"]
    blocked = ann.go(probe, None, artifacts=[{**suggested, "status": "unavailable"}])
    limit = ann.go(blocked, None)
    approval = ann.go(
        ann.go(
            probe := ann.start("user.flow"), None, artifacts=[{**suggested, "status": "available"}]
        )
    )

    for said in (blocked["blockers"], limit["error"], approval["blockers"], approval["nextCall"]):
        text = json.dumps(said)
        assert "never_stop" not in text
        assert "mode" not in text.replace("model", "")
    assert codes(approval) == ["USER_ONLY_DEPENDENCY"]


@pytest.mark.rule("R8.21", "C64")
def test_an_agents_word_is_no_approval(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    claimed = ann.go(ann.start("user.flow"), "did it", artifacts=[APPROVED])
    again = ann.go(claimed, None)
    page = ann.studio("RailsNodeGet", nodeId=node_of(ann, again))
    ann.approve(again)

    went = ann.go(again, None)

    assert codes(claimed) == codes(again) == ["USER_ONLY_DEPENDENCY"]
    (warned,) = [one for one in claimed["warnings"] if one["code"] == "INPUT_CLAIMED"]
    assert warned["details"] == {"inputId": "approval", "counted": False}
    assert page["inputs"][0]["provenance"] == "agent_relayed"
    assert page["inputs"][0]["needsPerson"] is True
    assert went["pending"]["stepId"] == "two"
    assert [one.provenance for one in facts(ann, went, "user_input_recorded")] == [
        "agent_relayed",
        "studio",
    ]


@pytest.mark.rule("R8.21")
def test_an_agents_word_that_the_person_rejected_it_counts(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    rejected = ann.go(ann.start("user.flow"), artifacts=[{**APPROVED, "decision": "rejected"}])

    assert "rejected" in rejected["blockers"][0]["message"]
    assert ann.go(rejected, artifacts=[APPROVED])["kind"] == "blocked"


@pytest.mark.rule("R8.21")
def test_an_agents_word_counts_as_approval_where_the_home_says_so(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")), agent_may_approve=True)

    went = ann.go(ann.start("user.flow"), artifacts=[APPROVED])

    assert went["pending"]["stepId"] == "two"
    assert [one["code"] for one in went["warnings"]] == ["INPUT_CLAIMED"]


CHOICE = {"id": "target", "reason": "needs_user_choice", "prompt": "Where to?", "contextKey": "to"}


@pytest.mark.rule("R8.21", "R8.16")
@pytest.mark.parametrize("kind", ["irreversible_action", "preference_tradeoff"])
def test_a_choice_in_the_context_is_the_agents_word_where_it_binds_nobody(agent, kind):
    asked = {**CHOICE, "choiceKind": kind, "options": ["prod", "test"]}
    ann = agent(flow(step("one", userInputs=[asked]), step("two")))
    is_binding = kind == "irreversible_action"
    blocked = ann.go(ann.start("user.flow"), "did it")
    sent = literal(ann, blocked)

    went = ann.go(sent, None, context={"to": "prod"})
    if is_binding:
        assert codes(went) == ["USER_ONLY_DEPENDENCY"]
        ann.studio("RailsRunSetContext", runId=went["session"]["runId"], set={"to": "test"})
        went = ann.go(went, None)

    suggested = blocked["nextCall"]["arguments"].get("context")
    assert suggested == (None if is_binding else {"to": "<prod|test>"})
    assert codes(sent) == ["USER_ONLY_DEPENDENCY"]
    assert went["pending"]["stepId"] == "two"
    (claim,) = facts(ann, went, "user_input_recorded")
    assert (claim.provenance, claim.decision, claim.summary) == (
        "agent_relayed",
        "provided",
        "prod",
    )


def branch(ann, answer, notes):
    """Acknowledge an earlier step again, beside what was recorded of it."""
    details = ann.go(answer, notes)["error"]["details"]
    return ann.answer(
        "continue_workflow",
        stateToken=details["stateToken"],
        ackToken=details["forkAckToken"],
        output={"notesMarkdown": notes},
    ).structured


@pytest.mark.rule("R8.21")
def test_an_approval_counts_for_what_was_handed_in_when_it_was_given(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    blocked = ann.go(ann.start("user.flow"), "delete the old files")
    ann.approve(blocked)

    other = ann.go(blocked, "delete all files")
    ann.approve(other)
    went = ann.go(other, "delete all files")

    assert codes(other) == ["USER_ONLY_DEPENDENCY"]
    assert "was for what was handed in then" in other["blockers"][0]["message"]
    assert went["pending"]["stepId"] == "two"


@pytest.mark.rule("R8.21")
def test_an_approval_of_a_blocked_attempt_does_not_count_for_another_context(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    blocked = ann.go(ann.start("user.flow"), "deploy", context={"to": "test"})
    ann.approve(blocked)

    other = ann.go(blocked, None, context={"to": "prod"})

    assert codes(other) == ["USER_ONLY_DEPENDENCY"]


@pytest.mark.rule("R8.21", "R6.5")
def test_an_approval_is_used_up_by_the_step_it_let_through(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    first = ann.go(ann.start("user.flow"), "the small change")
    ann.approve(first)
    went = ann.go(first, "the small change")

    beside = branch(ann, first, "quite another change")

    assert went["pending"]["stepId"] == "two"
    assert codes(beside) == ["USER_ONLY_DEPENDENCY"]
    assert ann.go(first, "the small change") == went


@pytest.mark.rule("R8.43", "R8.21")
def test_an_approval_of_nothing_is_refused_and_one_on_record_passes_nothing(agent, monkeypatch):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    first = ann.start("user.flow")
    root = ann.studio("RailsRunGet", runId=first["session"]["runId"])["preferredTip"]
    said = {"nodeId": root, "inputId": "approval", "decision": "approved"}
    refused = ann.refused("RailsUserInputRecord", **said)
    [waits] = ann.studio("RailsWaitingList")["waiting"]
    with monkeypatch.context() as earlier:  # a record of a release that took it
        earlier.setattr("backshop.rails.run.graph.attempt_of", lambda state, node: node)
        ann.studio("RailsUserInputRecord", **said)
    blocked = ann.go(first, "delete all files")

    assert refused["code"] == "PRECONDITION_FAILED"
    assert "nothing to approve" in refused["message"]
    assert waits["input"]["isEarly"] is True
    assert codes(blocked) == ["USER_ONLY_DEPENDENCY"]
    assert ann.studio("RailsWaitingList")["waiting"][0]["input"]["isEarly"] is False


@pytest.mark.rule("R8.21", "R10.17")
def test_an_approval_below_a_checkpoint_counts_for_the_attempt_above_it(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    blocked = ann.go(ann.start("user.flow", context={"old": 1}), "deploy", context={"to": "test"})
    ann.answer(
        "checkpoint_workflow",
        stateToken=blocked["stateToken"],
        checkpointToken=blocked["checkpointToken"],
        output={"notesMarkdown": "asked by mail"},
    )
    [waits] = ann.studio("RailsWaitingList")["waiting"]
    ann.approve(blocked)
    tip = ann.studio("RailsNodeGet", nodeId=waits["nodeId"])
    looked = ann.look({**blocked, "stateToken": tip["resume"]["call"]["arguments"]["stateToken"]})

    assert (waits["handedIn"], waits["handedContext"]) == ("deploy", {"to": "test"})
    assert codes(ann.go(looked, "deploy all")) == ["USER_ONLY_DEPENDENCY"]


@pytest.mark.rule("R8.21", "R8.4")
def test_a_person_at_a_door_of_their_own_speaks_for_themselves(agent):
    """The commands behind CLI, HTTP and Python are the person's; the tools of MCP are not."""
    ann = agent(flow(step("one", **APPROVAL), step("two")))
    first = ann.start("user.flow")
    call = {"ackToken": first["ackToken"], "output": {"artifacts": [APPROVED]}}

    went = ann.studio("continue_workflow", **call, preferences=NEVER_STOP)

    assert went["pending"]["stepId"] == "two"
    assert went["preferences"]["autonomy"] == "full_auto_never_stop"
    assert [one.provenance for one in facts(ann, first, "user_input_recorded")] == ["person"]
    assert [one.source for one in facts(ann, first, "preferences_changed")] == ["system", "user"]


@pytest.mark.rule("R8.22", "R8.21")
def test_a_gap_that_only_the_person_can_fill_is_not_closed_by_an_agent(agent):
    ann = agent(flow(step("one", **APPROVAL), step("two")), preset="full_auto_nonstop")
    second = ann.go(ann.start("user.flow"))
    gap = second["gaps"][0]["gapId"]
    solved = {"kind": "wr.gap", "severity": "info", "summary": "Ok.", "resolvesGapId": gap}

    done = ann.go(second, artifacts=[solved])
    run = done["session"]["runId"]
    before = ann.studio("RailsRunGet", runId=run)["status"]
    ann.studio("RailsGapResolve", gapId=gap, summary="Approved afterwards.")

    assert done["isComplete"] is True
    assert [one["code"] for one in done["warnings"]] == ["ARTIFACT_UNRECOGNISED"]
    assert before == "complete_with_gaps"
    assert ann.studio("RailsRunGet", runId=run)["status"] == "complete"


def node_of(ann: Agent, answer: Any) -> str:
    found: str = ann.studio("RailsRunGet", runId=answer["session"]["runId"])["preferredTip"]
    return found


# ------------------------------------------------------------ one truth in two forms


SAID = {
    "0": "",
    "ok": "",
    "blocked": "Blocked",
    "perform_pending_then_continue": "Do this step now",
    "await_user_confirmation": "wait for their answer",
    "rehydrate_only": "cannot be retried",
    "complete": "The run is complete",
    "continue_workflow": "",
    "kept_most_recent": "",
    "unresolved": "",
    "resolved": "",
    "not_retryable": "will be refused again",
    "matched_identity": "your words are in its title",
}
"""Words of closed sets that the text says in a sentence, or says by saying nothing."""


def leaves(value: Any, path: str = "") -> Any:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, path)
    elif value is not None and not isinstance(value, bool):
        yield path, str(value)


def unsaid(answer: Any) -> list[tuple[str, str]]:
    """Return what the structured content of an answer says and its text does not."""
    text = "\n".join(answer.texts)
    text += text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    found = []
    for path, value in leaves(answer.structured):
        said = SAID.get(value, value)
        if said not in text and json.dumps(value, ensure_ascii=False)[1:-1] not in text:
            found.append((path, value))
    flags = {
        "requireConfirmation": "asks for the person's confirmation",
        "collapsed": "was added by Backshop",
    }
    pending = answer.structured.get("pending") or {}
    found += [(key, "true") for key, said in flags.items() if pending.get(key) and said not in text]
    return found


def only_in_text(answer: Any) -> list[str]:
    """Return what the text says and the structured content does not: tokens, calls, advice."""
    known = {value for _, value in leaves(answer.structured)}
    lines = [line for text in answer.texts[1:] for line in text.splitlines() if line[:2] == "- "]
    found = [line for line in lines if not any(value in line for value in known)]
    for block in answer.texts[0].split("```json\n")[1:]:
        told = json.loads(block.partition("\n```")[0])
        found += [value for path, value in leaves(told) if value not in known and path != ".n"]
    return found


@pytest.mark.rule("R7.2", "R7.16", "R7.12")
def test_text_and_data_of_an_answer_say_the_same(tmp_path):
    agent = Agent(rails_of(tmp_path))
    missing: list[Any] = []

    def call(tool: str, arguments: Any) -> Any:
        answer = agent.answer(tool, **arguments)
        missing.extend((tool, *one) for one in unsaid(answer))
        missing.extend((tool, "text", one) for one in only_in_text(answer))
        return answer.structured

    def seen(answer: Any) -> None:
        call("continue_workflow", {"stateToken": answer["stateToken"]})
        if answer["kind"] == "ok":
            output = {"notesMarkdown": "On the way."}
            given = {key: answer[key] for key in ("stateToken", "checkpointToken")}
            call("checkpoint_workflow", {**given, "output": output})

    for one in agent.call("list_workflows", {})["workflows"]:
        start = agent.start(one["workflowId"])
        if "error" not in start:
            call("continue_workflow", start["nextCall"]["arguments"])
        last = walk(call, one["workflowId"], ask=agent.approve, seen=seen).last
        call("continue_workflow", {"stateToken": last["stateToken"]})
        call("continue_workflow", {"stateToken": start.get("stateToken", last["stateToken"])})
    call("resume_session", {"query": "walk"})
    call("start_session", {"title": "Notes"})
    call("continue_workflow", {"stateToken": "st.v1.x"})

    assert not missing, sorted(set(missing))


@pytest.mark.rule("R7.12")
def test_guidance_preconditions_and_references_are_in_both_views(agent):
    reference = {
        "id": "guide",
        "title": "The guide",
        "source": "docs/guide.md",
        "purpose": "How we write",
        "authoritative": True,
    }
    ann = agent(
        flow(
            step("one"),
            metaGuidance=["Stay calm."],
            preconditions=["A repository."],
            clarificationPrompts=["Which branch?"],
            references=[reference],
        )
    )

    answer = ann.answer("start_workflow", workflowId="user.flow")
    again = ann.answer("continue_workflow", stateToken=answer.structured["stateToken"])

    assert answer.structured["guidance"] == {
        "metaGuidance": ["Stay calm."],
        "preconditions": ["A repository."],
        "clarificationPrompts": ["Which branch?"],
        "references": [
            {
                "title": "The guide",
                "source": "docs/guide.md",
                "purpose": "How we write",
                "authoritative": True,
                "status": "unresolved",
            }
        ],
    }
    assert unsaid(answer) == unsaid(again) == []
    assert "clarificationPrompts" not in again.structured["guidance"]
    for said in ("Stay calm.", "A repository.", "Which branch?", "authoritative", "[unresolved]"):
        assert said in answer.texts[1]


@pytest.mark.rule("R7.16")
def test_the_text_of_a_complete_run_has_its_state_token(agent):
    ann = agent(flow(step("one")))
    done = ann.reply(ann.start("user.flow"))

    block = json.loads(done.texts[0].split("```json\n")[1].removesuffix("\n```"))

    assert block == {key: done.structured[key] for key in ("stateToken", "checkpointToken")}


@pytest.mark.rule("R3.9", "R7.4")
def test_findings_of_files_that_cannot_run_are_in_both_views(agent):
    ann = agent(flow(step("one", prompt=None), name="user.broken"))

    listed = ann.answer("list_workflows")

    (bad,) = listed.structured["invalid"]
    for one in bad["findings"]:
        assert one["code"] in listed.texts[0]
        assert one["message"] in listed.texts[0]
    assert bad["file"] in listed.texts[0]


# ------------------------------------------------------------ refusals that tell


@pytest.mark.rule("R7.3", "R1.6")
def test_starting_a_refused_id_says_why(agent):
    ann = agent(flow(step("one"), name="wr.mine"))

    refused = ann.error("start_workflow", workflowId="wr.mine")

    assert refused["code"] == "WORKFLOW_INVALID"
    assert "WF_ID_RESERVED" in refused["message"]
    assert "user.mine" in refused["suggestion"]


@pytest.mark.rule("R7.6", "C99")
def test_a_key_that_began_something_else_is_a_conflict(agent):
    ann = agent(flow(step("one")))
    first = ann.start("user.flow", goal="one thing", idempotencyKey="key-12345")

    same = ann.start("user.flow", goal="one thing", idempotencyKey="key-12345")
    other = ann.error(
        "start_workflow", workflowId="user.flow", goal="another", idempotencyKey="key-12345"
    )
    ann.answer("start_session", title="a", idempotencyKey="key-12345")
    titled = ann.error("start_session", title="b", idempotencyKey="key-12345")

    assert same == first
    assert other["code"] == titled["code"] == "ALREADY_RECORDED"
    assert other["details"] == {"resumeRef": first["session"]["resumeRef"]}


@pytest.mark.rule("R8.16", "C17")
def test_a_missing_context_key_is_in_the_suggested_call_as_a_placeholder(agent):
    each = loop("each", step("look", prompt="See {{file.name}}."), type="forEach", items="files")
    each["loop"]["itemVar"] = "file"
    ann = agent(flow(step("one"), each))
    blocked = ann.go(ann.start("user.flow"), "did one")
    sent = literal(ann, blocked)

    went = ann.go(sent, None, context={"files": [{"name": "a"}]})

    assert blocked["nextCall"]["arguments"]["context"] == {"files": "<a list of objects>"}
    assert "output" not in blocked["nextCall"]["arguments"]
    assert codes(sent) == ["MISSING_CONTEXT_KEY"]
    assert went["pending"]["stepId"] == "look"


@pytest.mark.rule("R6.13", "C28", "C36")
def test_of_two_agents_on_one_step_the_second_is_told_and_can_branch(agent):
    ann, bob = agent(flow(step("one"), step("two"))), agent(home="home")
    first = ann.start("user.flow")
    theirs = ann.go(first, "Ann's way")
    before = ann.events(first)

    refused = bob.go(first, "Bob's way")["error"]
    details = refused["details"]
    after = ann.events(first)
    branch = bob.answer(
        "continue_workflow",
        stateToken=details["stateToken"],
        ackToken=details["forkAckToken"],
        output={"notesMarkdown": "Bob's way"},
    ).structured
    joined = bob.call(details["nextCall"]["tool"], details["nextCall"]["arguments"])

    assert refused["code"] == "ALREADY_RECORDED"
    assert after == before
    assert branch["fork"]["fromNodeId"]
    assert bob.look(branch)["recap"]["entries"][0]["notesMarkdown"] == "Bob's way"
    assert joined["stateToken"] == theirs["stateToken"]
    assert ann.go(first, "Ann's way") == theirs


@pytest.mark.rule("R6.16")
def test_a_used_checkpoint_token_with_another_note_is_refused_and_says_how(agent):
    ann = agent(flow(step("one")))
    first = ann.start("user.flow")
    given = {key: first[key] for key in ("stateToken", "checkpointToken")}
    ann.answer("checkpoint_workflow", output={"notesMarkdown": "a"}, **given)

    refused = ann.error("checkpoint_workflow", output={"notesMarkdown": "b"}, **given)
    tokens = {key: refused["details"][key] for key in ("stateToken", "checkpointToken")}
    ann.answer("checkpoint_workflow", output={"notesMarkdown": "b"}, **tokens)
    notes = [one["notesMarkdown"] for one in ann.look(first)["recap"]["entries"]]

    assert refused["code"] == "ALREADY_RECORDED"
    assert notes == ["a", "b"]


@pytest.mark.rule("R1.25")
@pytest.mark.parametrize(("said", "next_step"), [(STOP, "after"), (GO_ON, "look"), (None, "look")])
def test_a_stop_before_a_loop_keeps_it_from_beginning(agent, said, next_step):
    again = loop("again", step("look"), type="while", conditionSource=ARTIFACT)
    ann = agent(flow(step("one"), again, step("after")))

    went = ann.go(ann.start("user.flow"), artifacts=[said] if said else None)

    assert went["pending"]["stepId"] == next_step


@pytest.mark.rule("R8.4")
def test_a_branch_from_an_earlier_step_is_no_way_around_a_mode_the_person_took_back(agent):
    ann = agent(flow(step("one"), step("two"), step("three")))
    first = ann.start("user.flow")
    run = first["session"]["runId"]
    ann.studio("RailsRunSetPreferences", runId=run, preferences=NEVER_STOP)
    ann.go(first)
    ann.studio("RailsRunSetPreferences", runId=run, preferences={"autonomy": "guided"})

    branch = ann.go(ann.look(first), "another way")

    assert (branch["kind"], branch["preferences"]["autonomy"]) == ("ok", "guided")


@pytest.mark.rule("R8.4", "R8.29")
def test_what_is_allowed_in_one_run_is_not_the_mode_of_the_agents_next_one(agent):
    ann = agent(flow(step("one"), step("two")))
    made = ann.answer("start_session", title="Two").structured
    first = ann.start("user.flow", sessionToken=made["sessionToken"])
    run = first["session"]["runId"]
    ann.studio("RailsRunSetPreferences", runId=run, preferences=NEVER_STOP)

    second = ann.start("user.flow", sessionToken=made["sessionToken"])

    assert ann.look(first)["preferences"]["autonomy"] == "full_auto_never_stop"
    assert second["preferences"]["autonomy"] == "guided"
