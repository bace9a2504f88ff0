"""What the person says, as it is appended: messages, requests for changes, notes (W5.2, W24)."""

from __future__ import annotations

from backshop.bench import ChangeInfo, CommentInfo

from . import requests
from .answers import Sent
from .change_request import composed
from .conversation import decide
from .conversation.repository import Conversations, Rule
from .conversation.state import WorkshopState
from .turn.service import Turns

LEFT_TOLD = 20  # changes of one file that were left out, told one by one


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
    is_question = request.mode == "ask"
    wanted = () if is_question and request.comment_ids is None else request.comment_ids
    brought_up = comments_of(book, known, wanted)
    notes = tuple(brought_up.values())
    if (request.text.strip() or notes) and not is_question:
        notes = (*notes, *_left_out(book, known))
    text, kept = composed(request.text, notes)
    wish = _wish(book, request, text, tuple(brought_up)[:kept])
    revision = book.desk.new_revision()
    return _appended(
        book, turns, request, wish, lambda now: decide.request_changes(now, wish, revision)
    )


def add_note(book: Conversations, turns: Turns, request: requests.AddNote) -> Sent:
    """Append a note to the turn that runs, wherever it runs (W27.1)."""
    turns.settled(request.workbench_id)
    own = book.new_message()
    told = book.commit(
        request.workbench_id,
        lambda now: decide.add_note(
            now,
            request.text,
            own,
            origin=request.origin,
            client_message_id=request.client_message_id,
            turn_id=request.turn_id,
        ),
    )
    first = decide.repeated(told.state, request.client_message_id)
    return Sent(message_id=first or own, warnings=told.warnings)


def comments_of(
    book: Conversations, known: WorkshopState, comment_ids: tuple[str, ...] | None
) -> dict[str, str]:
    """Return the comments a request brings up: id → its line; without ids every open one.

    Raises:
        NotFound: there is no Draft, or no such comment.
    """
    told = book.bench.discussion.told(*decide.brought_up(known, comment_ids))
    return {one.comment_id: _line(one) for one in told}


def _left_out(book: Conversations, known: WorkshopState) -> list[str]:
    """Return a line for each file of which the person left changes out, so that they stay out."""
    draft, _ = decide.brought_up(known, ())
    lines = []
    for path, units in book.bench.selections.left(draft).items():
        told = [_sides(one) for one in units[:LEFT_TOLD]]
        more = [f"and {len(units) - LEFT_TOLD} more"] if len(units) > LEFT_TOLD else []
        lines.append(f"Left out on purpose, not to be put back in {path}: {'; '.join(told + more)}")
    return lines


def _sides(one: ChangeInfo) -> str:
    shown = [f"“{side}”" for side in (one.before, one.after) if side is not None]
    return f"{one.label} ({' → '.join(shown)})" if shown else one.label


def _line(one: CommentInfo) -> str:
    """Return a comment as a message brings it up: where, what stood there, what was said."""
    place = one.made_at_place if one.place_text is None else one.place_text
    where = f"{one.path}, {place}" if place else one.path
    told = ["brought up before"] if one.asked else []
    told += ["this place is gone since"] if one.is_gone else []
    told += ["changed since"] if one.is_touched and not one.is_gone else []
    if one.quote:
        told.append(f"it read “{one.quote}”" if one.is_touched else f"“{one.quote}”")
    about = f" ({'; '.join(told)})" if told else ""
    answers = [f"{'Agent' if a.is_agent else 'Person'}: {a.text}" for a in one.answers]
    return "\n".join([f"Comment {one.number} on {where}{about}: {one.text}", *answers])


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
        book.bench.folder_refresh(request.workbench_id)
    told = book.commit(request.workbench_id, rule)
    first = decide.repeated(told.state, request.client_message_id)
    return Sent(message_id=first or wish.message_id, warnings=told.warnings)
