"""Small steps every fold of the conversation shares: a record added, a turn changed."""

from __future__ import annotations

from dataclasses import replace

from backshop.base.ids import MessageId

from .state import BY, Record, Turn, WorkshopState


def added(state: WorkshopState, record: Record) -> WorkshopState:
    """Add a record, or put a newer form of it in its place."""
    return replace(state, records=state.records.put(record.message_id, record))


def turned(state: WorkshopState, turn: Turn) -> WorkshopState:
    """Put a newer form of a turn in its place."""
    return replace(state, turns=state.turns.put(turn.turn_id, turn))


def given_up(state: WorkshopState) -> WorkshopState:
    """Let a paused turn go; one whose work is done counts as complete (W5.1, W11.18)."""
    turn = state.paused
    if turn is None:
        return state
    status = "complete" if turn.is_summary_interrupted else "abandoned"
    return turned(state, replace(turn, status=status))


def unproposed(state: WorkshopState) -> WorkshopState:
    """Let a proposal that waits go: what it was made for is another thing now (W14.6)."""
    own = None if state.pending_proposal_id is None else state.proposals[state.pending_proposal_id]
    if own is None:
        return state
    proposals = state.proposals.put(own.proposal_id, replace(own, status="dismissed"))
    return replace(state, proposals=proposals, pending_proposal_id=None)


def system(
    state: WorkshopState,
    message_id: MessageId,
    kind: str,
    at_ms: int,
    seq: int,
    about: dict[str, object],
    *,
    advances: bool = True,
) -> WorkshopState:
    """Add a system event under the head."""
    running = state.running
    record = Record(
        message_id=message_id,
        type="system_event",
        role="system",
        text="",
        created_ms=at_ms,
        parent_id=state.head_id,
        seq=seq,
        turn_id=None if running is None else running.turn_id,
        advances_head=advances,
        event_kind=kind,
        metadata=signed(state, about),
        session_seq=state.session_seq,
    )
    return added(state, record)


def signed(state: WorkshopState, about: dict[str, object]) -> dict[str, object]:
    """Return what is told about a record with who caused it, if that is known (T1.6)."""
    by = state.bench.by
    return about if by is None else {**about, BY: by.data()}


def sister(own: str) -> MessageId:
    """Return the record id that belongs to another id: the same with the prefix of records."""
    return MessageId(f"msg_{own.partition('_')[2]}")


def without_none(**values: object) -> dict[str, object]:
    """Return the values that are there."""
    return {name: value for name, value in values.items() if value is not None}
