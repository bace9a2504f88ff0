"""Contract packs: schemas are sound and examples satisfy them."""

from __future__ import annotations

import jsonschema
import pytest

from backshop.base.canon import canonical
from backshop.rails.packs import PACKS
from backshop.rails.run.contract import conforms

KINDS = {  # the table of R8.24
    "assessment": "wr.assessment",
    "capability_observation": "wr.capability_observation",
    "changed_files": "mr_review.changed_files",
    "coding_handoff": "wr.coding_handoff",
    "coordinator_signal": "wr.coordinator_signal",
    "differentiation_handoff": "wr.differentiation_handoff",
    "discovery_handoff": "wr.discovery_handoff",
    "auto_work": "workshop.work",
    "findings": "mr_review.findings",
    "gaps": "wr.gap",
    "gate_verdict": "wr.gate_verdict",
    "loop_control": "wr.loop_control",
    "review_verdict": "wr.review_verdict",
    "rpi_item_result": "workshop.item_result",
    "rpi_plan": "workshop.plan",
    "rpi_research": "workshop.research",
    "rpi_summary": "workshop.summary",
    "shaping_handoff": "wr.shaping_handoff",
    "user_input": "wr.user_input",
    "verification_report": "wr.verification_report",
    "workflow_divergence": "wr.workflow_divergence",
    "working_agreement_patch": "working_agreement_patch",
}


@pytest.mark.rule("R8.24", "R11.4")
def test_the_contracts_are_these():
    assert {ref: pack.kind for ref, pack in PACKS.items()} == {
        f"wr.contracts.{name}": kind for name, kind in KINDS.items()
    }


@pytest.mark.rule("R8.24")
def test_a_text_of_an_artifact_has_at_most_its_length():
    said = {"kind": "wr.loop_control", "decision": "stop"}
    found = [conforms("wr.loop_control", {**said, "summary": "x" * size}) for size in (1024, 1025)]

    assert (found[0], len(found[1])) == ([], 1)


@pytest.mark.rule("R8.24")
@pytest.mark.parametrize("ref", PACKS)
def test_the_example_satisfies_its_schema(ref):
    pack = PACKS[ref]
    jsonschema.Draft202012Validator.check_schema(pack.schema)
    validator = jsonschema.Draft202012Validator(pack.schema)

    assert list(validator.iter_errors(pack.example)) == []
    assert list(validator.iter_errors({**pack.example, "extra": 1})) == []
    assert list(validator.iter_errors({"kind": pack.kind})) != []
    assert list(validator.iter_errors({**pack.example, "kind": "other"})) != []
    canonical(pack.schema)
