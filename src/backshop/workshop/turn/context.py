"""One turn at work: what its phases share. Where to go on is always read off the log (W13.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from backshop.base.errors import BackshopError, ErrorInfo, LimitExceeded
from backshop.base.ids import TurnId
from backshop.base.limits import CHARS_PER_TOKEN, TURN_MAX_MINUTES, TURN_MAX_PICTURES
from backshop.bench import Author, Source, stream_of
from backshop.models import (
    WINDOW_FULL,
    CallRunning,
    FinishReason,
    LoopGuard,
    ModelAdapter,
    PromptEvaluationError,
    PromptResponse,
    Purpose,
    RetryAnnounced,
)
from backshop.prompts import Envelope, PromptOverridesStore, Session
from backshop.rails import Arrived, Beside, Driving, RailsError, Standing
from backshop.store import Write

from ..conversation import decide
from ..conversation.events import Noticed, Problem, Spent
from ..conversation.repository import Committed, Conversations, Rule
from ..conversation.state import Turn, WorkshopState
from ..conversation.stream import FOLD
from ..cut import cut_bytes
from ..digest import refresh
from ..prompt import text as prompt_text
from ..prompt.bundled import KINDS, build_prompt
from ..prompt.gathering import Call, Gathered, Gatherer, with_notes
from ..prompt.history_window import Telling
from ..prompt.inputs import NO_ARTIFACTS, Artifacts
from ..signals import Publish
from ..tool.allowance import Allowance, WorkLimits
from ..tool.declaration import Declared, TurnSpace
from ..tool.phase import WORK, Phase, PhaseKey, phase_of
from ..tool.tool_log import UNHEARD, Loop, Speech, ToolJournal
from ..tool.tool_result import Manner, ToolAttendant, whole_max_bytes
from .lease import Hold
from .note import NoteEar
from .step import HandIn, following, step_of

_PAUSING = frozenset(
    (
        "PROVIDER_RATE_LIMITED",
        "PROVIDER_UNAVAILABLE",
        "PROVIDER_NOT_CONFIGURED",
        "PROVIDER_AUTH_FAILED",
        "PROVIDER_REQUEST_REJECTED",
        "NETWORK_UNAVAILABLE",
        "EGRESS_CONSENT_REQUIRED",
        "EGRESS_BLOCKED_BY_POLICY",
        "BUDGET_CAP_REACHED",
        "DISK_FULL",
        "STORE_UNAVAILABLE",
        "STORAGE_CORRUPT",
        "FILE_WRITE_FAILED",
    )
)
"""What no other try of the same work would change: the turn waits for the person (W11.14)."""


class Stopped(Exception):
    """Control flow: the turn goes no further. `why` is cancel, lost, pause or fail."""

    def __init__(self, why: str, problem: Problem) -> None:
        super().__init__(why)
        self.why = why
        self.problem = problem


class LoopFailed(Exception):
    """Control flow: a loop came to no usable end; an item may be tried again."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a phase wants to have evaluated."""

    key: str
    step: str
    artifacts: Artifacts = NO_ARTIFACTS
    notes: tuple[str, ...] = ()
    item: int | None = None
    attempt: int | None = None
    replied: str = ""
    """What this turn has answered already; the call is told it as the newest message."""
    said: Speech = UNHEARD


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEnd:
    """How a loop ended: its answer, and what the model declared on the way."""

    response: PromptResponse[Any]
    declared: Declared
    wants_plan: bool = False
    """Whether it went on writing beyond what is done without a plan (W11.33)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of the Workshop that turns look at."""

    flow: str | None = None
    """What the person set for all workbenches; None leaves it to each."""
    max_turn_minutes: int = TURN_MAX_MINUTES
    guard: LoopGuard = field(default_factory=LoopGuard)
    limits: WorkLimits = field(default_factory=WorkLimits)
    max_pictures: int = TURN_MAX_PICTURES
    """How many pictures a turn shows its model (W26.4)."""
    talk_on_draft: bool = False
    """Whether a message may be sent while a Draft waits; it is about the Draft then (W24.8)."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a turn is worked on with."""

    turn_id: TurnId
    adapter: ModelAdapter


class TurnContext:
    """A running turn with everything its phases need."""

    def __init__(
        self,
        *,
        book: Conversations,
        bench_id: str,
        work: Work,
        hold: Hold,
        driving: Driving,
        session: Session,
        gatherer: Gatherer,
        publish: Publish,
        settings: Settings,
        overrides: PromptOverridesStore | None = None,
    ) -> None:
        self.book = book
        self.bench_id = bench_id
        self.turn_id = work.turn_id
        self.hold = hold
        self.driving = driving
        self.adapter = work.adapter
        self.session = session
        self.publish = publish
        self._waits = 0
        self._window = work.adapter.window_tokens
        self._gatherer = gatherer
        self._settings = settings
        self._overrides = overrides
        self._telling = Telling(
            book=book,
            gatherer=gatherer,
            adapter=work.adapter,
            session=lambda: self.asking,
            overrides=overrides,
            turn=self.turn,
            commit=self.commit,
        )

    @cached_property
    def asking(self) -> Session:
        """The session prompts are evaluated in; the log of the turn has what they come to."""
        return self.session.child("turn", is_passing=True)

    # ------------------------------------------------------------ the log

    def state(self) -> WorkshopState:
        """Return the conversation as it is now."""
        return self.book.state(self.bench_id)

    def turn(self) -> Turn:
        """Return the turn as it is now.

        Raises:
            Stopped: it is not ours any more.
        """
        try:
            return decide.running(self.state(), self.turn_id)
        except BackshopError as error:
            raise Stopped("lost", problem_of(error.info("workshop"))) from error

    def commit(self, rule: Rule) -> Committed:
        """Append to the conversation, if the lease is still held."""
        return self.book.commit(self.bench_id, rule, lease=self.hold.owner)

    def hand_in(self, standing: Standing, brought: HandIn) -> None:
        """Finish a step: its output and what it means for the conversation, in one append.

        Where the run is complete already only the answer of the turn was missing.
        """
        if standing.is_complete:
            answer = brought.result.answer
            assert answer is not None
            self.commit(lambda now: decide.end(now, answer))
            return
        try:
            self._acknowledge(standing, brought)
        except RailsError as error:
            if error.rails_code != "VALIDATION_ERROR" or brought.least is None:
                raise
            # what the model handed over cannot be kept; the step itself stands
            least = replace(brought, artifacts=brought.least, context=None, least=None)
            self._acknowledge(standing, least)

    def _acknowledge(self, standing: Standing, brought: HandIn) -> None:
        before, revision = self.state().bench, self.book.desk.new_revision()

        def write(state: WorkshopState, at: Arrived) -> Write:
            turn = decide.running(state, self.turn_id)
            step = step_of(standing, turn.done_items)
            after = following(at, step, turn.done_items)

            def rule(now: WorkshopState) -> Sequence[object]:
                return decide.step_done(now, self.turn_id, step, brought.result, after, revision)

            return self.book.writing(self.bench_id, rule, lease=self.hold.owner)(state)

        with self.book.locked(self.bench_id):
            self.driving.acknowledge(
                standing.node_id,
                notes=brought.notes,
                artifacts=tuple(brought.artifacts),
                context=brought.context,
                beside=Beside(stream_of(self.bench_id), FOLD, write),
            )
            self.book.appended(self.bench_id, before, self.state().bench)

    def check(self) -> None:
        """Stop where the person, the clock or the lease says so."""
        if self.hold.is_lost:
            raise Stopped("lost", Problem(code="BENCH_BUSY", message="the lease passed to another"))
        if self.session.cancel.requested or self.turn().is_cancel_asked:
            raise Stopped("cancel", CANCELED)

    def signal(self, name: str, **payload: Any) -> None:
        """Tell who listens."""
        self.publish(self.bench_id, name, {"turn_id": self.turn_id, **payload})

    def _reading(self, path: str | None, done: int, total: int) -> None:
        """Tell which file is looked into before the model is asked (W5.16)."""
        self.signal("WorkshopReadingProgress", path=path, done=done, total=total)

    @property
    def spent(self) -> Spent:
        """What the session used since this run of the turn began."""
        used = self.session.spent
        return Spent(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            estimated=used.estimated,
            waits=self._waits,
        )

    def look(self) -> None:
        """Bring the digest up to date before the first prompt; no model is asked (P7.7)."""
        manifests = self._gatherer.manifests
        files = manifests.of(self.bench_id)
        with self.session.during(self.turn_id):
            refresh.refresh(
                self.session, files, manifests, overrides=self._overrides, reading=self._reading
            )
        for phase, wanted, used in self.adapter.adjusted_efforts:
            self._notice(
                "effort_adjusted",
                f"{self.adapter.model_id} has no effort {wanted}; {phase} uses {used}.",
                f"{self.adapter.model_id}:{phase}:{wanted}",
            )

    # ------------------------------------------------------------ asking the model

    def ask(self, asked: Asked) -> PromptResponse[Any]:
        """Evaluate a bundled prompt with the tools of its phase, for its answer alone."""
        return self.loop(asked).response

    def loop(self, asked: Asked) -> LoopEnd:
        """Evaluate a bundled prompt with the tools of its phase.

        One that fills the model's window begins anew, told what its calls brought (W8.5).

        Raises:
            Stopped: cancelled, lost, or waiting for the person makes more sense.
            LoopFailed: no usable answer.
        """
        first = len(self.state().tools) + 1
        phase = phase_of(asked.key) or NO_PHASE
        limits = self._settings.limits if asked.key == WORK else None
        allowance = Allowance(phase, mode=self.turn().mode, limits=limits)
        declared = Declared()
        for _ in range(WINDOWS_MAX):
            ended = self._asked(asked, allowance, declared)
            finish = ended.response.finish_reason
            if finish == FinishReason.LENGTH.value:
                self._notice("answer_cut", ANSWER_CUT, f"{self.turn_id}:{asked.key}:{asked.step}")
            if finish != WINDOW_FULL:
                return ended
            found = calls_told(self.book, self.state(), self.turn_id, first, self._window)
            asked = replace(asked, artifacts=replace(asked.artifacts, found=found))
        raise LoopFailed(WINDOW_TOO_SMALL)

    def _asked(self, asked: Asked, allowance: Allowance, declared: Declared) -> LoopEnd:
        self.check()
        stop = self.session.bus.subscribe(object, self._waiting(_shown_phase(asked.key)))
        try:
            return self._evaluate(asked, allowance, declared)
        except PromptEvaluationError as error:
            if error.phase.value == "deadline":
                raise Stopped("pause", TIME_IS_UP) from error
            raise self._judged(error.error) from error
        except BackshopError as error:
            raise self._judged(error.info("workshop")) from error
        finally:
            stop()

    def _waiting(self, phase: str) -> Callable[[Envelope], None]:
        """Return who tells people that a provider is waited for (M8.10, M10.3)."""

        def tell(envelope: Envelope) -> None:
            match envelope.event:
                case RetryAnnounced() as event:
                    self._waits += 1
                    self.signal("WorkshopRateLimitWarning", phase=phase, **asdict(event))
                case CallRunning() as event:
                    self.signal("WorkshopModelProgress", phase=phase, **asdict(event))

        return tell

    def _evaluate(self, asked: Asked, allowance: Allowance, declared: Declared) -> LoopEnd:
        turn, known = self.turn(), self.state()
        gathered = self._gathered(asked, turn, known)
        self._tell(gathered)
        prompt = build_prompt(asked.key, gathered.facts)
        journal = self._journal(turn, asked)
        space = self._space(turn, journal, declared)
        attendant = ToolAttendant(
            journal,
            allowance,
            workspace=space,
            manner=self._manner(asked, turn, known, is_empty=gathered.is_empty),
            ear=NoteEar(asked.key, self.turn, self.commit),
            run_id=turn.run_id,
            turn_id=self.turn_id,
            guard=self._settings.guard,
        )
        with self.asking.limited(max_turns=allowance.phase.max_turns):
            response = self.adapter.attended(
                prompt,
                attendant=attendant,
                overrides_store=self._overrides,
                conversation=gathered.facts.conversation,
                session=self.asking,
            )
        return LoopEnd(
            response=response,
            declared=declared,
            wants_plan=allowance.is_planned_for,
        )

    def _gathered(self, asked: Asked, turn: Turn, known: WorkshopState) -> Gathered:
        record = known.records[turn.user_message_id]
        call = Call(
            key=asked.key,
            bench_id=self.bench_id,
            window_tokens=self._window,
            request=record.text,
            step=asked.step,
            notes=asked.notes,
            artifacts=asked.artifacts,
            flow=turn.flow,
            mode=turn.mode,
            began_ms=turn.started_ms,
            draft_tree=turn.began_tree if record.is_on_draft else None,
            sees=self.adapter.capabilities.pictures and self._settings.max_pictures > 0,
            reading=self._reading,
        )
        if KINDS[asked.key].conversation:
            told = self._telling.excerpt(known, turn)
            if asked.replied:
                told = told.followed(turn.message_id, asked.replied, prompt_text.PROPOSE_NOW)
            call = replace(call, excerpt=told)
            if known.is_behind(turn):
                call = with_notes(call, prompt_text.FILES_ARE_NEWER)
        return self._telling.fitting(call, known)

    def _manner(self, asked: Asked, turn: Turn, known: WorkshopState, *, is_empty: bool) -> Manner:
        """Return how the model is asked: freely, or by the sequence of the founding document."""
        if turn.flow == "auto":
            return Manner(
                window_tokens=self._window,
                needs_tool=False,
                is_parallel=True,
                effort=self.adapter.effort_of(Purpose.WORK),  # one in all of the turn
            )
        newest = known.tools.get(str(len(known.tools)))
        has_looked = newest is not None and newest.turn_id == turn.turn_id
        is_first = asked.key in ("research", "implement") and not has_looked
        return Manner(window_tokens=self._window, needs_tool=is_first and not is_empty)

    def _journal(self, turn: Turn, asked: Asked) -> ToolJournal:
        loop = Loop(
            bench_id=self.bench_id,
            turn_id=self.turn_id,
            phase=_shown_phase(asked.key),
            lease=self.hold.owner,
            model_id=self.adapter.model_id,
            run_id=turn.run_id,
            node_id=turn.node_id,
            item=asked.item,
            attempt=asked.attempt,
        )
        return ToolJournal(self.book, loop, publish=self.publish, said=asked.said, check=self.check)

    def _space(self, turn: Turn, journal: ToolJournal, declared: Declared) -> TurnSpace:
        author = Author(
            source=Source(kind="workshop", ref=turn.run_id or turn.turn_id),
            message_id=turn.message_id,
            run_id=turn.run_id,
            lease=self.hold.owner,
        )
        return TurnSpace(
            self.book.bench,
            self.bench_id,
            author,
            journal.commit,
            self.book,
            whole_max_bytes(self._window),
            sight=self._require_sight,
            declared=declared,
        )

    def _require_sight(self) -> int:
        """Return how many pictures the turn may show after one more; one shown again is none.

        Raises:
            LimitExceeded: the turn has shown as many as it may.
        """
        entries = (one for one in self.state().tools.values() if one.turn_id == self.turn_id)
        shown = sum(one.image_ref is not None and one.replay_of is None for one in entries)
        if shown >= self._settings.max_pictures:
            raise LimitExceeded(
                f"this turn has shown {shown} pictures, which is as many as it may",
                reason="picture_limit",
                hints=("Go on with what you have seen, or read the file.",),
            )
        return self._settings.max_pictures - shown - 1

    def _tell(self, gathered: Gathered) -> None:
        """Say once what the call has to do without (W6.12)."""
        for one in gathered.notices:
            about = one.format or one.category or ""
            self._notice(
                one.reason,
                one.text,
                f"{about}:{one.content_hash}",
                one.format,
                one.category,
            )

    def _notice(
        self,
        reason: str,
        text: str,
        key: str,
        format_: str | None = None,
        category: str | None = None,
    ) -> None:
        fact = Noticed(
            message_id=self.book.new_message(),
            reason=reason,
            text=text,
            key=f"{reason}:{key}",
            format=format_,
            category=category,
        )
        if fact.key not in self.state().notices:
            self.commit(lambda now: decide.notice(now, fact))

    def _judged(self, info: ErrorInfo) -> Exception:
        """Return what a failed evaluation means for the turn (W5.12, W11.12, W11.14)."""
        problem = problem_of(info)
        if self.hold.is_lost or info.reason == "lease_lost":
            return Stopped("lost", problem)
        if info.error_code == "USER_CANCELED":
            return Stopped("cancel", CANCELED)
        if info.error_code in _PAUSING:
            return Stopped("pause", problem)
        return LoopFailed(problem)


class Afterwards(TurnContext):
    """The same for a turn that has ended: what is asked for now belongs to its answer."""

    def turn(self) -> Turn:
        """Return the turn."""
        return self.state().turns[self.turn_id]


def _shown_phase(key: str) -> str:
    """Return what people call the phase of a prompt."""
    phase = phase_of(key)
    return key if phase is None else phase.key


def calls_told(
    book: Conversations, known: WorkshopState, turn_id: TurnId, first: int, window_tokens: int
) -> str:
    """Return what the calls since an entry brought, as a loop is told that begins anew."""
    lines = []
    for number in range(first, len(known.tools) + 1):
        entry = known.tools[str(number)]
        if entry.turn_id != turn_id or entry.result_ref is None:
            continue
        text = book.store.blobs.read(entry.result_ref).decode(errors="replace")
        about = f"{entry.tool} {entry.path or ''}".strip()
        lines.append(f"#{number} {about}: {' '.join(text.split())[:CALL_TOLD_CHARS]}")
    room = int(window_tokens * CHARS_PER_TOKEN * CALLS_TOLD_SHARE)
    return cut_bytes("\n".join((ANEW, *reversed(lines))), room)


ANEW = (
    "The window of the model was full, so this begins anew. These calls were made already, newest "
    "first; recall_tool_result gives a result whole by its number. Go on from there:"
)
CALL_TOLD_CHARS = 400
CALLS_TOLD_SHARE = 0.1
WINDOWS_MAX = 5
ANSWER_CUT = (
    "An answer of the model stops in the middle: it was as long as the model may answer. "
    "Ask it to go on, or ask for less at once."
)
NO_PHASE = Phase(PhaseKey.SUMMARY, frozenset(), 1)
"""Of prompts that have no tools."""
WINDOW_TOO_SMALL = Problem(
    code="CONTEXT_EXHAUSTED",
    reason="prompt_budget",
    message="the model's window is too small for what this takes",
    actions=("reduce_scope", "switch_model"),
)
CANCELED = Problem(
    code="USER_CANCELED", reason=None, message="the work was stopped", actions=("resume",)
)
TIME_IS_UP = Problem(
    code="LIMIT_EXCEEDED",
    reason="turn_time_limit",
    message="the turn took longer than a turn may take",
    actions=("resume", "switch_model"),
)


def problem_of(info: ErrorInfo) -> Problem:
    """Return an error as the conversation keeps it: no content, no prompt (W19.6)."""
    return Problem(
        code=info.error_code,
        reason=info.reason,
        message=info.message[:500],
        actions=info.actions or ("retry", "switch_model"),
    )
