"""Content named by its sha256: written once, never changed, checked before it is given out (T4)."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from backshop.base.canon import sha256_hex
from backshop.base.errors import DiskFull, NotFound
from backshop.base.ids import BlobId, check_sha256

from .engine import Database
from .errors import StorageCorrupt, WriteFailed

_CHUNK = 1024 * 1024
_TEMP = "tmp-"
GONE = ".gone"


class InlineBlobs:
    """Small blobs that live in the database; callers of `Blobs` cannot tell (T4.2)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, blob: BlobId) -> bytes | None:
        """Return the bytes, or None."""
        with self._database.reader() as cursor:
            row = cursor.one("blob", {"sha256": blob})
        return None if row is None else bytes(row[0])


class Blobs:
    """Blobs as local files `blobs/<aa>/<rest>`, mode 0444, with the small ones of the database."""

    def __init__(self, folder: Path, inline: InlineBlobs, cache: Path) -> None:
        self.folder = folder
        self._inline = inline
        self._cache = cache
        self._verified: dict[BlobId, tuple[int, int, int]] = {}
        self._lock = threading.Lock()

    def put(self, content: bytes | Path) -> BlobId:
        """Store content durably and return its name; known content only gets younger."""
        return self.put_many([content])[0]

    def put_many(self, contents: Iterable[bytes | Path]) -> list[BlobId]:
        """Store several contents with one round of directory syncs.

        Raises:
            DiskFull: nothing of them is named afterwards.
            WriteFailed: the same for any other failure of the file system.
        """
        names: list[BlobId] = []
        folders: set[Path] = set()
        with _file_errors():
            for content in contents:
                name, folder = self._put_file(content)
                names.append(name)
                if folder is not None:
                    folders.add(folder)
            for folder in sorted(folders):
                sync_folder(folder)
        return names

    def put_stream(self, source: BinaryIO, limit_bytes: int) -> BlobId | None:
        """Store what an open file holds, read once; None if it is longer than the limit."""
        with _file_errors():
            temp, name = self._copy_temp(_Limited(source, limit_bytes))
            if temp.stat().st_size > limit_bytes:
                temp.unlink()
                return None
            if self._renew(name):
                temp.unlink()
                return name
            folder = self._name_temp(temp, name)
            sync_folder(folder)
        return name

    def read(self, blob: BlobId) -> bytes:
        """Return the bytes.

        Raises:
            NotFound: there is no such blob.
            StorageCorrupt: the stored bytes are others; they are not returned.
        """
        check_sha256(blob)
        try:
            data: bytes | None = self._file(blob).read_bytes()
        except FileNotFoundError:
            data = self._inline.read(blob)
        if data is None:
            raise _missing(blob)
        if sha256_hex(data) != blob:
            raise _altered(blob)
        return data

    def open(self, blob: BlobId) -> BinaryIO:
        """Open the content for reading, checked."""
        return self.path(blob).open("rb")

    def path(self, blob: BlobId) -> Path:
        """Return a local file with the content, checked; it must never be written to."""
        path = self._file(check_blob(blob))
        try:
            self._check(blob, path)
        except FileNotFoundError:
            return self._spill(blob)
        return path

    def has(self, blob: BlobId) -> bool:
        """Say whether the blob is there; its bytes are not looked at."""
        return self._file(check_blob(blob)).exists() or self._inline.read(blob) is not None

    def size(self, blob: BlobId) -> int:
        """Return the size in bytes."""
        try:
            return self._file(check_blob(blob)).stat().st_size
        except FileNotFoundError:
            return len(self.read(blob))

    def verify(self, blob: BlobId) -> bool:
        """Rehash the stored bytes; say whether they are there and right."""
        try:
            path = self._file(check_blob(blob))
            if path.exists():
                return hash_file(path) == blob
            self.read(blob)
        except (NotFound, StorageCorrupt):
            return False
        return True

    def is_sound(self, blob: BlobId) -> bool:
        """Say whether the blob is there and right; rehash only what changed since (B2.11)."""
        try:
            self.path(blob)
        except (NotFound, StorageCorrupt):
            return False
        return True

    def names(self) -> Iterator[BlobId]:
        """Yield every blob that is a file."""
        for shard in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(shard.iterdir()):
                name = shard.name + path.name
                if len(name) == 64 and not path.name.endswith(GONE):
                    yield BlobId(name)

    def stat(self, blob: BlobId) -> os.stat_result | None:
        """Return what the file system knows of a blob that is a file, or None."""
        try:
            return self._file(check_blob(blob)).stat()
        except FileNotFoundError:
            return None

    def inode(self, blob: BlobId) -> int | None:
        """Return the inode of a blob that is a file; asked ten thousand times in a row."""
        try:
            return os.stat(f"{self.folder}/{blob[:2]}/{blob[2:]}").st_ino  # noqa: PTH116  # speed
        except FileNotFoundError:
            return None

    def remove_leftovers(self, before_ns: int) -> None:
        """Remove temporary files of processes that were killed long ago."""
        for path in self._leftovers():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime_ns < before_ns:
                    path.unlink()

    def _leftovers(self) -> Iterator[Path]:
        for pattern in (f"[0-9a-f][0-9a-f]/*{GONE}", f"{_TEMP}*"):
            yield from self.folder.glob(pattern)

    def remove_if_older(self, blob: BlobId, before_ns: int) -> int | None:
        """Remove an unreferenced blob, unless somebody has just put it again.

        Returns the bytes freed, or None. The file is moved aside first: a `put` that renewed it
        in the meantime is seen in its time, a later one finds it gone and writes it anew.
        """
        path = self._file(check_blob(blob))
        aside = path.with_name(path.name + GONE)
        try:
            if path.stat().st_mtime_ns >= before_ns:
                return None
            path.rename(aside)
            found = aside.stat()
        except FileNotFoundError:
            return None
        if found.st_mtime_ns >= before_ns:
            with suppress(FileExistsError):
                os.link(aside, path)
            aside.unlink()
            return None
        aside.unlink()
        with self._lock:
            self._verified.pop(blob, None)
        return found.st_size

    def _file(self, blob: str) -> Path:
        return self.folder / blob[:2] / blob[2:]

    def _put_file(self, content: bytes | Path) -> tuple[BlobId, Path | None]:
        """Return the name, and the folder to sync if a file was written."""
        if isinstance(content, bytes):
            name = BlobId(sha256_hex(content))
            if self._renew(name):
                return name, None
            temp = self._write_temp([content])
        else:
            with content.open("rb") as source:  # hashed while copied: the source may change
                temp, name = self._copy_temp(source)
            if self._renew(name):
                temp.unlink()
                return name, None
        return name, self._name_temp(temp, name)

    def _name_temp(self, temp: Path, name: BlobId) -> Path:
        """Give a written temporary file its name; return the folder to sync."""
        target = self._file(name)
        try:
            target.parent.mkdir(exist_ok=True, parents=True)
            temp.rename(target)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        return target.parent

    def _renew(self, name: BlobId) -> bool:
        """Make known content young, so that it is not swept; say whether it was there."""
        path = self._file(name)
        try:
            self._check(name, path)
            os.utime(path)
            with self._lock:
                self._verified[name] = _fingerprint(path)
            return True
        except (FileNotFoundError, StorageCorrupt):
            return False  # missing, or damaged: written anew over it

    def _write_temp(self, chunks: Iterable[bytes]) -> Path:
        self.folder.mkdir(exist_ok=True, parents=True)
        handle, name = tempfile.mkstemp(prefix=_TEMP, dir=self.folder)
        temp = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fchmod(file.fileno(), 0o444)
                os.fsync(file.fileno())
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        return temp

    def _copy_temp(self, source: BinaryIO | _Limited) -> tuple[Path, BlobId]:
        digest = hashlib.sha256()

        def chunks() -> Iterator[bytes]:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                yield chunk

        temp = self._write_temp(chunks())
        return temp, BlobId(digest.hexdigest())

    def _check(self, blob: BlobId, path: Path) -> None:
        """Rehash unless size, time and inode are those of the last good check (B2.11)."""
        seen = _fingerprint(path)
        if self._verified.get(blob) == seen:
            return
        if hash_file(path) != blob:
            raise _altered(blob)
        with self._lock:
            self._verified[blob] = seen

    def _spill(self, blob: BlobId) -> Path:
        """Give a blob of the database a file of its own in the cache."""
        data = self.read(blob)
        path = self._cache / blob
        if not path.exists() or hash_file(path) != blob:
            self._cache.mkdir(parents=True, exist_ok=True)
            with _file_errors():
                temp = self._write_temp([data])
                temp.rename(path)
        return path


class _Limited:
    """Reads at most one byte more than allowed, which is how too much is noticed."""

    def __init__(self, source: BinaryIO, limit_bytes: int) -> None:
        self._source = source
        self._left = limit_bytes + 1

    def read(self, size: int) -> bytes:
        """Read on, up to the limit."""
        chunk = self._source.read(min(size, self._left))
        self._left -= len(chunk)
        return chunk


def _fingerprint(path: Path) -> tuple[int, int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def check_blob(blob: BlobId) -> BlobId:
    """Return `blob` if it is a well-formed name, before it becomes part of a path."""
    return BlobId(check_sha256(blob))


def hash_file(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _file_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise file_error(error) from error


def file_error(error: OSError) -> DiskFull | WriteFailed:
    """Return our error for a failed write of the file system."""
    detail = f"errno: {errno.errorcode.get(error.errno or 0, 'unknown')}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull("no room left on the disk", detail=detail)
    return WriteFailed("a file could not be written", detail=detail)


def make_home(home: Path) -> bool:
    """Make the folder of a home; say whether it was not there before."""
    try:
        is_new = not home.exists()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = file_error(error)
        if isinstance(problem, WriteFailed):
            problem = WriteFailed(f"the home {str(home)!r} cannot be used", detail=problem.detail)
        raise problem from error
    return is_new


def _missing(blob: str) -> NotFound:
    return NotFound("there is no such blob", reason="not_found", detail=f"blob: {blob}")


def _altered(blob: str) -> StorageCorrupt:
    return StorageCorrupt(
        "stored bytes were altered", reason="digest_mismatch", detail=f"blob: {blob}"
    )
