"""Files from outside: read once, never followed, never written; and copies going out (B4.9, B6)."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.system import file_name, open_folder
from backshop.base.tree import File, Mode
from backshop.store import Batch, Blobs, StorageCorrupt, file_error

from ..errors import SourceUnreadable

HEAD_BYTES = 64 * 1024  # what classifying looks at (F2.1)
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn"})


class Skip(Exception):
    """This one source is passed over; the word says why (B6.7), the detail more of it."""

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A source to be read, and the path below the destination it will get."""

    source: Path
    relative: str


def found_sources(source: Path, *, recursive: bool) -> Iterator[FoundSource | tuple[Path, str]]:
    """Yield files to read; a pair of path and reason for what is passed over.

    A folder is walked only when asked to, without following links and without VCS internals.
    """
    try:
        mode = source.lstat().st_mode
    except (OSError, ValueError):  # ValueError: NUL or half a surrogate, no name at all
        yield source, "unreadable"
        return
    if stat.S_ISLNK(mode):
        yield source, "symlink"
    elif stat.S_ISDIR(mode) and not recursive:
        yield source, "directory"
    elif stat.S_ISDIR(mode):
        yield from _walk(source)
    elif stat.S_ISREG(mode):
        yield FoundSource(source, source.name)
    else:
        yield source, "not_regular"


def _walk(source: Path) -> Iterator[FoundSource | tuple[Path, str]]:
    """Yield the files of a folder, then those of the folders in it, each in order of names."""
    waiting = [(str(source), source.name)]
    while waiting:  # no recursion: folders may be nested as deep as they like
        folder, relative = waiting.pop()
        try:
            with os.scandir(folder) as listed:
                inside = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            yield Path(folder), "unreadable"
            continue
        deeper: list[tuple[str, str]] = []
        for entry in inside:
            if entry.is_symlink():
                yield Path(entry.path), "symlink"
            elif not entry.is_dir(follow_symlinks=False):
                yield FoundSource(Path(entry.path), f"{relative}/{entry.name}")
            elif entry.name not in SKIPPED_FOLDERS:
                deeper.append((entry.path, f"{relative}/{entry.name}"))
        waiting += reversed(deeper)


@dataclass(frozen=True, slots=True)
class Taken:
    """A source's content in a batch, and its first bytes, which say what it is."""

    blob: BlobId
    size: int
    head: bytes
    mode: Mode


class SourceGate:
    """Opens sources: regular files outside the home, no link followed, no waiting (B4.9, B6.7)."""

    def __init__(self, home: Path, limit_bytes: int) -> None:
        self._home = os.path.realpath(home)
        self._limit = limit_bytes

    def look(self, source: Path) -> int:
        """Return how long a source says it is.

        Raises:
            Skip: it cannot or must not be read, or is too long already.
        """
        handle = self._opened(source)
        try:
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > self._limit:
            raise Skip("size_limit")
        return size

    def take(self, source: Path, batch: Batch) -> Taken:
        """Read a source once into a batch; its length is what was read, not what it said.

        Raises:
            Skip: it cannot or must not be read; nothing of it is kept.
        """
        with os.fdopen(self._opened(source), "rb", buffering=0) as file:
            mode = mode_of(os.fstat(file.fileno()))
            peek = _Peek(file)
            try:
                taken = batch.add_stream(peek, self._limit)
            except _ReadFailed as error:
                raise Skip("read_failed") from error
        if taken is None:
            raise Skip("size_limit")
        return Taken(*taken, peek.head, mode)

    def _opened(self, source: Path) -> int:
        try:
            handle = open_folder.open_file(source)
        except (OSError, ValueError) as error:  # ValueError: NUL or half a surrogate
            is_link = isinstance(error, OSError) and error.errno == errno.ELOOP
            raise Skip("symlink" if is_link else "unreadable") from error
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise Skip("not_regular")
            if f"{file_name.real_path(handle, source)}/".startswith(f"{self._home}/"):
                raise Skip("inside_home")
        except BaseException:
            os.close(handle)
            raise
        return handle


def mode_of(found: os.stat_result) -> Mode:
    """Return the mode a file has in a tree: whether its owner may execute it (B2.4)."""
    return "755" if found.st_mode & stat.S_IXUSR else "644"


class _ReadFailed(Exception):
    """The source, not the store, refused."""


class _Peek:
    """Remembers the first bytes of what is read through it, and tells read errors apart."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file
        self.head = b""

    def read(self, size: int, /) -> bytes:
        """Read on."""
        try:
            chunk = self._file.read(size) or b""
        except OSError as error:
            raise _ReadFailed from error
        if len(self.head) < HEAD_BYTES:
            self.head += chunk[: HEAD_BYTES - len(self.head)]
        return chunk


def read_source(text: str, blobs: Blobs, home: Path, limit_bytes: int) -> tuple[str, BlobId]:
    """Return name and content of the one file a command is about (B4.9).

    Raises:
        ValidationFailed: it is a link, no regular file, too large, or inside the home.
        SourceUnreadable: it is missing or may not be read.
    """
    source = given_path(text)
    try:
        with blobs.batch() as batch:
            blob = SourceGate(home, limit_bytes).take(source, batch).blob
    except Skip as skip:
        if skip.reason == "unreadable":
            if not os.path.lexists(source):
                said = f"there is no file {source}"
                raise SourceUnreadable(said, reason="unreadable") from skip
            raise SourceUnreadable(f"{source.name} cannot be read", reason="unreadable") from skip
        raise ValidationFailed(f"{source.name} cannot be taken", reason=skip.reason) from skip
    return source.name, blob


def given_path(text: str) -> Path:
    """Return a path as the person gave it, `~` expanded where there is such a home."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def require_destination(text: str, home: Path) -> Path:
    """Return an existing writable folder outside the home, or refuse (B6.14)."""
    if not text:
        raise ValidationFailed("the destination is empty", reason="bad_destination")
    try:
        target = given_path(text).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ValidationFailed(
            f"there is no such folder: {text}",
            reason="bad_destination",
            hints=("make it first, or name one that is there",),
        ) from error
    if not target.is_dir():
        raise ValidationFailed(f"this is not a folder: {target}", reason="bad_destination")
    if target.is_relative_to(home.resolve()):
        raise ValidationFailed(
            f"{target} lies in Backshop's own folder {home.resolve()}",
            reason="bad_destination",
            hints=("name a folder outside it",),
        )
    if not os.access(target, os.W_OK | os.X_OK):
        raise ValidationFailed(f"{target} cannot be written", reason="bad_destination")
    return target


def copy_out(file: File, blobs: Blobs, folder: Path, relative: str) -> Path:
    """Copy content to a name that is free; existing files are never overwritten.

    Folders below the destination are entered one by one, and no link among them is followed.

    Raises:
        Skip: `disk_full`, `copy_failed`, `symlink`, `missing_blob` or `altered_blob`.
    """
    *folders, name = relative.split("/")
    try:
        source = blobs.path(file.sha256)
        handle = _entered(folder, folders)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Skip("symlink") from error
        raise _unwritten(error) from error
    except NotFound as error:
        raise Skip("missing_blob") from error
    except StorageCorrupt as error:
        raise Skip("altered_blob") from error
    try:
        return folder.joinpath(*folders, _placed(file, source, handle, name))
    except OSError as error:
        raise _unwritten(error) from error
    finally:
        os.close(handle)


def _unwritten(error: OSError) -> Skip:
    return Skip("disk_full" if file_error(error).code == "DISK_FULL" else "copy_failed")


def _entered(folder: Path, below: Sequence[str]) -> int:
    """Open a folder, making what is missing on the way to it."""
    handle = open_folder.open_root(folder)
    try:
        for name in below:
            with suppress(FileExistsError):
                open_folder.make_folder(name, handle)
            try:
                deeper = open_folder.open_folder(name, handle)
            except NotADirectoryError as error:  # what Linux says of a link
                if stat.S_ISLNK(open_folder.look(name, handle).st_mode):
                    raise OSError(errno.ELOOP, "a link") from error
                raise
            os.close(handle)
            handle = deeper
    except BaseException:
        os.close(handle)
        raise
    return handle


def _placed(file: File, source: Path, folder: int, name: str) -> str:
    """Copy a content into an open folder under a name that is free; return the name."""
    for candidate in free_names(Path(name)):
        mode = int(file.mode, 8)
        try:
            handle = open_folder.open_file(candidate.name, open_folder.NEW, mode, folder=folder)
        except FileExistsError:
            continue
        try:
            with os.fdopen(handle, "wb") as writing, source.open("rb") as reading:
                while chunk := reading.read(1024 * 1024):
                    writing.write(chunk)
        except OSError:
            open_folder.remove_file(candidate.name, folder)
            raise
        return candidate.name
    raise FileExistsError(errno.EEXIST, "no free name")


def free_names(target: Path) -> Iterator[Path]:
    """Yield `name`, `name(1)`, `name(2)`, … with the number before the extension."""
    yield target
    for number in range(1, 100_000):
        yield target.with_name(numbered(target.name, number))


def numbered(name: str, number: int) -> str:
    """Return `stem(N).ext`; a dot-file has no extension (B6.14)."""
    path = PurePosixPath(name)
    return f"{path.stem}({number}){path.suffix}"
