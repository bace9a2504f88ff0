"""Content named by its sha256: written once, never changed, checked before it is given out (T4)."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backshop.base.canon import sha256_hex
from backshop.base.errors import BackshopError, NotFound
from backshop.base.ids import BlobId, check_sha256
from backshop.base.system import file_name

from ..database.connection import Cursor
from ..database.engine import Database
from ..errors import ReadOnlyHome, StorageCorrupt, WriteFailed
from .spool import TEMP, Batch, file_error, file_errors, sync_folders, write_durably

GONE = ".gone"
_Print = tuple[int, int, int, int]  # size, times of content and inode, inode
Copies = Callable[[BlobId], Iterable[Path]]
"""Names files that may hold a content; each is read before it is believed."""


class InlineBlobs:
    """Small blobs that live in the database; callers of `Blobs` cannot tell (T4.2)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, blob: BlobId) -> bytes | None:
        """Return the bytes, or None."""
        with self._database.reader() as cursor:
            return _inline(cursor, blob)


class ArrivingBlobs(InlineBlobs):
    """Small blobs as a transaction sees them that is not committed yet."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def read(self, blob: BlobId) -> bytes | None:
        """Return the bytes, or None."""
        return _inline(self._cursor, blob)


def _inline(cursor: Cursor, blob: BlobId) -> bytes | None:
    row = cursor.one("blob", {"sha256": blob})
    return None if row is None else bytes(row[0])


@dataclass(frozen=True, slots=True)
class Listed:
    """A blob as the storage lists it."""

    name: BlobId
    size: int
    modified_ns: int


class Blobs:
    """Blobs as local files `blobs/<aa>/<rest>`, mode 0444, with the small ones of the database."""

    def __init__(self, folder: Path, inline: InlineBlobs, cache: Path) -> None:
        self.folder = folder
        self._root = str(folder)
        self._inline = inline
        self._cache = cache
        self._verified: dict[BlobId, _Print] = {}
        self._lock = threading.Lock()
        self.copies: Copies = _nowhere
        self._healing = threading.local()
        self._aside: tempfile.TemporaryDirectory[str] | None = None

    def heal_from(self, copies: Copies) -> None:
        """Look there for a damaged content; for whoever makes files from contents."""
        self.copies = copies

    def close_for_writing(self) -> None:
        """Take nothing in any more: the home is read-only. What needs a file gets one elsewhere."""
        self._aside = tempfile.TemporaryDirectory(prefix="backshop-read-")
        self._cache = Path(self._aside.name)

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """Take in any number of contents; all are durable and named when the block ends.

        An exception inside the block leaves nothing behind.

        Raises:
            DiskFull, WriteFailed: the file system refused; no name stands for half a content.
        """
        if self._aside is not None:
            raise ReadOnlyHome("the home is read-only: nothing can be stored here")
        batch = Batch(self.folder, self._renew, self._name)
        try:
            yield batch
            batch.commit()
        finally:
            batch.discard()

    def put(self, content: bytes | Path) -> BlobId:
        """Store content durably and return its name; known content only gets younger."""
        with self.batch() as batch:
            return batch.add(content)

    def put_many(self, contents: Iterable[bytes | Path]) -> list[BlobId]:
        """Store several contents, all of them durable before one is named."""
        with self.batch() as batch:
            return [batch.add(content) for content in contents]

    def put_stream(self, source: BinaryIO, limit_bytes: int) -> BlobId | None:
        """Store what an open file holds, read once; None if it is longer than the limit."""
        with self.batch() as batch:
            taken = batch.add_stream(source, limit_bytes)
        return None if taken is None else taken[0]

    def read(self, blob: BlobId) -> bytes:
        """Return the bytes.

        Raises:
            NotFound: there is no such blob.
            StorageCorrupt: the stored bytes are others; they are not returned.
        """
        check_sha256(blob)
        try:
            return self._read(blob)
        except (NotFound, StorageCorrupt):
            if not self.heal(blob):
                raise
            return self._read(blob)

    def _read(self, blob: BlobId) -> bytes:
        try:
            data: bytes | None = self._file(blob).read_bytes()
        except FileNotFoundError:
            data = self._inline.read(blob)
        if data is None:
            raise missing(blob)
        if sha256_hex(data) != blob:
            raise altered(blob)
        return data

    def open(self, blob: BlobId) -> BinaryIO:
        """Open the content for reading, checked."""
        return self.path(blob).open("rb")

    def path(self, blob: BlobId) -> Path:
        """Return a local file with the content, checked; it must never be written to."""
        try:
            return self._path(check_blob(blob))
        except (NotFound, StorageCorrupt):
            if not self.heal(blob):
                raise
            return self._path(blob)

    def _path(self, blob: BlobId) -> Path:
        path = self._file(blob)
        try:
            self._check(blob, path)
        except FileNotFoundError:
            return self._spill(blob)
        return path

    def heal(self, blob: BlobId) -> bool:
        """Write a damaged content anew from the first file found that holds it (B2.11).

        Says whether it is whole now. Without such a file, or where nothing can be written, it
        stays as it is.
        """
        if getattr(self._healing, "is_on", False):
            return False  # looking for a copy needs contents too
        self._healing.is_on = True
        try:
            for path in self.copies(blob):
                with suppress(OSError, BackshopError):
                    if _is_plain(path) and hash_file(path) == blob and self.put(path) == blob:
                        return True
        finally:
            self._healing.is_on = False
        return False

    def has(self, blob: BlobId) -> bool:
        """Say whether the blob is there; its bytes are not looked at."""
        return self._file(check_blob(blob)).exists() or self._inline.read(blob) is not None

    def size(self, blob: BlobId) -> int:
        """Return the size in bytes."""
        try:
            return self._file(check_blob(blob)).stat().st_size
        except FileNotFoundError:
            return len(self.read(blob))

    def total(self, blobs: Collection[BlobId]) -> int:
        """Return the bytes of several contents; what is not there takes none."""
        size = 0
        for blob in blobs:
            found = self.stat(blob)
            size += len(self._inline.read(blob) or b"") if found is None else found.st_size
        return size

    def verify(self, blob: BlobId) -> bool:
        """Rehash the stored bytes; say whether they are there and right."""
        try:
            path = self._file(check_blob(blob))
            if path.exists():
                return hash_file(path) == blob or self.heal(blob)
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
        """Yield every blob that is not in the database."""
        return (one.name for one in self.listed())

    def listed(self) -> Iterator[Listed]:
        """Yield every blob that is a file, by name, with its size and age."""
        for shard in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
            for path in sorted(shard.iterdir()):
                name = shard.name + path.name
                if len(name) != 64 or path.name.endswith(GONE):
                    continue
                with suppress(FileNotFoundError):
                    found = path.stat()
                    yield Listed(BlobId(name), found.st_size, found.st_mtime_ns)

    def stat(self, blob: BlobId) -> os.stat_result | None:
        """Return what the file system knows of a blob that is a file here, or None."""
        name = check_blob(blob)
        try:
            return os.stat(f"{self.folder}/{name[:2]}/{name[2:]}")  # noqa: PTH116  # speed
        except FileNotFoundError:
            return None

    def is_touched(self, blob: BlobId, now: os.stat_result) -> bool:
        """Say whether a file is not as it was when its bytes were last right (B2.11)."""
        known = self._verified.get(blob)
        return known is not None and known != print_of(now)

    def with_inline(self, inline: InlineBlobs) -> Blobs:
        """Return the same blobs beside the small ones of another database."""
        return Blobs(self.folder, inline, self._cache)

    def remove_leftovers(self, before_ns: int) -> None:
        """Remove temporary files of processes that were killed long ago."""
        for path in self._leftovers():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime_ns < before_ns:
                    path.unlink()

    def _leftovers(self) -> Iterator[Path]:
        for pattern in (f"[0-9a-f][0-9a-f]/*{GONE}", f"{TEMP}*"):
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
                file_name.link(aside, path)
            aside.unlink()
            return None
        aside.unlink()
        with self._lock:
            self._verified.pop(blob, None)
        return found.st_size

    def _file(self, blob: str) -> Path:
        return Path(f"{self._root}/{blob[:2]}/{blob[2:]}")  # asked for thousands of times

    def _name(self, written: dict[BlobId, Path]) -> None:
        """Give durable temporary files their names, durably."""
        folders: set[Path] = set()
        for name, temp in written.items():
            target = self._file(name)
            if target.parent not in folders and not target.parent.exists():
                target.parent.mkdir(exist_ok=True)
                folders |= {self.folder, self.folder.parent}  # the folder's own name is new
            temp.rename(target)
            with suppress(FileNotFoundError):  # a cache lets it go whenever it likes
                self._verified[name] = _fingerprint(target)  # just written: read on a change
            folders.add(target.parent)
        sync_folders(self.folder, sorted(folders))

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

    def _check(self, blob: BlobId, path: Path) -> None:
        """Rehash unless size, times and inode are those of the last good check (B2.11)."""
        seen = _fingerprint(path)
        if self._verified.get(blob) == seen:
            return
        if hash_file(path) != blob:
            raise altered(blob)
        with self._lock:
            self._verified[blob] = seen

    def _spill(self, blob: BlobId) -> Path:
        """Give a blob of the database a file of its own in the cache."""
        data = self.read(blob)
        path = self._cache / blob
        if not path.exists() or hash_file(path) != blob:
            self._cache.mkdir(parents=True, exist_ok=True)
            with file_errors():
                write_durably(self._cache, data).rename(path)
        return path


def _fingerprint(path: Path) -> _Print:
    return print_of(path.stat())


def print_of(found: os.stat_result) -> _Print:
    """Return what changes with every write, also one by a program that puts a time back."""
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _is_plain(path: Path) -> bool:
    """Say whether reading a name ends: others may have put a pipe there."""
    return stat.S_ISREG(path.stat(follow_symlinks=False).st_mode)


def _nowhere(_blob: BlobId) -> Iterable[Path]:
    return ()


def check_blob(blob: BlobId) -> BlobId:
    """Return `blob` if it is a well-formed name, before it becomes part of a path."""
    return BlobId(check_sha256(blob))


def hash_file(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_home(home: Path) -> bool:
    """Make the folder of a home; say whether it was not there before.

    No other account of the machine can enter it, also where somebody made an empty one for it.
    """
    try:
        is_new = not home.exists()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if {one.name for one in home.iterdir()} <= {"settings.json", "logs"}:
            with suppress(OSError):  # somebody else's, who decides about it, or read-only
                home.chmod(0o700)
    except OSError as error:
        problem = file_error(error)
        if isinstance(problem, WriteFailed):
            problem = WriteFailed(
                f"the home {str(home)!r} cannot be used",
                detail=problem.detail or problem.message,
                hints=("make its place writable, or name another home with --home",),
            )
        raise problem from error
    return is_new


def missing(blob: str) -> NotFound:
    """Return the error for a blob that is not there."""
    return NotFound("there is no such blob", reason="not_found", detail=f"blob: {blob}")


def altered(blob: str) -> StorageCorrupt:
    """Return the error for a blob whose bytes are others."""
    return StorageCorrupt(
        "stored bytes were altered", reason="digest_mismatch", detail=f"blob: {blob}"
    )
