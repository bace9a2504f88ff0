"""What a change costs: the same after many revisions, and few syncs; counted and not timed (T7)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.effort import work

from backshop.app import Backshop

from .conftest import Room

MAX_RATIO = 1.15
KEPT = 20


@pytest.mark.rule("B8.12", "B8.15", "B2.10")
def test_writing_and_going_back_cost_the_same_after_many_revisions(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"workshop.max_revisions": KEPT}) as shop:
        room = Room(shop, tmp_path)
        room.add({f"d{n}/{n}.txt": "zero" for n in range(8)})
        made: list[str] = []

        def write() -> None:
            path = f"d{len(made) % 8}/{len(made) % 8}.txt"
            made.append(room.write({path: f"text {len(made)}"}).draft_revision_id)

        def go_back_and_forth() -> None:
            for revision in (made[-2], made[-1]):
                room.call("DraftRestoreRevision", revision_id=revision)

        def least(act: Callable[[], object]) -> int:  # now and then old revisions are let go
            return min(work(act) for _ in range(3))

        seen = []
        for revisions in (9, KEPT * 4):
            while len(made) < revisions:
                write()
            seen.append((least(write), least(go_back_and_forth)))

        ratios = [late / early for early, late in zip(*seen, strict=True)]
        assert [ratio for ratio in ratios if ratio > MAX_RATIO] == []


def _count(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, done: list[str]) -> None:
    real = getattr(owner, name)

    def counted(*args: object) -> object:
        done.append(name)
        return real(*args)

    monkeypatch.setattr(owner, name, counted)


@pytest.mark.rule("B2.7", "T2.6")
def test_a_write_syncs_its_content_the_folder_of_it_and_the_log_once(room, monkeypatch):
    room.add({"a.txt": "zero"})
    room.write({"a.txt": "one"})
    name = hashlib.sha256(b"two").hexdigest()
    (room.shop.config.home / "blobs" / name[:2]).mkdir(exist_ok=True)  # as after some use
    database = type(room.shop.store.database)
    done: list[str] = []
    _count(monkeypatch, os, "fsync", done)
    _count(monkeypatch, database, "transaction", done)
    before = room.shop.store.last_seq()

    room.write({"a.txt": "two"})

    assert done == ["fsync", "fsync", "transaction"]  # and one sync by the database
    assert room.shop.store.last_seq() == before + 1
    assert room.on_disk("draft") == {"a.txt": "two"}


@pytest.mark.rule("B2.10")
def test_a_file_system_without_links_keeps_its_notes_in_files(room, monkeypatch):
    def refused(*_: object) -> None:
        raise PermissionError(1, "links are not allowed")

    monkeypatch.setattr(Path, "symlink_to", partial(refused))
    room.add({"a.txt": "zero"})
    room.write({"a.txt": "one"})
    notes = list((room.shop.config.home / "benches" / room.id).glob(".*.view"))

    assert notes
    assert all(note.is_file() and not note.is_symlink() for note in notes)
    assert room.call("WorkbenchOpen")["recovery"] == []
    room.call("DraftPublish")
    assert room.on_disk("published") == {"a.txt": "one"}
    assert room.on_disk("draft") is None
