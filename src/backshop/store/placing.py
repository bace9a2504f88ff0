"""Files put into a folder and taken out of it: linked, not copied, where the system can (T4.4).

Whatever stands at a path is looked at before it goes. What is not ours is handed to the caller
first, and no link on the way is ever followed (B4.8).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from backshop.base import tree
from backshop.base.paths import TEMP_PREFIX, BenchPath
from backshop.base.progress import report

from .blobs import Blobs

_FICLONE = 0x40049409
PLACED = "files placed"
_TEMP = f"{TEMP_PREFIX}place"  # no bench path begins like this (B4.2)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_UNSUPPORTED = {
    *(errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.EPERM, errno.EMLINK),
    *(errno.ENOSYS, errno.EACCES),
}

Keep = Callable[[str, Path], None]
"""Called with a path of the view and a file there that is not ours, before it is displaced."""


@dataclass(slots=True)
class Step:
    """One path on its way: what of ours may be there now, and what is to be there."""

    known: list[tree.File | None]
    after: tree.File | None


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

    def is_shared(self, there: os.stat_result, file: tree.File) -> bool:
        """Say whether a file is the very one the content is stored in."""
        blob = self._blobs.stat(file.sha256)
        return blob is not None and (blob.st_dev, blob.st_ino) == (there.st_dev, there.st_ino)

    def is_content(self, there: os.stat_result, file: tree.File, folder: int, name: str) -> bool:
        """Say whether a name in an open folder holds this content; links are not followed."""
        if not stat.S_ISREG(there.st_mode) or there.st_size != file.size:
            return False
        if self.is_shared(there, file):
            return True
        with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256

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


class Hand:
    """Takes the steps of a change in a folder, resolving names segment by segment (B4.8).

    What others put in the way of a file is kept and displaced; what they put elsewhere stays.
    """

    def __init__(self, root: Path, placer: Placer, keep: Keep) -> None:
        self._root = root
        self._placer = placer
        self._keep = keep

    def take(self, steps: Mapping[BenchPath, Step]) -> None:
        """Remove what goes, then place what comes."""
        done = 0
        for path, step in steps.items():
            if step.after is None:
                self._remove(path, step)
                done += 1
                report(PLACED, done, len(steps))
        parent, handle = "", os.open(self._root, _FOLDER)
        try:
            for path, step in steps.items():
                if step.after is None:
                    continue
                folder, _, name = path.rpartition("/")
                if folder != parent:
                    os.close(handle)
                    handle = -1
                    handle = self._made(folder)
                    parent = folder
                self._put(path, step, step.after, handle, name)
                done += 1
                report(PLACED, done, len(steps))
        finally:
            if handle >= 0:
                os.close(handle)

    def _put(self, path: str, step: Step, file: tree.File, folder: int, name: str) -> None:
        there = _looked_at(name, folder) if step.known else None
        if there is not None:
            if file.mode == "644" and self._placer.is_shared(there, file):
                return  # it is there already
            self._displace(path, step, there, folder, name)
        self._placer.place(file, folder, name)

    def _remove(self, path: str, step: Step) -> None:
        *folders, name = path.split("/")
        handle = os.open(self._root, _FOLDER)
        try:
            for segment in folders:
                deeper = _open_folder(segment, handle)
                if deeper is None:
                    return  # not a folder any more: somebody else's doing, and not in the way
                os.close(handle)
                handle = deeper
            with suppress(FileNotFoundError):
                os.unlink(_TEMP, dir_fd=handle)  # of somebody who was killed while placing
            there = _looked_at(name, handle)
            if there is not None and not stat.S_ISDIR(there.st_mode):
                self._displace(path, step, there, handle, name)
                os.unlink(name, dir_fd=handle)
        finally:
            os.close(handle)
        self._remove_empty_parents(folders)

    def _displace(
        self, path: str, step: Step, there: os.stat_result, folder: int, name: str
    ) -> None:
        """Keep what is at a path if it is not ours; only a folder is taken away here."""
        if stat.S_ISDIR(there.st_mode):
            for below in _files_below(self._root / path):
                self._keep(below.relative_to(self._root).as_posix(), below)
            remove_tree(self._root / path)
        elif not any(
            self._placer.is_content(there, file, folder, name) for file in step.known if file
        ):
            self._keep(path, self._root / path)

    def _made(self, path: str) -> int:
        """Open a folder below the root, making it; what is no folder on the way is displaced."""
        handle = os.open(self._root, _FOLDER)
        try:
            gone = ""
            for segment in path.split("/") if path else ():
                gone = f"{gone}/{segment}" if gone else segment
                with suppress(FileExistsError):
                    os.mkdir(segment, dir_fd=handle)
                deeper = _open_folder(segment, handle)
                if deeper is None:
                    self._keep(gone, self._root / gone)
                    os.unlink(segment, dir_fd=handle)
                    os.mkdir(segment, dir_fd=handle)
                    deeper = os.open(segment, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = deeper
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _remove_empty_parents(self, folders: list[str]) -> None:
        while folders:
            handle = os.open(self._root, _FOLDER)
            try:
                for segment in folders[:-1]:
                    deeper = _open_folder(segment, handle)
                    if deeper is None:
                        return
                    os.close(handle)
                    handle = deeper
                os.rmdir(folders[-1], dir_fd=handle)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR):
                    return
                raise
            finally:
                os.close(handle)
            folders = folders[:-1]


def _looked_at(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _open_folder(segment: str, parent: int) -> int | None:
    """Open a folder; None if there is none of this name, or a link or a file in its place."""
    try:
        return os.open(segment, _FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENOENT):
            return None
        raise


def _files_below(folder: Path) -> Iterator[Path]:
    waiting = [str(folder)]
    while waiting:  # no recursion: others may nest folders as deep as they like
        with os.scandir(waiting.pop()) as listed:
            for entry in list(listed):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield Path(entry.path)


def remove_tree(path: Path) -> None:
    """Remove a folder without following links; read-only files in it are no obstacle."""
    try:
        is_folder = stat.S_ISDIR(path.stat(follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except RecursionError:
        _flatten(path)
        shutil.rmtree(path)


def _flatten(path: Path) -> None:
    """Move every folder below another directly into the top one; they are about to go anyway."""
    top = os.open(path, _FOLDER)
    try:
        waiting = _folders(top)
        while waiting:
            folder = os.open(waiting.pop(), _FOLDER, dir_fd=top)
            try:
                for name in _folders(folder):
                    moved = f"{_TEMP}-{os.urandom(8).hex()}"
                    os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top)
                    waiting.append(moved)
            finally:
                os.close(folder)
    finally:
        os.close(top)


def _folders(parent: int) -> list[str]:
    with os.scandir(parent) as listed:
        return [entry.name for entry in listed if entry.is_dir(follow_symlinks=False)]
