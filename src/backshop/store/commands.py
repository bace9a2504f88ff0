"""The store's commands: backup, collection, examination (S4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from backshop.base.ambient import SystemClock
from backshop.base.command import Command, method_command
from backshop.base.errors import NotFound
from backshop.base.progress import report

from .blob.content import Needs
from .blob.gc import Swept
from .errors import StorageCorrupt
from .health import examination
from .maintenance.backup import write_backup
from .maintenance.copy import Copied
from .service import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBackup:
    """Write a consistent copy of the home to a path that does not exist yet."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreGc:
    """Remove blobs that nothing needs; without `apply` only say which."""

    apply: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDoctor:
    """Examine the store; with `full` every content is read and rehashed."""

    full: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth knowing. `level`: ok, note, problem."""

    level: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What an examination found."""

    findings: tuple[Finding, ...]


def back_up(store: Store, request: StoreBackup) -> Copied:
    """Write a consistent copy of the home while it is in use."""
    target = Path(request.path).expanduser().absolute()
    return write_backup(store, target, now_ms=SystemClock().now_ms())


def _collect(store: Store, request: StoreGc) -> Swept:
    return store.collect(apply=request.apply)


def _examine(store: Store, request: StoreDoctor) -> Findings:
    return Findings(findings=tuple(examine_store(store, full=request.full)))


def examine_store(store: Store, *, full: bool) -> list[Finding]:
    """Ask the database, check every stream and what folders tell, and look for every content.

    With `full` every content is read and rehashed; else it is there and has its length.
    """
    found = [*_database(store, full), *_streams(store), *_folders(store), *_contents(store, full)]
    if store.is_read_only:
        text = "the home is read-only: it can be read, and nothing in it changed"
        found.insert(0, Finding(level="note", subject="home", message=text))
    return found


def _database(store: Store, full: bool) -> list[Finding]:
    """Let the database examine itself."""
    found = []
    if store.database.journal == "delete":
        text = "this SQLite has the WAL-reset defect: a rollback journal is used, writes are slower"
        found.append(Finding(level="note", subject="database", message=text))
    problems = examination.check_database(store.database, full=full)
    for text in problems:
        found.append(Finding(level="problem", subject="database", message=text))
    if problems:
        text = (
            "parts of the database are destroyed; take no new work up here: copy the files out"
            " with `backshop bench extract`, then restore a backup"
        )
        found.append(Finding(level="note", subject="database", message=text))
    elif store.database.dialect == "sqlite":
        text = "sqlite: every page in use and every index is whole"
        found.append(Finding(level="ok", subject="database", message=text))
    else:
        read = "every value of every table was read" if full else "every table answers"
        text = f"postgresql: {read}; pages and indexes are for its own tools (pg_amcheck)"
        found.append(Finding(level="ok", subject="database", message=text))
    return found


def _streams(store: Store) -> list[Finding]:
    found: list[Finding] = []
    try:
        heads = store.streams()
    except StorageCorrupt as error:
        text = f"which streams there are cannot be read: {error.message}"
        return [Finding(level="problem", subject="streams", message=text)]
    for number, head in enumerate(heads, 1):
        told = _sick(store, head.stream)
        report("streams", number, len(heads))
        if told is not None:
            found.append(Finding(level="problem", subject=head.stream, message=told))
    if not found:
        found.append(Finding(level="ok", subject="streams", message=f"{len(heads)} healthy"))
    return found


def _sick(store: Store, stream: str) -> str | None:
    """Say what is wrong with a stream."""
    try:
        state = store.health(stream)
    except StorageCorrupt as error:
        return f"cannot be read: {error.message}"
    except NotFound:  # deleted since it was listed
        return None
    if state.is_healthy:
        return None
    return f"{state.status}: {state.reason}, valid through event {state.valid_through}"


def _folders(store: Store) -> list[Finding]:
    """Name folders of workbenches that the database does not know: it may be an older one."""
    try:
        with store.database.reader() as cursor:
            unknown = examination.unknown_folders(cursor, store.home)
    except StorageCorrupt:  # said above
        return []
    text = "holds files of no workbench of this database: an older database may be in use"
    return [Finding(level="problem", subject=str(one), message=text) for one in unknown]


def _contents(store: Store, full: bool) -> list[Finding]:
    """Look for what the streams need; with `full` also read what nothing needs."""
    try:
        needs = Needs(store.database, store.blobs)
        lost = needs.lost(verify=full)
    except StorageCorrupt as error:
        text = f"which contents are needed cannot be told: {error.message}"
        return [Finding(level="problem", subject="contents", message=text)]
    found = [Finding(level="problem", subject=one.sha256, message=one.told) for one in lost]
    needed = set(needs.names)
    if not lost:
        how = "intact" if full else "there (`--full` reads them)"
        apart = len(needed - needs.inline)  # what a backup counts
        text = f"{apart} in files and {len(needed) - apart} small ones in the database {how}"
        found.append(Finding(level="ok", subject="contents", message=text))
    if full:
        spare = [name for name in store.blobs.names() if name not in needed]
        bad = [name for name in spare if not store.blobs.verify(name)]
        if bad:
            text = f"{len(bad)} that nothing needs are altered, which does no harm"
            found.append(Finding(level="note", subject="contents", message=text))
    return found


_command = partial(method_command, phase="settings", role="owner")

COMMANDS: tuple[Command[Any, Any, Any], ...] = (
    _command(
        "StoreBackup",
        "Write a consistent copy of the home while it is in use.",
        back_up,
        server_paths=("path",),
    ),
    _command(
        "StoreGc", "Remove stored contents that nothing needs any more.", _collect, writes=True
    ),
    _command("StoreDoctor", "Examine the store for damage.", _examine),
)
