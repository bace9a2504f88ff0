"""What a step back changes in the folder a person looks at: listed before, proved after (B9.15)."""

from __future__ import annotations

from backshop.base import tree
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath

from ..answers import ChangedFile
from ..folder import standing
from ..folder.scan import is_kept_out
from ..repository import BenchRepository
from ..state import BenchState
from ..tree.difference import Change
from ..tree.soundness import UNREADABLE
from .publish import changed_file


def files_moved(
    desk: BenchRepository, before: BenchState, after: BenchState
) -> tuple[ChangedFile, ...]:
    """Return the files that are others in a state that is not there yet."""
    return tuple(changed_file(change) for change in _changes(desk, before, after))


def files_proved(
    desk: BenchRepository, before: BenchState, after: BenchState
) -> tuple[ChangedFile, ...]:
    """Return the files that are others now, each read back from its folder."""
    try:
        found = _changes(desk, before, after)
    except UNREADABLE:
        return ()  # going back stands; what is left there lacks its list of files (B3.11)
    is_published = before.published != after.published or after.draft is None
    proofs = desk.views.proofs(after, found, "published" if is_published else "draft")
    return tuple(changed_file(change, proofs) for change in found)


def files_behind(desk: BenchRepository, state: BenchState, published: TreeId | None = None) -> int:
    """Return how many files the followed folder has otherwise than Published, or a tree (B23.19).

    Nothing is looked at for it; what others did there is not counted.
    """
    if state.folder is None:
        return 0
    wanted = state.published if published is None else published
    return len(standing.lacking(desk, state.folder, wanted))


def files_behind_with(
    desk: BenchRepository, state: BenchState, path: BenchPath, file: tree.File
) -> int:
    """Return how many files the folder would have otherwise if Published had this one."""
    link = state.folder
    if link is None:
        return 0
    now = {one.path for one in standing.lacking(desk, link, state.published)} - {path}
    theirs = tree.lookup(link.tree, path, desk.store.load_tree)
    return len(now) + (theirs != file and not is_kept_out(path))


def _changes(desk: BenchRepository, before: BenchState, after: BenchState) -> tuple[Change, ...]:
    """Compare Published where it is another one, else what the Draft shows in its place."""
    if before.published != after.published:
        return desk.compare.against(before.published, after.published)
    return desk.compare.against(_shown(before), _shown(after))


def _shown(state: BenchState) -> TreeId:
    return state.published if state.draft is None else state.draft.tree
