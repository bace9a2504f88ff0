"""Turns from outside: begun, resumed, cancelled, found dead and laid to rest (W5, W12)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from backshop.base.acting import AGENT, OWNER, By, acting_as, acting_user, agent_acting
from backshop.base.errors import BackshopError, ValidationFailed
from backshop.base.ids import MessageId, TurnId, UserId
from backshop.bench import stream_of
from backshop.models import ConsentRequired, ModelAdapter, Models, ProviderNotConfigured
from backshop.prompts import CancelToken, PromptOverridesStore, Session, TokenUsage
from backshop.rails import Driving, Rails
from backshop.store import StoreUnavailable

from .. import requests
from ..answers import Answered, CancelAnswer, PlanView, facts_of
from ..conversation import decide, turn_facts
from ..conversation.events import Problem, Step
from ..conversation.repository import Conversations, prompt_session
from ..conversation.state import Turn, WorkshopState
from ..digest.pin import Pins
from ..errors import ModelUnavailable, TurnActive
from ..prompt.gathering import Gatherer
from ..signals import Publish, silent
from . import agent, artifact, ending, run_input
from . import start as turn_start
from .context import Afterwards, Settings, TurnContext, Work, problem_of
from .lease import Hold, held, is_alive, owner_of
from .step import step_of
from .worker_turn import TurnQueue, is_left_to_us, looked_for_no_more, require_program

FLOW_OF_BEFORE = "rpi"  # of workbenches made when there was no other but `compat`
LEFT_KEPT = 1000
SESSIONS_KEPT = 16
SESSION_EVENTS_KEPT = 4_000  # of all of them together
Admit = Callable[[UserId | None], None]
"""Refuses one more turn of somebody's; None is the home's owner."""


def flow_with(adapter: ModelAdapter, flow: str) -> str:
    """Return the flow a model can work in: a script in its own, one without tools in `compat`."""
    if flow == "auto" and not adapter.capabilities.tools:
        return "compat"
    return adapter.capabilities.flow or flow if flow != "compat" else flow


def _require_tools(adapter: ModelAdapter) -> None:
    if not adapter.capabilities.tools:
        raise ModelUnavailable("this model cannot call tools", reason="model_unavailable")


def anybody(user: UserId | None) -> None:
    """Let everybody have as many as they like."""


def _noticed(known: WorkshopState, turn: Turn) -> tuple[str, ...]:
    """Return what a turn's notices say, in their order."""
    later = (one.started_ms for one in known.turns.values() if one.started_ms > turn.started_ms)
    end = min(later, default=None)
    return tuple(
        str(one.metadata["text"])
        for one in sorted(known.records.values(), key=lambda one: one.seq)
        if one.event_kind == "notice"
        and turn.started_ms <= one.created_ms
        and (end is None or one.created_ms < end)
    )


class Turns:
    """Runs turns of every bench of one home."""

    def __init__(
        self,
        book: Conversations,
        models: Models,
        rails: Rails,
        *,
        publish: Publish = silent,
        settings: Settings | None = None,
        overrides: PromptOverridesStore | None = None,
        gatherer: Gatherer | None = None,
        hands: TurnQueue | None = None,
        admit: Admit = anybody,
    ) -> None:
        self._hands = hands
        self._admit = admit
        self._book = book
        self._models = models
        self._rails = rails
        self._driving = Driving(rails)
        self._publish = publish
        self._settings = settings or Settings()
        self._pins = None if overrides is None else Pins(book.store, overrides, book.clock)
        self._gatherer = gatherer or Gatherer(book.bench, book.clock)
        self._holds: dict[TurnId, Hold] = {}
        self._left: dict[TurnId, tuple[str, str]] = {}
        """Benches and leases of turns that the store going away interrupted here."""
        self._sessions: dict[str, Session] = {}
        self._guard = threading.Lock()

    # ------------------------------------------------------------ begin and go on

    def run(
        self, request: requests.RunAgent, *, is_by_worker: bool = False, flow: str | None = None
    ) -> Answered:
        """Answer a message, or go on where its turn stopped (W3.1, W5.3).

        A turn that begins has the flow of its workbench, unless another is asked for.
        """
        bench_id = request.workbench_id
        known = self.settled(bench_id)
        found = decide.outlook(known, request.message_id)
        if found.is_finished and found.turn is not None:
            return self.answered(known, found.turn.turn_id)
        if found.turn is not None:
            return self._resumed(bench_id, known, found.turn, is_by_worker)
        flow = flow or decide.flow_named(request.flow) or self.flow_of(known)
        inputs = self._inputs(known, request)
        usual = self.model_of(known)
        try:
            adapter = self.adapter(bench_id, request.model_id or usual, flow)
        except (ModelUnavailable, ConsentRequired, ProviderNotConfigured) as error:
            with suppress(BackshopError):  # whatever keeps the mark away must not hide the reason
                self._refused(bench_id, found.record.message_id, problem_of(error.info("workshop")))
            raise
        flow = flow_with(adapter, flow)
        wish = self.wish(bench_id, found.record.message_id, adapter, flow)
        if request.model_id is not None:
            wish = replace(wish, instead_of=usual)
        if request.workflow_id is not None:
            wish = turn_start.driven(wish, request.workflow_id)
        return self._begun(bench_id, known, wish, adapter, inputs)

    def _refused(self, bench_id: str, message_id: MessageId, problem: Problem) -> None:
        """Say under a message why nobody answers it, if nobody does (W5.15)."""
        own = self._book.new_message()
        self._book.commit(bench_id, lambda now: decide.refuse(now, message_id, problem, own))

    def _inputs(self, known: WorkshopState, request: requests.RunAgent) -> dict[str, str]:
        """Return the files a workflow is to work on, or refuse before anything is changed."""
        if request.workflow_id is not None:
            found = self._driving.declared(request.workflow_id)
            has = run_input.files_of(self._book.desk, known.bench)
            return run_input.checked(found, request.inputs or {}, has)
        if request.inputs:
            raise ValidationFailed("inputs go with a workflow", reason="bad_params")
        return {}

    def _begun(
        self,
        bench_id: str,
        known: WorkshopState,
        wish: decide.Begin,
        adapter: ModelAdapter,
        inputs: Mapping[str, str],
    ) -> Answered:

        def begin(hold: Hold) -> None:
            def rule(now: WorkshopState, step: Step | None) -> Sequence[object]:
                return decide.begin(now, wish, step)

            turn_start.start(self._book, self._driving, bench_id, known, wish, hold, rule, inputs)

        return self.work(bench_id, Work(wish.turn_id, adapter), begin)

    def start(
        self,
        bench_id: str,
        known: WorkshopState,
        wish: decide.Begin,
        hold: Hold,
        rule: turn_start.Rule,
    ) -> None:
        """Begin a turn, with a run if its flow has one (W13.8)."""
        turn_start.start(self._book, self._driving, bench_id, known, wish, hold, rule)

    def wish(
        self, bench_id: str, message_id: MessageId, adapter: ModelAdapter, flow: str
    ) -> decide.Begin:
        """Return a turn that is about to start."""
        return turn_start.wish(self._book, bench_id, message_id, adapter.model_id, flow)

    def _resumed(
        self, bench_id: str, known: WorkshopState, turn: Turn, is_by_worker: bool
    ) -> Answered:
        model_id = self.model_of(known) if turn.is_outside else turn.model_id
        if known.model_id not in (None, turn.model_id, turn.instead_of):
            model_id = known.model_id  # the person switched meanwhile (W12.2)
        adapter = self.adapter(bench_id, model_id, turn.flow)
        if turn.flow != "compat":
            _require_tools(adapter)
        wish = turn_start.again(
            self._book, self._driving, turn, adapter.model_id, is_by_worker=is_by_worker
        )

        def go_on(hold: Hold) -> None:
            self._book.commit(bench_id, lambda now: decide.resume(now, wish), lease=hold.owner)

        return self.work(bench_id, Work(turn.turn_id, adapter), go_on)

    def first_step(self, run_id: str, session_id: str) -> Step | None:
        """Return the first step of a run, None if there is no such run."""
        root = self._driving.root_of(run_id, session_id)
        return None if root is None else step_of(self._driving.standing(root))

    def require_manifest(self, bench_id: str) -> None:
        """Refuse when the files cannot be listed (W6.6)."""
        self._gatherer.manifests.of(bench_id)

    def work(self, bench_id: str, work: Work, begin: Callable[[Hold], None]) -> Answered:
        """Hold the lease, begin, and walk the run to its end or to a safe stop.

        Where workers do the walking the turn is handed to one of them and waited for.
        """
        turn_id, hands = work.turn_id, self._hands
        owner = self._owner(turn_id)
        self.admit()
        with (
            self._ours(bench_id, turn_id, owner),
            self._session(bench_id) as session,
            held(self._book, bench_id, owner, session.cancel) as hold,
        ):
            begin(hold)
            if hands is None or is_left_to_us(
                self._book, hands, bench_id, turn_id, hold, self.settled
            ):
                self._walk(bench_id, work, hold, session)
        return self.answered(self._book.state(bench_id), turn_id)

    def admit(self) -> None:
        """Refuse a turn that is about to begin, or to go on, when that is one too many (T6.5).

        Raises:
            LimitExceeded: whoever asks has as many running as they may.
        """
        self._admit(acting_user())

    def afterwards(
        self,
        bench_id: str,
        work: Work,
        check: Callable[[Hold], None],
        do: Callable[[TurnContext], None],
    ) -> None:
        """Hold the lease and do something that belongs to a turn that has ended."""
        with (
            self._session(bench_id) as session,
            held(self._book, bench_id, self._owner(work.turn_id), session.cancel) as hold,
        ):
            check(hold)
            self._walk(bench_id, work, hold, session, do=do, kind=Afterwards)

    def carry_on(self, bench_id: str, turn_id: TurnId, ticket: str) -> None:
        """Walk a turn that was begun elsewhere, or go on with one whose worker died (T6.2).

        Nobody goes on for a person who was removed: a turn that runs is canceled, one that waits
        stays where it is until somebody else wants it (T6.4).

        Raises:
            TurnActive: somebody else is still at work on it.
            StoreUnavailable: it waits for the store to come back, or for a later program.
        """
        with looked_for_no_more(self._book, bench_id, turn_id):
            self._carried_on(bench_id, turn_id, ticket)

    def _carried_on(self, bench_id: str, turn_id: TurnId, ticket: str) -> None:
        known = self._book.state(bench_id)
        turn = known.turns.get(turn_id)
        if turn is None:
            return
        require_program(self._book.program, turn.program)
        with acting_as(By(person=turn.user_id or OWNER)):
            self._walked_on(bench_id, known, turn, ticket)

    def _walked_on(self, bench_id: str, known: WorkshopState, turn: Turn, ticket: str) -> None:
        turn_id, is_gone = turn.turn_id, self._book.is_gone(turn.user_id)
        if is_gone:
            self.stop(bench_id, turn_id, of=turn.user_id)
        if turn is not known.running or not self._took_over(bench_id, turn, ticket):
            after = self.settled(bench_id).turns[turn_id]
            if (after.is_orphaned or after.is_stranded) and not is_gone:
                wish = requests.RunAgent(workbench_id=bench_id, message_id=after.user_message_id)
                self.run(wish, is_by_worker=True)
        known = self._book.state(bench_id)
        after = known.turns[turn_id]
        if after is known.running:  # let go of, or taken over by another
            raise TurnActive("somebody is at work on this turn", reason="turn_active")
        if after.is_stranded and not is_gone:
            raise StoreUnavailable("the store was away while the turn was at work")

    def _took_over(self, bench_id: str, turn: Turn, ticket: str) -> bool:
        """Walk a turn nobody has walked yet; False if that is not how it is any more."""
        owner = self._owner(turn.turn_id)
        with (
            self._ours(bench_id, turn.turn_id, owner),
            self._session(bench_id) as session,
            suppress(TurnActive),
        ):
            with held(self._book, bench_id, owner, session.cancel, ticket=ticket) as hold:
                try:
                    adapter = self.adapter(bench_id, turn.model_id, turn.flow)
                except BackshopError as error:  # this machine lacks what the other one had
                    self._laid_to_rest(bench_id, owner, problem_of(error.info("workshop")))
                else:
                    self._walk(bench_id, Work(turn.turn_id, adapter), hold, session)
            return True
        return False

    def let_go(self) -> None:
        """Leave every turn where it is; whoever looks next goes on with it."""
        with self._guard:
            holds, left = list(self._holds.values()), list(self._left.values())
        for hold in holds:
            hold.let_go()
        for bench_id, owner in left:
            with suppress(BackshopError):  # else it runs out
                self._book.store.leases.end(stream_of(bench_id), owner)

    @contextmanager
    def _ours(self, bench_id: str, turn_id: TurnId, owner: str) -> Iterator[None]:
        """Remember a lease that could not be given back because the store was away: it is ours."""
        try:
            yield
        except StoreUnavailable:
            with self._guard:
                self._left[turn_id] = (bench_id, owner)
                while len(self._left) > LEFT_KEPT:
                    self._left.pop(next(iter(self._left)))
            raise

    def _give_up_ours(self, turn_id: TurnId) -> None:
        """Let a lease run out that this process held when the store went away: nobody works now."""
        left = self._left.get(turn_id)
        if left is not None:
            self._book.store.leases.end(stream_of(left[0]), left[1])
            self._left.pop(turn_id, None)

    @property
    def is_walking(self) -> bool:
        """Whether this process works on a turn."""
        return bool(self._holds)

    def _owner(self, turn_id: TurnId) -> str:
        return owner_of(self._book, turn_id)

    @contextmanager
    def _session(self, bench_id: str) -> Iterator[Session]:
        """Give the prompt session for one run of a turn; nobody else gets it meanwhile.

        The log is folded once a process; a session that is at hand takes over what is new.
        """
        with self._guard:
            known = self._sessions.pop(bench_id, None)
        made = known or Session(
            session_id=prompt_session(bench_id), log=self._book.store, clock=self._book.clock
        )
        made.cancel.reset()
        made.spent = TokenUsage()
        yield made
        with self._guard:
            self._sessions[bench_id] = made
            while len(self._sessions) > 1 and (
                len(self._sessions) > SESSIONS_KEPT
                or sum(one.seq for one in self._sessions.values()) > SESSION_EVENTS_KEPT
            ):
                self._sessions.pop(next(iter(self._sessions)))

    def _walk(
        self,
        bench_id: str,
        work: Work,
        hold: Hold,
        session: Session,
        *,
        do: Callable[[TurnContext], None] = agent.walk,
        kind: type[TurnContext] = TurnContext,
    ) -> None:
        session.reload()
        run = kind(
            book=self._book,
            bench_id=bench_id,
            work=work,
            hold=hold,
            driving=self._driving,
            session=session,
            gatherer=self._gatherer,
            publish=self._publish,
            settings=self._settings,
            overrides=None if self._pins is None else self._pins.overrides(bench_id),
        )
        deadline = session.now() + timedelta(minutes=self._settings.max_turn_minutes)
        with self._guard:
            self._holds[work.turn_id] = hold
        try:
            with (
                self._book.gathering(bench_id) as outbox,
                self._models.joining(bench_id, outbox),
                session.limited(deadline=deadline),
                session.during(work.turn_id),
                agent_acting(AGENT),
            ):
                do(run)
        finally:
            with self._guard:
                self._holds.pop(work.turn_id, None)

    def adapter(self, bench_id: str, model_id: str | None, flow: str) -> ModelAdapter:
        """Return the model of a turn, or refuse before anything is changed (W5.3, M4).

        Raises:
            ModelUnavailable: there is none, it cannot be called, or cannot use tools.
            ConsentRequired: the person has not agreed that this content goes there.
        """
        try:
            adapter = self._models.adapter(model_id, workbench_id=bench_id)
        except BackshopError as error:
            lead = "" if model_id is None else "this model cannot be used: "
            raise ModelUnavailable(
                f"{lead}{error.message}", reason="model_unavailable", hints=error.hints
            ) from error
        if flow == "rpi":
            _require_tools(adapter)
        adapter.check_consent()
        return adapter

    def model_of(self, known: WorkshopState) -> str | None:
        """Return the model that answers next, None while there is none (M2.1)."""
        return known.model_id or self.default_of(known)

    def flow_of(self, known: WorkshopState) -> str:
        """Return how the next turn is executed (W1.4)."""
        return known.flow or self._settings.flow or known.default_flow or FLOW_OF_BEFORE

    def default_of(self, known: WorkshopState) -> str | None:
        """Return the bench's default, else the person's."""
        return known.default_model_id or self._models.default_model().model_id

    def answered(self, known: WorkshopState, turn_id: TurnId) -> Answered:
        """Return how a turn came out."""
        turn = known.turns[turn_id]
        has_record = turn.message_id in known.records
        facts = facts_of(known.records.get(turn.message_id))
        return Answered(
            facts=facts,
            facts_lines=() if facts is None else turn_facts.told(facts),
            facts_first=None if facts is None else len(turn_facts.first(facts)) or None,
            message_id=turn.message_id if has_record else None,
            has_draft=known.bench.draft is not None,
            turn_id=turn_id,
            run_id=turn.run_id,
            status=turn.status,
            warnings=_noticed(known, turn),
        )

    # ------------------------------------------------------------ stop

    def cancel(self, request: requests.CancelRun) -> CancelAnswer:
        """Ask the running turn to stop, wherever it runs (M12.1)."""
        known = self.settled(request.workbench_id)
        turn = known.running
        if turn is None or request.turn_id not in (None, turn.turn_id):
            return CancelAnswer(cancel_requested=False)
        self.stop(request.workbench_id, turn.turn_id)
        return CancelAnswer(cancel_requested=True)

    def stop(self, bench_id: str, turn_id: TurnId, *, of: str | None = None) -> None:
        """Ask a turn to stop; one that nobody works on ends here and now.

        `of` is whose it has to be for that, where they were removed.
        """
        told = self._book.commit(bench_id, lambda now: decide.cancel(now, turn_id, of=of))
        turn = told.state.turns.get(turn_id)
        with self._guard:
            hold = self._holds.get(turn_id)
        if hold is not None and turn is not None and turn.is_cancel_asked:
            hold.stop.request()
        self.settled(bench_id)

    def settled(self, bench_id: str) -> WorkshopState:
        """Return the state; a turn whose process died is laid to rest first (W5.10)."""
        known = self._book.state(bench_id)
        turn = known.running
        if turn is not None:
            self._give_up_ours(turn.turn_id)
        if turn is None or self._book.store.is_read_only or is_alive(self._book, bench_id):
            return known
        owner = owner_of(self._book, turn.turn_id)
        try:
            with held(self._book, bench_id, owner, CancelToken()) as hold:
                after = self._laid_to_rest(bench_id, owner)
                hold.is_let_go = after.turn is not None and after.turn.is_orphaned
            return after
        except TurnActive:  # somebody else looks after it
            return self._book.state(bench_id)

    def _laid_to_rest(
        self, bench_id: str, owner: str, problem: Problem | None = None
    ) -> WorkshopState:
        known = self._book.state(bench_id)
        if known.running is None:
            return known
        rule = ending.left_behind(self._book, bench_id, known.running, problem)
        return self._book.commit(bench_id, rule, lease=owner).state

    # ------------------------------------------------------------ reading

    def plan(self, request: requests.GetPlan) -> PlanView:
        """Return what a turn found out, planned and reported."""
        return artifact.plan_view(self._driving, self._book.state(request.workbench_id), request)
