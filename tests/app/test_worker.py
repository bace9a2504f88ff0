"""A worker's own book-keeping; what it does with turns is proved in tests/team."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from backshop.app.operation.queue import LATER
from backshop.base.errors import BackshopError
from backshop.store import StoreUnavailable
from backshop.workshop import OlderWorker, TurnActive
from backshop.workshop.outage import Absence
from backshop.workshop.turn.worker_turn import require_program

worker = pytest.importorskip("backshop.app.operation.worker")  # backshop[postgres]


class Away:
    """A Workshop whose store is away for so many tries, or which is too old for what it gets."""

    def __init__(self, times: int, reason: str | None = None) -> None:
        self.book = SimpleNamespace(lease_s=2.0, absence=Absence())
        self.left = times
        self.reason = reason
        self.within: list[Any] = []

    def require_program(self, version: str) -> None:
        require_program("0.1.0", version)

    def carry_on(self, bench_id: str, turn_id: str, ticket: str) -> None:
        self.left -= 1
        for one in self.within:
            one()
        if self.left >= 0:
            raise StoreUnavailable("away", reason=self.reason)


def given(one: Any, turn_id: str = "turn_1", version: str = "0.1.0") -> Exception | None:
    """Give a worker a job; return what it goes back to the queue with."""
    try:
        asyncio.run(one._turn("wb_1", turn_id, "", version))
    except BackshopError as error:
        return error
    return None


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(worker, "AGAIN_S", 0.0)
    monkeypatch.setattr(worker, "STORE_FIRST_S", 0.0)


@pytest.mark.rule("T6.2")
@pytest.mark.parametrize(
    ("times", "reason", "tries"),
    [
        (3, None, 4),
        (3, "too_many_connections", 4),
        (1000, None, worker.STORE_TRIES + 1),
        (1000, "refused", 1),
    ],
)
def test_a_worker_waits_itself_for_a_store_that_is_away(at_once, times, reason, tries):
    shop = Away(times, reason)
    one = worker.Worker(shop, "", turns=1, grace_s=0)

    assert given(one) is None

    assert times - shop.left == tries
    assert not one._at_work


@pytest.mark.rule("T6.2")
def test_a_worker_waits_for_a_store_about_two_minutes():
    waits = [min(worker.STORE_FIRST_S * 2**n, worker.STORE_WAIT_S) for n in range(9)]

    assert waits[:4] == [0.5, 1, 2, 4]  # seconds away cost seconds
    assert 110 <= sum(waits) <= 130


@pytest.mark.rule("T6.2")
def test_a_worker_that_waits_for_its_store_lets_go_when_it_is_told_to_stop(at_once):
    shop = Away(1000)
    one = worker.Worker(shop, "", turns=1, grace_s=0)
    one._stopping.set()

    assert isinstance(given(one), StoreUnavailable)
    assert shop.left == 999


@pytest.mark.rule("T6.2")
def test_a_job_that_comes_twice_to_a_worker_goes_back_while_its_turn_is_walked(at_once):
    shop = Away(0)
    one = worker.Worker(shop, "", turns=1, grace_s=0)
    second: list[Any] = []
    once = iter([lambda: second.append(given(one))])
    shop.within = [lambda: next(once, list)()]

    assert given(one) is None

    assert [type(found) for found in second] == [TurnActive]
    assert given(one) is None


@pytest.mark.rule("T6.2")
def test_a_worker_leaves_turns_of_later_programs_to_others_and_says_so_once(at_once, caplog):
    shop = Away(0)
    one = worker.Worker(shop, "", turns=1, grace_s=0)

    refused = [given(one, version="0.2.0"), given(one, version="0.2.0")]
    own = given(one)

    assert [type(found) for found in refused] == [OlderWorker] * 2
    decided = worker._Again().get_retry_decision(exception=refused[0], job=None)
    assert decided.queue == LATER
    assert own is None
    assert shop.left == -1
    said = [line.message for line in caplog.records if "newer worker" in line.message]
    assert said == [
        "this worker is version 0.1.0, the turn was begun by 0.2.0; such turns wait for a newer"
        " worker, others go on here"
    ]
