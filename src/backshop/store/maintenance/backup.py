"""A consistent copy of a home while it is in use, and a home from such a copy (T5.4).

A backup is a folder: `store.db` (always SQLite, whatever the source), the blobs its streams need,
`settings.json` and the person's own workflows and prompt overrides if there are any, and
`backup.json` saying what it is. It appears under its name only when it is complete.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from backshop.base.ambient import timestamp
from backshop.base.errors import ValidationFailed
from backshop.base.limits import LOCK_WAIT_MS
from backshop.base.paths import TEMP_PREFIX
from backshop.base.system.durability import sync_folder

from .. import migration
from ..blob.blob import Blobs, InlineBlobs
from ..blob.spool import file_error
from ..database import engine
from ..errors import StorageCorrupt
from ..health.examination import check_database
from ..service import Store
from .copy import (
    Copied,
    check_arrival,
    check_chains,
    copy_blobs,
    copy_rows,
    is_same,
    require_empty,
)

_ABOUT = "backup.json"
_SETTINGS = "settings.json"
_OWN = ("workflows", "prompts/overrides")
_FORMAT = 1


def write_backup(store: Store, target: Path, *, now_ms: int) -> Copied:
    """Write a backup; writers go on meanwhile and it holds what was committed when it began.

    Raises:
        ValidationFailed: `target_exists`; nothing is overwritten.
        StorageCorrupt: the database itself is damaged; contents that are only cost themselves.
    """
    _require_empty(target)
    with _built_aside(target) as folder:
        copy = engine.Sqlite(folder / "store.db", lock_wait_ms=LOCK_WAIT_MS)
        try:
            _copy_database(store.database, copy)
            _require_sound(copy)
            _drop_passing(copy)
            target_blobs = Blobs(folder / "blobs", InlineBlobs(copy), folder / "cache")
            copied = copy_blobs(copy, store.blobs, target_blobs, whole=False)
            with copy.reader() as cursor:
                cursor.text("PRAGMA wal_checkpoint(TRUNCATE)")
                cursor.text("PRAGMA journal_mode=DELETE")
        finally:
            copy.close()
        _copy_own(store.home, folder)
        about: dict[str, object] = {
            "format": _FORMAT,
            "schema": migration.VERSION,
            "written_at": timestamp(now_ms),
        }
        if copied.left_out:
            about["left_out"] = [f"{one.sha256}: {one.told}" for one in copied.left_out]
        (folder / _ABOUT).write_text(json.dumps(about, indent=2), encoding="utf-8")
    return copied


def restore_backup(
    source: Path, home: Path, *, database_url: str | None = None, blobs_url: str | None = None
) -> Copied:
    """Make a home from a backup; the home must not exist yet, or be empty.

    Every chain is checked before anything is made, and again where it arrives. A database on a
    server gets its rows last and in one transaction: a restore that was stopped can be repeated,
    also between that commit and the home's name, when the rows are there already.
    """
    _read_about(source)
    _require_empty(home)
    backup = engine.Sqlite(source / "store.db", lock_wait_ms=LOCK_WAIT_MS)
    backup.journal = "delete"  # a backup may lie on a medium that cannot be written
    try:
        blobs = Blobs(source / "blobs", InlineBlobs(backup), home / "cache" / "blobs")
        check_chains(backup, blobs)
        with _built_aside(home) as folder:
            if database_url is None:
                shutil.copyfile(source / "store.db", folder / "store.db")
            _copy_own(source, folder)
            with Store.open(folder, database_url=database_url, blobs_url=blobs_url) as store:
                if database_url is None:
                    _drop_passing(store.database)
                    copied = copy_blobs(backup, blobs, store.blobs, whole=False)
                    check_chains(store.database, store.blobs)
                else:
                    has_rows = is_same(backup, store.database)
                    if not has_rows:
                        require_empty(store.database)
                    copied = copy_blobs(backup, blobs, store.blobs, whole=False)
                    if not has_rows:
                        copy_rows(backup, store.database, partial(check_arrival, blobs=store.blobs))
    finally:
        backup.close()
    return copied


def _copy_own(source: Path, target: Path) -> None:
    """Copy what a person wrote beside the log: plain files, with links followed to none.

    They may be saved or removed meanwhile: each is copied as it is then, old or new, or not at all.
    """
    if (source / _SETTINGS).exists():
        shutil.copyfile(source / _SETTINGS, target / _SETTINGS)
    for name in _OWN:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=_odd, copy_function=_copy_if_there)


def _odd(folder: str, names: list[str]) -> list[str]:
    """Name what is neither a file nor a folder, as a link may lead anywhere, or not whole yet."""
    paths = {name: Path(folder) / name for name in names}
    return [
        name
        for name, path in paths.items()
        if path.is_symlink()
        or not (path.is_file() or path.is_dir())
        or name.startswith(TEMP_PREFIX)
    ]


def _copy_if_there(source: str, target: str) -> None:
    with suppress(FileNotFoundError):  # removed since its folder was listed
        shutil.copyfile(source, target)


def _copy_database(source: engine.Database, copy: engine.Sqlite) -> None:
    if isinstance(source, engine.Sqlite):
        source.copy_to(copy.path)
        return
    migration.migrate(copy)
    copy_rows(source, copy)


def _require_sound(copy: engine.Sqlite) -> None:
    """Refuse a copy that could not be used: pages are copied as they are, destroyed ones too.

    Raises:
        StorageCorrupt: `database_damaged`.
    """
    problems = check_database(copy)
    if problems:
        raise StorageCorrupt(
            "the database is damaged: a copy of it would be too",
            reason="database_damaged",
            detail="\n".join(problems),
            hints=("`backshop bench extract` copies the files out",),
        )


def _drop_passing(database: engine.Database) -> None:
    """Leave out what is of the processes that were: states they computed, turns they held."""
    with database.transaction() as cursor:
        cursor.run("snapshots_clear")
        cursor.run("leases_clear")


def _read_about(source: Path) -> dict[str, Any]:
    try:
        about = json.loads((source / _ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValidationFailed(
            f"there is no backup at {source}",
            reason="bad_backup",
            hints=("name the folder that `backshop backup` wrote; unpack an archive first",),
        ) from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise ValidationFailed("this backup was written by another program", reason="bad_backup")
    return about


def _require_empty(target: Path) -> None:
    try:
        taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as error:
        raise file_error(error) from error
    if taken:
        raise ValidationFailed(
            f"{target} exists and is not empty",
            reason="target_exists",
            hints=("choose a folder that is new or empty",),
        )


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
