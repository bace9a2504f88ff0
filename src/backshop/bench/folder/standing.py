"""How a followed folder and its bench stand to each other: what is to be written, what others did.

Neither is stored: the one is the difference between what the folder is known to hold and
Published, the other between that and what is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backshop.base import tree
from backshop.base.errors import BackshopError
from backshop.base.ids import BenchId, TreeId
from backshop.base.paths import BenchPath
from backshop.store import file_error

from .. import decide, requests
from ..answers import FolderConflicted, FolderOutside, FolderSkipped, FolderState
from ..repository import BenchRepository
from ..state import BenchState, FolderLink
from . import index, scan
from .ignore import ignores_above
from .root import FolderAway, Root, opened_root
from .scan import Look, Outside

LISTED = 1_000  # paths that one answer names of each kind


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found in the folder."""

    outside: tuple[Outside, ...]
    skipped: Mapping[str, str]
    is_empty: bool
    """Whether nothing is there of what is known to be."""


def pending(desk: BenchRepository, state: BenchState) -> list[tree.Change]:
    """Return what Published has otherwise than the folder, as far as is known."""
    return lacking(desk, decide.require_folder(state), state.published)


def lacking(desk: BenchRepository, link: FolderLink, wanted: TreeId) -> list[tree.Change]:
    """Return what a tree has otherwise than the folder, and may be written there."""
    found = tree.diff(link.tree, wanted, desk.store.load_tree)
    return [one for one in found if not scan.is_kept_out(one.path)]


def kept_out(desk: BenchRepository, state: BenchState) -> list[BenchPath]:
    """Return what is Published and never written into the folder (B23.2)."""
    link = decide.require_folder(state)
    found = tree.diff(link.tree, state.published, desk.store.load_tree)
    return [one.path for one in found if scan.is_kept_out(one.path)]


def look(desk: BenchRepository, state: BenchState) -> Seen:
    """Look at the folder; only files that were touched are read.

    Raises:
        FolderAway: it cannot be looked at.
        LimitExceeded: there is more in it than the bench takes.
    """
    link = decide.require_folder(state)
    with opened_root(link.folder, link.inode) as root:
        return seen(desk, state, link, root)


def seen(desk: BenchRepository, state: BenchState, link: FolderLink, root: Root) -> Seen:
    """Look at an open folder."""
    place = index_place(desk, state.id)
    began_ns, expected = scan.now_ns(), desk.entries(link.tree)
    known = index.load(place, link.folder)
    walk = scan.Scan(state.limits, ignores_above(Path(link.folder)), expected, known)
    try:
        found = walk.look(root)
    except OSError as error:
        raise file_error(error) from error
    is_news = found.reads > 0 or len(found.prints) != len(known.files)
    if is_news and not desk.store.is_read_only:
        index.save(place, link.folder, scan.looked_up(found, began_ns))
    differing = tuple(scan.outside(expected, found))
    return Seen(differing, found.skipped, bool(expected) and _is_empty(found, expected))


def _is_empty(found: Look, expected: Mapping[BenchPath, tree.File]) -> bool:
    return not any(path in found.files or found.why_not(path) for path in expected)


def index_place(desk: BenchRepository, bench_id: BenchId) -> Path:
    """Return where it is kept what the folder's files looked like."""
    return desk.views.meta(bench_id) / "folder.json"


def get_state(desk: BenchRepository, request: requests.BenchRequest) -> FolderState:
    """Say how the folder and the bench stand to each other."""
    state = desk.state(request.workbench_id)
    return told(desk, state)


def told(desk: BenchRepository, state: BenchState, known: Seen | None = None) -> FolderState:
    """Say how things stand; a folder that cannot be looked at is told, not refused.

    `known` is what was found in it this moment.
    """
    link = decide.require_folder(state)
    waiting = [one.path for one in pending(desk, state)]
    conflicts = [one for path, one in sorted(link.conflicts.items()) if path in set(waiting)]
    names = {one.path for one in conflicts}
    to_write = [path for path in waiting if path not in names]
    try:
        found = known or look(desk, state)
        reason = "emptied" if found.is_empty else None
    except FolderAway as error:
        found, reason = Seen((), {}, False), (error.reason or "").removeprefix("folder_")
    except BackshopError as error:  # more in it than the bench takes, or it cannot be listed
        found, reason = Seen((), {}, False), error.reason
    outside = [one for one in found.outside if one.path not in names]
    skipped = dict(found.skipped)
    skipped |= {str(path): "version_store" for path in kept_out(desk, state)}
    is_there = reason not in ("gone", "replaced", "not_a_folder", "unreadable")
    return FolderState(
        folder=link.folder,
        name=Path(link.folder).name,
        is_there=is_there,
        reason=reason,
        in_step=reason is None and not (to_write or conflicts or outside),
        is_writing=bool(link.aims) and link.aims[-1] == state.published,
        to_write=tuple(to_write[:LISTED]),
        to_write_count=len(to_write),
        conflicts=tuple(_conflicted(desk, state, link, one.path, one.became) for one in conflicts),
        outside=tuple(_told(one) for one in outside[:LISTED]),
        outside_count=len(outside),
        skipped=tuple(
            FolderSkipped(path=path, reason=why) for path, why in sorted(skipped.items())[:LISTED]
        ),
        skipped_count=len(skipped),
    )


def _conflicted(
    desk: BenchRepository, state: BenchState, link: FolderLink, path: BenchPath, became: str
) -> FolderConflicted:
    load = desk.store.load_tree
    theirs = tree.lookup(link.theirs, path, load)
    ours = tree.lookup(state.published, path, load)
    return FolderConflicted(
        path=path,
        became=became,
        theirs_sha256=theirs.sha256 if theirs else None,
        ours_sha256=ours.sha256 if ours else None,
    )


def _told(one: Outside) -> FolderOutside:
    if one.reason is not None:
        return FolderOutside(path=one.path, kind="UNREADABLE", reason=one.reason)
    if one.expected is None:
        return FolderOutside(path=one.path, kind="ADDED")
    return FolderOutside(path=one.path, kind="DELETED" if one.found is None else "MODIFIED")
