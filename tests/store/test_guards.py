"""Guards of the store that other tests pass by: the chain, births, sweeping while others write."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field
from tests.store.store_conformance import counted, one

from backshop.base import tree
from backshop.base.event import event
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.base.progress import watched
from backshop.store import NewEvent, Part, Pin, Plan, Store, StoreBusy, StreamNotHealthy
from backshop.store.blob.gc import Collector
from backshop.store.database.engine import Postgres
from backshop.store.health.mark import Mark
from backshop.store.log.event import chain_break
from backshop.store.log.projection import Fold
from backshop.testing.ambient import FixedClock

SUM: Fold[int] = Fold("test.sum", 1, 0, lambda total, event: total + event.fact.number)


@event("test.more")
@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """A fact that can be made, and not be read, with less than one."""

    number: Annotated[int, Field(gt=0)]


@pytest.mark.rule("T2.3", "T5.1")
def test_a_fact_that_could_not_be_read_again_is_not_written(open_store):
    store = open_store()
    store.append(one("session:a", counted(1)))

    with pytest.raises(StreamNotHealthy) as refused:
        store.update("session:a", SUM, lambda _: [counted(2), NewEvent(More(number=0), "k")])
    store.update("session:a", SUM, lambda _: [NewEvent(More(number=4), "k")])

    assert refused.value.reason == "schema_validation_failed"
    assert store.state("session:a", SUM) == 5


@pytest.mark.rule("T2.3", "T5.1")
def test_an_event_whose_own_hash_is_right_still_breaks_a_chain_it_does_not_follow(open_store):
    store = open_store()
    store.append(one("session:a", counted(1), counted(2)))
    first, second = store.read("session:a")

    moved = replace(second, prev_hash="0" * 64)
    forged = replace(moved, hash=moved.computed_hash())

    assert chain_break(first, second) is None
    assert forged.hash == forged.computed_hash()
    assert chain_break(first, forged) == "digest_mismatch"


@pytest.mark.rule("T3.3", "R9.10")
@pytest.mark.parametrize("count", [1, 3, 5])
def test_a_state_in_memory_begins_anew_with_a_stream_that_was_born_again(open_store, count):
    store, other = open_store(), open_store()
    store.append(one("session:a", *(counted(n) for n in (10, 20, 30))))
    assert store.state("session:a", SUM) == 60

    other.delete_stream("session:a")
    other.append(one("session:a", *(counted(n) for n in range(1, count + 1))))

    assert store.state("session:a", SUM) == sum(range(1, count + 1))


@pytest.mark.rule("T4.5", "T8.12")
@pytest.mark.parametrize("at_batch", [0, 1])
def test_a_content_pinned_while_a_collection_sweeps_stays(open_store, at_batch):
    store, other = open_store(), open_store()
    names = sorted(store.blobs.put(f"loose {n}".encode() * 1000) for n in range(30))
    wanted = names[-1]  # of the last batch
    batches: list[int] = []

    def pins(what: str, done: int, total: int) -> None:
        if what == "contents":
            if len(batches) == at_batch:
                part = Part("bench:a", [counted(1)], pins=[Pin(wanted, "artifact")])
                other.append(Plan((part,)))
            batches.append(done)

    with watched(pins):
        swept = store.collect(apply=True, grace_hours=-1)

    assert (len(batches), swept.blobs) == (2, 29)
    assert store.blobs.verify(wanted)


@pytest.mark.rule("T4.5", "T8.12")
def test_a_content_pinned_at_the_last_moment_before_a_batch_stays(open_store, monkeypatch):
    store, other = open_store(), open_store()
    wanted = store.blobs.put(b"loose" * 1000)
    real, marks = Collector._mark, 0

    def marking(self, cursor, known):
        nonlocal marks
        newest = real(self, cursor, known)
        marks += 1
        if marks == 2:  # all is marked, and the batch is about to begin
            part = Part("bench:a", [counted(1)], pins=[Pin(wanted, "artifact")])
            other.append(Plan((part,)))
        return newest

    monkeypatch.setattr(Collector, "_mark", marking)
    swept = store.collect(apply=True, grace_hours=-1)

    assert (marks, swept.blobs) == (3, 0)
    assert store.blobs.verify(wanted)


@pytest.mark.rule("T4.5")
def test_a_content_put_lately_is_no_garbage_in_a_file_or_in_the_database(open_store):
    store = open_store()
    store.blobs.put(b"large" * 100_000)
    built = tree.build({BenchPath("a.txt"): tree.File(BlobId("0" * 64), 1)})
    store.append(Plan((Part("bench:a", [counted(1)]),), tuple(built.nodes.values())))

    assert store.collect(apply=False, grace_hours=1).blobs == 0
    assert store.collect(apply=True, grace_hours=1).blobs == 0
    assert store.blobs.has(BlobId(built.id))
    assert store.collect(apply=True, grace_hours=-1).blobs == 2


@pytest.mark.rule("T4.5")
def test_a_small_content_put_again_while_a_collection_sweeps_stays(database_url, tmp_path):
    clock = FixedClock()
    node = tree.build({BenchPath("a.txt"): tree.File(BlobId("0" * 64), 1)})
    plan = Plan((Part("bench:a", [counted(1)]),), tuple(node.nodes.values()))
    with Store.open(tmp_path / "home", database_url=database_url, clock=clock) as store:
        store.append(plan)
        clock.move(2 * 3_600_000)

        def puts_again(what: str, done: int, total: int) -> None:
            if what == "contents":
                store.append(Plan((Part("bench:b", [counted(1)]),), plan.blobs))

        with watched(puts_again):
            swept = store.collect(apply=True, grace_hours=1)

        assert swept.blobs == 0
        assert store.blobs.has(BlobId(node.id))


@pytest.mark.rule("T2.1", "T2.3")
def test_a_stream_that_a_rule_writes_to_besides_is_held_like_its_own(database_url, tmp_path):
    def beside(states):
        return Plan((Part("session:a", [counted(1)]), Part("session:b", [counted(2)])))

    home = tmp_path / "home"
    with (
        Store.open(home, database_url=database_url) as holder,
        Store.open(home, database_url=database_url, lock_wait_ms=100) as store,
    ):
        with holder.database.transaction(["session:b"]), pytest.raises(StoreBusy):
            store.update_many((("session:a", SUM),), beside)
        before = store.last_seq()
        store.update_many((("session:a", SUM),), beside)

        assert (before, store.last_seq()) == (0, 2)


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.4")
def test_streams_are_held_in_one_order_whoever_names_them(tmp_path, monkeypatch):
    from tests.postgres import fresh_database

    sent: list[str] = []
    send = Postgres.execute

    def noted(self, connection, text, params=None):
        sent.append(text)
        return send(self, connection, text, params)

    with fresh_database() as url, Store.open(tmp_path / "home", database_url=url) as store:
        monkeypatch.setattr(Postgres, "execute", noted)
        for streams in (("session:a", "session:b"), ("session:b", "session:a")):
            with store.database.transaction(streams):
                pass

    begun = [text for text in sent if text.startswith("BEGIN")]
    assert begun[0].count("pg_advisory_xact_lock") == 2
    assert begun[0] == begun[1]


@pytest.mark.rule("T2.5")
def test_a_commit_waits_until_the_disk_has_it(tmp_path):
    with Store.open(tmp_path / "home") as store, store.database.reader() as cursor:
        assert cursor.text("PRAGMA synchronous") == [(2,)]


@pytest.mark.rule("R6.3")
def test_keys_are_rotated_by_one_at_a_time_so_that_the_one_before_stays_good(
    database_url, tmp_path
):
    home = tmp_path / "home"
    with (
        Store.open(home, database_url=database_url) as holder,
        Store.open(home, database_url=database_url, lock_wait_ms=100) as store,
    ):
        first = store.key_ring()
        with holder.database.transaction() as cursor:
            cursor.lock_lease("keyring")
            with pytest.raises(StoreBusy):
                store.rotate_keys()

        assert store.key_ring() == first
        second = store.rotate_keys()
        assert second.previous == first.current
        assert holder.rotate_keys().previous == second.current


@pytest.mark.rule("T5.6")
@pytest.mark.parametrize("is_same", [True, False], ids=["same process", "another process"])
def test_the_note_beside_the_database_stays_at_what_was_committed_last(
    tmp_path, monkeypatch, is_same
):
    note = Mark.note
    with Store.open(tmp_path / "home") as first, Store.open(tmp_path / "home") as other:
        first.append(one("bench:a", counted(1)))

        def overtaken(mark: Mark, *found: Any) -> None:
            monkeypatch.setattr(Mark, "note", note)
            (first if is_same else other).append(one("bench:b", counted(3)))
            note(mark, *found)

        monkeypatch.setattr(Mark, "note", overtaken)
        first.append(one("bench:a", counted(2)))

        assert first._mark is not None
        noted = first._mark.read()
        assert noted is not None
        assert noted.seq == first.last_seq()


@pytest.mark.rule("T4.5")
def test_a_content_put_again_between_a_look_at_it_and_its_removal_stays(tmp_path, monkeypatch):
    content = b"wanted again" * 10_000
    with Store.open(tmp_path / "home") as store:
        name = store.blobs.put(content)
        path = store.blobs.folder / name[:2] / name[2:]
        os.utime(path, (1, 1))
        rename = Path.rename

        def renewed(moved: Path, target: Path) -> Path:
            store.blobs.put(content)
            return rename(moved, target)

        monkeypatch.setattr(Path, "rename", renewed)
        freed = store.blobs.remove_if_older(name, 10_000_000_000)
        monkeypatch.undo()

        assert freed is None
        assert store.blobs.read(name) == content
        assert [file.name for file in path.parent.iterdir()] == [path.name]
