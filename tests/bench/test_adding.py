"""Adding: judged as a whole, nothing left of what is refused, sources that change meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from backshop.app import Backshop
from backshop.base.errors import BackshopError

from .conftest import Room


def refused(call, *args, **kwargs) -> BackshopError:
    with pytest.raises(BackshopError) as caught:
        call(*args, **kwargs)
    return caught.value


def statuses(added) -> list[tuple[str, str | None]]:
    return [(one["status"], one.get("reason")) for one in added["add_results"]]


def stored(room: Room) -> set[str]:
    return set(room.shop.store.blobs.names()) | {
        path.name for path in (room.shop.config.home / "blobs").glob("*tmp*")
    }


@pytest.mark.rule("B6.6", "B6.9", "B22.2")
def test_too_many_files_leave_nothing_behind(room):
    room.call("WorkbenchSetLimits", profile="classic")
    room.add({f"{n}.txt": f"{n}" for n in range(9)})
    before = (stored(room), room.published(), room.call("WorkbenchOpen")["workbench"])

    error = refused(room.add, {"x.txt": "x", "y.txt": "y"})

    assert (error.code, error.detail) == ("LIMIT_EXCEEDED", "max_files have=9 adding=2 limit=10")
    assert (stored(room), room.published(), room.call("WorkbenchOpen")["workbench"]) == before


@pytest.mark.rule("B6.8", "B22.6", "B22.7", "B22.8")
def test_a_refusal_names_every_conflict_and_adds_nothing(room):
    room.add({"Notes.TXT": "1", "STRASSE.txt": "2", "\u00e9.txt": "3"})
    before = stored(room)

    error = refused(
        room.add, {"notes.txt": "x", "straße.txt": "x", "e\u0301.txt": "x", "fine.txt": "x"}
    )

    assert (error.code, error.reason) == ("VALIDATION_FAILED", "duplicate")
    assert error.detail == "Notes.TXT, STRASSE.txt, \u00e9.txt"
    assert stored(room) == before
    both = room.add({"notes.txt": "x", "fine.txt": "x"}, on_conflict="keep_both")
    assert [one["path"] for one in both["add_results"]] == ["notes(1).txt", "fine.txt"]
    room.add({"NOTES(2).txt": "y"})
    third = room.add({"notes.txt": "z"}, on_conflict="keep_both")
    assert [one["path"] for one in third["add_results"]] == ["notes(3).txt"]


@pytest.mark.rule("B4.3", "B6.8")
def test_names_that_are_the_same_in_two_spellings_collide_inside_a_request(room):
    error = refused(room.add, {"a/\u00e9.txt": "1", "a/E\u0301.txt": "2"}, recursive=True)
    assert error.reason == "duplicate"
    made = room.add({"a/e\u0301.txt": "1"})
    assert made["add_results"][0]["normalized_from"] == "e\u0301.txt"


@pytest.mark.rule("B6.7", "B22.9", "B22.10")
def test_what_is_no_plain_file_outside_the_home_is_passed_over(room, tmp_path):
    fifo, link, folder = tmp_path / "fifo", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(fifo)
    link.symlink_to(tmp_path / "missing")
    folder.mkdir()
    (tmp_path / "way").symlink_to(room.shop.config.home)
    inside = tmp_path / "way" / "store.db"
    wanted = [str(one) for one in (fifo, link, folder, inside, tmp_path / "none")] + ["a\0b"]

    added = room.call("WorkbenchFilesAdd", source_paths=wanted)

    assert statuses(added) == [
        *(("skipped", "not_regular"), ("skipped", "symlink"), ("skipped", "directory")),
        *(("skipped", "inside_home"), ("skipped", "unreadable"), ("skipped", "unreadable")),
    ]


@pytest.mark.rule("B6.7", "B22.3", "B22.4")
def test_the_limit_of_a_file_is_exact(room):
    limits = {"max_files": 10, "max_file_bytes": 100, "max_total_bytes": 101, "max_depth": 2}
    room.call("WorkbenchSetLimits", limits=limits)

    added = room.add({"exact.bin": b"x" * 100, "more.bin": b"x" * 101, "small.bin": b"x"})

    assert statuses(added) == [("added", None), ("skipped", "size_limit"), ("added", None)]
    assert room.call("WorkbenchOpen")["workbench"]["published_generation"] == 1


@pytest.mark.rule("B6.4")
def test_files_beyond_limits_that_were_lowered_stay_and_only_growth_is_refused(room):
    room.add({f"{n}.txt": f"{n}" for n in range(3)})
    limits = {"max_files": 2, "max_file_bytes": 100, "max_total_bytes": 1000, "max_depth": 2}
    room.call("WorkbenchSetLimits", limits=limits)

    room.write({"0.txt": "changed"})
    error = refused(room.write, {"3.txt": "3"})

    assert (error.code, error.reason) == ("LIMIT_EXCEEDED", "too_large")
    assert room.draft() == {"0.txt": "changed", "1.txt": "1", "2.txt": "2"}
    room.call("DraftPublish")
    assert room.published()["0.txt"] == "changed"


@pytest.mark.rule("B6.7", "B22.5")
def test_a_file_that_grows_while_it_is_read_stays_out(room, tmp_path):
    """A pipe's other end decides how long a read takes; a growing file is judged by what came."""
    limits = {"max_files": 10, "max_file_bytes": 4096, "max_total_bytes": 10**6, "max_depth": 2}
    room.call("WorkbenchSetLimits", limits=limits)
    source = tmp_path / "log.txt"
    source.write_bytes(b"x" * 4096)
    stop = threading.Event()

    def grow() -> None:
        with source.open("ab", buffering=0) as file:
            while not stop.is_set():
                file.write(b"y" * 100)

    for _ in range(20):  # whatever the race gives, it is all of it within the limit, or nothing
        before = stored(room)
        source.write_bytes(b"x" * 4000)
        stop.clear()
        writer = threading.Thread(target=grow)
        writer.start()
        added = room.call("WorkbenchFilesAdd", source_paths=[str(source)], on_conflict="replace")
        stop.set()
        writer.join()
        status, reason = statuses(added)[0]
        if status == "skipped":
            assert reason == "size_limit"
            assert stored(room) == before
        else:
            text = room.published()["log.txt"]
            assert len(text) <= 4096
            assert text == "x" * 4000 + "y" * (len(text) - 4000)


@pytest.mark.rule("B4.9", "B6.7")
def test_a_name_that_changes_hands_is_never_followed(room, tmp_path):
    """A file swapped for a link, a folder or nothing between two looks gives what it is then."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    source = tmp_path / "a.txt"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for make in (
                lambda: source.write_text("plain"),
                lambda: source.symlink_to(secret),
                lambda: source.mkdir(),
            ):
                if source.is_dir() and not source.is_symlink():
                    source.rmdir()
                else:
                    source.unlink(missing_ok=True)
                make()

    changer = threading.Thread(target=swap)
    changer.start()
    try:
        for _ in range(60):
            room.call("WorkbenchFilesAdd", source_paths=[str(source)], on_conflict="replace")
            assert room.published().get("a.txt", "plain") in ("plain", "")
    finally:
        stop.set()
        changer.join()


@pytest.mark.rule("B3.10", "B22.32")
def test_nothing_is_begun_on_a_disk_without_room(tmp_path):
    settings = {"bench.disk_reserve_bytes": 10**15}
    with Backshop.open(tmp_path / "home") as shop:
        room = Room(shop, tmp_path)
        room.add({"a.txt": "a"})
        room.write({"a.txt": "b"})
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room.shop = shop
        before = (room.published(), stored(room))

        error = refused(room.call, "DraftPublish")

        assert (error.code, error.reason) == ("DISK_FULL", "disk_full")
        assert error.detail is not None
        assert error.detail.startswith("need=1000000000")
        assert room.draft() == {"a.txt": "b"}
        room.call("DraftDiscard")
        assert refused(room.add, {"c.txt": "c"}).code == "DISK_FULL"
        assert refused(room.call, "CheckpointCreate").code == "DISK_FULL"
        assert (room.published(), stored(room)) == before


@pytest.mark.rule("B6.4", "B5.1")
def test_new_workbenches_begin_with_the_limits_that_were_set(tmp_path):
    limits = {"max_files": 2, "max_file_bytes": 10, "max_total_bytes": 15, "max_depth": 1}
    with Backshop.open(tmp_path / "home", settings={"limits": limits}) as shop:
        room = Room(shop, tmp_path)
        assert room.call("WorkbenchGetScope")["limits"] == limits
        assert refused(room.add, {"a": "x" * 10, "b": "y" * 10}).code == "LIMIT_EXCEEDED"
        asked = shop.call("WorkbenchCreate", {"name": "x", "profile": "large"})
        assert shop.call("WorkbenchGetScope", asked)["profile"] == "large"
    with Backshop.open(tmp_path / "home", settings={"bench.profile": "classic"}) as shop:
        assert Room(shop, tmp_path).call("WorkbenchGetScope")["profile"] == "classic"


@pytest.mark.rule("B8.4")
def test_the_numbers_of_a_batch_are_settings(tmp_path):
    settings = {"bench.batch_operations": 2, "bench.batch_bytes": 100}
    with Backshop.open(tmp_path / "home", settings=settings) as shop:
        room = Room(shop, tmp_path)
        for files in ({"a": "1", "b": "2", "c": "3"}, {"a": "x" * 101}):
            assert refused(room.write, files).code == "LIMIT_EXCEEDED"
        assert room.draft() is None


def test_sources_outside_are_never_touched(room, tmp_path):
    room.add({"a.txt": "a"})
    source = tmp_path / "outside" / "a.txt"
    before = source.stat()
    room.write({"a.txt": "b"})
    room.call("DraftPublish")

    assert Path(source).read_text() == "a"
    assert (source.stat().st_mtime_ns, source.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
