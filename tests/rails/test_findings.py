"""Every finding of R1.10: what provokes it, where it points, what it proposes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import Places
from backshop.rails.compile import compile_data, compile_source
from backshop.rails.definition.finding import ERRORS, FINDINGS_MAX, WARNINGS, Severity

LIBRARY = Catalog(Places()).look().library
STEP = {"id": "a", "title": "A", "prompt": "Do it."}
LOOP = {"type": "while", "maxIterations": 3, "condition": {"var": "x"}}
ASSESSMENTS = [
    {
        "id": "ready",
        "purpose": "Ready?",
        "dimensions": [{"id": "proof", "purpose": "How", "levels": ["low", "high"]}],
    }
]


def workflow(*steps, **fields):
    return {
        "id": "project.small",
        "name": "Small",
        "description": "For tests.",
        "version": "1.0.0",
        "steps": list(steps) or [STEP],
        **fields,
    }


def step(**fields):
    return {**STEP, **fields}


def loop(body=None, **fields):
    rule = {**LOOP, **fields}
    rule = {key: value for key, value in rule.items() if value is not None}
    return {"id": "l", "type": "loop", "title": "L", "loop": rule, "body": body or [STEP]}


def call(template, **args):
    return {"id": "a", "title": "A", "templateCall": {"templateId": template, "args": args}}


def consequence(level, **when):
    effect = {"kind": "require_followup", "guidance": "More."}
    return {"when": {"anyEqualsLevel": level, **when}, "effect": effect}


def nested(depth):
    inner: dict[str, Any] = dict(STEP)
    for number in range(depth):
        inner = {**loop([inner]), "id": f"l{number}"}
    return inner


CHALLENGE = "wr.templates.routine.challenge"
CASES: list[tuple[Any, str, str]] = [
    ([], "WF_SCHEMA", ""),
    ({}, "WF_SCHEMA", ""),
    (workflow(version="1"), "WF_SCHEMA", "/version"),
    (workflow(name="x" * 129), "WF_SCHEMA", "/name"),
    (workflow(name="  "), "WF_SCHEMA", "/name"),
    (workflow(steps=[]), "WF_SCHEMA", "/steps"),
    (workflow(steps={"a": 1}), "WF_SCHEMA", "/steps"),
    (workflow("a"), "WF_SCHEMA", "/steps/0"),
    (workflow(step(type="while")), "WF_SCHEMA", "/steps/0/type"),
    (workflow(step(title=3)), "WF_SCHEMA", "/steps/0/title"),
    (workflow(step(notesOptional="yes")), "WF_SCHEMA", "/steps/0/notesOptional"),
    (workflow(metaGuidance=["x", "x"]), "WF_SCHEMA", "/metaGuidance/1"),
    (workflow(modelTier="huge"), "WF_SCHEMA", "/modelTier"),
    (workflow(examples=[1] * 7), "WF_SCHEMA", "/examples"),
    (
        workflow(step(userInputs=[{"id": "k", "reason": "needs_user_choice", "prompt": "Which?"}])),
        "WF_SCHEMA",
        "/steps/0/userInputs/0/choiceKind",
    ),
    (
        workflow({"id": "p", "title": "P", "type": "parallel"}),
        "WF_SCHEMA",
        "/steps/0/parallelDelegations",
    ),
    (workflow(step(id="Not Good")), "WF_STEP_ID_INVALID", "/steps/0/id"),
    (workflow(step(id="wr-probe-x")), "WF_STEP_ID_INVALID", "/steps/0/id"),
    (workflow(step(), step(title="B")), "WF_STEP_ID_DUPLICATE", "/steps/1/id"),
    (workflow(step(), loop([step(title="B")])), "WF_STEP_ID_DUPLICATE", "/steps/1/body/0/id"),
    (workflow({"id": "a", "title": "A"}), "WF_PROMPT_SOURCE", "/steps/0"),
    (workflow(step(promptBlocks={"goal": "g"})), "WF_PROMPT_SOURCE", "/steps/0"),
    (workflow(step(type="template_call")), "WF_PROMPT_SOURCE", "/steps/0"),
    (
        workflow({"id": "a", "title": "A", "promptBlocks": {"constraints": [], "goal": " "}}),
        "WF_PROMPT_BLOCKS_EMPTY",
        "/steps/0/promptBlocks",
    ),
    (
        workflow(step(runCondition={"var": "x", "gt": 1, "lt": 5})),
        "WF_CONDITION_INVALID",
        "/steps/0/runCondition",
    ),
    (
        workflow(step(requireConfirmation={"or": 1})),
        "WF_CONDITION_INVALID",
        "/steps/0/requireConfirmation/or",
    ),
    (
        workflow(step(runCondition={"var": "x", "matches": "(a"})),
        "WF_CONDITION_INVALID",
        "/steps/0/runCondition/matches",
    ),
    (workflow(loop(maxIterations=None)), "WF_LOOP_INVALID", "/steps/0/loop"),
    (workflow(loop(maxIterations=0)), "WF_LOOP_INVALID", "/steps/0/loop/maxIterations"),
    (workflow(loop(maxIterations=1001)), "WF_LOOP_INVALID", "/steps/0/loop/maxIterations"),
    (workflow(loop(maxIterations=True)), "WF_LOOP_INVALID", "/steps/0/loop/maxIterations"),
    (workflow(loop(condition=None)), "WF_LOOP_INVALID", "/steps/0/loop"),
    (workflow(loop(type="for")), "WF_LOOP_INVALID", "/steps/0/loop"),
    (workflow(loop(type="forEach")), "WF_LOOP_INVALID", "/steps/0/loop"),
    (workflow(loop(type="repeat")), "WF_LOOP_INVALID", "/steps/0/loop/type"),
    (workflow(loop(iterationVar="a b")), "WF_LOOP_INVALID", "/steps/0/loop/iterationVar"),
    (workflow(loop(type="for", count=1001)), "WF_LOOP_INVALID", "/steps/0/loop/count"),
    (workflow({**loop(), "body": []}), "WF_LOOP_INVALID", "/steps/0/body"),
    (
        workflow({"id": "l", "type": "loop", "title": "L", "body": [STEP]}),
        "WF_LOOP_INVALID",
        "/steps/0",
    ),
    (workflow(nested(5)), "WF_LOOP_INVALID", "/steps/0/body/0/body/0/body/0/body/0"),
    (workflow(step(), {**loop(), "body": "b"}), "WF_LOOP_BODY_REF", "/steps/1/body"),
    (workflow({**loop(), "body": "l"}), "WF_LOOP_BODY_REF", "/steps/0/body"),
    (
        workflow(call("wr.templates.routine.challange")),
        "WF_TEMPLATE_UNKNOWN",
        "/steps/0/templateCall/templateId",
    ),
    (workflow(call(CHALLENGE)), "WF_TEMPLATE_ARG", "/steps/0/templateCall/args"),
    (
        workflow(call(CHALLENGE, subject=["x"])),
        "WF_TEMPLATE_ARG",
        "/steps/0/templateCall/args/subject",
    ),
    (
        workflow(call("wr.templates.capability_probe", capability="smell")),
        "WF_TEMPLATE_ARG",
        "/steps/0/templateCall/args",
    ),
    (
        workflow(call("wr.templates.capability_probe", capability="delegation", when=[1])),
        "WF_TEMPLATE_ARG",
        "/steps/0/templateCall/args",
    ),
    (workflow(features=["wr.features.capability"]), "WF_FEATURE_UNKNOWN", "/features/0"),
    (
        workflow(features=[{"id": "wr.features.mode_guidance", "config": {"verbosity": "loud"}}]),
        "WF_FEATURE_CONFIG",
        "/features/0/config/verbosity",
    ),
    (
        workflow(features=[{"id": "wr.features.memory_context", "config": {"x": "y"}}]),
        "WF_FEATURE_CONFIG",
        "/features/0/config/x",
    ),
    (
        workflow(
            {
                "id": "a",
                "title": "A",
                "promptBlocks": {"goal": [{"kind": "ref", "refId": "wr.refs.mode"}]},
            }
        ),
        "WF_REF_UNKNOWN",
        "/steps/0/promptBlocks/goal/0/refId",
    ),
    (
        workflow(
            {
                "id": "a",
                "title": "A",
                "promptBlocks": {"verify": [[{"kind": "ref", "refId": "wr.refs.tokens"}]] * 20},
            }
        ),
        "WF_REF_BUDGET",
        "/steps/0/promptBlocks",
    ),
    (workflow(step(prompt="{{wr.bindings.who}}")), "WF_BINDING_UNKNOWN", "/steps/0/prompt"),
    (workflow(step(guidance=["{{wr.other}}"])), "WF_BINDING_UNKNOWN", "/steps/0/guidance"),
    (
        workflow(step(outputContract={"contractRef": "wr.contracts.gap"})),
        "WF_CONTRACT_UNKNOWN",
        "/steps/0",
    ),
    (
        workflow(
            step(
                output={"contractRef": "wr.contracts.gaps"},
                outputContract={"contractRef": "wr.contracts.findings"},
            )
        ),
        "WF_CONTRACT_CONFLICT",
        "/steps/0",
    ),
    (
        workflow(step(assessmentRefs=["redy"]), assessments=ASSESSMENTS),
        "WF_ASSESSMENT_INVALID",
        "/steps/0/assessmentRefs/0",
    ),
    (
        workflow(
            step(assessmentRefs=["ready"], assessmentConsequences=[consequence("mid")]),
            assessments=ASSESSMENTS,
        ),
        "WF_ASSESSMENT_INVALID",
        "/steps/0/assessmentConsequences/0/when/anyEqualsLevel",
    ),
    (
        workflow(
            step(
                assessmentRefs=["ready"],
                assessmentConsequences=[consequence("low"), consequence("low")],
            ),
            assessments=ASSESSMENTS,
        ),
        "WF_ASSESSMENT_INVALID",
        "/steps/0/assessmentConsequences/1",
    ),
    (
        workflow(step(assessmentConsequences=[consequence("low")]), assessments=ASSESSMENTS),
        "WF_ASSESSMENT_INVALID",
        "/steps/0/assessmentConsequences/0",
    ),
    (workflow(assessments=ASSESSMENTS * 2), "WF_ASSESSMENT_INVALID", "/assessments/1/id"),
    (workflow(capabilities={"smell": "required"}), "WF_CAPABILITY_INVALID", "/capabilities/smell"),
    (
        workflow(capabilities={"delegation": "maybe"}),
        "WF_CAPABILITY_INVALID",
        "/capabilities/delegation",
    ),
    (
        workflow(step(promptFragments=[{"id": "f", "text": "x"}, {"id": "f", "text": "y"}])),
        "WF_FRAGMENT_INVALID",
        "/steps/0/promptFragments/1/id",
    ),
    (
        workflow(step(promptFragments=[{"id": "f", "text": "{{wr.bindings.x}}"}])),
        "WF_FRAGMENT_INVALID",
        "/steps/0/promptFragments/0/text",
    ),
    (
        workflow(step(functionReferences=["shape()"])),
        "WF_FUNCTION_UNKNOWN",
        "/steps/0/functionReferences/0",
    ),
    (
        workflow(references=[{"id": "r", "title": "R", "source": "r.md", "purpose": "p"}]),
        "WF_REFERENCE_INVALID",
        "/references/0",
    ),
    (
        workflow(
            references=[
                {"id": "r", "title": "R", "source": "r.md", "purpose": "p", "authoritative": True}
            ]
            * 2
        ),
        "WF_REFERENCE_INVALID",
        "/references/1/id",
    ),
    (
        workflow(step(validationCriteria=[{"type": "regex", "pattern": "(", "message": "m"}])),
        "WF_VALIDATION_RULE_INVALID",
        "/steps/0/validationCriteria/0/pattern",
    ),
    (
        workflow(step(validationCriteria={"type": "length", "message": "m"})),
        "WF_VALIDATION_RULE_INVALID",
        "/steps/0/validationCriteria",
    ),
    (
        workflow(
            step(
                validationCriteria={
                    "type": "schema",
                    "message": "m",
                    "schema": {"pattern": "(a+)+$"},
                }
            )
        ),
        "WF_VALIDATION_RULE_INVALID",
        "/steps/0/validationCriteria/schema",
    ),
    (workflow(step(guidance=["x" * 70_000])), "WF_BUDGET", "/steps"),
    (
        workflow(*({"id": f"s{n}", "title": "S", "prompt": "x" * 32_000} for n in range(70))),
        "WF_BUDGET",
        "",
    ),
]
WARNING_CASES: list[tuple[Any, str, str]] = [
    (workflow(step(promt="x")), "WW_UNKNOWN_FIELD", "/steps/0/promt"),
    (workflow(step(prompt="Item {{i + 1}}.")), "WW_EXPRESSION_TOKEN", "/steps/0/prompt"),
    (workflow(loop()), "WW_CONTEXT_LOOP", "/steps/0/loop"),
    (
        workflow(loop(type="until", maxIterations=101)),
        "WW_LOOP_LIMIT_HIGH",
        "/steps/0/loop/maxIterations",
    ),
    (workflow(step(prompt="x" * 8193)), "WW_LONG_PROMPT", "/steps/0/prompt"),
]
ELSEWHERE = {  # test_sources: they depend on where a file lies, not on what it says
    *("WF_PARSE", "WF_ID_INVALID", "WF_ID_RESERVED", "WF_ID_DUPLICATE", "WF_ID_LEGACY_SAVE"),
    *("WF_TEMPLATE_RECURSIVE", "WW_LEGACY_ID", "WW_ID_ALIASED", "WW_SHADOWED"),
    *("WW_REFERENCE_UNRESOLVED", "WW_SOURCE_UNREADABLE"),
}


@pytest.mark.rule("R1.2", "C6", "C7", "C9", "C10", "C11")
@pytest.mark.parametrize(("data", "code", "pointer"), CASES)
def test_an_error_says_where_and_stops_the_file(data, code, pointer):
    outcome = compile_data(data, library=LIBRARY)

    assert outcome.compiled is None
    assert (code, pointer) in [(one.code, one.pointer) for one in outcome.findings]
    assert all(one.message and len(one.message) < 1500 for one in outcome.findings)


@pytest.mark.rule("R1.3", "C12")
@pytest.mark.parametrize(("data", "code", "pointer"), WARNING_CASES)
def test_a_warning_says_where_and_stops_nothing(data, code, pointer):
    outcome = compile_data(data, library=LIBRARY)

    assert outcome.compiled is not None
    assert [(one.code, one.pointer) for one in outcome.findings] == [(code, pointer)]


def test_every_code_of_the_closed_sets_is_provoked():
    provoked = {code for _, code, _ in (*CASES, *WARNING_CASES)}

    assert provoked | ELSEWHERE == ERRORS | WARNINGS


@pytest.mark.rule("R1.3", "C12")
def test_strictly_an_unknown_field_is_an_error_with_the_nearest_name():
    outcome = compile_data(workflow(step(promt="x")), strict=True)

    (finding,) = outcome.findings
    assert (finding.code, finding.severity, finding.fix) == ("WF_SCHEMA", Severity.ERROR, "prompt")


@pytest.mark.rule("R1.2", "C11")
def test_all_findings_come_at_once_in_order():
    data = workflow(
        step(
            outputContract={"contractRef": "wr.contracts.nope"},
            assessmentRefs=["none"],
            prompt="{{wr.bindings.none}}",
        ),
        {
            "id": "b",
            "title": "B",
            "promptBlocks": {"goal": [{"kind": "ref", "refId": "wr.refs.x"}]},
        },
        features=["wr.features.none"],
    )

    found = [(one.pointer, one.code) for one in compile_data(data).findings]

    assert found == sorted(found)
    assert [code for _, code in found] == [
        "WF_FEATURE_UNKNOWN",
        "WF_CONTRACT_UNKNOWN",
        "WF_ASSESSMENT_INVALID",
        "WF_BINDING_UNKNOWN",
        "WF_REF_UNKNOWN",
    ]


@pytest.mark.rule("R1.10")
def test_a_bad_step_id_comes_with_a_good_one():
    (finding,) = compile_data(workflow(step(id="Step One!"))).findings

    assert (finding.code, finding.fix) == ("WF_STEP_ID_INVALID", "step_one_")


DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = [
    b"",
    b"\xff\xfe\x00",
    b"not json",
    b'{"id": 1, "id": 2}',
    b'{"id": NaN}',
    b'{"id": "\\ud800"}',
    b'{"id": 1e999}',
    b'{"id": 123456789012345678901234567890}',
    DEEP.encode(),
    b'{"a":' * 300 + b"1" + b"}" * 300,
    b'"' + b"x" * (1024 * 1024) + b'"',
    b'{"steps": ' + b"[" * 150 + b"]" * 150 + b"}",
    b"\xef\xbb\xbf{",
    b"steps: &a [*a]\n",
    b"a: &a {b: &b {c: *a}}\n",
]


@pytest.mark.rule("R1.1")
@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("is_yaml", [False, True])
def test_hostile_files_get_a_finding(source, is_yaml):
    outcome = compile_source(source, is_yaml=is_yaml)

    assert outcome.compiled is None
    assert {one.code for one in outcome.findings} <= {"WF_PARSE", "WF_SCHEMA"}
    assert outcome.findings


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2000)
    | st.sampled_from(["a", "wr.rpi", "loop", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "var", "and", "type", "kind", "items"]), inner)
    ),
    max_leaves=8,
)
KEYS = [
    *("id", "name", "version", "steps", "agentRole", "capabilities", "features", "assessments"),
    *("recommendedPreferences", "functionDefinitions", "references", "extensionPoints", "tags"),
]
STEP_KEYS = [
    *("id", "title", "type", "prompt", "promptBlocks", "templateCall", "loop", "body", "audit"),
    *("requireConfirmation", "runCondition", "promptFragments", "output", "outputContract"),
    *("validationCriteria", "assessmentRefs", "assessmentConsequences", "userInputs", "guidance"),
    *("functionCalls", "functionReferences", "parallelDelegations", "synthesis", "verification"),
]


@given(
    top=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3),
    inner=st.dictionaries(st.sampled_from(STEP_KEYS), JSON, max_size=4),
)
def test_no_data_makes_the_compiler_fail(top, inner):
    data = {**workflow(step(**inner), {**loop(), **inner}), **top}

    outcome = compile_data(json.loads(json.dumps(data)), library=LIBRARY)

    assert (outcome.compiled is None) == any(
        one.severity is Severity.ERROR for one in outcome.findings
    )


MANY = 20_000
FLOODS = [
    workflow(**{f"k{n}": 1 for n in range(MANY)}),
    workflow(features=[f"wr.features.f{n}" for n in range(MANY)]),
    workflow(*({"id": f"S {n}"} for n in range(MANY))),
    workflow(
        step(functionReferences=[f"f{n}()" for n in range(MANY)]),
        functionDefinitions=[{"name": f"g{n}", "definition": "x"} for n in range(400)],
    ),
    workflow(*(call(CHALLENGE, subject="x") | {"id": f"s{n}"} for n in range(6000))),
    workflow(
        step(prompt="{{wr.bindings.who}}" * 1500),
        extensionPoints=[{"slotId": "who", "purpose": "p", "default": "x" * 500_000}],
    ),
    workflow(*(step(id=f"s{n}", guidance=["{{wr.x}}"] * 50) for n in range(400))),
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("data", FLOODS, ids=range(len(FLOODS)))
def test_a_flood_of_mistakes_is_cut_off(data):
    start = time.process_time()

    outcome = compile_data(data, library=LIBRARY, strict=True)

    assert outcome.compiled is None
    assert 0 < len(outcome.findings) <= FINDINGS_MAX + 1
    assert time.process_time() - start < 10
