"""The bench of a folder: found, made with the folder's files, or told where the folder is now."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from backshop.base import tree
from backshop.base.errors import LimitExceeded, ValidationFailed
from backshop.base.ids import BenchId, BlobId
from backshop.base.paths import BenchPath
from backshop.base.progress import report
from backshop.store import Batch, file_error

from .. import decide, requests
from ..answers import FolderOpened, FolderState
from ..errors import BenchDamaged
from ..events import FolderFollowed
from ..files.source import given_path
from ..repository import BenchRepository
from ..state import PROFILES, BenchState
from ..values import FileFact, Limits
from . import index, scan, standing
from .ignore import ignores_above
from .root import Root, opened_root
from .scan import Look


def open_folder(desk: BenchRepository, request: requests.WorkbenchOpenFolder) -> FolderOpened:
    """Return the bench that follows a folder, or make one with copies of its files (B23.1).

    Raises:
        ValidationFailed: it cannot be followed.
        LimitExceeded: it holds more than a bench takes.
    """
    folder = require_folder(desk, request.folder)
    state = _followed(desk, folder)
    created = state is None
    if state is None:
        state = _made(desk, folder, request)
    return FolderOpened(
        workbench_id=state.id,
        name=state.name,
        created=created,
        files=len(state.files.records),
        folder=standing.told(desk, state),
    )


def follow(desk: BenchRepository, request: requests.FolderFollow) -> FolderState:
    """Say where the folder of a bench is now, or that another one in its place is meant."""
    desk.state(request.workbench_id)
    folder = require_folder(desk, request.folder)
    with desk.locked(request.workbench_id) as state:
        decide.require_folder(state)
        require_unfollowed(desk, state, folder)
        with opened_root(folder) as root:
            place, inode = str(folder), root.inode
        done = desk.commit(state.id, lambda now: decide.follow(now, place, inode))
    return standing.told(desk, done.state)


def require_folder(desk: BenchRepository, text: str) -> Path:
    """Return a folder that can be followed, with the links on the way to it resolved, or refuse."""
    if not text:
        raise ValidationFailed("the folder has no name", reason="bad_folder")
    try:
        folder = given_path(text).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ValidationFailed(
            f"there is no such folder: {text}",
            reason="bad_folder",
            hints=("make it first, or name one that is there",),
        ) from error
    home = desk.store.home.resolve()
    if not folder.is_dir():
        raise ValidationFailed(f"this is not a folder: {folder}", reason="bad_folder")
    if folder.is_relative_to(home) or home.is_relative_to(folder):
        what = "lies in" if folder.is_relative_to(home) else "holds"
        raise ValidationFailed(
            f"{folder} {what} Backshop's own folder {home} and cannot be followed",
            reason="inside_home",
            hints=("choose a folder that is apart from it",),
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        raise ValidationFailed(f"{folder} cannot be read", reason="bad_folder")
    return folder


def require_unfollowed(
    desk: BenchRepository, state: BenchState, folder: Path | None = None
) -> None:
    """Refuse to follow, or to follow again, a folder that another bench follows (B23.5)."""
    if folder is None and state.folder is not None:
        folder = Path(state.folder.folder)
    other = None if folder is None else _followed(desk, folder, besides=state.id)
    if other is not None:
        raise _taken(other)


def _followed(
    desk: BenchRepository, folder: Path, besides: BenchId | None = None
) -> BenchState | None:
    """Return the bench that follows exactly this folder; refuse parts of what another follows."""
    for state in _benches(desk):
        assert state.folder is not None
        if state.id == besides:
            continue
        theirs = Path(state.folder.folder)
        if theirs == folder:
            return state
        if theirs.is_relative_to(folder) or folder.is_relative_to(theirs):
            raise _taken(state)
    return None


def _benches(desk: BenchRepository) -> Iterator[BenchState]:
    for head in desk.store.streams("bench"):
        try:
            state = desk.raw_state(head.stream.partition(":")[2])
        except BenchDamaged:
            continue  # nobody can say what it follows
        if state.exists and state.folder is not None:
            yield state


def _taken(state: BenchState) -> ValidationFailed:
    return ValidationFailed(
        "another workbench follows this folder, or a part of it",
        reason="folder_followed",
        detail=f"{state.id} {state.name}",
    )


def _made(desk: BenchRepository, folder: Path, request: requests.WorkbenchOpenFolder) -> BenchState:
    if request.profile is not None and request.profile not in PROFILES:
        raise ValidationFailed("there is no such profile", reason="bad_limits")
    limits, profile = desk.settings.new_limits(request.profile)
    name = decide.name_of(request.name or _name(folder), default=None)
    desk.require_disk()
    bench_id = desk.new_bench()
    with opened_root(folder) as root:
        inode, began_ns = root.inode, scan.now_ns()
        with desk.store.blobs.batch() as batch:
            found = _copied(desk, folder, root, limits, batch)
    built = desk.grow(tree.EMPTY, dict(found.files))
    created = decide.create(
        bench_id,
        name,
        limits,
        profile,
        tree_id=built.id,
        files=[_fact(desk, path, file) for path, file in found.files.items()],
        model_id=desk.settings.default_model(),
    )
    follows = FolderFollowed(folder=str(folder), inode=inode, tree=built.id)
    done = desk.commit(bench_id, lambda _: [*created, follows], blobs=tuple(built.nodes.values()))
    place = standing.index_place(desk, bench_id)
    index.save(place, str(folder), scan.looked_up(found, began_ns))
    return done.state


def _name(folder: Path) -> str:
    """Return what a bench is called after its folder, as far as that is a name."""
    shown = "".join(char if char.isprintable() else " " for char in folder.name)
    return shown.strip()[:120] or "Folder"


def _copied(desk: BenchRepository, folder: Path, root: Root, limits: Limits, batch: Batch) -> Look:
    """Store what the folder's files hold, each read once; refuse when it is too much (B6.9)."""
    total = count = 0

    def read(handle: int) -> tuple[BlobId, int]:
        nonlocal total, count
        with os.fdopen(os.dup(handle), "rb", buffering=0) as file:
            taken = batch.add_stream(file, limits.max_file_bytes)
        if taken is None:
            raise OSError("it grew while it was read")
        total, count = total + taken[1], count + 1
        report("files read", count, 0)
        if total > limits.max_total_bytes:
            raise LimitExceeded(
                "the folder holds more than the workbench takes",
                reason="too_large",
                detail=f"max_total_bytes limit={limits.max_total_bytes}",
            )
        return taken

    try:
        return scan.Scan(limits, ignores_above(folder), read=read).look(root)
    except OSError as error:
        raise file_error(error) from error


def _fact(desk: BenchRepository, path: BenchPath, file: tree.File) -> FileFact:
    return FileFact(
        path=path, file_id=desk.new_file(), sha256=file.sha256, size=file.size, imported=True
    )
