"""A store somewhere else: another database, other storage for contents, or both (T5.5).

Everything arrives in one transaction of the new database, after all contents are there; a move
that is stopped leaves nothing but contents, which the next one finds. The old place stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backshop.base.ambient import SystemClock
from backshop.base.errors import ValidationFailed
from backshop.base.limits import LOCK_WAIT_MS

from .. import migration
from ..blob.blob import Blobs, InlineBlobs
from ..blob.object_storage import S3Objects
from ..blob.shared import blobs_at
from ..database import engine
from ..database.connection import Cursor
from ..errors import StorageCorrupt
from ..log.event import event_of, head_of
from ..service import Store
from .copy import check_arrival, check_chains, copy_blobs, copy_rows, require_empty


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move copied. `last_seq`: what came to the old place later is not at the new one."""

    streams: int
    events: int
    blobs: int
    bytes: int
    last_seq: int


def move_store(store: Store, *, database_url: str | None, blobs_url: str | None) -> Moved:
    """Copy a store to another database, or its contents to other storage, or both.

    Raises:
        ValidationFailed: the new database is not empty, or nothing was to be moved.
        StorageCorrupt: something is damaged here, or did not arrive as it was.
    """
    if database_url is None and blobs_url is None:
        raise ValidationFailed("nothing is to be moved", reason="bad_target")
    _require_places(database_url, blobs_url)
    check_chains(store.database, store.blobs)
    target = store.database if database_url is None else _opened(database_url)
    blobs = store.blobs.with_inline(InlineBlobs(target))
    try:
        if blobs_url is not None:
            blobs = blobs_at(blobs_url, store.home, target, SystemClock())
        copied = copy_blobs(store.database, store.blobs, blobs)
        if target is not store.database:
            copy_rows(store.database, target, partial(_settle, store, blobs))
        with target.reader() as cursor:
            newest = cursor.one("last_seq")
    finally:
        if target is not store.database:
            target.close()
    last_seq = int(newest[0]) if newest else 0
    return Moved(copied.streams, copied.events, copied.blobs, copied.bytes, last_seq)


def _require_places(database_url: str | None, blobs_url: str | None) -> None:
    """Refuse places that cannot be used, before anything is read: that may take long.

    Raises:
        ValidationFailed: `bad_target`: the folder of a SQLite file is missing.
        StoreUnavailable: the database server cannot be reached, or there is no such bucket.
    """
    if database_url is not None:
        target = engine.connect(database_url, lock_wait_ms=LOCK_WAIT_MS)
        try:
            if isinstance(target, engine.Sqlite):
                _require_folder(target.path)
            else:
                with target.reader() as cursor:
                    cursor.text("SELECT 1")
        finally:
            target.close()
    if blobs_url is not None and blobs_url.startswith("s3:"):
        S3Objects(blobs_url).require_bucket()


def _opened(url: str) -> engine.Database:
    """Open a database that has nothing in it yet, with the schema."""
    target = engine.connect(url, lock_wait_ms=LOCK_WAIT_MS)
    try:
        migration.migrate(target)
        require_empty(target)
    except BaseException:
        target.close()
        raise
    return target


def _require_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise ValidationFailed(
            f"the folder {str(path.parent)!r} for the new database does not exist",
            reason="bad_target",
        )


def _settle(store: Store, blobs: Blobs, there: Cursor) -> None:
    """Bring contents that came late; check every chain that arrives, and that it was sent."""
    copy_blobs(store.database, store.blobs, blobs)
    check_arrival(there, blobs)
    with store.database.reader() as here:
        for row in there.all("streams_all"):
            head = head_of(row)
            sent = here.one("read_one", {"stream": head.stream, "idx": head.last_idx})
            if sent is None or event_of(sent).hash != head.last_hash:
                raise StorageCorrupt(f"stream {head.stream} did not arrive", reason="head_mismatch")
