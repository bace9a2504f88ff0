"""Rules about turns: whether one may begin or go on, and how it ends (W5, W10.4, W11, W12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.field_copy import made_from
from backshop.base.ids import MessageId, RevisionId, TurnId
from backshop.bench import decide as bench_decide
from backshop.bench.events import HeadMoved
from backshop.workshop.conversation import events as ev
from backshop.workshop.conversation import fold
from backshop.workshop.conversation.events import Begin
from backshop.workshop.conversation.state import Record, ToolEntry, Turn, WorkshopState
from backshop.workshop.conversation.turn_facts import TurnFacts
from backshop.workshop.errors import PublishedMoved, RevisionPruned, TurnActive

from .conversation import Fact, Send, require_idle, require_its_draft, require_started, send


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What running the agent on a message means: begin, go on, or nothing any more."""

    record: Record
    turn: Turn | None = None
    is_finished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn ends, and the ids that may need."""

    turn_id: TurnId
    status: str
    record_status: str
    text: str
    revision_id: RevisionId
    switch_id: MessageId
    notice_id: MessageId
    problem: ev.Problem | None = None
    summary_source: str | None = None
    changed_paths: tuple[str, ...] = ()
    spent: ev.Spent = field(default_factory=ev.Spent)
    session_seq: int = 0
    facts: TurnFacts | None = None
    """What is true of the turn then; None of one that could not write."""
    item: ev.ItemEnd | None = None
    """How direct work came out, where the turn ends with it."""


def outlook(state: WorkshopState, message_id: str) -> Outlook:
    """Say what running the agent on a message means, or refuse it (W5.3, W3.1)."""
    require_started(state)
    record = state.records.get(message_id)
    if record is None:
        raise NotFound("there is no such message", reason="message_not_found")
    if record.type != "user_message":
        raise ValidationFailed("only a message of a person is answered", reason="bad_target")
    line = state.active_line()
    places = [n for n, one in enumerate(line) if one.message_id == message_id]
    if not places:
        raise ValidationFailed(
            "this message is not part of the chat now", reason="message_inactive"
        )
    turn = _turn_of(state, record)
    if turn is not None and turn is state.running:
        raise TurnActive("the agent is at work on this message", reason="turn_active")
    require_idle(state)
    if turn is not None and turn is state.resumable:
        if turn.published_generation != state.bench.generation:
            raise PublishedMoved(
                "the files changed since the work stopped", reason="published_changed"
            )
        return Outlook(record=record, turn=turn)
    after = line[places[0] + 1 :]
    if turn is not None and any(one.message_id == turn.message_id for one in after):
        return Outlook(record=record, turn=turn, is_finished=True)
    if any(one.type != "system_event" or one.changes_published for one in after):
        raise ValidationFailed("the conversation went on after this message", reason="bad_target")
    require_its_draft(state, record)
    return Outlook(record=record)


def _turn_of(state: WorkshopState, record: Record) -> Turn | None:
    """Return the newest turn that answers a message and still counts."""
    turn = state.turn
    if turn is not None and turn.user_message_id == record.message_id:
        return turn if state.is_turn_active(turn.turn_id) else None
    line = {one.message_id for one in state.active_line()}
    found = (t for t in state.turns.values() if t.user_message_id == record.message_id)
    return next((t for t in found if t.message_id in line), None)


def begin(state: WorkshopState, wish: Begin, step: ev.Step | None) -> list[Fact]:
    """Start a turn; the caller holds the run lease."""
    found = outlook(state, wish.user_message_id)
    if found.turn is not None:
        raise TurnActive("this message has been taken up already", reason="turn_active")
    return [started(state, wish, found.record, step)]


def said_and_begun(state: WorkshopState, said: Send, wish: Begin, step: ev.Step) -> list[Fact]:
    """Append a message and begin its turn in the same breath (W13.7)."""
    facts = send(state, said)
    after = fold.applied(state, facts)
    return [*facts, *begin(after, wish, step)]


def started(
    state: WorkshopState,
    wish: Begin,
    record: Record,
    step: ev.Step | None,
    replaces: MessageId | None = None,
    *,
    is_again: bool = False,
) -> ev.TurnStarted:
    """Return the fact a turn begins with."""
    return made_from(
        ev.TurnStarted,
        wish,
        user_message_id=record.message_id,
        mode=str(record.metadata.get("mode", "agent")),
        published_generation=state.bench.generation,
        node_id=None if step is None else step.node_id,
        step=step,
        is_again=is_again,
        replaces=replaces,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """A turn that is about to go on."""

    turn_id: TurnId
    message_id: MessageId
    model_id: str
    revision_id: RevisionId
    user_id: str | None = None
    is_owners: bool = False
    program: str | None = None
    step: ev.Step | None = None


def resume(state: WorkshopState, wish: Resume) -> list[Fact]:
    """Go on with a turn that stopped; its record gives way to a new one (W12.6)."""
    turn = state.resumable
    if turn is None or turn.turn_id != wish.turn_id:
        raise TurnActive("the turn is being worked on already", reason="turn_active")
    facts: list[Fact] = []
    if turn.message_id in state.records:
        facts.append(HeadMoved(message_id=turn.user_message_id, actor="agent"))
    if turn.is_direct and turn.batches:  # it was stopped; what it wrote stays (W11.34)
        facts.append(_left_unfinished(turn, 1, "the work was stopped"))
        facts += _bound(state, wish.revision_id, wish.message_id)
    else:
        facts += _rolled_back(state, turn, wish.revision_id, wish.message_id)
    return [*facts, made_from(ev.TurnResumed, wish, without=("revision_id",))]


def running(state: WorkshopState, turn_id: TurnId) -> Turn:
    """Return the turn an agent works on; somebody else's work is refused."""
    turn = state.running
    if turn is None or turn.turn_id != turn_id:
        raise TurnActive("the turn is not this agent's any more", reason="lease_lost")
    return turn


def move(
    state: WorkshopState, turn_id: TurnId, step: ev.Step, revision_id: RevisionId
) -> list[Fact]:
    """Go to a step the turn has come to before, with the files it began with (W13.7)."""
    turn = running(state, turn_id)
    place = turn.place(step.node_id)
    if place is None or step.node_id == turn.node_id:
        return []
    start = None if place.revision_id is None else state.bench.revision(place.revision_id)
    if place.revision_id is not None and (start is None or start.is_pruned):
        raise RevisionPruned(
            "the files that this step began with are not kept any more", reason="revision_pruned"
        )
    back = bench_decide.rewind(
        state.bench, start, revision_id, turn.message_id, kind="rollback", actor="agent"
    )
    return [*back, _moved(turn, step)]


def step_again(state: WorkshopState, turn_id: TurnId, step: ev.Step) -> list[Fact]:
    """Take an earlier step as done again; what was written meanwhile may belong to it (W13.7)."""
    turn = running(state, turn_id)
    if turn.place(step.node_id) is None or step.node_id == turn.node_id:
        return []
    return [replace(_moved(turn, step), keeps_draft=True)]


def _moved(turn: Turn, step: ev.Step) -> ev.TurnMoved:
    return ev.TurnMoved(turn_id=turn.turn_id, node_id=step.node_id, phase=turn.phase, step=step)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What a driver brought for a step: how its item came out, or the answer of the turn."""

    status: str = "done"
    reason: str | None = None
    added: int = 0
    dropped: int = 0
    is_taken_back: bool = False
    """Whether what the last attempt wrote goes, although what earlier ones wrote may stay."""
    is_planned: bool = False
    """Whether direct work goes over to a plan."""
    answer: Ending | None = None


def step_done(
    state: WorkshopState,
    turn_id: TurnId,
    step: ev.Step,
    result: StepResult,
    following: ev.Step,
    revision_id: RevisionId,
) -> list[Fact]:
    """Turn a finished step into facts, whoever did it: the one rule for every driver (W13.6)."""
    turn = running(state, turn_id)
    if result.answer is not None:
        return end(state, result.answer)
    ended = ev.StepEnded(turn_id=turn_id, phase=step.phase, next=following)
    if result.is_planned:
        return [replace(ended, is_planned=True)]
    if step.number is None:
        return [ended]
    facts: list[Fact] = []
    if result.status == "failed":
        facts += _rolled_back(state, turn, revision_id, turn.message_id)
    elif result.is_taken_back:
        facts += fail_attempt(
            state, turn_id, step.number, result.reason or "", revision_id, is_last=True
        )
    item = ev.ItemEnd(
        number=step.number,
        status=result.status,
        no_effect=result.status == "done" and not turn.batches and not turn.left,
        reason=result.reason,
        added=result.added,
        dropped=result.dropped,
    )
    return [*facts, replace(ended, item=item)]


def fail_attempt(
    state: WorkshopState,
    turn_id: TurnId,
    number: int,
    reason: str,
    revision_id: RevisionId,
    *,
    is_last: bool = False,
) -> list[Fact]:
    """Take back what a failed attempt at an item wrote; it is tried again (W11.12)."""
    turn = running(state, turn_id)
    attempt = turn.failed_attempts + 1
    return [
        *_rolled_back(state, turn, revision_id, turn.message_id),
        ev.ItemAttemptFailed(
            turn_id=turn_id,
            number=number,
            attempt=attempt,
            reason=reason,
            run_id=turn.run_id,
            node_id=turn.node_id,
            **({} if is_last else _announced(turn)),
        ),
    ]


def _announced(turn: Turn) -> dict[str, Any]:
    """Return what is said of the item that is tried again."""
    return {} if turn.item is None else {"total": turn.item.total, "label": turn.item.label}


def leave_unfinished(state: WorkshopState, turn_id: TurnId, number: int, reason: str) -> list[Fact]:
    """End an attempt that ran out of requests; what it wrote stays, the next goes on (W11.13)."""
    return [_left_unfinished(running(state, turn_id), number, reason)]


def _left_unfinished(turn: Turn, number: int, reason: str) -> ev.ItemLeftUnfinished:
    return ev.ItemLeftUnfinished(
        turn_id=turn.turn_id,
        number=number,
        attempt=turn.failed_attempts + 1,
        reason=reason,
        run_id=turn.run_id,
        node_id=turn.node_id,
        **_announced(turn),
    )


def _rolled_back(
    state: WorkshopState, turn: Turn, revision_id: RevisionId, message_id: MessageId
) -> Sequence[Fact]:
    """Return what brings the Draft back to where the phase or item began (W10.6)."""
    if not turn.batches:
        return () if turn.message_id == message_id else _bound(state, revision_id, message_id)
    start = None if turn.boundary is None else state.bench.revision(turn.boundary)
    return bench_decide.rewind(
        state.bench, start, revision_id, message_id, kind="rollback", actor="agent"
    )


def _bound(state: WorkshopState, revision_id: RevisionId, message_id: MessageId) -> Sequence[Fact]:
    """Return what binds the Draft as it is to another answer."""
    if state.bench.draft is None:
        return ()
    kept = state.bench.revision(state.bench.draft.revision_id)
    return bench_decide.rewind(
        state.bench, kept, revision_id, message_id, kind="turn", actor="agent"
    )


def replay(
    state: WorkshopState, turn_id: TurnId, entry: ToolEntry, revision_id: RevisionId
) -> Sequence[Fact]:
    """Bring back what a recorded call had written; its batch is not applied again (W12.7)."""
    turn = running(state, turn_id)
    assert entry.draft_revision_id is not None
    kept = state.bench.revision(entry.draft_revision_id)
    return bench_decide.rewind(
        state.bench, kept, revision_id, turn.message_id, kind="replay", actor="agent"
    )


def stream(state: WorkshopState, turn_id: TurnId, text: str) -> list[Fact]:
    """Keep a piece of an answer that is being written (W5.9)."""
    turn = running(state, turn_id)
    made = ev.AnswerStreamed(turn_id=turn_id, message_id=turn.message_id, text=text)
    if turn.message_id in state.records:
        return [made]
    return [made, HeadMoved(message_id=turn.message_id, actor="agent")]


def withdraw(state: WorkshopState, turn_id: TurnId) -> list[Fact]:
    """Take back what was kept of an answer that turned out to be none (W5.9)."""
    turn = running(state, turn_id)
    if turn.message_id not in state.records:
        return []
    return [
        HeadMoved(message_id=turn.user_message_id, actor="agent"),
        ev.AnswerWithdrawn(turn_id=turn_id, message_id=turn.message_id),
    ]


def end(state: WorkshopState, wish: Ending) -> list[Fact]:
    """End a turn with its one record; a Draft that changes nothing goes (W1.3.7, W10.4)."""
    turn = running(state, wish.turn_id)
    facts: list[Fact] = []
    draft = state.bench.draft
    if wish.item is not None and wish.item.status == "failed":
        facts += _rolled_back(state, turn, wish.revision_id, turn.message_id)
    elif draft is not None and draft.tree == draft.base_tree and turn.has_written:
        facts += bench_decide.rewind(
            state.bench, None, wish.revision_id, turn.message_id, kind="turn", actor="agent"
        )
    facts += [
        ev.TurnEnded(
            turn_id=turn.turn_id,
            message_id=turn.message_id,
            status=wish.status,
            text=wish.text,
            record_status=wish.record_status,
            problem=wish.problem,
            phase=turn.phase,
            notice_id=wish.notice_id if wish.problem is not None else None,
            summary_source=wish.summary_source,
            changed_paths=wish.changed_paths,
            spent=wish.spent,
            session_seq=wish.session_seq,
            facts=wish.facts,
            aborted=None if turn.phase is None else wish.status != "complete",
            item=wish.item,
        ),
        *_headed(state, turn),
        *_switch_told(state, turn, wish.switch_id),
    ]
    return facts


def _headed(state: WorkshopState, turn: Turn) -> list[Fact]:
    """Let the conversation end with a turn's record, unless it does since that was begun."""
    if state.head_id == turn.message_id:
        return []
    return [HeadMoved(message_id=turn.message_id, actor="agent")]


def pause(state: WorkshopState, wish: Ending) -> list[Fact]:
    """Stop a turn at its last safe boundary, with a record of what was done (W5.12, W5.10)."""
    turn = running(state, wish.turn_id)
    assert wish.problem is not None
    phase = turn.phase or ("reply" if turn.flow == "compat" else "research")
    facts: list[Fact] = []
    if turn.batches and turn.is_direct:
        facts.append(_left_unfinished(turn, 1, wish.problem.message))
    elif turn.batches:
        facts += _rolled_back(state, turn, wish.revision_id, turn.message_id)
    facts += [
        ev.TurnPaused(
            turn_id=turn.turn_id,
            message_id=turn.message_id,
            notice_id=wish.notice_id,
            problem=wish.problem,
            phase=phase,
            text=wish.text,
            spent=wish.spent,
            session_seq=wish.session_seq,
            facts=wish.facts,
            aborted=None if turn.phase is None else True,
        ),
        *_headed(state, turn),
        *_switch_told(state, turn, wish.switch_id),
    ]
    return facts


def refuse(
    state: WorkshopState, user_message_id: str, problem: ev.Problem, message_id: MessageId
) -> list[Fact]:
    """Say under a message why nobody took it up, unless that stands there already (W5.15)."""
    require_started(state)
    record = state.records.get(user_message_id)
    if record is None or state.running is not None:
        return []
    same = (
        one.event_kind == "run_refused"
        and one.parent_id == user_message_id
        and one.text == problem.message
        for one in state.records.values()
    )
    if any(same):
        return []
    return [
        ev.RunRefused(message_id=message_id, user_message_id=record.message_id, problem=problem)
    ]


def _switch_told(state: WorkshopState, turn: Turn, message_id: MessageId) -> list[Fact]:
    """Return the record of a model that was switched while the turn ran (W16.1)."""
    told = (turn.model_id, turn.instead_of, state.announced_model_id)
    if state.model_id is None or state.model_id in told:
        return []
    return [
        ev.ModelSwitched(
            to_model_id=state.model_id, from_model_id=turn.model_id, message_id=message_id
        ),
        HeadMoved(message_id=message_id),
    ]


def cancel(state: WorkshopState, turn_id: str | None, *, of: str | None = None) -> list[Fact]:
    """Ask the running turn to stop; nothing when none runs (M12.1).

    `of` is the removed person it has to be of still: somebody else may have taken it over (T6.4).
    """
    require_started(state)
    turn = state.running
    if turn is None or turn.is_cancel_asked or turn_id not in (None, turn.turn_id):
        return []
    if of is not None and turn.user_id != of:
        return []
    return [ev.CancelAsked(turn_id=turn.turn_id)]
