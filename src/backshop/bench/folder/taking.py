"""What others did in a followed folder becomes Published: asked for, or without a Draft by itself.

A checkpoint is kept first, as with every edit that is taken over (B9.5).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from backshop.base import tree
from backshop.base.errors import BackshopError, LimitExceeded, NotFound, ValidationFailed
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath, bench_path
from backshop.base.system import open_folder
from backshop.store import Batch

from .. import decide, requests
from ..answers import FolderTook
from ..errors import SourceUnreadable
from ..events import FolderTaken
from ..files.source import mode_of
from ..files.takeover import kept_before, taken_over
from ..repository import BenchRepository, Committed, stream_of
from ..retry import decided_again
from ..state import BenchState
from . import standing
from .root import Root, disk_name, opened_root
from .scan import Outside

Files = Mapping[BenchPath, tree.File | None]


@decided_again
def take(desk: BenchRepository, request: requests.FolderTake) -> FolderTook:
    """Take what others did in the folder into Published: all of it, or these paths."""
    chosen = None if request.paths is None else {bench_path(path) for path in request.paths}
    with desk.locked(request.workbench_id) as state:
        link = decide.require_folder(state)
        with opened_root(link.folder, link.inode) as root:
            found = standing.seen(desk, state, link, root)
            outside = [one for one in found.outside if chosen is None or one.path in chosen]
            _require(found, outside, chosen)
            done = taken(desk, root, state, [one.path for one in outside if one.reason is None])
    return FolderTook(
        taken=tuple(one.path for one in outside if one.reason is None),
        published_generation=done.state.generation,
        warnings=done.warnings,
    )


def _require(
    found: standing.Seen, outside: Sequence[Outside], chosen: Collection[BenchPath] | None
) -> None:
    if chosen is None and found.is_empty:
        raise ValidationFailed("nothing that is known is in the folder", reason="folder_emptied")
    strange = sorted(set(chosen or ()) - {one.path for one in outside})
    if strange:
        raise NotFound(
            "nobody changed this path in the folder", reason="not_found", detail=strange[0]
        )
    unread = [one for one in outside if chosen is not None and one.reason is not None]
    if unread:
        raise SourceUnreadable(
            "a file of the folder cannot be taken", reason=unread[0].reason, detail=unread[0].path
        )


def refreshed(desk: BenchRepository, state: BenchState) -> tuple[BenchState, standing.Seen | None]:
    """Take in what others did, where nothing stands against it; for those who hold the bench.

    What waits to be written, or for a decision, stays as it is. So does everything while a Draft
    waits or an agent is at work, or when nothing of the folder is there any more: a disk that is
    not mounted is no wish to delete. A folder that cannot be taken in is told by its state.
    Returns what was found too, if it is so still.
    """
    link = state.folder
    is_busy = desk.store.leases.holder(stream_of(state.id)) is not None
    if link is None or state.draft is not None or is_busy or desk.store.is_read_only:
        return state, None
    with suppress(BackshopError), opened_root(link.folder, link.inode) as root:
        found = standing.seen(desk, state, link, root)
        held = {one.path for one in standing.pending(desk, state)} | set(link.conflicts)
        free = [one for one in found.outside if one.reason is None and one.path not in held]
        if free and not found.is_empty:
            done = taken(desk, root, state, [one.path for one in free], actor="system")
            return done.state, None
        return state, found
    return state, None


def taken(
    desk: BenchRepository,
    root: Root,
    state: BenchState,
    wanted: Sequence[BenchPath],
    *,
    actor: str = "user",
) -> Committed:
    """Make files of the folder Published; what is no file any more stays out of it."""
    files = read(desk, root, state, wanted)
    if not files:
        return Committed(state)
    wish, blobs = wished(desk, state, files, actor)
    return desk.commit(
        state.id, lambda now: decide.take(decide.unmoved(now, state), wish), blobs=blobs
    )


def wished(
    desk: BenchRepository, state: BenchState, files: Files, actor: str
) -> tuple[decide.TakeWish, tuple[bytes, ...]]:
    """Return what taking files means, and the tree objects it needs."""
    built, facts, removed = taken_over(desk, state, differing(desk, state, files))
    known = known_with(desk, state, files, actor)
    wish = decide.TakeWish(
        published=built.id,
        files=facts,
        removed=removed,
        checkpoint=kept_before(desk, state),
        taken=known.fact,
    )
    return wish, tuple({**built.nodes, **known.nodes}.values())


def differing(
    desk: BenchRepository, state: BenchState, files: Files
) -> dict[BenchPath, tree.File | None]:
    """Return what changes in Published when files of the folder are taken over."""
    load = desk.store.load_tree
    return {
        path: file
        for path, file in files.items()
        if tree.lookup(state.published, path, load) != file
    }


@dataclass(frozen=True, slots=True)
class Known:
    """The fact that it is known what the folder holds, and the tree objects it needs."""

    fact: FolderTaken
    nodes: Mapping[TreeId, bytes]


def known_with(desk: BenchRepository, state: BenchState, files: Files, actor: str) -> Known:
    """Return that files of the folder are known now."""
    link = decide.require_folder(state)
    held, theirs = grown(desk, link.tree, files), grown(desk, link.theirs, dict.fromkeys(files))
    fact = FolderTaken(tree=held.id, theirs=theirs.id, paths=tuple(files), actor=actor)
    return Known(fact, {**held.nodes, **theirs.nodes})


def grown(desk: BenchRepository, base: TreeId, files: Files) -> tree.Built:
    """Return a tree with these files in it, or out of it."""
    load = desk.store.load_tree
    changes = {path: file for path, file in files.items() if tree.lookup(base, path, load) != file}
    return desk.grow(base, changes)


def read(
    desk: BenchRepository, root: Root, state: BenchState, wanted: Sequence[BenchPath]
) -> dict[BenchPath, tree.File | None]:
    """Store what files of the folder hold; None: there is nothing. What is no file is left out."""
    found: dict[BenchPath, tree.File | None] = {}
    with desk.store.blobs.batch() as batch:
        for path in wanted:
            *folders, name = path.split("/")
            try:
                with root.entered(folders) as handle:
                    found[path] = _read(handle, disk_name(handle, name), batch, state)
            except FileNotFoundError:
                found[path] = None
            except OSError:  # a link on the way, or closed to us: nobody can say what is there
                continue
            except LimitExceeded:
                continue
    return found


def _read(folder: int, name: str, batch: Batch, state: BenchState) -> tree.File:
    handle = open_folder.open_file(name, folder=folder)
    with os.fdopen(handle, "rb", buffering=0) as file:
        here = os.fstat(handle)
        if not stat.S_ISREG(here.st_mode):
            raise IsADirectoryError(name)
        kept = batch.add_stream(file, state.limits.max_file_bytes)
    if kept is None:
        raise LimitExceeded("the file is larger than this workbench takes", reason="too_large")
    return tree.File(*kept, mode_of(here))
