"""The bundled workflows: clean, complete, and pinned by their hashes."""

from __future__ import annotations

import pytest

from backshop.rails.catalog import Catalog
from backshop.rails.compile import LoopControl, compile_data, load, snapshot, workflow_hash
from backshop.rails.compile.compiler import Outcome
from backshop.rails.conditions import variables
from backshop.rails.sources import Places
from backshop.rails.template import paths
from backshop.testing.agent import Agent, rails_of
from backshop.testing.walker import walk

# A changed hash means that new runs follow another text; runs under way keep the old one (R2.6).
HASHES = {
    "wr.bug_investigation": "1f2d6024541cc9bb3b3c3c19f40da06cdd4d83bae6120be163a66a1008e188fc",
    "wr.change_review": "7f7d4b833e1b994a76572b572a5af07448492f903cd9d4afbc6f8a670c56e060",
    "wr.data_cleanup": "cde0f7a8e6bc4413a34f64661ebb4a651959980403c6407c8dfde6f6164c8f3e",
    "wr.document_review": "00b7fc630ad5e97837b240059da20d9451fc10409a0233cbff813a081a7d6b34",
    "wr.report_from_data": "733545fafa47a4c0f6d1796fd6d0d0d1d3b98a6a2178126ea28e48c8796fbff5",
    "wr.routine-challenge": "6c6f91043b3e7226e5e8ca932140172fb4184787e9361364f18e9006aeaf06d5",
    "wr.routine-survey": "83f02f830aae12684dd4297734397bc7f02e18461992a16393d4c8c90f39b5cd",
    "wr.routine-verify": "9b87b2d06c98df67319de8fc5d4a794c34325574d0325123db169dcae3b10c3c",
    "wr.rpi": "c40d52b9000d65eb5340f8b98566a58f6055aabe45f275fa011e7117d9abbc94",
    "wr.spreadsheet_audit": "7c4bee971ed8abcbbc1029dc0f5e419f29f77e04278b7c25deacd94b72a1ec96",
    "wr.workflow_authoring": "39993f352e0408cc0e8af2f160e13722ef35c33c3a8684cf53a0f3c8178fe1fd",
}
LISTING = Catalog(Places()).look()
GIVEN = {"mode", "applyFix", "editRequested", "environment", "wr_autonomy", "wr_risk_policy"}


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
    expected = ["WW_LOOP_LIMIT_HIGH"] if workflow_id == "wr.rpi" else []
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
    assert LISTING.find("rpi").entry.workflow_id == "wr.rpi"


@pytest.mark.parametrize("mode", ["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"])
def test_each_is_walked_to_its_end_by_an_agent_that_knows_none_of_them(tmp_path, mode):
    agent = Agent(rails_of(tmp_path))

    walks = {workflow_id: walk(agent.call, workflow_id, autonomy=mode) for workflow_id in HASHES}

    assert [one for one, found in walks.items() if not found.is_complete] == []
    assert walks["wr.rpi"].steps[0] == "research"
    assert walks["wr.rpi"].steps[-1] == "summary"
