"""Two states of Drafts side by side, such as those that two answers made (W24.9)."""

from __future__ import annotations

from collections.abc import Callable

from backshop.base.errors import NotFound, RevisionPruned, ValidationFailed
from backshop.base.ids import RevisionId, TreeId, check_id

from .. import answers, decide, requests
from ..repository import BenchRepository
from ..review import change_set
from ..state import BenchState
from .publish import changed_file


def compare(desk: BenchRepository, request: requests.DraftCompareRevisions) -> answers.Compared:
    """Say what differs between two revisions, or between one and the Draft as it is now."""
    return page(desk, lambda: two_trees(desk, request), request.limit, request.cursor)


def page(
    desk: BenchRepository,
    trees: Callable[[], tuple[TreeId, TreeId]],
    limit: int,
    cursor: str | None,
) -> answers.Compared:
    """Return a page of what differs between two trees."""
    if not 1 <= limit <= change_set.PAGE_MAX:
        raise ValidationFailed("a page has 1 to 5000 entries", reason="bad_params")
    found = desk.compare.changes(*trees())
    start = change_set.offset_of(cursor)
    end = start + limit
    return answers.Compared(
        entries=tuple(changed_file(change) for change in found[start:end]),
        counts=change_set.counts(found),
        total=len(found),
        next_cursor=str(end) if end < len(found) else None,
    )


def two_trees(desk: BenchRepository, request: requests.RevisionPair) -> tuple[TreeId, TreeId]:
    """Return what two revisions hold; without another one, what the Draft holds.

    Raises:
        NotFound: there is no such revision, or no Draft.
        RevisionPruned: what it held is not kept any more.
    """
    state = desk.state(request.workbench_id)
    before = _tree(state, request.revision_id)
    if request.other_id is None:
        return before, decide.require_draft(state).tree
    return before, _tree(state, request.other_id)


def _tree(state: BenchState, raw: str) -> TreeId:
    found = state.revision(RevisionId(check_id(raw, "rev")))
    if found is not None and found.is_pruned:
        raise RevisionPruned("this revision is not kept any more", reason="revision_pruned")
    if found is None or found.tree is None:
        raise NotFound("there is no such revision of a Draft", reason="not_found")
    return found.tree
