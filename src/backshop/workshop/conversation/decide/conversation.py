"""Rules about what is said: sending, switching the model, notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backshop.base.errors import LimitExceeded, NotFound, ValidationFailed
from backshop.base.field_copy import made_from
from backshop.base.ids import DraftId, MessageId, RevisionId
from backshop.bench import decide as bench_decide
from backshop.bench.comment import Comment
from backshop.bench.events import BenchEvent, HeadMoved
from backshop.bench.revision import Draft
from backshop.workshop.conversation import events as ev
from backshop.workshop.conversation.state import Record, WorkshopState
from backshop.workshop.errors import DraftInTheWay, TurnActive

MESSAGE_MAX_BYTES = 100 * 1024  # W5.2
CLIENT_ID_MAX_CHARS = 200
TURN_MODES = ("agent", "ask")
FLOWS = ("auto", "rpi", "compat")
ORIGINS = ("web", "cli", "rpc", "mcp")

Fact = BenchEvent | ev.WorkshopEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A message the person wants to send."""

    message_id: MessageId
    text: str
    mode: str = "agent"
    origin: str = "rpc"
    client_message_id: str | None = None
    session_seq: int = 0
    comment_ids: tuple[str, ...] = ()


def require_started(state: WorkshopState) -> None:
    """Refuse when the bench was never made or lies in the trash."""
    bench_decide.require_exists(state.bench)


def require_idle(state: WorkshopState) -> None:
    """Refuse while a turn runs (B7.6)."""
    require_started(state)
    if state.running is not None:
        raise TurnActive("the agent is at work here", reason="turn_active")


def require_no_draft(state: WorkshopState) -> None:
    """Refuse while a Draft waits for review (B7.6)."""
    if state.bench.draft is not None:
        raise DraftInTheWay("a Draft is waiting for review", reason="draft_exists")


def require_its_draft(state: WorkshopState, record: Record) -> None:
    """Refuse to answer a message while a Draft waits that it is not about, or without its own.

    A message about the Draft is answered on that Draft, for as long as it is there (W24.3).
    """
    draft = state.bench.draft
    if draft is not None and not draft.is_asked_by(record.message_id):
        raise DraftInTheWay("a Draft is waiting for review", reason="draft_exists")
    if draft is None and record.is_on_draft:
        raise NotFound("the Draft that this message is about is gone", reason="no_draft")


def repeated(state: WorkshopState, client_message_id: str | None) -> MessageId | None:
    """Return the message that was sent under this client's id before (W3.1)."""
    return None if client_message_id is None else state.sent.get(client_message_id)


def send(state: WorkshopState, wish: Send) -> list[Fact]:
    """Append the person's message (W5.2)."""
    return _said(state, wish, None)


def request_changes(state: WorkshopState, wish: Send, revision_id: RevisionId) -> list[Fact]:
    """Append a message about the Draft, and let the Draft know what was looked at (W24.1)."""
    return _said(state, wish, revision_id)


def _said(state: WorkshopState, wish: Send, revision_id: RevisionId | None) -> list[Fact]:
    """Append a message; with a revision it is about the Draft."""
    require_started(state)
    if repeated(state, wish.client_message_id) is not None:
        return []
    text = _text(wish)
    require_idle(state)
    moved = HeadMoved(message_id=wish.message_id)
    if revision_id is None:
        require_no_draft(state)
        return [made_from(ev.MessageSent, wish, text=text), moved]
    asked = bench_decide.ask_for_changes(
        state.bench,
        wish.message_id,
        revision_id,
        wish.comment_ids,
        is_question=wish.mode == "ask",
    )
    assert state.bench.draft is not None
    return [
        made_from(ev.MessageSent, wish, text=text, on_draft=state.bench.draft.tree),
        moved,
        *asked,
    ]


def brought_up(
    state: WorkshopState, comment_ids: Sequence[str] | None
) -> tuple[Draft, list[Comment]]:
    """Return the Draft and the comments a request for its changes is about; all open ones."""
    draft = bench_decide.require_draft(state.bench)
    if comment_ids is None:
        return draft, [one for one in draft.comments.all() if not one.is_resolved]
    return draft, [bench_decide.require_comment(state.bench, one) for one in comment_ids]


def _text(wish: Send) -> str:
    """Return the text of a message, or refuse what cannot be one."""
    text = wish.text.rstrip()
    size = whole_bytes(text)
    if size > MESSAGE_MAX_BYTES:
        raise LimitExceeded(
            f"the message has {size} bytes, at most {MESSAGE_MAX_BYTES} are taken",
            reason="message_too_long",
        )
    _one_of("mode", wish.mode, TURN_MODES)
    require_sender(wish.origin, wish.client_message_id)
    return text


def whole_bytes(text: str) -> int:
    """Return how long something said is, or refuse what says nothing or is no text."""
    if not text.strip():
        raise ValidationFailed("the message is empty", reason="empty_message")
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise ValidationFailed("the message is not whole text", reason="bad_params") from error


def require_sender(origin: str, client_message_id: str | None) -> None:
    """Refuse a door that is none, and an id of a client that cannot be one."""
    _one_of("origin", origin, ORIGINS)
    if client_message_id is not None and not (0 < len(client_message_id) <= CLIENT_ID_MAX_CHARS):
        raise ValidationFailed("client_message_id has 1 to 200 characters", reason="bad_params")


def switch_model(
    state: WorkshopState, model_id: str, before: str | None, message_id: MessageId
) -> list[Fact]:
    """Choose the model that answers next; its record waits for the end of a turn (W16.1).

    `before` is the model that would have answered.
    """
    require_started(state)
    if model_id == before:
        return [] if state.model_id is not None else [ev.ModelSwitched(to_model_id=model_id)]
    if state.running is not None:
        return [ev.ModelSwitched(to_model_id=model_id, from_model_id=before)]
    return [
        ev.ModelSwitched(to_model_id=model_id, from_model_id=before, message_id=message_id),
        HeadMoved(message_id=message_id),
    ]


def set_default_model(state: WorkshopState, model_id: str) -> list[Fact]:
    """Choose the model that answers where nobody switched to one (M2.1)."""
    require_started(state)
    return [] if model_id == state.default_model_id else [ev.DefaultModelSet(model_id=model_id)]


def set_flow(state: WorkshopState, flow: str) -> list[Fact]:
    """Choose how turns are executed (W1.4)."""
    require_started(state)
    _one_of("flow", flow, FLOWS)
    return [] if flow == state.flow else [ev.FlowSet(flow=flow)]


def flow_named(flow: str | None) -> str | None:
    """Return a flow somebody asks for, None where they leave it open.

    Raises:
        ValidationFailed: there is no such flow.
    """
    if flow is not None:
        _one_of("flow", flow, FLOWS)
    return flow


def dismiss(state: WorkshopState, draft_id: str, reminder: str) -> list[Fact]:
    """Hide the reminder of a Draft for a while (B7.9)."""
    require_started(state)
    draft = state.bench.draft
    if draft is None or draft.draft_id != draft_id:
        raise NotFound("there is no such Draft", reason="not_found")
    if reminder == "none":
        return []
    return [ev.ReminderDismissed(draft_id=DraftId(draft_id), reminder=reminder)]


def notice(state: WorkshopState, fact: ev.Noticed) -> list[Fact]:
    """Tell the person something once (W6.12)."""
    return [] if fact.key in state.notices else [fact]


def compress(state: WorkshopState, fact: ev.Compressed) -> list[Fact]:
    """Record that older messages are told in short from now on (M14.2)."""
    require_started(state)
    return [fact]


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValidationFailed(f"{name} is one of {', '.join(allowed)}", reason="bad_params")
