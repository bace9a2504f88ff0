"""`review_draft`: what the Draft changes, for an agent that wants to check its own work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backshop.base.codec import encode
from backshop.bench import requests
from backshop.bench.review import view_request
from backshop.formats import in_cells
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import described
from .workspace import Workspace, answered

NOTHING = {
    "entries": [],
    "counts": {},
    "reference_source": "published",
    "note": "Nothing is drafted: there is no Draft, and every file is as it was published.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDraft:
    """Arguments of review_draft."""

    path: str | None = None
    cursor: str | None = field(default=None, metadata=described("cursor of before"))


def _review(params: ReviewDraft, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    if room.state().draft is None:
        return ToolResult(ok=True, message="", value=NOTHING)

    def work() -> object:
        if params.path is None:
            listed = requests.ReviewGetChangeSet(
                workbench_id=room.bench_id, limit=200, cursor=params.cursor
            )
            return _named(encode(room.bench.review_get_change_set(listed)))
        one = view_request.ReviewPath(
            workbench_id=room.bench_id, path=room.path(params.path)[0], cursor=params.cursor
        )
        return _named(encode(room.bench.differ.diff(one)))

    return answered(work)


def _named(value: Any) -> Any:
    """Return an answer with cells by their names; viewers count them from 0 (F44.5)."""
    if isinstance(value, list | tuple):
        return [_named(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return in_cells({name: _named(one) for name, one in value.items()})


REVIEW_DRAFT = Tool(
    "review_draft",
    "Show what the Draft changes: all files, or the difference of one (cells, rows or lines, with "
    "how many there are in all; cursor goes on). `requests` is what the person wants changed in it "
    "and nobody took up (`request` the newest); `written_since` what was written after "
    "it. Read-only; publishing is the person's.",
    ReviewDraft,
    _review,
    effects="read",
)
