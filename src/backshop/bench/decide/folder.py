"""Rules about the person's folder that a workbench follows (B23)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backshop.base.errors import NotFound
from backshop.base.ids import TreeId
from backshop.base.paths import BenchPath
from backshop.bench.events import (
    BenchEvent,
    CheckpointCreated,
    FolderFilesWritten,
    FolderFollowed,
    FolderTaken,
    FolderWriteBegan,
    PublishedAdopted,
)
from backshop.bench.state import BenchState, FolderLink
from backshop.bench.values import FileFact, FolderConflict

from .refuse import require_exists


def require_folder(state: BenchState) -> FolderLink:
    """Return the folder a bench follows, or refuse."""
    require_exists(state)
    if state.folder is None:
        raise NotFound("this workbench follows no folder", reason="no_folder")
    return state.folder


def follow(state: BenchState, folder: str, inode: int) -> list[BenchEvent]:
    """Say where the folder is now; what it is known to hold stays known (B23.21)."""
    link = require_folder(state)
    if (link.folder, link.inode) == (folder, inode):
        return []
    return [FolderFollowed(folder=folder, inode=inode, tree=link.tree)]


def begin_writing(state: BenchState, tree_id: TreeId | None = None) -> list[BenchEvent]:
    """Say that the folder is to hold Published, or the tree that becomes it (B23.6)."""
    wanted = state.published if tree_id is None else tree_id
    link = state.folder
    if link is None or link.aims[-1:] == (wanted,):
        return []
    return [FolderWriteBegan(tree=wanted)] if link.aims or link.tree != wanted else []


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenWish:
    """Files of a folder that were written, or were not what was reviewed."""

    built_on: tuple[TreeId, TreeId]
    """What the folder was known to hold, and theirs where a conflict waited."""
    tree: TreeId
    theirs: TreeId
    paths: tuple[BenchPath, ...]
    conflicts: tuple[FolderConflict, ...] = ()
    is_last: bool = False


def written(state: BenchState, wish: WrittenWish) -> list[BenchEvent]:
    """Record what became of some files of the folder (B23.12)."""
    link = require_folder(state)
    assert (link.tree, link.theirs) == wish.built_on, "whoever holds the bench alone writes"
    said = FolderFilesWritten(
        tree=wish.tree,
        theirs=wish.theirs,
        paths=wish.paths,
        conflicts=wish.conflicts,
        is_last=wish.is_last,
    )
    is_news = bool(wish.paths or wish.conflicts) or (wish.is_last and bool(link.aims))
    return [said] if is_news else []


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeWish:
    """What others did in the folder, on its way into Published."""

    published: TreeId
    files: Sequence[FileFact]
    removed: Sequence[BenchPath]
    checkpoint: CheckpointCreated
    taken: FolderTaken


def take(state: BenchState, wish: TakeWish) -> list[BenchEvent]:
    """Let what others did in the folder be Published; a checkpoint is kept first (B23.15)."""
    require_folder(state)
    if wish.published == state.published:
        return [wish.taken]
    actor = wish.taken.actor
    adopted = PublishedAdopted(
        tree=wish.published, files=tuple(wish.files), removed=tuple(wish.removed), actor=actor
    )
    return [replace(wish.checkpoint, actor=actor), adopted, wish.taken]
