"""An agent of another program at work on a bench: its runs of `wr.rpi` are turns (W13.7, W13.9)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from backshop.base.acting import acting_user
from backshop.base.errors import BackshopError
from backshop.base.ids import did
from backshop.bench import Author, Source, stream_of
from backshop.models import Called, ToolCall
from backshop.prompts import Tool, ToolContext, ToolInvoked, ToolResult, invoke
from backshop.rails import (
    Answer,
    Arrived,
    Asker,
    Beside,
    ContinueWorkflow,
    Driving,
    Located,
    Rails,
    RailsError,
    Request,
    StartWorkflow,
)
from backshop.store import Write

from ..answers import facts_of
from ..conversation import decide, fold, turn_facts
from ..conversation.events import Step
from ..conversation.repository import Conversations, rails_session
from ..conversation.state import OUTSIDE, PAUSED, RPI, RUNNING, Turn, WorkshopState
from ..conversation.stream import FOLD
from ..cut import cut_bytes
from ..signals import Publish
from ..tool.phase import WRITING_TOOLS
from ..tool.recall import AgentSpace
from ..tool.tool_log import UNHEARD, Loop, ToolJournal
from . import artifact, ending, outcome
from . import start as turn_start
from .lease import Hold
from .outside_lease import OutsideLease
from .outside_note import BACK, KEPT, noted, refusal, with_facts
from .service import Turns
from .step import StepKind, following, kind_of, step_of

ACTOR = "mcp:agent"
MODEL = f"{OUTSIDE}agent"


class Outside:
    """One agent on one bench, through the tools of rails and of the bench."""

    def __init__(
        self, book: Conversations, turns: Turns, rails: Rails, bench_id: str, publish: Publish
    ) -> None:
        self._book = book
        self._turns = turns
        self._driving = Driving(rails)
        self.bench_id = bench_id
        self._publish = publish
        self._seat = OutsideLease(book, bench_id)
        self._wanted: str | None = None  # the step the agent has gone back to
        self._rails = rails
        self.asker = Asker(voice="agent", company=self)
        """Who asks rails for this agent: what it does there the conversation follows."""

    # ------------------------------------------------------------ runs

    def is_about(self, request: object) -> bool:
        """Whether a request begins a turn of the bench, or is about a run of its session."""
        if isinstance(request, StartWorkflow) and request.workflow_id == RPI:
            return not request.session_token and not request.parent_state_token
        return rails_session(self.bench_id) in self._rails.sessions_of(request)

    def start(self, request: StartWorkflow, plainly: Callable[[], Answer]) -> Answer:
        """Begin a run; one of `wr.rpi` is a turn, and its request a message."""
        if request.workflow_id != RPI or request.session_token or request.parent_state_token:
            return plainly()
        with self._seat.lock:
            try:
                return self._begun(request)
            except RailsError:
                raise
            except BackshopError as error:
                raise refusal(error) from error

    def _begun(self, request: StartWorkflow) -> Answer:
        self._seat.look()
        context = dict(request.context or {})
        text = next(
            (one for key in ("prompt", "goal") if isinstance(one := context.get(key), str)),
            request.goal or "",
        )
        known = self._turns.settled(self.bench_id)
        wish = self._wish(request)
        assert wish.session_id is not None
        assert wish.run_id is not None
        root = self._driving.root_of(wish.run_id, wish.session_id)
        if root is not None:  # the same call again, or the same key for something else
            return self._said_again(request, wish, text, known, root)
        requests = known.unanswered_all
        whole = "\n\n".join(one.text for one in requests)  # all are taken up together (W24.12)
        is_said = any(_is_said(one, text) for one in (whole, *(one.text for one in requests)))
        asked = requests[-1] if requests and is_said else None
        said = decide.Send(
            message_id=wish.user_message_id,
            text=text,
            mode="ask" if context.get("mode") == "ask" else "agent",
            origin="mcp",
            session_seq=self._book.session_seq(self.bench_id),
        )
        if asked is None:
            decide.send(known, said)  # refuses before anybody is kept waiting
        else:  # the person's request for changes is taken up (W24.10)
            wish, text = replace(wish, user_message_id=asked.message_id), whole
            context |= {"goal": text, "mode": asked.metadata.get("mode", "agent")}
        wanted = replace(request, context={"goal": text, **context, **_about(known, wish, context)})
        self._turns.admit()
        hold = self._seat.take(wish.turn_id)

        def write(state: WorkshopState, at: Arrived) -> Write:
            if asked is None:
                facts = decide.said_and_begun(state, said, wish, step_of(at))
            else:
                facts = decide.begin(state, wish, step_of(at))
            return self._write(facts, hold)(state)

        return self._started(wanted, wish, write)

    def _started(
        self,
        wanted: StartWorkflow,
        wish: decide.Begin,
        write: Callable[[WorkshopState, Arrived], Write],
    ) -> Answer:
        """Begin the run of a turn that this agent holds the bench for."""
        assert wish.session_id is not None
        assert wish.run_id is not None
        try:
            beside = Beside(stream_of(self.bench_id), FOLD, write)
            with self._book.locked(self.bench_id):
                return self._rails.begin(
                    wanted, wish.session_id, wish.run_id, self.asker, beside=beside
                )
        except BaseException:
            self._seat.leave()
            raise

    def _said_again(
        self,
        request: StartWorkflow,
        wish: decide.Begin,
        text: str,
        known: WorkshopState,
        root: str,
    ) -> Answer:
        """Answer a start that was made before; the same key for something else is refused."""
        assert wish.session_id is not None
        assert wish.run_id is not None
        context = dict(request.context or {})
        about = _about(known, wish, context)
        then = self._driving.standing(root).context
        message = known.records.get(str(then.get("user_message_id")))
        ours = {key: then[key] for key in about if key != "mode" and key in then}
        if message is not None and message.is_on_draft:  # what was asked for said that
            ours["mode"] = then.get("mode")
            goal = str(then.get("goal") or message.text)
            is_said = any(_is_said(one, text) for one in (goal, message.text))
            context["goal"] = goal if is_said else text
        again = replace(request, context={"goal": text, **context, **about, **ours})
        return self._rails.begin(
            again,
            wish.session_id,
            wish.run_id,
            self.asker,
            is_same=lambda started, digest: started.request_digest == digest,
        )

    def _wish(self, request: StartWorkflow) -> decide.Begin:
        session_id, turn_id = rails_session(self.bench_id), self._book.new_turn()
        key = request.idempotency_key
        return decide.Begin(
            turn_id=turn_id,
            user_message_id=self._book.new_message(),
            message_id=self._book.new_message(),
            model_id=MODEL,
            flow="rpi",
            run_id=did("run", session_id, key, RPI) if key else did("run", session_id, turn_id),
            session_id=session_id,
            workflow_id=RPI,
            user_id=acting_user(),
            program=self._book.program,
        )

    def go_on(self, request: ContinueWorkflow, plainly: Callable[[], Answer]) -> Answer:
        """Let a step be handed in; the turn it belongs to is taken up again if it had stopped."""
        with self._seat.lock:
            self._seat.look()
            if request.ack_token is None:
                return self._looked(plainly())
            run_id, node_id = self._rails.acknowledges(request.ack_token) or (None, None)
            try:
                if not self._is_ours(run_id):
                    return self._told(plainly(), run_id)
                if self._wanted == node_id:
                    self._move()
                is_again = self._is_earlier(node_id)
                with self._book.locked(self.bench_id):
                    before = self._book.state(self.bench_id).bench
                    answer = plainly()
                    self._book.appended(
                        self.bench_id, before, self._book.state(self.bench_id).bench
                    )
            except RailsError:
                raise
            except BackshopError as error:
                raise refusal(error) from error
            self._wanted = None
            if self._seat.turn() is None:  # it ended
                self._seat.leave()
            is_fork = is_again and "fork" in answer.structured
            return noted(answer, KEPT) if is_fork else self._told(answer, run_id)

    def _told(self, answer: Answer, run_id: str | None) -> Answer:
        """Add what is true of a turn to the answer that ends it, also when that is said again."""
        if run_id is None or answer.structured.get("isComplete") is not True:
            return answer
        known = self._book.state(self.bench_id)
        turns = (one for one in known.turns.values() if one.run_id == run_id)
        turn = max(turns, key=lambda one: one.started_ms, default=None)
        facts = None if turn is None else facts_of(known.records.get(turn.message_id))
        return answer if facts is None else with_facts(answer, turn_facts.told(facts))

    def _looked(self, answer: Answer) -> Answer:
        """Remember the step an agent has gone back to: its next call finds the files of then."""
        run_id, node_id = self._rails.stands_at(answer) or (None, None)
        turn = self._book.state(self.bench_id).turn
        is_own = turn is not None and turn.is_outside and turn.run_id == run_id
        is_open = turn is not None and turn.status in (RUNNING, PAUSED)
        self._wanted = node_id if is_own and is_open and self._is_earlier(node_id) else None
        return answer if self._wanted is None else noted(answer, BACK)

    def _is_earlier(self, node_id: str | None) -> bool:
        """Whether a step is one the turn has come to before, and not where it is."""
        turn = self._book.state(self.bench_id).turn
        if turn is None or node_id is None or turn.node_id == node_id:
            return False
        return turn.place(node_id) is not None

    def _move(self) -> None:
        """Take the turn to the step its agent has gone back to, and the Draft with it."""
        turn, wanted = self._seat.turn(), self._wanted
        if turn is None or wanted is None:
            return
        revision, step = self._book.desk.new_revision(), self._step(turn, wanted)
        self._seat.commit(lambda now: decide.move(now, turn.turn_id, step, revision))
        self._wanted = None

    def _step(self, turn: Turn, node_id: str) -> Step:
        """Return a step the turn has come to."""
        place = turn.place(node_id)
        done = turn.done_items if place is None else place.done_items
        return step_of(self._driving.standing(node_id), done)

    def _is_ours(self, run_id: str | None) -> bool:
        """Whether a run is the turn this agent works on; a paused one it takes up again (W12.1)."""
        known = self._turns.settled(self.bench_id)
        turn = known.turn
        if run_id is None or turn is None or turn.run_id != run_id or not turn.is_outside:
            return False
        if turn.status == PAUSED:
            self._turns.admit()
            self._seat.take(turn.turn_id)
            wish = turn_start.again(self._book, self._driving, turn, MODEL)
            self._seat.commit(lambda now: decide.resume(now, wish))
        return self._seat.turn() is not None

    def beside(self, located: Located, request: Request) -> Beside | None:
        """Return what the conversation gets with a step of the turn's run."""
        turn, hold = self._seat.turn(), self._seat.hold
        if turn is None or hold is None or located.node.run_id != turn.run_id:
            return None
        standing = self._driving.standing(located.node.node_id)
        step, revision = self._step(turn, located.node.node_id), self._book.desk.new_revision()

        def write(state: WorkshopState, at: Arrived) -> Write:
            facts: Sequence[object] = ()
            if not at.is_blocked:
                moved = decide.step_again(state, turn.turn_id, step)
                after = fold.applied(state, moved)
                result = self._result(after, turn, kind_of(standing), request)
                done = decide.running(after, turn.turn_id).done_items
                then = following(at, step, done)
                facts = [
                    *moved,
                    *decide.step_done(after, turn.turn_id, step, result, then, revision),
                ]
            return self._write(facts, hold)(state)

        return Beside(stream_of(self.bench_id), FOLD, write)

    def _write(self, facts: Sequence[object], hold: Hold) -> Callable[[WorkshopState], Write]:
        return self._book.writing(self.bench_id, lambda _: facts, lease=hold.owner)

    def _result(
        self, state: WorkshopState, turn: Turn, kind: StepKind, request: Request
    ) -> decide.StepResult:
        """Return what an agent handed in as every driver's results are."""
        if kind is StepKind.ANSWER:
            wish = ending.ending_of(
                self._book,
                self.bench_id,
                turn.turn_id,
                "complete",
                "complete",
                self._answer(request),
            )
            wish = replace(wish, summary_source="model")
            return decide.StepResult(answer=ending.with_facts(self._book, state, wish, decide.end))
        found = _artifact(request, artifact.ITEM) if kind is StepKind.ITEM else {}
        reason = str(found["reason"])[:220] if found.get("reason") else None
        return decide.StepResult(status=outcome.stated(found)[0], reason=reason)

    def _answer(self, request: Request) -> str:
        """Return the answer an agent handed in, as it is."""
        said = _artifact(request, artifact.SUMMARY).get("markdown")
        text = said if isinstance(said, str) and said.strip() else request.output.notes or ""
        return cut_bytes(text, ending.ANSWER_MAX_BYTES)

    # ------------------------------------------------------------ tools

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[ToolResult, int]:
        """Run a tool of the bench and log the call; return its result and its log entry."""
        with self._seat.lock:
            self._seat.look()
            self._move()
            turn, hold = self._seat.turn(), self._seat.hold
        loop, author = self._loop(turn, hold), self._author(turn, hold)
        journal = ToolJournal(
            self._book, loop, publish=self._publish, said=UNHEARD, check=lambda: None
        )
        call = ToolCall(id=self._book.new("tr"), name=tool.name, arguments=dict(arguments))
        space = AgentSpace(self._book.bench, self.bench_id, author, journal.commit, self._book)
        journal.calling(call)
        try:
            if turn is not None and loop.phase != "implement" and tool.name in WRITING_TOOLS:
                result = ToolResult.failure(
                    "tool_not_available",
                    f"nothing is changed in the step {loop.phase}; hand it in first, or go back to"
                    " a step of the plan by continue_workflow with its stateToken alone",
                )
            else:
                params = tool.decode(arguments)
                result = invoke(tool, params, context=ToolContext(workspace=space))
        except BackshopError as error:
            value = {"error_code": error.code, "hints": list(error.hints)}
            result = ToolResult.failure(error.reason or "failed", error.message, value)
        return result, journal.called(self._called(call, tool, result))

    def _called(self, call: ToolCall, tool: Tool, result: ToolResult) -> Called:
        text, put = result.text(), self._book.store.blobs.put
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True)
        record = ToolInvoked(
            call_id=call.id,
            tool=call.name,
            effects=tool.effects,
            params_ref=put(arguments.encode(errors="replace")),
            ok=result.ok,
            code=result.code or "",
            result_ref=put(text.encode(errors="replace")),
            started_at=datetime.fromtimestamp(self._book.clock.now_ms() / 1000, tz=UTC),
        )
        return Called(call=call, text=text, record=record, image=result.image)

    def _loop(self, turn: Turn | None, hold: Hold | None) -> Loop:
        if turn is None or hold is None:
            return Loop(
                bench_id=self.bench_id, turn_id=None, phase="outside", lease=None, model_id=MODEL
            )
        item = turn.item if turn.phase == "implement" else None
        return Loop(
            bench_id=self.bench_id,
            turn_id=turn.turn_id,
            phase=turn.phase or "outside",
            lease=hold.owner,
            model_id=MODEL,
            run_id=turn.run_id,
            node_id=turn.node_id,
            item=item.number if item else None,
        )

    def _author(self, turn: Turn | None, hold: Hold | None) -> Author:
        if turn is None or hold is None:
            return Author(source=Source(kind="workshop", ref="mcp"), actor=ACTOR)
        return Author(
            source=Source(kind="workshop", ref=turn.run_id),
            actor=ACTOR,
            message_id=turn.message_id,
            run_id=turn.run_id,
            lease=hold.owner,
        )

    def close(self) -> None:
        """Leave the bench."""
        self._seat.close()


def _about(
    known: WorkshopState, wish: decide.Begin, context: Mapping[str, Any]
) -> dict[str, object]:
    """Return what the run of a turn is told of it (W13.2)."""
    return {
        "turn_id": wish.turn_id,
        "user_message_id": wish.user_message_id,
        "mode": context.get("mode", "agent"),
        "model_id": MODEL,
        "published_generation": known.bench.generation,
    }


def _is_said(request: str, goal: str) -> bool:
    """Whether a goal is what a request asks for: nothing of its own, all of it, or its sentence."""
    sentence = request.partition("\n\n")[0]
    return goal.strip() in ("", request.strip(), sentence.strip())


def _artifact(request: Request, kind: str) -> Mapping[str, Any]:
    found = (one for one in request.output.artifacts if one.get("kind") == kind)
    return next(found, {})
