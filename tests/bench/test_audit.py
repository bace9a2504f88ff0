"""The audit log: one entry for each change, notes for what was refused, no content in it."""

from __future__ import annotations

import pytest

from backshop.base.errors import BackshopError
from backshop.bench import TOOLS, Workspace
from backshop.prompts import ToolContext, invoke

from .conftest import AGENT


def entries(room, *kinds: str):
    return room.call("AuditList", **({"kinds": list(kinds)} if kinds else {}))["entries"]


@pytest.mark.rule("B17.1", "B17.2", "B1.2")
def test_changes_are_named_for_what_they_are(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.add({"a.txt": "more"}, on_conflict="replace")
    room.write({"a.txt": "draft", "c.txt": "new"})
    (room.shop.config.home / "benches" / room.id / "draft" / "d.txt").write_text("theirs")
    room.call("DraftRescan", mode="adopt")
    room.call("DraftDeletePath", path="b.txt")
    with pytest.raises(BackshopError):
        room.call("DraftPublish")
    room.call("ReviewSetDeletionConfirmations", paths=["b.txt"])
    room.call("DraftPublish")
    fork = room.shop.call("WorkbenchFork", {"workbench_id": room.id})

    kinds = [one["kind"] for one in entries(room)]
    assert kinds == [
        *("bench_created", "files_added", "checkpoint_created", "files_replaced"),
        *("draft_created", "batch_applied", "draft_rescanned", "batch_applied"),
        *("publish_failed", "deletions_confirmed", "checkpoint_created", "draft_published"),
    ]
    failed = entries(room, "publish_failed")[0]
    assert (failed["error"], failed["actor"]) == ("CONFIRMATION_REQUIRED", "user")
    published = entries(room, "draft_published")[0]
    assert published["counts"] == {"added": 2, "modified": 1, "deleted": 1, "renamed": 0}
    assert entries(room, "files_added")[0]["counts"] == {"paths": 2}
    made, done = (entries(room, kind)[-1]["refs"] for kind in ("checkpoint_created", kinds[-1]))
    assert [ref for ref in made if ref.startswith("tx_id")] == [
        ref for ref in done if ref.startswith("tx_id")
    ]
    forked = room.shop.call("AuditList", fork)["entries"][0]
    assert (forked["kind"], f"parent_bench_id={room.id}" in forked["refs"]) == (
        "bench_forked",
        True,
    )


@pytest.mark.rule("B4.10", "B17.2", "B22.13")
def test_paths_an_agent_may_not_use_are_noted_and_not_for_ever(room):
    room.add({"a.txt": "one"})
    context = ToolContext(workspace=Workspace(room.shop.benches, room.id, AGENT))
    write = next(tool for tool in TOOLS if tool.name == "write_text_file")
    before = room.call("WorkbenchOpen")["workbench"]["published_generation"]

    for path in ["../x", "/etc/x", "a\\b", "a/../b", "a//b", *(f"../{n}" for n in range(40))]:
        result = invoke(write, write.decode({"path": path, "content": "x"}), context=context)
        assert not result.ok

    noted = entries(room, "tool_refused")
    assert [one["paths"] for one in noted[:5]] == [
        *(["../x"], ["/etc/x"], ["a\\b"], ["a/../b"], ["a//b"]),
    ]
    assert {(one["error"], one["actor"]) for one in noted} == {("VALIDATION_FAILED", "agent")}
    assert len(noted) == 20
    assert room.call("WorkbenchOpen")["workbench"]["published_generation"] == before


@pytest.mark.rule("B4.7", "B22.14")
def test_a_link_in_a_view_is_replaced_and_noted(room, tmp_path):
    room.add({"d/a.txt": "one", "b.txt": "two"}, recursive=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("untouched")
    folder = room.shop.config.home / "benches" / room.id / "published"
    shown = room.on_disk("published")
    name = next(iter(shown))
    (folder / name).unlink()
    (folder / name).symlink_to(elsewhere / "a.txt")

    opened = room.call("WorkbenchOpen")

    assert opened["recovery"] == ["published_anomaly_replaced"]
    assert room.on_disk("published") == shown
    assert not (folder / name).is_symlink()
    assert (elsewhere / "a.txt").read_text() == "untouched"
    assert [one["paths"] for one in entries(room, "sandbox_anomaly")] == [[name]]
    assert room.call("WorkbenchOpen")["recovery"] == []


@pytest.mark.rule("B17.3")
def test_no_content_is_in_the_log(room):
    room.add({"a.txt": "a secret of the house"})
    room.write({"a.txt": "another secret"})
    room.call("DraftPublish")

    text = room.call("AuditExport")["jsonl"]

    assert "secret" not in text
    assert text.count("\n") == len(entries(room))
