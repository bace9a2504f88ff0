"""Database and contents away for a while: what was acknowledged stays, turns go on (T7, T6.3)."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest
from tests import objects, postgres
from tests.conftest import PROOF
from tests.team import load
from tests.team.conftest import Team, until
from tests.team.flaky import way_to
from tests.web.browsing import serving

from backshop.base.limits import TRANSIENT_DELAYS_S
from backshop.store import StoreBusy, StoreUnavailable

pytestmark = [pytest.mark.needs("postgres", "s3"), pytest.mark.timeout(900)]
ENDS_S = 400
QUICKLY_S = (0.05, 0.2, 0.8)  # what a call waits between its tries where that is not the point


@pytest.fixture(scope="module")
def server():
    """A database server that can be killed; it is up again when a test has ended."""
    with postgres.private_server() as running:
        yield running


@pytest.fixture
def away(tmp_path, server):
    """A team whose database can be killed and whose contents can be cut off."""
    with objects.fresh_bucket() as bucket, way_to(objects.server()) as way:
        url = server.fresh_database()
        settings = {"database_url": url, "blobs_url": bucket, "team.lease_s": 4}
        made = Team(tmp_path, settings)
        yield made, server, way
        made.close()


def patiently(team, bench, name: str) -> None:
    """Add a file as a client does that tries again when it is told to."""
    path = team.folder / name
    path.write_text(name * 40_000)  # not small enough to live in the database
    request = {"workbench_id": bench, "source_paths": [str(path)]}
    ends = time.monotonic() + ENDS_S
    while True:
        try:
            done = team.shop.call("WorkbenchFilesAdd", request)["add_results"]
            if done[0]["status"] == "added":
                return
        except (StoreUnavailable, StoreBusy):
            pass
        assert time.monotonic() < ends
        time.sleep(0.2)


@pytest.mark.rule("T6.3", "T2.5")
def test_a_database_restarted_under_a_turn(away, scaled, record_property):
    team, server, _ = away
    team.worker(delay_ms=100).wait_ready()
    for _ in range(scaled(1, 5)):
        restarted_under_a_turn(team, server)
    record_property("restarts of the database server under a turn", scaled(1, 5))


def restarted_under_a_turn(team, server) -> None:
    bench, message = team.bench()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")

    server.kill()
    server.restart()

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)


@pytest.mark.rule("T6.2", "T6.3")
def test_a_database_away_for_seconds_costs_seconds_and_a_line_of_the_log(tmp_path, away):
    _, server, _ = away
    settings = {**away[0].settings, "team.lease_s": 3600}  # nobody waits for one to run out
    team = Team(tmp_path / "patient", settings)
    try:
        worker = team.worker(delay_ms=100).wait_ready()
        bench, message = team.bench()
        running = team.begin(bench, message)
        until(lambda: team.tools(bench) >= 2, "two tool calls")

        server.kill()
        until(lambda: "waits and is tried again" in worker.said, "the worker noticing it")
        server.restart()

        assert running.result(ENDS_S)["status"] == "complete"
        team.check_done(bench)
        said = worker.said
    finally:
        team.close()
    assert "Traceback" not in said
    assert said.count("waits and is tried again") <= 2, said


@pytest.mark.rule("T4.3")
def test_contents_away_for_half_a_minute(away, scaled, monkeypatch, record_property):
    """The sample is away longer than a call is tried, as the half minute of the proof is."""
    team, _, way = away
    delays_s = TRANSIENT_DELAYS_S if PROOF else QUICKLY_S
    monkeypatch.setattr("backshop.store.blob.object_storage.TRANSIENT_DELAYS_S", delays_s)
    bench, message = team.bench()
    other = team.shop.call("WorkbenchCreate", {"name": "Other"})["workbench_id"]
    team.worker(delay_ms=100, contents_delays_s=delays_s).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 1, "a tool call")
    patiently(team, other, "before")

    way.is_down = True
    ends = time.monotonic() + scaled(2, 30)
    adding = threading.Thread(target=patiently, args=(team, other, "after"))
    adding.start()
    until(lambda: time.monotonic() >= ends and way.refused > 0, "the outage")
    way.is_down = False
    record_property("requests refused by the storage", way.refused)
    adding.join(ENDS_S)

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)
    desk = team.shop.benches.desk
    held = desk.entries(desk.state(other).published)
    assert {path: desk.store.blobs.read(one.sha256) for path, one in held.items()} == {
        name: (name * 40_000).encode() for name in ("before", "after")
    }


@pytest.mark.rule("T6.2", "T4.3")
def test_a_turn_whose_tries_run_out_waits_for_its_person(away):
    team, _, way = away
    bench, message = team.bench()
    worker = team.worker(delay_ms=100, store_tries=0, contents_delays_s=QUICKLY_S).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 1, "a tool call")

    way.is_down = True
    stopped = running.result(ENDS_S)
    way.is_down = False

    assert stopped["status"] == "paused"
    assert set(team.answers(bench)) == {"interrupted"}
    assert "a turn is left to its person" in worker.said
    again = team.begin(bench, message).result(ENDS_S)
    assert again["status"] == "complete"
    team.check_done(bench)


@pytest.fixture
def served(tmp_path, server):
    """Two web servers on a database that can be killed."""
    with ExitStack() as stack:
        settings = {
            "database_url": server.fresh_database(),
            "blobs_url": f"file://{tmp_path}/contents",
        }
        homes = (tmp_path / "first", tmp_path / "second")
        yield server, [stack.enter_context(serving(home, settings=settings)) for home in homes]


@pytest.mark.rule("T7", "T6.3", "T2.5", "S5.2")
def test_a_database_restarted_under_writers_and_a_follower(served, scaled, record_property):
    database, servers = served
    benches = [servers[0].bench(name) for name in ("One", "Two")]
    start, seen = servers[0].shop.hub.position, []
    follower = threading.Thread(
        target=lambda: seen.extend(load.read_on(load.frames(servers[0], start))), daemon=True
    )
    follower.start()
    writers = [  # at each bench one through each server
        load.Writer(server, bench, f"{at}-{n}")
        for at, server in enumerate(servers)
        for n, bench in enumerate(benches)
    ]
    for one in writers:
        one.start()
    for _ in range(scaled(2, 10)):
        load.hold_on(writers)
        database.kill()
        database.restart()
    load.hold_on(writers)
    for one in writers:
        one.stop()
    servers[1].call("UserAdd", name="The end")
    follower.join(load.WAIT_S)

    acknowledged = sum(len(one.acknowledged) for one in writers)
    record_property("restarts of the database server under writers", scaled(2, 10))
    record_property("files acknowledged", acknowledged)
    for one in writers:
        held = servers[0].shop.benches.desk
        entries = held.entries(held.state(one.bench).published)
        for path in one.acknowledged:
            assert held.store.blobs.read(entries[path].sha256) == one.content(path)
    assert seen == load.read_on(load.frames(servers[1], start))  # nothing left out, nothing twice
    positions = [position for position, _, _ in seen]
    assert positions == sorted(positions)
    assert len(seen) >= acknowledged
    assert all(
        one.shop.store.health(h.stream).is_healthy
        for one in servers
        for h in one.shop.store.streams()
    )
