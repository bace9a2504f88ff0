"""A store moves to another database and other storage, there and back, as it is (T5.5)."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.objects import fresh_bucket
from tests.postgres import fresh_database
from tests.store.store_conformance import TOTAL, Counted, counted, one

from backshop.base import tree
from backshop.base.errors import ValidationFailed
from backshop.base.ids import BlobId, TreeId
from backshop.base.paths import BenchPath
from backshop.base.progress import watched
from backshop.store import (
    NewEvent,
    Part,
    Pin,
    Plan,
    StorageCorrupt,
    Store,
    StoreUnavailable,
    move_store,
)

ROOT = Path(__file__).resolve().parents[2]


def fill(store: Store) -> None:
    """A little of everything a store holds."""
    for number in range(30):
        store.append(one(f"session:{number % 3}", counted(number, f"k{number}")))
    large = store.blobs.put(os.urandom(200_000))
    built = tree.build({BenchPath(f"d/{n}.txt"): tree.File(large, 200_000) for n in range(300)})
    part = Part("bench:b", [NewEvent(Counted(number=1), "t")], pins=[Pin(BlobId(built.id), "tree")])
    store.append(Plan((part,), tuple(built.nodes.values())))
    store.set_keep("session:1", True)
    store.set_local("session:2", "here")
    store.key_ring()
    store.delete_stream("session:0")
    store.leases.take("bench:b", "a worker that stopped", 30)
    store.leases.end("bench:b", "a worker that stopped")
    store.leases.take("session:1", "a worker", 30)


def everything(store: Store) -> dict[str, object]:
    """What must be the same at both ends."""
    heads = store.streams()
    return {
        "heads": heads,
        "events": {head.stream: list(store.read(head.stream)) for head in heads},
        "pins": {head.stream: store.pins(head.stream) for head in heads},
        "keys": store.key_ring(),
        "files": {
            path: store.blobs.read(file.sha256)
            for pin in store.pins("bench:b")
            for path, file in tree.walk(TreeId(pin.ref), store.load_tree)
        },
    }


@pytest.mark.needs("postgres", "s3")
@pytest.mark.rule("T5.5")
def test_there_and_back_gives_the_same_store(tmp_path):
    with ExitStack() as stack:
        postgres = stack.enter_context(fresh_database())
        bucket = stack.enter_context(fresh_bucket())
        (tmp_path / "back").mkdir()
        back = f"sqlite:///{tmp_path / 'back' / 'store.db'}"
        back_blobs = f"file://{tmp_path / 'back' / 'blobs'}"

        with Store.open(tmp_path / "home") as store:
            fill(store)
            before = everything(store)
            there = move_store(store, database_url=postgres, blobs_url=bucket)
            assert everything(store) == before
        with Store.open(tmp_path / "far", database_url=postgres, blobs_url=bucket) as store:
            assert everything(store) == before
            assert store.leases.held() + store.leases.run_out(0) == []  # of who works over here
            store.append(one("session:1", counted(99, "later")))
            store.delete_stream("session:2")
            changed = everything(store)
            move_store(store, database_url=back, blobs_url=back_blobs)
        with Store.open(tmp_path / "back") as store:
            assert everything(store) == changed
            assert store.append(one("session:new", counted(1))).events[0].seq > there.last_seq
            assert store.state("session:1", TOTAL).count == 11


@pytest.mark.rule("T5.5")
def test_a_database_with_something_in_it_is_not_written_to(tmp_path):
    with Store.open(tmp_path / "full") as other:
        other.append(one("session:x", counted(1)))
    with Store.open(tmp_path / "home") as store:
        fill(store)

        url = f"sqlite:///{tmp_path / 'full' / 'store.db'}"
        with pytest.raises(ValidationFailed) as refused:
            move_store(store, database_url=url, blobs_url=None)

    assert refused.value.reason == "target_exists"


@pytest.mark.rule("T5.5")
def test_a_damaged_store_is_not_moved(tmp_path):
    (tmp_path / "new").mkdir()
    with Store.open(tmp_path / "home") as store:
        fill(store)
        with store.database.transaction() as cursor:
            cursor.text("UPDATE event SET body = '{}' WHERE stream = 'session:1' AND idx = 3")

        url = f"sqlite:///{tmp_path / 'new' / 'store.db'}"
        with pytest.raises(StorageCorrupt):
            move_store(store, database_url=url, blobs_url=None)

    assert list((tmp_path / "new").iterdir()) == []


def migrate(home: Path, *targets: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `backshop migrate-store` in a program that knows the events of these tests."""
    script = (
        "import sys, tests.store.store_conformance; from backshop.cli import main;"
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = (word for target in targets for word in ("--to", target))
    return subprocess.run(
        [sys.executable, "-c", script, "migrate-store", *arguments],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            "BACKSHOP_HOME": str(home),
            **more,
        },
    )


@pytest.mark.needs("postgres")
@pytest.mark.rule("T5.5", "S4.4")
def test_to_postgresql_and_back_from_the_command_line(tmp_path):
    (tmp_path / "back").mkdir()
    home, blobs = tmp_path / "home", f"file://{tmp_path / 'moved'}"
    with Store.open(home) as store:
        fill(store)
        before = everything(store)
    with fresh_database() as url:
        there = migrate(home, url, blobs)
        with Store.open(tmp_path / "other", database_url=url, blobs_url=blobs) as store:
            moved = everything(store)
        targets = f"sqlite:///{tmp_path}/back/store.db", f"file://{tmp_path}/back/blobs"
        now = {"BACKSHOP_DATABASE_URL": url, "BACKSHOP_BLOBS_URL": blobs}
        back = migrate(tmp_path / "other", *targets, **now)

    assert (there.returncode, there.stderr, back.returncode, back.stderr) == (0, "", 0, "")
    assert moved == before  # heads and events with their hashes among it
    with Store.open(tmp_path / "back") as store:
        assert everything(store) == before
    with Store.open(home) as store:
        assert everything(store) == before


@pytest.mark.rule("T5.5", "S4.4")
def test_from_the_command_line(tmp_path):
    (tmp_path / "new").mkdir()
    home, url = tmp_path / "home", f"sqlite:///{tmp_path / 'new' / 'store.db'}"
    blobs = f"file://{tmp_path / 'new' / 'blobs'}"
    with Store.open(home) as store:
        fill(store)
        before = everything(store)

    done = migrate(home, url, blobs)
    again = migrate(home, url)
    wrong = migrate(home, "ftp://x")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n  BACKSHOP_DATABASE_URL={url}\n  BACKSHOP_BLOBS_URL={blobs}\n" in done.stdout
    assert (again.returncode, wrong.returncode) == (1, 2)
    assert "target_exists" in again.stderr
    with Store.open(tmp_path / "new") as store:
        assert everything(store) == before


@pytest.mark.needs("postgres", "s3")
@pytest.mark.rule("T5.5", "S5.3")
def test_a_place_that_is_not_there_is_told_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("backshop.store.maintenance.move.check_chains", never)
    with Store.open(tmp_path / "home") as store, fresh_database() as url, fresh_bucket():
        nowhere = f"sqlite:///{tmp_path / 'no' / 'store.db'}"
        with pytest.raises(ValidationFailed) as folder:
            move_store(store, database_url=nowhere, blobs_url=None)
        with pytest.raises(StoreUnavailable) as missing:
            move_store(store, database_url=url, blobs_url="s3://no-such-bucket/x")
        with pytest.raises(StoreUnavailable) as refused:
            move_store(store, database_url=url.replace("/t", "/no_t", 1), blobs_url=None)

    assert str(tmp_path / "no") in folder.value.message
    assert missing.value.reason == "no_bucket"
    assert "no-such-bucket" in missing.value.message
    assert refused.value.reason == "refused"


@pytest.mark.needs("s3")
@pytest.mark.rule("T4.3")
def test_contents_that_go_to_a_bucket_that_is_not_there_say_so(tmp_path):
    with (
        fresh_bucket(),
        Store.open(tmp_path / "home", blobs_url="s3://no-such-bucket/x") as store,
        pytest.raises(StoreUnavailable) as refused,
    ):
        store.blobs.put(os.urandom(100_000))

    assert refused.value.reason == "no_bucket"


def never(*_: object) -> None:
    raise AssertionError("it was read")


@pytest.mark.rule("T5.5")
def test_a_content_that_comes_while_a_store_is_moved_arrives_with_its_event(tmp_path):
    (tmp_path / "there").mkdir()
    database = f"sqlite:///{tmp_path / 'there' / 'store.db'}"
    blobs = f"file://{tmp_path / 'there' / 'blobs'}"
    with Store.open(tmp_path / "home") as store, Store.open(tmp_path / "home") as other:
        early, late = store.blobs.put(b"early" * 50_000), other.blobs.put(b"late" * 50_000)
        pinned = [Pin(early, "artifact")]
        store.append(Plan((Part("session:a", [counted(1, "a")], pins=pinned),)))

        def comes(what: str, done: int, total: int) -> None:
            if what == "contents" and other.position("session:a") == 0:
                pins = [Pin(late, "artifact")]
                other.append(Plan((Part("session:a", [counted(2, "b")], pins=pins),)))

        with watched(comes):
            moved = move_store(store, database_url=database, blobs_url=blobs)

    with Store.open(tmp_path / "new", database_url=database, blobs_url=blobs) as there:
        assert moved.last_seq == there.last_seq() == 2
        assert there.health("session:a").is_healthy
        assert there.blobs.read(late) == b"late" * 50_000
