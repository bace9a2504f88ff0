"""Checkpoints as records: what they hold, who may make them, what they are called (B10)."""

from __future__ import annotations

import re

import pytest

from backshop.app import Backshop
from backshop.base.errors import DiskFull
from backshop.store import Store

from .conftest import Room
from .test_story import refused

ID = re.compile(r"(wb|cp|draft|rev|msg|batch|tx|file)_[0-9A-Z]{26}")
IN_ANY_SCRIPT = (
    "پیش از گزارش\u200cها",  # letters that must not be joined
    "avant\u00a0: l'audit",
    "\U0001f469\u200d\U0001f4bb and \U0001f600",  # a face of two, joined
)


def checkpoints(room: Room) -> list[dict[str, object]]:
    return list(room.call("CheckpointsList")["checkpoints"])


@pytest.mark.rule("B10.1", "B10.3", "B10.5", "B2.9")
def test_a_checkpoint_records_what_is_there_and_copies_nothing(room):
    room.add({"a.txt": "one", "b.txt": "three"})
    blobs = set(room.shop.store.blobs.names())
    state = room.shop.benches.desk.state(room.id)

    made = room.call("CheckpointCreate", description="  before the audit ")
    plain = room.call("CheckpointCreate")

    record = room.shop.benches.desk.state(room.id).checkpoint(made["checkpoint_id"])
    assert (record.tree, record.context_tree) == (state.published, state.context_tree)
    assert (record.generation, record.conversation_head_id) == (state.generation, None)
    assert record.event_seq == room.shop.store.last_seq() - 1
    assert (record.file_count, record.total_bytes) == (2, 8)
    newest, first = checkpoints(room)
    assert newest["checkpoint_id"] == plain["checkpoint_id"]
    assert (first["reason"], first["description"]) == ("manual", "before the audit")
    assert (first["pinned"], first["actor"], first.get("trigger")) == (False, "user", None)
    assert newest["description"] == "Manual checkpoint"
    assert set(room.shop.store.blobs.names()) == blobs
    for reason in ("publish", "auto", "pre_restore", "other", ""):
        assert refused(room.call, "CheckpointCreate", reason=reason)[0] == "VALIDATION_FAILED"
    for text in ("x" * 201, "two\nlines", "two\u2028lines", "turned \u202eround", "bell\a"):
        code = refused(room.call, "CheckpointCreate", description=text)
        assert code == ("VALIDATION_FAILED", "bad_description")
    assert len(checkpoints(room)) == 2
    for text in IN_ANY_SCRIPT:
        room.call("CheckpointCreate", description=text)
        assert checkpoints(room)[0]["description"] == text


@pytest.mark.rule("B10.4", "B10.2", "B10.14")
def test_checkpoints_that_come_by_themselves_are_named_in_words(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.call("WorkbenchFilesRemove", workbench_paths=["b.txt"])
    room.add({"a.txt": "more"}, on_conflict="replace")
    room.call("WorkbenchFileRename", path="a.txt", new_path="c.txt")
    room.write({"c.txt": "draft"})
    room.write({"c.txt": "draft 2"})  # revisions are no checkpoints
    room.call("DraftPublish")
    publish = checkpoints(room)[0]["checkpoint_id"]
    room.call("CheckpointRestore", checkpoint_id=publish)

    found = [(c["reason"], c.get("trigger"), c["description"]) for c in checkpoints(room)]

    assert [(reason, trigger) for reason, trigger, _ in found] == [
        ("pre_restore", None),
        ("publish", None),
        ("auto", "before_rename"),
        ("auto", "before_replace"),
        ("auto", "before_remove"),
    ]
    texts = [str(text) for _, _, text in found]
    assert texts[0].startswith("Before restoring 20")
    assert texts[1] == "Before publish"
    assert all(text.startswith("Before ") and not ID.search(text) for text in texts)


@pytest.mark.rule("B10.7", "B9.6")
def test_what_needs_a_checkpoint_that_cannot_be_kept_does_not_happen(room, monkeypatch):
    room.add({"a.txt": "one", "b.txt": "two"})
    before = (room.published(), checkpoints(room), room.shop.store.last_seq())

    def full(*_: object, **__: object) -> None:
        raise DiskFull("the disk is full", reason="disk_full")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "update", full)
        for name, request in (
            ("WorkbenchFilesRemove", {"workbench_paths": ["a.txt"]}),
            ("WorkbenchFileRename", {"path": "a.txt", "new_path": "z.txt"}),
            ("CheckpointCreate", {}),
        ):
            assert refused(room.call, name, **request) == ("DISK_FULL", "disk_full"), name

    assert (room.published(), checkpoints(room), room.shop.store.last_seq()) == before
    assert room.on_disk("published") == before[0]


@pytest.mark.rule("B10.6", "B3.2")
def test_a_change_that_stands_is_not_refused_because_nothing_could_be_let_go(tmp_path, monkeypatch):
    settings = {"bench.checkpoint_max_bytes": 1}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "one"})
        real, calls = Store.update, []

        def second_fails(self, *args, **more):
            calls.append(args)
            if len(calls) == 2:
                raise DiskFull("the disk is full", reason="disk_full")
            return real(self, *args, **more)

        with monkeypatch.context() as patched:
            patched.setattr(Store, "update", second_fails)
            done = room.add({"a.txt": "two"}, on_conflict="replace")

        assert len(calls) == 2
        assert done["add_results"][0]["status"] == "updated"
        assert (room.published(), len(checkpoints(room))) == ({"a.txt": "two"}, 1)
        room.add({"a.txt": "three"}, on_conflict="replace")
        assert checkpoints(room) == []  # let go with the next change


def contents(room: Room) -> dict[str, str]:
    state = room.shop.benches.desk.state(room.id)
    files = room.shop.benches.desk.entries(state.published)
    blobs = room.shop.store.blobs
    return {path: blobs.read(file.sha256).decode() for path, file in files.items()}


@pytest.fixture
def edited(room):
    """A bench whose two files were published again since its first checkpoint."""
    room.add({"a.txt": "one", "b.txt": "two", "old.txt": "old"})
    kept = room.call("CheckpointCreate", description="first")["checkpoint_id"]
    room.write({"a.txt": "changed", "b.txt": "changed too", "new.txt": "new"})
    room.call("DraftPublish")
    room.call("WorkbenchFilesRemove", workbench_paths=["old.txt"])
    return room, kept


@pytest.mark.rule("B27.1", "B27.2", "B27.3", "B9.15")
def test_one_file_comes_back_and_everything_else_stays(edited):
    room, kept = edited
    before, count = contents(room), len(checkpoints(room))
    head = room.shop.benches.desk.state(room.id).conversation_head_id

    foretold = room.call("CheckpointRestore", checkpoint_id=kept, path="a.txt", dry_run=True)
    untouched = contents(room)
    done = room.call("CheckpointRestore", checkpoint_id=kept, path="a.txt")
    again = room.call("CheckpointRestore", checkpoint_id=kept, path="a.txt")

    state = room.shop.benches.desk.state(room.id)
    assert (foretold["dry_run"], untouched) == (True, before)
    assert [(one["path"], one["kind"]) for one in foretold["changed"]] == [("a.txt", "MODIFIED")]
    assert [one["verified"] for one in done["changed"]] == [True]
    assert contents(room) == {**before, "a.txt": "one"}
    assert state.files.total_bytes == sum(len(text) for text in contents(room).values())
    assert state.conversation_head_id == head
    assert (again.get("changed") or [], len(checkpoints(room))) == ([], count + 1)
    newest = checkpoints(room)[0]
    assert newest["checkpoint_id"] == done["pre_restore_checkpoint_id"]
    assert (newest["reason"], newest["trigger"]) == ("auto", "before_restore")
    assert newest["description"] == "Before restoring a.txt"
    room.call("CheckpointRestore", checkpoint_id=newest["checkpoint_id"])
    assert contents(room) == before
    kinds = [one["kind"] for one in room.call("AuditList")["entries"]]
    assert kinds.count("files_restored") == 1


@pytest.mark.rule("B27.1", "B27.4")
def test_a_deleted_file_comes_back_with_where_it_came_from(edited):
    room, kept = edited

    room.call("CheckpointRestore", checkpoint_id=kept, path="old.txt")

    listed = {one["path"]: one for one in room.call("WorkbenchFilesList")["files"]}
    assert contents(room)["old.txt"] == "old"
    assert listed["old.txt"]["origin"] == "import"
    assert listed["old.txt"]["import_sha256"] == listed["old.txt"]["sha256"]


@pytest.mark.rule("B27.2")
def test_one_file_is_refused_like_a_whole_checkpoint_and_nothing_changes(edited):
    room, kept = edited
    before = contents(room)

    absent = refused(room.call, "CheckpointRestore", checkpoint_id=kept, path="new.txt")
    tricky = refused(room.call, "CheckpointRestore", checkpoint_id=kept, path="../a.txt")
    room.write({"a.txt": "in a Draft"})
    waits = refused(room.call, "CheckpointRestore", checkpoint_id=kept, path="a.txt")

    assert (absent, waits[0]) == (("NOT_FOUND", "not_found"), "DRAFT_EXISTS")
    assert tricky[0] == "VALIDATION_FAILED"
    assert contents(room) == before
