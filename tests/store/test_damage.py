"""Damaged storage: found, named, never given out, never written over."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.store_conformance import TOTAL, counted, numbers, one

from backshop.base import tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath
from backshop.store import (
    Health,
    NewerStore,
    Part,
    Pin,
    Plan,
    Status,
    StorageCorrupt,
    Store,
    StoreUnavailable,
    StreamNotHealthy,
    examine_store,
    restore_backup,
    write_backup,
)
from backshop.store.database.engine import Sqlite
from backshop.testing.total import Total


def alter(store, sql):
    """Change the database behind the store's back."""
    with store.database.transaction() as cursor:
        cursor.text(sql)


def flip(store, idx):
    alter(store, f"UPDATE event SET body = '{{\"number\":77}}' WHERE idx = {idx}")


@pytest.fixture
def filled(open_store):
    """Two stores on one home with a stream of four events."""
    store = open_store()
    for number in range(4):
        store.append(one("session:s", counted(number)))
    return store, open_store()


@pytest.mark.rule("T5.1", "T8.7")
@pytest.mark.parametrize(
    ("idx", "health"),
    [
        (0, Health(Status.CORRUPT_HEAD, "digest_mismatch", -1)),
        (2, Health(Status.CORRUPT_TAIL, "digest_mismatch", 1)),
        (3, Health(Status.CORRUPT_TAIL, "digest_mismatch", 2)),
    ],
)
def test_an_altered_event_is_found_and_closes_the_stream(filled, idx, health):
    store, fresh = filled
    flip(store, idx)

    assert fresh.health("session:s") == health
    with pytest.raises(StreamNotHealthy):
        fresh.update("session:s", TOTAL, lambda _: [counted(9)])
    with pytest.raises(StreamNotHealthy):
        fresh.state("session:s", TOTAL)
    assert [row.idx for row in fresh.read("session:s")] == [0, 1, 2, 3]
    fresh.append(one("session:other", counted(1)))


@pytest.mark.rule("T5.1")
@pytest.mark.parametrize(
    ("sql", "health"),
    [
        (
            "DELETE FROM event WHERE idx = 1",
            Health(Status.CORRUPT_TAIL, "non_contiguous_indices", 0),
        ),
        ("DELETE FROM event WHERE idx = 3", Health(Status.CORRUPT_TAIL, "head_mismatch", 2)),
        ("UPDATE stream SET last_idx = 7", Health(Status.CORRUPT_TAIL, "head_mismatch", 3)),
        ("UPDATE event SET kind = 'no.such' WHERE idx = 2", None),
    ],
)
def test_every_kind_of_damage_has_its_name(filled, sql, health):
    store, fresh = filled
    alter(store, sql)

    found = fresh.health("session:s")

    assert found == health or (health is None and not found.is_healthy)
    with pytest.raises(StreamNotHealthy):
        fresh.update("session:s", TOTAL, lambda _: [counted(9)])


@pytest.mark.rule("T5.1")
def test_a_missing_blob_is_damage_except_in_a_bench(open_store):
    store = open_store()
    lost = BlobId("ab" * 32)
    for stream in ("session:s", "bench:b"):
        store.append(Plan((Part(stream, [counted(1)], pins=[Pin(lost, "artifact")]),)))

    assert store.health("session:s") == Health(Status.CORRUPT_TAIL, "missing_blob", 0)
    assert store.health("bench:b").is_healthy


@pytest.mark.rule("T4.5", "T8.13")
def test_collection_with_a_damaged_stream_removes_nothing(filled):
    store, fresh = filled
    loose = store.blobs.put(b"loose")
    flip(store, 2)

    swept = fresh.collect(apply=True, grace_hours=-1)

    assert (swept.blobs, swept.applied) == (0, False)
    assert swept.refused
    assert fresh.blobs.has(loose)


@pytest.mark.rule("T8.8", "T4.1")
def test_altered_blob_bytes_are_never_given_out(open_store):
    store = open_store()
    blob = store.blobs.put(b"content")
    path = store.blobs.path(blob)
    path.chmod(0o644)
    path.write_bytes(b"c0ntent")

    for use in (store.blobs.read, store.blobs.path, store.blobs.open):
        with pytest.raises(StorageCorrupt):
            use(blob)
    assert not store.blobs.verify(blob)
    assert store.blobs.put(b"content") == blob
    assert store.blobs.read(blob) == b"content"


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64])
def test_a_blob_is_found_by_its_name_or_not_at_all(open_store, name):
    with pytest.raises((ValidationFailed, NotFound)):
        open_store().blobs.read(BlobId(name))


@pytest.mark.rule("T5.3", "T8.9")
def test_a_newer_database_is_left_alone(open_store):
    store = open_store()
    store.append(one("bench:a", counted(1)))
    alter(store, "UPDATE meta SET value = '99' WHERE key = 'schema_version'")

    with pytest.raises(NewerStore) as refused:
        open_store()

    assert not refused.value.info("settings").retryable
    assert numbers(store, "bench:a") == [1]


@pytest.mark.rule("T2.4")
@pytest.mark.parametrize(
    "url",
    ["postgresql://nobody:wrong@127.0.0.1:1/none", "sqlite:////proc/nowhere/store.db"],
)
def test_a_database_that_cannot_be_reached_is_said_so(tmp_path, url):
    with pytest.raises(StoreUnavailable) as refused:
        Store.open(tmp_path / "home", database_url=url)

    assert refused.value.info("settings").retryable
    assert "wrong" not in str(refused.value.info("settings"))


@pytest.mark.parametrize("url", ["mysql://x", "nonsense", "sqlite://host/x"])
def test_another_kind_of_url_is_refused_and_makes_nothing(tmp_path, url):
    with pytest.raises(ValidationFailed):
        Store.open(tmp_path / "home", database_url=url)

    assert not (tmp_path / "home").exists()


@pytest.mark.rule("T5.4")
def test_a_backup_gives_back_an_identical_home(open_store, tmp_path):
    store = open_store()
    large = store.blobs.put(b"x" * 100_000)
    for number in range(5):
        pins = [Pin(large, "artifact")] if number == 3 else []
        store.append(
            Plan((Part(f"session:{number % 2}", [counted(number)], pins=pins),), [b"small"])
        )
    (store.home / "settings.json").write_text('{"log": "info"}')
    (store.home / "secrets.enc").write_text("secret")
    store.leases.take("session:1", "a worker that stopped", 30)
    store.leases.end("session:1", "a worker that stopped")
    assert store.leases.run_out(0) == ["session:1"]

    done = write_backup(store, tmp_path / "copy", now_ms=0)
    restore_backup(tmp_path / "copy", tmp_path / "home2")

    assert (done.streams, done.events, done.blobs) == (2, 5, 1)
    with Store.open(tmp_path / "home2") as again:
        assert again.streams() == store.streams()
        assert again.tail(0) == store.tail(0)
        assert again.blobs.read(large) == b"x" * 100_000
        assert again.state("session:0", TOTAL) == Total(6, 3)
        assert again.leases.run_out(0) == []  # no worker takes up what was left elsewhere
        again.append(one("session:0", counted(100)))
    assert (tmp_path / "home2" / "settings.json").exists()
    assert not (tmp_path / "home2" / "secrets.enc").exists()


@pytest.mark.rule("T5.4")
def test_nothing_is_overwritten_by_backup_or_restore(open_store, tmp_path):
    store = open_store()
    store.append(one("bench:a", counted(1)))
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine")

    with pytest.raises(ValidationFailed) as refused:
        write_backup(store, taken, now_ms=0)
    assert refused.value.reason == "target_exists"
    write_backup(store, tmp_path / "copy", now_ms=0)
    with pytest.raises(ValidationFailed):
        restore_backup(tmp_path / "copy", taken)
    with pytest.raises(ValidationFailed) as refused:
        restore_backup(taken, tmp_path / "fresh")

    assert refused.value.reason == "bad_backup"
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]
    assert not (tmp_path / "fresh").exists()


@pytest.mark.rule("T5.4")
def test_a_damaged_backup_makes_no_home(open_store, tmp_path):
    store = open_store()
    blob = store.blobs.put(b"y" * 100_000)
    store.append(Plan((Part("session:a", [counted(1)], pins=[Pin(blob, "artifact")]),)))
    write_backup(store, tmp_path / "copy", now_ms=0)
    shutil.rmtree(tmp_path / "copy" / "blobs")

    with pytest.raises(StorageCorrupt):
        restore_backup(tmp_path / "copy", tmp_path / "home2")

    assert not (tmp_path / "home2").exists()


@pytest.mark.rule("T5.6")
@pytest.mark.parametrize("full", [False, True])
def test_a_doctor_says_what_the_database_was_asked_for(filled, full):
    found = examine_store(filled[0], full=full)

    said = next(one for one in found if one.subject == "database")
    asked = {
        ("sqlite", False): "every page in use and every index is whole",
        ("sqlite", True): "every page in use and every index is whole",
        ("postgresql", False): "every table answers",
        ("postgresql", True): "every value of every table was read",
    }
    assert said.level == "ok"
    assert asked[filled[0].database.dialect, full] in said.message


@pytest.mark.rule("T5.6")
def test_a_table_that_does_not_answer_is_a_problem(filled):
    store = filled[0]
    if store.database.dialect == "sqlite":
        pytest.skip("SQLite examines its file: tests/app/test_health.py")
    alter(store, "ALTER TABLE quota RENAME TO quota_gone")
    alter(
        store,
        "CREATE VIEW quota AS SELECT 1 AS name, 1 / (count(*) - count(*)) AS minute, 1 AS used"
        " FROM quota_gone",
    )

    problems = [one.message for one in examine_store(store, full=True) if one.level == "problem"]

    assert len(problems) == 1
    assert problems[0].startswith("table quota: ")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system without room")
def test_a_disk_without_room_is_told_as_full_also_where_sqlite_calls_it_an_io_error(tmp_path):
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode, error.sqlite_errorname = 10, "SQLITE_IOERR"

    full = Sqlite(Path("/proc/store.db"), lock_wait_ms=1).translated(error)
    other = Sqlite(tmp_path / "store.db", lock_wait_ms=1).translated(error)

    assert (full.code, other.code) == ("DISK_FULL", "STORE_UNAVAILABLE")


@pytest.mark.rule("T5.3", "T8.5")
def test_a_disk_without_room_for_a_copy_of_the_database_is_told_as_full(tmp_path):
    """SQLite's driver gives errors of a copy no code (`Connection.backup`)."""
    error = sqlite3.OperationalError("database or disk is full")

    assert Sqlite(tmp_path / "store.db", lock_wait_ms=1).translated(error).code == "DISK_FULL"


@pytest.mark.rule("T5.2", "T5.1")
def test_an_event_that_a_later_program_wrote_is_not_read_as_one_of_ours(filled):
    store, fresh = filled
    last = list(store.read("session:s"))[-1]
    later = replace(last, v=last.v + 1)
    digest = later.computed_hash()
    alter(store, f"UPDATE event SET v = {later.v}, hash = '{digest}' WHERE idx = {last.idx}")
    alter(store, f"UPDATE stream SET last_hash = '{digest}'")

    found = fresh.health("session:s")
    with pytest.raises(StreamNotHealthy) as refused:
        fresh.update("session:s", TOTAL, lambda _: [counted(9)])

    assert found == Health(Status.UNKNOWN_VERSION, "unknown_schema_version", last.idx - 1)
    assert refused.value.reason == "unknown_schema_version"


@pytest.mark.rule("T5.1")
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE stream SET last_idx = 2, last_hash = (SELECT hash FROM event WHERE idx = 2)",
        f"UPDATE stream SET last_hash = '{'f' * 64}'",
    ],
)
def test_a_head_that_names_another_event_than_the_last_closes_the_stream(filled, sql):
    store, fresh = filled
    alter(store, sql)

    assert fresh.health("session:s") == Health(Status.CORRUPT_TAIL, "head_mismatch", 3)
    with pytest.raises(StreamNotHealthy) as refused:
        fresh.append(one("session:s", counted(9)))
    assert refused.value.reason == "head_mismatch"
    assert len(list(fresh.read("session:s"))) == 4


@pytest.mark.rule("T5.4")
def test_a_backup_follows_no_link_out_of_the_home(open_store, tmp_path):
    store = open_store()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.txt").write_text("secret")
    own = store.home / "workflows"
    own.mkdir()
    (own / "mine.json").write_text("{}")
    (own / "file.json").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (own / "folder").symlink_to(tmp_path / "elsewhere")

    write_backup(store, tmp_path / "copy", now_ms=0)

    assert [path.name for path in (tmp_path / "copy" / "workflows").rglob("*")] == ["mine.json"]


@pytest.mark.rule("T5.1", "S4.2")
def test_a_content_that_was_cut_off_is_told_without_reading_every_content(open_store):
    store = open_store()
    blob = store.blobs.put(b"y" * 100_000)
    built = tree.build({BenchPath("a.txt"): tree.File(blob, 100_000)})
    pins = [Pin(BlobId(built.id), "tree")]
    store.append(Plan((Part("bench:a", [counted(1)], pins=pins),), tuple(built.nodes.values())))
    fine = [one.level for one in examine_store(store, full=False)]
    path = store.blobs.path(blob)
    path.chmod(0o600)
    path.write_bytes(b"y" * 99_999)

    found = [one for one in examine_store(store, full=False) if one.level == "problem"]

    assert "problem" not in fine
    assert ["'a.txt' of a" in one.message for one in found] == [True]


@pytest.mark.rule("T5.7")
def test_a_content_that_is_gone_is_told_by_its_file_and_not_by_the_workbench_beside(open_store):
    store = open_store()
    blob = store.blobs.put(b"y" * 100_000)
    built = tree.build({BenchPath("a.txt"): tree.File(blob, 100_000)})
    pins = [Pin(blob, "artifact"), Pin(BlobId(built.id), "tree")]
    store.append(Plan((Part("bench:a", [counted(1)], pins=pins),), tuple(built.nodes.values())))
    store.blobs.path(blob).unlink()

    found = [one.message for one in examine_store(store, full=False) if one.level == "problem"]

    assert found == ["missing; needed by 'a.txt' of a"]
