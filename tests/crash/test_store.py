"""Kill the store at every system call: nothing acknowledged is lost, nothing is half done."""

from __future__ import annotations

import pytest
from tests.crash import scenarios
from tests.postgres import fresh_database
from tests.store.store_conformance import TOTAL

from backshop.base import tree
from backshop.base.ids import BlobId, TreeId
from backshop.store import Shown, Store

pytestmark = [pytest.mark.needs("strace"), pytest.mark.timeout(600)]
SCENARIOS = "tests.crash.scenarios"


@pytest.fixture
def start(tmp_path):
    folder = tmp_path / "start"
    folder.mkdir()
    scenarios.start(folder)
    return folder


def everywhere(harness, name, start, scaled, sample, within_ms):
    """Kill at every write, and in proof at random moments as well."""
    scenario = f"{SCENARIOS}:{name}"
    yield from harness.kills(scenario, start, sample=scaled(sample, 10_000))
    yield from harness.random_kills(scenario, start, count=scaled(2, 700), within_ms=within_ms)


def check_whole(store):
    """Every stream is healthy, and every pinned blob is there and right."""
    for head in store.streams():
        assert store.health(head.stream).is_healthy
        for pin in store.pins(head.stream):
            assert store.blobs.verify(pin.ref)


def check_appends(folder, said):
    with scenarios.store_of(folder) as store:
        check_whole(store)
        first = [row.fact.number for row in store.read("session:s")][3:]
        second = [row.fact.number for row in store.read("session:t")]

        assert first == second
        assert first[: len(said)] == [int(text) for text in said]
        assert len(said) <= len(first) <= len(said) + 1
        scenarios.append(folder, lambda _: None)  # the same plans again: only the rest is new
        assert [row.fact.number for row in store.read("session:t")] == list(
            range(10, 10 + scenarios.APPENDS)
        )


@pytest.mark.rule("T2.5", "T2.6", "T8.3")
def test_killed_during_append(harness, start, scaled):
    for kill in harness.kills(f"{SCENARIOS}:append", start, sample=scaled(12, 10_000)):
        assert kill.ended == "killed" or kill.ended.startswith("done")
        check_appends(kill.folder, kill.said)


@pytest.mark.rule("T2.5", "T7.8")
def test_killed_at_random_moments(harness, start, scaled):
    runs = harness.random_kills(f"{SCENARIOS}:append", start, count=scaled(6, 500), within_ms=120)
    for kill in runs:
        check_appends(kill.folder, kill.said)


@pytest.mark.needs("postgres")
@pytest.mark.rule("T2.5", "T8.17")
def test_a_client_of_a_server_killed_at_random_moments(harness, tmp_path, scaled):
    for number in range(scaled(3, 100)):
        with fresh_database() as url:
            folder = tmp_path / f"start-{number}"
            folder.mkdir()
            (folder / "database-url").write_text(url)
            scenarios.start(folder)
            name = f"{SCENARIOS}:append"
            for kill in harness.random_kills(name, folder, count=1, within_ms=250, seed=number):
                check_appends(kill.folder, kill.said)


@pytest.mark.rule("T2.3", "T2.5")
def test_killed_during_update(harness, start, scaled):
    for kill in harness.kills(f"{SCENARIOS}:update", start, sample=scaled(6, 10_000)):
        with scenarios.store_of(kill.folder) as store:
            check_whole(store)
            counts = [row.fact.number for row in store.read("session:u")]
        assert counts == list(range(len(counts)))
        assert len(kill.said) <= len(counts) <= len(kill.said) + 1


@pytest.mark.rule("T4.1", "T2.6")
def test_killed_while_many_contents_come_in(harness, start, scaled):
    for kill in harness.kills(f"{SCENARIOS}:batch", start, sample=scaled(6, 10_000)):
        with scenarios.store_of(kill.folder) as store:
            names = set(store.blobs.names())
            assert names >= set(kill.said)
            assert all(store.blobs.verify(name) for name in names)
            scenarios.batch(kill.folder, lambda _: None)
            check_whole(store)


@pytest.mark.rule("T8.5")
@pytest.mark.parametrize("errno", ["ENOSPC", "EIO"])
def test_many_contents_on_a_disk_that_fails(harness, start, scaled, errno):
    calls = "write,fsync,syncfs,rename,mkdir"
    runs = harness.failures(
        f"{SCENARIOS}:batch", start, errno, sample=scaled(4, 10_000), calls=calls
    )
    for run in runs:
        assert run.ended.startswith(("DiskFull", "WriteFailed", "done")), run.ended
        with scenarios.store_of(run.folder) as store:
            names = set(store.blobs.names())
            assert names >= set(run.said)
            assert all(store.blobs.verify(name) for name in names)
            assert not list(store.blobs.folder.glob("tmp-*"))


@pytest.mark.rule("T3.3")
def test_killed_while_a_state_is_kept(harness, start, scaled):
    for kill in harness.kills(f"{SCENARIOS}:snapshot", start, sample=scaled(6, 10_000)):
        with scenarios.store_of(kill.folder) as store:
            check_whole(store)
            events = list(store.read("session:long"))
            state = store.state("session:long", TOTAL)
        assert kill.said in ([], [str(len(events))], [str(len(events))] * 2)
        assert state.count == len(events)
        assert state.total == sum(event.fact.number for event in events)


@pytest.mark.rule("T5.5")
def test_killed_during_a_move(harness, start, scaled):
    for kill in harness.kills(f"{SCENARIOS}:move", start, sample=scaled(6, 10_000)):
        with scenarios.store_of(kill.folder) as store:
            check_whole(store)
            sent = [(head.stream, head.last_hash) for head in store.streams()]
        new = kill.folder / "new"
        new.mkdir(exist_ok=True)
        with Store.open(new) as store:
            arrived = [(head.stream, head.last_hash) for head in store.streams()]
        assert arrived in ([], sent)
        assert arrived == sent or kill.said == []
        if not arrived:
            scenarios.move(kill.folder, kill.said.append)
        with Store.open(new) as store:
            check_whole(store)
            assert [(head.stream, head.last_hash) for head in store.streams()] == sent


@pytest.mark.rule("T4.4", "B3.5")
def test_killed_while_a_view_changes(harness, start, scaled):
    for kill in everywhere(harness, "materialise", start, scaled, sample=12, within_ms=14):
        with scenarios.store_of(kill.folder) as store:
            check_whole(store)
            view = scenarios.view_of(store, kill.folder)
            seen = view.shown()
            if seen is not None:
                files = {
                    str(path.relative_to(view.folder)): path.read_bytes()
                    for path in view.folder.rglob("*")
                    if path.is_file()
                }
                wanted = {
                    p: store.blobs.read(f.sha256) for p, f in tree.walk(seen.tree, store.load_tree)
                }
                assert files == wanted
            for pin in store.pins("bench:b"):
                wanted_tree = Shown(TreeId(pin.ref))
                view.show(wanted_tree, scenarios.keep_nothing, lambda _: None)
                assert view.shown() == wanted_tree


@pytest.mark.rule("T4.5")
def test_killed_during_collection(harness, start, scaled):
    for kill in everywhere(harness, "collect", start, scaled, sample=8, within_ms=60):
        with scenarios.store_of(kill.folder) as store:
            check_whole(store)
            for text in kill.said:
                assert store.blobs.read(BlobId(text)) == b"loose 2"
            assert store.collect(apply=True, grace_hours=-1).refused is None
            check_whole(store)


@pytest.mark.rule("T8.5", "T8.6")
@pytest.mark.parametrize("errno", ["ENOSPC", "EIO"])
def test_a_disk_that_fails_gives_a_typed_error_and_no_half_state(harness, start, scaled, errno):
    calls = "write,pwrite64,fsync,fdatasync,syncfs,ftruncate"
    runs = harness.failures(
        f"{SCENARIOS}:append", start, errno, sample=scaled(6, 10_000), calls=calls
    )
    for run in runs:
        kinds = ("DiskFull", "WriteFailed", "StoreUnavailable", "StorageCorrupt", "done")
        assert run.ended.startswith(kinds), run.ended
        check_appends(run.folder, run.said)


@pytest.mark.rule("T8.5", "T8.6", "T5.3")
@pytest.mark.parametrize("errno", ["ENOSPC", "EROFS", None])
def test_a_home_that_cannot_be_made_whole_can_be_made_later(harness, tmp_path, scaled, errno):
    empty = tmp_path / "start"
    empty.mkdir()
    name, sample = f"{SCENARIOS}:fresh", scaled(5, 10_000)
    calls = "write,pwrite64,fsync,fdatasync,ftruncate,mkdir"
    runs = (
        harness.kills(name, empty, sample=sample)
        if errno is None
        else harness.failures(name, empty, errno, sample=sample, calls=calls)
    )
    for run in runs:
        kinds = ("DiskFull", "WriteFailed", "StoreUnavailable", "StorageCorrupt", "done", "killed")
        assert run.ended.startswith(kinds), run.ended
        with scenarios.store_of(run.folder) as store:
            check_whole(store)
            found = [row.fact.number for row in store.read("session:s")]
        assert found == [1] or ("appended" not in run.said and found == [])
