"""Rows and contents from one store to another, as they are (T5.4, T5.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.progress import report

from . import engine, gc, health, schema
from .blobs import ArrivingBlobs, Blobs, InlineBlobs
from .connection import Cursor
from .errors import StorageCorrupt
from .spool import Batch

_ROWS = 500
_CONTENTS = 1000  # contents that become durable together; a copy that was stopped keeps them


@dataclass(frozen=True, slots=True)
class Copied:
    """What a backup, a restore or a move copied."""

    streams: int
    events: int
    blobs: int
    bytes: int


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


def copy_blobs(database: engine.Database, source: Blobs, target: Blobs) -> Copied:
    """Copy the contents that a database needs and does not hold itself.

    Raises:
        StorageCorrupt: one is missing or altered.
    """
    with database.reader() as cursor:
        heads = cursor.all("streams_all")
        pins = [(str(ref), str(kind)) for ref, kind in cursor.all("pins_all")]
        inline = {str(row[0]) for row in cursor.all("blob_ages")}
    needed = gc.mark(pins, source.with_inline(InlineBlobs(database)))
    names = sorted(name for name in needed if name not in inline)
    size = 0
    for start in range(0, len(names), _CONTENTS):
        with target.batch() as batch:
            for number, blob in enumerate(names[start : start + _CONTENTS], start + 1):
                if target.is_sound(blob):  # an earlier copy was stopped
                    size += target.size(blob)
                else:
                    size += _copy_one(blob, source, batch)
                report("contents", number, len(names))
    return Copied(len(heads), sum(int(row[2]) + 1 for row in heads), len(names), size)


def _copy_one(blob: BlobId, source: Blobs, batch: Batch) -> int:
    try:
        path = source.path(blob)
    except NotFound as error:
        raise StorageCorrupt(
            "a blob is missing", reason="missing_blob", detail=f"blob: {blob}"
        ) from error
    if batch.add(path) != blob:
        raise StorageCorrupt(
            "stored bytes were altered", reason="digest_mismatch", detail=f"blob: {blob}"
        )
    return path.stat().st_size


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
        found = health.check_stream(cursor, stream, blobs.has)
        if not found.is_healthy:
            raise StorageCorrupt(f"stream {stream} is damaged", reason=found.reason)
        report("streams", number, len(streams))
