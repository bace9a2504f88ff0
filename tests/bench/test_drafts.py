"""The Draft and its revisions: states, activity, batches; what no agent can do (B7, B8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backshop.app import About, Backshop
from backshop.base.ambient import Mint, SystemClock
from backshop.base.ids import MessageId
from backshop.bench import ANSWERS, TOOLS, Author, Put, Source
from backshop.testing.ambient import FixedClock

from .conftest import AGENT, BY_NAME, Room
from .test_story import refused

MINUTE_MS = 60_000


def state(room: Room) -> Any:
    return room.call("DraftGetState")


@pytest.mark.rule("B7.1", "B7.2", "B7.4", "B8.1")
def test_a_draft_comes_and_goes_by_the_ways_there_are(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    assert state(room)["state"] == "NO_DRAFT"

    made = room.write({"a.txt": "1", "b.txt": "2"})  # one batch of two operations
    found = state(room)
    record = room.shop.benches.desk.state(room.id)

    assert (found["state"], found["source"]) == ("DRAFT_READY", "workshop:turn")
    assert (found["draft_id"], found["revision_id"]) == (made.draft_id, made.draft_revision_id)
    assert found["base_generation"] == record.generation == 1
    assert record.draft.base_tree == record.published
    assert found["tree"] == record.draft.tree
    batches = room.call("AuditList", kinds=["batch_applied"])["entries"]
    assert [one["paths"] for one in batches] == [["a.txt", "b.txt"]]
    room.write({"a.txt": "11"})
    assert state(room)["draft_id"] == made.draft_id
    assert room.shop.benches.desk.state(room.id).draft.base_tree == record.published
    room.call("DraftPublish")
    assert state(room)["state"] == "NO_DRAFT"
    room.call("DraftCreate")
    assert (state(room)["state"], state(room)["source"]) == ("DRAFT_READY", "system")
    room.call("DraftDiscard")
    assert state(room)["state"] == "NO_DRAFT"


@pytest.mark.rule("B7.2", "B9.12")
def test_a_publish_that_is_refused_leaves_the_draft_ready(room):
    room.add({"a.txt": "one"})
    room.call("DraftCreate")
    room.call("DraftDeletePath", path="a.txt")
    before = state(room)

    refused(room.call, "DraftPublish")

    assert state(room) == before
    assert room.published() == {"a.txt": "one"}


@pytest.mark.rule("B7.5", "B1.4")
def test_writing_is_activity_and_looking_is_not(tmp_path):
    clock = FixedClock()
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "one", "b.txt": "two"})

        def activity(act) -> bool:
            before = state(room)["last_activity_at"] if room.draft() is not None else ""
            clock.move(MINUTE_MS)
            act()
            return bool(state(room)["last_activity_at"] > before)

        assert activity(lambda: room.write({"a.txt": "1"}))
        created = state(room)["created_at"]
        assert created == state(room)["last_activity_at"]
        assert not activity(lambda: room.call("ReviewGetChangeSet"))
        assert not activity(lambda: room.call("ReviewGetDiff", path="a.txt"))
        assert not activity(lambda: room.call("WorkbenchOpen"))
        assert not activity(lambda: room.call("WorkbenchRename", new_name="Other"))
        assert activity(lambda: room.call("DraftDeletePath", path="b.txt"))
        assert activity(lambda: room.call("ReviewSetDeletionConfirmations", paths=["b.txt"]))
        first = shop.benches.desk.state(room.id).revisions.kept[1].revision_id
        assert activity(lambda: room.call("DraftRestoreRevision", revision_id=first))
        (shop.config.home / "benches" / room.id / "draft" / "c.txt").write_text("theirs")
        assert activity(lambda: room.call("DraftRescan", mode="adopt"))
        assert state(room)["created_at"] == created


@pytest.mark.rule("B8.8", "B4.4", "B22.15", "B22.16")
def test_a_path_is_written_to_only_as_it_is_spelled(room):
    room.add({"report.docx": "x", "a/b.txt": "one"}, recursive=True)
    room.write({"b.txt": "two"})
    before = (room.draft(), state(room))

    for path in ("Report.docx", "B.TXT", "b.txt/c"):
        code = refused(room.write, {path: "three"})
        assert code == ("VALIDATION_FAILED", "path_collision"), path

    assert (room.draft(), state(room)) == before
    room.write({"b.txt": "three"})
    assert room.draft()["b.txt"] == "three"


@pytest.mark.rule("B8.13", "B8.11")
def test_a_revision_that_is_bound_to_a_message_is_announced(room):
    room.add({"a.txt": "one"})
    message = MessageId(Mint(SystemClock()).new("msg"))
    with room.shop.hub.subscribe(About(workbench_id=room.id)) as live:
        made = room.write({"a.txt": "two"}, replace(AGENT, message_id=message))
        told: list[Any] = []
        while not told:
            told = [one for one in live.wait(60) if one.name == "WorkshopDraftRevisionCreated"]

    assert told[0].params == {
        "workbench_id": room.id,
        "position": told[0].position,
        "draft_revision_id": made.draft_revision_id,
        "message_id": message,
    }
    kept = room.shop.benches.desk.state(room.id).revision(made.draft_revision_id)
    assert (kept.message_id, kept.kind, kept.draft_id) == (message, "batch", made.draft_id)


@pytest.mark.rule("B9.1", "B8.7", "B1.2")
def test_no_tool_of_an_agent_publishes_deletes_or_renames(room):
    names = {tool.name for tool in TOOLS} | set(BY_NAME) | set(ANSWERS)  # built in, and over MCP
    person = ("publish", "discard", "delete", "rename", "checkpoint", "restore", "confirm")
    assert [name for name in names if any(word in name for word in person)] == []
    assert {"write_text_file", "review_draft"} <= names
    agent = Author(source=Source(kind="workshop", ref="turn"))
    room.add({"a.txt": "one"})
    code = ("VALIDATION_FAILED", "delete_not_allowed")
    assert refused(room.write, {"a.txt": None}, agent) == code
    content = room.shop.store.blobs.put(b"one")
    moved = [Put(path="b.txt", blob=content, size=3, old_path="a.txt")]
    assert refused(room.shop.benches.apply_batch, room.id, moved, agent) == code


@pytest.mark.rule("W13.9")
def test_an_agent_of_another_program_writes_into_no_draft_of_a_turn(room):
    theirs = replace(AGENT, source=Source(kind="workshop", ref="mcp"), actor="mcp:agent")
    room.write({"a.txt": "of the turn"})

    assert refused(room.write, {"b.txt": "x"}, theirs) == ("DRAFT_EXISTS", "draft_exists")
    assert room.draft() == {"a.txt": "of the turn"}
    room.call("DraftDiscard")
    room.write({"b.txt": "x"}, theirs)
    room.write({"b.txt": "y"}, theirs)
    assert room.draft() == {"b.txt": "y"}


@pytest.mark.rule("B9.11")
def test_a_draft_without_changes_publishes_as_nothing(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    room.write({"a.txt": "one"})

    done = room.call("DraftPublish")

    assert (done["no_changes"], done.get("checkpoint_id")) == (True, None)
    assert done["published_generation"] == 1
    assert room.call("CheckpointsList")["checkpoints"] == []
    assert (state(room)["state"], room.published()) == ("NO_DRAFT", {"a.txt": "one"})
    room.write({"a.txt": "two"})
    done = room.call("DraftPublish")
    assert done["no_changes"] is False
    assert done["checkpoint_id"].startswith("cp_")
    assert (done["published_generation"], done["warnings"]) == (2, [])
    assert done["published_at"].endswith("Z")


@pytest.mark.rule("B9.4", "B9.5")
def test_a_draft_left_behind_says_so(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    assert state(room).get("stale_reason") is None
    (room.shop.config.home / "benches" / room.id / "published" / "b.txt").write_text("theirs")
    room.call("PublishedRepair", mode="adopt")
    assert state(room)["stale_reason"] == "published_changed"


@pytest.mark.rule("B9.7", "B9.8", "B2.8", "B2.1")
def test_after_a_publish_folders_and_notes_show_it_and_nothing_is_left(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.write({"a.txt": "ONE"})
    folder = room.shop.config.home / "benches" / room.id
    assert {path.name for path in folder.iterdir()} >= {"published", "draft", "meta"}
    assert {path.name for path in (folder / "meta").glob("*.json")} == {
        *("workbench.json", "draft.json", "view.json"),
    }

    room.call("DraftPublish")

    assert room.on_disk("published") == {"a.txt": "ONE", "b.txt": "two"}
    assert not (folder / "draft").exists()
    assert {path.name for path in (folder / "meta").glob("*.json")} == {
        *("workbench.json", "view.json"),
    }
    assert not list((folder / "meta" / "tmp").glob("*"))
