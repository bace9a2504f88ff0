"""What every part of the Workshop stands on: states by id, and the one way to commit.

Facts of the conversation and of the files go into one stream and are decided together; folders
follow after the commit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from backshop.base.ambient import Clock, Mint, timestamp
from backshop.base.errors import BackshopError
from backshop.base.ids import (
    BenchId,
    BlobId,
    CheckpointId,
    MessageId,
    PromptSessionId,
    TurnId,
    check_id,
    did,
)
from backshop.base.limits import RUN_LEASE_S
from backshop.base.outbox import Outbox, Waiting
from backshop.bench import Bench, BenchBusy, BenchDamaged, stream_of, written
from backshop.bench.state import BenchState
from backshop.prompts import session_stream
from backshop.store import Part, Pin, Plan, Store, StreamNotHealthy, Write

from ..outage import Absence
from . import decide, fold
from .events import WorkshopEvent
from .state import WorkshopState
from .stream import FOLD

_LOG = logging.getLogger(__name__)
Rule = Callable[[WorkshopState], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Committed:
    """A change that stands; warnings say what went less well than asked."""

    state: WorkshopState
    warnings: tuple[str, ...] = ()


def conversation_of(store: Store, bench_id: str) -> WorkshopState:
    """Return the conversation of a bench as the log has it.

    Raises:
        NotFound: there is no such workbench, or it lies in the trash.
        BenchDamaged: its log cannot be read.
    """
    try:
        state = store.state(stream_of(bench_id), FOLD)
    except StreamNotHealthy as error:
        raise BenchDamaged(error.message, reason=error.reason) from error
    decide.require_started(state)
    return state


def chosen_model(store: Store, bench_id: str) -> str | None:
    """Return the model that was chosen for a bench, None where the person's own answers (M2.1)."""
    known = conversation_of(store, bench_id)
    return known.model_id or known.default_model_id


class Conversations:
    """Store, desk, ids and clock as the Workshop uses them."""

    def __init__(
        self,
        bench: Bench,
        mint: Mint,
        clock: Clock,
        lease_s: float = RUN_LEASE_S,
        *,
        program: str | None = None,
        gone: Callable[[str], bool] = lambda user_id: False,
    ) -> None:
        self.bench = bench
        self.desk = bench.desk
        self.store = bench.desk.store
        self.clock = clock
        self.lease_s = lease_s
        self.program = program
        """The version of this program; turns say which one began them (T6.2)."""
        self.absence = Absence()
        self._mint = mint
        self._gone = gone
        self._outboxes: dict[str, Outbox] = {}

    def is_gone(self, user_id: str | None) -> bool:
        """Say whether somebody was removed; the home's owner, who has no id, never is."""
        return user_id is not None and self._gone(user_id)

    def new_message(self) -> MessageId:
        """Return the id of a record."""
        return MessageId(self._mint.new("msg"))

    def new_turn(self) -> TurnId:
        """Return the id of a turn."""
        return TurnId(self._mint.new("turn"))

    def new(self, prefix: str) -> str:
        """Return a fresh id of another kind."""
        return self._mint.new(prefix)

    def ids(self) -> decide.Ids:
        """Return what a rewind may need."""
        return decide.Ids(
            message=self.new_message(),
            revision=self.desk.new_revision(),
            checkpoint=CheckpointId(self._mint.new("cp")),
        )

    def now(self) -> str:
        """Return the time in words."""
        return timestamp(self.clock.now_ms())

    def state(self, bench_id: str) -> WorkshopState:
        """Return the conversation as it is now.

        What waits here for the next append counts.

        Raises:
            NotFound: there is no such workbench, or it lies in the trash.
        """
        return self._seen(bench_id, conversation_of(self.store, bench_id))

    def _seen(self, bench_id: str, state: WorkshopState) -> WorkshopState:
        outbox = self._outboxes.get(bench_id)
        facts = [one.fact for one in outbox.waiting()] if outbox is not None else []
        return fold.applied(state, [one for one in facts if isinstance(one, WorkshopEvent)])

    @contextmanager
    def gathering(self, bench_id: str) -> Iterator[Outbox]:
        """Let facts that may wait go with the next append; at the end none is left behind."""
        outbox = self._outboxes[bench_id] = Outbox()
        try:
            yield outbox
        finally:
            del self._outboxes[bench_id]
            if left := outbox.waiting():
                self._let_go(bench_id, left)

    def _let_go(self, bench_id: str, left: Sequence[Waiting]) -> None:
        """Append what no other append took along."""
        facts = [one.fact for one in left]
        pins = [BlobId(ref) for one in left for ref in one.pins]
        try:
            self.commit(bench_id, lambda _: facts, pins=pins)
        except BackshopError as error:  # whatever ended the work says so itself
            _LOG.warning("%d facts about calls are lost: %s", len(facts), error.message)

    def later(
        self, bench_id: str, fact: object, *, pins: Sequence[BlobId], lease: str | None
    ) -> None:
        """Append a fact with the next append, or now where nobody gathers."""
        outbox = self._outboxes.get(bench_id)
        if outbox is None:
            self.commit(bench_id, lambda _: [fact], pins=pins, lease=lease)
        else:
            outbox.add(fact, pins)

    def require_quiet(self, bench_id: str) -> None:
        """Refuse while an agent holds the bench, also one of another door (B3.8)."""
        if self.store.leases.holder(stream_of(bench_id)) is not None:
            raise BenchBusy("an agent is at work here", reason="turn_active")

    def session_seq(self, bench_id: str) -> int:
        """Return how far the prompt session of a bench has come."""
        return self.store.position(session_stream(prompt_session(bench_id))) + 1

    def commit(
        self,
        bench_id: str,
        rule: Rule,
        *,
        blobs: Sequence[bytes] = (),
        keep: Sequence[BlobId] = (),
        pins: Sequence[BlobId] = (),
        lease: str | None = None,
        parts: Sequence[Part] = (),
    ) -> Committed:
        """Append what the rule decides as one transaction, then bring the folders along.

        `pins` are blobs the facts name; `parts` go to other streams in the same append, and only
        if the rule decides something.
        """
        stream = stream_of(bench_id)
        write = self.writing(bench_id, rule, blobs=blobs, keep=keep, pins=pins, lease=lease)

        def plan(states: tuple[WorkshopState, ...]) -> Plan | None:
            wish = write(states[0])
            return Plan((wish.part(stream), *parts), wish.blobs) if wish.events else None

        before = self.state(bench_id)
        self.desk.require_room(bench_id, before.bench, rule(before))
        with self.locked(bench_id):
            (state,), _ = self.store.update_many(((stream, FOLD),), plan)
            return Committed(state, self.appended(bench_id, before.bench, state.bench))

    @contextmanager
    def locked(self, bench_id: str) -> Iterator[None]:
        """Hold a bench: one command at a time, in this process and in others (B3.7)."""
        with self.desk.views.locked(BenchId(check_id(bench_id, "wb"))):
            yield

    def writing(
        self,
        bench_id: str,
        rule: Rule,
        *,
        blobs: Sequence[bytes] = (),
        keep: Sequence[BlobId] = (),
        pins: Sequence[BlobId] = (),
        lease: str | None = None,
    ) -> Callable[[WorkshopState], Write]:
        """Return a rule as what the store appends; `appended` is told when that stands."""
        tx_id, outbox = self.desk.new_tx(), self._outboxes.get(bench_id)

        def write(state: WorkshopState) -> Write:
            facts = rule(self._seen(bench_id, state))
            waiting = () if outbox is None else outbox.offered(is_wanted=bool(facts))
            made = written(
                tx_id,
                state.bench,
                [*(one.fact for one in waiting), *facts],
                blobs=blobs,
                keep=keep,
                lease=lease,
                max_revisions=self.desk.settings.max_revisions,
                needed=state.needed_revisions,
            )
            named = [*pins, *(BlobId(ref) for one in waiting for ref in one.pins)]
            more = [Pin(ref, "payload") for ref in named]
            return Write(made.events, [*made.pins, *more], made.blobs, made.lease, made.unpins)

        return write

    def appended(self, bench_id: str, before: BenchState, after: BenchState) -> tuple[str, ...]:
        """Take note of an append: what waited for it is recorded, and the folders are brought
        along where a head is another one now; return warnings.
        """
        if (outbox := self._outboxes.get(bench_id)) is not None:
            outbox.recorded()
        if _heads(before) == _heads(after):
            return ()
        return tuple(self.desk.views.project(after))


def prompt_session(bench_id: str) -> PromptSessionId:
    """Return the one prompt session of a bench's conversation (P2.13)."""
    return PromptSessionId(f"ps_{check_id(bench_id, 'wb').partition('_')[2]}")


def rails_session(bench_id: str) -> str:
    """Return the one rails session of a bench's conversation (W13.2)."""
    return did("sess", "bench", check_id(bench_id, "wb"))


def _heads(state: BenchState) -> tuple[object, ...]:
    draft = None if state.draft is None else (state.draft.draft_id, state.draft.tree)
    return (state.published, draft, state.context_tree)
