"""Turns on other machines: handed over, taken over, stopped, refused (T6.1, T6.2, T6.4, T8.20)."""

from __future__ import annotations

import random
import time
from concurrent.futures import Future
from functools import partial
from typing import Any

import psycopg
import pytest
from tests import objects
from tests.conftest import PROOF
from tests.crash import workshop_story as story
from tests.team import apart, hosts
from tests.team.conftest import Team, until

from backshop.app import Backshop
from backshop.app.operation.queue import SCHEMA
from backshop.base.errors import ValidationFailed

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
@pytest.mark.parametrize("share", [0, 1] if PROOF else [0])
def test_a_killed_workers_turn_goes_on_elsewhere(team, scaled, share, record_property):
    """Kill the worker that walks, time and again; another one goes on and is the next to be killed.

    A kill counts if the turn was resumed after it. One that came too late is made again.
    """
    kills = random.Random(3).choices(range(1, 6), k=scaled(1, 97))[share::2]
    late, left = 0, list(kills)
    alive = [team.worker(delay_ms=100).wait_ready()]
    while left:
        bench, message = team.bench()
        running = team.begin(bench, message)
        alive += [team.worker(delay_ms=100)] if len(alive) == 1 else []
        until(partial(team.has_called, bench, left[0]), f"tool call {left[0]}")
        walking = team.walking(bench)  # either of the two may have been first
        if walking is not None:
            walking.kill()
            alive.remove(walking)
        before = team.shop.store.last_seq()
        alive[0].wait_ready()

        assert running.result(ENDS_S)["status"] == "complete"
        team.check_done(bench)
        went_on = team.resumed(before)
        assert went_on <= 1
        late += went_on == 0
        del left[:went_on]
        assert late <= len(kills), "most turns ended before their worker was killed"
    record_property("kills", len(kills))
    record_property("kills that came too late", late)
    assert [one.stop() for one in alive] == [0] * len(alive)


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
        first = team.worker(delay_ms=100).wait_ready()
        running = team.begin(bench, message)
        until(lambda: team.tools(bench) >= calls, f"tool call {calls}")
        team.worker().wait_ready()
        first.kill()
        killed, before = time.monotonic(), team.shop.store.last_seq()

        until(lambda: team.resumed(before) > 0, "the turn going on")
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
        first = team.worker(way_out=way, is_stuck=True).wait_ready()
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
    first = team.worker(is_stuck=True).wait_ready()
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
    alone = team.worker(grace_s=ENDS_S, delay_ms=60).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")

    assert alone.stop() == 0  # there is nobody who could have gone on with it

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)
    assert team.resumed(before) == 0


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
    team.worker(is_stuck=True).wait_ready()
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
    team.worker(is_stuck=True).wait_ready()
    running = team.begin(bench, message, user=ada)
    until(lambda: team.tools(bench) >= 1, "the worker at work")

    with team.server() as other:
        other.call("UserRemove", {"user_id": ada})

    assert running.result(ENDS_S)["status"] == "canceled"


class Ada:
    """A person whose turn has begun to be worked on by a worker."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.user = team.shop.call("UserAdd", {"name": "Ada"})["user_id"]
        self.bench, self.message = team.bench()
        grant = {"workbench_id": self.bench, "user_id": self.user, "role": "publish"}
        team.shop.call("AccessSet", grant)
        self.worker = team.worker(is_stuck=True).wait_ready()
        self.running: Future[Any] = team.begin(self.bench, self.message, user=self.user)
        until(lambda: team.tools(self.bench) >= 2, "two tool calls")

    def remove(self, *, dies_between: bool = False) -> None:
        with self.team.server() as other:
            if dies_between:  # the removal stands, and nobody is left to ask the turn to stop
                other.people._told.clear()
            other.call("UserRemove", {"user_id": self.user})

    def check_stopped(self, before: int, calls: int) -> None:
        """The turn has its end, everybody can read it, and no model was asked again."""
        assert self.running.result(ENDS_S)["status"] == "canceled"
        assert list(self.team.answers(self.bench)) == ["canceled"]
        assert (self.team.resumed(before), self.team.tools(self.bench)) == (0, calls)
        assert not self.team.shop.workshops.orphans()


@pytest.mark.rule("T6.4", "T6.2")
@pytest.mark.parametrize("dies_between", [False, True])
def test_a_turn_that_its_worker_let_go_of_ends_with_its_person(team, dies_between):
    ada = Ada(team)
    assert ada.worker.stop() == 0
    before, calls = team.shop.store.last_seq(), team.tools(ada.bench)

    ada.remove(dies_between=dies_between)
    team.worker().wait_ready()

    ada.check_stopped(before, calls)


@pytest.mark.rule("T6.4", "T6.2")
@pytest.mark.parametrize("dies_between", [False, True])
@pytest.mark.parametrize("has_run_out", [False, True])
def test_a_turn_whose_worker_died_ends_with_its_person(team, has_run_out, dies_between):
    ada = Ada(team)
    ada.worker.kill()
    before, calls = team.shop.store.last_seq(), team.tools(ada.bench)
    if has_run_out:
        until(lambda: not team.shop.store.leases.held(), "the lease to run out")

    ada.remove(dies_between=dies_between)
    team.worker().wait_ready()

    ada.check_stopped(before, calls)


@pytest.mark.rule("T6.4", "T6.2")
def test_a_worker_sees_by_itself_that_its_person_is_gone(team):
    ada = Ada(team)

    ada.remove(dies_between=True)

    assert ada.running.result(ENDS_S)["status"] == "canceled"


@pytest.mark.rule("T6.4", "W5.11")
def test_somebody_else_goes_on_with_the_turn_of_who_was_removed(team):
    ada = Ada(team)
    assert ada.worker.stop() == 0
    ada.remove()
    assert ada.running.result(ENDS_S)["status"] == "canceled"
    team.worker().wait_ready()

    done = team.begin(ada.bench, ada.message).result(ENDS_S)

    assert done["status"] == "complete"
    team.check_done(ada.bench)


@pytest.mark.rule("W5.10", "M12.1", "T6.2")
def test_a_wish_to_stop_that_no_worker_lives_to_hear_is_kept(tmp_path, shared):
    team = Team(tmp_path, {**shared, "team.lease_s": 4})
    try:
        bench, message = team.bench()
        first = team.worker(is_stuck=True).wait_ready()
        running = team.begin(bench, message)
        until(lambda: team.tools(bench) >= 2, "two tool calls")
        first.kill()
        assert team.shop.call("WorkshopCancelRun", {"workbench_id": bench})["cancel_requested"]

        team.worker().wait_ready()

        assert running.result(ENDS_S)["status"] == "canceled"
        assert list(team.answers(bench)) == ["canceled"]
    finally:
        team.close()


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
def test_a_worker_older_than_the_server_goes_on_with_what_it_knows(team):
    later, own = team.bench(), team.bench()
    old = team.worker().wait_ready()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("backshop.app.operation.queue.__version__", "99.0.0")
        waiting = team.begin(*later)
        until(lambda: "the turn was begun by 99.0.0" in old.said, "the older worker's word")

    done = team.begin(*own).result(ENDS_S)  # of a server as old as the worker

    assert done["status"] == "complete"
    assert not waiting.done()
    team.worker(version="99.0.1").wait_ready()
    assert waiting.result(ENDS_S)["status"] == "complete"
    assert old.said.count("begun by 99.0.0") == 1
    assert old.stop() == 0
    for bench, _ in (later, own):
        team.check_done(bench)


@pytest.mark.rule("T5.2", "T6.2")
def test_an_older_worker_leaves_a_turn_that_it_finds_without_a_job_to_a_newer_one(team):
    bench, message = team.bench()
    with team.server() as doomed:
        doomed.workshops.book.program = "99.0.0"
        doomed.workshops._turns._hands = _Lost()
        lost = team.begin(bench, message, doomed)
        until(lambda: lost.done(), "the loss")
    old = team.worker().wait_ready()

    until(lambda: "the turn was begun by 99.0.0" in old.said, "the older worker's word")

    assert team.tools(bench) == 0
    team.worker(version="99.0.0").wait_ready()
    until(lambda: "complete" in team.answers(bench), "the answer")
    team.check_done(bench)
    assert old.stop() == 0


@pytest.mark.rule("T6.2", "T1.5")
@pytest.mark.parametrize("is_looked_at", [False, True])
def test_a_turn_that_was_let_go_of_is_found_without_the_queue(team, is_looked_at):
    bench, message = team.bench()
    first = team.worker(is_stuck=True).wait_ready()
    team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")
    assert first.stop() == 0
    before = team.shop.store.last_seq()

    with psycopg.connect(team.settings["database_url"], autocommit=True) as database:
        database.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    if is_looked_at:  # then it is paused, as one whose program ended
        assert not team.is_at_work(bench)
    team.worker().wait_ready()
    team.worker().wait_ready()

    until(lambda: "complete" in team.answers(bench), "the answer")
    team.check_done(bench)
    assert team.resumed(before) == 1


@pytest.mark.rule("T1.5", "T6.2", "T8.18")
def test_clocks_an_hour_apart_change_nothing(team):
    bench, message = team.bench()
    slow = team.worker(skew_ms=-3_600_000, is_stuck=True).wait_ready()
    running = team.begin(bench, message)
    until(lambda: team.tools(bench) >= 2, "two tool calls")
    slow.kill()
    team.worker(skew_ms=3_600_000).wait_ready()

    assert running.result(ENDS_S)["status"] == "complete"
    team.check_done(bench)


class _Died(BaseException):
    """The end of a server: nothing in it goes on."""


class _Lost:
    """A queue whose server dies before anything is in it."""

    def give(self, bench_id: str, turn_id: str, ticket: str) -> int:
        raise _Died

    def is_pending(self, job: int) -> bool:
        return False

    def withdraw(self, job: int) -> bool:
        return False


@pytest.mark.needs("postgres")
def test_workers_need_a_database_that_machines_share(tmp_path):
    with Backshop.open(tmp_path / "home") as shop, pytest.raises(ValidationFailed):
        shop.work(turns=1, grace_s=0, ready=lambda: None)
