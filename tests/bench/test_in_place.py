"""Other programs write in place into the folders of a workbench: nothing stored is lost.

Every way of saving × every state a file's folder can be in. What was stored stays stored, the
edit is told as an edit of the folder it was made in, and taking it over, putting it back, going
back and publishing do what they say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError
from backshop.base.ids import BenchId
from backshop.base.paths import BenchPath
from backshop.store import View

from .conftest import Room

BIG = "".join(f"line {number} of a file\n" for number in range(4_000))  # a content of its own
SMALL = {"a.txt": "alpha\n", "b.txt": BIG, "c.csv": "k,v\na,1\n"}


def _shell(script: str) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        path.chmod(0o644)  # what an owner does; to root nothing is read-only anyway
        subprocess.run(["sh", "-c", script, "sh", str(path)], check=True, capture_output=True)

    return edit


def _vim(path: Path) -> None:
    script = ["vim.tiny", "-u", "NONE", "-es", "-c", "set bkc=yes", "-c", "1s/./X/", "-c", "w!"]
    subprocess.run([*script, "-c", "q!", str(path)], check=True, capture_output=True)


def _written_into(path: Path) -> None:
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.write(b"XX")


def _saved_beside(path: Path) -> None:
    """As office programs save: a new file that takes the old one's name."""
    temp = path.with_name(".~lock.tmp")
    temp.write_text("saved beside\n")
    temp.replace(path)


def _saved_over(path: Path) -> None:
    """As office programs save where they may not make files: cut to nothing, then written."""
    path.chmod(0o644)
    path.write_text("saved over\n")


def _same_length_and_time(path: Path) -> None:
    found = path.stat()
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.write(b"Z")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    path.chmod(0o444)


EDITS: dict[str, Callable[[Path], None]] = {
    "vim": _vim if shutil.which("vim.tiny") else _saved_over,
    "sed -i": _shell('sed -i "1s/./X/" "$1"'),
    ">>": _shell('echo more >> "$1"'),
    ": >": _shell(': > "$1"'),
    "truncate": _shell('truncate -s 3 "$1"'),
    "r+": _written_into,
    "saved beside": _saved_beside,
    "saved over": _saved_over,
    "same length and time": _same_length_and_time,
}


START = {
    f"{number}.txt": f"{number}\n" + (BIG if number % 2 else "") for number in range(len(EDITS))
}


def _published(room: Room) -> str:
    room.add(START)
    return "published"


def _draft(room: Room) -> str:
    _published(room)
    room.write({path: f"drafted\n{text}" for path, text in START.items()})
    return "draft"


def _whole_draft(room: Room) -> str:
    _published(room)
    room.write({"new.txt": "new\n"})
    room.call("DraftFolder", whole=True)
    return "draft"


def _after_publish(room: Room) -> str:
    _draft(room)
    room.call("DraftPublish")
    return "published"


def _after_restore(room: Room) -> str:
    _after_publish(room)
    [kept] = room.call("CheckpointsList")["checkpoints"]
    room.call("CheckpointRestore", checkpoint_id=kept["checkpoint_id"])
    return "published"


STATES = {
    "Published": _published,
    "Draft": _draft,
    "whole Draft": _whole_draft,
    "after publish": _after_publish,
    "after restore": _after_restore,
}


def contents(room: Room) -> dict[str, bytes]:
    """Return every content the bench keeps, read and hashed; a lost one is an error."""
    blobs = room.shop.store.blobs
    return {name: blobs.read(name) for name in blobs.names()}


def edited(room: Room, view: str) -> dict[str, str]:
    """Edit every file of a view, each in another way; return what is there now."""
    folder = room.shop.config.home / "benches" / room.id / view
    for path, edit in zip(START, EDITS.values(), strict=True):
        edit(folder / path)
    found = room.in_folder(view)
    assert found is not None
    return found


def told(room: Room, view: str) -> list[str]:
    opened = room.call("WorkbenchOpen")
    assert (opened["health"], opened["recovery"]) == ("ok", [])
    both = {"published": opened["outside_changes"], "draft": opened["draft"]["outside_changes"]}
    assert not both["draft" if view == "published" else "published"]
    return list(both[view])


@pytest.mark.rule("B2.6", "B8.10", "B9.5")
@pytest.mark.parametrize("state", STATES)
def test_no_way_of_writing_in_place_costs_a_content_or_goes_untold(room, state):
    view = STATES[state](room)
    before, published, draft = contents(room), room.published(), room.draft()

    theirs = edited(room, view)

    assert contents(room) == before
    assert (room.published(), room.draft()) == (published, draft)
    assert told(room, view) == sorted(START)
    if view == "published":
        room.call("PublishedRepair", mode="adopt")
        assert room.published() == theirs == room.in_folder("published")
    else:
        with pytest.raises(BackshopError) as caught:
            room.call("DraftPublish")
        assert caught.value.reason == "draft_outside_changes"
        room.call("DraftRescan", mode="adopt")
        assert room.draft() == published | theirs
        room.call("DraftPublish")
        assert room.published() == published | theirs == room.in_folder("published")
    assert told(room, "published") == []
    assert contents(room).items() >= before.items()


@pytest.mark.rule("B8.10", "B9.5", "B10.9")
@pytest.mark.parametrize("state", STATES)
def test_an_edit_in_place_is_put_back_and_kept_aside(room, state):
    view = STATES[state](room)
    as_it_was = room.in_folder(view)
    theirs = edited(room, view)

    if view == "published":
        done = room.call("PublishedRepair", mode="restore")
    else:
        done = room.call("DraftRescan", mode="revert")

    assert room.in_folder(view) == as_it_was
    assert told(room, view) == []
    salvage = room.shop.config.home / "benches" / room.id / "meta" / "salvage"
    kept = {path.partition("/")[2]: (salvage / path).read_text() for path in done["salvaged"]}
    assert kept == {path: theirs[path] for path in START}


@pytest.mark.rule("B10.9", "B3.12")
def test_restoring_a_checkpoint_over_edits_in_place_brings_it_back_and_keeps_them(room):
    _after_publish(room)
    theirs = edited(room, "published")
    [kept] = room.call("CheckpointsList")["checkpoints"]

    done = room.call("CheckpointRestore", checkpoint_id=kept["checkpoint_id"])

    assert room.published() == START == room.in_folder("published")
    assert {one["path"]: one["verified"] for one in done["changed"]} == dict.fromkeys(START, True)
    assert done["warnings"] == ["outside_edits_salvaged"]
    salvage = room.shop.config.home / "benches" / room.id / "meta" / "salvage"
    found = {one.name: one.read_text() for one in salvage.rglob("*") if one.is_file()}
    assert found == theirs


@pytest.mark.rule("B9.4", "B9.16")
def test_a_draft_is_not_published_over_edits_in_place_of_published(room):
    room.add(SMALL)
    room.write({"a.txt": "ours\n"})
    EDITS["sed -i"](room.shop.config.home / "benches" / room.id / "published" / "a.txt")

    with pytest.raises(BackshopError) as caught:
        room.call("DraftPublish")
    room.call("PublishedReconcile", keep="both")
    room.call("DraftPublish")

    assert caught.value.reason == "published_changed"
    found = room.published()
    assert found == room.in_folder("published")
    assert (found["a.txt"], found["a (draft).txt"]) == ("Xlpha\n", "ours\n")


@pytest.mark.rule("B2.10", "B8.10")
def test_a_file_deleted_in_the_folder_of_changes_is_not_taken_for_one_left_out(room):
    room.add({"a.txt": "a", "b.txt": "b", "c.txt": "c"})
    room.write({"a.txt": "ours", "b.txt": "ours too"})
    folder = room.shop.config.home / "benches" / room.id / "draft"
    assert room.in_folder("draft") == {"a.txt": "ours", "b.txt": "ours too"}
    (folder / "a.txt").unlink()
    shutil.copy(folder.parent / "published" / "c.txt", folder / "c.txt")  # as it is: no edit

    assert told(room, "draft") == ["a.txt"]
    room.call("DraftRescan", mode="adopt")

    assert room.draft() == {"b.txt": "ours too", "c.txt": "c"}
    assert told(room, "draft") == []


@pytest.mark.rule("B8.10", "B3.12")
def test_two_editors_at_once_and_a_file_replaced_by_a_folder_lose_nothing(room):
    room.add(SMALL)
    room.write({"a.txt": "ours\n", "c.csv": "k,v\nb,2\n"})
    folder = room.shop.config.home / "benches" / room.id / "draft"
    (folder / "a.txt").chmod(0o644)
    with (folder / "a.txt").open("a") as one, (folder / "a.txt").open("a") as two:
        one.write("first\n")
        one.flush()
        two.write("second\n")
    (folder / "c.csv").unlink()
    (folder / "c.csv").mkdir()
    (folder / "c.csv" / "inner.txt").write_text("inner\n")

    assert told(room, "draft") == ["a.txt", "c.csv", "c.csv/inner.txt"]
    room.write({"c.csv": "k,v\nc,3\n"})  # goes to the log whatever stands in the folder

    assert told(room, "draft") == ["a.txt"]
    room.call("DraftRescan", mode="adopt")
    assert room.draft() == SMALL | {"a.txt": "ours\nfirst\nsecond\n", "c.csv": "k,v\nc,3\n"}
    salvage = room.shop.config.home / "benches" / room.id / "meta" / "salvage"
    assert [one.read_text() for one in salvage.rglob("inner.txt")] == ["inner\n"]


@pytest.mark.rule("B2.11")
def test_a_file_that_came_after_another_one_was_healed_heals_too(room):
    for name in ("first", "second"):
        text = name * 20_000
        room.add({f"{name}.txt": text})
        room.shop.store.blobs.path(room.shop.store.blobs.put(text.encode())).unlink()

        assert room.call("WorkbenchOpen")["health"] == "ok"
        assert room.published()[f"{name}.txt"] == text


@pytest.mark.rule("B3.12", "B9.14")
def test_what_others_wrote_into_the_folder_of_a_draft_is_kept_when_the_draft_goes(room):
    room.add(SMALL)
    room.write({"a.txt": "ours\n"})
    home = room.shop.config.home / "benches" / room.id
    (home / "draft" / "note.txt").write_text("theirs\n")

    done = room.call("DraftDiscard")

    assert done["warnings"] == ["outside_edits_salvaged"]
    [kept] = (home / "meta" / "salvage").rglob("note.txt")
    assert kept.read_text() == "theirs\n"


@pytest.mark.rule("B4.7", "B9.5")
def test_a_link_in_a_folder_is_not_taken_over_for_what_it_leads_to(room, tmp_path):
    room.add(SMALL)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    folder = room.shop.config.home / "benches" / room.id / "published"
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(secret)
    (folder / "d.txt").write_text("theirs\n")

    room.call("PublishedRepair", mode="adopt")

    assert room.published() == SMALL | {"d.txt": "theirs\n"} == room.in_folder("published")
    assert not (folder / "a.txt").is_symlink()
    assert secret.read_text() == "secret"


@pytest.mark.rule("B3.12")
def test_what_others_wrote_is_on_the_disk_before_it_is_displaced(room, monkeypatch):
    room.add(SMALL)
    home = room.shop.config.home / "benches" / room.id
    edited = home / "published" / "a.txt"
    edited.write_text("theirs\n")
    synced: dict[int, str] = {}
    sync = os.fsync

    def fsync(handle: int) -> None:
        synced[os.fstat(handle).st_ino] = edited.read_text()
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    room.call("PublishedRepair", mode="restore")

    [kept] = (home / "meta" / "salvage").rglob("a.txt")
    assert (kept.read_text(), edited.read_text()) == ("theirs\n", SMALL["a.txt"])
    assert synced[kept.stat().st_ino] == "theirs\n"  # it was still in its place


@pytest.mark.rule("B3.4", "B8.10")
def test_what_a_killed_program_left_on_its_way_to_a_place_is_no_edit(room):
    room.add(SMALL)
    left = room.shop.config.home / "benches" / room.id / "published" / ".bs-tmp-place"
    left.write_text("half")

    assert told(room, "published") == []
    room.add({"new.txt": "new\n"})
    assert not left.exists()


@pytest.mark.rule("B2.12")
def test_the_folder_of_a_draft_is_completed_on_request_until_the_draft_ends(room):
    room.add(SMALL)
    room.write({"a.txt": "ours\n"})
    assert room.in_folder("draft") == {"a.txt": "ours\n"}

    filled = room.call("DraftFolder", whole=True)
    room.write({"b.txt": "short\n"})
    whole = room.in_folder("draft")
    again = room.call("DraftFolder")
    thinned = room.call("DraftFolder", whole=False)

    assert (filled["whole"], filled["files"], filled["outside_changes"]) == (True, 3, [])
    assert whole == SMALL | {"a.txt": "ours\n", "b.txt": "short\n"}
    assert (again["whole"], thinned["whole"], thinned["files"]) == (True, False, 2)
    assert room.in_folder("draft") == {"a.txt": "ours\n", "b.txt": "short\n"}
    room.call("DraftFolder", whole=True)
    room.call("DraftPublish")
    room.write({"a.txt": "next\n"})
    assert room.in_folder("draft") == {"a.txt": "next\n"}


# ---------------------------------------------------------------- damage that heals


def blob_file(room: Room, path: str) -> Path:
    desk = room.shop.benches.desk
    file = desk.find(desk.state(room.id).published, BenchPath(path))
    return room.shop.config.home / "blobs" / file.sha256[:2] / file.sha256[2:]


@pytest.mark.rule("B2.11")
@pytest.mark.parametrize("damage", ["gone", "shorter", "same length"])
@pytest.mark.parametrize("view", ["published", "draft"])
def test_a_damaged_content_heals_from_a_folder_that_holds_it(room, view, damage):
    room.add({"a.txt": BIG})
    if view == "draft":
        room.write({"b.txt": BIG})  # the same content under another name
        shown = room.shop.config.home / "benches" / room.id / "published" / "a.txt"
        _saved_over(shown)
    blob = blob_file(room, "a.txt")
    blob.chmod(0o644)
    if damage == "gone":
        blob.unlink()
    else:
        blob.write_text("short" if damage == "shorter" else "z" * len(BIG))
        blob.chmod(0o444)

    opened = room.call("WorkbenchOpen")

    assert room.published() == {"a.txt": BIG}
    assert opened["health"] == "ok"
    assert blob.read_text() == BIG
    assert blob.stat().st_nlink == 1


@pytest.mark.rule("B2.11", "B6.7")
@pytest.mark.parametrize("on_conflict", ["reject", "skip"])
def test_adding_the_original_again_repairs_a_content_that_nothing_here_holds(room, on_conflict):
    room.add({"a.txt": BIG, "b.txt": "fine"})
    shown = room.shop.config.home / "benches" / room.id / "published" / "a.txt"
    _saved_over(shown)
    blob = blob_file(room, "a.txt")
    blob.chmod(0o644)
    blob.write_text("spoiled")
    assert room.call("WorkbenchOpen")["health"] == "damaged"

    done = room.add({"a.txt": BIG}, on_conflict=on_conflict)

    assert [(one["status"], one["path"]) for one in done["add_results"]] == [("repaired", "a.txt")]
    assert room.published() == {"a.txt": BIG, "b.txt": "fine"}
    opened = room.call("WorkbenchOpen")
    assert (opened["health"], opened["outside_changes"]) == ("ok", ["a.txt"])


@pytest.mark.rule("B2.11", "B3.11")
def test_adding_something_else_to_a_damaged_bench_repairs_nothing(room):
    room.add({"a.txt": BIG})
    _saved_over(room.shop.config.home / "benches" / room.id / "published" / "a.txt")
    blob_file(room, "a.txt").unlink()

    done = room.add({"other.txt": BIG + "other"})

    assert [one["status"] for one in done["add_results"]] == ["added"]
    opened = room.call("WorkbenchOpen")
    assert (opened["health"], opened["outside_changes"]) == ("damaged", ["a.txt"])


# ---------------------------------------------------------------- homes of 0.1.0, homes copied


def as_before(room: Room, view: str) -> None:
    """Make a folder what 0.1.0 made: files that are links of contents, a note that is a link."""
    folder = room.shop.config.home / "benches" / room.id / view
    for path in folder.rglob("*"):
        if path.is_file():
            blobs = room.shop.store.blobs
            blob = blobs.path(blobs.put(path))
            path.unlink()
            os.link(blob, path)
    note = folder.with_name(f".{view}.view")
    text = note.read_text().rstrip().replace(',"own":true', "").replace(',"whole":true', "")
    text = text.replace(',"whole":false', "").replace(',"becoming_base":null', "")
    note.unlink()
    note.symlink_to(text)


def links(room: Room) -> int:
    folder = room.shop.config.home / "benches" / room.id
    return sum(p.is_file() and p.stat().st_nlink > 1 for p in folder.rglob("*"))


@pytest.mark.rule("B2.6", "B2.10")
def test_a_bench_of_an_earlier_version_parts_from_its_contents_when_it_is_opened(room):
    room.add(SMALL)
    room.write({"a.txt": "ours\n"})
    room.call("DraftFolder", whole=True)
    for view in ("published", "draft"):
        as_before(room, view)
    folder = room.shop.config.home / "benches" / room.id
    (folder / "draft" / "theirs.txt").write_text("their own\n")
    assert links(room) == 6

    room.call("WorkbenchOpen")

    assert links(room) == 0
    assert room.in_folder("published") == SMALL
    assert room.in_folder("draft") == {"a.txt": "ours\n", "theirs.txt": "their own\n"}
    assert told(room, "draft") == ["theirs.txt"]
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    before = contents(room)
    for path in SMALL:
        EDITS[">>"](folder / "published" / path)
    assert contents(room) == before


@pytest.mark.rule("B2.6")
def test_a_large_bench_of_an_earlier_version_is_parted_in_steps(store_view, monkeypatch):
    view, folder = store_view
    assert sum(path.stat().st_nlink > 1 for path in folder.iterdir()) == 10

    steps = []
    while not view.settle(4, 10**9):
        steps.append(sum(path.stat().st_nlink > 1 for path in folder.iterdir()))

    assert steps == [6, 2]
    assert all(path.stat().st_nlink == 1 for path in folder.iterdir())
    assert view.settle(0, 0)  # nothing to do any more
    assert not view._note.is_symlink()


@pytest.fixture
def store_view(room: Room) -> tuple[View, Path]:
    room.add({f"{number}.txt": f"{number}" * 5 for number in range(10)})
    as_before(room, "published")
    view = room.shop.benches.desk.views.view(BenchId(room.id), "published")
    return view, view.folder


@pytest.mark.rule("B2.6", "B2.11")
def test_an_edit_made_through_a_link_before_the_takeover_is_told_and_heals_with_the_original(room):
    room.add({"a.txt": BIG, "b.txt": "fine\n"})
    as_before(room, "published")
    shown = room.shop.config.home / "benches" / room.id / "published" / "a.txt"
    _written_into(shown)  # the content with it, as it was then

    opened = room.call("WorkbenchOpen")

    assert (opened["health"], opened["outside_changes"]) == ("damaged", ["a.txt"])
    assert shown.read_text() == "XX" + BIG[2:]
    done = room.add({"a.txt": BIG})
    assert [one["status"] for one in done["add_results"]] == ["repaired"]
    assert room.published() == {"a.txt": BIG, "b.txt": "fine\n"}
    assert told(room, "published") == ["a.txt"]
    room.call("PublishedRepair", mode="adopt")
    assert room.published()["a.txt"] == "XX" + BIG[2:]


@pytest.mark.rule("B2.7", "T5.4")
def test_a_home_copied_with_ordinary_means_opens(tmp_path):
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        room.add(SMALL)
        room.write({"a.txt": "ours\n"})
        (shop.config.home / "benches" / room.id / "draft" / "theirs.txt").write_text("their own\n")

    shutil.copytree(tmp_path / "home", tmp_path / "copy")

    with Backshop.open(tmp_path / "copy") as shop:
        room.shop = shop
        opened = room.call("WorkbenchOpen")
        assert opened["health"] == "ok"
        assert room.published() == SMALL == room.in_folder("published")
        assert room.draft() == SMALL | {"a.txt": "ours\n"}
        kept = shop.config.home / "benches" / room.id / "meta" / "salvage"
        assert [one.read_text() for one in kept.rglob("theirs.txt")] == ["their own\n"]
        room.call("DraftPublish")


@pytest.mark.rule("B2.12")
def test_what_folders_take_on_disk_is_counted_beside_the_contents(room):
    room.add({"a.txt": BIG, "same.txt": BIG})
    room.write({"a.txt": BIG + "more"})

    size = room.call("WorkbenchGetSize")

    assert size["file_bytes"] == 2 * len(BIG)
    assert 2 * len(BIG) + 4 <= size["content_bytes"] < 2.2 * len(BIG)
    assert size["published_bytes"] >= 2 * len(BIG)
    assert size["draft_bytes"] >= len(BIG)
    assert size["salvage_bytes"] == 0
    assert size["folder_bytes"] >= size["published_bytes"] + size["draft_bytes"]
