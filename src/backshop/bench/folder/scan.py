"""What a person's folder holds of what its bench follows, without reading what did not change."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from backshop.base import paths
from backshop.base.errors import LimitExceeded, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.paths import TEMP_PREFIX, BenchPath, collision_key
from backshop.base.system import open_folder
from backshop.base.tree import File

from ..files.source import SKIPPED_FOLDERS, mode_of
from ..values import Limits
from .ignore import Ignores
from .index import Index, Print, print_of
from .root import Root

SKIPPED_MAX = 20_000  # told one by one; a folder with more is not one to follow
_CHUNK = 1024 * 1024

Read = Callable[[int], tuple[BlobId, int]]
"""Reads an open file to its end: the name of its content, and its length."""


@dataclass(slots=True)
class Look:
    """What was found in a folder."""

    files: dict[BenchPath, File] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """What is passed over, with the reason; of a folder, everything in it."""
    prints: dict[str, tuple[Print, BlobId]] = field(default_factory=dict)
    reads: int = 0
    """How many files had to be read."""

    def why_not(self, path: BenchPath) -> str | None:
        """Say why a path could not be looked at, itself or as part of a folder."""
        parts = path.split("/")
        names = ("/".join(parts[:depth]) for depth in range(len(parts), 0, -1))
        return next((self.skipped[name] for name in names if name in self.skipped), None)


class Scan:
    """One walk through a folder.

    `known` are the paths that are followed already: ignore files do not hide them, but all else
    in a folder that is left out; of two names that differ in case alone they go first.
    """

    def __init__(
        self,
        limits: Limits,
        ignores: Ignores,
        known: Collection[BenchPath] = (),
        index: Index | None = None,
        read: Read | None = None,
    ) -> None:
        self._limits = limits
        self._ignores = ignores
        self._known = frozenset(known)
        self._known_folders = {
            path[:at] for path in known for at in range(len(path)) if path[at] == "/"
        }
        self._index = index or Index()
        self._read = read or hashed
        self._claimed: dict[str, str] | None = None

    def look(self, root: Root) -> Look:
        """Walk the folder.

        Raises:
            LimitExceeded: more files than the bench takes, or passed over than can be told.
            OSError: the folder itself cannot be listed.
        """
        found = Look()
        waiting: list[tuple[tuple[str, ...], Ignores]] = [((), self._ignores)]
        while waiting:
            segments, ignores = waiting.pop()
            try:
                with root.entered(segments) as handle:
                    below = self._folder(handle, segments, ignores, found)
            except OSError as error:
                if not segments:
                    raise
                gone = isinstance(error, FileNotFoundError)
                if not gone:
                    is_link = isinstance(error, NotADirectoryError)
                    found.skipped["/".join(segments)] = "symlink" if is_link else "unreadable"
                continue
            waiting += reversed(below)
        return found

    def _folder(
        self, handle: int, segments: tuple[str, ...], ignores: Ignores, found: Look
    ) -> list[tuple[tuple[str, ...], Ignores]]:
        """Look at what is in one open folder; return the folders in it to go on with."""
        inner = ignores.with_folder(handle, segments)
        deeper: list[tuple[tuple[str, ...], Ignores]] = []
        with os.scandir(handle) as listed:
            entries = sorted(listed, key=self._order(segments))
            for entry in entries:
                path = (*segments, entry.name)
                if entry.name.startswith(TEMP_PREFIX):
                    continue  # of somebody who writes here, or was killed at it
                if entry.is_dir(follow_symlinks=False):
                    below = inner.inside(path)
                    if self._is_entered(path, below):
                        deeper.append((path, below))
                    continue
                self._entry(handle, entry, path, inner, found)
                self._require_end(found)
        return deeper

    def _order(self, segments: tuple[str, ...]) -> Callable[[os.DirEntry[str]], tuple[bool, str]]:
        folder = "".join(f"{one}/" for one in segments)
        return lambda entry: (folder + entry.name not in self._known, entry.name)

    def _is_entered(self, path: tuple[str, ...], below: Ignores) -> bool:
        """Say whether a folder is looked into; one that is left out, for what is followed in it."""
        if path[-1] in SKIPPED_FOLDERS:
            return False
        return not below.is_closed or "/".join(path) in self._known_folders

    def _entry(
        self,
        handle: int,
        entry: os.DirEntry[str],
        segments: tuple[str, ...],
        ignores: Ignores,
        found: Look,
    ) -> None:
        raw = "/".join(segments)
        path, reason = self._named(raw)
        if path not in self._known and (
            segments[-1] in SKIPPED_FOLDERS or ignores.leaves_out(segments, is_folder=False)
        ):
            return
        said = raw if path is None else path
        if reason is None and entry.is_symlink():
            reason = "symlink"
        if reason is not None or path is None:
            found.skipped[_tellable(said)] = reason or "invalid_name"
            return
        if path in found.files or not self._is_free(path):
            found.skipped[_tellable(raw)] = "collision"
            return
        try:
            here = entry.stat(follow_symlinks=False)
            reason = self._content(handle, entry.name, path, here, found)
        except FileNotFoundError:
            return  # gone this moment
        except OSError:
            reason = "unreadable"
        if reason is not None:
            found.skipped[path] = reason

    def _is_free(self, path: BenchPath) -> bool:
        """Say whether no other file or folder has this name but for case (B4.4), and claim it."""
        if path in self._known:
            return True
        if self._claimed is None:  # only folders with new files pay for it
            self._claimed = dict(claim for known in self._known for claim in _claims(known))
        wanted = _claims(path)
        if any(self._claimed.get(key, said) != said for key, said in wanted):
            return False
        self._claimed.update(wanted)
        return True

    def _named(self, raw: str) -> tuple[BenchPath | None, str | None]:
        if raw in self._known:
            return BenchPath(raw), None
        try:
            return paths.parse(raw, max_depth=self._limits.max_depth).path, None
        except ValidationFailed as error:
            return None, "depth_limit" if error.detail == "too_deep" else "invalid_name"

    def _content(
        self, handle: int, name: str, path: BenchPath, here: os.stat_result, found: Look
    ) -> str | None:
        """Note what a file holds; return why not, if so."""
        if not stat.S_ISREG(here.st_mode):
            return "not_regular"
        if here.st_size > self._limits.max_file_bytes:
            return "size_limit"
        blob, size = self._index.known(path, here), here.st_size
        if blob is None:
            file = open_folder.open_file(name, folder=handle)
            try:
                here = os.fstat(file)
                if not stat.S_ISREG(here.st_mode):
                    return "not_regular"
                blob, size = self._read(file)
            finally:
                os.close(file)
            found.reads += 1
        found.files[path] = File(blob, size, mode_of(here))
        found.prints[path] = (print_of(here), blob)
        return None

    def _require_end(self, found: Look) -> None:
        most = max(self._limits.max_files, len(self._known))
        if len(found.files) > most:
            raise LimitExceeded(
                "the folder holds more files than the workbench takes",
                reason="too_large",
                detail=f"max_files limit={self._limits.max_files}",
            )
        if len(found.skipped) > SKIPPED_MAX:
            raise LimitExceeded(
                "too many files were passed over", reason="too_large", detail=f"limit={SKIPPED_MAX}"
            )


@dataclass(frozen=True, slots=True)
class Outside:
    """A path of the folder that is not what it is known to hold."""

    path: BenchPath
    expected: File | None
    found: File | None
    """What is there; None: nothing."""
    reason: str | None = None
    """Why nobody can say what is there: it could not be read, is a link, is too long."""


def outside(expected: Mapping[BenchPath, File], found: Look) -> Iterator[Outside]:
    """Yield where a folder differs from what it is known to hold; not where only rights do."""
    for path in sorted({*expected, *found.files}):
        was, is_now = expected.get(path), found.files.get(path)
        if was is not None and is_now is not None and was.sha256 == is_now.sha256:
            continue
        yield Outside(path, was, is_now, found.why_not(path) if is_now is None else None)


def looked_up(found: Look, began_ns: int) -> Index:
    """Return the index of a look that began then."""
    return Index(began_ns, found.prints)


def now_ns() -> int:
    """Return when a look begins."""
    return time.time_ns()


def hashed(handle: int) -> tuple[BlobId, int]:
    """Return the name of an open file's content, and its length."""
    found, size = hashlib.sha256(), 0
    while chunk := os.read(handle, _CHUNK):
        found.update(chunk)
        size += len(chunk)
    return BlobId(found.hexdigest()), size


def is_kept_out(path: str) -> bool:
    """Say whether a path leads into what a version store keeps for itself, however it is spelled.

    A hook of git is a program that runs: whatever is published, nothing is written there.
    """
    return any(segment.casefold() in SKIPPED_FOLDERS for segment in path.split("/"))


def _claims(path: str) -> list[tuple[str, str]]:
    """Return the names a path needs, its folders' and its own, by what they collide with."""
    parts = path.split("/")
    folders = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    return [(collision_key(path), path), *((collision_key(one), f"{one}/") for one in folders)]


def _tellable(name: str) -> str:
    """Return a name as an answer can carry it: what is no text is told in other characters."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
