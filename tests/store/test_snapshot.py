"""States kept beside the log: they save time, and never say anything else than the log (T3.3)."""

from __future__ import annotations

import os
import pickle
import shutil
import threading
import zlib
from dataclasses import replace
from typing import Any

import pytest
from tests.store.store_conformance import TOTAL, counted, one

from backshop.base.canon import sha256_hex
from backshop.store import Fold, Store
from backshop.store.log.snapshot import STEP, freeze, thaw
from backshop.testing.total import Total

LENGTH = 3 * STEP
STREAM = "session:long"


@pytest.fixture
def filled(open_store):
    """A home with one long stream, folded once by a process that has ended."""
    store = open_store()
    store.append(one(STREAM, *[counted(number) for number in range(LENGTH)]))
    state = store.state(STREAM, TOTAL)
    store.close()
    return state


def spied(fold):
    """Return the fold, and a list that grows with every event it is given."""
    seen = []

    def apply(state, event):
        seen.append(event.idx)
        return fold.apply(state, event)

    return replace(fold, apply=apply), seen


@pytest.mark.rule("T3.3", "P2.13")
def test_a_fresh_process_folds_the_end_only(open_store, filled):
    store = open_store()
    store.append(one(STREAM, counted(-1)))
    fold, seen = spied(TOTAL)

    state = store.state(STREAM, fold)

    assert seen == [LENGTH]
    assert state == Total(filled.total - 1, filled.count + 1)


@pytest.mark.rule("T3.3", "T2.3")
def test_a_rule_sees_the_same_state_from_a_snapshot(open_store, filled):
    store = open_store()
    fold, seen = spied(TOTAL)
    given = []

    def rule(now):
        given.append(now)
        return [counted(5, "new")]

    state, _ = store.update(STREAM, fold, rule)

    assert given == [filled]
    assert seen == [LENGTH]
    assert state.count == LENGTH + 1


@pytest.mark.rule("T3.3")
@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM snapshot",
        "UPDATE snapshot SET code = 'another program'",
        "UPDATE snapshot SET checksum = 'x'",
        "UPDATE snapshot SET hash = 'x'",
        f"UPDATE snapshot SET idx = {LENGTH + 7}",
        f"UPDATE snapshot SET idx = {LENGTH - 9}",
        "UPDATE snapshot SET fold = 'another'",
    ],
)
def test_a_wrong_snapshot_costs_time_and_nothing_else(open_store, filled, sql):
    store = open_store()
    with store.database.transaction() as cursor:
        cursor.text(sql)
    fold, seen = spied(TOTAL)

    assert store.state(STREAM, fold) == filled
    assert seen == list(range(LENGTH))


def put_data(store, data):
    with store.database.transaction() as cursor:
        row = cursor.one("snapshot", {"stream": STREAM, "fold": TOTAL.name})
        assert row is not None
        code, idx, digest, _, _ = row
        row = {"code": code, "idx": idx, "hash": digest, "checksum": sha256_hex(data)}
        cursor.run("snapshot_put", {**row, "stream": STREAM, "fold": TOTAL.name, "data": data})


class Trap:
    def __reduce__(self):
        return os.system, ("touch /tmp/backshop-was-here",)


@pytest.mark.rule("T3.3")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no such thing",
        zlib.compress(b"not a pickle"),
        zlib.compress(pickle.dumps(Trap())),
        zlib.compress(pickle.dumps(os.getcwd)),
        zlib.compress(b"cbackshop.cli.main\nmain\n."),
        zlib.compress(b"cbackshop.store.service\nStore\n."),
        zlib.compress(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x031+1\x85R."),
        zlib.compress(b"\x80\x04\x8c\x0ebackshop.store\x8c\x0aos.getpid\x93)R."),
        freeze(Total(1, 1))[:-3],
    ],
)
def test_bytes_that_are_no_state_are_not_used(open_store, filled, data):
    store = open_store()
    put_data(store, data)
    fold, seen = spied(TOTAL)

    assert store.state(STREAM, fold) == filled
    assert len(seen) == LENGTH


@pytest.mark.rule("T3.3")
def test_a_fold_of_another_version_starts_again(open_store, filled):
    fold, seen = spied(replace(TOTAL, version=TOTAL.version + 1))

    assert open_store().state(STREAM, fold) == filled
    assert len(seen) == LENGTH


@pytest.mark.rule("T3.3", "R9.10")
def test_a_stream_born_again_has_nothing_of_the_old_one(open_store, filled):
    other = open_store()
    other.delete_stream(STREAM)
    other.append(one(STREAM, counted(7)))

    assert open_store().state(STREAM, TOTAL) == Total(7, 1)


@pytest.mark.rule("T3.3")
def test_a_state_that_cannot_be_kept_is_folded_each_time(open_store, filled):
    fold: Fold[Any] = Fold("test.odd", 1, None, lambda _, event: lambda: event.idx)
    store = open_store()
    first = store.state(STREAM, fold)
    store.close()

    assert first() == open_store().state(STREAM, fold)() == LENGTH - 1


@pytest.mark.rule("T3.3")
def test_a_short_stream_has_none(open_store):
    store = open_store()
    store.append(one(STREAM, *[counted(number) for number in range(STEP - 1)]))
    store.state(STREAM, TOTAL)
    store.close()

    with open_store().database.reader() as cursor:
        assert cursor.one("snapshot", {"stream": STREAM, "fold": TOTAL.name}) is None


@pytest.mark.rule("T3.3", "R9.10")
def test_a_stream_is_deleted_while_another_one_is_loaded(open_store, filled):
    """The other thread gets to the snapshots just while what is known of them is gone through."""
    store = open_store()
    store.append(one("session:other", counted(1)))
    store.state(STREAM, TOTAL)
    begins, reached = threading.Event(), threading.Event()

    class Known(dict[Any, int]):
        def __iter__(self):
            for place in super().__iter__():
                yield place
                begins.set()
                reached.wait(5)

    class Watched(threading.Condition):
        def __enter__(self):
            if threading.current_thread() is loading:
                reached.set()
            return super().__enter__()

    def load():
        begins.wait(5)
        with store.database.reader() as cursor:
            store._snapshots.load(cursor, STREAM, replace(TOTAL, name="test.twin"))
        reached.set()

    with store.database.transaction() as cursor:  # the same state, kept for another fold
        row = cursor.one("snapshot", {"stream": STREAM, "fold": TOTAL.name})
        assert row is not None
        twin = dict(zip(("code", "idx", "hash", "checksum", "data"), row, strict=True))
        cursor.run("snapshot_put", {**twin, "stream": STREAM, "fold": "test.twin"})
    store._snapshots._kept = Known(store._snapshots._kept)
    store._snapshots._changed = Watched()
    loading = threading.Thread(target=load)
    loading.start()

    store.delete_stream("session:other")
    loading.join(5)

    assert reached.is_set()
    assert (STREAM, "test.twin") in store._snapshots._kept


def test_what_is_frozen_thaws():
    assert thaw(freeze(Total(3, 4))) == Total(3, 4)


@pytest.mark.rule("T5.3")
def test_a_home_from_before_snapshots_is_brought_forward(open_store, tmp_path):
    """The first schema had no such table; what was stored under it stays as it was."""
    store = open_store()
    store.append(one(STREAM, *[counted(number) for number in range(5)]))
    hashes = [row.hash for row in store.read(STREAM)]
    with store.database.transaction() as cursor:
        cursor.text("DROP TABLE snapshot")
        cursor.text("UPDATE meta SET value = '1' WHERE key = 'schema_version'")
    store.close()

    later = open_store()

    assert [row.hash for row in later.read(STREAM)] == hashes
    assert later.state(STREAM, TOTAL).count == 5
    if later.database.dialect == "sqlite":  # the file as it was is kept beside (T5.3)
        (tmp_path / "old").mkdir()
        shutil.copy(tmp_path / "home" / "store.db.before-2", tmp_path / "old" / "store.db")
        with Store.open(tmp_path / "old") as old:
            assert [row.hash for row in old.read(STREAM)] == hashes


@pytest.mark.rule("T3.2")
def test_states_at_hand_have_a_weight_they_do_not_pass(open_store):
    """Many long conversations: those used last stay at hand, the others are folded again."""
    store = open_store()
    heavy: Fold[tuple[str, ...]] = Fold(
        "test.heavy", 1, (), lambda state, event: (*state, f"{event.stream} {'x' * 400_000}")
    )
    streams = [f"session:{number}" for number in range(60)]
    for number, stream in enumerate(streams):
        store.append(one(stream, counted(number)))
    fold, seen = spied(heavy)
    for stream in streams:  # 24 MB together, and 16 may stay
        store.state(stream, fold)
    assert len(seen) == len(streams)

    store.state(streams[-1], fold)
    assert len(seen) == len(streams), "the one used last was dropped"
    again = store.state(streams[0], fold)
    assert len(seen) == len(streams) + 1, "the one not used for longest was kept"
    assert again[0].startswith(f"{streams[0]} ")


@pytest.mark.rule("T3.2")
def test_a_state_that_grows_is_weighed_again(open_store):
    store = open_store()
    growing: Fold[tuple[bytes, ...]] = Fold(
        "test.growing", 1, (), lambda state, event: (*state, bytes(100_000))
    )
    fold, seen = spied(growing)
    streams = [f"session:{number}" for number in range(40)]
    for length in range(9):  # 36 MB in the end, in small steps
        for stream in streams:
            store.append(one(stream, counted(length, f"{stream}.{length}")))
            store.state(stream, fold)

    folded = len(seen)
    assert folded > len(streams) * 9, "nothing was ever dropped"
    store.state(streams[-1], fold)
    assert len(seen) == folded
