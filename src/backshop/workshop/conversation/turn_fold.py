"""How a turn goes on, streams, ends or stops: its part of the fold."""

from __future__ import annotations

from dataclasses import replace

from backshop.base.acting import AGENT, OWNER, By
from backshop.base.codec import encode
from backshop.base.field_copy import made_from
from backshop.base.ids import BatchId, MessageId
from backshop.bench.revision import Draft

from . import events as ev
from .record import added, given_up, signed, sister, turned, without_none
from .state import (
    BUILTIN,
    BY,
    NOTE,
    PAUSED,
    RUNNING,
    Item,
    Note,
    Proposal,
    Record,
    StepPlace,
    Turn,
    WorkshopState,
)
from .turn_facts import WAITING, FileChanged, ItemFact, TurnFacts

Progress = (
    ev.TurnStarted
    | ev.TurnResumed
    | ev.StepEnded
    | ev.PhaseStarted
    | ev.PhaseEnded
    | ev.TurnMoved
    | ev.ItemStarted
    | ev.ItemAttemptFailed
    | ev.ItemLeftUnfinished
    | ev.ItemEnded
    | ev.CancelAsked
)


def progress(state: WorkshopState, fact: Progress, at_ms: int) -> WorkshopState:
    """Say how far a turn is."""
    if isinstance(fact, ev.TurnStarted):
        return _started(state, fact, at_ms)
    turn = state.turns.get(fact.turn_id)
    if turn is None:
        return state
    match fact:
        case ev.TurnResumed():
            turn = replace(
                _at_boundary(state, turn),
                status=RUNNING,
                waited_ms=turn.waited_ms + _waited(turn, at_ms),
                paused_ms=None,
                message_id=fact.message_id,
                model_id=fact.model_id,
                phase=None,
                problem=None,
                ended_ms=None,
                is_cancel_asked=False,
                user_id=None if fact.is_owners else fact.user_id or turn.user_id,
                replays_to=len(state.tools),
                program=fact.program,
            )
            turn = _at_step(turn, fact.step)
        case ev.StepEnded():
            if fact.item is not None:
                turn = _item_over(turn, fact.item)
            if fact.is_planned:
                turn = _planned(turn)
            turn = _at_step(_arrived(state, turn, fact.next.node_id), fact.next)
        case ev.PhaseStarted(phase=phase):
            turn = replace(turn, phase=phase)
        case ev.PhaseEnded(aborted=False, node_id=node_id):
            turn = _arrived(state, replace(turn, phase=None), node_id)
        case ev.PhaseEnded():
            turn = replace(turn, phase=None)
        case ev.ItemStarted():
            item = Item(
                number=fact.number, total=fact.total, label=fact.label, attempt=fact.attempt
            )
            turn = _begun(replace(turn, item=item), item)
        case ev.ItemAttemptFailed():
            turn = _not_made(state, _taken_back(turn, fact.number), fact.reason, has_run_out=False)
        case ev.ItemLeftUnfinished():
            turn = replace(turn, left=(*turn.left, *turn.batches))
            turn = _not_made(state, turn, fact.reason, has_run_out=True)
        case ev.TurnMoved():
            turn = _moved(state, turn, fact)
        case ev.ItemEnded(node_id=node_id):
            turn = _arrived(state, _item_over(turn, fact), node_id)
        case ev.CancelAsked():
            turn = replace(turn, is_cancel_asked=True)
    return turned(state, turn)


def _planned(turn: Turn) -> Turn:
    """Let a plan say from now on what the items are; what direct work wrote stays."""
    return replace(
        turn,
        item=None,
        items=(),
        items_total=0,
        failed_attempts=0,
        failure="",
        has_run_out=False,
        left=(),
    )


def _not_made(state: WorkshopState, turn: Turn, reason: str, *, has_run_out: bool) -> Turn:
    """Count an attempt at the present item that came to no end; the next begins here."""
    attempts, item = turn.failed_attempts + 1, turn.item
    if turn.has_steps and item is not None:
        item = replace(item, attempt=attempts + 1)
    return replace(
        _at_boundary(state, turn),
        item=item,
        failed_attempts=attempts,
        failure=reason,
        has_run_out=has_run_out,
    )


def _begun(turn: Turn, item: Item) -> Turn:
    """Let an item be the present one; what its earlier attempts came to is kept."""
    known = _known(turn, item.number) or ItemFact(number=item.number, label="", status=WAITING)
    own = replace(known, label=item.label, status=WAITING, reason="", no_effect=False)
    return replace(_with(turn, own), items_total=max(item.total, item.number))


def wrote(turn: Turn, batch_id: BatchId) -> Turn:
    """Count a batch, also one that was taken back and is brought back (W12.7)."""
    own = None if turn.item is None else _known(turn, turn.item.number)
    if batch_id in turn.gone:
        turn = replace(turn, gone=tuple(one for one in turn.gone if one != batch_id))
        if own is not None and own.taken_back:
            turn = _with(turn, replace(own, taken_back=own.taken_back - 1))
    return replace(turn, batches=(*turn.batches, batch_id), has_written=True)


def _taken_back(turn: Turn, number: int) -> Turn:
    """Count what an attempt wrote and has not any more."""
    turn = replace(turn, gone=(*turn.gone, *turn.batches))
    known = _known(turn, number)
    if known is None:
        return turn
    return _with(turn, replace(known, taken_back=known.taken_back + len(turn.batches)))


def _item_over(turn: Turn, fact: ev.ItemEnd | ev.ItemEnded) -> Turn:
    """Let an item be behind the turn, however it came out."""
    return replace(
        _item_ended(turn, fact),
        done_items=turn.done_items + 1,
        failed_attempts=0,
        failure="",
        has_run_out=False,
        left=(),
    )


def _item_ended(turn: Turn, fact: ev.ItemEnd | ev.ItemEnded) -> Turn:
    """Say how an item came out; an outside agent may end one that nobody announced."""
    known = _known(turn, fact.number) or ItemFact(number=fact.number, label="", status=WAITING)
    if fact.status == "failed":
        turn = _taken_back(_with(turn, known), fact.number)
        known = _known(turn, fact.number) or known
    is_kept = fact.status == "unfinished"
    own = replace(
        known,
        status=fact.status,
        reason=fact.reason or "",
        no_effect=fact.no_effect,
        kept=len(turn.left) + len(turn.batches) if is_kept else 0,
    )
    total = max(turn.items_total + fact.added, fact.number)
    return replace(_with(turn, own), items_total=total)


def _known(turn: Turn, number: int) -> ItemFact | None:
    return next((one for one in turn.items if one.number == number), None)


def _with(turn: Turn, own: ItemFact) -> Turn:
    others = (one for one in turn.items if one.number != own.number)
    return replace(turn, items=tuple(sorted((*others, own), key=lambda one: one.number)))


def _waited(turn: Turn, at_ms: int) -> int:
    """Return how long a turn that stopped waited until it goes on."""
    stopped_ms = turn.paused_ms or turn.ended_ms or at_ms
    return max(0, at_ms - stopped_ms)


def _started(state: WorkshopState, fact: ev.TurnStarted, at_ms: int) -> WorkshopState:
    turn = made_from(
        Turn,
        fact,
        without=("is_again", "replaces", "actor", "step"),
        started_ms=at_ms,
        boundary=state.current_revision(),
        began_tree=None if state.bench.draft is None else state.bench.draft.tree,
    )
    state = replace(_again(given_up(state), fact), turn_id=fact.turn_id)
    return turned(state, _at_step(_arrived(state, turn, fact.node_id), fact.step))


def _again(state: WorkshopState, fact: ev.TurnStarted) -> WorkshopState:
    """Let the rewind that made room for another answer be known as part of that."""
    undo = state.undos[-1] if state.undos and fact.is_again and fact.replaces else None
    record = None if undo is None else state.records.get(undo.message_id)
    if record is None or record.event_kind != "undo":
        return state
    return added(state, replace(record, metadata={**record.metadata, "is_again": True}))


def _arrived(state: WorkshopState, turn: Turn, node_id: str | None) -> Turn:
    """Let a turn be at a step; the Draft of now is what the step begins with."""
    turn = _at_boundary(state, replace(turn, node_id=node_id or turn.node_id))
    if turn.node_id is None:
        return turn
    here = StepPlace(node_id=turn.node_id, revision_id=turn.boundary, done_items=turn.done_items)
    others = tuple(one for one in turn.places if one.node_id != here.node_id)
    return replace(turn, places=(*others, here))


def _at_step(turn: Turn, step: ev.Step | None) -> Turn:
    """Let a turn be in the phase of a step, and at its item."""
    if step is None:
        return turn
    turn = replace(turn, phase=step.phase, has_steps=True, is_direct=step.is_direct)
    if step.number is None:
        return turn
    item = Item(
        number=step.number,
        total=step.total,
        label=step.label,
        attempt=turn.failed_attempts + 1,
    )
    return _begun(replace(turn, item=item), item)


def _moved(state: WorkshopState, turn: Turn, fact: ev.TurnMoved) -> Turn:
    """Let a turn be at a step it has come to before."""
    place = turn.place(fact.node_id)
    if place is None:
        return turn
    kept = turn.batches if fact.keeps_draft else ()
    boundary = place.revision_id if fact.keeps_draft else state.current_revision()
    moved = replace(
        turn,
        node_id=fact.node_id,
        phase=None,
        done_items=place.done_items,
        items=tuple(one for one in turn.items if one.number <= place.done_items),
        failed_attempts=0,
        failure="",
        has_run_out=False,
        left=(),
        boundary=boundary,
        batches=kept,
    )
    return _at_step(moved, fact.step)


def _at_boundary(state: WorkshopState, turn: Turn) -> Turn:
    return replace(turn, boundary=state.current_revision(), batches=())


def streamed(state: WorkshopState, fact: ev.AnswerStreamed, at_ms: int, seq: int) -> WorkshopState:
    """Add text to an answer that is being written; the first makes its record."""
    known = state.records.get(fact.message_id)
    if known is not None:
        return added(state, replace(known, text=known.text + fact.text))
    turn = state.turns.get(fact.turn_id)
    if turn is None:
        return state
    return added(state, _answer(state, turn, fact.text, "streaming", at_ms, seq))


def _answer(
    state: WorkshopState, turn: Turn, text: str, status: str, at_ms: int, seq: int
) -> Record:
    """Return a turn's record; what is shown already keeps its place and its time."""
    known = state.records.get(turn.message_id)
    return Record(
        message_id=turn.message_id,
        type="assistant_message",
        role="assistant",
        text=text,
        created_ms=known.created_ms if known else at_ms,
        parent_id=known.parent_id if known else state.head_id,
        seq=known.seq if known else seq,
        turn_id=turn.turn_id,
        status=status,
        metadata=without_none(
            model_id=turn.model_id,
            provider_id=turn.model_id.partition(":")[0],
            flow=turn.flow,
            run_id=turn.run_id,
            workflow_id=turn.workflow_id,
            note=turn.note,
            notes=[one.text for one in turn.notes if one.is_read] or None,
            **{BY: By(person=turn.user_id or OWNER, agent=agent_of(turn)).data()},
        ),
    )


def agent_of(turn: Turn) -> str:
    """Return which agent a turn is of, as events call it (T1.6)."""
    return turn.model_id if turn.is_outside else AGENT  # that of one outside is `mcp:…` too


def ended(state: WorkshopState, fact: ev.TurnEnded, at_ms: int, seq: int) -> WorkshopState:
    """End a turn with its record."""
    turn = state.turns.get(fact.turn_id)
    if turn is None:
        return state
    if fact.item is not None:
        turn = _item_over(turn, fact.item)
    turn = replace(
        turn,
        status=fact.status,
        problem=fact.problem,
        ended_ms=at_ms,
        spent=_sum(turn.spent, fact.spent),
        phase=fact.phase or turn.phase,
    )
    record = _final(state, turn, fact.text, fact.record_status, fact.session_seq, at_ms, seq)
    if fact.summary_source is not None:
        about = {**record.metadata, "summary_source": fact.summary_source}
        record = replace(record, metadata=about)
    record = _with_facts(record, fact.facts or facts_known(state, turn, fact.changed_paths))
    state = replace(turned(state, turn), session_seq=fact.session_seq)
    state = added(state, record)
    draft = state.bench.draft
    if draft is not None and fact.changed_paths:
        state = _changes_told(state, turn, draft, fact.changed_paths, at_ms, seq)
    if fact.problem is None or fact.notice_id is None:
        return state
    kind = "run_canceled" if fact.status == "canceled" else "run_failed"
    if fact.status == "failed" and turn.flow == "compat":
        kind = "workshop_stream_failed"
    return _problem(state, turn, fact, kind, at_ms, seq)


def _changes_told(
    state: WorkshopState,
    turn: Turn,
    draft: Draft,
    paths: tuple[str, ...],
    at_ms: int,
    seq: int,
) -> WorkshopState:
    """Add the record of what a turn left in the Draft, beside its answer."""
    about: dict[str, object] = {
        "draft_id": draft.draft_id,
        "draft_revision_id": draft.revision_id,
        "paths": list(paths),
    }
    own, kind = sister(draft.revision_id), "draft_changes_applied"
    return added(state, _beside(state, turn, own, kind, "", about, at_ms, seq))


def paused(state: WorkshopState, fact: ev.TurnPaused, at_ms: int, seq: int) -> WorkshopState:
    """Stop a turn where it can go on, with a record of what was done so far."""
    turn = state.turns.get(fact.turn_id)
    if turn is None:
        return state
    if turn.item is not None:
        turn = _taken_back(turn, turn.item.number)
    turn = replace(
        _at_boundary(state, turn),
        status=PAUSED,
        paused_ms=at_ms,
        problem=fact.problem,
        phase=fact.phase,
        spent=_sum(turn.spent, fact.spent),
    )
    record = _final(state, turn, fact.text, "interrupted", fact.session_seq, at_ms, seq)
    record = _with_facts(record, fact.facts or facts_known(state, turn, ()))
    state = added(replace(turned(state, turn), session_seq=fact.session_seq), record)
    return _problem(state, turn, fact, "run_paused", at_ms, seq)


def told(state: WorkshopState, fact: ev.TurnTold) -> WorkshopState:
    """Put what is true of a turn beside its answer."""
    record = state.records.get(fact.message_id)
    return state if record is None else added(state, _with_facts(record, fact.facts))


def facts_known(
    state: WorkshopState, turn: Turn, changed_paths: tuple[str, ...]
) -> TurnFacts | None:
    """Return what the log alone tells of a turn; None of one that could not write.

    A turn begins without a Draft: where there is none at its end, it changed nothing.
    """
    if turn.mode == "ask":
        return None
    is_certain = bool(changed_paths) or state.bench.draft is None
    files = tuple(FileChanged(path=path) for path in changed_paths)
    return TurnFacts(
        files=files if is_certain else None,
        files_total=len(files),
        unit=_unit(turn),
        items=tuple(_as_ended(turn, one) for one in turn.items),
        items_total=turn.items_total,
    )


def _unit(turn: Turn) -> str:
    if turn.workflow_id not in (None, *BUILTIN):
        return "step"
    return "work" if turn.is_direct else "item"


def _as_ended(turn: Turn, one: ItemFact) -> ItemFact:
    """Say of the present item what its turn's end makes of it."""
    if one.status != WAITING:
        return one
    if turn.status == PAUSED:
        return replace(one, kept=len(turn.left))
    return replace(one, status="unfinished", kept=len(turn.left) + len(turn.batches))


def _with_facts(record: Record, facts: TurnFacts | None) -> Record:
    if facts is None:
        return record
    return replace(record, metadata={**record.metadata, "facts": encode(facts)})


def refused(state: WorkshopState, fact: ev.RunRefused, at_ms: int, seq: int) -> WorkshopState:
    """Say under a message why nobody took it up."""
    record = Record(
        message_id=fact.message_id,
        type="system_event",
        role="system",
        text=fact.problem.message,
        created_ms=at_ms,
        parent_id=fact.user_message_id,
        seq=seq,
        advances_head=False,
        event_kind="run_refused",
        metadata={"error": _error(fact.problem)},
        session_seq=state.session_seq,
    )
    return added(state, record)


def noted(
    state: WorkshopState, fact: ev.NoteAdded | ev.NotesRead, at_ms: int, seq: int
) -> WorkshopState:
    """Keep a note with its turn and as a record under the message, or mark notes as read."""
    turn = state.turns.get(fact.turn_id)
    if turn is None:
        return state
    if isinstance(fact, ev.NotesRead):
        notes = tuple(
            replace(one, is_read=True) if one.message_id in fact.message_ids else one
            for one in turn.notes
        )
        return turned(state, replace(turn, notes=notes))
    own = Note(message_id=fact.message_id, text=fact.text)
    state = turned(state, replace(turn, notes=(*turn.notes, own)))
    if fact.client_message_id is not None:
        sent = state.sent.put(fact.client_message_id, fact.message_id)
        state = replace(state, sent=sent)
    about = without_none(origin=fact.origin, client_message_id=fact.client_message_id)
    record = Record(
        message_id=fact.message_id,
        type="system_event",
        role="system",
        text=fact.text,
        created_ms=at_ms,
        parent_id=turn.user_message_id,
        seq=seq,
        turn_id=turn.turn_id,
        advances_head=False,
        event_kind=NOTE,
        metadata=signed(state, about),
        session_seq=state.session_seq,
    )
    return added(state, record)


def _final(
    state: WorkshopState,
    turn: Turn,
    text: str,
    status: str,
    session_seq: int,
    at_ms: int,
    seq: int,
) -> Record:
    record = _answer(state, turn, text, status, at_ms, seq)
    about = without_none(
        **record.metadata,
        job_elapsed_ms=max(0, at_ms - turn.started_ms - turn.waited_ms),
        usage={
            "input_tokens": turn.spent.input_tokens,
            "output_tokens": turn.spent.output_tokens,
            "estimated": turn.spent.estimated,
        },
        has_draft=state.bench.draft is not None,
        draft_revision_id=state.current_revision(),
    )
    return replace(record, metadata=about, session_seq=session_seq)


def _problem(
    state: WorkshopState,
    turn: Turn,
    fact: ev.TurnEnded | ev.TurnPaused,
    kind: str,
    at_ms: int,
    seq: int,
) -> WorkshopState:
    """Add the system event of a turn that did not come to its end, beside its answer."""
    problem = fact.problem
    assert problem is not None
    assert fact.notice_id is not None
    about: dict[str, object] = {
        "turn_id": turn.turn_id,
        "phase": fact.phase,
        "error": _error(problem),
    }
    record = _beside(state, turn, fact.notice_id, kind, problem.message, about, at_ms, seq)
    return added(state, record)


def _error(problem: ev.Problem) -> dict[str, object]:
    return {
        "error_code": problem.code,
        "reason": problem.reason,
        "message": problem.message,
        "actions": list(problem.actions),
    }


def _beside(
    state: WorkshopState,
    turn: Turn,
    message_id: MessageId,
    kind: str,
    text: str,
    about: dict[str, object],
    at_ms: int,
    seq: int,
) -> Record:
    """Return a system event that stands beside a turn's answer."""
    return Record(
        message_id=message_id,
        type="system_event",
        role="system",
        text=text,
        created_ms=at_ms,
        parent_id=turn.message_id,
        seq=seq,
        turn_id=turn.turn_id,
        advances_head=False,
        event_kind=kind,
        metadata=about,
        session_seq=state.session_seq,
    )


def proposed(
    state: WorkshopState, fact: ev.ProposalMade | ev.ProposalClosed, at_ms: int, seq: int
) -> WorkshopState:
    """Keep a proposal, or what became of it; what went wrong is a system event (W14.4, W14.5)."""
    if isinstance(fact, ev.ProposalMade):
        own = Proposal(
            proposal_id=fact.proposal_id,
            turn_id=fact.turn_id,
            proposal_ref=fact.proposal_ref,
            basis_tree=fact.basis_tree,
            created_ms=at_ms,
            status="none" if fact.no_changes else "open",
        )
        pending = None if fact.no_changes else fact.proposal_id
        kind = "proposal_failed"
    else:
        known = state.proposals.get(fact.proposal_id)
        if known is None:
            return state
        own, pending, kind = replace(known, status=fact.status), None, "apply_failed"
    proposals = state.proposals.put(own.proposal_id, own)
    state = replace(state, proposals=proposals, pending_proposal_id=pending)
    turn = state.turns.get(own.turn_id)
    if fact.problem is None or fact.notice_id is None or turn is None:
        return state
    about: dict[str, object] = {"error": _error(fact.problem), "proposal_id": own.proposal_id}
    record = _beside(state, turn, fact.notice_id, kind, fact.problem.message, about, at_ms, seq)
    return added(state, record)


def _sum(one: ev.Spent, other: ev.Spent) -> ev.Spent:
    return ev.Spent(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        estimated=one.estimated or other.estimated,
        waits=one.waits + other.waits,
    )
