"""A bench's folder on disk: views of its trees, its lock, staging, and rescue of outside edits.

Everything here is a cache of the log except `salvage/`, which keeps bytes that others put into a
view. Layout: B2.1.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backshop.base import tree
from backshop.base.ambient import Clock, timestamp
from backshop.base.errors import BackshopError, NotFound
from backshop.base.ids import BenchId, BlobId, TreeId, check_id
from backshop.base.paths import BenchPath
from backshop.base.system import lock
from backshop.base.tree import EMPTY
from backshop.store import Placer, Shown, Store, View, file_error

from ..errors import BenchBusy
from ..revision import Draft
from ..state import BenchState
from ..tree.difference import Change
from . import description
from .expected_tree import ExpectedTrees
from .folder_scan import content_name, entries
from .salvage import Salvage

VIEWS = ("published", "draft", "meta/context")
LOCK_WAIT_S = 10.0  # B3.7
_POLL_S = 0.02
_PROOF_MAX_BYTES = 1024 * 1024 * 1024
_SETTLED_FILES = 1_000  # of a folder of 0.1.0 that a command gives inodes of their own
_SETTLED_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outside:
    """One path of a view that is not what its tree says; `actual` None means it is gone."""

    path: str
    expected: BlobId | None
    actual: Path | None


class Views:
    """The folders of all benches of one home."""

    def __init__(self, store: Store, clock: Clock, full_view_max: int) -> None:
        self._store = store
        self._clock = clock
        self._full_view_max = full_view_max  # files up to which a Draft shows all without asking
        self._placer = Placer(store.blobs)
        self._expecting = ExpectedTrees(store)
        self._threads: dict[BenchId, threading.RLock] = {}
        self._held: dict[BenchId, bool] = {}  # read and written under the thread's lock only
        self._guard = threading.Lock()

    def folder(self, bench_id: BenchId) -> Path:
        """Return the bench's folder; the id is checked before it becomes a path."""
        return self._store.home / "benches" / check_id(bench_id, "wb")

    def meta(self, bench_id: BenchId) -> Path:
        """Return the folder for what is beside the views."""
        return self.folder(bench_id) / "meta"

    @contextmanager
    def locked(self, bench_id: BenchId) -> Iterator[None]:
        """Hold the bench: one command at a time, in this process and in others (B3.7).

        Raises:
            BenchBusy: another command has not finished.
            ReadOnlyHome: nothing can be changed here.
        """
        self._store.require_writable()
        with self._guard:
            mine = self._threads.setdefault(bench_id, threading.RLock())
        if not mine.acquire(timeout=LOCK_WAIT_S):
            raise BenchBusy("another command has not finished", reason="locked")
        try:
            if self._held.get(bench_id):  # this thread has it already
                yield
                return
            with self._file_lock(bench_id):
                self._held[bench_id] = True
                try:
                    yield
                finally:
                    self._held[bench_id] = False
        finally:
            mine.release()

    @contextmanager
    def _file_lock(self, bench_id: BenchId) -> Iterator[None]:
        path = self.meta(bench_id) / "lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise file_error(error) from error
        try:
            _wait_for(handle)
            yield
        finally:
            os.close(handle)  # gives the lock back

    @contextmanager
    def staging(self, bench_id: BenchId, tx_id: str) -> Iterator[Path]:
        """Give a private folder for one transaction, removed afterwards."""
        folder = self.meta(bench_id) / "tmp" / check_id(tx_id, "tx")
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise file_error(error) from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def project(self, state: BenchState) -> list[str]:
        """Bring the folders in line with the heads; return warnings, never an error (B3.6)."""
        salvage = self.salvage(state.id)
        for last_try in (False, True):
            try:
                self._project(state, salvage)
                break
            except (BackshopError, OSError):
                if last_try:
                    return ["view_stale", *_warned(salvage)]
        return _warned(salvage)

    def _project(self, state: BenchState, salvage: Salvage) -> None:
        heads = self.heads(state)
        for name, head in heads.items():
            view = self.view(state.id, name)
            if _shows(view, head):
                continue
            rescue = partial(self._rescue, view, salvage)
            if head is None:
                view.retire(rescue)
            else:
                view.show(head, salvage.keep, rescue)
        self._settle(state.id)
        self._describe(state, heads["draft"])

    def _describe(self, state: BenchState, draft: Shown | None) -> None:
        folder = str(self.folder(state.id) / "draft")
        shown = None if draft is None else self._expecting.at(folder, draft)
        now = timestamp(self._clock.now_ms())
        description.write(self.meta(state.id), state, shown, now)

    def _settle(self, bench_id: BenchId) -> None:
        """Part a number of files of 0.1.0 from the contents they are links of (B2.6).

        A large folder takes several commands, so that none of them takes long.
        """
        for name in VIEWS:
            self.view(bench_id, name).settle(_SETTLED_FILES, _SETTLED_BYTES)

    def heads(self, state: BenchState) -> dict[str, Shown | None]:
        """Return what each folder has to show: the Draft's what it changes, or all if asked to."""
        draft = state.draft
        return {
            "published": Shown(state.published),
            "draft": None if draft is None else Shown(draft.tree, self._base(state, draft)),
            "meta/context": Shown(state.context_tree),
        }

    def _base(self, state: BenchState, draft: Draft) -> TreeId:
        """Return the tree whose files the Draft's folder leaves out."""
        is_small = len(state.files.records) <= self._full_view_max
        is_whole = is_small or self.view(state.id, "draft").is_whole
        return EMPTY if is_whole else draft.base_tree

    def complete(self, state: BenchState, *, whole: bool) -> list[Outside]:
        """Let the Draft's folder show all its files, or what it changes; return outside edits.

        What others wrote stays where it is.
        """
        view, draft = self.view(state.id, "draft"), state.draft
        assert draft is not None, "there is a Draft to show"
        salvage = self.salvage(state.id)
        head = Shown(draft.tree, EMPTY if whole else draft.base_tree)
        view.show(head, salvage.keep, partial(self._rescue, view, salvage), whole=whole)
        self._describe(state, head)
        return self.outside(state, "draft", mark=True)

    def view(self, bench_id: BenchId, name: str) -> View:
        """Return one of the views: `published`, `draft` or `meta/context`."""
        return View(self.folder(bench_id) / name, self._store.load_tree, self._placer)

    def recover(self, state: BenchState) -> list[str]:
        """Make folders agree with the log after a crash; say what had to be done (B3.4)."""
        done: list[str] = []
        staging = self.meta(state.id) / "tmp"
        if staging.exists() and any(staging.iterdir()):
            shutil.rmtree(staging, ignore_errors=True)
            done.append("staging_removed")
        for name, head in self.heads(state).items():
            if not _shows(self.view(state.id, name), head):
                word = name.rpartition("/")[2]
                done.append(f"{word}_removed" if head is None else f"{word}_rebuilt")
            elif not self.view(state.id, name).is_own:
                done.append(f"{name.rpartition('/')[2]}_parted")
        if not done and not description.is_told(self.meta(state.id), state):
            done.append("meta_rewritten")
        return [*done, *self.project(state)] if done else []

    def replace_odd(self, state: BenchState) -> dict[str, list[str]]:
        """Take links, pipes and devices out of views; return what they were, by view (B4.7)."""
        found: dict[str, list[str]] = {}
        for name, head in self.heads(state).items():
            if head is None:
                continue
            folder = str(self.folder(state.id) / name)
            odd = [
                path
                for path, entry in entries(folder)
                if not entry.is_file(follow_symlinks=False)
                and not entry.is_dir(follow_symlinks=False)  # nobody knows what is in it: it stays
            ]
            if odd:
                hidden = [
                    one
                    for one in self.outside(state, name)
                    if any(one.path == p or one.path.startswith(f"{p}/") for p in odd)
                ]
                self.put_back(state, name, hidden)
                found[name] = odd
        return found

    def put_back(self, state: BenchState, name: str, found: Iterable[Outside]) -> list[str]:
        """Make paths of a view again what its tree says; return what was kept of others."""
        salvage = self.salvage(state.id)
        view, head = self.view(state.id, name), self.heads(state)[name]
        assert head is not None, "a view that is looked at has a head"
        view.show(head, salvage.keep, partial(self._rescue, view, salvage))
        view.put_back([BenchPath(one.path) for one in found], salvage.keep)
        return salvage.kept

    def files(self, state: BenchState) -> Iterator[tuple[Path, tree.File]]:
        """Yield the files that the folders of a bench should hold, with their contents' names."""
        for name, head in self.heads(state).items():
            if head is not None:
                folder = self.folder(state.id) / name
                for path, file in self._expecting.at(str(folder), head).files.items():
                    yield folder / path, file

    def is_stale(self, state: BenchState) -> bool:
        """Say whether a folder does not show its head."""
        heads = self.heads(state).items()
        return not all(_shows(self.view(state.id, name), head) for name, head in heads)

    def _rescue(self, view: View, salvage: Salvage, place: Path) -> None:
        """Keep what others wrote into a folder that is about to go."""
        shown, clean_ns = view.claim(place)
        try:
            found = [] if shown is None else self._differing(view, place, shown, clean_ns)
        except NotFound:  # a tree from before a collection
            shown = None
        if shown is None:  # nobody knows what it should hold: keep what is stored nowhere else
            found = [
                Outside(path, None, Path(entry.path))
                for path, entry in entries(str(place))
                if not self._store.blobs.has(content_name(Path(entry.path)))
            ]
        for one in found:
            if one.actual is not None:
                salvage.keep(one.path, one.actual)

    def outside(self, state: BenchState, name: str, *, mark: bool = False) -> list[Outside]:
        """Return what other programs changed in a view (B8.10, B9.4).

        A folder that lags behind, as on a machine where nobody looked since another one went on,
        is compared with what it shows (T6.1). With `mark`, for those who hold the bench, a folder
        without any is noted as clean: until it is touched again, looking costs one `stat` a file.

        Raises:
            WriteFailed, DiskFull: the folder cannot be looked at.
        """
        view, head = self.view(state.id, name), self.heads(state)[name]
        if head is None or view.is_new:
            return []
        try:
            since = view.now_ns() if mark else 0
            shown, clean_ns = view.claim(view.folder)
            found = self._differing(view, view.folder, shown or head, clean_ns)
        except OSError as error:
            raise file_error(error) from error
        if since and not found and shown == head:
            with suppress(OSError):  # a disk without room: the note only saves the next look time
                view.mark_clean(since)
        return found

    def _differing(self, view: View, place: Path, head: Shown, clean_ns: int) -> list[Outside]:
        """Compare a folder, in its place or out of sight, with what it should hold."""
        expected = self._expecting.at(str(view.folder), head).files
        found: list[Outside] = []
        seen: set[str] = set()
        for path, entry in entries(str(place)):
            seen.add(path)
            file = expected.get(BenchPath(path))
            if file is None and head.base != EMPTY:  # a file may also be there that need not be
                file = tree.lookup(head.tree, BenchPath(path), self._store.load_tree)
            if file is None or not self._is_content(entry, file, clean_ns):
                found.append(Outside(path, file.sha256 if file else None, Path(entry.path)))
        found += [
            Outside(path, file.sha256, None) for path, file in expected.items() if path not in seen
        ]
        return sorted(found, key=lambda one: one.path)

    def _is_content(self, entry: os.DirEntry[str], file: tree.File, clean_ns: int) -> bool:
        """Say whether a file is ours; what was not touched since the folder was clean is."""
        here = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(here.st_mode) or here.st_size != file.size:
            return False
        is_old = max(here.st_mtime_ns, here.st_ctime_ns) < clean_ns
        try:
            return is_old or content_name(Path(entry.path)) == file.sha256
        except OSError:  # unreadable: not as we made it
            return False

    def proofs(
        self, state: BenchState, changes: Iterable[Change], name: str = "published"
    ) -> dict[BenchPath, bool]:
        """Read changed files back from a folder: path → is what it should be (B9.15).

        Up to 1 GiB is read; what lies beyond is left out.
        """
        shown = self.heads(state)[name]
        assert shown is not None, "only a folder that is there is read"
        folder = self.folder(state.id) / name
        found: dict[BenchPath, bool] = {}
        left = _PROOF_MAX_BYTES
        for change in changes:
            actual = folder / change.path
            in_base = tree.lookup(shown.base, change.path, self._store.load_tree)
            try:
                is_left_out = change.after in (None, in_base)  # a Draft shows its changes
                if is_left_out and not os.path.lexists(actual):
                    found[change.path] = True
                    continue
                if change.after is None:
                    found[change.path] = False
                    continue
                left -= change.after.size
                if left >= 0:
                    found[change.path] = content_name(actual) == change.after.sha256
            except OSError:
                found[change.path] = False
        return found

    def salvage(self, bench_id: BenchId) -> Salvage:
        """Return where a bench keeps what others wrote and would be displaced."""
        return Salvage(self.meta(bench_id) / "salvage", self._clock)

    def salvage_blobs(self, bench_id: BenchId, altered: Iterable[tuple[str, BlobId]]) -> list[str]:
        """Keep what somebody wrote over contents, once (B2.11)."""
        salvage = self.salvage(bench_id)
        kept = self.meta(bench_id) / "salvage"
        for path, blob in altered:
            actual = self._store.blobs.folder / blob[:2] / blob[2:]
            if not actual.is_file():
                continue
            now = content_name(actual)
            if not any(content_name(one) == now for one in kept.glob(f"*/{glob.escape(path)}")):
                salvage.keep(path, actual)
        return salvage.kept


def _wait_for(handle: int) -> None:
    ends = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            lock.hold_now(handle)
            return
        except BlockingIOError:
            if time.monotonic() > ends:
                raise BenchBusy("another program has not finished", reason="locked") from None
            time.sleep(_POLL_S)


def _shows(view: View, head: Shown | None) -> bool:
    return view.is_gone if head is None else view.shown() == head


def _warned(salvage: Salvage) -> list[str]:
    return ["outside_edits_salvaged"] if salvage.kept else []
