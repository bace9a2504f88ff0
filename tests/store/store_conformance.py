"""What every event store must do, whatever database is behind it (T1–T5).

A subclass in a test module gives `open_store`, a fixture that returns a function: each call opens
one more `Store` on the same data, the way another process would.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pytest

from backshop.base import tree
from backshop.base.canon import sha256_hex
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.event import event
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.store import (
    Appended,
    DuplicateKey,
    Event,
    Fold,
    HeadMoved,
    KeysDiffer,
    LeaseLost,
    NewEvent,
    Part,
    Pin,
    Plan,
    Store,
    Write,
    wire,
)
from backshop.testing.total import Total

OpenStore = Callable[[], Store]


@event("test.counted")
@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A number was said."""

    number: int
    note: str | None = None


@event("test.named", v=2, upgraders={1: lambda old: {"name": old["title"]}})
@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A name was given; version 1 called it a title."""

    name: str


def _add(state: Total, committed: Event) -> Total:
    match committed.fact:
        case Counted(number=number):
            return Total(state.total + number, state.count + 1)
    return state


TOTAL = Fold("test.total", 1, Total(), _add)


def counted(number: int, key: str | None = None) -> NewEvent:
    """Return an event with a number; its key is the number unless given."""
    return NewEvent(Counted(number=number), key or f"counted:{number}")


def one(stream: str, *events: NewEvent, expected: int | None = None) -> Plan:
    """Return a plan for one stream."""
    return Plan((Part(stream, events, expected),))


def numbers(store: Store, stream: str) -> list[int]:
    """Return the numbers of a stream."""
    return [committed.fact.number for committed in store.read(stream)]


def run_together(*works: Callable[[], object]) -> list[object]:
    """Run functions at the same moment in threads; return results or the errors raised."""
    results: list[object] = [None] * len(works)
    barrier = threading.Barrier(len(works))

    def run(place: int, work: Callable[[], object]) -> None:
        barrier.wait(5)
        try:
            results[place] = work()
        except BackshopError as error:
            results[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return results


class StoreConformance:
    """The suite. Names of tests say the behaviour; rule ids say where it is asked for."""

    @pytest.mark.rule("T1.1", "T1.2", "T1.3")
    def test_events_are_numbered_and_chained_from_zeros(self, open_store: OpenStore) -> None:
        store = open_store()

        first = store.append(one("bench:a", counted(1), counted(2))).events
        second = store.append(one("bench:a", counted(3))).events

        rows = [*first, *second]
        assert [row.idx for row in rows] == [0, 1, 2]
        assert [row.prev_hash for row in rows] == ["0" * 64, rows[0].hash, rows[1].hash]
        assert [row.hash for row in rows] == [row.computed_hash() for row in rows]
        assert list(store.read("bench:a")) == rows
        head = store.head("bench:a")
        assert head is not None
        assert (head.last_idx, head.last_hash, head.last_seq) == (2, rows[2].hash, rows[2].seq)

    @pytest.mark.rule("T1.2")
    def test_the_hash_covers_the_exported_object(self, open_store: OpenStore) -> None:
        store = open_store()
        new = NewEvent(Counted(number=7), "k", "evt_x", scope_a="run_1", scope_b="node_1")

        row = store.append(one("session:s", new)).events[0]

        exported = wire(row)
        assert exported.pop("hash") == f"sha256:{row.hash}"
        assert exported == {
            "v": 1,
            "stream": "session:s",
            "eventIndex": 0,
            "eventId": "evt_x",
            "kind": "test.counted",
            "scope": {"runId": "run_1", "nodeId": "node_1"},
            "dedupeKey": "k",
            "data": {"number": 7},
            "timestampMs": row.at_ms,
            "prevHash": "sha256:" + "0" * 64,
        }

    @pytest.mark.rule("T2.2", "T8.1")
    def test_a_repeated_key_event_returns_the_recorded_facts(self, open_store: OpenStore) -> None:
        store, other = open_store(), open_store()
        recorded = store.append(one("bench:a", counted(1), counted(2)))

        again = other.append(one("bench:a", counted(99, "counted:1"), counted(98)))

        assert again.replayed
        assert again.parts == recorded.parts
        assert numbers(store, "bench:a") == [1, 2]

    @pytest.mark.rule("T8.1", "T2.7")
    def test_many_writers_of_one_key_record_it_once(self, open_store: OpenStore) -> None:
        stores = [open_store() for _ in range(4)]

        for round_ in range(10):
            plan = one("bench:race", counted(round_, f"round:{round_}"))
            results = run_together(*[partial(store.append, plan) for store in stores])
            replayed = sorted(r.replayed for r in results if isinstance(r, Appended))
            assert replayed == [False, True, True, True]

        assert numbers(stores[0], "bench:race") == list(range(10))

    @pytest.mark.rule("T2.7", "T5.1")
    def test_a_stream_in_motion_is_not_taken_for_a_damaged_one(self, open_store: OpenStore) -> None:
        busy = open_store()
        busy.append(one("bench:busy", counted(0, "first")))

        def writes(round_: int) -> int:
            for number in range(20):
                busy.append(one("bench:busy", counted(1, f"busy:{round_}:{number}")))
            return 20

        def looks(store: Store, round_: int) -> int:
            store.append(one("bench:busy", counted(1, f"fresh:{round_}")))
            return sum(store.health("bench:busy").is_healthy for _ in range(10))

        for round_ in range(5):
            fresh = open_store()  # it looks at the end of the stream with its first append
            done = run_together(partial(writes, round_), partial(looks, fresh, round_))
            assert done == [20, 10]

        assert len(numbers(busy, "bench:busy")) == 1 + 5 * 21

    @pytest.mark.rule("T2.2", "T8.2")
    def test_a_plan_that_fits_only_in_part_changes_nothing(self, open_store: OpenStore) -> None:
        store = open_store()
        store.append(one("bench:b", counted(1)))

        stale = Plan(
            (
                Part("bench:a", [counted(1)]),
                Part("bench:c", [counted(1)]),
                Part("bench:b", [counted(2)], expected=-1),
            )
        )
        with pytest.raises(HeadMoved):
            store.append(stale)
        with pytest.raises(KeysDiffer):
            store.append(Plan((Part("bench:a", [counted(1)]), Part("bench:b", [counted(1)]))))
        with pytest.raises(DuplicateKey):
            store.append(one("bench:b", counted(2), counted(1)))
        with pytest.raises(DuplicateKey):
            store.append(one("bench:d", counted(2), counted(2)))

        assert [head.stream for head in store.streams()] == ["bench:b"]
        assert numbers(store, "bench:b") == [1]

    @pytest.mark.rule("T2.1")
    def test_parts_commit_together_and_come_back_in_order(self, open_store: OpenStore) -> None:
        store = open_store()

        done = store.append(
            Plan((Part("session:z", [counted(1)], -1), Part("bench:a", [counted(2)], -1)))
        )

        assert [[row.stream for row in part] for part in done.parts] == [["session:z"], ["bench:a"]]
        assert [row.stream for row in store.tail(0)] == ["bench:a", "session:z"]

    @pytest.mark.rule("T2.3")
    def test_update_decides_on_the_state_under_the_lock(self, open_store: OpenStore) -> None:
        stores = [open_store() for _ in range(3)]

        def add_next(state: Total) -> Sequence[NewEvent]:
            return [counted(state.count)]

        def eight_times(store: Store) -> None:
            for _ in range(8):
                store.update("bench:a", TOTAL, add_next)

        run_together(*[partial(eight_times, store) for store in stores])

        assert numbers(stores[0], "bench:a") == list(range(24))
        assert stores[1].state("bench:a", TOTAL) == Total(sum(range(24)), 24)

    @pytest.mark.rule("T2.3")
    def test_a_rule_that_refuses_or_wants_nothing_leaves_no_trace(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()

        def refuse(_: Total) -> Sequence[NewEvent]:
            raise ValidationFailed("no")

        with pytest.raises(ValidationFailed):
            store.update("bench:a", TOTAL, refuse)
        state, appended = store.update("bench:a", TOTAL, lambda _: [])

        assert (state, appended.parts) == (Total(), ())
        assert store.streams() == []

    @pytest.mark.rule("T2.3", "T2.6", "T4.2")
    def test_a_rule_may_bring_blobs_of_any_size(self, open_store: OpenStore) -> None:
        store = open_store()
        small, large = b"small", b"large" * 50_000
        pins = [Pin(BlobId(sha256_hex(data)), "artifact") for data in (small, large)]

        store.update("bench:a", TOTAL, lambda _: Write([counted(1)], pins, [small, large]))

        assert [store.blobs.read(pin.ref) for pin in pins] == [small, large]
        assert sorted(store.pins("bench:a"), key=lambda p: p.ref) == sorted(
            pins, key=lambda p: p.ref
        )

    @pytest.mark.rule("T3.2")
    def test_states_are_brought_forward_by_new_events_alone(self, open_store: OpenStore) -> None:
        store, other = open_store(), open_store()
        seen: list[int] = []

        def spy(state: Total, committed: Event) -> Total:
            seen.append(committed.idx)
            return _add(state, committed)

        fold = Fold("test.spied", 1, Total(), spy)
        store.append(one("bench:a", counted(1), counted(2)))
        store.state("bench:a", fold)
        other.append(one("bench:a", counted(3)))

        state = store.state("bench:a", fold)
        store.update("bench:a", fold, lambda _: [counted(4)])

        assert state == Total(6, 3)
        assert seen == [0, 1, 2, 3]

    @pytest.mark.rule("T3.1")
    def test_the_tail_follows_all_streams_in_commit_order(self, open_store: OpenStore) -> None:
        stores = [open_store() for _ in range(3)]
        seen: list[Event] = []

        def follow() -> None:
            after = 0
            while len(seen) < 60 and stores[0].wait(after, 10):
                seen.extend(stores[0].tail(after))
                after = seen[-1].seq

        def write(place: int) -> Callable[[], None]:
            def work() -> None:
                for number in range(20):
                    stores[place].append(one(f"bench:{place}", counted(number)))

            return work

        run_together(follow, write(0), write(1), write(2))

        assert [row.seq for row in seen] == sorted(row.seq for row in seen)
        for place in range(3):
            mine = [row.fact.number for row in seen if row.stream == f"bench:{place}"]
            assert mine == list(range(20))

    @pytest.mark.rule("T3.1")
    def test_events_are_found_by_scope(self, open_store: OpenStore) -> None:
        store = open_store()
        for number, scopes in enumerate([("r1", "n1"), ("r1", "n2"), ("r2", "n1")]):
            new = NewEvent(Counted(number=number), f"k{number}", None, *scopes)
            store.append(one(f"session:{number}", new))

        def found(**scope: str) -> list[int]:
            return [row.fact.number for row in store.find("test.counted", **scope)]

        assert found(scope_a="r1") == [0, 1]
        assert found(scope_b="n1") == [0, 2]
        assert found(scope_a="r2", scope_b="n1") == [2]
        assert store.find("test.named", scope_a="r1") == []

    @pytest.mark.rule("T1.1")
    @pytest.mark.parametrize(
        "plan",
        [
            Plan(()),
            Plan((Part("bench:a", []),)),
            Plan((Part("bench:a", [counted(1)]), Part("bench:a", [counted(2)]))),
            Plan((Part("", [counted(1)]),)),
            Plan((Part("bench:a b", [counted(1)]),)),
            Plan((Part("bench:\x00", [counted(1)]),)),
            Plan((Part("bench:a", [counted(1, "key with space")]),)),
            Plan((Part("bench:a", [counted(1, "é")]),)),
            Plan((Part("bench:a", [counted(1, "k" * 257)]),)),
            Plan((Part("bench:a", [counted(1)], pins=[Pin(BlobId("../x"), "artifact")]),)),
            Plan((Part("bench:a", [NewEvent(Counted(number=2**60), "k")]),)),
            Plan((Part("bench:a", [NewEvent(Counted(number=1, note="\ud800"), "k")]),)),
        ],
    )
    def test_what_cannot_be_stored_is_refused_before_anything(
        self, open_store: OpenStore, plan: Plan
    ) -> None:
        store = open_store()

        with pytest.raises(ValidationFailed):
            store.append(plan)

        assert store.streams() == []

    @pytest.mark.rule("T5.2")
    def test_old_versions_are_upgraded_when_read(self, open_store: OpenStore) -> None:
        store = open_store()
        row = store.append(one("bench:a", NewEvent(Named(name="now"), "k"))).events[0]

        old = replace(row, v=1, body=b'{"title":"then"}')

        assert (row.fact, old.fact) == (Named(name="now"), Named(name="then"))

    @pytest.mark.rule("T1.5", "B3.8")
    def test_a_lease_is_held_by_one_and_fences_its_appends(self, open_store: OpenStore) -> None:
        store, other = open_store(), open_store()
        plan = Plan((Part("bench:a", [counted(1)], lease="me"),))

        assert store.leases.take("bench:a", "me", 60)
        assert not other.leases.take("bench:a", "you", 60)
        store.append(plan)
        store.leases.drop("bench:a", "me")
        assert other.leases.take("bench:a", "you", 60)

        with pytest.raises(LeaseLost):
            store.append(Plan((Part("bench:a", [counted(2)], lease="me"),)))
        assert store.leases.holder("bench:a") == "you"
        assert numbers(store, "bench:a") == [1]

    @pytest.mark.rule("T1.5", "T6.2")
    def test_a_lease_passes_from_one_holder_to_one_other(self, open_store: OpenStore) -> None:
        store, other = open_store(), open_store()
        assert store.leases.take("bench:a", "server", 60)

        assert store.leases.pass_on("bench:a", "server", "first", 60)
        assert not other.leases.pass_on("bench:a", "server", "second", 60)
        assert not store.leases.pass_on("bench:a", "server", "server", 60)
        assert other.leases.pass_on("bench:a", "first", "first", 60)

        assert store.leases.holder("bench:a") == "first"
        assert store.leases.held() == ["bench:a"]
        assert store.leases.run_out(0) == []

    @pytest.mark.rule("T1.5", "T6.2")
    def test_a_lease_that_its_holder_ends_is_free_and_still_known(
        self, open_store: OpenStore
    ) -> None:
        store, other = open_store(), open_store()
        assert store.leases.take("bench:a", "me", 60)
        other.leases.end("bench:a", "you")  # not theirs
        other.leases.forget("bench:a")  # held
        assert store.leases.holder("bench:a") == "me"

        store.leases.end("bench:a", "me")

        assert (other.leases.holder("bench:a"), other.leases.held()) == (None, [])
        assert (other.leases.run_out(0), other.leases.run_out(60)) == (["bench:a"], [])
        with pytest.raises(LeaseLost):
            store.append(Plan((Part("bench:a", [counted(1)], lease="me"),)))
        other.leases.forget("bench:a")
        assert store.leases.run_out(0) == []
        assert other.leases.take("bench:a", "you", 60)

    @pytest.mark.rule("T6.5")
    def test_what_is_drawn_in_a_minute_is_counted_once_for_everybody(
        self, open_store: OpenStore
    ) -> None:
        store, other = open_store(), open_store()

        drawn = [one.quotas.draw("ada", 4, 10).granted for one in (store, other, store, other)]

        assert sum(drawn) in (10, 14, 18)  # the minute may have ended in between
        assert drawn[0] == 4

    @pytest.mark.rule("T1.5", "B3.8")
    def test_a_lease_that_ran_out_is_free(self, open_store: OpenStore) -> None:
        store = open_store()

        assert store.leases.take("bench:a", "me", -1)

        assert store.leases.holder("bench:a") is None
        assert store.leases.take("bench:a", "you", 60)

    @pytest.mark.rule("T1.5", "T6.2")
    def test_since_when_a_lease_has_run_out_stays_known_when_it_is_ended(
        self, open_store: OpenStore
    ) -> None:
        store = open_store()
        assert store.leases.take("bench:a", "me", -120)

        store.leases.end("bench:a", "me")

        assert store.leases.run_out(60) == ["bench:a"]

    @pytest.mark.rule("R6.3")
    def test_the_key_ring_is_made_once_and_rotates(self, open_store: OpenStore) -> None:
        store, other = open_store(), open_store()

        first = store.key_ring()
        rotated = other.rotate_keys()

        assert len(first.current) == 32
        assert first.previous is None
        assert rotated.previous == first.current
        assert store.key_ring() == rotated

    @pytest.mark.rule("R9.10", "T1.2")
    def test_a_stream_is_deleted_whole_or_kept(self, open_store: OpenStore) -> None:
        store = open_store()
        store.append(one("session:a", counted(1)))
        store.append(one("session:b", counted(1)))
        before = store.last_seq()
        store.set_keep("session:b", True)
        store.set_local("session:b", "here")

        store.delete_stream("session:a")
        with pytest.raises(NotFound):
            store.delete_stream("session:a")
        with pytest.raises(NotFound):
            store.set_keep("session:a", True)
        store.append(one("session:a", counted(5)))

        assert numbers(store, "session:a") == [5]
        assert store.last_seq() > before
        kept = store.head("session:b")
        assert kept is not None
        assert (kept.keep, kept.local) == (True, "here")

    @pytest.mark.rule("T4.5", "T8.3")
    def test_collection_removes_what_nothing_pins(self, open_store: OpenStore) -> None:
        store = open_store()
        kept_file = store.blobs.put(b"a file that is kept")
        built = tree.build({BenchPath("d/a.txt"): tree.File(kept_file, 19)})
        loose = store.blobs.put(b"nobody names this")
        plan = Plan(
            (Part("bench:a", [counted(1)], pins=[Pin(BlobId(built.id), "tree")]),),
            tuple(built.nodes.values()),
        )
        store.append(plan)

        dry = store.collect(apply=False, grace_hours=-1)
        young = store.collect(apply=True)
        swept = store.collect(apply=True, grace_hours=-1)

        assert (dry.blobs, dry.applied, young.blobs) == (1, False, 0)
        assert (swept.blobs, swept.bytes, swept.applied) == (1, 17, True)
        assert not store.blobs.has(loose)
        assert dict(tree.walk(built.id, store.load_tree)) == {
            BenchPath("d/a.txt"): tree.File(kept_file, 19)
        }
        assert store.blobs.read(kept_file) == b"a file that is kept"
