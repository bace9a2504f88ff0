"""Trees as folders on disk: linked, not copied, where the file system can (T4.4, B2.6).

A view is a cache. Each has a spare folder beside it; the spare is brought from the tree it holds
to the wanted one, touching only files that differ, and then the two exchange places in one
system call. A note beside them says which tree each folder holds, by inode, so that it stays
right whichever side of the exchange a crash falls on.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backshop.base import tree
from backshop.base.ids import TreeId

from .blobs import Blobs
from .errors import SandboxViolation
from .spool import file_error

_FICLONE = 0x40049409
_RENAME_EXCHANGE = 2
_AT_FDCWD = -100
_TEMP = ".bs-tmp-place"  # no bench path begins like this (B4.2)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_UNSUPPORTED = {
    *(errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.EPERM, errno.EMLINK),
    *(errno.ENOSYS, errno.EACCES),
}


class Placer:
    """Puts blob content at a name inside an open folder: reflink, else hardlink, else copy.

    What the file system cannot do is tried once and not again.
    """

    def __init__(self, blobs: Blobs, *, methods: tuple[str, ...] = ("clone", "link")) -> None:
        self._blobs = blobs
        self._methods = list(methods)

    def place(self, file: tree.File, folder: int, name: str) -> None:
        """Create or replace `name` in the folder with the file's content, atomically."""
        source = self._blobs.path(file.sha256)
        with suppress(FileNotFoundError):
            os.unlink(_TEMP, dir_fd=folder)
        mode = 0o555 if file.mode == "755" else 0o444
        if not any(self._try(method, source, folder, mode) for method in tuple(self._methods)):
            self._copy(source, folder, mode)
        os.rename(_TEMP, name, src_dir_fd=folder, dst_dir_fd=folder)

    def _try(self, method: str, source: Path, folder: int, mode: int) -> bool:
        try:
            if method == "clone":
                self._clone(source, folder, mode)
            elif mode == 0o444:
                os.link(source, _TEMP, dst_dir_fd=folder)
            else:
                return False  # a mode belongs to the inode, so this one cannot be shared
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            if error.errno != errno.EMLINK:  # too many links to this one blob, others still go
                self._methods.remove(method)
            with suppress(FileNotFoundError):
                os.unlink(_TEMP, dir_fd=folder)
            return False
        return True

    def _clone(self, source: Path, folder: int, mode: int) -> None:
        with source.open("rb") as reading, _created(folder, mode) as target:
            fcntl.ioctl(target, _FICLONE, reading.fileno())

    def _copy(self, source: Path, folder: int, mode: int) -> None:
        with (
            source.open("rb") as reading,
            _created(folder, mode) as target,
            os.fdopen(os.dup(target), "wb") as writing,
        ):
            shutil.copyfileobj(reading, writing)


@contextmanager
def _created(folder: int, mode: int) -> Iterator[int]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    target = os.open(_TEMP, flags, 0o600, dir_fd=folder)
    try:
        yield target
        os.fchmod(target, mode)
    finally:
        os.close(target)


class View:
    """A folder that shows a tree, with its spare. Not for two writers at once (B3.7)."""

    def __init__(self, folder: Path, load: tree.Load, placer: Placer) -> None:
        self.folder = folder
        self._spare = folder.with_name(f".{folder.name}.spare")
        self._note = folder.with_name(f".{folder.name}.view.json")
        self._load = load
        self._placer = placer

    def shown(self) -> TreeId | None:
        """Return the tree the folder claims to hold, or None if that is not known."""
        return self._claims().get(_inode(self.folder))

    @property
    def is_new(self) -> bool:
        """Whether the view was never shown here."""
        return not self._note.exists() and not self.folder.exists()

    def show(self, wanted: TreeId) -> None:
        """Bring the folder to a tree; a reader sees the old one or the new one, never a mixture.

        Raises:
            DiskFull, WriteFailed: the folder still shows what it showed.
        """
        try:
            if self.shown() == wanted:
                return
            self._prepare(wanted)
            self._exchange()
        except OSError as error:
            raise file_error(error) from error

    def forget(self) -> None:
        """Claim nothing about the folder any more: somebody else wrote into it."""
        claims = self._claims()
        if claims.pop(_inode(self.folder), None) is not None:
            self._write_claims(claims)

    def remove(self) -> None:
        """Remove folder, spare and note."""
        self._note.unlink(missing_ok=True)  # first: what is half removed must claim nothing
        for path in (self.folder, self._spare):
            _remove_tree(path)

    def _prepare(self, wanted: TreeId) -> None:
        """Make the spare hold `wanted`, from what it holds if that is known."""
        claims = self._claims()
        held = claims.pop(_inode(self._spare), None)
        self._write_claims(claims)  # from here on the spare claims nothing
        if held is None:
            _remove_tree(self._spare)
            self._spare.mkdir(parents=True)
            held = tree.EMPTY
        try:
            self._bring(held, wanted)
        except (SandboxViolation, FileNotFoundError, NotADirectoryError, IsADirectoryError):
            _remove_tree(self._spare)  # somebody else was in there: begin with an empty one
            self._spare.mkdir(parents=True)
            self._bring(tree.EMPTY, wanted)
        self._write_claims({**claims, _inode(self._spare): wanted})

    def _bring(self, held: TreeId, wanted: TreeId) -> None:
        changes = list(tree.diff(held, wanted, self._load))
        for change in changes:
            if change.after is None:
                with _opened(self._spare, change.path, create=False) as (folder, name):
                    os.unlink(name, dir_fd=folder)
                _remove_empty_parents(self._spare, change.path)
        for change in changes:
            if change.after is not None:
                with _opened(self._spare, change.path, create=True) as (folder, name):
                    self._placer.place(change.after, folder, name)

    def _exchange(self) -> None:
        if not self.folder.exists():
            self._spare.rename(self.folder)
        elif not _exchange_names(self._spare, self.folder):
            aside = self.folder.with_name(f".{self.folder.name}.old")
            _remove_tree(aside)
            self.folder.rename(aside)
            self._spare.rename(self.folder)
            aside.rename(self._spare)

    def _claims(self) -> dict[int, TreeId]:
        try:
            raw = json.loads(self._note.read_text(encoding="utf-8"))
            return {int(inode): TreeId(str(held)) for inode, held in raw.items()}
        except (OSError, ValueError, AttributeError):
            return {}  # no note, or not ours: nothing is claimed

    def _write_claims(self, claims: dict[int, TreeId]) -> None:
        known = {_inode(self.folder), _inode(self._spare)}
        kept = {str(inode): held for inode, held in claims.items() if inode in known}
        temp = self._note.with_name(f"{self._note.name}.tmp")
        self._note.parent.mkdir(parents=True, exist_ok=True)
        temp.write_text(json.dumps(kept), encoding="utf-8")
        temp.replace(self._note)


def _inode(path: Path) -> int:
    try:
        return path.stat(follow_symlinks=False).st_ino
    except FileNotFoundError:
        return -1


@contextmanager
def _opened(root: Path, path: str, *, create: bool) -> Iterator[tuple[int, str]]:
    """Give the open parent folder and the name, resolved segment by segment (B4.8)."""
    *folders, name = path.split("/")
    handle = os.open(root, _FOLDER)
    try:
        for segment in folders:
            if create:
                with suppress(FileExistsError):
                    os.mkdir(segment, dir_fd=handle)
            deeper = _open_folder(segment, handle)
            os.close(handle)
            handle = deeper
        yield handle, name
    finally:
        os.close(handle)


def _open_folder(segment: str, parent: int) -> int:
    try:
        return os.open(segment, _FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise SandboxViolation("a link stands in a view", reason="sandbox_anomaly") from error
        raise


def _remove_empty_parents(root: Path, path: str) -> None:
    folders = path.split("/")[:-1]
    while folders:
        with _opened(root, "/".join(folders), create=False) as (parent, name):
            try:
                os.rmdir(name, dir_fd=parent)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    return
                raise
        folders.pop()


def _remove_tree(path: Path) -> None:
    """Remove a folder without following links; read-only files in it are no obstacle."""
    try:
        is_folder = stat.S_ISDIR(path.stat(follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if is_folder:
        shutil.rmtree(path)
    else:
        path.unlink()


def _exchange_names(one: Path, two: Path) -> bool:
    """Swap two names atomically; False where the system cannot (B3.5)."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    done = rename(
        _AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(two), ctypes.c_uint(_RENAME_EXCHANGE)
    )
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))
