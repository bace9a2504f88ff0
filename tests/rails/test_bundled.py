"""The bundled workflows: clean, complete, and pinned by their hashes."""

from __future__ import annotations

import pytest
from tests.rails.agent import Agent, rails_of
from tests.rails.walker import walk

from backshop.rails import Settings
from backshop.rails.catalog.catalog import Catalog
from backshop.rails.catalog.source import Places
from backshop.rails.compile import LoopControl, compile_data, load, snapshot, workflow_hash
from backshop.rails.compile.compiler import Outcome
from backshop.rails.definition.condition import variables
from backshop.rails.definition.template import paths

# A changed hash means that new runs follow another text; runs under way keep the old one (R2.6).
HASHES = {
    "wr.bug_investigation": "4ee4ba0dd38d38050c4817b162501a73ede3eec76f5d4c96471347de7c4adf5a",
    "wr.auto": "43d00788b0c8f4db79300773997c52ee55e82b9ae4ae4d22c2a9293035f71d9d",
    "wr.change_review": "c663b7bf0ec64b40b1e737215a3ea601d0d81d309671c0285c2b6f51198042af",
    "wr.data_cleanup": "11e2c9f4e0447fc617d8ea12626c005bfa7e37772b3034e058f2b5db863ad934",
    "wr.document_review": "22b91951fc3e24e006468d5688cd83180c28303b99cd8853e74c50b3f8355417",
    "wr.report_from_data": "5aae203abbd7b27b08aca4f86811d09470568e4fd10b4cbb6040e07cb4bf415b",
    "wr.routine-challenge": "6c6f91043b3e7226e5e8ca932140172fb4184787e9361364f18e9006aeaf06d5",
    "wr.routine-survey": "83f02f830aae12684dd4297734397bc7f02e18461992a16393d4c8c90f39b5cd",
    "wr.routine-verify": "9f257bfe87252870c777be35d000d41fcaa9c677dee1c657a6594091093417bb",
    "wr.rpi": "ec740f19b87f1f4adfd5ac8dd175ebd4a28bbf92ee7952a13ce2e97ffb04f942",
    "wr.spreadsheet_audit": "3e8612fa0a33534d42f22d88cbc22f743014ab9d1e5f7f6b82991108dbbae2ec",
    "wr.workflow_authoring": "8bc5f5a9f279fd719797911bce14d79f03ed80f59f62535c42eaa59c9dbae85a",
}
LISTING = Catalog(Places()).look()
GIVEN = {
    "goal",
    "prompt",
    "mode",
    "applyFix",
    "editRequested",
    "environment",
    "wr_autonomy",
    "wr_risk_policy",
}


@pytest.mark.rule("R2.4")
def test_the_hashes_are_these():
    found = {one.entry.workflow_id: one.workflow_hash for one in LISTING.workflows()}

    assert found == {key: f"sha256:{value}" for key, value in HASHES.items()}
    assert LISTING.invalid == ()
    assert LISTING.warnings == ()


@pytest.mark.parametrize("workflow_id", HASHES)
def test_each_is_clean_even_strictly(workflow_id):
    workflow = LISTING.load(workflow_id)

    strict: Outcome = compile_data(workflow.entry.parsed.data, library=LISTING.library, strict=True)

    assert strict.compiled == workflow.compiled
    assert workflow_hash(load(snapshot(workflow.compiled))) == workflow.workflow_hash
    expected = ["WW_LOOP_LIMIT_HIGH"] if workflow_id in ("wr.auto", "wr.rpi") else []
    assert [one.code for one in strict.findings] == expected


@pytest.mark.parametrize("workflow_id", HASHES)
def test_each_reads_only_context_that_some_step_asks_for(workflow_id):
    """A key that a condition, loop or token reads is named in the text of an earlier step."""
    workflow = LISTING.load(workflow_id)
    said = ""
    for step in workflow.compiled.walk():
        read = set(variables(step.run_condition))
        if step.loop is not None and step.loop.control is LoopControl.ITEMS:
            read.add(str(step.loop.items))
        for fragment in step.fragments:
            read |= set(variables(fragment.when))
        for key in read - GIVEN:
            assert f"`{key}`" in said, f"{step.step_id} reads {key}"
        said += step.prompt + "\n".join(step.guidance)


@pytest.mark.rule("W13.1", "W13.3")
def test_rpi_has_the_steps_the_workshop_walks():
    compiled = LISTING.load("wr.rpi").compiled
    research, plan, items, summary = compiled.steps

    assert (research.step_id, plan.step_id, items.step_id, summary.step_id) == (
        "research",
        "plan",
        "items",
        "summary",
    )
    assert plan.run_condition == items.run_condition == {"var": "mode", "not_equals": "ask"}
    assert items.loop is not None
    assert items.body is not None
    (implement,) = items.body
    loop = items.loop
    assert (loop.items, loop.item_var, loop.index_var, loop.max_iterations) == (
        "plan_items",
        "item",
        "item_index",
        200,
    )
    assert set(paths(implement.title)) == {"item.number", "item.label"}
    assert [
        step.contract.contract_ref
        for step in (research, plan, implement, summary)
        if step.contract is not None
    ] == [
        "wr.contracts.rpi_research",
        "wr.contracts.rpi_plan",
        "wr.contracts.rpi_item_result",
        "wr.contracts.rpi_summary",
    ]
    assert LISTING.find("rpi").workflow_id == "wr.rpi"


@pytest.mark.parametrize("preset", ["guided", "full_auto", "full_auto_nonstop"])
def test_each_is_walked_to_its_end_by_an_agent_that_knows_none_of_them(tmp_path, preset):
    agent = Agent(rails_of(tmp_path, settings=Settings(preset=preset)))

    walks = {name: walk(agent.call, name, ask=agent.approve) for name in HASHES}

    assert [one for one, found in walks.items() if not found.is_complete] == []
    assert walks["wr.rpi"].steps[0] == "research"
    assert walks["wr.rpi"].steps[-1] == "summary"
