"""Turns that their process left: how they are found, who goes on, whose they are (T6.2, T6.4)."""

from __future__ import annotations

import errno
import os

import pytest
from tests.workshop.conftest import Chat, story
from tests.workshop.test_stopping import before

from backshop.app import Backshop
from backshop.base.acting import By
from backshop.base.errors import DiskFull
from backshop.base.ids import UserId
from backshop.store import StoreBusy
from backshop.workshop import closing, decide
from backshop.workshop.errors import ModelUnavailable

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
    text = closing.paused_text

    def meanwhile(*given):
        monkeypatch.undo()
        left.ask_to_stop()
        return text(*given)

    monkeypatch.setattr(closing, "paused_text", meanwhile)
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
