"""A worker's own book-keeping; what it does with turns is proved in tests/team."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from backshop.store import StoreUnavailable

worker = pytest.importorskip("backshop.app.worker")  # backshop[postgres]


class Away:
    """A Workshop whose store is away for so many tries."""

    def __init__(self, times: int) -> None:
        self.book = SimpleNamespace(lease_s=2.0)
        self.left = times

    def require_program(self, version: str) -> None:
        pass

    def carry_on(self, bench_id: str, turn_id: str, ticket: str) -> None:
        self.left -= 1
        if self.left >= 0:
            raise StoreUnavailable("away")


def tried(one: Any, turn_id: str) -> bool:
    """Give a worker a job once; say whether it goes back to the queue."""
    try:
        asyncio.run(one._turn("wb_1", turn_id, "", "0.1.0"))
    except StoreUnavailable:
        return True
    return False


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(worker, "AGAIN_S", 0.0)


@pytest.mark.rule("T6.2")
def test_a_store_that_is_away_is_tried_so_often_for_each_turn(at_once):
    one = worker.Worker(Away(1000), "", turns=1, grace_s=0)

    for turn in ("turn_1", "turn_2"):
        assert [tried(one, turn) for _ in range(9)] == [True] * worker.STORE_TRIES + [False]

    assert one._tries == {}


@pytest.mark.rule("T6.2")
def test_what_a_worker_counts_is_forgotten_when_it_is_over_and_bounded_when_it_never_is(at_once):
    one = worker.Worker(Away(1), "", turns=1, grace_s=0)
    assert [tried(one, "turn_1"), tried(one, "turn_1")] == [True, False]
    assert one._tries == {}

    one = worker.Worker(Away(10**6), "", turns=1, grace_s=0)
    one._tries = {f"turn_{n}": 1 for n in range(worker.TRIES_KEPT)}
    assert tried(one, "turn_new")  # others went on with the turns of before

    assert len(one._tries) == worker.TRIES_KEPT
    assert (next(iter(one._tries)), one._tries["turn_new"]) == ("turn_1", 1)
