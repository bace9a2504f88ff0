"""Routines, virtual steps, probes, features, functions: what is added to a workflow, and where."""

from __future__ import annotations

import pytest

from backshop.rails.compile import (
    ConfirmationKind,
    Library,
    Origin,
    Provenance,
    StepKind,
    compile_data,
    template_id,
    workflow_hash,
)
from backshop.rails.compile.features import FEATURES
from backshop.rails.compile.refs import REFS

STEP = {"id": "a", "title": "A", "prompt": "Do it."}


def workflow(*steps, **fields):
    return {
        "id": "project.small",
        "name": "Small",
        "description": "For tests.",
        "version": "1.0.0",
        "steps": list(steps) or [STEP],
        **fields,
    }


def library(*routines):
    definitions = {}
    for data in routines:
        definition = compile_data(data).definition
        assert definition is not None
        definitions[template_id(definition.id)] = definition
    return Library(definitions)


def compiled(data, **options):
    outcome = compile_data(data, **options)
    assert outcome.compiled is not None, outcome.findings
    return outcome.compiled


ROUTINE = workflow(
    {
        "id": "look",
        "title": "Look at {what}",
        "prompt": "Read {what}, keep {{token}} and {{{what}}} as they are.",
        "runCondition": {"var": "deep"},
        "guidance": ["Own."],
    },
    {"id": "say", "title": "Say", "promptBlocks": {"goal": "Write {count} lines: {sure}."}},
    id="wr.routine-looking",
    metaGuidance=["Careful."],
    preconditions=["dropped"],
    agentRole="You look at things closely.",
)
CALL = {
    "id": "call",
    "title": "Call",
    "runCondition": {"var": "wanted"},
    "requireConfirmation": True,
    "guidance": ["From the caller."],
    "templateCall": {
        "templateId": "wr.templates.routine.looking",
        "args": {"what": "the {file}", "count": 3, "sure": True},
    },
    "verification": {"command": "make test"},
}


@pytest.mark.rule("R1.27")
def test_a_routine_is_expanded_in_place():
    first, look, say, check, last = compiled(
        workflow(STEP, CALL, {**STEP, "id": "z"}), library=library(ROUTINE)
    ).steps

    assert [step.step_id for step in (first, look, say, check, last)] == [
        "a",
        "call.look",
        "call.say",
        "call__verification",
        "z",
    ]
    assert look.title == "Look at the {file}"
    assert look.prompt == "Read the {file}, keep {{token}} and {{{what}}} as they are."
    assert say.prompt == "## Goal\nWrite 3 lines: true."
    assert look.run_condition == {"and": [{"var": "wanted"}, {"var": "deep"}]}
    assert say.run_condition == {"var": "wanted"}
    assert look.guidance == ("Own.", "From the caller.", "Careful.")
    assert look.agent_role == "You look at things closely."
    assert look.require_confirmation.kind is ConfirmationKind.NONE
    assert say.require_confirmation.kind is ConfirmationKind.CONFIRM
    assert look.provenance == Provenance(
        source=Origin.TEMPLATE, origin_id="wr.templates.routine.looking"
    )


@pytest.mark.rule("R1.27", "C10")
@pytest.mark.parametrize("inside", [False, True])
def test_a_routine_that_calls_a_template_is_refused(inside):
    calling = {
        "id": "x",
        "title": "X",
        "templateCall": {"templateId": "wr.templates.routine.looking"},
    }
    rule = {"type": "for", "count": 2, "maxIterations": 2}
    looped = {"id": "l", "title": "L", "type": "loop", "loop": rule, "body": [calling]}
    recursive = workflow(looped if inside else calling, id="wr.routine-outer")
    call = {**CALL, "templateCall": {"templateId": "wr.templates.routine.outer"}}

    outcome = compile_data(workflow(call), library=library(ROUTINE, recursive))

    assert [one.code for one in outcome.findings] == ["WF_TEMPLATE_RECURSIVE"]


def test_a_workflow_of_too_many_steps_is_refused(monkeypatch):
    monkeypatch.setattr("backshop.rails.compile.expand.STEPS_MAX", 2)
    three = [{**STEP, "id": name} for name in "abc"]
    found = [compile_data(workflow(*three[:count])).findings for count in (2, 3)]

    assert [[one.code for one in each] for each in found] == [[], ["WF_BUDGET"]]


@pytest.mark.rule("R1.28")
def test_checks_become_steps_with_optional_notes():
    step = {
        **STEP,
        "runCondition": {"var": "x"},
        "verification": {"command": "make test", "prompt": "Test it."},
        "audit": {"rubric": "It is right."},
    }

    _, verification, audit = compiled(workflow(step)).steps

    assert (verification.step_id, audit.step_id) == ("a__verification", "a__audit")
    assert verification.prompt == (
        "Test it.\n\nRun this check yourself and read its output: `make test`"
    )
    assert "Judge by this rubric:\nIt is right." in audit.prompt
    for one in (verification, audit):
        assert one.run_condition == {"var": "x"}
        assert one.notes_optional
        assert one.provenance == Provenance(source=Origin.FEATURE, origin_id="a")


@pytest.mark.rule("R1.30")
def test_a_parallel_step_keeps_its_delegations_and_gets_a_synthesis():
    step = {
        "id": "p",
        "type": "parallel",
        "title": "P",
        "parallelDelegations": [
            {"workflowId": "wr.rpi", "runCondition": {"var": "x"}, "args": {"k": "v"}},
            {"workflowId": "wr.rpi", "goal": "Other", "contextMapping": {"a": "b"}},
        ],
        "synthesis": {"outputContract": {"contractRef": "wr.contracts.findings"}},
    }

    parallel, synthesis = compiled(workflow(step)).steps

    assert parallel.kind is StepKind.PARALLEL
    assert parallel.delegations is not None
    assert [(one.goal, one.args, one.context_mapping) for one in parallel.delegations] == [
        ("Run wr.rpi", {"k": "v"}, {}),
        ("Other", {}, {"a": "b"}),
    ]
    assert synthesis.step_id == "p__synthesis"
    assert synthesis.contract is not None
    assert synthesis.contract.contract_ref == "wr.contracts.findings"


@pytest.mark.rule("R8.14", "R8.15")
def test_required_capabilities_are_probed_first():
    both = {"web_browsing": "required", "delegation": "required"}

    one, two, step = compiled(workflow(capabilities=both)).steps

    assert (one.step_id, one.probe, one.collapsed) == ("wr-probe-delegation", "delegation", True)
    assert (two.step_id, two.probe) == ("wr-probe-web-browsing", "web_browsing")
    assert one.contract is not None
    assert one.contract.contract_ref == "wr.contracts.capability_observation"
    assert one.notes_optional
    assert step.guidance == ()


@pytest.mark.rule("R8.15")
def test_a_placed_probe_is_not_injected_again():
    placed = {
        "id": "probe",
        "title": "Probe",
        "templateCall": {
            "templateId": "wr.templates.capability_probe",
            "args": {"capability": "web_browsing", "when": "early_if_required"},
        },
    }

    required = compiled(workflow(STEP, placed, capabilities={"web_browsing": "required"})).steps
    preferred = compiled(workflow(STEP, placed, capabilities={"web_browsing": "preferred"})).steps

    assert [step.step_id for step in required] == ["a", "probe"]
    assert required[1].probe == "web_browsing"
    assert [step.step_id for step in preferred] == ["a"]
    assert "Try web browsing" in preferred[0].guidance[0]


def test_a_disabled_capability_is_forbidden_in_every_step():
    (step,) = compiled(workflow(capabilities={"delegation": "disabled"})).steps

    assert step.guidance == ("Do not use delegating to subagents in this workflow.",)


@pytest.mark.rule("R1.36")
def test_features_add_lines_to_blocks_or_guidance_in_their_order():
    blocks = {"id": "b", "title": "B", "promptBlocks": {"goal": "Go.", "verify": ["Own."]}}
    ids = ["wr.features.subagent_guidance", "wr.features.capabilities"]

    plain, block = compiled(workflow(STEP, blocks, features=[*ids, ids[0]])).steps

    one, two = FEATURES["wr.features.capabilities"], FEATURES["wr.features.subagent_guidance"]
    assert plain.guidance == (
        *one.constraints,
        *one.procedure,
        *one.verify,
        *two.constraints,
        *two.verify,
    )
    assert block.guidance == ()
    assert block.prompt.split("\n")[3:5] == ["## Constraints", f"- {one.constraints[0]}"]
    assert block.prompt.endswith(f"- Own.\n- {two.verify[0]}")


@pytest.mark.rule("R11.6", "R1.36")
def test_three_features_can_be_configured_each_with_its_words():
    assert {one.id: one.settings for one in FEATURES.values() if one.settings} == {
        "wr.features.capabilities": {
            "probeVisibility": ("collapsed", "visible"),
            "recordObservationsAs": ("artifact", "event"),
        },
        "wr.features.mode_guidance": {"verbosity": ("short", "full")},
        "wr.features.output_contracts": {"enforce": ("block_in_blocking_modes_gap_in_never_stop",)},
    }
    for feature in FEATURES.values():
        for key, words in feature.settings.items():
            for word in words:
                compiled(workflow(features=[{"id": feature.id, "config": {key: word}}]))
            bad = {"id": feature.id, "config": {key: "other"}}
            assert [one.code for one in compile_data(workflow(features=[bad])).findings] == [
                "WF_FEATURE_CONFIG"
            ]


@pytest.mark.rule("R1.36")
def test_mode_guidance_speaks_through_conditional_fragments():
    feature = {"id": "wr.features.mode_guidance", "config": {"verbosity": "full"}}

    (step,) = compiled(workflow(features=[feature])).steps

    assert [(one.id, one.when) for one in step.fragments] == [
        ("wr-mode-guided", {"var": "wr_autonomy", "equals": "guided"}),
        ("wr-mode-full-auto", {"var": "wr_autonomy", "equals": "full_auto_stop_on_user_deps"}),
        ("wr-mode-nonstop", {"var": "wr_autonomy", "equals": "full_auto_never_stop"}),
        ("wr-risk-conservative", {"var": "wr_risk_policy", "equals": "conservative"}),
        ("wr-risk-balanced", {"var": "wr_risk_policy", "equals": "balanced"}),
        ("wr-risk-aggressive", {"var": "wr_risk_policy", "equals": "aggressive"}),
    ]


@pytest.mark.rule("R1.34")
def test_functions_come_from_the_nearest_scope():
    step = {
        **STEP,
        "functionDefinitions": [{"name": "mine", "definition": "Step's."}],
        "functionReferences": ["shared()", "mine()", "outer()"],
    }
    loop = {
        "id": "l",
        "type": "loop",
        "title": "L",
        "loop": {"type": "for", "count": 2, "maxIterations": 2},
        "functionDefinitions": [{"name": "shared", "definition": "Loop's."}],
        "body": [step],
    }
    functions = [
        {"name": "shared", "definition": "Workflow's."},
        {"name": "outer", "definition": "Outer."},
        {"name": "unused", "definition": "No."},
    ]

    whole = compiled(workflow(loop, functionDefinitions=functions))

    assert whole.steps[0].body is not None
    assert whole.steps[0].body[0].function_refs == (
        "step:a:mine",
        "loop:l:shared",
        "workflow:outer",
    )
    assert {one.id: one.definition for one in whole.functions} == {
        "step:a:mine": "Step's.",
        "loop:l:shared": "Loop's.",
        "workflow:outer": "Outer.",
    }


@pytest.mark.rule("R1.34")
@pytest.mark.parametrize(
    ("args", "pointer"),
    [
        ({}, "/steps/0/functionCalls/0/args"),
        ({"n": "x"}, "/steps/0/functionCalls/0/args/n"),
        ({"n": 1.5}, "/steps/0/functionCalls/0/args/n"),
        ({"n": 1, "how": "badly"}, "/steps/0/functionCalls/0/args/how"),
        ({"n": 1, "who": "me"}, "/steps/0/functionCalls/0/args/who"),
    ],
)
def test_function_calls_are_checked(args, pointer):
    function = {
        "name": "f",
        "definition": "F.",
        "parameters": [
            {"name": "n", "type": "integer", "required": True},
            {"name": "how", "type": "string", "enum": ["well"]},
        ],
    }
    step = {**STEP, "functionCalls": [{"name": "f", "args": args}]}

    (finding,) = compile_data(workflow(step, functionDefinitions=[function])).findings

    assert (finding.code, finding.pointer) == ("WF_SCHEMA", pointer)


@pytest.mark.rule("R1.32")
def test_criteria_are_read_into_one_form():
    rule = {"type": "contains", "value": "X", "message": "Say X."}
    step = {**STEP, "validationCriteria": [rule, {"or": [rule, {"not": rule}]}]}

    (found,) = compiled(workflow(step)).steps

    assert found.validation == {"and": [rule, {"or": [rule, {"not": rule}]}]}


@pytest.mark.rule("R1.37")
def test_refs_fit_and_are_part_of_the_hash():
    blocks = {"goal": [{"kind": "ref", "refId": "wr.refs.modes"}, {"kind": "text", "text": " Go."}]}
    step = {"id": "a", "title": "A", "promptBlocks": blocks}

    (found,) = compiled(workflow(step)).steps

    assert found.prompt == f"## Goal\n{REFS['wr.refs.modes'][1]} Go."
    assert all(len(text.encode()) <= 2048 for _, text in REFS.values())


@pytest.mark.rule("R2.4", "C14")
def test_references_are_pinned_as_written():
    reference = {
        "id": "r",
        "title": "R",
        "source": "docs/r.md",
        "purpose": "p",
        "authoritative": True,
    }

    whole = compiled(workflow(references=[reference]))

    assert [one.source for one in whole.references] == ["docs/r.md"]
    assert workflow_hash(whole) == workflow_hash(compiled(workflow(references=[reference])))
