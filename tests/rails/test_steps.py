"""What a step may say, and what of it reaches the agent (R1.9-R1.16, R1.31, R1.35, R1.40)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.rails.workflows import flow, step

from backshop.rails.compile import Library, compile_data, template_id, workflow_hash
from backshop.rails.compile.demands import CHOICE_KINDS, USER_REASONS
from backshop.rails.packs import PACKS

ROLE, OWN_ROLE = "You check what others only read.", "You decide alone and say why."
LOOKING = {"templateId": "wr.templates.routine.looking", "args": {"what": "x"}}
READY = {
    "id": "ready",
    "purpose": "Is it ready?",
    "dimensions": [{"id": "proof", "purpose": "How good is it?", "levels": ["low", "high"]}],
}
TASTE = {
    "id": "taste",
    "purpose": "Is it nice?",
    "dimensions": [{"id": "look", "purpose": "How nice?", "levels": ["bad", "good"]}],
}
EVERYTHING: dict[str, Any] = {
    "agentRole": OWN_ROLE,
    "modelTier": "heavy",
    "guidance": ["Slowly."],
    "askForFiles": True,
    "hasValidation": True,
    "requireConfirmation": {"var": "risky"},
    "runCondition": {"var": "wanted"},
    "promptFragments": [{"id": "f", "text": "More."}],
    "output": {"contractRef": "wr.contracts.gaps", "hints": {"summary": "One line."}},
    "outputContract": {"contractRef": "wr.contracts.gaps", "required": False},
    "validationCriteria": {"type": "contains", "value": "x", "message": "Say x."},
    "assessmentRefs": ["ready"],
    "assessmentConsequences": [
        {
            "when": {"anyEqualsLevel": "low", "forAssessment": "ready"},
            "effect": {"kind": "require_followup", "guidance": "More."},
        }
    ],
    "userInputs": [{"id": "ok", "reason": "needs_user_approval", "prompt": "Ok?"}],
    "notesOptional": True,
    "functionDefinitions": [{"name": "f", "definition": "F."}],
    "functionReferences": ["f()"],
    "functionCalls": [{"name": "f", "args": {}}],
    "audit": {"rubric": "It is right."},
    "verification": {"prompt": "Test it."},
}


def library(**more):
    """The routine LOOKING calls, its one step with what a test adds."""
    one = step("look", prompt="Look at {what}.", **more)
    definition = compile_data(flow(one, name="wr.routine-looking")).definition
    assert definition is not None
    return Library({template_id(definition.id): definition})


LIBRARY = library()


def compiled(*steps, **more):
    outcome = compile_data(flow(*steps, **more), library=LIBRARY, strict=True)
    assert outcome.compiled is not None, outcome.findings
    assert outcome.findings == ()
    return outcome.compiled


def found(*steps, **more):
    outcome = compile_data(flow(*steps, **more), library=LIBRARY)
    assert outcome.compiled is None
    return [(one.code, one.pointer) for one in outcome.findings]


@pytest.mark.rule("R1.11", "R1.13", "R11.7")
@pytest.mark.parametrize(
    "source",
    [{"prompt": "Do it."}, {"promptBlocks": {"goal": "Do it."}}, {"templateCall": LOOKING}],
    ids=["prompt", "promptBlocks", "templateCall"],
)
def test_a_step_may_say_all_of_it_with_any_one_source_of_its_prompt(source):
    whole = {"id": "a", "title": "A", **source, **EVERYTHING}

    steps = compiled(whole, assessments=[READY]).steps

    last = steps[-3]
    assert [one.step_id.rpartition("__")[2] for one in steps[-2:]] == ["verification", "audit"]
    assert (last.agent_role, last.model_tier) == (OWN_ROLE, "heavy")
    assert last.guidance[0] == "Slowly."
    assert last.require_confirmation.condition == {"var": "risky"}
    assert last.run_condition == {"var": "wanted"}
    assert [one.text for one in last.fragments] == ["More."]
    assert last.contract is not None
    assert last.contract.hints == {"summary": "One line."}
    assert last.contract.required is False
    assert last.validation == EVERYTHING["validationCriteria"]
    assert last.assessment_refs == ("ready",)
    assert [one.level for one in last.consequences] == ["low"]
    assert [one.id for one in last.user_inputs] == ["ok"]
    assert last.notes_optional
    if "templateCall" not in source:
        assert last.function_refs == ("step:a:f",)


@pytest.mark.rule("R1.11")
def test_two_fields_of_older_files_are_taken_and_change_nothing():
    plain = compiled(step("a"))

    assert compiled(step("a", askForFiles=True, hasValidation=True)) == plain
    assert found(step("a", askForFiles="yes")) == [("WF_SCHEMA", "/steps/0/askForFiles")]


@pytest.mark.rule("R1.11")
@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("title", "x" * 128, "x" * 129),
        ("title", "x", ""),
        ("prompt", "x" * 8192, "x" * 32769),
        ("agentRole", "x" * 10, "x" * 9),
        ("agentRole", "x" * 1024, "x" * 1025),
        ("guidance", ["x"], "x"),
        ("hasValidation", False, 0),
    ],
)
def test_the_fields_of_a_step_have_their_bounds(field, good, bad):
    compiled(step("a", **{field: good}))

    assert found(step("a", **{field: bad})) == [("WF_SCHEMA", f"/steps/0/{field}")]


def test_a_prompt_may_be_as_long_as_its_bound():
    outcome = compile_data(flow(step("a", prompt="x" * 32768)))

    assert outcome.compiled is not None
    assert [one.code for one in outcome.findings] == ["WW_LONG_PROMPT"]


@pytest.mark.rule("R1.9")
def test_a_template_call_by_type_is_one_by_its_field():
    call = {"id": "a", "title": "A", "templateCall": LOOKING}

    by_field, by_type = compiled(call), compiled({**call, "type": "template_call"})

    assert workflow_hash(by_field) == workflow_hash(by_type)


@pytest.mark.rule("R1.9")
@pytest.mark.parametrize("word", ["standard", "while", "Loop", "", None, 3, ["loop"]])
def test_a_step_is_of_no_other_type(word):
    assert ("WF_SCHEMA", "/steps/0/type") in found(step("a", type=word))


@pytest.mark.rule("R1.15", "R1.14")
def test_fragments_follow_the_prompt_in_their_order_while_they_hold(agent):
    fragments = [
        {"id": "z", "when": {"var": "risk", "equals": "high"}, "text": "Z for {{risk}}."},
        {"id": "a", "text": "A always."},
        {"id": "m", "when": {"var": "risk", "equals": "low"}, "text": "M for {{risk}}."},
        {"id": "t", "when": {}, "text": "T always."},
    ]
    ann = agent(flow(step("one", promptFragments=fragments), step("two", guidance=["Slowly."])))

    def prompt(**context):
        return ann.start("user.flow", context=context)["pending"]["prompt"]

    assert prompt(risk="high").startswith("Do one.\n\nZ for high.\n\nA always.\n\nT always.\n\n")
    assert prompt(risk="low").startswith("Do one.\n\nA always.\n\nM for low.\n\nT always.\n\n")
    assert prompt().startswith("Do one.\n\nA always.\n\nT always.\n\nRequired output:")


@pytest.mark.rule("R1.15", "R1.27")
def test_a_call_cannot_bring_what_the_routine_has_already():
    ask = {"id": "ok", "reason": "needs_user_approval", "prompt": "Ok?"}
    more = {"promptFragments": [{"id": "f", "text": "x"}], "userInputs": [ask]}
    call = {"id": "a", "title": "A", "templateCall": LOOKING, **more}

    outcome = compile_data(flow(call), library=library(**more))

    assert [(one.code, one.pointer) for one in outcome.findings] == [
        ("WF_FRAGMENT_INVALID", "/steps/0/promptFragments"),
        ("WF_SCHEMA", "/steps/0/userInputs"),
    ]


@pytest.mark.rule("R1.16", "R7.17")
def test_a_role_is_text_of_the_prompt_and_the_steps_own_replaces_the_workflows(agent):
    ann = agent(flow(step("one"), step("two", agentRole=OWN_ROLE), agentRole=ROLE))
    first = ann.start("user.flow")
    second = ann.go(first)

    assert first["pending"]["prompt"].startswith(f"{ROLE}\n\nDo one.")
    assert first["pending"]["agentRole"] == ROLE
    assert second["pending"]["prompt"].startswith(f"{OWN_ROLE}\n\nDo two.")
    assert ROLE not in second["pending"]["prompt"]
    assert second["pending"]["agentRole"] == OWN_ROLE


def without(data, key):
    return {name: value for name, value in data.items() if name != key}


def dimension(**fields):
    return {**READY, "dimensions": [{**READY["dimensions"][0], **fields}]}  # type: ignore[dict-item]


def consequence(level="low", effect="require_followup", guidance="More.", **when):
    return {
        "when": {"anyEqualsLevel": level, **when},
        "effect": {"kind": effect, "guidance": guidance},
    }


@pytest.mark.rule("R1.31")
@pytest.mark.parametrize(
    ("declared", "pointer"),
    [
        ({**READY, "id": "Not Good"}, "/assessments/0/id"),
        ({**READY, "id": "x" * 65}, "/assessments/0/id"),
        (without(READY, "id"), "/assessments/0"),
        (without(READY, "purpose"), "/assessments/0"),
        (without(READY, "dimensions"), "/assessments/0/dimensions"),
        ({**READY, "dimensions": []}, "/assessments/0/dimensions"),
        ("ready", "/assessments/0"),
        (dimension(id="Not Good"), "/assessments/0/dimensions/0/id"),
        (dimension(purpose=""), "/assessments/0/dimensions/0/purpose"),
        (dimension(levels=["one"]), "/assessments/0/dimensions/0/levels"),
        (dimension(levels=["one", "one"]), "/assessments/0/dimensions/0/levels/1"),
        (dimension(levels=["one", 2]), "/assessments/0/dimensions/0/levels/1"),
        (dimension(required="no"), "/assessments/0/dimensions/0/required"),
        ({**READY, "dimensions": READY["dimensions"] * 2}, "/assessments/0/dimensions/1/id"),  # type: ignore[operator]
    ],
)
def test_a_bad_assessment_is_refused_at_its_place(declared, pointer):
    problems = found(step("a"), assessments=[declared])

    assert ("WF_ASSESSMENT_INVALID", pointer) in problems
    assert {code for code, _ in problems} == {"WF_ASSESSMENT_INVALID"}


@pytest.mark.rule("R1.31")
@pytest.mark.parametrize(
    ("listed", "pointer"),
    [
        ([consequence(effect="stop")], "0/effect/kind"),
        ([consequence(guidance="")], "0/effect/guidance"),
        ([consequence(guidance="x" * 513)], "0/effect/guidance"),
        ([{"when": {"anyEqualsLevel": "low"}}], "0"),
        ([consequence("bad", forAssessment="ready")], "0/when/anyEqualsLevel"),
        ([consequence(forAssessment="other")], "0/when/forAssessment"),
        ([consequence(), consequence()], "1"),
    ],
)
def test_a_bad_consequence_is_refused_at_its_place(listed, pointer):
    problems = found(
        step("a", assessmentRefs=["ready", "taste"], assessmentConsequences=listed),
        assessments=[READY, TASTE],
    )

    assert problems == [("WF_ASSESSMENT_INVALID", f"/steps/0/assessmentConsequences/{pointer}")]


@pytest.mark.rule("R1.31")
def test_at_most_ten_consequences_and_each_level_may_be_scoped():
    levels = [f"l{number}" for number in range(11)]
    many = dimension(levels=levels)
    ten = [consequence(level) for level in levels[:10]]
    scoped = [consequence("low"), consequence("low", forAssessment="ready"), consequence("good")]

    compiled(step("a", assessmentRefs=["ready"], assessmentConsequences=ten), assessments=[many])
    whole = compiled(
        step("a", assessmentRefs=["ready", "taste"], assessmentConsequences=scoped),
        assessments=[READY, TASTE],
    )

    assert [one.for_assessment for one in whole.steps[0].consequences] == [None, "ready", None]
    assert whole.assessments[0].dimensions[0].required is True
    eleven = step("a", assessmentRefs=["ready"], assessmentConsequences=[*ten, consequence("l10")])
    assert found(eleven, assessments=[many]) == [
        ("WF_ASSESSMENT_INVALID", "/steps/0/assessmentConsequences")
    ]


def reference(source, **more):
    return {"title": "Rules", "source": source, "purpose": "How", "authoritative": True, **more}


@pytest.mark.rule("R1.35", "R7.12")
def test_references_are_pointed_at_and_never_read(agent, tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    (place / "rules.md").write_text("SECRET", encoding="utf-8")
    (tmp_path / "outside.md").write_text("SECRET", encoding="utf-8")
    (place / "link.md").symlink_to(tmp_path / "outside.md")
    sources = {
        "inside": "rules.md",
        "missing": "no.md",
        "above": "../outside.md",
        "absolute": str(tmp_path / "outside.md"),
        "linked": "link.md",
    }
    listed = [reference(source, id=name) for name, source in sources.items()]
    own = reference("user.flow.json", id="own", resolveFrom="package", title="Itself")
    ann = agent(flow(step("one"), step("two"), references=[*listed, own]))
    first = ann.answer("start_workflow", workflowId="user.flow", workspacePath=str(place))
    seen = ann.call("inspect_workflow", {"workflowId": "user.flow", "workspacePath": str(place)})
    nowhere = ann.start("user.flow")
    later = ann.answer("continue_workflow", stateToken=first.structured["stateToken"])

    lost = ["missing", "above", "absolute", "linked"]
    warnings: Any = first.structured["warnings"]
    assert [(one["code"], one["details"]["id"]) for one in warnings] == [
        ("REFERENCE_UNRESOLVED", name) for name in lost
    ]
    assert {one["id"]: one["status"] for one in seen["references"]} == {
        "inside": "resolved",
        "own": "resolved",
        **dict.fromkeys(lost, "unresolved"),
    }
    assert "Rules: rules.md (How; authoritative) [resolved]\n" in first.texts[1]
    assert "Rules: no.md (How; authoritative) [unresolved]" in first.texts[1]
    assert "Rules: rules.md\n" in later.texts[1]
    assert "SECRET" not in "".join((*first.texts, *later.texts))
    assert nowhere["pending"]["stepId"] == "one"
    assert len(nowhere["warnings"]) == len(sources)


@pytest.mark.rule("R1.35")
@pytest.mark.parametrize("key", ["id", "title", "source", "purpose", "authoritative"])
def test_a_reference_says_all_of_it(key):
    whole = reference("rules.md", id="r")

    compiled(step("a"), references=[whole])
    assert found(step("a"), references=[without(whole, key)]) == [
        ("WF_REFERENCE_INVALID", "/references/0")
    ]


@pytest.mark.rule("R1.40", "R1.29", "R11.4")
@pytest.mark.parametrize("place", ["output", "outputContract"])
def test_a_workflow_names_a_contract_and_brings_no_schema(agent, place):
    own = {"contractRef": "wr.contracts.gaps", "schema": {"type": "object"}}
    one = step("one", **{place: own})
    loose, strict = compile_data(flow(one)), compile_data(flow(one), strict=True)
    first = agent(flow(one)).start("user.flow")

    pointer = f"/steps/0/{place}/schema"
    assert [(f.code, f.pointer) for f in loose.findings] == [("WW_UNKNOWN_FIELD", pointer)]
    assert [(f.code, f.pointer) for f in strict.findings] == [("WF_SCHEMA", pointer)]
    assert loose.compiled is not None
    assert [one.schema for one in loose.compiled.contracts] == [PACKS["wr.contracts.gaps"].schema]
    assert first["pending"]["outputContract"]["example"] == PACKS["wr.contracts.gaps"].example


@pytest.mark.rule("R11.1", "R8.20")
@pytest.mark.parametrize("reason", USER_REASONS)
@pytest.mark.parametrize("kind", [*CHOICE_KINDS, None])
def test_only_a_choice_says_what_kind_of_choice_it_is(reason, kind):
    ask = {"id": "k", "reason": reason, "prompt": "Well?"}
    if kind is not None:
        ask["choiceKind"] = kind

    outcome = compile_data(flow(step("a", userInputs=[ask])))

    assert (outcome.compiled is not None) == ((reason == "needs_user_choice") == (kind is not None))


@pytest.mark.rule("R11.1", "R8.20")
@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"reason": "needs_user_mood"}, "/0/reason"),
        ({"reason": "needs_user_choice", "choiceKind": "taste"}, "/0/choiceKind"),
        ({"id": "Not Good"}, "/0/id"),
        ({"prompt": "x" * 513}, "/0/prompt"),
        ({"contextKey": "a b"}, "/0/contextKey"),
        ({"options": "a"}, "/0/options"),
    ],
)
def test_what_only_the_person_can_give_is_declared_in_closed_words(fields, pointer):
    ask = {"id": "k", "reason": "needs_user_artifact", "prompt": "Well?", **fields}

    assert ("WF_SCHEMA", f"/steps/0/userInputs{pointer}") in found(step("a", userInputs=[ask]))


@pytest.mark.rule("R8.20")
def test_at_most_eight_inputs_each_with_its_id():
    ask = {"reason": "needs_user_artifact", "prompt": "Well?"}
    asks = [{"id": f"k{number}", **ask} for number in range(9)]

    compiled(step("a", userInputs=asks[:8]))
    assert found(step("a", userInputs=asks)) == [("WF_SCHEMA", "/steps/0/userInputs")]
    assert found(step("a", userInputs=asks[:1] * 2)) == [("WF_SCHEMA", "/steps/0/userInputs")]


@pytest.mark.rule("R1.32")
@pytest.mark.parametrize("notes", ["[" * 200_000, "{", "NaN", "9" * 5000])
def test_notes_that_are_no_json_of_the_schema_do_not_meet_it(agent, notes):
    rule = {"type": "schema", "schema": {"type": "object"}, "message": "An object, please."}
    ann = agent(flow(step("s", validationCriteria=[rule]), step("end")))
    blocked = ann.go(ann.start("user.flow"), notes)

    assert blocked["kind"] == "blocked"
    assert ann.go(blocked, "{}")["pending"]["stepId"] == "end"
