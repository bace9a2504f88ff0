"""Rules about notes: what the person writes to the agent while it works (W27)."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.base.errors import LimitExceeded, NotFound, ValidationFailed
from backshop.base.ids import MessageId, TurnId
from backshop.workshop.conversation import events as ev
from backshop.workshop.conversation.state import WorkshopState

from .conversation import Fact, repeated, require_sender, require_started, whole_bytes
from .turn import running

NOTE_MAX_CHARS = 4_000  # W24.7, W27.1
NOTES_MAX = 20  # of one turn


def note_text(text: str | None) -> str | None:
    """Return a note without the space around it; nothing but space is nothing.

    Raises:
        LimitExceeded: it is longer than a note may be.
    """
    found = (text or "").strip()
    if len(found) > NOTE_MAX_CHARS:
        raise LimitExceeded(
            f"the note has {len(found)} characters, at most {NOTE_MAX_CHARS} are taken",
            reason="message_too_long",
        )
    return found or None


def add_note(
    state: WorkshopState,
    text: str,
    message_id: MessageId,
    *,
    origin: str,
    client_message_id: str | None = None,
    turn_id: str | None = None,
) -> list[Fact]:
    """Write a note to the turn that runs (W27.1)."""
    require_started(state)
    require_sender(origin, client_message_id)
    if repeated(state, client_message_id) is not None:
        return []
    whole_bytes(text)
    said, turn = note_text(text), state.running
    assert said is not None  # it says something
    if turn is None or turn_id not in (None, turn.turn_id):
        raise NotFound("nobody is at work here who could read a note", reason="no_turn")
    if not turn.takes_notes:
        raise ValidationFailed("this turn reads no notes while it runs", reason="no_notes")
    if len(turn.notes) >= NOTES_MAX:
        raise LimitExceeded(f"a turn takes at most {NOTES_MAX} notes", reason="too_many_notes")
    return [
        ev.NoteAdded(
            turn_id=turn.turn_id,
            message_id=message_id,
            text=said,
            origin=origin,
            client_message_id=client_message_id,
        )
    ]


def read_notes(
    state: WorkshopState, turn_id: TurnId, message_ids: Sequence[MessageId]
) -> list[Fact]:
    """Say that notes go to the model now (W27.2)."""
    turn = running(state, turn_id)
    fresh = {one.message_id for one in turn.notes if not one.is_read}
    found = tuple(one for one in message_ids if one in fresh)
    return [ev.NotesRead(turn_id=turn_id, message_ids=found)] if found else []
