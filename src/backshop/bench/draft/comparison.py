"""Two states of Drafts side by side, such as those that two answers made (W24.9)."""

from __future__ import annotations

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import RevisionId, TreeId, check_id

from .. import answers, decide, requests
from ..errors import RevisionGone
from ..repository import BenchRepository
from ..review import change_set
from ..state import BenchState
from .publish import changed_file


def compare(desk: BenchRepository, request: requests.DraftCompareRevisions) -> answers.Compared:
    """Say what differs between two revisions, or between one and the Draft as it is now."""
    if not 1 <= request.limit <= change_set.PAGE_MAX:
        raise ValidationFailed("a page has 1 to 5000 entries", reason="bad_params")
    before, after = two_trees(desk, request)
    found = desk.compare.changes(before, after)
    start = change_set.offset_of(request.cursor)
    end = start + request.limit
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
        RevisionGone: what it held is not kept any more.
    """
    state = desk.state(request.workbench_id)
    before = _tree(state, request.revision_id)
    if request.other_id is None:
        return before, decide.require_draft(state).tree
    return before, _tree(state, request.other_id)


def _tree(state: BenchState, raw: str) -> TreeId:
    found = state.revision(RevisionId(check_id(raw, "rev")))
    if found is not None and found.is_pruned:
        raise RevisionGone("this revision is not kept any more", reason="revision_pruned")
    if found is None or found.tree is None:
        raise NotFound("there is no such revision of a Draft", reason="not_found")
    return found.tree
