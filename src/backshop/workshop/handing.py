"""Turns in other hands: begun here, walked by a worker, waited for by whoever asked (T6.2).

The queue holds no truth: whose turn it is says the lease, how far it came says the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Protocol

from backshop.base.errors import BackshopError, NotFound
from backshop.base.ids import TurnId
from backshop.bench import BenchDamaged, stream_of
from backshop.store import StoreBusy, StoreUnavailable

from .book import Book
from .holding import POLL_S, Hold, is_alive
from .state import Turn

_LOG = logging.getLogger(__name__)


class Hands(Protocol):
    """A queue of turns that workers take from."""

    def give(self, bench_id: str, turn_id: str, ticket: str) -> int:
        """Queue a turn whose lease `ticket` holds; return the number of the job."""
        ...

    def is_pending(self, job: int) -> bool:
        """Say whether a worker has the job, or is still to get it."""
        ...

    def withdraw(self, job: int) -> bool:
        """Take a job back that no worker has taken up; False if it is too late."""
        ...


def is_left_to_us(
    book: Book,
    hands: Hands,
    bench_id: str,
    turn_id: TurnId,
    hold: Hold,
    settle: Callable[[str], object],
) -> bool:
    """Hand a begun turn over and wait until it is over.

    True if it is ours to walk after all: nobody took it up, and the person wants it stopped or the
    queue lost it. The lease is renewed beside this until a worker has taken it over.
    """
    try:
        job = hands.give(bench_id, turn_id, hold.owner)
    except BackshopError:
        hold.runs_out = True  # by that a worker finds the turn
        raise
    while True:
        try:
            is_pending = hands.is_pending(job)
            turn = book.state(bench_id).turns[turn_id]
            goes_on = is_pending and (turn.is_orphaned or turn.is_stranded)
            if turn.is_over and not goes_on:
                return False
            is_ours = book.store.leases.holder(stream_of(bench_id)) == hold.owner
            if is_ours and (not is_pending or (turn.is_cancel_asked and hands.withdraw(job))):
                return True
            if not is_pending and not is_alive(book, bench_id):
                settle(bench_id)
        except (StoreUnavailable, StoreBusy):  # it comes back, and the worker goes on meanwhile
            _LOG.warning("a turn in other hands could not be looked after", exc_info=True)
        hold.ends.wait(POLL_S)


def orphans(book: Book) -> list[tuple[str, str]]:
    """Return benches and turns whose lease ran out as long ago as a lease lasts.

    A worker that dies leaves a job behind, which is retried before that; these have none.
    """
    return [(b, t.turn_id) for b, t in _running(book, book.store.leases.run_out(book.lease_s))]


def turns_of(book: Book, user_id: str) -> list[tuple[str, str]]:
    """Return benches and turns that are being worked on for somebody."""
    found = _running(book, book.store.leases.held())
    return [(bench_id, turn.turn_id) for bench_id, turn in found if turn.user_id == user_id]


def _running(book: Book, streams: Iterable[str]) -> Iterator[tuple[str, Turn]]:
    """Yield the running turns of the benches among these streams."""
    for stream in streams:
        kind, _, bench_id = stream.partition(":")
        if kind == "bench":
            with suppress(NotFound, BenchDamaged):
                turn = book.state(bench_id).running
                if turn is not None:
                    yield bench_id, turn
