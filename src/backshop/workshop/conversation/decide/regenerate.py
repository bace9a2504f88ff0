"""Rules about answering again: which message, and what goes with the old answer (W15.6–W15.9)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import MessageId
from backshop.workshop.conversation import fold
from backshop.workshop.conversation.events import Step
from backshop.workshop.conversation.state import BUILTIN, RPI, Record, Turn, WorkshopState
from backshop.workshop.errors import PublishedMoved

from ..events import Begin
from .conversation import Fact, require_idle, require_its_draft
from .rewind import Ids, Restoring, choices, rewind, target_of
from .turn import started


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The message that is answered again, and the answer that gives way, if there is one."""

    record: Record
    replaced: MessageId | None = None


def again(state: WorkshopState, message_id: str | None) -> Again:
    """Return what regenerating means here, or refuse it (W15.6, W15.7)."""
    require_idle(state)
    line = state.active_line()
    if message_id is None:
        for record in reversed(line):
            if record.type != "system_event":
                return _of(state, record)
        raise ValidationFailed("there is nothing to answer again", reason="nothing_to_regenerate")
    found = state.records.get(message_id)
    if found is None:
        raise NotFound("there is no such message", reason="message_not_found")
    if found.type not in ("user_message", "assistant_message"):
        raise ValidationFailed("this record is no message", reason="bad_target")
    if all(one.message_id != message_id for one in line):
        raise ValidationFailed("this message is not part of the chat", reason="message_inactive")
    return _of(state, found)


def _of(state: WorkshopState, record: Record) -> Again:
    if record.type == "user_message":
        turn = _answered(state, record)
        return Again(record=record, replaced=turn.message_id if turn else None)
    turn = state.turns.get(record.turn_id or "")
    if turn is None:
        raise ValidationFailed("there is nothing to answer again", reason="nothing_to_regenerate")
    return Again(record=state.records[turn.user_message_id], replaced=record.message_id)


def _answered(state: WorkshopState, record: Record) -> Turn | None:
    """Return the turn whose answer to a message is on the active line."""
    line = {one.message_id for one in state.active_line()}
    found = (t for t in state.turns.values() if t.user_message_id == record.message_id)
    return next((t for t in found if t.message_id in line), None)


def earlier_run(
    state: WorkshopState, record: Record, workflow_id: str | None = None
) -> Turn | None:
    """Return the turn whose run the new answer is a branch of (W13.2).

    A turn of another flow follows another workflow, so that its run cannot be gone on with.
    """
    found = [
        turn
        for turn in state.turns.values()
        if turn.user_message_id == record.message_id and turn.run_id is not None
    ]
    newest = max(found, key=lambda turn: turn.started_ms, default=None)
    own = None if newest is None else newest.workflow_id or RPI
    return newest if own not in BUILTIN or workflow_id in (None, own) else None


def require_again(
    state: WorkshopState, found: Again, mode: str | None, *, may_publish: bool
) -> None:
    """Refuse where the person has to choose first; nothing is changed (W15.6)."""
    target = target_of(state, found.record.message_id, may_publish=may_publish)
    if mode is None and target.is_crossing:
        raise PublishedMoved(
            "files were published or restored since then",
            reason="published_changed",
            choices=choices(state, target),
        )


def regenerate(
    state: WorkshopState,
    message_id: str | None,
    mode: str | None,
    wish: Begin,
    step: Step | None,
    ids: Ids,
    restoring: Restoring,
) -> list[Fact]:
    """Go back to the message and begin a new turn for it in the same breath (B7.11)."""
    found = again(state, message_id)
    target = target_of(state, found.record.message_id, may_publish=restoring.may_publish)
    facts = rewind(state, target, mode, ids, restoring)
    after = fold.applied(state, facts)
    if not facts or after.bench.draft is None:
        require_its_draft(after, found.record)
    return [*facts, started(after, wish, found.record, step, found.replaced, is_again=True)]
