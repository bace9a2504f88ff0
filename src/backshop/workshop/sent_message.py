"""Messages of the person as they are appended: plain ones, and requests for changes (W5.2, W24)."""

from __future__ import annotations

from backshop.base.errors import NotFound

from . import requests
from .answers import Sent
from .change_request import composed
from .conversation import decide
from .conversation.repository import Conversations, Rule
from .conversation.state import WorkshopState
from .turn.service import Turns


def send(
    book: Conversations, turns: Turns, request: requests.SendUserMessage, *, may_talk: bool = False
) -> Sent:
    """Append a message; while a Draft waits one about it, where that is wanted (W24.8)."""
    wish, revision = _wish(book, request, request.text), book.desk.new_revision()

    def rule(now: WorkshopState) -> list[decide.Fact]:
        if may_talk and now.bench.draft is not None:
            return decide.request_changes(now, wish, revision)
        return decide.send(now, wish)

    return _appended(book, turns, request, wish, rule)


def request_changes(book: Conversations, turns: Turns, request: requests.RequestChanges) -> Sent:
    """Append what the person wants changed in the Draft: a sentence and comments (W24.1)."""
    known = book.state(request.workbench_id)
    brought_up = comments_of(known, request.comment_ids)
    wish = _wish(
        book, request, composed(request.text, tuple(brought_up.values())), tuple(brought_up)
    )
    revision = book.desk.new_revision()
    return _appended(
        book, turns, request, wish, lambda now: decide.request_changes(now, wish, revision)
    )


def comments_of(known: WorkshopState, comment_ids: tuple[str, ...] | None) -> dict[str, str]:
    """Return the comments a request brings up: id → its line; without ids every open one.

    Raises:
        NotFound: there is no such comment.
    """
    if comment_ids:
        raise NotFound("there is no such comment", reason="not_found", detail=comment_ids[0])
    return {}


def _wish(
    book: Conversations,
    request: requests.SendUserMessage | requests.RequestChanges,
    text: str,
    comment_ids: tuple[str, ...] = (),
) -> decide.Send:
    return decide.Send(
        message_id=book.new_message(),
        text=text,
        mode=request.mode,
        origin=request.origin,
        client_message_id=request.client_message_id,
        session_seq=book.session_seq(request.workbench_id),
        comment_ids=comment_ids,
    )


def _appended(
    book: Conversations,
    turns: Turns,
    request: requests.SendUserMessage | requests.RequestChanges,
    wish: decide.Send,
    rule: Rule,
) -> Sent:
    """Append a message once: the same client's id again gives the record of the first time."""
    known = turns.settled(request.workbench_id)
    if decide.repeated(known, request.client_message_id) is None:
        book.require_quiet(request.workbench_id)
    told = book.commit(request.workbench_id, rule)
    first = decide.repeated(told.state, request.client_message_id)
    return Sent(message_id=first or wish.message_id, warnings=told.warnings)
