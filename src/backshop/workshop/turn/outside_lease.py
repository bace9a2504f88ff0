"""The place of an agent outside at a bench: the run lease while its turn lasts (W13.7)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from backshop.base.errors import BackshopError
from backshop.base.ids import TurnId
from backshop.prompts import CancelToken
from backshop.store import LeaseLost

from ..conversation import decide
from ..conversation.events import Problem
from ..conversation.repository import Conversations
from ..conversation.state import Turn, WorkshopState
from . import ending
from .lease import POLL_S, Hold, held, is_unwanted, owner_of

IDLE_S = 30 * 60.0  # W13.7
SILENT = Problem(
    code="BENCH_BUSY",
    reason="lease_lost",
    message="the agent outside did not go on",
    actions=("resume",),
)


class OutsideLease:
    """Holds the lease from call to call; the person's wish to stop and long silence end it."""

    def __init__(self, book: Conversations, bench_id: str) -> None:
        self._book = book
        self._bench_id = bench_id
        self.lock = threading.RLock()
        self.hold: Hold | None = None
        self._turn_id: TurnId | None = None
        self._lease = ExitStack()
        self._heard = 0.0

    def turn(self) -> Turn | None:
        """Return the turn this agent works on, None when there is none any more."""
        if self.hold is None or self.hold.is_lost:
            return None
        turn = self._book.state(self._bench_id).running
        return turn if turn is not None and turn.turn_id == self._turn_id else None

    def take(self, turn_id: TurnId) -> Hold:
        """Take the run lease, and look after it beside the calls."""
        self.leave()
        owner = owner_of(self._book, turn_id)
        hold = self._lease.enter_context(held(self._book, self._bench_id, owner, CancelToken()))
        self.hold, self._turn_id, self._heard = hold, turn_id, self._book.clock.monotonic()
        name = "backshop-outside"
        threading.Thread(target=self._watch, args=(hold,), daemon=True, name=name).start()
        return hold

    def leave(self) -> None:
        """Let the lease go."""
        self.hold = self._turn_id = None
        self._lease.close()

    def _watch(self, hold: Hold) -> None:
        """End the turn when the person wants it or the agent is heard no more."""
        while not hold.ends.wait(POLL_S):
            try:
                self.look(is_heard=False)
            except BackshopError as error:  # the store is busy or away: the next look tells
                self._book.absence.begin(error)

    def look(self, *, is_heard: bool = True) -> None:
        """End a turn that was stopped by the person; pause one whose agent was silent too long."""
        with self.lock:
            turn, hold, now = self.turn(), self.hold, self._book.clock.monotonic()
            if hold is not None and turn is None:
                self.leave()
            if turn is None or hold is None:
                return
            try:
                if is_unwanted(self._book, turn):
                    self._canceled()
                elif now - self._heard >= IDLE_S:
                    self._paused(turn)
                elif is_heard:
                    self._heard = now
            except LeaseLost:  # it ran out meanwhile: who looks next lays the turn to rest
                self.leave()

    def _canceled(self) -> None:
        wish = ending.canceled_of(self._book, self._bench_id)
        self.commit(lambda now: decide.end(now, wish))
        self.leave()

    def _paused(self, turn: Turn) -> None:
        text = ending.paused_text(self._book.state(self._bench_id), SILENT)
        wish = ending.ending_of(
            self._book, self._bench_id, turn.turn_id, "paused", "interrupted", text, problem=SILENT
        )
        self.commit(lambda now: decide.pause(now, wish))
        self.leave()

    def close(self) -> None:
        """Leave: a turn that is not finished can be resumed by anybody (W5.10)."""
        with self.lock:
            turn = self.turn()
            if turn is not None:
                self._paused(turn)
            self.leave()

    def commit(self, rule: Callable[[WorkshopState], Sequence[object]]) -> None:
        """Append to the conversation, if the lease is still held."""
        assert self.hold is not None
        self._book.commit(self._bench_id, rule, lease=self.hold.owner)
