"""A consistent copy of a home while it is in use, and a home from such a copy (T5.4).

A backup is a folder: `store.db` (always SQLite, whatever the source), the blobs its streams need,
`settings.json` if there is one, and `backup.json` saying what it is. It appears under its name
only when it is complete.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backshop.base.ambient import timestamp
from backshop.base.errors import NotFound, ValidationFailed
from backshop.base.ids import BlobId
from backshop.base.limits import LOCK_WAIT_MS

from . import engine, gc, migrations, schema
from .blobs import Blobs, InlineBlobs
from .errors import StorageCorrupt
from .service import Store
from .spool import file_error, sync_folder

_ABOUT = "backup.json"
_SETTINGS = "settings.json"
_BATCH = 500
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Copied:
    """What a backup or a restore moved."""

    streams: int
    events: int
    blobs: int
    bytes: int


def write_backup(store: Store, target: Path, *, now_ms: int) -> Copied:
    """Write a backup; writers go on meanwhile and it holds what was committed when it began.

    Raises:
        ValidationFailed: `target_exists`; nothing is overwritten.
        StorageCorrupt: a blob the backup needs is missing or altered.
    """
    _require_empty(target)
    with _built_aside(target) as folder:
        copy = engine.Sqlite(folder / "store.db", lock_wait_ms=LOCK_WAIT_MS)
        try:
            _copy_database(store.database, copy)
            _drop_snapshots(copy)
            copied = _copy_blobs(copy, store.blobs, folder / "blobs")
            with copy.reader() as cursor:
                cursor.text("PRAGMA wal_checkpoint(TRUNCATE)")
                cursor.text("PRAGMA journal_mode=DELETE")
        finally:
            copy.close()
        if (store.home / _SETTINGS).exists():
            shutil.copyfile(store.home / _SETTINGS, folder / _SETTINGS)
        about = {"format": _FORMAT, "schema": migrations.VERSION, "written_at": timestamp(now_ms)}
        (folder / _ABOUT).write_text(json.dumps(about, indent=2), encoding="utf-8")
    return copied


def restore_backup(source: Path, home: Path, *, database_url: str | None = None) -> Copied:
    """Make a home from a backup; the home must not exist yet, or be empty.

    Every chain is checked before anything is kept.
    """
    _read_about(source)
    _require_empty(home)
    backup = engine.Sqlite(source / "store.db", lock_wait_ms=LOCK_WAIT_MS)
    backup.journal = "delete"  # a backup may lie on a medium that cannot be written
    try:
        with _built_aside(home) as folder:
            blobs = Blobs(source / "blobs", InlineBlobs(backup), folder / "cache")
            copied = _copy_blobs(backup, blobs, folder / "blobs")
            if database_url is None:
                shutil.copyfile(source / "store.db", folder / "store.db")
            else:
                _restore_to(backup, database_url)
            if (source / _SETTINGS).exists():
                shutil.copyfile(source / _SETTINGS, folder / _SETTINGS)
            _check_chains(folder, database_url)
    finally:
        backup.close()
    return copied


def copy_rows(source: engine.Database, target: engine.Database) -> None:
    """Copy every row of every table; both sides have the same schema, the target is empty."""
    with source.snapshot() as reading, target.transaction() as writing:
        for table, names in schema.TABLES.items():
            text = schema.translated(schema.insert(table), target.dialect)
            rows = source.execute(reading.driver, schema.select(table))
            while batch := rows.fetchmany(_BATCH):
                for row in batch:
                    target.execute(writing.driver, text, dict(zip(names, row, strict=True)))
        if target.dialect == "postgresql":
            writing.text(
                "SELECT setval(pg_get_serial_sequence('event', 'seq'),"
                " (SELECT coalesce(max(seq), 1) FROM event))"
            )


def _copy_database(source: engine.Database, copy: engine.Sqlite) -> None:
    if isinstance(source, engine.Sqlite):
        with source.reader() as reading, copy.reader() as writing:
            reading.driver.backup(writing.driver)
        return
    migrations.migrate(copy)
    copy_rows(source, copy)


def _restore_to(backup: engine.Sqlite, url: str) -> None:
    target = engine.connect(url, lock_wait_ms=LOCK_WAIT_MS)
    try:
        migrations.migrate(target)
        with target.reader() as cursor:
            if cursor.all("streams_all"):
                raise ValidationFailed("the database is not empty", reason="target_exists")
        copy_rows(backup, target)
    finally:
        target.close()


def _copy_blobs(database: engine.Sqlite, source: Blobs, folder: Path) -> Copied:
    """Copy the blobs that the copied database needs and does not hold itself."""
    with database.reader() as cursor:
        heads = cursor.all("streams_all")
        pins = [(str(ref), str(kind)) for ref, kind in cursor.all("pins_all")]
        inline = {str(row[0]) for row in cursor.all("blob_ages")}
    target = Blobs(folder, InlineBlobs(database), folder)
    count = size = 0
    with target.batch() as batch:
        for blob in sorted(gc.mark(pins, Blobs(source.folder, InlineBlobs(database), folder))):
            if blob in inline:
                continue
            try:
                path = source.path(BlobId(blob))
            except NotFound as error:
                raise StorageCorrupt(
                    "a blob is missing", reason="missing_blob", detail=f"blob: {blob}"
                ) from error
            batch.add(path)
            count, size = count + 1, size + path.stat().st_size
    return Copied(len(heads), sum(int(row[2]) + 1 for row in heads), count, size)


def _drop_snapshots(database: engine.Database) -> None:
    """Leave out what is a cache: a home never starts with states somebody else computed."""
    with database.transaction() as cursor:
        cursor.run("snapshots_clear")


def _check_chains(folder: Path, database_url: str | None) -> None:
    with Store.open(folder, database_url=database_url) as store:
        _drop_snapshots(store.database)
        for head in store.streams():
            found = store.health(head.stream)
            if not found.is_healthy:
                raise StorageCorrupt(
                    f"stream {head.stream} of the backup is damaged", reason=found.reason
                )


def _read_about(source: Path) -> dict[str, Any]:
    try:
        about = json.loads((source / _ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValidationFailed("there is no backup at this place", reason="bad_backup") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise ValidationFailed("this backup was written by another program", reason="bad_backup")
    return about


def _require_empty(target: Path) -> None:
    try:
        taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as error:
        raise file_error(error) from error
    if taken:
        raise ValidationFailed("the target exists and is not empty", reason="target_exists")


@contextmanager
def _built_aside(target: Path) -> Iterator[Path]:
    """Give a folder beside the target that takes its place when all went well."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            yield folder
            for path in (*folder.iterdir(), folder):
                if path.is_dir():
                    sync_folder(path)
            if target.exists():
                target.rmdir()
            folder.rename(target)
            sync_folder(target.parent)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        raise file_error(error) from error
