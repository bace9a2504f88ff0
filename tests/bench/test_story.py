"""The promise, end to end: add, let an agent write, review, publish or discard, go back."""

from __future__ import annotations

import socket

import pytest
from tests.bench.conftest import AGENT, Room

from backshop.app import Backshop
from backshop.base.errors import BackshopError, NotFound, ValidationFailed


def refused(call, *args, **kwargs) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value.code, caught.value.reason


@pytest.mark.rule("B1.2", "B7.3", "B9.6", "B9.9")
def test_only_publishing_changes_what_is_published(room):
    room.add({"a.txt": "one\n", "d/b.txt": "two\n"})
    before = room.published()

    done = room.write({"a.txt": "ONE\n", "new.txt": "new\n"})

    assert done.draft_id is not None
    assert room.published() == before == room.on_disk("published")
    assert room.draft() == {"a.txt": "ONE\n", "b.txt": "two\n", "new.txt": "new\n"}
    assert room.on_disk("draft") == room.draft()
    review = room.call("ReviewGetChangeSet")
    assert [(e["path"], e["kind"]) for e in review["entries"]] == [
        ("new.txt", "ADDED"),
        ("a.txt", "MODIFIED"),
    ]
    published = room.call("DraftPublish", reviewed_tree=review["tree"])
    assert room.published() == {"a.txt": "ONE\n", "b.txt": "two\n", "new.txt": "new\n"}
    assert room.on_disk("published") == room.published()
    assert room.on_disk("draft") is None
    assert published["published_generation"] == 2
    [kept] = room.call("CheckpointsList")["checkpoints"]
    assert (kept["reason"], kept["restorable"]) == ("publish", True)
    assert kept["checkpoint_id"] == published["checkpoint_id"]


@pytest.mark.rule("B13.7", "B1.2", "B22.35")
def test_review_publish_and_going_back_are_the_same_without_network_and_model(
    tmp_path, monkeypatch
):
    def history(name: str, settings: dict[str, object]) -> list[object]:
        folder = tmp_path / name
        folder.mkdir()
        with Backshop.open(folder / "home", settings=settings) as shop:
            room = Room(shop, folder)
            room.add({"a.txt": "one\n", "t.csv": "id,n\n1,2\n", "gone.txt": "x"})
            kept = room.call("CheckpointCreate")["checkpoint_id"]
            room.write({"a.txt": "two\n", "t.csv": "id,n\n1,3\n"})
            room.call("DraftDeletePath", path="gone.txt")
            seen: list[object] = [
                refused(room.call, "DraftPublish"),
                room.call("ReviewGetChangeSet")["entries"],
                room.call("ReviewGetDiff", path="a.txt")["body"],
                room.call("ReviewGetTableDiff", path="t.csv")["body"],
                room.call("ReviewGetSummary", path="a.txt"),
            ]
            room.call("ReviewSetDeletionConfirmations", paths=["gone.txt"])
            seen += [room.call("DraftPublish")["changed"], room.published()]
            seen += [room.call("CheckpointRestore", checkpoint_id=kept)["changed"]]
            room.write({"a.txt": "three\n"})
            room.call("DraftDiscard")
            reasons = [one["reason"] for one in room.call("CheckpointsList")["checkpoints"]]
            return [*seen, room.published(), reasons]

    connected = history("with", {"model.default": "scripted:demo"})
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        assert not isinstance(address, tuple), f"{address} was asked for"
        real(self, address)  # type: ignore[arg-type]  # a pipe of this machine

    monkeypatch.setattr(socket.socket, "connect", connect)

    assert history("without", {}) == connected


@pytest.mark.rule("B9.14")
def test_discarding_leaves_no_trace_in_the_files(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "spoiled", "junk.txt": "junk"})

    room.call("DraftDiscard")

    assert (room.published(), room.draft(), room.on_disk("draft")) == ({"a.txt": "one"}, None, None)
    assert refused(room.call, "DraftDiscard") == ("NOT_FOUND", "no_draft")


@pytest.mark.rule("B10.9", "B10.10", "B10.2", "B9.15", "B22.38")
def test_restoring_a_checkpoint_can_itself_be_undone(room):
    room.add({"a.txt": "one"})
    first = room.call("CheckpointCreate", description="good")["checkpoint_id"]
    room.write({"a.txt": "two", "b.txt": "b"})
    room.call("DraftPublish")

    preview = room.call("CheckpointRestore", checkpoint_id=first, dry_run=True)
    back = room.call("CheckpointRestore", checkpoint_id=first)

    assert [(c["path"], c["kind"]) for c in preview["changed"]] == [
        ("a.txt", "MODIFIED"),
        ("b.txt", "DELETED"),
    ]
    assert room.published() == {"a.txt": "one"} == room.on_disk("published")
    room.call("CheckpointRestore", checkpoint_id=back["pre_restore_checkpoint_id"])
    assert room.published() == {"a.txt": "two", "b.txt": "b"}


@pytest.mark.rule("B9.15")
def test_what_was_reviewed_is_what_is_published(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    reviewed = room.call("ReviewGetChangeSet")["tree"]
    room.write({"a.txt": "three"})

    code = refused(room.call, "DraftPublish", reviewed_tree=reviewed)

    assert code == ("CONFIRMATION_REQUIRED", "draft_changed")
    assert room.published() == {"a.txt": "one"}
    assert room.draft() == {"a.txt": "three"}


@pytest.mark.rule("B8.7", "B8.9", "B13.4", "B13.5", "B22.27")
def test_only_the_person_deletes_and_has_to_confirm(room):
    room.add({"a.txt": "one", "b.txt": "two"})

    assert refused(room.write, {"a.txt": None}) == ("VALIDATION_FAILED", "delete_not_allowed")
    assert room.draft() is None
    room.write({"c.txt": "c"})
    room.call("DraftDeletePath", path="a.txt")
    assert refused(room.call, "DraftPublish") == ("CONFIRMATION_REQUIRED", "confirm_deletions")
    assert refused(room.call, "ReviewSetDeletionConfirmations", paths=["b.txt"]) == (
        "VALIDATION_FAILED",
        "not_deleted",
    )
    room.call("ReviewSetDeletionConfirmations", paths=["a.txt"])
    room.call("DraftPublish")

    assert room.published() == {"b.txt": "two", "c.txt": "c"}


@pytest.mark.rule("B8.9", "B11.5", "B22.52")
def test_a_rename_is_seen_as_one_and_needs_no_confirmation(room):
    room.add({"old.txt": "content"})
    file_id = room.call("WorkbenchFilesList")["files"][0]["file_id"]
    room.write({"x.txt": "x"})
    room.call("DraftRenamePath", path="old.txt", new_path="new/name.txt")

    entries = room.call("ReviewGetChangeSet")["entries"]
    room.call("DraftPublish")

    renamed = [
        (e["old_path"], e["path"], e["similarity"]) for e in entries if e["kind"] == "RENAMED"
    ]
    assert renamed == [("old.txt", "new/name.txt", 100)]
    files = {f["path"]: f for f in room.call("WorkbenchFilesList")["files"]}
    assert files["new/name.txt"]["file_id"] == file_id


@pytest.mark.rule("B8.9", "B8.11", "B8.21")
def test_one_file_is_reverted_and_a_revision_brought_back(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.write({"a.txt": "bad", "b.txt": "good"})
    both = room.call("DraftGetState")["revision_id"]

    room.call("DraftRevertPath", path="a.txt")
    assert room.draft() == {"a.txt": "one", "b.txt": "good"}
    room.call("DraftRestoreRevision", revision_id=both)

    assert room.draft() == {"a.txt": "bad", "b.txt": "good"} == room.on_disk("draft")


@pytest.mark.rule("B7.6")
def test_while_a_draft_waits_published_cannot_move_under_it(room):
    room.add({"a.txt": "one"})
    cp = room.call("CheckpointCreate")["checkpoint_id"]
    room.write({"a.txt": "two"})
    commands: list[tuple[str, dict[str, object]]] = [
        ("WorkbenchFilesRemove", {"workbench_paths": ["a.txt"]}),
        ("WorkbenchFileRename", {"path": "a.txt", "new_path": "b.txt"}),
        ("WorkbenchDelete", {"confirm": room.id}),
        ("WorkbenchFork", {}),
        ("CheckpointCreate", {}),
        ("CheckpointRestore", {"checkpoint_id": cp}),
    ]
    for name, request in commands:
        assert refused(room.call, name, **request) == ("DRAFT_EXISTS", "draft_exists"), name
    assert refused(room.add, {"n.txt": "n"}) == ("DRAFT_EXISTS", "draft_exists")
    assert room.published() == {"a.txt": "one"}


@pytest.mark.rule("B3.8", "B7.6")
def test_while_an_agent_works_nobody_else_moves_the_files(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    assert room.shop.store.leases.take(f"bench:{room.id}", "turn_x", 60)

    for name in ("DraftPublish", "DraftDiscard"):
        assert refused(room.call, name) == ("BENCH_BUSY", "turn_active")


@pytest.mark.rule("B9.4", "B9.5", "B8.10", "B22.29", "B22.30")
def test_outside_edits_are_noticed_and_never_lost(room):
    room.add({"a.txt": "one", "b.txt": "two"})
    room.write({"a.txt": "draft"})
    folder = room.shop.config.home / "benches" / room.id
    target = folder / "published" / "b.txt"
    target.unlink()
    target.write_text("edited by hand")

    assert refused(room.call, "DraftPublish") == (
        "CONFLICT_PUBLISHED_CHANGED",
        "published_changed",
    )
    repaired = room.call("PublishedRepair", mode="restore")
    assert room.on_disk("published") == {"a.txt": "one", "b.txt": "two"}
    salvaged = folder / "meta" / "salvage" / repaired["salvaged"][0]
    assert salvaged.read_text() == "edited by hand"

    (folder / "draft" / "extra.txt").write_text("mine")
    assert room.call("DraftGetState")["outside_changes"] == ["extra.txt"]
    assert refused(room.call, "DraftPublish")[1] == "draft_outside_changes"
    room.call("DraftRescan", mode="adopt")
    room.call("DraftPublish")
    assert room.published() == {"a.txt": "draft", "b.txt": "two", "extra.txt": "mine"}


@pytest.mark.rule("B9.5")
def test_adopting_outside_edits_of_published_is_a_change_of_its_own(room):
    room.add({"a.txt": "one"})
    target = room.shop.config.home / "benches" / room.id / "published" / "a.txt"
    target.unlink()
    target.write_text("theirs")

    room.call("PublishedRepair", mode="adopt")

    assert room.published() == {"a.txt": "theirs"} == room.on_disk("published")
    assert [c["trigger"] for c in room.call("CheckpointsList")["checkpoints"]] == ["before_adopt"]


@pytest.mark.rule("B8.2", "B8.3", "B4.2", "B8.4", "B22.21")
def test_a_batch_takes_effect_whole_or_not_at_all(room):
    room.add({"a.txt": "one"})

    assert refused(room.write, {"a.txt": "two", "../x": "x"}) == ("VALIDATION_FAILED", "bad_path")
    assert refused(room.write, {"A.TXT": "two"}) == ("VALIDATION_FAILED", "path_collision")
    assert refused(room.write, {f"f{n}": "x" for n in range(201)}) == (
        "LIMIT_EXCEEDED",
        "too_large",
    )
    assert room.draft() is None
    assert room.write({"a.txt": "one"}).no_changes
    assert room.draft() is None


@pytest.mark.rule("B5.5", "B5.6", "B5.3")
def test_a_deleted_bench_comes_back_unchanged(room):
    room.add({"a.txt": "one"})

    assert refused(room.call, "WorkbenchDelete", confirm="yes") == (
        "CONFIRMATION_REQUIRED",
        "confirm_delete",
    )
    room.call("WorkbenchDelete", confirm=room.id)
    with pytest.raises(NotFound):
        room.call("WorkbenchOpen")
    assert room.shop.call("WorkbenchList", {})["workbenches"] == []
    room.call("WorkbenchUndelete")

    assert room.published() == {"a.txt": "one"} == room.on_disk("published")


@pytest.mark.rule("B5.7")
def test_a_fork_shares_content_and_nothing_else(room):
    room.add({"a.txt": "one"})

    other = room.call("WorkbenchFork", name="Copy")["workbench_id"]
    room.write({"a.txt": "two"})
    room.call("DraftPublish")

    files = room.shop.call("WorkbenchFilesList", {"workbench_id": other})["files"]
    assert [(f["path"], f["size"]) for f in files] == [("a.txt", 3)]
    assert room.published() == {"a.txt": "two"}


@pytest.mark.rule("B17.1", "B1.2")
def test_every_change_has_its_audit_entry(room):
    room.add({"a.txt": "one"})
    room.write({"a.txt": "two"})
    room.call("DraftPublish")

    kinds = [(e["kind"], e["actor"]) for e in room.call("AuditList")["entries"]]

    assert kinds == [
        ("bench_created", "user"),
        ("files_added", "user"),
        ("draft_created", "agent"),
        ("batch_applied", "agent"),
        ("checkpoint_created", "user"),
        ("draft_published", "user"),
    ]


@pytest.mark.rule("B1.3", "B20")
@pytest.mark.parametrize("bad", ["", ".", "..", "wb_x/../y", "0123456789abcdef", "cp_" + "0" * 26])
def test_a_malformed_id_touches_nothing(room, bad):
    for name in ("WorkbenchOpen", "DraftPublish", "DraftDiscard", "WorkbenchUndelete"):
        with pytest.raises(ValidationFailed) as caught:
            room.shop.call(name, {"workbench_id": bad})
        assert caught.value.reason == "bad_id"


@pytest.mark.rule("B12.1", "B12.9")
def test_each_kind_of_file_has_its_diff(room):
    room.add({"a.txt": "one\ntwo\n", "p.png": b"\x89PNG\r\n\x1a\n" + b"0" * 20})
    room.write({"a.txt": "one\n2\n"})

    diff = room.call("ReviewGetDiff", path="a.txt")

    lines = [(x["type"], x["text"]) for h in diff["body"]["hunks"] for x in h["lines"]]
    assert diff["strategy"] == "text"
    assert lines == [("context", "one"), ("removed", "two"), ("added", "2")]
    with pytest.raises(NotFound):
        room.call("ReviewGetDiff", path="nope.txt")
    assert AGENT.actor == "agent"
