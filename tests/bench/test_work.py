"""What a change costs: the same after many revisions, and few syncs; counted and not timed (T7)."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.effort import work

from backshop.app import Backshop
from backshop.base.ids import BlobId
from backshop.store import Blobs

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


@pytest.mark.rule("B2.5", "B2.10", "B10.5", "B8.15")
def test_what_is_done_to_one_file_costs_the_same_among_many_others(tmp_path, monkeypatch):
    """Folders of 20, as deep in both: only the number of files differs."""
    seen, stored = [], []
    for files in (400, 2000):
        home = tmp_path / str(files)
        for number in range(files):
            path = home / "f" / f"{number // 400}/{number // 20 % 20}/{number % 20}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"text {number}")
        settings = {"bench.full_view_max": 100, "bench.profile": "large"}
        with Backshop.open(home / "home", settings=settings) as shop:
            room = Room(shop, home)
            room.call("WorkbenchFilesAdd", source_paths=[str(home / "f")], recursive=True)
            contents = {sha256(f"text {n}".encode()) for n in range(files)}
            room.call("CheckpointCreate")  # what is remembered from now on is remembered
            known, read = set(_blobs(home)), _noted(monkeypatch, shop.store.blobs)

            cost = [work(partial(room.call, "CheckpointCreate"))]
            assert set(_blobs(home)) == known
            made: list[str] = []
            for turn in range(3):
                cost.append(work(partial(_write, room, f"{turn}", made)))
            for there in (made[-2], made[-1]):
                cost.append(work(partial(room.call, "DraftRestoreRevision", revision_id=there)))

            assert not contents & set(read)
            seen.append(cost)
            stored.append(sum(len(shop.store.blobs.read(one)) for one in _blobs(home) - known))
            assert room.in_folder("draft") == {"f/0/0/0.txt": "2"}

    ratios = [late / early for early, late in zip(*seen, strict=True)]
    assert [ratio for ratio in ratios if ratio > MAX_RATIO] == []
    assert stored[0] == pytest.approx(stored[1], rel=0.1)


def _write(room: Room, text: str, made: list[str]) -> None:
    made.append(room.write({"f/0/0/0.txt": text}).draft_revision_id)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _blobs(home: Path) -> set[BlobId]:
    """Return every content there is, of the database and beside it."""
    with closing(sqlite3.connect(home / "home" / "store.db")) as database:
        small = database.execute("SELECT sha256 FROM blob").fetchall()
    large = (home / "home" / "blobs").glob("??/*")
    return {BlobId(one) for (one,) in small} | {BlobId(p.parent.name + p.name) for p in large}


def _noted(monkeypatch: pytest.MonkeyPatch, blobs: Blobs) -> list[str]:
    """Return a list that names what is opened from now on."""
    read: list[str] = []
    for name in ("read", "open", "path"):
        real = getattr(type(blobs), name)

        def noted(self: object, blob: str, real: Callable[..., object] = real) -> object:
            read.append(blob)
            return real(self, blob)

        monkeypatch.setattr(type(blobs), name, noted)
    return read


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


@pytest.mark.rule("B2.7", "B2.10")
def test_notes_of_views_are_ordinary_files(room):
    room.add({"a.txt": "zero"})
    room.write({"a.txt": "one"})
    notes = list((room.shop.config.home / "benches" / room.id).glob(".*.view"))

    assert notes
    assert all(note.is_file() and not note.is_symlink() for note in notes)
    assert room.call("WorkbenchOpen")["recovery"] == []
    room.call("DraftPublish")
    assert room.on_disk("published") == {"a.txt": "one"}
    assert room.on_disk("draft") is None
