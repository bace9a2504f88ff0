"""Listing a folder of the machine: links are never followed, and what did not change is not
read again."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backshop.base import paths
from backshop.base.errors import ValidationFailed
from backshop.base.system import open_folder

from ..digest.builder import DigestOutput, build_digest
from ..digest.digest import DIGEST_KEY, DigestItem, WorkspaceFingerprint
from ..digest.manifest import Manifest, ManifestEntry, compare
from ..errors import PromptValidationError
from ..session.session import Session
from .glob import glob_regex

DEFAULT_EXCLUDE = (
    *(".git/**", ".hg/**", "node_modules/**", "__pycache__/**", ".venv/**", "*.pyc"),
    *(".backshop/**", ".env*", "*.pem", "*.key", "id_rsa*", "id_ed25519*"),
)
DIGEST_EXCLUDE = (
    *DEFAULT_EXCLUDE,
    *(".mypy_cache/**", ".ruff_cache/**", ".pytest_cache/**", ".hypothesis/**", ".tox/**"),
)
_CHUNK = 1024 * 1024
_HEAD = 8192  # bytes that tell text from the rest
_MAX_DEPTH = 64
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Scanned:
    """A file that was found; `skipped` says why its content is not offered."""

    path: str
    size: int
    sha256: str
    stamp: Stamp
    skipped: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """How much of a folder is taken in."""

    max_files: int = 100_000
    max_file_bytes: int = 256 * 1024 * 1024
    max_total_bytes: int = 4 * 1024 * 1024 * 1024


@dataclass(frozen=True)
class Scan:
    """The files of a folder at one moment, sorted by path."""

    files: tuple[Scanned, ...]
    complete: bool = True

    @cached_property
    def by_path(self) -> Mapping[str, Scanned]:
        """The files by their paths."""
        return {one.path: one for one in self.files}

    @cached_property
    def manifest(self) -> Manifest:
        """The files as prompts and digests speak of them."""
        return Manifest(tuple(_entry(one) for one in self.files), self.complete)


def scan(
    root: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = DEFAULT_EXCLUDE,
    limits: ScanLimits | None = None,
    previous: Scan | None = None,
) -> Scan:
    """Return what is in a folder; contents whose stamp is as in `previous` are not read again."""
    limits = limits or ScanLimits()
    known = previous.by_path if previous else {}
    found: list[Scanned] = []
    total = 0
    complete = True
    closed: list[str] = []
    for path, entry in _walk(root, include, exclude, closed):
        if len(found) >= limits.max_files:
            complete = False
            break
        one = _scanned(root, path, entry, known.get(path), limits, total)
        total += 0 if one.skipped else one.size
        found.append(one)
    found.sort(key=lambda one: one.path.encode("utf-8", "surrogateescape"))
    files = tuple(found)
    made = Scan(files, complete and not closed)
    return previous if previous is not None and previous == made else made


def _scanned(
    root: Path,
    path: str,
    info: os.stat_result,
    before: Scanned | None,
    limits: ScanLimits,
    total: int,
) -> Scanned:
    size = info.st_size
    stamp = (size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
    fits = size <= limits.max_file_bytes and total + size <= limits.max_total_bytes
    if fits and before is not None and before.stamp == stamp and not before.skipped:
        return before
    reason = _skip_reason(path, info, limits, total)
    if reason:
        return Scanned(_shown(path), info.st_size, "", stamp, reason)
    try:
        data_hash, is_text = _hash(root, path)
    except OSError as error:
        return Scanned(path, info.st_size, "", stamp, f"cannot be read: {error.strerror}")
    return Scanned(path, info.st_size, data_hash, stamp, is_text=is_text)


def _skip_reason(path: str, info: os.stat_result, limits: ScanLimits, total: int) -> str:
    if stat.S_ISLNK(info.st_mode):
        return "link"
    if not stat.S_ISREG(info.st_mode):
        return "no file"
    try:
        paths.parse(path)
    except ValidationFailed as error:
        return f"name: {(error.detail or 'bad_path').replace('_', ' ')}"
    if info.st_size > limits.max_file_bytes:
        return "larger than the limit for one file"
    if total + info.st_size > limits.max_total_bytes:
        return "over the limit for all files"
    return ""


def _walk(
    root: Path, include: Sequence[str], exclude: Sequence[str], closed: list[str]
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield files and links with their status; folders that cannot be listed go to `closed`."""
    keep, drop = Globs(include), Globs(exclude)
    pending = [("", str(root))]
    while pending:
        prefix, folder = pending.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            closed.append(prefix)
            continue
        below = []
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not drop.prunes(path) and path.count("/") < _MAX_DEPTH:
                    below.append((f"{path}/", entry.path))
            elif not drop.matches(path) and (not include or keep.matches(path)):
                with suppress(FileNotFoundError):
                    yield path, entry.stat(follow_symlinks=False)
        pending.extend(reversed(below))


class Globs:
    """Patterns of paths: `*.py` by name anywhere, `name/**` a folder anywhere, `a/*.py` by path."""

    def __init__(self, patterns: Iterable[str]) -> None:
        names, folders, whole = [], set(), []
        for pattern in patterns:
            if pattern.endswith("/**") and "/" not in pattern[:-3] and "*" not in pattern[:-3]:
                folders.add(pattern[:-3])
            elif "/" in pattern:
                whole.append(glob_regex(pattern))
            else:
                names.append(glob_regex(pattern))
        self._folders = frozenset(folders)
        self._names = _either(names)
        self._whole = _either(whole)

    def prunes(self, folder: str) -> bool:
        """Say whether everything below a folder matches."""
        return folder.rpartition("/")[2] in self._folders

    def matches(self, path: str) -> bool:
        """Say whether a file matches."""
        name = path.rpartition("/")[2]
        if self._names and self._names.fullmatch(name):
            return True
        if self._whole and self._whole.fullmatch(path):
            return True
        return bool(self._folders) and not self._folders.isdisjoint(path.split("/")[:-1])


def _either(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.DOTALL) if patterns else None


def open_beneath(root: Path, path: str) -> int:
    """Open a file below a folder without following a link anywhere; return its descriptor."""
    *folders, name = path.split("/")
    here = open_folder.open_root(root)
    try:
        for folder in folders:
            below = open_folder.open_folder(folder, here)
            os.close(here)
            here = below
        file = open_folder.open_file(name, folder=here)
    finally:
        os.close(here)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "no regular file")
    return file


def read_beneath(root: Path, path: str, limit: int | None = None) -> bytes:
    """Return a file's content, or its beginning, following no link."""
    with os.fdopen(open_beneath(root, path), "rb") as file:
        return file.read(-1 if limit is None else limit)


def _hash(root: Path, path: str) -> tuple[str, bool]:
    """Return a file's hash, and whether it begins like text."""
    found, is_text = hashlib.sha256(), None
    file = open_folder.open_file(root / path)
    try:
        while chunk := os.read(file, _CHUNK):
            found.update(chunk)
            is_text = b"\0" not in chunk[:_HEAD] if is_text is None else is_text
    finally:
        os.close(file)
    return found.hexdigest(), is_text is not False


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _entry(one: Scanned) -> ManifestEntry:
    from backshop.formats import kind_of_name  # loaded on first use

    kind = kind_of_name(one.path)
    name = kind.value if kind else "text" if one.is_text else "binary"
    reason = one.skipped or ("opaque" if name == "binary" else "")
    return ManifestEntry(one.path, one.size, one.sha256, name, not reason, reason)


class FolderDigest:
    """The digest of a folder, built again only when its files changed."""

    def __init__(
        self,
        root: Path | str,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = DIGEST_EXCLUDE,
        limits: ScanLimits | None = None,
    ) -> None:
        self.root = Path(root).absolute()
        if not self.root.is_dir():
            raise PromptValidationError("there is no such folder", code="MOUNT_NOT_ALLOWED")
        self._include = tuple(include)
        self._exclude = tuple(exclude)
        self._limits = limits
        self._scan: Scan | None = None
        self._built: tuple[str, DigestOutput] | None = None
        self._seen: dict[str, Manifest] = {}

    def refresh(self) -> Manifest:
        """Look at the folder now; return its manifest."""
        self._scan = scan(
            self.root,
            include=self._include,
            exclude=self._exclude,
            limits=self._limits,
            previous=self._scan,
        )
        return self._scan.manifest

    def build(self) -> DigestOutput:
        """Return the digest of the folder as it is now."""
        manifest = self.refresh()
        if self._built is None or self._built[0] != manifest.fingerprint:
            self._built = (manifest.fingerprint, build_digest(manifest, {}, self._read))
        return self._built[1]

    def observe(self, session: Session, key: str = DIGEST_KEY) -> WorkspaceFingerprint:
        """Tell a session the state of the files now, compared with its newest digest."""
        manifest = self.refresh()
        self._seen[manifest.fingerprint] = manifest
        latest = session.workspace_digest.latest(key)
        before = self._seen.get(latest.fingerprint) if latest else None
        change = compare(before, manifest) if before else None
        state = WorkspaceFingerprint(
            fingerprint=manifest.fingerprint,
            files=len(manifest.entries),
            compared_to=latest.fingerprint if latest and change else "",
            added=len(change.added) if change else 0,
            removed=len(change.removed) if change else 0,
            changed=len(change.changed) if change else 0,
        )
        if session[WorkspaceFingerprint].latest() != state:
            session.dispatch(state)
        return state

    def record(self, session: Session, key: str = DIGEST_KEY) -> DigestItem:
        """Make the session's digest that of the files now.

        A digest written by a person or a model stays; where files have changed since, it says
        so itself when it is rendered (P4.10).
        """
        state = self.observe(session, key)
        latest = session.workspace_digest.latest(key)
        if latest and (latest.fingerprint == state.fingerprint or latest.source != "builder"):
            return latest
        made = self.build()
        item = session.workspace_digest.set(
            key,
            made.digest,
            source="builder",
            summary=made.summary,
            fingerprint=state.fingerprint,
        )
        self.observe(session, key)
        return item

    def _read(self, path: str, limit: int) -> bytes | None:
        try:
            return read_beneath(self.root, path, limit)
        except OSError:
            return None
