"""Rules about comments on the Draft: made, answered, resolved, withdrawn (B24)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.base.errors import AccessDenied, LimitExceeded, NotFound, ValidationFailed
from backshop.base.ids import CommentId, TreeId
from backshop.base.limits import COMMENT_ANSWERS_MAX, COMMENT_MAX_CHARS, COMMENTS_MAX
from backshop.base.paths import BenchPath
from backshop.base.place import Place
from backshop.bench import events
from backshop.bench.comment import Comment
from backshop.bench.revision import Draft
from backshop.bench.state import BenchState

from . import refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentWish:
    """A remark somebody wants to make on a place of the Draft."""

    comment_id: CommentId
    path: BenchPath
    place: Place
    tree: TreeId
    text: str
    quote: str | None = None


def comment_text(text: str) -> str:
    """Return what somebody says in a comment or an answer, or refuse it."""
    said = text.strip()
    if not said:
        raise ValidationFailed("the comment is empty", reason="empty_comment")
    if len(said) > COMMENT_MAX_CHARS:
        raise LimitExceeded(
            f"the comment has {len(said)} characters, at most {COMMENT_MAX_CHARS} are taken",
            reason="comment_too_long",
        )
    try:
        said.encode()
    except UnicodeEncodeError as error:
        raise ValidationFailed("the comment is not whole text", reason="bad_params") from error
    return said


def require_comment(state: BenchState, comment_id: str) -> Comment:
    """Return a comment of the Draft, or refuse."""
    found = refuse.require_draft(state).comments.find(comment_id)
    if found is None:
        raise NotFound("the Draft has no such comment", reason="comment_not_found")
    return found


def require_numbered(draft: Draft, number: int) -> Comment:
    """Return the comment that people call by a number, or refuse."""
    found = next((one for one in draft.comments.all() if one.number == number), None)
    if found is None:
        raise NotFound(f"the Draft has no comment {number}", reason="comment_not_found")
    return found


def add_comment(state: BenchState, wish: CommentWish) -> list[events.BenchEvent]:
    """Remark on a place of the Draft as it was looked at; it may have gone on since (B24.1)."""
    draft = refuse.require_draft(state)
    if len(draft.comments) >= COMMENTS_MAX:
        raise LimitExceeded(
            f"a Draft has at most {COMMENTS_MAX} comments", reason="too_many_comments"
        )
    return [
        events.CommentAdded(
            draft_id=draft.draft_id,
            comment_id=wish.comment_id,
            path=wish.path,
            place=wish.place,
            tree=wish.tree,
            text=comment_text(wish.text),
            quote=wish.quote,
        )
    ]


def answer_comment(
    state: BenchState, comment_id: str, text: str, actor: str = "user"
) -> list[events.BenchEvent]:
    """Say something under a comment; an agent may too, and resolves nothing by it (B24.5)."""
    found = require_comment(state, comment_id)
    if len(found.answers) >= COMMENT_ANSWERS_MAX:
        raise LimitExceeded(
            f"a comment has at most {COMMENT_ANSWERS_MAX} answers", reason="too_many_comments"
        )
    return [
        events.CommentAnswered(
            draft_id=refuse.require_draft(state).draft_id,
            comment_id=found.comment_id,
            text=comment_text(text),
            actor=actor,
        )
    ]


def resolve_comment(state: BenchState, comment_id: str, resolved: bool) -> list[events.BenchEvent]:
    """Call a comment done, or open again; nothing where that is so already (B24.6)."""
    found = require_comment(state, comment_id)
    if found.is_resolved == resolved:
        return []
    return [
        events.CommentResolved(
            draft_id=refuse.require_draft(state).draft_id,
            comment_id=found.comment_id,
            resolved=resolved,
        )
    ]


def withdraw_comment(
    state: BenchState, comment_id: str, person: str | None
) -> list[events.BenchEvent]:
    """Take a comment back: whoever made it may, where that is known (B24.7)."""
    found = require_comment(state, comment_id)
    maker = None if found.by is None else found.by.person
    if maker is not None and person is not None and maker != person:
        raise AccessDenied("only who made a comment takes it back", reason="role")
    return [
        events.CommentWithdrawn(
            draft_id=refuse.require_draft(state).draft_id, comment_id=found.comment_id
        )
    ]
