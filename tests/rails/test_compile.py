"""Compilation: what a definition becomes, and that nothing about it is accidental."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from backshop.base.canon import parse
from backshop.base.errors import ValidationFailed
from backshop.rails.compile import (
    Library,
    LoopControl,
    StepKind,
    compile_data,
    compile_source,
    load,
    snapshot,
    template_id,
    workflow_hash,
)

SMALL: dict[str, Any] = {
    "id": "project.small",
    "name": "Small",
    "description": "Two steps.",
    "version": "1.0.0",
    "about": "For tests.",
    "steps": [
        {"id": "look", "title": "Look", "prompt": "Read {{ticket}}."},
        {"id": "say", "title": "Say", "prompt": "Say it.", "requireConfirmation": True},
    ],
}


def changed(**fields):
    return {**deepcopy(SMALL), **fields}


def compiled(data, **options):
    outcome = compile_data(data, **options)
    assert outcome.compiled is not None, outcome.findings
    return outcome.compiled


@pytest.mark.rule("R2.2", "R2.3")
def test_the_snapshot_leaves_out_what_is_absent():
    assert parse(snapshot(compiled(changed(steps=SMALL["steps"][:1])))) == {
        "schemaVersion": 1,
        "workflowId": "project.small",
        "name": "Small",
        "description": "Two steps.",
        "version": "1.0.0",
        "capabilities": {},
        "features": [],
        "recommendedPreferences": {},
        "contracts": [],
        "assessments": [],
        "functions": [],
        "references": [],
        "bindings": {},
        "metaGuidance": [],
        "preconditions": [],
        "clarificationPrompts": [],
        "steps": [
            {
                "stepId": "look",
                "kind": "standard",
                "title": "Look",
                "prompt": "Read {{ticket}}.",
                "guidance": [],
                "fragments": [],
                "requireConfirmation": {"kind": "none"},
                "assessmentRefs": [],
                "consequences": [],
                "userInputs": [],
                "notesOptional": False,
                "functionRefs": [],
                "provenance": {"source": "authored"},
                "collapsed": False,
            }
        ],
    }


@pytest.mark.rule("R2.4", "C2")
def test_the_hash_depends_on_what_runs_and_on_nothing_else():
    same = workflow_hash(compiled(SMALL))

    assert workflow_hash(compiled(dict(reversed(SMALL.items())))) == same
    assert workflow_hash(compiled(changed(about="Other", tags=["x"], examples=[1]))) == same
    assert workflow_hash(compiled(changed(metricsProfile="review"))) == same
    assert workflow_hash(compiled(changed(version="1.0.1"))) != same
    steps = deepcopy(SMALL["steps"])
    steps[0]["prompt"] += " "
    assert workflow_hash(compiled(changed(steps=steps))) != same


@pytest.mark.rule("R1.39", "C1")
@pytest.mark.needs("corpora")
def test_every_published_workflow_compiles_unchanged(corpora):
    files = sorted((corpora / "workflows").rglob("*.json"))
    routines = {}
    for file in files:
        if file.parent.name == "routines":
            definition = compile_source(file.read_bytes()).definition
            assert definition is not None
            routines[template_id(definition.id)] = definition

    outcomes = {
        file.name: compile_source(file.read_bytes(), library=Library(routines)) for file in files
    }

    assert len(outcomes) == 48
    assert [name for name, one in outcomes.items() if one.compiled is None] == []
    for file in files:
        one = outcomes[file.name].compiled
        assert one is not None
        assert load(snapshot(one)) == one
        again = compiled(parse(file.read_bytes()), library=Library(routines))
        assert workflow_hash(again) == workflow_hash(one)


@pytest.mark.rule("R1.12")
def test_blocks_are_rendered_in_their_order():
    blocks = {
        "verify": ["It holds."],
        "outputRequired": {"b": "second", "a": "first"},
        "procedure": ["Do.", [{"kind": "text", "text": "See "}, {"kind": "text", "text": "it."}]],
        "constraints": ["Never guess."],
        "goal": "Find it.",
    }
    step = {"id": "a", "title": "A", "promptBlocks": blocks}

    assert compiled(changed(steps=[step])).steps[0].prompt == (
        "## Goal\nFind it.\n\n"
        "## Constraints\n- Never guess.\n\n"
        "## Procedure\n1. Do.\n2. See it.\n\n"
        "## Required output\n- **b**: second\n- **a**: first\n\n"
        "## Check before you continue\n- It holds."
    )


@pytest.mark.rule("R1.23", "R1.25")
def test_a_loop_takes_its_body_in_and_knows_what_decides():
    steps = [
        {"id": "one", "title": "One", "prompt": "{{item.name}}"},
        {
            "id": "each",
            "type": "loop",
            "title": "Each",
            "loop": {"type": "forEach", "items": "things", "itemVar": "item", "maxIterations": 5},
            "body": "one",
        },
        {
            "id": "until-good",
            "type": "loop",
            "title": "Again",
            "notesOptional": True,
            "loop": {"type": "while", "maxIterations": 3},
            "body": [
                {
                    "id": "decide",
                    "title": "Decide",
                    "prompt": "Go on?",
                    "outputContract": {"contractRef": "wr.contracts.loop_control"},
                }
            ],
        },
    ]

    each, again = compiled(changed(steps=steps)).steps

    assert (each.kind, [step.step_id for step in each.body]) == (StepKind.LOOP, ["one"])
    assert (each.loop.control, each.loop.item_var, each.loop.index_var) == (
        LoopControl.ITEMS,
        "item",
        "currentIndex",
    )
    assert each.loop.uses_item_fields
    assert again.loop.control is LoopControl.ARTIFACT
    assert again.body[0].notes_optional


@pytest.mark.rule("R1.12")
def test_line_ends_at_the_end_of_a_text_are_dropped():
    steps = [
        {"id": "a", "title": "A", "prompt": "Do it.\n\n"},
        {"id": "b", "title": "B", "promptBlocks": {"goal": "Go.\n", "verify": ["Sure.\n"]}},
        {
            "id": "c",
            "title": "C",
            "prompt": "Do it.",
            "promptFragments": [{"id": "f", "text": "More.\n"}],
        },
    ]

    first, second, third = compiled(changed(steps=steps)).steps

    assert first.prompt == "Do it."
    assert second.prompt == "## Goal\nGo.\n\n## Check before you continue\n- Sure."
    assert third.fragments[0].text == "More."


@pytest.mark.rule("R1.17")
@pytest.mark.parametrize(
    ("written", "kind", "condition"),
    [
        (False, "none", None),
        (True, "confirm", None),
        ({"var": "x"}, "confirm", {"var": "x"}),
        ({}, "confirm", None),
        ({"kind": "human_approval"}, "human_approval", None),
        (
            {"kind": "coordinator_eval", "condition": {"var": "x"}},
            "coordinator_eval",
            {"var": "x"},
        ),
    ],
)
def test_confirmation_in_all_its_forms(written, kind, condition):
    step = {**SMALL["steps"][0], "requireConfirmation": written}

    found = compiled(changed(steps=[step])).steps[0].require_confirmation

    assert (found.kind, found.condition) == (kind, condition)


@pytest.mark.rule("R1.29", "R2.4")
def test_a_contract_comes_with_its_schema_and_hints():
    step = {
        **SMALL["steps"][0],
        "output": {"contractRef": "wr.contracts.gaps", "hints": {"summary": "One line."}},
    }

    whole = compiled(changed(steps=[step]))

    use = whole.steps[0].contract
    assert use is not None
    assert (use.contract_ref, use.required, use.hints) == (
        "wr.contracts.gaps",
        True,
        {"summary": "One line."},
    )
    (contract,) = whole.contracts
    assert contract.example["kind"] == "wr.gap"
    assert contract.schema["required"] == ["kind", "severity", "summary"]


@pytest.mark.rule("R2.8")
def test_a_snapshot_of_another_version_is_not_guessed_at():
    data = snapshot(compiled(SMALL)).replace(b'"schemaVersion":1', b'"schemaVersion":2')

    with pytest.raises(ValidationFailed) as caught:
        load(data)

    assert caught.value.reason == "unknown_version"


@pytest.mark.rule("R2.5", "C2")
def test_json_and_yaml_of_equal_content_have_one_hash():
    as_json = json.dumps(SMALL, indent=2).encode()
    as_yaml = b"""
# The same in YAML.
version: 1.0.0
steps:
- {id: look, title: Look, prompt: "Read {{ticket}}."}
- id: say
  title: Say
  prompt: |
    Say it.
  requireConfirmation: true
description: Two steps.
name: Small
id: project.small
"""

    one, other = compile_source(as_json), compile_source(as_yaml, is_yaml=True)

    assert one.compiled is not None
    assert one.compiled == other.compiled
