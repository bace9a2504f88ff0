"""Random histories against a plain dictionary: appends, races, deaths, collections, backups."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.conftest import PROOF
from tests.histories import Histories
from tests.postgres import fresh_database
from tests.store.store_conformance import TOTAL, Counted, counted, one

from backshop.base.ids import BlobId
from backshop.store import (
    HeadMoved,
    KeysDiffer,
    NewEvent,
    Part,
    Pin,
    Plan,
    Store,
    restore_backup,
    write_backup,
)
from backshop.testing.total import Total

STREAMS = st.sampled_from(["bench:a", "bench:b", "session:c"])
KEYS = st.integers(0, 12)
STEPS = settings(max_examples=200 if PROOF else 12, stateful_step_count=30)


class _Died(BaseException):
    """What a killed process never gets to raise; the connection is dropped as it would be."""


class StoreMachine(RuleBasedStateMachine):
    """Two stores on one home against `model`: stream → list of (key, number)."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="bs-machine-"))
        self.home = self.folder / "home"
        self.url = self.new_url()
        self.stores = [self.opened(), self.opened()]
        self.model: dict[str, list[tuple[int, int]]] = {}
        self.pinned: set[bytes] = set()
        self.backups = 0

    def new_url(self) -> str | None:
        return None

    def opened(self) -> Store:
        return Store.open(self.home, database_url=self.url)

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)
        Histories.ended += 1

    def known(self, stream: str, key: int) -> bool:
        return any(key == other for other, _ in self.model.get(stream, ()))

    @rule(which=st.integers(0, 1), stream=STREAMS, key=KEYS, number=st.integers(0, 99))
    def append(self, which, stream, key, number):
        done = self.stores[which].append(
            Plan((Part(stream, [NewEvent(Counted(number=number), f"k:{key}")]),))
        )

        assert done.replayed == self.known(stream, key)
        if not done.replayed:
            self.model.setdefault(stream, []).append((key, number))

    @rule(which=st.integers(0, 1), key=KEYS, expected=st.none() | st.integers(-1, 3))
    def append_to_two(self, which, key, expected):
        parts = (Part("bench:a", [counted(key, f"k:{key}")], expected),
                 Part("bench:b", [counted(key, f"k:{key}")]))  # fmt: skip
        have = [self.known(part.stream, key) for part in parts]
        stale = expected not in (None, len(self.model.get("bench:a", ())) - 1)
        if any(have) and not all(have):
            with pytest.raises(KeysDiffer):
                self.stores[which].append(Plan(parts))
        elif stale and not all(have):
            with pytest.raises(HeadMoved):
                self.stores[which].append(Plan(parts))
        else:
            assert self.stores[which].append(Plan(parts)).replayed == all(have)
            if not all(have):
                for part in parts:
                    self.model.setdefault(part.stream, []).append((key, key))

    @rule(which=st.integers(0, 1), stream=STREAMS)
    def update(self, which, stream):
        before = len(self.model.get(stream, ()))
        state, _ = self.stores[which].update(
            stream, TOTAL, lambda now: [counted(now.count, f"u:{now.count}")]
        )

        self.model.setdefault(stream, []).append((1000 + before, before))
        assert state.count == before + 1

    @rule(which=st.integers(0, 1), content=st.binary(min_size=1, max_size=40), pinned=st.booleans())
    def put(self, which, content, pinned):
        content = content * 3000 if len(content) % 2 else content
        blob = self.stores[which].blobs.put(content)
        if pinned:
            key = 5000 + len(self.model.get("session:c", ()))
            part = Part("session:c", [counted(1, f"p:{key}")], pins=[Pin(blob, "artifact")])
            self.stores[which].append(Plan((part,)))
            self.model.setdefault("session:c", []).append((key, 1))
            self.pinned.add(content)

    @rule(stream=STREAMS, key=KEYS)
    def race(self, stream, key):
        """Both stores append under one key at the same moment; both get the facts of one."""

        def add(store, number):
            return store.append(one(stream, counted(number, f"k:{key}")))

        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(add, self.stores, range(2)))
        first, second = (appended.events[0] for appended in found)
        assert first == second
        if not self.known(stream, key):
            self.model.setdefault(stream, []).append((key, first.fact.number))

    @rule(stream=STREAMS, key=KEYS, content=st.binary(min_size=1, max_size=40))
    def die_before_commit(self, stream, key, content):
        """A process has its blobs stored and its events written, and is gone before the commit."""
        dying = self.opened()
        dying.blobs.put(content)
        run = dying.database.execute

        def until_commit(connection, text, params=None):
            if not text.endswith("COMMIT"):
                return run(connection, text, params)
            if text != "COMMIT":  # sent together with all that goes before it
                run(connection, text.removesuffix(";COMMIT"))
            raise _Died

        dying.database.execute = until_commit  # type: ignore[method-assign]
        with suppress(_Died):
            dying.append(one(stream, counted(7, f"k:{key}")))
        dying.close()

    @rule(which=st.integers(0, 1))
    def reopen(self, which):
        self.stores[which].close()
        self.stores[which] = self.opened()

    @rule(which=st.integers(0, 1))
    def collect(self, which):
        assert self.stores[which].collect(apply=True, grace_hours=-1).applied

    @rule(which=st.integers(0, 1), stream=STREAMS)
    def delete(self, which, stream):
        if stream in self.model:
            if stream == "session:c":
                self.pinned.clear()
            self.stores[which].delete_stream(stream)
            del self.model[stream]

    @rule(which=st.integers(0, 1))
    def back_up(self, which):
        self.backups += 1
        copy = self.folder / f"copy{self.backups}"
        write_backup(self.stores[which], copy, now_ms=0)
        restore_backup(copy, self.folder / f"again{self.backups}")
        with Store.open(self.folder / f"again{self.backups}") as again:
            assert again.tail(0, 10_000) == self.stores[which].tail(0, 10_000)

    @invariant()
    def agrees_with_the_model(self):
        for store in self.stores:
            found = {
                h.stream: [r.fact.number for r in store.read(h.stream)] for h in store.streams()
            }
            assert found == {s: [number for _, number in rows] for s, rows in self.model.items()}
            for stream, rows in self.model.items():
                total = Total(sum(number for _, number in rows), len(rows))
                assert store.state(stream, TOTAL) == total
                assert store.health(stream).is_healthy
            for content in self.pinned:
                assert store.blobs.read(BlobId(_name(content))) == content


def _name(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


class PostgresMachine(StoreMachine):
    """The same on PostgreSQL."""

    def new_url(self) -> str | None:
        self.database = fresh_database()
        return self.database.__enter__()

    def teardown(self) -> None:
        super().teardown()
        self.database.__exit__(None, None, None)


TestSqlite = pytest.mark.rule("T2.1", "T2.2", "T3.2", "T4.5", "T5.4")(StoreMachine.TestCase)
TestSqlite.settings = STEPS
TestPostgres = pytest.mark.needs("postgres")(PostgresMachine.TestCase)
TestPostgres.settings = settings(STEPS, max_examples=200 if PROOF else 6)
