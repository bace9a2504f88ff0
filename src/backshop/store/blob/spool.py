"""Contents on their way in: written aside, made durable together, then named (T2.6, T4.1).

A name never appears before its content is durable. For one content that costs two syncs; a batch
of thousands asks the file system once for all of them where the system can (`syncfs`).
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from backshop.base.canon import sha256_hex
from backshop.base.errors import DiskFull
from backshop.base.ids import BlobId
from backshop.base.system import account
from backshop.base.system.durability import sync_file, sync_file_system, sync_folder

from ..errors import ReadOnlyHome, WriteFailed

TEMP = "tmp-"
_CHUNK = 1024 * 1024
_MANY = 64  # files or folders from which one sync of the file system is cheaper than one each

Renew = Callable[[BlobId], bool]
Name = Callable[[dict[BlobId, Path]], None]


class Readable(Protocol):
    """Something bytes can be read from, in pieces."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""
        ...


class Batch:
    """Contents that become blobs together when the batch ends; before that nobody sees them."""

    def __init__(self, folder: Path, renew: Renew, name: Name) -> None:
        self._folder = folder
        self._renew = renew
        self._name = name
        self._written: dict[BlobId, Path] = {}

    def add(self, content: bytes | Path) -> BlobId:
        """Take bytes, or what a file holds now."""
        with file_errors():
            if isinstance(content, bytes):
                name = BlobId(sha256_hex(content))
                if name not in self._written and not self._renew(name):
                    self._written[name] = _written(self._folder, [content])
                return name
            with content.open("rb") as source:  # hashed while copied: the source may change
                temp, name, _ = copied(self._folder, _chunks(source))
            return self._take(temp, name)

    def add_stream(self, source: Readable, limit_bytes: int) -> tuple[BlobId, int] | None:
        """Take what an open file holds, read once; None if it is longer than the limit."""
        with file_errors():
            limited = _Limited(source, limit_bytes)
            temp, name, size = copied(self._folder, _chunks(limited))
            if size > limit_bytes:
                temp.unlink()
                return None
            return self._take(temp, name), size

    def commit(self) -> None:
        """Make everything durable, then give it its name."""
        written, self._written = self._written, {}
        if not written:
            return
        try:
            with file_errors():
                sync_files(self._folder, list(written.values()))
                self._name(written)
        finally:
            _remove(written.values())

    def discard(self) -> None:
        """Forget what was taken in."""
        _remove(self._written.values())
        self._written.clear()

    def _take(self, temp: Path, name: BlobId) -> BlobId:
        if name in self._written or self._renew(name):
            temp.unlink()
        else:
            self._written[name] = temp
        return name


class _Limited:
    """Reads at most one byte more than allowed, which is how too much is noticed."""

    def __init__(self, source: Readable, limit_bytes: int) -> None:
        self._source = source
        self._left = limit_bytes + 1

    def read(self, size: int) -> bytes:
        """Read on, up to the limit."""
        chunk = self._source.read(min(size, self._left))
        self._left -= len(chunk)
        return chunk


def _written(folder: Path, chunks: Iterable[bytes]) -> Path:
    """Write a temporary file; it is not durable yet."""
    folder.mkdir(exist_ok=True, parents=True)
    handle, name = tempfile.mkstemp(prefix=TEMP, dir=folder)
    temp = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            account.set_mode(file.fileno(), 0o444)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    return temp


def copied(folder: Path, pieces: Iterable[bytes]) -> tuple[Path, BlobId, int]:
    """Write pieces aside, naming and measuring them on the way."""
    digest, size = hashlib.sha256(), 0

    def measured() -> Iterator[bytes]:
        nonlocal size
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            yield piece

    temp = _written(folder, measured())
    return temp, BlobId(digest.hexdigest()), size


def _chunks(source: Readable) -> Iterator[bytes]:
    while chunk := source.read(_CHUNK):
        yield chunk


def write_durably(folder: Path, data: bytes) -> Path:
    """Write one temporary file and sync it."""
    temp = _written(folder, [data])
    try:
        sync_files(folder, [temp])
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    return temp


def _remove(temps: Iterable[Path]) -> None:
    for temp in temps:
        temp.unlink(missing_ok=True)


def sync_files(folder: Path, paths: list[Path]) -> None:
    """Make files of one file system durable."""
    if len(paths) >= _MANY and sync_file_system(folder):
        return
    for path in paths:
        sync_file(path)


def sync_folders(root: Path, folders: list[Path]) -> None:
    """Make names in folders of one file system durable."""
    if len(folders) >= _MANY and sync_file_system(root):
        return
    for folder in folders:
        sync_folder(folder)


@contextmanager
def file_errors() -> Iterator[None]:
    """Raise our errors for those of the file system."""
    try:
        yield
    except OSError as error:
        raise file_error(error) from error


def file_error(error: OSError, path: Path | None = None) -> DiskFull | WriteFailed:
    """Return our error for a failed write of the file system; `path` is one the person knows."""
    number = error.errno or 0
    name = errno.errorcode.get(number, "unknown")
    detail = f"errno: {name} ({os.strerror(number)})" if number else f"errno: {name}"
    if number in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("no room left on the disk", detail=detail)
    what = "a file" if path is None else repr(str(path))
    if number == errno.EROFS:
        return ReadOnlyHome(f"{what} could not be written: the file system is read-only")
    return WriteFailed(f"{what} could not be written", detail=detail)
