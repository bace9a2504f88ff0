"""Turns in other hands: begun here, walked by a worker, waited for by whoever asked (T6.2).

The queue holds no truth: whose turn it is says the lease, how far it came says the log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from backshop.base.errors import BackshopError, DiskFull, NotFound, Retry, RetryKind
from backshop.base.ids import TurnId
from backshop.bench import BenchDamaged, stream_of
from backshop.store import LeaseLost, Store, StoreBusy, StoreUnavailable, WriteFailed

from ..conversation.events import Problem
from ..conversation.repository import Conversations, conversation_of
from ..conversation.state import Turn
from ..errors import TurnActive
from . import ending
from .lease import POLL_S, Hold, is_alive

HAND_OVER_S = 10.0  # how long a queue that is away is tried before the person is told
NOT_HANDED_OVER = "not_handed_over"
UNKNOWN_EVENTS = "unknown_schema_version"  # why a stream of a later program cannot be read (T5.1)


class OlderWorker(StoreUnavailable):
    """A turn was begun by a later program; one of this version could not go on with it (T6.2)."""

    def __init__(self, own: str | None, version: str | None) -> None:
        self.version = version
        super().__init__(
            f"this worker is version {own}, the turn was begun by {version or 'a later one'}",
            reason="older_worker",
            hints=("upgrade the workers before the servers",),
            retry=Retry(RetryKind.NO),
        )


class TurnQueue(Protocol):
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
    book: Conversations,
    hands: TurnQueue,
    bench_id: str,
    turn_id: TurnId,
    hold: Hold,
    settle: Callable[[str], object],
) -> bool:
    """Hand a begun turn over and wait until it is over.

    True if it is ours to walk after all: nobody took it up, and the person wants it stopped or the
    queue lost it. The lease is renewed beside this until a worker has taken it over.

    Raises:
        StoreUnavailable: `not_handed_over`: it was not begun, and nobody will go on with it alone.
    """
    job = _given(book, hands, bench_id, turn_id, hold)
    if job is None:
        return True
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
            book.absence.end()
        except (StoreUnavailable, StoreBusy) as error:
            book.absence.begin(error)  # it comes back, and the worker goes on meanwhile
        hold.ends.wait(POLL_S)


def _given(
    book: Conversations, hands: TurnQueue, bench_id: str, turn_id: TurnId, hold: Hold
) -> int | None:
    """Queue a turn, and try again while the queue is away for a moment.

    Return the number of the job; None when the person wants the turn stopped meanwhile.
    """
    ends = book.clock.monotonic() + HAND_OVER_S
    while True:
        try:
            return hands.give(bench_id, turn_id, hold.owner)
        except StoreUnavailable as error:
            book.absence.begin(error)
            is_over = error.retry.kind is RetryKind.NO or book.clock.monotonic() >= ends
            if hold.is_lost or is_over:
                raise _refused(book, bench_id, turn_id, hold, error) from error
            if hold.stop.requested:
                return None
        hold.ends.wait(POLL_S)


def _refused(
    book: Conversations, bench_id: str, turn_id: TurnId, hold: Hold, error: StoreUnavailable
) -> StoreUnavailable:
    """Record that no worker got the turn, and return what whoever asked is told.

    Where not even that can be recorded the turn stays, and is found by its lease running out.
    """
    told = f"no worker could be given the work: {error.message}"
    problem = Problem(
        code=error.code, reason=NOT_HANDED_OVER, message=told, actions=("resume", "retry")
    )
    try:
        turn = book.state(bench_id).running
        if turn is not None and turn.turn_id == turn_id:
            rule = ending.left_behind(book, bench_id, turn, problem)
            book.commit(bench_id, rule, lease=hold.owner)
    except (StoreUnavailable, StoreBusy, LeaseLost):
        hold.runs_out = True
        return StoreUnavailable(
            "the database is away; the message is kept, and a worker takes it up some time after"
            " the database is back",
            reason=NOT_HANDED_OVER,
            detail=error.detail,
        )
    return StoreUnavailable(told, reason=NOT_HANDED_OVER, detail=error.detail, hints=error.hints)


def orphans(book: Conversations) -> list[tuple[str, str]]:
    """Return benches and turns whose lease ran out as long ago as a lease lasts.

    A worker that stops or dies leaves a job behind, which is retried before that; these have none.
    One that somebody looked at meanwhile is paused, and goes on all the same. A lease of a turn
    that came to its end is forgotten.
    """
    found: list[tuple[str, str]] = []
    for bench_id, turn in _newest(book.store, book.store.leases.run_out(book.lease_s)):
        if turn is not None and (not turn.is_over or turn.is_orphaned):
            found.append((bench_id, turn.turn_id))
        else:
            book.store.leases.forget(stream_of(bench_id))
    return found


@contextmanager
def looked_for_no_more(book: Conversations, bench_id: str, turn_id: TurnId) -> Iterator[None]:
    """Take a turn up; whatever becomes of it, no worker takes it up again by itself.

    Two things stay to be found by the lease that ended: a turn that this machine or the store kept
    from going on, and a later turn of the bench.
    """
    try:
        yield
    except (TurnActive, StoreBusy, StoreUnavailable, DiskFull, WriteFailed):
        raise
    except BackshopError as error:
        if error.reason == UNKNOWN_EVENTS:  # a later program goes on with it
            raise OlderWorker(book.program, None) from error
        _forget(book, bench_id, turn_id)
        raise
    _forget(book, bench_id, turn_id)


def _forget(book: Conversations, bench_id: str, turn_id: TurnId) -> None:
    for _, newest in _newest(book.store, (stream_of(bench_id),)):
        if newest is None or newest.turn_id == turn_id:
            book.store.leases.forget(stream_of(bench_id))


def turns_of(store: Store, user_id: str) -> list[tuple[str, str]]:
    """Return benches and turns that are being worked on for somebody."""
    return _running_for(store, user_id, store.leases.held())


def unfinished_of(store: Store, user_id: str) -> list[tuple[str, str]]:
    """Return benches and turns of somebody that run, or would if somebody worked on them."""
    leases = store.leases
    return _running_for(store, user_id, {*leases.held(), *leases.run_out(0)})


def _running_for(store: Store, user_id: str, streams: Iterable[str]) -> list[tuple[str, str]]:
    return [
        (bench_id, turn.turn_id)
        for bench_id, turn in _newest(store, streams)
        if turn is not None and not turn.is_over and turn.user_id == user_id
    ]


def _newest(store: Store, streams: Iterable[str]) -> Iterator[tuple[str, Turn | None]]:
    """Yield the benches among these streams, each with its newest turn."""
    for stream in streams:
        kind, _, bench_id = stream.partition(":")
        if kind == "bench":
            with suppress(NotFound, BenchDamaged):
                yield bench_id, conversation_of(store, bench_id).turn


def require_program(own: str | None, version: str | None) -> None:
    """Refuse what a later program began.

    Raises:
        OlderWorker: it is newer than ours.
    """
    if own is not None and version is not None and _numbers(version) > _numbers(own):
        raise OlderWorker(own, version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
