"""Blobs in object storage, with a cache of files on this machine (T4.3).

The object is the truth; a local file only saves fetching it. Content is hashed when it is fetched,
so an altered object is never given out. An object that stands for old content is made young, and
collected, under the same lock of the database, so that neither happens between the other's looking
and doing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from backshop.base.ambient import Clock
from backshop.base.canon import sha256_hex
from backshop.base.errors import BackshopError, NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.limits import BLOB_CACHE_MAX_BYTES, BLOB_GRACE_HOURS

from ..database.engine import Database
from ..errors import StorageCorrupt
from .blob import Blobs, InlineBlobs, Listed, altered, check_blob, missing, print_of
from .object_storage import Objects, S3Objects
from .spool import copied, file_errors

_AT_ONCE = 16  # uploads on their way at the same time
_YOUNG_MS = BLOB_GRACE_HOURS * 3_600_000 // 2  # half the grace: clocks may disagree by the rest
_KEEP = 0.8  # of the cache's limit, once it is exceeded


class SharedBlobs(Blobs):
    """Blobs of a team: objects that every machine sees, and files of this one."""

    def __init__(
        self,
        folder: Path,
        inline: InlineBlobs,
        spill: Path,
        objects: Objects,
        database: Database,
        clock: Clock,
        *,
        cache_bytes: int,
    ) -> None:
        super().__init__(folder, inline, spill)
        self._objects = objects
        self._database = database
        self._clock = clock
        self._cache_bytes = cache_bytes
        self._cached = -1  # not counted yet
        self._stored: dict[BlobId, int] = {}  # what we know to be there, and since when
        self._counting = threading.Lock()

    def with_inline(self, inline: InlineBlobs) -> Blobs:
        """Return the same blobs beside the small ones of another database."""
        return SharedBlobs(
            self.folder,
            inline,
            self._cache,
            self._objects,
            self._database,
            self._clock,
            cache_bytes=self._cache_bytes,
        )

    def read(self, blob: BlobId) -> bytes:
        """Return the bytes; the database, the cache and the storage are asked in turn."""
        data = self._inline.read(check_blob(blob))
        if data is None:
            with self.open(blob) as file:
                return file.read()
        if sha256_hex(data) != blob:
            raise altered(blob)
        return data

    def open(self, blob: BlobId) -> BinaryIO:
        """Open the content for reading; what another process has just evicted is fetched again."""
        try:
            return self.path(blob).open("rb")
        except FileNotFoundError:
            return self._fetched(blob).open("rb")

    def _path(self, blob: BlobId) -> Path:
        """Return a local file with the content, fetched if need be."""
        path = self._file(blob)
        try:
            self._check(blob, path)
        except FileNotFoundError:
            return self._fetched(blob)
        except StorageCorrupt:
            path.unlink(missing_ok=True)  # a cache: what the storage holds counts
            return self._fetched(blob)
        with suppress(OSError):
            self._use(blob, path)
        return path

    def _use(self, blob: BlobId, path: Path) -> None:
        """Note when a file of the cache was used; that alone is no reason to read it again."""
        before = path.stat()
        os.utime(path, ns=(self._clock.now_ms() * 1_000_000, before.st_mtime_ns))
        after = path.stat()
        if (before.st_size, before.st_ino) == (after.st_size, after.st_ino):
            with self._lock:
                if self._verified.get(blob) == print_of(before):
                    self._verified[blob] = print_of(after)

    def heal(self, blob: BlobId) -> bool:
        """Put an object that is missing or altered anew from a file that holds its content."""
        self._stored.pop(blob, None)  # whatever was known of it, it is not there
        return super().heal(blob) and self._put_again(blob)

    def _put_again(self, blob: BlobId) -> bool:
        """Replace the object by the file of the cache; one of its length may have other bytes."""
        with suppress(OSError, BackshopError):
            self._objects.put(_key(blob), self._file(blob))
            return True
        return False

    def has(self, blob: BlobId) -> bool:
        """Say whether the blob is there; its bytes are not looked at."""
        if self._inline.read(check_blob(blob)) is not None:
            return True
        return self._objects.head(_key(blob)) is not None

    def size(self, blob: BlobId) -> int:
        """Return the size in bytes."""
        found = self._objects.head(_key(check_blob(blob)))
        return len(self.read(blob)) if found is None else found.size

    def total(self, blobs: Collection[BlobId]) -> int:
        """Return the bytes of several contents, by one list of all objects."""
        sizes = {one.name: one.size for one in self.listed()}
        small = (len(self._inline.read(one) or b"") if one not in sizes else 0 for one in blobs)
        wanted = set(blobs)
        return sum(size for name, size in sizes.items() if name in wanted) + sum(small)

    def verify(self, blob: BlobId) -> bool:
        """Fetch the stored bytes and rehash them, whatever the cache holds.

        A file of the cache that is whole heals an object that is not.
        """
        try:
            self._fetched(check_blob(blob))
        except (NotFound, StorageCorrupt):
            try:
                self._check(blob, self._file(blob))
            except (FileNotFoundError, StorageCorrupt):
                return self.heal(blob)
            return self._put_again(blob)
        return True

    def listed(self) -> Iterator[Listed]:
        """Yield every blob that is an object."""
        for one in self._objects.listed():
            name = one.name.replace("/", "", 1)
            if len(name) == 64:
                yield Listed(BlobId(name), one.size, one.modified_ms * 1_000_000)

    def remove_if_older(self, blob: BlobId, before_ns: int) -> int | None:
        """Remove an unreferenced object; the caller holds the database's lock."""
        found = self._objects.head(_key(check_blob(blob)))
        if found is None or found.modified_ms * 1_000_000 >= before_ns:
            return None
        self._objects.delete(_key(blob))
        self._stored.pop(blob, None)
        self._file(blob).unlink(missing_ok=True)
        return found.size

    def _renew(self, name: BlobId) -> bool:
        """Say whether this process has stored the content lately; else it is asked at the end."""
        since = self._stored.get(name)
        return since is not None and self._clock.now_ms() - since < _YOUNG_MS

    def _name(self, written: dict[BlobId, Path]) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._upload, written, written.values()))
        size = sum(path.stat().st_size for path in written.values())
        super()._name(written)
        self._make_room(size)

    def _upload(self, name: BlobId, path: Path) -> None:
        now_ms = self._clock.now_ms()
        if not self._objects.put_new(_key(name), path):
            found = self._objects.head(_key(name))
            is_whole = found is not None and found.size == path.stat().st_size
            if found is None or not is_whole or now_ms - found.modified_ms > _YOUNG_MS:
                with self._database.transaction() as cursor:
                    cursor.hold_off_sweep()
                    self._objects.put(_key(name), path)
        self._stored[name] = now_ms

    def _fetched(self, blob: BlobId) -> Path:
        """Bring an object into the cache, checked on the way."""
        pieces = self._objects.get(_key(blob))
        if pieces is None:
            try:
                return self._spill(blob)
            except NotFound:
                raise missing(blob) from None
        with file_errors():
            temp, name, size = copied(self.folder, pieces)
            if name != blob:
                temp.unlink()
                raise altered(blob)
            target = self._file(blob)
            target.parent.mkdir(exist_ok=True)
            temp.rename(target)
        self._make_room(size)
        return target

    def _spill(self, blob: BlobId) -> Path:
        if self._inline.read(blob) is None:
            raise missing(blob)
        return super()._spill(blob)

    def _make_room(self, added: int) -> None:
        """Keep the cache within its limit; what was not used longest goes first."""
        with self._counting:
            if self._cached < 0:
                self._cached = sum(one.size for one in super().listed())
            else:
                self._cached += added
            if self._cached <= self._cache_bytes:
                return
            for _, size, path in self._by_use():
                if self._cached <= self._cache_bytes * _KEEP:
                    return
                with suppress(FileNotFoundError):
                    path.unlink()
                self._cached -= size

    def _by_use(self) -> list[tuple[int, int, Path]]:
        """Return time of use, size and path of what is cached; others may evict at any time."""
        used = []
        for path in self.folder.glob("??/*"):
            with suppress(FileNotFoundError):
                found = path.stat()
                used.append((found.st_atime_ns, found.st_size, path))
        return sorted(used)


def blobs_at(
    url: str | None,
    home: Path,
    database: Database,
    clock: Clock,
    *,
    cache_bytes: int = BLOB_CACHE_MAX_BYTES,
) -> Blobs:
    """Return the blobs a URL names; without one, those of the home.

    Raises:
        ValidationFailed: `bad_blobs_url`.
    """
    inline, spill = InlineBlobs(database), home / "cache" / "blobs"
    if url is None:
        return Blobs(home / "blobs", inline, spill)
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return Blobs(Path(unquote(parts.path)), inline, spill)
    if parts.scheme == "s3":
        cache = home / "cache" / "objects" / sha256_hex(url.encode())[:16]
        return SharedBlobs(
            cache, inline, spill, S3Objects(url), database, clock, cache_bytes=cache_bytes
        )
    raise ValidationFailed(
        "a blobs URL is file:///path or s3://bucket/prefix", reason="bad_blobs_url"
    )


def _key(blob: str) -> str:
    return f"{blob[:2]}/{blob[2:]}"
