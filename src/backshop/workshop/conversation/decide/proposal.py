"""Rules about proposals: made for a turn, applied once, or let go (W14)."""

from __future__ import annotations

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import ProposalId, TurnId
from backshop.workshop.conversation import events as ev
from backshop.workshop.conversation.state import Proposal, Turn, WorkshopState

from .conversation import Fact, require_idle, require_no_draft, require_started


def proposable(state: WorkshopState) -> Turn:
    """Return the turn whose answer changes may be worked out for now, or refuse."""
    require_idle(state)
    require_no_draft(state)
    turn = state.turn
    is_answered = (
        turn is not None
        and turn.flow == "compat"
        and turn.status == "complete"
        and state.head_id == turn.message_id
    )
    if turn is None or not is_answered:
        raise ValidationFailed(
            "the conversation does not end with an answer of flow compat", reason="bad_target"
        )
    return turn


def proposed(state: WorkshopState, fact: ev.ProposalMade) -> list[Fact]:
    """Keep a proposal; the one before it, if it still waits, goes."""
    require_started(state)
    pending = state.pending_proposal_id
    gone = [] if pending is None else [ev.ProposalClosed(proposal_id=pending, status="dismissed")]
    return [*gone, fact]


def known_proposal(state: WorkshopState, proposal_id: str) -> Proposal:
    """Return a proposal, or refuse."""
    require_started(state)
    found = state.proposals.get(proposal_id)
    if found is None:
        raise NotFound("there is no such proposal", reason="not_found")
    return found


def applicable(state: WorkshopState, proposal_id: str, turn_id: TurnId | None) -> Proposal:
    """Return a proposal that may be applied: open, and its turn's own (W14.6).

    `turn_id` is the turn that applies it itself; a command has none and needs quiet.
    """
    found = known_proposal(state, proposal_id)
    if turn_id is None:
        require_idle(state)
        require_no_draft(state)
    if found.status != "open" or state.pending_proposal_id != proposal_id:
        raise ValidationFailed("this proposal is closed", reason="proposal_closed")
    return found


def dismiss_proposal(state: WorkshopState, proposal_id: str | None) -> list[Fact]:
    """Let a proposal go; nothing when none waits."""
    require_idle(state)
    if proposal_id is None and state.pending_proposal_id is None:
        return []
    found = known_proposal(state, proposal_id or str(state.pending_proposal_id))
    if found.status != "open":
        raise ValidationFailed("this proposal is closed", reason="proposal_closed")
    own = ProposalId(found.proposal_id)
    return [ev.ProposalClosed(proposal_id=own, status="dismissed", actor="user")]
