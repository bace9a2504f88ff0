"""What a review lists and shows, entry by entry; what keeps a Draft from being published."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.base.paths import BenchPath

from .conftest import Room
from .test_story import refused

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def entries(room: Room) -> dict[str, Any]:
    return {one["path"]: one for one in room.call("ReviewGetChangeSet")["entries"]}


@pytest.mark.rule("B11.1", "B11.4", "B13.3")
def test_the_list_compares_with_where_the_draft_began_and_reads_nothing_else(room, monkeypatch):
    room.add({"a.txt": "one", "d.txt": "same", "p.png": PNG, "q.png": PNG + b"q"})
    room.write({"a.txt": "two", "new.md": "n"})
    folder = room.shop.config.home / "benches" / room.id
    draft = folder / "draft"
    for name in ("p.png", "x.png"):
        path = draft / name
        path.unlink(missing_ok=True)
        path.write_bytes(PNG + b"1")
    room.call("DraftRescan", mode="adopt")
    opened: list[str] = []
    blobs = room.shop.store.blobs
    real = type(blobs).open

    def noted(self, blob):
        opened.append(blob)
        return real(self, blob)

    monkeypatch.setattr(type(blobs), "open", noted)

    found = entries(room)

    assert {path: one["kind"] for path, one in found.items()} == {
        **{"a.txt": "MODIFIED", "new.md": "ADDED", "p.png": "MODIFIED", "x.png": "ADDED"},
    }
    assert "bytes_before" not in found["a.txt"]
    assert "bytes_after" not in found["a.txt"]
    assert (found["p.png"]["bytes_before"], found["p.png"]["bytes_after"]) == (28, 29)
    assert "bytes_before" not in found["x.png"]
    assert (found["a.txt"]["summary_expected"], found["p.png"]["summary_expected"]) == (False, True)
    desk = room.shop.benches.desk
    state = desk.state(room.id)
    unchanged = {desk.find(state.published, BenchPath(p)).sha256 for p in ("d.txt", "q.png")}
    assert not unchanged & set(opened)
    room.call("DraftRevertPath", path="a.txt")
    assert "a.txt" not in entries(room)  # equal to its reference again (B11.6)


@pytest.mark.rule("B8.9", "B8.21", "B13.5")
@pytest.mark.parametrize("name", ["old.txt", "d/new.txt"])
@pytest.mark.parametrize("edit", ["1\n2\n3\n", "1\n2\nthree\n"])
def test_reverting_either_name_of_a_renamed_file_brings_it_back_whole(room, name, edit):
    room.add({"old.txt": "1\n2\n3\n", "gone.txt": "gone", "b.txt": "b"})
    room.write({"b.txt": "B"})
    room.call("DraftDeletePath", path="gone.txt")
    room.call("ReviewSetDeletionConfirmations", paths=["gone.txt"])
    room.call("DraftRenamePath", path="old.txt", new_path="d/new.txt")
    room.write({"d/new.txt": edit})
    assert entries(room)["d/new.txt"]["kind"] == "RENAMED"
    revisions = len(room.shop.benches.desk.state(room.id).revisions.kept)

    done = room.call("DraftRevertPath", path=name)

    state = room.shop.benches.desk.state(room.id)
    assert room.draft() == {"old.txt": "1\n2\n3\n", "b.txt": "B"} == room.on_disk("draft")
    assert len(state.revisions.kept) == revisions + 1
    assert state.draft.revision_id == done["draft_revision_id"]
    found = entries(room)
    assert {path: one["kind"] for path, one in found.items()} == {
        **{"b.txt": "MODIFIED", "gone.txt": "DELETED"},
    }
    assert found["gone.txt"]["deletion_confirmed"]  # only what was reverted lapses


@pytest.mark.rule("B8.9", "B4.4")
def test_a_name_that_only_changed_its_case_is_reverted_and_a_taken_one_is_refused(room):
    room.add({"a.txt": "a\n", "b.txt": "b\n"})
    room.call("DraftCreate")
    room.call("DraftRenamePath", path="a.txt", new_path="A.txt")
    room.call("DraftRenamePath", path="b.txt", new_path="c.txt")
    room.write({"B.txt": "somebody else\n"})
    before = room.draft()

    taken = refused(room.call, "DraftRevertPath", path="c.txt")

    assert taken == ("VALIDATION_FAILED", "path_collision")
    assert room.draft() == before
    room.call("DraftRevertPath", path="A.txt")
    assert room.draft() == {"a.txt": "a\n", "c.txt": "b\n", "B.txt": "somebody else\n"}


@pytest.mark.rule("B11.6", "B2.4")
def test_a_program_stays_one_and_a_file_that_becomes_one_is_modified(room, tmp_path):
    outside = tmp_path / "outside"
    room.add({"run.sh": "#!/bin/sh\n", "plain.sh": "echo\n", "same.sh": "true\n"})
    (outside / "run.sh").chmod(0o755)
    room.add({"run.sh": "#!/bin/sh\n"}, on_conflict="replace")
    room.write({"run.sh": "#!/bin/sh\necho\n", "same.sh": "false\n"})
    kept = entries(room)
    draft = room.shop.config.home / "benches" / room.id / "draft"
    (draft / "plain.sh").write_text("echo more\n")
    (draft / "plain.sh").chmod(0o755)
    room.call("DraftRescan", mode="adopt")
    room.write({"plain.sh": "echo\n"})
    room.call("DraftRevertPath", path="same.sh")
    room.call("DraftDeletePath", path="run.sh")
    room.call("DraftRevertPath", path="run.sh")

    found = entries(room)

    assert "mode_changed" not in kept["run.sh"]
    assert list(found) == ["plain.sh"]  # the others are equal to their reference again
    assert (found["plain.sh"]["kind"], found["plain.sh"]["mode_changed"]) == ("MODIFIED", True)
    room.call("DraftPublish")
    room.call("WorkbenchFilesExtract", destination_dir=str(tmp_path))
    modes = {name: (tmp_path / name).stat().st_mode & 0o100 for name in ("run.sh", "same.sh")}
    assert modes == {"run.sh": 0o100, "same.sh": 0}
    assert (tmp_path / "plain.sh").stat().st_mode & 0o100


@pytest.mark.rule("B12.3", "B12.1", "B12.20")
def test_what_came_is_all_added_and_what_went_all_removed(room):
    room.add({"gone.txt": "1\n2\n"})
    room.write({"new.txt": "a\nb\n"})
    room.call("DraftDeletePath", path="gone.txt")

    def marks(path: str) -> list[tuple[str, str]]:
        hunks = room.call("ReviewGetTextDiff", path=path)["body"]["hunks"]
        return [(line["type"], line["text"]) for hunk in hunks for line in hunk["lines"]]

    assert marks("new.txt") == [("added", "a"), ("added", "b")]
    assert marks("gone.txt") == [("removed", "1"), ("removed", "2")]
    assert refused(room.call, "ReviewGetTextDiff", path="none.txt")[0] == "NOT_FOUND"


@pytest.mark.rule("B11.9", "B13.6", "B9.3", "B9.4")
def test_each_thing_that_stands_in_the_way_is_listed_and_refused_until_it_is_gone(room):
    room.add({"a.txt": "one", **{f"{n:02}.txt": str(n) for n in range(25)}})
    room.write({"a.txt": "two"})
    for number in range(25):
        room.call("DraftDeletePath", path=f"{number:02}.txt")
    listed = room.call("ReviewGetChangeSet")

    assert listed["warnings"] == ["deletions_unconfirmed"]
    assert listed["unconfirmed"] == [f"{n:02}.txt" for n in range(20)]
    assert refused(room.call, "DraftPublish") == ("CONFIRMATION_REQUIRED", "confirm_deletions")
    gone = [f"{n:02}.txt" for n in range(25)]
    room.call("ReviewSetDeletionConfirmations", paths=gone)
    assert room.call("ReviewGetChangeSet")["warnings"] == []
    extra = room.shop.config.home / "benches" / room.id / "draft" / "extra.txt"
    extra.write_text("theirs")
    assert refused(room.call, "DraftPublish") == ("VALIDATION_FAILED", "draft_outside_changes")
    extra.unlink()
    limits = {"max_files": 1, "max_file_bytes": 2, "max_total_bytes": 2, "max_depth": 1}
    room.call("WorkbenchSetLimits", limits=limits)
    assert refused(room.call, "DraftPublish")[0] == "LIMIT_EXCEEDED"
    room.call("WorkbenchSetLimits", profile="standard")
    assert room.shop.store.leases.take(f"bench:{room.id}", "turn_x", 60)
    assert refused(room.call, "DraftPublish") == ("BENCH_BUSY", "turn_active")
    room.shop.store.leases.drop(f"bench:{room.id}", "turn_x")
    assert room.published()["a.txt"] == "one"

    room.call("DraftPublish")
    assert room.published() == {"a.txt": "two"}
    assert refused(room.call, "DraftPublish") == ("NOT_FOUND", "no_draft")


@pytest.mark.rule("B12.19", "B12.21", "B13.6")
def test_a_file_that_cannot_be_read_is_reviewed_by_what_is_left_and_published(room):
    room.add({"a.txt": "one", "p.png": PNG})
    room.add({"b.csv": "a,b\n1,2\n"})
    room.write({"a.txt": "two", "broken.xlsx": "no workbook", "b.csv": "a,b\n1,3\n"})

    strategies = {
        path: room.call("ReviewGetDiff", path=path)["strategy"]
        for path in ("a.txt", "b.csv", "broken.xlsx")
    }

    assert (strategies["a.txt"], strategies["b.csv"]) == ("text", "table")
    assert strategies["broken.xlsx"] not in ("cells", "text")
    assert set(entries(room)) == {"a.txt", "b.csv", "broken.xlsx"}
    done = room.call("DraftPublish")
    assert {one["path"]: one["verified"] for one in done["changed"]}["broken.xlsx"] is True
