"""`list_comments` and `answer_comment`: what people remark on the Draft, for an agent (B24.5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from backshop.base.codec import encode
from backshop.bench import decide, requests
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import described
from .workspace import Workspace, answered

SAID = "answered; only a person resolves a comment"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListComments:
    """Arguments of list_comments."""

    path: str | None = None
    all: bool = field(default=False, metadata=described("resolved ones too"))
    cursor: str | None = field(default=None, metadata=described("cursor of before"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerComment:
    """Arguments of answer_comment."""

    number: int = field(metadata=described("of list_comments"))
    text: str


def _list(params: ListComments, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def work() -> object:
        if room.state().draft is None:  # nothing to remark on: no error for who looks for work
            return {"comments": [], "total": 0, "open_count": 0}
        wish = requests.ReviewListComments(
            workbench_id=room.bench_id,
            path=None if params.path is None else room.path(params.path)[0],
            state="all" if params.all else "open",
            limit=100,
            cursor=params.cursor,
        )
        return encode(room.bench.discussion.page(wish))

    return answered(work)


def _answer(params: AnswerComment, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def work() -> object:
        draft = decide.require_draft(room.state())
        one = decide.require_numbered(draft, params.number)
        wish = requests.ReviewAnswerComment(
            workbench_id=room.bench_id, comment_id=one.comment_id, text=params.text
        )
        room.bench.discussion.answer(wish, room.author.actor)
        return {"number": one.number, "is_resolved": one.is_resolved}

    return answered(work, SAID)


LIST_COMMENTS = Tool(
    "list_comments",
    "What people remarked on the Draft: file, place as it is now, whether it was touched since or "
    "is gone, text, answers. Open ones unless all is set.",
    ListComments,
    _list,
    effects="read",
)
ANSWER_COMMENT = Tool(
    "answer_comment",
    "Say in a sentence what you did about a comment, or why not. Only a person resolves it.",
    AnswerComment,
    _answer,
    effects="state",
)
COMMENT_TOOLS = (LIST_COMMENTS, ANSWER_COMMENT)
