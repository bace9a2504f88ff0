"""Numbered schema changes, never edited after a release; the number stands in `meta`."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path

from backshop.base.system.durability import sync_folder

from .blob.spool import file_errors, sync_files
from .database import schema
from .database.connection import Cursor
from .database.engine import Database, Sqlite
from .database.lock_key import MIGRATION_LOCK
from .errors import NewerStore, ReadOnlyHome

Migration = Callable[[Database, Cursor], None]


def _first(database: Database, cursor: Cursor) -> None:
    for sql in schema.FIRST:
        cursor.text(schema.definition(sql, database.dialect))


def _second(database: Database, cursor: Cursor) -> None:
    for sql in schema.SECOND:
        cursor.text(schema.definition(sql, database.dialect))


def _third(database: Database, cursor: Cursor) -> None:
    for sql in schema.THIRD:
        cursor.text(schema.definition(sql, database.dialect))


def _fourth(database: Database, cursor: Cursor) -> None:
    """Let go of what was never kept: 0.1.0 pinned the hash of a digest's prompt as a content."""
    for stream, body in cursor.all("digest_events"):
        item = json.loads(body).get("item", {})
        if ref := item.get("prompt_ref"):
            cursor.run("pin_drop", {"name": stream, "ref": ref})


MIGRATIONS: tuple[Migration, ...] = (_first, _second, _third, _fourth)
VERSION = len(MIGRATIONS)


def migrate(database: Database) -> None:
    """Bring the schema to this program's version; one process does it, others wait (T5.3).

    Raises:
        NewerStore: a later program was here; nothing is changed.
        ReadOnlyHome: an earlier one was, and nothing can be brought forward here.
    """
    with database.reader() as cursor:
        found = _version(database, cursor)
    _refuse_newer(found)
    if found == VERSION:
        return
    if database.is_read_only:
        raise ReadOnlyHome(
            "the home is read-only and of an earlier version, which cannot be upgraded here: copy"
            " it to where it can be written, links as links, and open the copy"
        )
    with database.transaction() as cursor:
        if database.dialect == "postgresql":
            cursor.text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        found = _version(database, cursor)  # another process may have been first
        _refuse_newer(found)
        if found == VERSION:
            return
        with _copy_kept(database, found):
            for step in MIGRATIONS[found:]:
                step(database, cursor)
            cursor.text("DELETE FROM meta WHERE key = 'schema_version'")
            cursor.text(f"INSERT INTO meta (key, value) VALUES ('schema_version', '{VERSION}')")  # noqa: S608  # a constant of ours


def _refuse_newer(found: int) -> None:
    if found > VERSION:
        raise NewerStore(
            f"the store has schema version {found}, this program knows up to {VERSION}"
        )


def _version(database: Database, cursor: Cursor) -> int:
    if not _has_meta(database, cursor):
        return 0
    rows = cursor.text("SELECT value FROM meta WHERE key = 'schema_version'")
    return int(rows[0][0]) if rows else 0


def _has_meta(database: Database, cursor: Cursor) -> bool:
    if database.dialect == "postgresql":
        return cursor.text("SELECT to_regclass('meta')")[0][0] is not None
    return bool(cursor.text("SELECT 1 FROM sqlite_master WHERE name = 'meta'"))


@contextmanager
def _copy_kept(database: Database, version: int) -> Iterator[None]:
    """Keep the file as it was before the block; a block that fails leaves no copy.

    The caller holds the write lock: nobody migrates or writes while the copy is made.
    """
    if not isinstance(database, Sqlite) or not version:
        yield
        return
    copy = _kept_copy(database, f"{database.path.name}.before-{version + 1}")
    try:
        yield
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


def _kept_copy(database: Sqlite, name: str) -> Path:
    """Copy the file durably beside itself, over no earlier copy."""
    folder = database.path.parent
    with file_errors():
        _remove_unfinished(folder, name)
        handle, made = tempfile.mkstemp(prefix=f".{name}-", dir=folder)
        os.close(handle)
        temp = Path(made)
        try:
            database.copy_to(temp)
            shutil.copymode(database.path, temp)
            sync_files(folder, [temp])
            names = chain([name], (f"{name}.{number}" for number in count(2)))
            copy = next(folder / one for one in names if not (folder / one).exists())
            temp.rename(copy)
        except BaseException:
            _remove_unfinished(folder, name)
            raise
        sync_folder(folder)
    return copy


def _remove_unfinished(folder: Path, name: str) -> None:
    """Remove what a copy that was killed left: nobody else makes one under the write lock."""
    for left in folder.glob(f".{name}-*"):
        left.unlink(missing_ok=True)
