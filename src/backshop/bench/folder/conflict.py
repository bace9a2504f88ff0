"""Conflicts between a folder and Published, decided by the person: theirs or ours (B23.18)."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.base import tree
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.paths import BenchPath, bench_path
from backshop.store import file_error

from .. import decide, requests
from ..answers import FolderState
from ..errors import SourceUnreadable
from ..events import FolderConflictSettled
from ..repository import BenchRepository
from ..state import BenchState
from ..values import FolderConflict
from ..view.salvage import Salvage
from . import standing, taking, write_back
from .root import Root, opened_root

KEEP = ("theirs", "ours")


def settle(desk: BenchRepository, request: requests.FolderSettle) -> FolderState:
    """Keep what is in the folder, or write what is in Published over it; nothing of it is lost."""
    if request.keep not in KEEP:
        raise ValidationFailed("keep theirs or ours", reason="bad_params", hints=KEEP)
    paths = [bench_path(path) for path in request.paths]
    with desk.locked(request.workbench_id) as state:
        link = decide.require_folder(state)
        strange = [path for path in paths if path not in link.conflicts]
        if strange or not paths:
            raise NotFound(
                "no conflict waits at this path", reason="not_found", detail=", ".join(strange[:1])
            )
        with opened_root(link.folder, link.inode) as root:
            if request.keep == "theirs":
                after = _theirs(desk, root, state, paths)
            else:
                after = _ours(desk, root, state, paths)
            left = decide.require_folder(after).conflicts
            fact = FolderConflictSettled(
                paths=tuple(path for path in paths if path not in left), keep=request.keep
            )
            if fact.paths:
                after = desk.commit(after.id, lambda _: [fact]).state
            return standing.told(desk, after)


def _theirs(
    desk: BenchRepository, root: Root, state: BenchState, paths: Sequence[BenchPath]
) -> BenchState:
    files = taking.read(desk, root, state, paths)
    unread = [path for path in paths if path not in files]
    if unread:
        raise SourceUnreadable(
            "a file of the folder cannot be taken", reason="unreadable", detail=unread[0]
        )
    return taking.taken(desk, root, state, paths).state


def _ours(
    desk: BenchRepository, root: Root, state: BenchState, paths: Sequence[BenchPath]
) -> BenchState:
    """Write Published's version; what is there is rescued first, and has to be that still."""
    found = taking.read(desk, root, state, paths)
    salvage = Salvage(desk.views.meta(state.id) / "salvage", desk.clock)
    writing = write_back.WriteBack(desk, root, state)
    done: dict[BenchPath, tree.File | None] = {}
    conflicts: dict[BenchPath, FolderConflict] = {}
    for path in paths:
        theirs = found.get(path)
        if theirs is not None:
            with desk.store.blobs.open(theirs.sha256) as kept:
                salvage.keep_open(path, kept.fileno())
        ours = tree.lookup(state.published, path, desk.store.load_tree)
        try:
            outcome = writing.step(tree.Change(path, theirs, ours))
        except OSError as error:
            raise file_error(error) from error
        if outcome.is_done:
            done[path] = ours
        else:
            conflicts[path] = FolderConflict(path=path, became=outcome.became)
    return write_back.recorded(desk, root, state, done, conflicts)
