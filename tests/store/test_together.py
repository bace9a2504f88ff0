"""Several processes, and a database that goes away: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.store.store_conformance import TOTAL, counted, numbers, one

from backshop.base.errors import BackshopError
from backshop.store import (
    Part,
    Pin,
    Plan,
    Store,
    StoreUnavailable,
    Write,
    migration,
    restore_backup,
    write_backup,
)
from backshop.testing.ambient import FixedClock
from backshop.testing.total import Total

SPAWN = multiprocessing.get_context("spawn")


def _append_many(home: str, url: str, name: str, count: int) -> None:
    with Store.open(Path(home), database_url=url, lock_wait_ms=20_000) as store:
        for number in range(count):
            store.append(one(f"bench:{name}", counted(number)))


def _race(home: str, url: str, barrier, rounds: int) -> None:
    with Store.open(Path(home), database_url=url, lock_wait_ms=20_000) as store:
        for number in range(rounds):
            barrier.wait(60)
            store.append(one("bench:race", counted(number, f"round:{number}")))


def _open_only(home: str, url: str, barrier) -> None:
    barrier.wait(60)
    Store.open(Path(home), database_url=url).close()


def run_processes(target, *argument_lists) -> None:
    children = [SPAWN.Process(target=target, args=args) for args in argument_lists]
    for child in children:
        child.start()
    for child in children:
        child.join(100)
    assert [child.exitcode for child in children] == [0] * len(children)


@pytest.mark.rule("T2.7", "T7.3")
def test_four_processes_on_four_streams_lose_nothing(open_store, database_url, scaled):
    store = open_store()
    count = scaled(40, 1000)

    run_processes(_append_many, *[(str(store.home), database_url, str(n), count) for n in range(4)])

    assert [numbers(store, f"bench:{n}") for n in range(4)] == [list(range(count))] * 4
    tail = store.tail(0, 100_000)
    assert [row.seq for row in tail] == sorted(row.seq for row in tail)
    assert len(tail) == 4 * count


@pytest.mark.rule("T2.2", "T8.1", "T7.4")
def test_four_processes_racing_on_one_key_record_it_once(open_store, database_url, scaled):
    store = open_store()
    rounds = scaled(25, 1000)
    barrier = SPAWN.Barrier(4)

    run_processes(_race, *[(str(store.home), database_url, barrier, rounds) for _ in range(4)])

    assert numbers(store, "bench:race") == list(range(rounds))


@pytest.mark.rule("T5.3", "T8.10")
def test_processes_that_open_a_new_home_at_once_all_succeed(tmp_path, database_url):
    barrier = SPAWN.Barrier(3)

    run_processes(_open_only, *[(str(tmp_path / "home"), database_url, barrier) for _ in range(3)])

    with Store.open(tmp_path / "home", database_url=database_url) as store:
        assert store.streams() == []


@pytest.fixture
def later(monkeypatch):
    """A program with one more migration than this one."""

    def step(_, cursor):
        cursor.text("CREATE TABLE later (x TEXT)")

    monkeypatch.setattr(migration, "MIGRATIONS", (*migration.MIGRATIONS, step))
    monkeypatch.setattr(migration, "VERSION", migration.VERSION + 1)
    return f"store.db.before-{migration.VERSION}"


@pytest.fixture
def old_home(tmp_path):
    """A home with one event, written before the later program came."""
    with Store.open(tmp_path / "home") as store:
        store.append(one("bench:a", counted(1)))
    return tmp_path / "home"


def kept(path):
    """Return the version a kept copy has, and how many events; it needs no file beside it."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        version = database.execute("SELECT value FROM meta WHERE key = 'schema_version'")
        events = database.execute("SELECT count(*) FROM event")
        return int(version.fetchone()[0]), events.fetchone()[0]


@pytest.mark.rule("T5.3")
def test_a_copy_of_the_file_is_kept_before_a_migration(old_home, later):
    with Store.open(old_home) as store:
        assert numbers(store, "bench:a") == [1]

    assert kept(old_home / later) == (migration.VERSION - 1, 1)
    assert sorted(path.name for path in old_home.iterdir()) == ["store.db", "store.db-mark", later]


@pytest.mark.rule("T5.3", "T8.10")
def test_the_copy_is_of_the_file_before_whoever_migrates_first(old_home, later, monkeypatch):
    """Another process migrates after this one has seen that it is to be done."""
    looked: list[int] = []
    look = migration._version

    def slowly(database, cursor):
        found = look(database, cursor)
        if not looked:
            looked.append(found)
            Store.open(old_home).close()
        return found

    monkeypatch.setattr(migration, "_version", slowly)
    Store.open(old_home).close()

    assert looked == [migration.VERSION - 1]
    assert kept(old_home / later) == (migration.VERSION - 1, 1)


@pytest.mark.rule("T5.3")
def test_no_copy_goes_over_an_earlier_one(old_home, later):
    (old_home / later).write_text("an earlier one")

    Store.open(old_home).close()

    assert (old_home / later).read_text() == "an earlier one"
    assert kept(old_home / f"{later}.2") == (migration.VERSION - 1, 1)


@pytest.mark.rule("T5.3")
def test_what_a_killed_copy_left_goes_with_the_next_one(old_home, later):
    for left in ("", "-journal", "-wal", "-shm"):
        (old_home / f".{later}-abc{left}").write_text("half of it")

    Store.open(old_home).close()

    assert sorted(path.name for path in old_home.iterdir()) == ["store.db", "store.db-mark", later]


@pytest.mark.rule("T5.3")
def test_a_migration_that_fails_leaves_the_home_as_it_was(old_home, later, monkeypatch):
    def fails(_, cursor):
        cursor.text("CREATE TABLE later (x TEXT)")
        raise StoreUnavailable("in the middle of it")

    with monkeypatch.context() as patch:
        patch.setattr(migration, "MIGRATIONS", (*migration.MIGRATIONS[:-1], fails))
        with pytest.raises(StoreUnavailable):
            Store.open(old_home)

    assert kept(old_home / "store.db") == (migration.VERSION - 1, 1)
    assert sorted(path.name for path in old_home.iterdir()) == ["store.db", "store.db-mark"]


@pytest.mark.rule("T8.11")
def test_a_reader_sees_a_plan_whole_or_not_at_all(open_store):
    store, reader = open_store(), open_store()
    torn: list[int] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            length = len(list(reader.read("bench:a")))
            if length % 10:
                torn.append(length)

    thread = threading.Thread(target=read)
    thread.start()
    for batch in range(30):
        store.append(one("bench:a", *[counted(batch * 10 + n) for n in range(10)]))
    done.set()
    thread.join(10)

    assert torn == []


@pytest.mark.rule("T4.5", "T8.12")
def test_collection_never_takes_what_somebody_is_adding(open_store):
    store, other = open_store(), open_store()
    failures: list[BackshopError] = []

    def add() -> None:
        for number in range(40):
            blob = other.blobs.put(f"content {number % 5}".encode() * 1000)
            pins = [Pin(blob, "artifact")]
            try:
                other.append(Plan((Part("bench:a", [counted(number)], pins=pins),)))
            except BackshopError as error:
                failures.append(error)

    thread = threading.Thread(target=add)
    thread.start()
    while thread.is_alive():
        store.collect(apply=True, grace_hours=0.0005)
    thread.join()

    assert failures == []
    assert all(store.blobs.verify(pin.ref) for pin in store.pins("bench:a"))


@pytest.mark.rule("T5.4", "T8.14")
def test_a_backup_taken_while_others_write_is_whole(open_store, tmp_path):
    store = open_store()
    writers = [open_store() for _ in range(3)]
    stop = threading.Event()

    def write(number: int) -> None:
        count = 0
        while not stop.is_set():
            blob = writers[number].blobs.put(f"{number} {count}".encode() * 20_000)
            pins = [Pin(blob, "artifact")]
            writers[number].append(Plan((Part(f"bench:{number}", [counted(count)], pins=pins),)))
            count += 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(3):
            write_backup(store, tmp_path / f"copy{number}", now_ms=0)
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)

    for number in range(3):
        restore_backup(tmp_path / f"copy{number}", tmp_path / f"again{number}")
        with Store.open(tmp_path / f"again{number}") as again:
            for head in again.streams():
                assert again.health(head.stream).is_healthy
                assert all(again.blobs.verify(pin.ref) for pin in again.pins(head.stream))


@pytest.mark.rule("T1.4", "T8.18")
def test_a_clock_set_back_changes_no_order(tmp_path):
    clock = FixedClock()
    with Store.open(tmp_path / "home", clock=clock) as store:
        for number in range(5):
            store.append(one("bench:a", counted(number)))
            clock.move(-3_600_000)

        rows = store.tail(0)
        assert [row.fact.number for row in rows] == list(range(5))
        assert store.health("bench:a").is_healthy
        assert len({row.event_id for row in rows}) == 5


@pytest.mark.needs("postgres")
@pytest.mark.rule("T8.17", "T6.3")
def test_a_lost_connection_is_replaced_and_the_key_finds_what_was_committed(tmp_path):
    import psycopg
    from tests.postgres import fresh_database

    with fresh_database() as url, Store.open(tmp_path / "home", database_url=url) as store:
        store.append(one("bench:a", counted(1)))
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )

        again = store.append(one("bench:a", counted(99, "counted:1")))
        more = store.append(one("bench:a", counted(2)))

        assert again.replayed
        assert not more.replayed
        assert store.state("bench:a", TOTAL) == Total(3, 2)


@pytest.mark.needs("postgres")
@pytest.mark.rule("T7.9", "T2.5", "T6.3")
def test_a_database_server_killed_under_load_loses_nothing_acknowledged(tmp_path, scaled):
    from tests.postgres import private_server

    with private_server() as server:
        acknowledged: list[int] = []
        stop = threading.Event()
        with Store.open(tmp_path / "home", database_url=server.url()) as store:

            def write() -> None:
                number = 0
                while not stop.is_set():
                    try:
                        store.append(one("bench:a", counted(number)))
                    except StoreUnavailable:
                        stop.wait(0.05)
                        continue
                    acknowledged.append(number)
                    number += 1

            thread = threading.Thread(target=write)
            thread.start()
            for _ in range(scaled(2, 10)):
                wanted = len(acknowledged) + 20
                while len(acknowledged) < wanted:
                    stop.wait(0.02)
                server.kill()
                server.restart()
            wanted = len(acknowledged) + 20
            while len(acknowledged) < wanted:
                stop.wait(0.02)
            stop.set()
            thread.join(20)

            assert numbers(store, "bench:a")[: len(acknowledged)] == acknowledged
            assert store.health("bench:a").is_healthy


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.7", "T6.1")
def test_a_server_without_a_free_connection_is_waited_for(tmp_path):
    import psycopg
    from tests.postgres import fresh_database, server

    with fresh_database() as url, Store.open(tmp_path / "home", database_url=url) as store:
        store.append(one("bench:a", counted(1)))
        store.database._pool.take().close()  # type: ignore[union-attr]  # one is kept
        taken = []
        with suppress(psycopg.OperationalError):
            while True:
                taken.append(psycopg.connect(server().get_uri()))

        def give_back() -> None:
            for connection in taken:
                connection.close()

        timer = threading.Timer(0.3, give_back)
        timer.start()
        try:
            assert numbers(store, "bench:a") == [1]
        finally:
            timer.join(10)


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.4")
def test_what_puts_all_appends_in_order_is_taken_and_let_go_by_one_message(tmp_path, monkeypatch):
    from tests.postgres import fresh_database

    from backshop.store.database.engine import Postgres
    from backshop.store.database.lock_key import SEQ_LOCK

    sent: list[str] = []
    send = Postgres.execute

    def noted(self, connection, text, params=None):
        sent.append(text)
        return send(self, connection, text, params)

    with fresh_database() as url, Store.open(tmp_path / "home", database_url=url) as store:
        blob = store.blobs.put(b"x" * 100_000)

        def rule(state):
            new = [counted(n, f"k:{state.count}:{n}") for n in range(5)]
            return Write(new, pins=[Pin(blob, "artifact")], blobs=[b"small"])

        store.update("bench:a", TOTAL, rule)
        monkeypatch.setattr(Postgres, "execute", noted)
        store.update("bench:a", TOTAL, rule)

        assert [text for text in sent if str(SEQ_LOCK) in text] == [sent[-1]]
        assert sent[-1].endswith(";COMMIT")
        assert len(sent) == 4  # begin and hold, what is new, where it stands, the rest
        assert [event.seq for event in store.read("bench:a")] == list(range(1, 11))


@pytest.mark.rule("S3.5")
def test_a_database_is_its_owners_alone_also_in_a_folder_that_others_can_enter(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mine.txt").touch()  # somebody's folder: its mode stays
    (tmp_path / "home").chmod(0o755)

    with Store.open(tmp_path / "home") as store:
        store.append(one("bench:a", counted(1)))
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "home").glob("s*")}

    assert set(modes) >= {"store.db", "store.db-mark"}
    assert set(modes.values()) == {0o600}


@pytest.mark.rule("S3.5")
def test_a_database_that_others_could_read_is_closed_to_them_when_it_is_opened(old_home):
    (old_home / "store.db").chmod(0o644)

    Store.open(old_home).close()

    assert (old_home / "store.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.rule("S3.5")
def test_a_database_that_somebody_shares_with_a_group_stays_shared(old_home):
    (old_home / "store.db").chmod(0o660)

    Store.open(old_home).close()

    assert (old_home / "store.db").stat().st_mode & 0o777 == 0o660
