"""What a step requires, and what each mode makes of it (C54–C55, C60–C72)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.rails.workflows import LOOP_CONTROL, STOP, flow, step

NONSTOP = {"autonomy": "full_auto_never_stop"}
STOPPING = {"autonomy": "full_auto_stop_on_user_deps"}
READINESS = {
    "id": "readiness",
    "purpose": "Is it ready?",
    "dimensions": [
        {"id": "evidence", "purpose": "How good is it?", "levels": ["low", "high"]},
        {"id": "style", "purpose": "How nice?", "levels": ["bad", "good"], "required": False},
    ],
}
CONSEQUENCE = {
    "when": {"anyEqualsLevel": "low"},
    "effect": {"kind": "require_followup", "guidance": "Gather more."},
}


def assessed(level: object, **more: object) -> list[dict[str, object]]:
    return [{"kind": "wr.assessment", "dimensions": {"evidence": level}, **more}]


def codes(answer) -> list[str]:
    return [one["code"] for one in answer.get("blockers", [])]


def warned(answer) -> list[str]:
    return [one["code"] for one in answer["warnings"]]


def facts(agent, answer, kind):
    stream = f"session:{answer['session']['sessionId']}"
    return [e.fact for e in agent.rails.sessions.store.read(stream) if e.kind == kind]


@pytest.mark.rule("C54", "R8.16", "R7.14")
@pytest.mark.parametrize("mode", [{}, STOPPING])
def test_a_missing_output_blocks_in_blocking_modes(agent, mode):
    ann = agent(flow(step("decide", **LOOP_CONTROL), step("end")), agent_may_automate=True)
    first = ann.start("user.flow", preferences=mode)
    blocked = ann.go(first, "none")

    assert blocked["blockers"] == [
        {
            "code": "MISSING_REQUIRED_OUTPUT",
            "pointer": {"kind": "output_contract", "contractRef": "wr.contracts.loop_control"},
            "message": "This step needs a wr.loop_control artifact; no artifacts were sent.",
            "suggestedFix": 'Send output.artifacts = [{"kind": "wr.loop_control",'
            ' "decision": "<continue|stop>"}], every <…> replaced by what is so, with the tokens'
            " of this answer.",
        }
    ]
    assert blocked["example"] == STOP
    assert blocked["retryable"] is True
    assert blocked["pending"]["stepId"] == "decide"


@pytest.mark.rule("C54", "R8.7")
def test_a_missing_output_is_a_critical_gap_in_never_stop(agent):
    ann = agent(flow(step("decide", **LOOP_CONTROL), step("end")), agent_may_automate=True)
    second = ann.go(ann.start("user.flow", preferences=NONSTOP), "none")

    assert second["kind"] == "ok"
    assert second["pending"]["stepId"] == "end"
    assert [(g["severity"], g["reason"]) for g in second["gaps"]] == [
        ("critical", {"category": "contract_violation", "detail": "missing_required_output"})
    ]


@pytest.mark.rule("C55", "R8.24")
def test_a_wrong_output_is_named_and_explained(agent):
    ann = agent(flow(step("decide", **LOOP_CONTROL)))
    first = ann.start("user.flow")
    other = ann.go(first, None, artifacts=[{"kind": "wr.gap", "severity": "info", "summary": "x"}])
    bad = ann.go(other, None, artifacts=[{"kind": "wr.loop_control", "decision": "perhaps"}])

    assert "sent were: wr.gap" in other["blockers"][0]["message"]
    assert codes(bad) == ["INVALID_REQUIRED_OUTPUT"]
    assert bad["validation"]["issues"][0].startswith("decision: ")


@pytest.mark.rule("R7.11", "R8.24")
def test_one_artifact_as_the_whole_output_and_extra_fields_are_taken(agent):
    ann = agent(flow(step("decide", **LOOP_CONTROL)))
    first = ann.start("user.flow")
    done = ann.answer(
        "continue_workflow",
        ackToken=first["ackToken"],
        output={**STOP, "mood": "good", "notesMarkdown": "n"},
    ).structured

    assert done["isComplete"] is True


@pytest.mark.rule("C60", "R8.16")
def test_many_reasons_are_ten_sorted_blockers_within_their_bytes(agent):
    inputs = [
        {"id": f"in{n}", "reason": "needs_user_artifact", "prompt": "ü" * 500} for n in range(8)
    ]
    assessments = [{**READINESS, "id": f"a{n}"} for n in range(4)]
    many = step("s", userInputs=inputs, assessmentRefs=[f"a{n}" for n in range(4)])
    ann = agent(flow(many, assessments=assessments))
    blocked = ann.go(ann.start("user.flow"), "n")
    listed = blocked["blockers"]

    assert len(listed) == 10
    assert [b["code"] for b in listed] == sorted(b["code"] for b in listed)
    assert all(len(b["message"].encode()) <= 512 for b in listed)
    assert all(len(b.get("suggestedFix", "").encode()) <= 1024 for b in listed)
    assert listed[-1]["message"].endswith("(2 more left out)")


@pytest.mark.rule("C61", "R1.32")
def test_notes_are_checked_against_the_criteria(agent):
    rules = [
        {"type": "contains", "value": "RISK", "message": "Name the risk"},
        {"type": "length", "min": 20, "message": "Say more"},
    ]
    ann = agent(flow(step("s", validationCriteria=rules)))
    blocked = ann.go(ann.start("user.flow"), "short")
    done = ann.go(blocked, "The RISK is that of a test.")

    assert codes(blocked) == ["INVALID_REQUIRED_OUTPUT"]
    assert blocked["blockers"][0]["pointer"]["contractRef"] == "wr.validationCriteria"
    assert "notes contain 'RISK'" in blocked["pending"]["prompt"]
    assert done["isComplete"] is True


# 200 letters behind an `a`: more sets of places than may be visited, on letters without order
COSTLY = "a[ab]{200}c"
LETTERS = "".join(random.Random(1).choices("ab", k=5000))


@pytest.mark.rule("R1.21", "R1.32")
@pytest.mark.parametrize("wrap", [lambda rule: rule, lambda rule: {"not": rule}])
def test_notes_whose_pattern_is_too_costly_are_told_so(agent, wrap):
    rule = wrap({"type": "regex", "pattern": COSTLY, "message": "m"})
    ann = agent(flow(step("s", validationCriteria=rule)))
    blocked = ann.go(ann.start("user.flow"), LETTERS)

    assert codes(blocked) == ["INVALID_REQUIRED_OUTPUT"]
    assert "pattern too costly" in blocked["validation"]["issues"][0]
    assert ann.go(blocked, "c")["isComplete"] is (wrap(1) != 1)


@pytest.mark.rule("R1.18", "R1.21")
def test_a_condition_that_is_too_costly_skips_its_step_and_says_so_in_the_trace(agent):
    matching = {"var": "text", "matches": COSTLY}
    ann = agent(
        flow(
            step("one", promptFragments=[{"id": "more", "when": matching, "text": "More."}]),
            step("two", runCondition={"not": matching}),
            step("end", requireConfirmation={"kind": "human_approval", "condition": matching}),
        )
    )
    first = ann.start("user.flow", context={"text": LETTERS})
    last = ann.go(first)
    traced = [
        entry.summary
        for fact in facts(ann, first, "decision_trace_appended")
        for entry in fact.entries
        if entry.kind == "skipped_step"
    ]

    assert "[left out: more -- pattern too costly: /a[ab]{200}c/" in first["pending"]["prompt"]
    assert last["pending"]["stepId"] == "end"
    assert [line for line in traced if line.startswith("two: pattern too costly")]
    assert codes(ann.go(last)) == ["USER_ONLY_DEPENDENCY"]


@pytest.mark.rule("C62", "R8.25")
def test_assessments_are_normalised_judged_and_followed_up(agent):
    work = step("s", assessmentRefs=["readiness"], assessmentConsequences=[CONSEQUENCE])
    ann = agent(flow(work, assessments=[READINESS]))
    first = ann.start("user.flow")
    unknown = ann.go(first, "n", artifacts=assessed("so-so"))
    low = ann.go(unknown, "n", artifacts=assessed({"level": "low", "rationale": "thin"}))
    done = ann.go(low, "n", artifacts=assessed(" HIGH "))
    recorded = facts(ann, first, "assessment_recorded")

    assert codes(unknown) == ["INVALID_REQUIRED_OUTPUT"]
    assert codes(low) == ["ASSESSMENT_FOLLOWUP_REQUIRED"]
    assert "Gather more." in low["blockers"][0]["message"]
    assert done["isComplete"] is True
    assert "LEVEL_NORMALIZED" in warned(done)
    assert done["stepContext"]["assessments"][0]["dimensions"] == [
        {"dimensionId": "evidence", "level": "high"}
    ]
    assert [one.fired_consequences != () for one in recorded] == [True, False]


@pytest.mark.rule("C62")
def test_two_assessments_need_their_ids(agent):
    two = [READINESS, {**READINESS, "id": "other"}]
    ann = agent(flow(step("s", assessmentRefs=["readiness", "other"]), assessments=two))
    blocked = ann.go(ann.start("user.flow"), "n", artifacts=assessed("high"))
    done = ann.go(
        blocked,
        "n",
        artifacts=[
            *assessed("high", assessmentId="readiness"),
            *assessed("low", assessmentId="other"),
        ],
    )

    assert codes(blocked) == ["MISSING_REQUIRED_OUTPUT"] * 2
    assert done["isComplete"] is True


@pytest.mark.rule("C63", "R1.33")
def test_all_requirements_of_a_step_are_checked_together(agent):
    both = step("s", assessmentRefs=["readiness"], **LOOP_CONTROL)
    ann = agent(flow(both, assessments=[READINESS]))
    blocked = ann.go(ann.start("user.flow"), "n")

    assert [b["pointer"]["contractRef"] for b in blocked["blockers"]] == [
        "wr.contracts.assessment",
        "wr.contracts.loop_control",
    ]


APPROVED = {"kind": "wr.user_input", "inputId": "approval", "decision": "approved"}
HUMAN = {"requireConfirmation": {"kind": "human_approval"}}


@pytest.mark.rule("C64", "R8.21")
@pytest.mark.parametrize("mode", [{}, STOPPING])
def test_only_the_person_can_approve(agent, mode):
    ann = agent(flow(step("s", **HUMAN), step("end")), agent_may_automate=True)
    first = ann.start("user.flow", preferences=mode)
    blocked = ann.go(first)
    rejected = ann.go(blocked, artifacts=[{**APPROVED, "decision": "rejected"}])
    claimed = ann.go(rejected, artifacts=[APPROVED])
    ann.approve(claimed)
    approved = ann.go(claimed)

    assert codes(blocked) == codes(claimed) == ["USER_ONLY_DEPENDENCY"]
    assert blocked["nextIntent"] == "await_user_confirmation"
    assert "rejected" in rejected["blockers"][0]["message"]
    assert approved["pending"]["stepId"] == "end"


@pytest.mark.rule("C64")
def test_missing_approval_is_a_critical_gap_in_never_stop(agent):
    ann = agent(flow(step("s", **HUMAN), step("end")), agent_may_automate=True)
    second = ann.go(ann.start("user.flow", preferences=NONSTOP))

    assert second["pending"]["stepId"] == "end"
    assert second["gaps"][0]["reason"] == {
        "category": "user_only_dependency",
        "detail": "needs_user_approval",
    }


@pytest.mark.rule("C65", "R8.5", "R7.27")
def test_confirmation_pauses_guided_runs_and_never_blocks(agent):
    ann = agent(flow(step("s", requireConfirmation=True), step("end")), agent_may_automate=True)
    guided = ann.start("user.flow")
    auto = ann.start("user.flow", preferences=STOPPING)

    assert guided["pending"]["requireConfirmation"] is True
    assert auto["pending"]["requireConfirmation"] is True
    assert guided["nextIntent"] == "await_user_confirmation"
    assert auto["nextIntent"] == "perform_pending_then_continue"
    assert ann.go(guided)["pending"]["stepId"] == "end"


def observed(status: str, **more: object) -> list[dict[str, object]]:
    return [
        {"kind": "wr.capability_observation", "capability": "web_browsing", "status": status} | more
    ]


REQUIRED: dict[str, Any] = {"capabilities": {"web_browsing": "required"}}


@pytest.mark.rule("C66", "C67", "R8.15", "R8.17", "R8.31")
def test_a_required_capability_is_probed_first(agent):
    ann = agent(flow(step("s"), **REQUIRED), agent_may_automate=True)
    first = ann.start("user.flow")
    silent = ann.go(first)
    gone = ann.go(silent, artifacts=observed("unavailable", remediation="Switch it on."))
    there = ann.go(gone, artifacts=observed("available"))
    nonstop = ann.go(ann.look(first), artifacts=observed("unavailable"), preferences=NONSTOP)
    strong = facts(ann, first, "capability_observed")

    assert first["pending"]["stepId"] == "wr-probe-web-browsing"
    assert first["pending"]["collapsed"] is True
    assert codes(silent) == ["MISSING_REQUIRED_OUTPUT"]
    assert codes(gone) == ["REQUIRED_CAPABILITY_UNAVAILABLE"]
    assert gone["blockers"][0]["suggestedFix"].startswith("Switch it on.")
    assert there["pending"]["stepId"] == "s"
    assert nonstop["pending"]["stepId"] == "s"
    assert nonstop["gaps"][0]["reason"]["detail"] == "required_capability_unavailable"
    assert {one.provenance["kind"] for one in strong} == {"probe_step"}


@pytest.mark.rule("C68", "C69", "R8.18", "R5.14")
def test_claims_inform_and_only_attempts_count(agent):
    preferred: dict[str, Any] = {
        "capabilities": {"web_browsing": "preferred", "delegation": "required"}
    }
    ann = agent(flow(step("a"), step("b"), step("c"), **preferred))
    first = ann.start("user.flow")
    probe = [
        {"kind": "wr.capability_observation", "capability": "delegation", "status": "available"}
    ]
    claim = ann.go(first, artifacts=probe + observed("available"))
    claimed = known_of(ann, claim)["web_browsing"]
    degraded = ann.go(claim, artifacts=observed("unavailable", attempt={"result": "failure"}))
    once = ann.go(degraded, artifacts=observed("unavailable"))
    known = known_of(ann, once)

    kinds = [one.provenance["kind"] for one in facts(ann, first, "capability_observed")]
    assert kinds == ["probe_step", "manual_claim", "attempted_use", "manual_claim"]
    assert warned(degraded) == ["CAPABILITY_DEGRADED"]
    assert warned(once) == []
    assert (claimed.enforced, claimed.displayed) == ("unknown", "available")
    assert known["web_browsing"].enforced == "unavailable"


def known_of(ann, answer):
    """Return what is known of capabilities where the run of an answer stands."""
    state = ann.rails.sessions.state(answer["session"]["sessionId"])
    return state.nodes[state.runs[answer["session"]["runId"]].preferred].capabilities


@pytest.mark.rule("C70", "R8.8", "R8.9")
def test_a_mode_above_the_recommendation_is_warned_about_once(agent):
    ann = agent(
        flow(step("a"), step("b"), recommendedPreferences={"recommendedAutonomy": "guided"}),
        agent_may_automate=True,
    )
    first = ann.start("user.flow", preferences=NONSTOP)
    second = ann.go(first)

    assert warned(first) == ["MODE_EXCEEDS_RECOMMENDATION"]
    assert first["preferences"]["autonomy"] == "full_auto_never_stop"
    assert warned(second) == []


@pytest.mark.rule("C71", "R8.26", "R8.27")
def test_a_divergence_is_recorded_and_a_bad_one_only_mentioned(agent):
    ann = agent(flow(step("a"), step("b"), step("c")))
    first = ann.start("user.flow")
    good = {"kind": "workflow_divergence", "reason": "safety_stop", "summary": "Too risky."}
    second = ann.go(first, artifacts=[good])
    third = ann.go(second, artifacts=[{**good, "reason": "because"}, {"kind": "own.thing"}])
    last = ann.go(third, artifacts=[{"kind": "own.other"}])

    assert [one.reason for one in facts(ann, first, "divergence_recorded")] == ["safety_stop"]
    assert third["kind"] == "ok"
    assert warned(third) == ["ARTIFACT_UNRECOGNISED"] * 2
    assert warned(last) == []


REASONS = (
    *("missing_user_context", "capability_unavailable", "efficiency_skip", "safety_stop"),
    "policy_constraint",
)


@pytest.mark.rule("R11.8", "R8.26")
@pytest.mark.parametrize("reason", [*REASONS, "because", "", None])
def test_a_divergence_has_one_of_five_reasons(agent, reason):
    contract = {"outputContract": {"contractRef": "wr.contracts.workflow_divergence"}}
    ann = agent(flow(step("a", **contract), step("b")))
    said = {"kind": "wr.workflow_divergence", "reason": reason, "summary": "Why."}
    second = ann.go(ann.start("user.flow"), None, artifacts=[said])

    assert (second["kind"] == "ok") == (reason in REASONS)
    assert codes(second) == ([] if reason in REASONS else ["INVALID_REQUIRED_OUTPUT"])


@pytest.mark.rule("R11.3", "R8.22")
def test_a_gap_is_told_whole_and_is_never_edited(agent):
    ann = agent(
        flow(step("decide", **LOOP_CONTROL), step("b"), step("c"), step("d")),
        agent_may_automate=True,
    )
    second = ann.go(ann.start("user.flow", preferences=NONSTOP), "none")
    own = {"kind": "wr.gap", "severity": "warning", "summary": "No design.", "detail": "design"}
    third = ann.go(second, artifacts=[own])
    engine, mine = second["gaps"][0]["gapId"], third["gaps"][0]["gapId"]
    solved = {"kind": "wr.gap", "severity": "info", "summary": "Solved.", "resolvesGapId": engine}
    fourth = ann.go(third, artifacts=[solved])
    unknown = ann.go(fourth, artifacts=[{**solved, "resolvesGapId": "gap_x"}])

    assert second["gaps"] == [
        {
            "gapId": engine,
            "severity": "critical",
            "reason": {"category": "contract_violation", "detail": "missing_required_output"},
            "summary": "This step needs a wr.loop_control artifact; no artifacts were sent.",
            "resolution": {"kind": "unresolved"},
        }
    ]
    assert third["gaps"] == [
        {
            "gapId": mine,
            "severity": "warning",
            "reason": {"category": "agent_reported", "detail": "design"},
            "summary": "No design.",
            "resolution": {"kind": "unresolved"},
        }
    ]
    assert fourth["gaps"][0]["resolution"] == {"kind": "resolves", "resolvesGapId": engine}
    assert (unknown["gaps"], warned(unknown)) == ([], ["ARTIFACT_UNRECOGNISED"])
    assert [one.gap_id for one in facts(ann, second, "gap_recorded")] == [
        *(engine, mine, fourth["gaps"][0]["gapId"])
    ]


@pytest.mark.rule("C72", "R8.11")
def test_notes_are_encouraged_or_required(agent):
    work = flow(step("a"), step("b", notesOptional=True), step("c", **LOOP_CONTROL), step("d"))
    ann = agent(work)
    bob = agent(work, home="strict", notes="required")
    mild = ann.go(ann.start("user.flow"), "  \n ")
    strict = bob.go(bob.start("user.flow"), None)

    assert warned(mild) == ["NOTES_MISSING"]
    assert warned(ann.go(mild, None)) == []
    assert codes(strict) == ["MISSING_REQUIRED_NOTES"]
    passed = bob.go(strict, "said")
    assert codes(bob.go(passed, None)) == []


@pytest.mark.rule("R8.20", "R8.21", "R11.1")
def test_a_person_gives_inputs_by_context_or_artifact(agent):
    key = {
        "id": "key",
        "reason": "needs_user_secret_or_token",
        "prompt": "The key",
        "contextKey": "k",
    }
    pick = {
        "id": "pick",
        "reason": "needs_user_choice",
        "prompt": "Which?",
        "choiceKind": "scope_boundary",
        "options": ["a", "b"],
    }
    ann = agent(flow(step("s", userInputs=[key, pick])))
    blocked = ann.go(ann.start("user.flow"))
    half = ann.go(blocked, context={"k": "v"})
    done = ann.go(
        half, artifacts=[{"kind": "wr.user_input", "inputId": "pick", "decision": "provided"}]
    )

    assert [b["pointer"]["kind"] for b in blocked["blockers"]] == ["context_key", "workflow_step"]
    assert codes(half) == ["USER_ONLY_DEPENDENCY"]
    assert done["isComplete"] is True


@pytest.mark.rule("R8.12", "R7.17", "R8.5")
def test_full_auto_prompts_state_the_duty_and_guided_ones_do_not(agent):
    ann = agent(flow(step("s", requireConfirmation=True)), agent_may_automate=True)

    def prompt(mode):
        return ann.start("user.flow", preferences=mode)["pending"]["prompt"]

    assert "Mode:" not in prompt({})
    assert prompt(STOPPING).splitlines()[-1].startswith("Mode: full auto. ")
    assert prompt(NONSTOP).endswith("Do not stop; report gaps.")
    assert "in place of a confirmation" in prompt(NONSTOP)


@pytest.mark.rule("R8.7", "R8.22")
def test_reasons_that_look_alike_are_disclosed_one_by_one(agent):
    inputs = [{"id": n, "reason": "needs_user_artifact", "prompt": f"File {n}"} for n in "abc"]
    ann = agent(flow(step("s", userInputs=inputs)), agent_may_automate=True)
    done = ann.go(ann.start("user.flow", preferences=NONSTOP))

    assert len({gap["gapId"] for gap in done["gaps"]}) == 3


@pytest.mark.rule("R1.36", "R8.17")
@pytest.mark.parametrize(("recorded", "kept"), [("artifact", 2), ("event", 1)])
def test_observations_are_kept_as_the_workflow_says(agent, recorded, kept):
    """The event is recorded in both; the accepted assessment points at its own artifact."""
    feature = {"id": "wr.features.capabilities", "config": {"recordObservationsAs": recorded}}
    judged = step("s", assessmentRefs=["readiness"])
    ann = agent(flow(judged, step("end"), features=[feature], assessments=[READINESS]))
    first = ann.start("user.flow")
    ann.go(first, artifacts=observed("available") + assessed("high"))
    outputs = {
        one.output_id: one.payload.kind
        for one in facts(ann, first, "node_output_appended")
        if one.output_channel == "artifact"
    }

    assert len(outputs) == kept
    assert len(facts(ann, first, "capability_observed")) == 1
    assert outputs[facts(ann, first, "assessment_recorded")[0].output_id] == "wr.assessment"


@pytest.mark.rule("R8.6")
@pytest.mark.parametrize("risk", ["conservative", "balanced", "aggressive"])
def test_boldness_changes_no_check(agent, risk):
    ann = agent(flow(step("decide", **LOOP_CONTROL), step("end")))
    first = ann.start("user.flow", preferences={"riskPolicy": risk})

    assert codes(ann.go(first)) == ["MISSING_REQUIRED_OUTPUT"]


@pytest.mark.rule("R8.19")
def test_an_observation_nobody_asked_for_is_recorded_and_changes_nothing(agent):
    ann = agent(flow(step("a"), step("b")))
    first = ann.start("user.flow")
    second = ann.go(first, artifacts=observed("unavailable"))
    node = ann.studio("RailsRunGet", runId=first["session"]["runId"])["preferredTip"]
    page = ann.studio("RailsNodeGet", nodeId=node)

    assert second["pending"]["stepId"] == "b"
    assert warned(second) == []
    assert page["capabilities"]["web_browsing"]["displayed"] == "unavailable"
    assert page["capabilities"]["web_browsing"].get("requested") is None


@pytest.mark.rule("R8.30")
def test_a_step_asks_for_short_notes_and_takes_long_ones(agent):
    ann = agent(flow(step("a"), step("b")))
    first = ann.start("user.flow")

    assert "at most 10 lines" in first["pending"]["prompt"]
    assert ann.go(first, "line\n" * 40)["pending"]["stepId"] == "b"


@pytest.mark.rule("R8.32", "C53")
def test_a_call_that_is_no_attempt_leaves_no_trace(agent):
    ann = agent(flow(step("a"), step("b")))
    first = ann.start("user.flow")
    before = ann.events(first)
    wrong = [
        {"ackToken": first["ackToken"], "output": {"notesMarkdown": 7}},
        {"ackToken": first["ackToken"], "context": {"wr_autonomy": "x"}},
        {"ackToken": first["ackToken"], "notes": "x"},
        {"stateToken": first["stateToken"], "output": {"notesMarkdown": "x"}},
    ]

    assert {ann.error("continue_workflow", **one)["code"] for one in wrong} == {"VALIDATION_ERROR"}
    assert ann.events(first) == before


@pytest.mark.rule("R8.1", "R8.2", "R8.13", "R11.2")
@pytest.mark.parametrize(
    ("preset", "autonomy", "risk"),
    [
        ("guided", "guided", "conservative"),
        ("full_auto", "full_auto_stop_on_user_deps", "balanced"),
        ("full_auto_nonstop", "full_auto_never_stop", "conservative"),
    ],
)
def test_a_preset_is_the_mode_runs_begin_with(agent, preset, autonomy, risk):
    ann = agent(flow(step("a")), preset=preset)

    assert ann.start("user.flow")["preferences"] == {"autonomy": autonomy, "riskPolicy": risk}
