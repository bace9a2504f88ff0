"""Folders that others made hard to look at: unreadable, very deep, or gone for somebody else."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.ambient import Mint
from backshop.base.errors import BackshopError
from backshop.bench.view import folder as view_folder
from backshop.store import remove_tree
from backshop.testing.ambient import FixedClock

from .conftest import Room

DEPTH = 1200  # folders in folders: more than Python calls itself
TRASH_MS = 8 * 86_400_000


def refused(call, *args, **kwargs) -> tuple[str, str | None]:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value.code, caught.value.reason


def draft_of(room: Room) -> Path:
    return room.shop.config.home / "benches" / room.id / "draft"


def unreadable(monkeypatch, *folders: Path) -> None:
    """Let folders refuse to be listed, to the superuser too."""
    listed = os.scandir

    def scandir(path="."):
        if not isinstance(path, int) and Path(path) in folders:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def shop(tmp_path, clock) -> Iterator[Backshop]:
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as opened:
        yield opened
    remove_tree(tmp_path / "home")


@pytest.mark.rule("B2.8")
def test_a_note_beside_the_folders_is_not_written_through_a_hard_link(room, tmp_path):
    note = room.shop.config.home / "benches" / room.id / "meta" / "workbench.json"
    kept = tmp_path / "kept.json"
    os.link(note, kept)
    before = kept.read_bytes()

    room.call("WorkbenchRename", new_name="Another")

    assert kept.read_bytes() == before
    assert json.loads(note.read_text())["name"] == "Another"


@pytest.mark.rule("B8.10", "B4.7", "B9.4")
@pytest.mark.parametrize("name", ["x", "sub"])
def test_a_folder_that_cannot_be_looked_into_is_an_outside_edit_and_stays(room, monkeypatch, name):
    room.add({"a.txt": "a"})
    room.write({"sub/b.txt": "b"})
    draft = draft_of(room)
    (draft / name).mkdir(exist_ok=True)
    (draft / name / "own.txt").write_text("somebody's")
    unreadable(monkeypatch, draft / name)

    assert name in room.call("DraftGetState")["outside_changes"]
    assert name in room.call("WorkbenchOpen")["draft"]["outside_changes"]
    room.call("ReviewGetChangeSet")
    assert refused(room.call, "DraftPublish") == ("VALIDATION_FAILED", "draft_outside_changes")
    room.call("DraftRescan", mode="adopt")
    assert (draft / name / "own.txt").read_text() == "somebody's"
    room.call("DraftDiscard")
    monkeypatch.undo()

    kept = room.shop.config.home / "benches" / room.id
    assert [path.read_text() for path in kept.rglob("own.txt")] == ["somebody's"]


@pytest.mark.rule("B8.10")
def test_a_draft_whose_own_folder_cannot_be_looked_into_still_answers(room, monkeypatch):
    room.add({"a.txt": "a"})
    room.write({"a.txt": "b"})
    unreadable(monkeypatch, draft_of(room))

    assert room.call("DraftGetState")["has_draft"] is True
    assert room.call("WorkbenchOpen")["draft"]["has_draft"] is True
    assert refused(room.call, "DraftPublish")[0] == "FILE_WRITE_FAILED"


@pytest.mark.rule("B8.10")
def test_a_file_that_cannot_be_read_is_an_outside_edit(room, monkeypatch):
    room.add({"a.txt": "a"})
    room.write({"a.txt": "b"})
    path = draft_of(room) / "a.txt"
    path.unlink()
    path.write_text("c")

    def content_name(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(view_folder, "content_name", content_name)

    assert room.call("DraftGetState")["outside_changes"] == ["a.txt"]
    assert refused(room.call, "DraftPublish") == ("VALIDATION_FAILED", "draft_outside_changes")


@pytest.mark.rule("B8.10", "B5.6", "B3.12")
def test_folders_nested_without_end_are_looked_at_salvaged_and_removed(shop, clock, tmp_path):
    room = Room(shop, tmp_path)
    room.add({"a.txt": "a"})
    room.call("DraftCreate")
    deep = str(draft_of(room))
    for _ in range(DEPTH):
        deep += "/d"
        os.mkdir(deep)  # noqa: PTH102  # one at a time
    Path(deep, "b.txt").write_text("b")
    below = "d/" * DEPTH + "b.txt"

    assert room.call("DraftGetState")["outside_changes"] == [below]
    room.call("WorkbenchOpen")
    room.call("ReviewGetChangeSet")
    assert refused(room.call, "DraftPublish") == ("VALIDATION_FAILED", "draft_outside_changes")
    assert refused(room.call, "DraftRescan", mode="adopt")[0] == "VALIDATION_FAILED"
    (kept,) = room.call("DraftRescan", mode="revert")["salvaged"]
    assert kept.endswith(f"/{below}")
    assert room.call("DraftGetState")["outside_changes"] == []

    room.call("DraftDiscard")
    room.call("WorkbenchDelete", confirm=room.id)
    clock.move(TRASH_MS)
    assert shop.call("WorkbenchList", {"include_trash": True})["workbenches"] == []
    assert not list((shop.config.home / "trash").iterdir())


@pytest.mark.rule("B5.6")
def test_two_programs_may_find_the_same_bench_past_its_time(shop, clock, tmp_path, monkeypatch):
    room = Room(shop, tmp_path)
    room.call("WorkbenchDelete", confirm=room.id)
    clock.move(TRASH_MS)
    with Backshop.open(tmp_path / "home", clock=clock, mint=Mint(clock)) as other:

        def meanwhile(_):
            other.call("WorkbenchList", {})
            return ()

        monkeypatch.setattr(shop.benches.conversations, "sisters", meanwhile)
        listed = shop.call("WorkbenchList", {"include_trash": True})["workbenches"]

    assert listed == []
    tombs = [one.fact.bench_id for one in shop.store.read("home") if one.kind == "bench.purged"]
    assert tombs == [room.id]


@pytest.mark.rule("B5.6")
def test_a_folder_that_stays_after_a_purge_is_told_once_and_tried_again(
    shop, clock, tmp_path, monkeypatch, caplog
):
    room, other = Room(shop, tmp_path), Room(shop, tmp_path)
    trash = shop.config.home / "trash"
    other.call("WorkbenchDelete", confirm=other.id)
    clock.move(TRASH_MS)
    shop.call("WorkbenchList", {})
    assert "stays for now" not in caplog.text
    room.call("WorkbenchDelete", confirm=room.id)
    clock.move(TRASH_MS)

    def stuck(folder):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("backshop.bench.lifecycle.trash.remove_tree", stuck)
        for _ in range(2):
            assert shop.call("WorkbenchList", {"include_trash": True})["workbenches"] == []
    told = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert [f"purged {room.id} stays for now" in one.getMessage() for one in told] == [True]
    assert list(trash.iterdir())

    shop.call("WorkbenchList", {})
    assert not list(trash.iterdir())


@pytest.mark.rule("B5.6")
def test_a_purge_takes_only_folders_of_benches_that_are_gone(shop, clock, tmp_path):
    """Another machine buries a bench; here its folder lies among those of others."""
    room, living = Room(shop, tmp_path), Room(shop, tmp_path)
    home = shop.config.home
    room.call("WorkbenchDelete", confirm=room.id)
    clock.move(TRASH_MS)
    shop.call("WorkbenchList", {})
    elsewhere = home / "benches" / room.id / "published"
    elsewhere.mkdir(parents=True)
    (elsewhere / "a.txt").write_text("a")
    being_made = home / "benches" / f"wb_{'0' * 26}"
    being_made.mkdir()
    (home / "trash" / "note.txt").write_text("a person's own")

    shop.call("WorkbenchList", {})

    assert {one.name for one in (home / "benches").iterdir()} == {living.id, being_made.name}
    assert (home / "trash" / "note.txt").read_text() == "a person's own"


@pytest.mark.rule("B5.6", "B3.6")
def test_a_bench_whose_folder_cannot_be_moved_is_deleted_all_the_same(room):
    room.add({"a.txt": "a"})
    trash = room.shop.config.home / "trash"
    trash.write_text("in the way")

    assert room.call("WorkbenchDelete", confirm=room.id)["warnings"] == ["view_stale"]
    assert room.shop.call("WorkbenchList", {})["workbenches"] == []
    room.call("WorkbenchUndelete")
    assert room.published() == {"a.txt": "a"} == room.on_disk("published")


@pytest.mark.rule("B6.7", "B6.11")
def test_a_folder_is_walked_to_its_end_whatever_is_passed_over(room, tmp_path, monkeypatch):
    room.call("WorkbenchSetLimits", limits={**SMALL, "max_depth": 4})
    source = tmp_path / "many"
    (source / "closed").mkdir(parents=True)
    for number in range(11):
        (source / f"{number:02}.bin").write_bytes(b"x" * (SMALL["max_file_bytes"] + 1))
    (source / "z.txt").write_text("z")
    unreadable(monkeypatch, source / "closed")

    request = {"source_paths": [str(source)], "recursive": True}
    results = room.call("WorkbenchFilesAdd", **request)["add_results"]

    told = [(Path(one["source_path"]).name, one.get("reason")) for one in results]
    passed = [(f"{number:02}.bin", "size_limit") for number in range(11)]
    assert told == [*passed, ("z.txt", None), ("closed", "unreadable")]
    assert room.published() == {"many/z.txt": "z"}


@pytest.mark.rule("B6.9")
def test_a_folder_with_more_files_than_fit_is_refused_before_its_end(room, tmp_path):
    room.call("WorkbenchSetLimits", limits=SMALL)
    source = tmp_path / "many"
    source.mkdir()
    for number in range(40):
        (source / f"{number:02}.txt").write_text(str(number))

    request = {"source_paths": [str(source)], "recursive": True}
    assert refused(room.call, "WorkbenchFilesAdd", **request) == ("LIMIT_EXCEEDED", "too_large")
    assert room.published() == {}


SMALL = {"max_files": 10, "max_file_bytes": 1024, "max_total_bytes": 1024 * 1024, "max_depth": 4}
