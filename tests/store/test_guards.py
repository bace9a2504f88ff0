"""Guards of the store that other tests pass by: the chain, births, sweeping while others write."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backshop.base import tree
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.base.progress import watched
from backshop.store import Part, Pin, Plan
from backshop.store.gc import Collector
from backshop.store.log import chain_break
from backshop.store.project import Fold
from backshop.testing.conformance.store import counted, one

SUM: Fold[int] = Fold("test.sum", 1, 0, lambda total, event: total + event.fact.number)


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
