"""The right to run a turn: a lease, kept alive beside the work, and the ear for a wish to stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from backshop.base.errors import BackshopError
from backshop.base.ids import TurnId
from backshop.bench import stream_of
from backshop.prompts import CancelToken
from backshop.store import whereabouts

from ..conversation.repository import Conversations
from ..conversation.state import Turn
from ..errors import TurnActive

HEARTBEATS = 4  # times a lease is renewed before it would run out
POLL_S = 0.25  # how soon a wish of another process is heard (M12.1: 1 s)
BEGINNING_POLLS = 40
"""How often a lease is asked for whose holder has begun no turn yet: it may be refused itself."""


@dataclass(slots=True)
class Hold:
    """A held lease. `stop` is asked when the person cancels or the lease is lost."""

    owner: str
    stop: CancelToken
    is_lost: bool = False
    runs_out: bool = False
    """Whether the lease is left to run out instead of being given back; so the turn is found."""
    is_let_go: bool = False
    """Whether it runs out at once, so that somebody else takes it."""
    ends: threading.Event = field(default_factory=threading.Event)

    def let_go(self) -> None:
        """Stop where the work is, without another word in the log: somebody else goes on."""
        self.is_lost = self.is_let_go = True
        self.stop.request()


@contextmanager
def held(
    book: Conversations, bench_id: str, owner: str, stop: CancelToken, *, ticket: str | None = None
) -> Iterator[Hold]:
    """Hold a bench's run lease while the block runs.

    With a `ticket`, the name of who held it before, it is taken over from them and nobody else.
    Where the block fails the lease ends and is not dropped: by that a worker finds the turn.

    Raises:
        TurnActive: somebody else has it.
    """
    stream = stream_of(bench_id)
    if ticket is not None:
        is_ours = book.store.leases.pass_on(stream, ticket, owner, book.lease_s)
    else:
        is_ours = _taken(book, bench_id, owner, stop)
    if not is_ours:
        raise TurnActive("the agent is at work here", reason="turn_active")
    hold = Hold(owner, stop)
    keeper = threading.Thread(
        target=_keep, args=(book, bench_id, hold), daemon=True, name="backshop-lease"
    )
    keeper.start()
    try:
        yield hold
    except BaseException:
        hold.is_let_go = not hold.runs_out  # whatever became of the work can be found
        raise
    finally:
        hold.ends.set()
        keeper.join()
        if hold.is_let_go:
            book.store.leases.end(stream, owner)
        elif not hold.runs_out:
            book.store.leases.drop(stream, owner)


def _taken(book: Conversations, bench_id: str, owner: str, stop: CancelToken) -> bool:
    """Take the lease, from whoever has it and begins nothing, in the end.

    Of several who send at once one holds it, and is refused because another spoke after them; that
    other one is the one to answer, and must not have been sent away meanwhile (W5.5).
    """
    for _ in range(BEGINNING_POLLS):
        is_alive(book, bench_id)  # a dead holder gives way
        if book.store.leases.take(stream_of(bench_id), owner, book.lease_s):
            return True
        if not _is_beginning(book, bench_id) or stop.wait(POLL_S):
            return False
    return False


def _is_beginning(book: Conversations, bench_id: str) -> bool:
    """Say whether the holder of the lease, if there is one, has not begun its turn yet."""
    holder = book.store.leases.holder(stream_of(bench_id))
    if holder is None:
        return True
    turn_id, _, rest = holder.partition(":")
    return bool(rest) and turn_id not in book.state(bench_id).turns


def _keep(book: Conversations, bench_id: str, hold: Hold) -> None:
    """Renew the lease, and hear of a wish to stop; a lost lease stops the work."""
    stream = stream_of(bench_id)
    renewed = book.clock.monotonic()
    while not hold.ends.wait(POLL_S):
        try:
            if book.clock.monotonic() - renewed >= book.lease_s / HEARTBEATS:
                if not book.store.leases.pass_on(stream, hold.owner, hold.owner, book.lease_s):
                    hold.let_go()
                    return
                renewed = book.clock.monotonic()
            running = book.state(bench_id).running
            if running is not None and is_unwanted(book, running):
                hold.stop.request()
            book.absence.end()
        except BackshopError as error:  # the store is busy or away: the next look tells
            book.absence.begin(error)


def is_unwanted(book: Conversations, turn: Turn) -> bool:
    """Say whether a turn has to stop: somebody asked for that, or its person was removed (T6.4).

    Who works on it sees the removal by themself; whoever removed the person may be dead by now.
    """
    return turn.is_cancel_asked or book.is_gone(turn.user_id)


def is_alive(book: Conversations, bench_id: str) -> bool:
    """Say whether somebody holds the run lease of a bench.

    A holder on this machine whose process is gone loses it at once; others keep it until it ends.
    """
    stream = stream_of(bench_id)
    if book.store.leases.holder(stream) is not None:
        return True
    book.store.leases.end_if_dead(stream)
    return False


def owner_of(book: Conversations, turn_id: TurnId) -> str:
    """Return a name for the holder that no other process has, and where its process is."""
    return f"{turn_id}:{book.new('tx')}:{whereabouts()}"
