"""`review_draft`: what the Draft changes, for an agent that wants to check its own work."""

from __future__ import annotations

from dataclasses import dataclass, field

from backshop.base.codec import encode
from backshop.bench import requests
from backshop.bench.review import view_request
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import described
from .workspace import Workspace, answered


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDraft:
    """Arguments of review_draft."""

    path: str | None = None
    cursor: str | None = field(default=None, metadata=described("cursor of before"))


def _review(params: ReviewDraft, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def work() -> object:
        if params.path is None:
            listed = requests.ReviewGetChangeSet(
                workbench_id=room.bench_id, limit=200, cursor=params.cursor
            )
            return encode(room.bench.review_get_change_set(listed))
        one = view_request.ReviewPath(
            workbench_id=room.bench_id, path=room.path(params.path)[0], cursor=params.cursor
        )
        return encode(room.bench.differ.diff(one))

    return answered(work)


REVIEW_DRAFT = Tool(
    "review_draft",
    "Show what the Draft changes: all files, or the difference of one (cells, rows or lines, with "
    "how many there are in all; cursor goes on). `request` is what the person wants changed in it "
    "and nobody took up. Read-only; publishing is the person's.",
    ReviewDraft,
    _review,
    effects="read",
)
