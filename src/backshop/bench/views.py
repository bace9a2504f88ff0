"""A bench's folder on disk: views of its trees, its lock, staging, and rescue of outside edits.

Everything here is a cache of the log except `salvage/`, which keeps bytes that others put into a
view. Layout: B2.1.
"""

from __future__ import annotations

import fcntl
import glob
import json
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from backshop.base import tree
from backshop.base.ambient import Clock, timestamp
from backshop.base.errors import BackshopError, NotFound
from backshop.base.ids import BenchId, BlobId, TreeId, check_id
from backshop.base.paths import BenchPath
from backshop.store import Placer, Store, View, file_error

from .compare import Change
from .errors import BenchBusy
from .expecting import Expecting
from .state import BenchState
from .walking import content_name, copy_durably, entries, is_kept

LOCK_WAIT_S = 10.0  # B3.7
_POLL_S = 0.02
_PROOF_MAX_BYTES = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outside:
    """One path of a view that is not what its tree says; `actual` None means it is gone."""

    path: str
    expected: BlobId | None
    actual: Path | None


class Views:
    """The folders of all benches of one home."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._placer = Placer(store.blobs)
        self._expecting = Expecting(store)
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
        """Hold the bench: one command at a time, in this process and in others (B3.7)."""
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
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
        salvaged: list[str] = []
        for last_try in (False, True):
            try:
                self._project(state, salvaged)
                break
            except (BackshopError, OSError):
                if last_try:
                    return ["view_stale", *_warned(salvaged)]
        return _warned(salvaged)

    def _project(self, state: BenchState, salvaged: list[str]) -> None:
        assert state.bench_id is not None
        folder = self.folder(state.bench_id)
        for name, head in _heads(state).items():
            view = self.view(state.bench_id, name)
            if _shows(view, head):
                continue
            salvaged += self._rescue(state.bench_id, name)
            if head is None:
                view.remove()
            else:
                view.show(head)
        _write_json(folder / "meta" / "workbench.json", _about(state))
        _write_json(
            folder / "meta" / "view.json",
            {**_shown_heads(state), "written_at": timestamp(self._clock.now_ms())},
        )

    def view(self, bench_id: BenchId, name: str) -> View:
        """Return one of the views: `published`, `draft` or `meta/context`."""
        return View(self.folder(bench_id) / name, self._store.load_tree, self._placer)

    def recover(self, state: BenchState) -> list[str]:
        """Make folders agree with the log after a crash; say what had to be done (B3.4)."""
        assert state.bench_id is not None
        done: list[str] = []
        staging = self.meta(state.bench_id) / "tmp"
        if staging.exists() and any(staging.iterdir()):
            shutil.rmtree(staging, ignore_errors=True)
            done.append("staging_removed")
        for name, head in _heads(state).items():
            if not _shows(self.view(state.bench_id, name), head):
                word = name.rpartition("/")[2]
                done.append(f"{word}_removed" if head is None else f"{word}_rebuilt")
        if not done and not self._has_meta(state):
            done.append("meta_rewritten")
        return [*done, *self.project(state)] if done else []

    def _has_meta(self, state: BenchState) -> bool:
        """Whether the files that describe the views are there and say what is so (B2.8)."""
        assert state.bench_id is not None
        try:
            told = json.loads((self.meta(state.bench_id) / "view.json").read_bytes())
        except (OSError, ValueError):
            return False
        return bool(told == {**_shown_heads(state), "written_at": told.get("written_at")})

    def replace_odd(self, state: BenchState) -> dict[str, list[str]]:
        """Take links, pipes and devices out of views; return what they were, by view (B4.7)."""
        assert state.bench_id is not None
        found: dict[str, list[str]] = {}
        for name, head in _heads(state).items():
            folder = str(self.folder(state.bench_id) / name)
            odd = [p for p, entry in entries(folder) if not entry.is_file(follow_symlinks=False)]
            if odd and head is not None:
                self.salvage(state.bench_id, self.outside(state.bench_id, name, head))
                self.rebuild(state.bench_id, name, head)
                found[name] = odd
        return found

    def is_stale(self, state: BenchState) -> bool:
        """Say whether a folder does not show its head."""
        assert state.bench_id is not None
        heads = _heads(state).items()
        return not all(_shows(self.view(state.bench_id, name), head) for name, head in heads)

    def _rescue(self, bench_id: BenchId, name: str) -> list[str]:
        """Keep what others wrote into a folder that is about to be replaced (B3.4)."""
        view = self.view(bench_id, name)
        shown = view.shown()
        try:
            found = [] if shown is None else self.outside(bench_id, name, shown, quick=True)
        except NotFound:  # a tree from before a collection
            shown = None
        if shown is None:  # nobody knows what it should hold: keep what is stored nowhere else
            found = [
                Outside(path, None, Path(entry.path))
                for path, entry in entries(str(view.folder))
                if not self._store.blobs.has(content_name(Path(entry.path)))
            ]
        if not found:
            return []
        kept = self.salvage(bench_id, found)
        view.forget()
        return kept

    def outside(
        self, bench_id: BenchId, name: str, head: TreeId, *, quick: bool = False
    ) -> list[Outside]:
        """Return what other programs changed in a view (B8.10, B9.4).

        A folder that lags behind, as on a machine where nobody looked since another one went on,
        is compared with what it shows (T6.1). A file that shares its inode with a blob of the
        right content needs no reading; `quick` takes the blob's content for granted.
        """
        folder, view = self.folder(bench_id) / name, self.view(bench_id, name)
        if view.is_new:
            return []
        expected = self._expecting.files(str(folder), view.shown() or head)
        found: list[Outside] = []
        seen: set[str] = set()
        for path, entry in entries(str(folder)):
            file = expected.get(BenchPath(path))
            seen.add(path)
            if quick and file and entry.inode() == self._expecting.inode(file.sha256):
                continue
            actual = Path(entry.path)
            if file is None or not self._is_content(actual, file):
                found.append(Outside(path, file.sha256 if file else None, actual))
        found += [
            Outside(path, file.sha256, None) for path, file in expected.items() if path not in seen
        ]
        return sorted(found, key=lambda one: one.path)

    def _is_content(self, actual: Path, file: tree.File) -> bool:
        here = actual.stat(follow_symlinks=False)
        if here.st_size != file.size:
            return False
        blob = self._store.blobs.stat(file.sha256)
        if blob is not None and (blob.st_dev, blob.st_ino) == (here.st_dev, here.st_ino):
            return self._store.blobs.is_sound(file.sha256)
        return content_name(actual) == file.sha256

    def proofs(self, state: BenchState, changes: Iterable[Change]) -> dict[BenchPath, bool]:
        """Read changed files back from the Published folder: path → is what it should be (B9.15).

        Up to 1 GiB is read; what lies beyond is left out.
        """
        assert state.bench_id is not None
        folder = self.folder(state.bench_id) / "published"
        found: dict[BenchPath, bool] = {}
        left = _PROOF_MAX_BYTES
        for change in changes:
            actual = folder / change.path
            try:
                if change.after is None:
                    found[change.path] = not os.path.lexists(actual)
                    continue
                left -= change.after.size
                if left >= 0:
                    found[change.path] = content_name(actual) == change.after.sha256
            except OSError:
                found[change.path] = False
        return found

    def salvage(self, bench_id: BenchId, found: list[Outside]) -> list[str]:
        """Copy outside bytes into a stamped folder; return where they are, below `salvage/`."""
        kept: list[str] = []
        base: Path | None = None
        try:
            for one in found:
                if one.actual is None or not is_kept(one.actual):
                    continue
                base = base or self._salvage_folder(bench_id)
                target = base / one.path
                target.parent.mkdir(parents=True, exist_ok=True)
                copy_durably(one.actual, target)
                kept.append(f"{base.name}/{one.path}")
        except OSError as error:
            raise file_error(error) from error
        return kept

    def salvage_blobs(self, bench_id: BenchId, altered: Iterable[tuple[str, BlobId]]) -> list[str]:
        """Keep what somebody wrote over contents, once (B2.11)."""
        found: list[Outside] = []
        kept = self.meta(bench_id) / "salvage"
        for path, blob in altered:
            actual = self._store.blobs.folder / blob[:2] / blob[2:]
            if not actual.is_file():
                continue
            now = content_name(actual)
            if not any(content_name(one) == now for one in kept.glob(f"*/{glob.escape(path)}")):
                found.append(Outside(path, blob, actual))
        return self.salvage(bench_id, found)

    def _salvage_folder(self, bench_id: BenchId) -> Path:
        stamp = timestamp(self._clock.now_ms()).replace(":", "").replace(".", "")
        parent = self.meta(bench_id) / "salvage"
        parent.mkdir(parents=True, exist_ok=True)
        for number in count():
            folder = parent / (f"{stamp}-{number}" if number else stamp)
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
        raise AssertionError("unreachable")

    def rebuild(self, bench_id: BenchId, name: str, head: TreeId) -> None:
        """Make a view from nothing; used after outside edits were looked at."""
        view = self.view(bench_id, name)
        view.forget()
        view.show(head)


def _wait_for(handle: int) -> None:
    ends = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > ends:
                raise BenchBusy("another program has not finished", reason="locked") from None
            time.sleep(_POLL_S)


def _heads(state: BenchState) -> dict[str, TreeId | None]:
    return {
        "published": state.published,
        "draft": state.draft.tree if state.draft else None,
        "meta/context": state.context_tree,
    }


def _shown_heads(state: BenchState) -> dict[str, object]:
    return {
        "published_tree": state.published,
        "draft_tree": state.draft.tree if state.draft else None,
        "context_tree": state.context_tree,
    }


def _shows(view: View, head: TreeId | None) -> bool:
    return not view.folder.exists() if head is None else view.shown() == head


def _warned(salvaged: list[str]) -> list[str]:
    return ["outside_edits_salvaged"] if salvaged else []


def _about(state: BenchState) -> dict[str, object]:
    return {
        "workbench_id": state.bench_id,
        "name": state.name,
        "created_at": timestamp(state.created_ms),
        "published_generation": state.generation,
        "has_draft": state.draft is not None,
    }


def _write_json(path: Path, value: object) -> None:
    temp = path.with_name(f".{path.name}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    with temp.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    temp.replace(path)
