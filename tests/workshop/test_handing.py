"""Turns that their process left: how they are found, who goes on, whose they are (T6.2, T6.4)."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

import pytest
from tests.workshop.conftest import Chat, story
from tests.workshop.test_stopping import before

from backshop.app import Backshop
from backshop.base import event as registry
from backshop.base.acting import By
from backshop.base.errors import DiskFull
from backshop.base.event import event
from backshop.base.ids import UserId
from backshop.store import NewEvent, Part, Plan, StoreBusy, StoreUnavailable
from backshop.workshop import OlderWorker
from backshop.workshop.conversation import decide
from backshop.workshop.errors import ModelUnavailable
from backshop.workshop.turn import ending, worker_turn

LARGE = "x" * 100_000  # more than fits into the database: a file is written
DONE = {"b.txt": "b", "c.txt": LARGE}


class Left(Chat):
    """A conversation whose turns can lose their process, and a worker that takes them up."""

    def left(self, text: str = "Do it", user: UserId | None = None) -> str:
        """Send a message whose turn is let go of at its second item; return the turn."""
        wire = self.play(story(("b.txt", "b"), ("c.txt", LARGE), answer="b.txt c.txt"))
        once = iter([self.shop.workshops.let_go])
        before(wire, "implement", lambda: next(once, list)(), item=2)
        request = {"workbench_id": self.id, "message_id": self.send(text)}
        self.shop.call("WorkshopRunAgent", request, user=user)
        assert (self.turn.status, self.is_found) == ("running", True)
        return str(self.turn.turn_id)

    @property
    def turn(self):
        return self.shop.workshops.book.state(self.id).turn

    def taken_up(self, turn_id: str) -> None:
        self.shop.workshops.carry_on(self.id, turn_id, "a ticket")

    @property
    def is_found(self) -> bool:
        return f"bench:{self.id}" in self.shop.store.leases.run_out(0)

    def ask_to_stop(self) -> None:
        """As another process does: who works on the turn hears of it later."""
        book, turn = self.shop.workshops.book, self.turn
        book.commit(self.id, lambda now: decide.cancel(now, turn.turn_id))


@pytest.fixture
def left(tmp_path):
    with Backshop.open(tmp_path / "home", settings={"model.default": "scripted:demo"}) as shop:
        yield Left(shop, tmp_path)


@pytest.mark.rule("T6.5")
def test_a_turn_counts_for_whose_it_is_and_while_it_runs(left):
    ada, ben = (UserId(left.shop.call("UserAdd", {"name": n})["user_id"]) for n in ("A", "B"))
    left.call("AccessSet", user_id=ada, role="publish")
    wire = left.play(story(("b.txt", "b")))
    seen: list[list[int]] = []

    def count() -> None:
        seen.append([len(left.shop.workshops.turns_of(one)) for one in (ada, ben)])

    before(wire, "implement", count, item=1)
    request = {"workbench_id": left.id, "message_id": left.send()}
    left.shop.call("WorkshopRunAgent", request, user=ada)
    count()

    assert seen[0] == [1, 0]
    assert seen[-1] == [0, 0]


@pytest.mark.rule("T6.2", "T1.5")
@pytest.mark.parametrize("is_looked_at", [False, True])
def test_a_turn_that_a_machine_had_no_room_for_is_found_by_the_next(
    left, monkeypatch, is_looked_at
):
    turn_id = left.left()
    if is_looked_at:
        assert left.state()["resumable_turn"]
    book = left.shop.workshops.book

    def no_room(*_, **__):
        raise DiskFull("no room left")

    monkeypatch.setattr(book, "commit", no_room)
    with pytest.raises(DiskFull):
        left.taken_up(turn_id)
    monkeypatch.undo()
    assert left.is_found

    left.taken_up(turn_id)
    assert (left.turn.status, left.draft(), left.is_found) == ("complete", DONE, False)


@pytest.mark.rule("T6.2")
def test_a_turn_that_is_refused_is_looked_for_no_more(left, monkeypatch):
    turn_id = left.left()
    assert left.state()["resumable_turn"]

    def refuse(*_):
        raise ModelUnavailable("this model cannot be used", reason="model_unavailable")

    monkeypatch.setattr(left.shop.workshops._turns, "adapter", refuse)
    with pytest.raises(ModelUnavailable):
        left.taken_up(turn_id)

    assert not left.is_found


@pytest.mark.rule("T6.2")
def test_a_late_job_of_an_earlier_turn_leaves_the_later_one_to_be_found(left):
    left.play(story(("a.txt", "a"), answer="a.txt"))
    left.ask("First")
    first = left.turn.turn_id
    left.call("DraftPublish")
    later = left.left("Second")

    left.taken_up(first)

    assert left.is_found
    left.taken_up(later)
    assert left.turn.status == "complete"


@pytest.mark.rule("T6.2", "W5.10")
def test_a_turn_that_could_not_be_laid_to_rest_is_found(left, monkeypatch):
    turn_id = left.left()
    book = left.shop.workshops.book

    def busy(*_, **__):
        raise StoreBusy("another writer holds the store", reason="store_locked")

    monkeypatch.setattr(book, "commit", busy)
    with pytest.raises(StoreBusy):
        left.state()
    monkeypatch.undo()

    assert left.is_found
    left.taken_up(turn_id)
    assert left.turn.status == "complete"


@pytest.mark.rule("W5.11", "W5.12")
def test_a_turn_that_fails_after_it_was_asked_to_stop_is_over(left, monkeypatch):
    wire = left.play(story(("b.txt", "b"), ("c.txt", LARGE), answer="b.txt c.txt"))

    def stopped_and_full(*_):
        monkeypatch.undo()
        left.ask_to_stop()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    once = iter([lambda: monkeypatch.setattr(os, "fsync", stopped_and_full)])
    before(wire, "implement", lambda: next(once, list)(), item=2)

    done = left.ask()

    assert (done["status"], left.draft()) == ("canceled", {"b.txt": "b"})


@pytest.mark.rule("W5.10", "W5.11")
def test_a_wish_to_stop_that_comes_while_a_turn_is_laid_to_rest_is_heard(left, monkeypatch):
    left.left()
    text = ending.paused_text

    def meanwhile(*given):
        monkeypatch.undo()
        left.ask_to_stop()
        return text(*given)

    monkeypatch.setattr(ending, "paused_text", meanwhile)
    left.state()

    assert (left.turn.status, left.is_found) == ("canceled", False)


@pytest.mark.rule("T6.4")
def test_whoever_goes_on_with_a_turn_has_it_and_a_worker_leaves_it_theirs(left):
    ada = left.shop.call("UserAdd", {"name": "Ada"})["user_id"]
    left.call("AccessSet", user_id=ada, role="write")

    turn_id = left.left(user=ada)
    assert left.turn.user_id == ada
    left.taken_up(turn_id)
    assert (left.turn.status, left.turn.user_id) == ("complete", ada)

    left.call("DraftPublish")
    left.left("Again", user=ada)
    left.run(left.turn.user_message_id)  # the home's owner
    assert (left.turn.status, left.turn.user_id) == ("complete", None)


@pytest.mark.rule("T1.6", "T6.2")
def test_a_turn_that_a_worker_went_on_with_says_who_asked_who_acted_and_who_ran_it(left):
    ada = left.shop.call("UserAdd", {"name": "Ada"})["user_id"]
    left.shop.call("AccessSet", {"workbench_id": left.id, "user_id": ada, "role": "publish"})
    turn_id = left.left(user=ada)
    start = left.shop.store.last_seq()
    left.shop.store.place = By(door="worker", worker="m2:77")

    left.taken_up(turn_id)

    made = [one for one in left.shop.store.tail(start, 1000) if one.stream == f"bench:{left.id}"]
    assert left.turn.status == "complete"
    assert {(one.by.person, one.by.door, one.by.worker) for one in made} == {
        (ada, "worker", "m2:77")
    }
    assert {one.by.agent for one in made if one.kind == "draft.batch_applied"} == {"agent"}
    assert left.turn.user_id == ada


class Queue:
    """A queue that is away for so many tries; then a worker takes a turn up at once."""

    def __init__(self, left: Left, times: int, reason: str | None = None) -> None:
        self.left, self.times, self.reason = left, times, reason
        self.jobs: list[tuple[str, str, str]] = []

    def give(self, bench_id: str, turn_id: str, ticket: str) -> int:
        self.times -= 1
        if self.times >= 0:
            raise StoreUnavailable("no room in the queue", reason=self.reason)
        self.jobs.append((bench_id, turn_id, ticket))
        self.left.shop.workshops.carry_on(bench_id, turn_id, ticket)
        return len(self.jobs)

    def is_pending(self, job: int) -> bool:
        return False

    def withdraw(self, job: int) -> bool:
        return False


def hand_to(left: Left, queue: Queue, monkeypatch, patience_s: float) -> dict[str, str]:
    """Let turns be handed to a queue; return a message that waits for one."""
    monkeypatch.setattr(worker_turn, "HAND_OVER_S", patience_s)
    monkeypatch.setattr(worker_turn, "POLL_S", 0.001)
    monkeypatch.setattr(left.shop.workshops._turns, "_hands", queue)
    left.play(story(("b.txt", "b"), answer="b.txt"))
    return {"workbench_id": left.id, "message_id": left.send("Do it")}


@pytest.mark.rule("T6.2", "B3.8")
@pytest.mark.parametrize("reason", [None, "too_many_connections"])
def test_a_turn_whose_hand_over_was_refused_is_refused_and_nobody_runs_it_later(
    left, monkeypatch, reason
):
    queue = Queue(left, 10**6, reason)
    request = hand_to(left, queue, monkeypatch, patience_s=0)

    with pytest.raises(StoreUnavailable) as refused:
        left.shop.call("WorkshopRunAgent", request)

    assert refused.value.reason == "not_handed_over"
    assert "no room in the queue" in refused.value.message
    assert left.shop.store.leases.holder(f"bench:{left.id}") is None
    assert (left.turn.status, left.turn.problem.reason) == ("paused", "not_handed_over")
    assert left.shop.workshops.orphans() == []
    left.taken_up(left.turn.turn_id)  # its job was queued after all, and only the answer lost
    assert (left.turn.status, left.draft()) == ("paused", None)
    queue.times = 0
    left.shop.call("WorkshopRunAgent", request)
    assert (left.turn.status, left.draft()) == ("complete", {"b.txt": "b"})


@pytest.mark.rule("T6.2")
def test_a_hand_over_waits_for_a_queue_that_is_away_for_a_moment(left, monkeypatch):
    queue = Queue(left, 3)
    request = hand_to(left, queue, monkeypatch, patience_s=60)

    done = left.shop.call("WorkshopRunAgent", request)

    assert (done["status"], len(queue.jobs)) == ("complete", 1)


@pytest.mark.rule("T6.2", "M12.1")
def test_a_turn_that_waits_for_its_hand_over_can_be_stopped(left, monkeypatch):
    queue = Queue(left, 10**6)
    request = hand_to(left, queue, monkeypatch, patience_s=60)
    refuse, once = queue.give, iter([left.ask_to_stop])  # who holds the lease hears of it

    def give(*job: str) -> int:
        next(once, list)()
        return refuse(*job)

    monkeypatch.setattr(queue, "give", give)

    done = left.shop.call("WorkshopRunAgent", request)

    assert done["status"] == "canceled"


@pytest.mark.rule("T6.2", "T8.17")
def test_a_refusal_that_cannot_be_recorded_leaves_the_turn_to_be_found(left, monkeypatch):
    request = hand_to(left, Queue(left, 10**6), monkeypatch, patience_s=0)
    monkeypatch.setattr(ending, "left_behind", away)

    with pytest.raises(StoreUnavailable) as refused:
        left.shop.call("WorkshopRunAgent", request)

    assert "the message is kept" in refused.value.message
    assert left.shop.store.leases.holder(f"bench:{left.id}") is not None


def away(*_: object, **__: object) -> None:
    raise StoreUnavailable("away")


@pytest.mark.rule("T6.2", "T1.5")
def test_a_turn_that_a_store_away_for_a_moment_interrupted_goes_on_at_once_where_it_was(
    left, monkeypatch
):
    turn_id, book = left.left(), left.shop.workshops.book
    wire = left.play(story(("b.txt", "b"), ("c.txt", LARGE), answer="b.txt c.txt"))

    def go_away() -> None:
        monkeypatch.setattr(book, "commit", away)
        monkeypatch.setattr(book.store.leases, "end", away)

    once = iter([go_away])
    before(wire, "implement", lambda: next(once, list)(), item=2)
    with pytest.raises(StoreUnavailable):
        left.taken_up(turn_id)
    monkeypatch.undo()
    assert left.shop.store.leases.holder(f"bench:{left.id}") is not None  # for a minute yet

    left.taken_up(turn_id)

    assert (left.turn.status, left.draft()) == ("complete", DONE)


@pytest.mark.rule("T6.2", "T5.2")
def test_a_turn_with_events_of_a_later_program_is_left_to_a_later_worker(left):
    turn_id = left.left()

    @event("workshop.thought_of_later")
    @dataclass(frozen=True, slots=True, kw_only=True)
    class ThoughtOfLater:
        """What only a later program knows."""

        text: str

    new = NewEvent(ThoughtOfLater(text="x"), "later")
    left.shop.store.append(Plan([Part(f"bench:{left.id}", [new])]))
    registry._BY_NAME.pop("workshop.thought_of_later")

    with pytest.raises(OlderWorker):
        left.taken_up(turn_id)
    assert left.is_found


@pytest.mark.rule("T6.2")
@pytest.mark.parametrize("later", ["0.10.0", "0.9.1", "1.0.0"])
def test_the_versions_of_programs_are_compared_as_numbers(later):
    with pytest.raises(OlderWorker):
        worker_turn.require_program("0.9.0", later)

    worker_turn.require_program(later, "0.9.0")
    worker_turn.require_program(later, later)


@pytest.mark.rule("T6.4", "W5.10")
def test_a_turn_of_a_removed_person_that_nobody_works_on_is_over(left, monkeypatch):
    ada = left.shop.call("UserAdd", {"name": "Ada"})["user_id"]
    left.call("AccessSet", user_id=ada, role="write")
    left.left(user=ada)
    monkeypatch.setattr(left.shop.workshops.book, "is_gone", lambda user_id: user_id == ada)

    assert left.state()["resumable_turn"]  # whoever looks lays it to rest
    assert left.turn.status == "canceled"


@pytest.mark.rule("T6.4")
def test_a_turn_that_somebody_took_over_is_not_stopped_for_who_was_removed(left):
    ada = UserId(left.shop.call("UserAdd", {"name": "Ada"})["user_id"])
    wire = left.play(story(("b.txt", "b")))
    seen: list[tuple[int, int]] = []

    def removed() -> None:
        known, own = left.shop.workshops.book.state(left.id), left.turn.turn_id
        asked = decide.cancel(known, own, of=ada), decide.cancel(known, own)
        seen.append((len(asked[0]), len(asked[1])))

    before(wire, "implement", removed, item=1)
    done = left.run(left.send("Write b.txt"))

    assert set(seen) == {(0, 1)}
    assert done["status"] == "complete"
