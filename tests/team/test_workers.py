"""Turns on other machines: handed over, taken over, stopped, refused (T6.1, T6.2, T8.20)."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import Any

import pytest
from tests import objects
from tests.crash import workshop_story as story
from tests.team import apart, hosts
from tests.team.conftest import Team, until

from backshop.app import Backshop
from backshop.base.errors import ValidationFailed
from backshop.store import StoreUnavailable

pytestmark = [pytest.mark.needs("postgres", "s3"), pytest.mark.timeout(900)]
ENDS_S = 240


@pytest.mark.rule("T6.1", "T6.2")
def test_a_turn_is_walked_by_a_worker_and_read_by_every_server(team):
    bench, message = team.bench()
    team.worker().wait_ready()

    done = team.begin(bench, message).result(ENDS_S)

    assert done["status"] == "complete"
    team.check_done(bench)
    with team.server() as other:  # a machine that has never seen this workbench
        assert team.files(bench, other) == story.DONE
        other.call("DraftPublish", {"workbench_id": bench})
        listed = other.call("WorkbenchFilesList", {"workbench_id": bench})["files"]
    assert sorted(one["path"] for one in listed) == sorted(story.DONE)
    seen = team.shop.call("WorkbenchFilesList", {"workbench_id": bench})["files"]
    assert seen == listed


@pytest.mark.rule("T6.2", "T8.20", "T8.4")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("share", [0, 1])
def test_a_killed_workers_turn_goes_on_elsewhere(team, scaled, share, record_property):
    """Kill the worker that walks, time and again; the one that goes on is the next to be killed."""
    kills = random.Random(3).choices(range(1, 6), k=scaled(2, 97))[share::2]
    walking = team.worker().wait_ready()
    for calls in kills:
        bench, message = team.bench()
        running = team.begin(bench, message)
        following = team.worker()
        until(partial(team.has_called, bench, calls), f"tool call {calls}")
        walking.kill()
        walking = following.wait_ready()

        assert running.result(ENDS_S)["status"] == "complete"
        team.check_done(bench)
    record_property("kills", len(kills))
    assert walking.stop() == 0


@pytest.mark.proof
@pytest.mark.rule("T6.2", "B3.8")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("calls", [1, 3, 5])
def test_with_the_lease_as_it_comes_it_goes_on_within_65_seconds(
    tmp_path, shared, calls, record_property
):
    team = Team(tmp_path, {**shared, "team.lease_s": 60})
    try:
        bench, message = team.bench()
        first = team.worker().wait_ready()
        running = team.begin(bench, message)
        until(lambda: team.tools(bench) >= calls, f"tool call {calls}")
        team.worker().wait_ready()
        first.kill()
        killed, before = time.monotonic(), team.shop.store.last_seq()

        def is_resumed() -> bool:
            return any(e.kind == "workshop.turn_resumed" for e in team.shop.store.tail(before))

        until(is_resumed, "the turn going on")
        taken_s = time.monotonic() - killed
        record_property("kills", 1)
        record_property("seconds until it went on", f"{taken_s:.0f}")
        assert taken_s <= 65

        assert running.result(ENDS_S)["status"] == "complete"
        team.check_done(bench)
    finally:
        team.close()


@pytest.mark.needs("namespaces")
@pytest.mark.rule("T6.1", "T6.2")
def test_workers_on_networks_of_their_own_share_nothing_but_database_and_contents(team):
    bench, message = team.bench()
    with apart.way_out(objects.server()) as way:
        first = team.worker(way_out=way).wait_ready()
        running = team.begin(bench, message)
        until(lambda: team.tools(bench) >= 2, "two tool calls")
        second = team.worker(way_out=way)
        until(lambda: second.network, "a network")  # the name of one that is gone is used again
        first.kill()
        second.wait_ready()
        done = running.result(ENDS_S)

    assert done["status"] == "complete"
    team.check_done(bench)
    assert len({apart.network(), first.network, second.network}) == 3


@pytest.mark.rule("T6.2", "W12.1")
def test_a_worker_told_to_stop_leaves_its_turn_to_another(team):
    bench, message = team.bench()
    first = team.worker().wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")
    second = team.worker()

    assert first.stop() == 0  # no grace: it lets go at once
    second.wait_ready()

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)


@pytest.mark.rule("T6.2")
def test_a_worker_told_to_stop_with_grace_finishes_its_turn(team):
    bench, message = team.bench()
    before = team.shop.store.last_seq()
    alone = team.worker(grace_s=ENDS_S).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")

    assert alone.stop() == 0  # there is nobody who could have gone on with it

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)
    assert all(one.kind != "workshop.turn_resumed" for one in team.shop.store.tail(before))


@pytest.mark.rule("T6.2", "P7.11")
def test_a_server_killed_while_a_model_writes_a_digest_leaves_none_behind(team):
    bench, _ = team.bench()
    before, wish = team.shop.store.last_seq(), {"workbench_id": bench, "mode": "model"}
    was = team.shop.call("DigestGet", {"workbench_id": bench})
    doomed = hosts.calling(team.host(script=digest(delay_ms=600_000)), "DigestRefresh", wish)
    until(
        lambda: any(one.kind == "prompt.rendered" for one in team.shop.store.tail(before)),
        "the model asked",
    )

    doomed.kill()
    doomed.join(10)

    left = [one for one in team.shop.store.tail(before) if one.stream.startswith("bench:")]
    assert left == []
    assert team.shop.call("DigestGet", {"workbench_id": bench}) == was
    team.shop.models.play("story", digest(delay_ms=0))
    assert team.shop.call("DigestRefresh", wish)["digest"] == "Rows."
    assert team.shop.call("DigestGet", {"workbench_id": bench})["body"] == "Rows."


def digest(delay_ms: int) -> list[dict[str, Any]]:
    """Return what a model says that is to describe the files."""
    text = '```json\n{"digest": "Rows."}\n```'
    return [{"when": {"purpose": "digest"}, "respond": {"text": text, "delay_ms": delay_ms}}]


@pytest.mark.rule("M12.1", "T6.2")
def test_a_wish_to_stop_reaches_the_worker_and_a_turn_nobody_took(team):
    bench, message = team.bench()
    waiting = team.begin(bench, message)  # there is no worker
    until(lambda: team.is_at_work(bench), "the turn begun")
    assert team.shop.call("WorkshopCancelRun", {"workbench_id": bench})["cancel_requested"]
    assert waiting.result(ENDS_S)["status"] == "canceled"

    bench, message = team.bench()
    team.worker(delay_ms=1000).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 1, "the worker at work")
    with team.server() as other:  # another machine than the one that began it
        assert other.call("WorkshopCancelRun", {"workbench_id": bench})["cancel_requested"]
    assert running.result(ENDS_S)["status"] == "canceled"


@pytest.mark.rule("T6.4", "T6.2")
def test_who_is_removed_at_one_machine_is_stopped_at_another(team):
    ada = team.shop.call("UserAdd", {"name": "Ada"})["user_id"]
    bench, message = team.bench()
    grant = {"workbench_id": bench, "user_id": ada, "role": "publish"}
    team.shop.call("AccessSet", grant)
    team.worker(delay_ms=1000).wait_ready()
    running = team.begin(bench, message, user=ada)
    until(lambda: team.tools(bench) >= 1, "the worker at work")

    with team.server() as other:
        other.call("UserRemove", {"user_id": ada})

    assert running.result(ENDS_S)["status"] == "canceled"


@pytest.mark.rule("T6.2", "T1.5")
def test_a_turn_without_a_job_is_found_by_its_lease(team):
    bench, message = team.bench()
    with team.server() as doomed:
        doomed.workshops._turns._hands = _Lost()  # the server dies between commit and queue
        lost = team.begin(bench, message, doomed)
        until(lambda: lost.done(), "the loss")
    team.worker().wait_ready()

    until(lambda: "complete" in team.answers(bench), "the answer")
    team.check_done(bench)


@pytest.mark.rule("T5.2", "T6.2")
def test_a_worker_older_than_the_server_refuses_and_a_newer_one_goes_on(team, monkeypatch):
    bench, message = team.bench()
    monkeypatch.setattr("backshop.app.queue.__version__", "99.0.0")
    old = team.worker().wait_ready()

    running = team.begin(bench, message)

    assert old.wait() == 1
    assert "the turn was begun by 99.0.0" in old.said
    team.worker(version="99.0.1").wait_ready()
    assert running.result(ENDS_S)["status"] == "complete"


@pytest.mark.rule("T1.5", "T6.2", "T8.18")
def test_clocks_an_hour_apart_change_nothing(team):
    bench, message = team.bench()
    slow = team.worker(skew_ms=-3_600_000).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")
    slow.kill()
    team.worker(skew_ms=3_600_000).wait_ready()

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)


class _Lost:
    """A queue that loses what it is given."""

    def give(self, bench_id: str, turn_id: str, ticket: str) -> int:
        raise StoreUnavailable("the server died")

    def is_pending(self, job: int) -> bool:
        return False

    def withdraw(self, job: int) -> bool:
        return False


@pytest.mark.needs("postgres")
def test_workers_need_a_database_that_machines_share(tmp_path):
    with Backshop.open(tmp_path / "home") as shop, pytest.raises(ValidationFailed):
        shop.work(turns=1, grace_s=0, ready=lambda: None)
