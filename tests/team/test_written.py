"""What people of a team write, workflows and prompt overrides, is there at every machine (T6.1)."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from tests.postgres import fresh_database

from backshop.app import Backshop
from backshop.cli import main
from backshop.rails import RailsError, Shelf
from backshop.rails.catalog.team_workflow import STREAM

GOOD = {
    "id": "our.check",
    "name": "Good",
    "description": "For tests.",
    "version": "1.0.0",
    "steps": [{"id": "a", "title": "A", "prompt": "Do it."}],
}
NAMES = {"namespace": "backshop/workshop", "key": "research"}


@pytest.fixture
def pair(tmp_path, monkeypatch) -> Iterator[tuple[Backshop, Backshop]]:
    with ExitStack() as stack:
        monkeypatch.setenv("BACKSHOP_DATABASE_URL", stack.enter_context(fresh_database()))
        monkeypatch.setenv("BACKSHOP_BLOBS_URL", f"file://{tmp_path}/contents")
        homes = (tmp_path / "first", tmp_path / "second")
        first, second = (stack.enter_context(Backshop.open(home)) for home in homes)
        yield first, second


def listed(shop: Backshop) -> set[str]:
    found = shop.call("list_workflows", {})["workflows"]
    return {one["workflowId"] for one in found if not one["workflowId"].startswith("wr.")}


def begun(shop: Backshop, workflow_id: str = "our.check") -> str:
    shop.call("RailsWorkflowNew", {"workflowId": workflow_id, "target": "user"})
    return str(shop.call("RailsWorkflowSource", {"workflowId": workflow_id})["source"])


def save(shop: Backshop, text: str, expected: str) -> str:
    request = {"source": text, "target": "user", "expectedHash": expected}
    return str(shop.call("RailsWorkflowSave", request)["sourceHash"])


@pytest.mark.rule("T6.1", "R3.2", "R3.10")
def test_a_workflow_saved_at_one_server_is_changed_at_another(pair):
    first, second = pair
    text = begun(first)
    assert listed(second) == {"our.check"}

    found = second.call("RailsWorkflowSource", {"workflowId": "our.check"})
    assert found["source"] == text
    newer = text + "\n# said by the second\n"
    save(second, newer, found["sourceHash"])

    assert first.call("RailsWorkflowSource", {"workflowId": "our.check"})["source"] == newer
    with pytest.raises(RailsError) as stale:
        save(first, text + "\n# said too late\n", found["sourceHash"])
    assert stale.value.rails_code == "PRECONDITION_FAILED"
    assert first.call("RailsWorkflowSource", {"workflowId": "our.check"})["source"] == newer


@pytest.mark.rule("T6.1", "R3.10")
def test_of_two_who_save_at_the_same_moment_the_later_one_is_told(pair, monkeypatch):
    first, second = pair
    text = begun(first)
    known = first.call("RailsWorkflowSource", {"workflowId": "our.check"})["sourceHash"]
    keep = Shelf.keep

    def late(shelf, *args, **kwargs):
        monkeypatch.setattr(Shelf, "keep", keep)
        save(second, text + "\n# was first\n", known)
        keep(shelf, *args, **kwargs)

    monkeypatch.setattr(Shelf, "keep", late)
    with pytest.raises(RailsError) as refused:
        save(first, text + "\n# was second\n", known)

    assert refused.value.rails_code == "PRECONDITION_FAILED"
    for shop in pair:
        found = shop.call("RailsWorkflowSource", {"workflowId": "our.check"})["source"]
        assert found.endswith("# was first\n")


@pytest.mark.rule("T6.1", "R3.10")
def test_a_definition_that_gets_another_spelling_leaves_no_second_file(pair):
    first = pair[0]
    begun(first)
    first.call("RailsWorkflowSave", {"source": json.dumps(GOOD), "target": "user"})

    for shop in pair:
        found = shop.call("RailsWorkflowSource", {"workflowId": "our.check"})
        assert found["format"] == "json"
        assert shop.call("list_workflows", {}).get("warnings", []) == []


def delete(shop: Backshop, workflow_id: str = "our.check", **wish: str) -> dict[str, str]:
    request = {"workflowId": workflow_id, "target": "user", **wish}
    return dict(shop.call("RailsWorkflowDelete", request))


@pytest.mark.rule("T6.1", "R3.10", "R2.6", "C40")
def test_a_workflow_deleted_at_one_server_is_gone_everywhere_and_its_runs_go_on(pair):
    first, second = pair
    save(first, json.dumps(GOOD), "")
    own = second.config.home / "workflows"
    own.mkdir(exist_ok=True)
    (own / "mine.json").write_text(json.dumps({**GOOD, "name": "Mine"}))
    run = first.call("start_workflow", {"workflowId": "our.check", "goal": "Go on"})

    gone = delete(second)

    assert gone["uncovered"] == "user-2:mine.json"
    assert listed(first) == set()
    assert not list((first.config.home / "cache" / "workflows").iterdir())
    assert (
        second.call("inspect_workflow", {"workflowId": "our.check"})["metadata"]["name"] == "Mine"
    )
    again = first.call("continue_workflow", {"stateToken": run["stateToken"]})
    assert again["pending"]["stepId"] == run["pending"]["stepId"]
    with pytest.raises(RailsError) as twice:
        delete(first)
    assert twice.value.rails_code == "WORKFLOW_NOT_FOUND"
    save(first, json.dumps(GOOD), "")
    assert listed(second) == {"our.check"}


@pytest.mark.rule("T6.1", "R3.10")
def test_who_deletes_what_another_one_just_saved_is_told(pair, monkeypatch):
    first, second = pair
    text = begun(first)
    known = first.call("RailsWorkflowSource", {"workflowId": "our.check"})["sourceHash"]
    remove = Shelf.remove

    def late(shelf, *args, **kwargs):
        monkeypatch.setattr(Shelf, "remove", remove)
        save(second, text + "\n# was first\n", known)
        remove(shelf, *args, **kwargs)

    monkeypatch.setattr(Shelf, "remove", late)
    with pytest.raises(RailsError) as refused:
        delete(first, expectedHash=known)

    assert refused.value.rails_code == "PRECONDITION_FAILED"
    assert listed(first) == listed(second) == {"our.check"}


@pytest.mark.rule("T6.1", "R3.10", "R7.26")
def test_a_save_that_this_machine_cannot_show_has_happened_and_is_said(pair, monkeypatch, caplog):
    first, second = pair

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    with first.hub.subscribe() as news:
        with monkeypatch.context() as patch:
            patch.setattr("backshop.rails.catalog.team_workflow.put_file", full)
            saved = save(first, json.dumps(GOOD), "")
        told = news.wait(5.0)

    assert [one.name for one in told] == ["RailsWorkflowsChanged"]
    assert "DISK_FULL" in caplog.text
    for shop in (second, first):
        found = shop.call("RailsWorkflowSource", {"workflowId": "our.check"})
        assert found["sourceHash"] == saved


@pytest.mark.rule("T6.1", "P3.17")
def test_overrides_set_at_one_server_are_used_at_another_and_pins_are_not_among_them(pair):
    first = pair[0]
    bench = first.call("WorkbenchCreateSample", {})["workbench_id"]
    first.call("DigestSet", {"workbench_id": bench, "body": "Only here.", "pin": True})
    first.call("PromptOverridesSet", {**NAMES, "section": "phase", "body": "Be brief."})

    for shop in pair:
        rows = shop.call("PromptOverridesList", {})["tags"]
        assert [(one["key"], one["tag"]) for one in rows] == [("research", "latest")]
        assert "Be brief." in shop.call("PromptsRender", NAMES)["text"]


@pytest.mark.rule("T5.4", "T6.1")
def test_a_backup_of_a_team_brings_its_workflows_to_one_machine(pair, tmp_path, monkeypatch):
    begun(pair[0])
    copy = tmp_path / "copy"
    pair[1].call("StoreBackup", {"path": str(copy)})
    for name in ("BACKSHOP_DATABASE_URL", "BACKSHOP_BLOBS_URL"):
        monkeypatch.delenv(name)

    assert main(["restore", str(copy), "--home", str(tmp_path / "alone")]) == 0

    with Backshop.open(tmp_path / "alone") as shop:
        assert listed(shop) == {"our.check"}
        assert shop.store.position(STREAM) == 0
        begun(shop, "our.other")
        assert listed(shop) == {"our.check", "our.other"}
