"""Connections to a server: so many at once, given back when nobody uses them (T2.8)."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.postgres import fresh_database

from backshop.app import examine
from backshop.app.operation.queue import TurnQueue
from backshop.store import Store, StoreBusy, StoreUnavailable
from backshop.store.database import connection as kept
from backshop.store.database.engine import Postgres, refusal
from backshop.store.database.pool import Pool

ENDS_S = 5.0
OPEN = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


class Wire:
    """A connection that knows whether it is open."""

    def __init__(self, opened: list[Wire]) -> None:
        self.is_open = True
        opened.append(self)

    def close(self) -> None:
        self.is_open = False


@pytest.mark.rule("T2.8")
def test_a_pool_gives_back_what_nobody_uses_and_keeps_what_is_used():
    opened: list[Wire] = []
    gone = threading.Event()

    def close(one: Wire) -> None:
        one.close()
        gone.set()

    pool = Pool(close, kept=4, idle_s=0.01)
    pool.give_back(Wire(opened))

    assert gone.wait(ENDS_S)
    assert (pool.take(), [one.is_open for one in opened]) == (None, [False])
    lasting = Pool(close, kept=1)  # of a file: for ever, but not more than so many
    for one in (Wire(opened), Wire(opened)):
        lasting.give_back(one)
    assert (lasting.take(), opened[-1].is_open) == (opened[1], False)
    lasting.close()
    lasting.give_back(opened[1])
    assert not opened[1].is_open


@pytest.mark.rule("T2.8")
def test_a_pool_has_so_many_at_once_and_a_threads_second_waits_for_nobody():
    pool = Pool(lambda one: None, kept=2, limit=2, wait_s=0.01)
    inside, leave = threading.Barrier(3, timeout=ENDS_S), threading.Event()

    def hold() -> None:
        with pool.slot(), pool.slot():
            inside.wait()
            leave.wait(ENDS_S)

    with ThreadPoolExecutor() as threads:
        held = [threads.submit(hold) for _ in range(2)]
        inside.wait()
        with pytest.raises(StoreBusy) as refused, pool.slot():
            pass
        leave.set()
        assert [one.result(ENDS_S) for one in held] == [None, None]
    with pool.slot():
        pass

    assert refused.value.reason == "connections_in_use"
    assert "all 2 connections" in refused.value.message


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.8")
def test_many_readers_of_a_server_share_its_connections_and_leave_none_open():
    with fresh_database() as url:
        database = Postgres(url, lock_wait_ms=2000, connections=3, idle_s=0.2)
        watching = Postgres(url, lock_wait_ms=2000)
        with watching.reader() as watch:
            most, start = [], threading.Barrier(12, timeout=60)

            def read() -> None:
                start.wait()
                with database.reader() as cursor:
                    most.append(cursor.text(OPEN)[0][0])

            with ThreadPoolExecutor(12) as threads:
                for one in [threads.submit(read) for _ in range(12)]:
                    one.result(60)
            ends = time.monotonic() + ENDS_S
            while (left := watch.text(OPEN)[0][0]) > 1 and time.monotonic() < ends:
                pass
        database.close()
        watching.close()

    assert max(most) <= 4
    assert left == 1


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.8", "S5.3", "S4.4")
def test_a_server_without_a_connection_left_is_told_as_that(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "_CONNECTION_WAIT_S", 0.01)
    with fresh_database() as url, psycopg.connect(url, autocommit=True) as owner:
        name = f"full{uuid.uuid4().hex}"
        owner.execute(f"CREATE ROLE {name} LOGIN CONNECTION LIMIT 0")
        full = url.replace("://postgres", f"://{name}", 1)
        with pytest.raises(StoreUnavailable) as store:
            Store.open(tmp_path / "home", database_url=full)
        waiting = TurnQueue(full)
        with pytest.raises(StoreUnavailable) as queue:
            waiting.prepare()
        waiting.close()
        monkeypatch.setenv("BACKSHOP_DATABASE_URL", full)
        found = examine(tmp_path / "home")
        owner.execute(f"DROP ROLE {name}")

    assert [one.value.reason for one in (store, queue)] == ["too_many_connections"] * 2
    assert "too many connections" in queue.value.message
    told = [one.message for one in found if one.subject == "store"]
    assert len(told) == 1
    assert told[0].startswith(store.value.message)


@pytest.mark.rule("T2.8", "T7.9")
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("the database system is starting up", None),
        ("the database system is shutting down", None),
        ("the database system is in recovery mode", None),
        ("the database system is not yet accepting connections", None),
        ("sorry, too many clients already", "too_many_connections"),
        ("remaining connection slots are reserved for roles", "too_many_connections"),
        ('too many connections for role "x"', "too_many_connections"),
        ('password authentication failed for user "x"', "refused"),
    ],
)
def test_what_a_server_says_when_it_will_not_have_us_is_told_apart(said, reason):
    found = refusal(Exception(f"connection to server failed: FATAL:  {said}"))

    assert found is not None
    assert (found.reason, found.detail) == (reason, said)
    assert refusal(Exception("connection refused")) is None
