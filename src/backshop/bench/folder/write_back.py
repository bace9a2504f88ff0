"""Published is written into the followed folder, file by file, each exchanged for what is there.

Nothing is planned and nothing has to be remembered but what the folder is known to hold: what
differs from Published is still to be written. Whoever is killed has left each file old or new, and
the next one finds out which (B23.12).
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from backshop.base import tree
from backshop.base.errors import NotFound
from backshop.base.ids import BlobId
from backshop.base.paths import BenchPath, collision_key
from backshop.base.progress import report
from backshop.base.system import durability
from backshop.store import StorageCorrupt

from .. import decide, requests
from ..answers import FolderFailed, FolderWritten
from ..repository import BenchRepository
from ..state import BenchState, FolderLink
from ..values import FolderConflict
from ..view.salvage import Salvage
from . import standing, taking
from .exchange import Became, Outcome, Wish, exchange
from .root import FolderAway, Root, disk_name, opened_root

WRITTEN_BACK = "files written back"
PROGRESS = "FolderWriteProgress"
_LOT = 64  # files after which the log is told; so many are looked at again after a crash
_STEPS = 100  # of a write-back that are announced, however many files it has
_FULL = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)


def write_back(desk: BenchRepository, request: requests.BenchRequest) -> FolderWritten:
    """Write what the folder still lacks, and try conflicts again that may be gone.

    Raises:
        FolderAway: the folder cannot be used.
    """
    with desk.locked(request.workbench_id) as state:
        done = brought(desk, state)
    return done


def brought(desk: BenchRepository, state: BenchState) -> FolderWritten:
    """Bring the folder to what Published is; for those who hold the bench."""
    link = decide.require_folder(state)
    with opened_root(link.folder, link.inode) as root:
        began = desk.commit(state.id, decide.begin_writing).state
        return WriteBack(desk, root, began).run()


def brought_or_told(desk: BenchRepository, state: BenchState) -> FolderWritten | None:
    """The same after a change of Published that stands whatever becomes of the folder."""
    if state.folder is None:
        return None
    try:
        return brought(desk, state)
    except FolderAway as error:
        left = len(standing.pending(desk, state))
        return FolderWritten(left=left, reason=error.reason, warnings=("folder_behind",))


@dataclass(slots=True)
class _Lot:
    """What became of files the log was not told of yet."""

    files: dict[BenchPath, tree.File | None] = field(default_factory=dict)
    conflicts: dict[BenchPath, FolderConflict] = field(default_factory=dict)
    folders: set[tuple[str, ...]] = field(default_factory=set)


class WriteBack:
    """One way through the files that the folder lacks."""

    def __init__(self, desk: BenchRepository, root: Root, state: BenchState) -> None:
        self._desk = desk
        self._root = root
        self._state = state
        self._salvage = Salvage(desk.views.meta(state.id) / "salvage", desk.clock)
        self._written: list[BenchPath] = []
        self._failed: list[FolderFailed] = []
        self._conflicts = 0
        self._is_atomic = True
        self._is_full = False

    @property
    def _link(self) -> FolderLink:
        return decide.require_folder(self._state)

    def run(self) -> FolderWritten:
        """Write all there is to write."""
        steps = list(ordered(standing.pending(self._desk, self._state)))
        self._tell(0, len(steps))
        lot = _Lot()
        for number, change in enumerate(steps, 1):
            self._take(change, lot)
            if self._is_full:
                break
            if len(lot.files) + len(lot.conflicts) >= _LOT:
                self._record(lot, is_last=False)
                lot = _Lot()
            self._tell(number, len(steps))
        waiting = {change.path for change in steps}
        moot = [BenchPath(path) for path in self._link.conflicts if path not in waiting]
        self._record(lot, is_last=not self._failed, moot=moot)
        return FolderWritten(
            written=tuple(self._written),
            conflicts=tuple(sorted(self._link.conflicts)),
            in_the_way=tuple(
                FolderFailed(path=path, reason=one.became)
                for path, one in sorted(self._link.conflicts.items())
            ),
            failed=tuple(self._failed),
            left=len(standing.pending(self._desk, self._state)) - len(self._link.conflicts),
            is_atomic=self._is_atomic,
            salvaged=tuple(self._salvage.kept),
            kept_out=tuple(standing.kept_out(self._desk, self._state)),
            reason=self._failed[-1].reason if self._failed else None,
            warnings=("folder_behind",) if self._failed or self._link.conflicts else (),
        )

    def _tell(self, done: int, total: int) -> None:
        report(WRITTEN_BACK, done, total)
        is_step = done in (0, total) or done * _STEPS // total > (done - 1) * _STEPS // total
        if total and is_step:
            self._desk.announce(self._state.id, PROGRESS, {"done": done, "total": total})

    def _take(self, change: tree.Change, lot: _Lot) -> None:
        try:
            outcome = self.step(change)
        except OSError as error:
            self._fail(change.path, _why(error))
            self._is_full = error.errno in _FULL
            return
        except (NotFound, StorageCorrupt) as error:
            self._fail(change.path, error.reason or "missing_blob")
            return
        self._is_atomic &= outcome.is_atomic
        if outcome.is_done:
            self._written.append(change.path)
            lot.files[change.path] = change.after
            folders = tuple(change.path.split("/")[:-1])
            lot.folders |= {folders[:depth] for depth in range(len(folders) + 1)}
        else:
            lot.conflicts[change.path] = FolderConflict(path=change.path, became=outcome.became)

    def _fail(self, path: BenchPath, reason: str) -> None:
        self._failed.append(FolderFailed(path=path, reason=reason))

    def step(self, change: tree.Change, before: BlobId | None = None) -> Outcome:
        """Exchange one file; `before` is what is there if that is not what is known.

        Raises:
            OSError: it cannot be written.
        """
        *folders, name = change.path.split("/")
        is_new = change.before is None and change.after is not None
        blob = before or (change.before.sha256 if change.before else None)
        try:
            with self._root.entered(folders, make=is_new) as handle:
                outcome = self._exchanged(handle, name, change, blob)
        except FileNotFoundError:
            return Outcome(Became.UNCHANGED if change.after is None else Became.MISSING)
        except NotADirectoryError:
            return Outcome(Became.NOT_A_FILE)
        if change.after is None and outcome.is_done:
            self._root.prune(folders)
        return outcome

    def _exchanged(
        self, handle: int, name: str, change: tree.Change, before: BlobId | None
    ) -> Outcome:
        """Exchange a file for what is reviewed, or for what an earlier write-back put there."""
        after = change.after
        content = None if after is None else self._desk.store.blobs.path(after.sha256)
        ours = self._ours(change.path)
        while True:
            wish = Wish(
                name=disk_name(handle, name),
                before=before,
                after=None if after is None else after.sha256,
                content=content,
                mode="644" if after is None else after.mode,
                owner=self._state.id,
            )
            keep = _Keep(self._salvage, change.path)
            outcome = exchange(handle, wish, keep)
            if outcome.found in (None, wish.after, before) or outcome.found not in ours:
                return outcome
            ours.discard(outcome.found)
            before = outcome.found

    def _ours(self, path: BenchPath) -> set[BlobId]:
        """Return what write-backs that did not come to their end may have put there."""
        load = self._desk.store.load_tree
        found = (tree.lookup(aim, path, load) for aim in (self._link.tree, *self._link.aims))
        return {one.sha256 for one in found if one is not None}

    def _record(self, lot: _Lot, *, is_last: bool, moot: Sequence[BenchPath] = ()) -> None:
        """Tell the log what became of some files, after their names are on the disk."""
        for folders in lot.folders:
            with suppress(OSError), self._root.entered(folders) as handle:
                durability.sync(handle)
        self._state = recorded(
            self._desk,
            self._root,
            self._state,
            lot.files,
            lot.conflicts,
            is_last=is_last,
            moot=moot,
        )


class _Keep:
    """Keeps what came out of a place of the folder among what was rescued from outside edits."""

    def __init__(self, salvage: Salvage, path: BenchPath) -> None:
        self._salvage = salvage
        self._path = path

    def __call__(self, handle: int) -> None:
        self._salvage.keep_open(self._path, handle)


def recorded(
    desk: BenchRepository,
    root: Root,
    state: BenchState,
    files: taking.Files,
    conflicts: dict[BenchPath, FolderConflict],
    *,
    is_last: bool = False,
    moot: Sequence[BenchPath] = (),
) -> BenchState:
    """Record what the folder holds now, and what stands in the way where it holds something else.

    What is there instead is stored with it, so that it can be looked at whatever becomes of it.
    """
    link = decide.require_folder(state)
    found = taking.read(desk, root, state, list(conflicts))
    over = dict.fromkeys((*files, *moot, *conflicts))
    known = taking.grown(desk, link.tree, files)
    theirs = taking.grown(desk, link.theirs, {**over, **found})
    wish = decide.WrittenWish(
        built_on=(link.tree, link.theirs),
        tree=known.id,
        theirs=theirs.id,
        paths=(*files, *moot),
        conflicts=tuple(conflicts.values()),
        is_last=is_last,
    )
    blobs = tuple({**known.nodes, **theirs.nodes}.values())
    return desk.commit(state.id, lambda now: decide.written(now, wish), blobs=blobs).state


def ordered(changes: Sequence[tree.Change]) -> Iterator[tree.Change]:
    """Yield what comes and changes first, then what goes; last what comes in the place of that."""
    gone = {change.path for change in changes if change.after is None}
    keys = {collision_key(path) for path in gone}
    inside = {path[:at] for path in gone for at in range(len(path)) if path[at] == "/"}
    late: list[tree.Change] = []
    for change in changes:
        if change.after is None:
            continue
        above = (change.path[:at] for at in range(len(change.path)) if change.path[at] == "/")
        is_respelled = collision_key(change.path) in keys  # the same file where case is none
        if is_respelled or change.path in inside or any(path in gone for path in above):
            late.append(change)
        else:
            yield change
    yield from (change for change in changes if change.after is None)
    yield from late


def _why(error: OSError) -> str:
    if error.errno in _FULL:
        return "disk_full"
    return "no_rights" if error.errno in _CLOSED else "write_failed"
