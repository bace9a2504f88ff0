"""Database and contents away for a while: what was acknowledged stays, turns go on (T7, T6.3)."""

from __future__ import annotations

import threading
import time

import pytest
from tests import objects, postgres
from tests.team.conftest import Team, until
from tests.team.flaky import way_to

from backshop.store import StoreBusy, StoreUnavailable

pytestmark = [pytest.mark.needs("postgres", "s3"), pytest.mark.timeout(900)]
ENDS_S = 400


@pytest.fixture
def away(tmp_path):
    """A team whose database can be killed and whose contents can be cut off."""
    with (
        postgres.private_server() as server,
        objects.fresh_bucket() as bucket,
        way_to(objects.server()) as way,
    ):
        settings = {"database_url": server.url(), "blobs_url": bucket, "team.lease_s": 4}
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
    team.worker().wait_ready()
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


@pytest.mark.rule("T4.3")
def test_contents_away_for_half_a_minute(away, scaled, record_property):
    team, _, way = away
    bench, message = team.bench()
    other = team.shop.call("WorkbenchCreate", {"name": "Other"})["workbench_id"]
    team.worker().wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 1, "a tool call")
    patiently(team, other, "before")

    way.is_down = True
    ends = time.monotonic() + scaled(4, 30)
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
