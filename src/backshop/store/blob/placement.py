"""Files put into a folder and taken out of it, each a file of its own (T4.4).

A stored content is cloned where the file system can, else copied, and never linked: whatever
another program does to a file of a folder, the content it was made from stays as it is. Whatever
stands at a path is looked at before it goes. What is not ours is handed to the caller first, and
no link on the way is ever followed (B4.8).
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from backshop.base import tree
from backshop.base.paths import TEMP_PREFIX, BenchPath
from backshop.base.progress import report
from backshop.base.system import account, file_copy
from backshop.base.system.open_folder import (
    NEW,
    look,
    make_folder,
    open_file,
    open_folder,
    remove_file,
    remove_folder,
    rename,
)

from .blob import Blobs

PLACED = "files placed"
LEFTOVERS = (f"{TEMP_PREFIX}place", f"{TEMP_PREFIX}place-2")
"""Names of files on their way to a place; no bench path begins like this (B4.2)."""
_AT_ONCE = 128  # files that one of two threads places before it takes more
_MANY = 4 * _AT_ONCE  # files from which a second thread is worth its start
_CHUNK = 1024 * 1024
_TRIES = 3  # to copy a file that somebody writes to meanwhile

Keep = Callable[[str, Path], None]
"""Called with a path of the view and a file there that is not ours, before it is displaced."""


@dataclass(slots=True)
class Step:
    """One path on its way: what of ours may be there now, and what is to be there."""

    known: list[tree.File | None]
    after: tree.File | None
    is_polite: bool = False
    """Whether what is not ours stays where it is: the tree is the same, only more or less of it
    is shown."""


class Placer:
    """Puts blob content at a name inside an open folder: cloned, else copied.

    What the file system cannot do is tried once and not again.
    """

    def __init__(self, blobs: Blobs, *, methods: tuple[str, ...] = ("clone", "range")) -> None:
        self._blobs = blobs
        self._methods = set(methods)

    def place(
        self, file: tree.File, folder: int, name: str, temp: str, may_replace: Callable[[], bool]
    ) -> None:
        """Create or replace `name` in the folder with the file's content, atomically.

        What is there is asked about last: a large file takes its time, and others may save
        meanwhile.
        """
        mode = 0o555 if file.mode == "755" else 0o444
        with self._blobs.open(file.sha256) as source:
            self._fill(source.fileno(), folder, temp, mode)
        try:
            if may_replace():
                rename(temp, name, folder)
                return
        except BaseException:
            remove_file(temp, folder)
            raise
        remove_file(temp, folder)

    def own(self, folder: int, name: str) -> int:
        """Give a file that has other names too an inode of its own; return its size.

        Whoever holds it open and writes goes on writing to the other one, so it is copied again
        when that happened meanwhile. What somebody put in its place meanwhile stays.
        """
        source = open_file(name, folder=folder)
        try:
            for _ in range(_TRIES):
                before = os.fstat(source)
                os.lseek(source, 0, os.SEEK_SET)
                self._fill(source, folder, LEFTOVERS[0], stat.S_IMODE(before.st_mode))
                after = os.fstat(source)
                if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                    break
            there = _looked_at(name, folder)
            if there is not None and there.st_ino == before.st_ino:
                rename(LEFTOVERS[0], name, folder)
            else:
                remove_file(LEFTOVERS[0], folder)
            return before.st_size
        finally:
            os.close(source)

    def is_stored(self, there: os.stat_result, file: tree.File) -> bool:
        """Say whether a file is the very one a content is stored in, as it was in 0.1.0."""
        if there.st_nlink == 1:
            return False
        blob = self._blobs.stat(file.sha256)
        return blob is not None and (blob.st_dev, blob.st_ino) == (there.st_dev, there.st_ino)

    def is_content(self, there: os.stat_result, file: tree.File, folder: int, name: str) -> bool:
        """Say whether a name in an open folder holds this content; links are not followed."""
        if not stat.S_ISREG(there.st_mode) or there.st_size != file.size:
            return False
        try:
            handle = open_file(name, folder=folder)
        except PermissionError:
            return False  # not as we made it
        with os.fdopen(handle, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256

    def _fill(self, source: int, folder: int, temp: str, mode: int) -> None:
        """Make the temporary file with what the source holds from here on."""
        with _created(folder, temp, mode) as target:
            if "clone" in self._methods and self._can("clone", file_copy.clone, source, target):
                return
            if "range" in self._methods:
                self._can("range", file_copy.copy_range, source, target)
            while chunk := os.read(source, _CHUNK):  # where the system did not, or not to the end
                _write_all(target, chunk)

    def _can(self, method: str, work: Callable[[int, int], None], source: int, target: int) -> bool:
        try:
            work(source, target)
        except OSError as error:
            if error.errno not in file_copy.UNSUPPORTED:
                raise
            self._methods.discard(method)
            return False
        return True


def _write_all(target: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]


@contextmanager
def _created(folder: int, temp: str, mode: int) -> Iterator[int]:
    try:
        target = open_file(temp, NEW, folder=folder)
    except FileExistsError:  # of somebody who was killed while placing
        remove_file(temp, folder)
        target = open_file(temp, NEW, folder=folder)
    try:
        yield target
        account.set_mode(target, mode)
    except BaseException:
        with suppress(OSError):
            remove_file(temp, folder)
        raise
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
        self._guard = threading.Lock()  # of what others put here, which two threads may meet

    def take(self, steps: Mapping[BenchPath, Step]) -> None:
        """Remove what goes, then place what comes."""
        done = 0
        for path, step in steps.items():
            if step.after is None:
                self._remove(path, step)
                done += 1
                report(PLACED, done, len(steps))
        places = [(path, step, step.after) for path, step in steps.items() if step.after]
        for number in self._placed(places):
            done += number
            report(PLACED, done, len(steps))

    def sweep(self, steps: Iterable[BenchPath]) -> None:
        """Remove what somebody who was killed while placing left where files go."""
        for folder in {path.rpartition("/")[0] for path in steps}:
            handle = _reached(self._root, folder.split("/") if folder else ())
            if handle is None:
                continue
            try:
                for temp in LEFTOVERS:
                    with suppress(FileNotFoundError):
                        remove_file(temp, handle)
            finally:
                os.close(handle)

    def _placed(self, places: Sequence[tuple[BenchPath, Step, tree.File]]) -> Iterator[int]:
        """Place files in the order they come; yield how many are there by now."""
        if len(places) < _MANY:
            yield from self._each_placed(places, LEFTOVERS[0])
            return
        parts = (places[at : at + _AT_ONCE] for at in range(0, len(places), _AT_ONCE))
        free: SimpleQueue[str] = SimpleQueue()
        for temp in LEFTOVERS:
            free.put(temp)

        def work(part: Sequence[tuple[BenchPath, Step, tree.File]]) -> int:
            temp = free.get()
            try:
                return sum(self._each_placed(part, temp))
            finally:
                free.put(temp)

        with ThreadPoolExecutor(len(LEFTOVERS), "placing") as pool:
            found = [pool.submit(work, part) for part in parts]
            try:
                for one in found:
                    yield one.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _each_placed(
        self, places: Sequence[tuple[BenchPath, Step, tree.File]], temp: str
    ) -> Iterator[int]:
        parent, handle = "", open_folder(self._root)
        try:
            for path, step, file in places:
                folder, _, name = path.rpartition("/")
                if folder != parent:
                    os.close(handle)
                    handle = -1
                    handle = self._made(folder)
                    parent = folder
                self._put(path, step, file, handle, name, temp)
                yield 1
        finally:
            if handle >= 0:
                os.close(handle)

    def _put(
        self, path: str, step: Step, file: tree.File, folder: int, name: str, temp: str
    ) -> None:
        there = _looked_at(name, folder) if step.known else None
        if there is not None and self._is_there(there, file, folder, name):
            return

        def may_replace() -> bool:
            there = _looked_at(name, folder) if step.known else None
            return there is None or self._displace(path, step, there, folder, name)

        self._placer.place(file, folder, name, temp, may_replace)

    def _is_there(self, there: os.stat_result, file: tree.File, folder: int, name: str) -> bool:
        """Say whether a name is what it is to be, with an inode of its own."""
        is_program = bool(there.st_mode & stat.S_IXUSR)
        return (
            is_program == (file.mode == "755")
            and not self._placer.is_stored(there, file)
            and self._placer.is_content(there, file, folder, name)
        )

    def _remove(self, path: str, step: Step) -> None:
        *folders, name = path.split("/")
        handle = open_folder(self._root)
        try:
            for segment in folders:
                deeper = _open_folder(segment, handle)
                if deeper is None:
                    return  # not a folder any more: somebody else's doing, and not in the way
                os.close(handle)
                handle = deeper
            there = _looked_at(name, handle)
            if there is not None and not stat.S_ISDIR(there.st_mode):
                if not self._displace(path, step, there, handle, name):
                    return
                remove_file(name, handle)
        finally:
            os.close(handle)
        self._remove_empty_parents(folders)

    def _displace(
        self, path: str, step: Step, there: os.stat_result, folder: int, name: str
    ) -> bool:
        """Keep what is at a path if it is not ours; only a folder is taken away here.

        False says that it stays where it is.
        """
        if stat.S_ISDIR(there.st_mode):
            if step.is_polite:
                return False
            with self._guard:
                for below in _files_below(self._root / path):
                    self._keep(below.relative_to(self._root).as_posix(), below)
                remove_tree(self._root / path)
        elif not self._is_ours(step, there, folder, name):
            if step.is_polite:
                return False
            with self._guard:
                self._keep(path, self._root / path)
        return True

    def _is_ours(self, step: Step, there: os.stat_result, folder: int, name: str) -> bool:
        """Say whether nothing is lost with a name: it holds what we put there.

        A link of a stored content, as in 0.1.0, is read too: an edit in place is in both.
        """
        return any(
            self._placer.is_content(there, file, folder, name) for file in step.known if file
        )

    def _made(self, path: str) -> int:
        """Open a folder below the root, making it; what is no folder on the way is displaced."""
        with self._guard:
            return self._made_alone(path)

    def _made_alone(self, path: str) -> int:
        handle = open_folder(self._root)
        try:
            gone = ""
            for segment in path.split("/") if path else ():
                gone = f"{gone}/{segment}" if gone else segment
                with suppress(FileExistsError):
                    make_folder(segment, handle)
                deeper = _open_folder(segment, handle)
                if deeper is None:
                    self._keep(gone, self._root / gone)
                    remove_file(segment, handle)
                    make_folder(segment, handle)
                    deeper = open_folder(segment, handle)
                os.close(handle)
                handle = deeper
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _remove_empty_parents(self, folders: list[str]) -> None:
        while folders:
            handle = open_folder(self._root)
            try:
                for segment in folders[:-1]:
                    deeper = _open_folder(segment, handle)
                    if deeper is None:
                        return
                    os.close(handle)
                    handle = deeper
                remove_folder(folders[-1], handle)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR):
                    return
                raise
            finally:
                os.close(handle)
            folders = folders[:-1]


def own_links(root: Path, placer: Placer, most_files: int, most_bytes: int) -> bool:
    """Give files below a folder that have other names inodes of their own; say whether all have.

    It ends with the file that reaches one of the limits.
    """
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        segments = waiting.pop()
        handle = _reached(root, segments)
        if handle is None:
            continue
        try:
            for name, found in _listed(handle):
                if stat.S_ISDIR(found.st_mode):
                    waiting.append((*segments, name))
                elif stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
                    if most_files <= 0 or most_bytes <= 0:
                        return False
                    most_bytes -= placer.own(handle, name)
                    most_files -= 1
        finally:
            os.close(handle)
    return True


def _reached(root: Path, segments: Sequence[str]) -> int | None:
    """Open a folder below the root segment by segment; None if it is none any more."""
    try:
        handle = open_folder(root)
    except FileNotFoundError:
        return None
    for segment in segments:
        deeper = _open_folder(segment, handle)
        os.close(handle)
        if deeper is None:
            return None
        handle = deeper
    return handle


def _listed(folder: int) -> list[tuple[str, os.stat_result]]:
    with os.scandir(folder) as listed:
        return [(one.name, one.stat(follow_symlinks=False)) for one in listed]


def _looked_at(name: str, folder: int) -> os.stat_result | None:
    try:
        return look(name, folder)
    except FileNotFoundError:
        return None


def _open_folder(segment: str, parent: int) -> int | None:
    """Open a folder; None if there is none of this name, or a link or a file in its place."""
    try:
        return open_folder(segment, parent)
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
    top = open_folder(path)
    try:
        waiting = _folders(top)
        while waiting:
            folder = open_folder(waiting.pop(), top)
            try:
                for name in _folders(folder):
                    moved = f"{LEFTOVERS[0]}-{os.urandom(8).hex()}"
                    rename(name, moved, folder, top)
                    waiting.append(moved)
            finally:
                os.close(folder)
    finally:
        os.close(top)


def _folders(parent: int) -> list[str]:
    with os.scandir(parent) as listed:
        return [entry.name for entry in listed if entry.is_dir(follow_symlinks=False)]
