"""Rows and contents from one store to another, as they are (T5.4, T5.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.progress import report

from ..blob.blob import ArrivingBlobs, Blobs
from ..blob.content import Lost, Needs
from ..blob.spool import Batch
from ..database import engine, schema
from ..database.connection import Cursor
from ..errors import StorageCorrupt
from ..health import examination

_ROWS = 500
_CONTENTS = 1000  # contents that become durable together; a copy that was stopped keeps them


@dataclass(frozen=True, slots=True)
class Copied:
    """What a backup, a restore or a move copied."""

    streams: int
    events: int
    blobs: int
    bytes: int
    left_out: tuple[Lost, ...] = ()
    """Contents that cannot be had, which a backup goes on without."""


def copy_rows(
    source: engine.Database,
    target: engine.Database,
    settle: Callable[[Cursor], object] = lambda _: None,
) -> None:
    """Copy every row of every table in one transaction; the target has the schema and is empty.

    Caches and leases are left out: nobody at the target works on a turn, or is to find one by that.
    `settle` runs before anything of it counts, with a cursor that sees what arrived; when it
    raises, the target stays empty.
    """
    with source.snapshot() as reading, target.transaction() as writing:
        last = reading.one("last_seq")
        total, done = int(last[0]) if last else 0, 0
        for table, names in schema.TABLES.items():
            text = schema.translated(schema.insert(table), target.dialect)
            rows = source.stream(reading.driver, schema.select(table))
            while batch := rows.fetchmany(_ROWS):
                for row in batch:
                    target.execute(writing.driver, text, dict(zip(names, row, strict=True)))
                if table == "event":
                    done += len(batch)
                    report("events", done, max(total, done))
            rows.close()
        if target.dialect == "postgresql":
            writing.text(
                "SELECT setval(pg_get_serial_sequence('event', 'seq'),"
                " (SELECT coalesce(max(seq), 1) FROM event))"
            )
        settle(writing)


def copy_blobs(
    database: engine.Database, source: Blobs, target: Blobs, *, whole: bool = True
) -> Copied:
    """Copy the contents that a database needs and does not hold itself.

    Without `whole` what is missing or altered is left out, and the answer names it.

    Raises:
        StorageCorrupt: one is missing or altered, and all were wanted.
    """
    with database.reader() as cursor:
        heads = cursor.all("streams_all")
    needs = Needs(database, source)
    names = [name for name in needs.names if name not in needs.inline]
    size = 0
    lost = dict(needs.unreadable)
    for start in range(0, len(names), _CONTENTS):
        with target.batch() as batch:
            for number, blob in enumerate(names[start : start + _CONTENTS], start + 1):
                if target.is_sound(blob):  # an earlier copy was stopped
                    size += target.size(blob)
                else:
                    size += _copied(blob, source, batch, lost)
                report("contents", number, len(names))
    left_out = tuple(needs.named(lost))
    if left_out and whole:
        gone = left_out[0]
        word = "missing_blob" if gone.reason == "missing" else "digest_mismatch"
        raise StorageCorrupt(
            f"{len(left_out)} contents are missing or altered",
            reason=word,
            detail="\n".join(f"blob: {one.sha256} {one.told}" for one in left_out),
        )
    events = sum(int(row[2]) + 1 for row in heads)
    return Copied(len(heads), events, len(names) - len(lost), size, left_out)


def _copied(blob: BlobId, source: Blobs, batch: Batch, lost: dict[BlobId, str]) -> int:
    """Copy one content and return its length; what cannot be had is noted and takes none."""
    try:
        path = source.path(blob)
        size = path.stat().st_size
        if batch.add(path) == blob:
            return size
        lost[blob] = "altered"
    except (NotFound, FileNotFoundError):
        lost[blob] = "missing"
    except StorageCorrupt:
        lost[blob] = "altered"
    return 0


def require_empty(database: engine.Database) -> None:
    """Refuse a database that holds anything.

    Raises:
        ValidationFailed: `target_exists`.
    """
    with database.reader() as cursor:
        if any(cursor.text(f"SELECT 1 FROM {table} LIMIT 1") for table in schema.TABLES):  # noqa: S608  # names of ours
            raise ValidationFailed("the database is not empty", reason="target_exists")


def is_same(source: engine.Database, target: engine.Database) -> bool:
    """Say whether a database holds what another one does: the same streams up to the same hashes.

    Rows arrive in one transaction, so the heads and the keys tell of all the others.
    """

    def held(database: engine.Database) -> tuple[object, ...]:
        with database.reader() as cursor:
            heads = [tuple(row) for row in cursor.all("streams_all")]
            ring = cursor.one("ring")
        return heads, ring and tuple(map(bytes, filter(None, ring)))

    return held(source) == held(target) != ([], None)


def check_arrival(cursor: Cursor, blobs: Blobs) -> None:
    """Check every stream inside the transaction that brings it; `blobs` are those of the target.

    Raises:
        StorageCorrupt: one of them is not what was written.
    """
    _check_streams(cursor, blobs.with_inline(ArrivingBlobs(cursor)))


def check_chains(database: engine.Database, blobs: Blobs) -> None:
    """Check every stream from its first event.

    Raises:
        StorageCorrupt: one of them is not what was written.
    """
    with database.reader() as cursor:
        _check_streams(cursor, blobs)


def _check_streams(cursor: Cursor, blobs: Blobs) -> None:
    streams = [str(row[0]) for row in cursor.all("streams_all")]
    for number, stream in enumerate(streams, 1):
        found = examination.check_stream(cursor, stream, blobs.has)
        if not found.is_healthy:
            raise StorageCorrupt(f"stream {stream} is damaged", reason=found.reason)
        report("streams", number, len(streams))
