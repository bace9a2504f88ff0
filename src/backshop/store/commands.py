"""The store's commands: backup, collection, examination (S4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backshop.base.ambient import SystemClock
from backshop.base.command import Command
from backshop.base.ids import BlobId
from backshop.base.progress import report

from .backup import write_backup
from .copying import Copied
from .gc import Swept
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
    """Examine the store; with `full` every blob is rehashed."""

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


def _backup(store: Store, request: StoreBackup) -> Copied:
    target = Path(request.path).expanduser().absolute()
    return write_backup(store, target, now_ms=SystemClock().now_ms())


def _collect(store: Store, request: StoreGc) -> Swept:
    return store.collect(apply=request.apply)


def _examine(store: Store, request: StoreDoctor) -> Findings:
    return Findings(findings=tuple(examine_store(store, full=request.full)))


def examine_store(store: Store, *, full: bool) -> list[Finding]:
    """Check every stream, and with `full` every blob."""
    found = [_journal(store)]
    sick = 0
    heads = store.streams()
    for number, head in enumerate(heads, 1):
        state = store.health(head.stream)
        report("streams", number, len(heads))
        if not state.is_healthy:
            sick += 1
            text = f"{state.status}: {state.reason}, valid through event {state.valid_through}"
            found.append(Finding(level="problem", subject=head.stream, message=text))
    if not sick:
        found.append(Finding(level="ok", subject="streams", message=f"{len(heads)} healthy"))
    if full:
        found.extend(_blobs(store))
    return found


def _journal(store: Store) -> Finding:
    if store.database.journal == "delete":
        text = "this SQLite has the WAL-reset defect: a rollback journal is used, writes are slower"
        return Finding(level="note", subject="database", message=text)
    return Finding(level="ok", subject="database", message=store.database.dialect)


def _blobs(store: Store) -> list[Finding]:
    names: list[BlobId] = list(store.blobs.names())
    bad: list[BlobId] = []
    for number, name in enumerate(names, 1):
        if not store.blobs.verify(name):
            bad.append(name)
        report("contents", number, len(names))
    if not bad:
        return [Finding(level="ok", subject="blobs", message=f"{len(names)} intact")]
    return [Finding(level="problem", subject=name, message="altered bytes") for name in bad]


COMMANDS: tuple[Command[Any, Any, Any], ...] = (
    Command(
        name="StoreBackup",
        summary="Write a consistent copy of the home while it is in use.",
        request=StoreBackup,
        response=Copied,
        run=_backup,
        phase="settings",
    ),
    Command(
        name="StoreGc",
        summary="Remove stored contents that nothing needs any more.",
        request=StoreGc,
        response=Swept,
        run=_collect,
        phase="settings",
        writes=True,
    ),
    Command(
        name="StoreDoctor",
        summary="Examine the store for damage.",
        request=StoreDoctor,
        response=Findings,
        run=_examine,
        phase="settings",
    ),
)
