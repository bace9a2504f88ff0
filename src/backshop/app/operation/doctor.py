"""Looks over a home and the machine under it, and says what is not as it should be."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from backshop.base.errors import BackshopError
from backshop.store import (
    Alarm,
    DatabaseAway,
    Finding,
    Store,
    examine_store,
    repair_store,
    was_used,
)

from ..settings.resolution import Config, load_in_part, unknown_environment
from .log import begin

_LOW_DISK_BYTES = 1024**3
_SETTINGS_FIRST = (
    "put the settings right first: what is wrong there may name another database or storage, so"
    " nothing is changed here"
)


def examine(
    home: Path | None, *, full: bool = False, repair: bool = False, accept_database: bool = False
) -> tuple[Finding, ...]:
    """Return findings about machine, settings, home and store; what cannot be opened is one.

    With `repair` what can be put right without guessing is put right first; `accept_database` goes
    on with a database that has less than it is known to have had.
    """
    config, wrong = load_in_part(home)
    begin(config)
    found = [
        Finding(level="ok", subject="python", message=platform.python_version()),
        _disk(config.home),
        _previews(config),
        *_settings(wrong),
        *_owners(config.home),
    ]
    if wrong and (repair or accept_database):
        return (*found, Finding(level="problem", subject="settings", message=_SETTINGS_FIRST))
    alarm = Alarm.ACCEPT if accept_database else Alarm.RAISE
    try:
        return (*found, *_looked_at(config, alarm, full=full, repair=repair))
    except DatabaseAway as error:
        text = f"{error.message}: {error.detail}" if error.detail else error.message
        found.append(Finding(level="problem", subject="database", message=text))
        hints = (_SETTINGS_FIRST,) if wrong else error.hints
        found += [Finding(level="note", subject="database", message=one) for one in hints]
        if error.reason in ("database_missing", "database_empty"):
            return tuple(found)
    except BackshopError as error:
        return (*found, _failed(error))
    try:  # there is something to be looked at, if not what there was
        return (*found, *_looked_at(config, Alarm.EXAMINE, full=full, repair=False))
    except BackshopError as error:
        return (*found, _failed(error))


def _looked_at(config: Config, alarm: Alarm, *, full: bool, repair: bool) -> list[Finding]:
    found: list[Finding] = []
    if config["database_url"] is None and not was_used(config.home):
        return [Finding(level="note", subject="home", message="nothing is stored here yet")]
    with Store.open(
        config.home,
        database_url=config["database_url"],
        blobs_url=config["blobs_url"],
        lock_wait_ms=config["store.lock_wait_ms"],
        alarm=alarm,
    ) as store:
        if repair:
            found += repair_store(store, (config.home / "benches",))
        return [*found, *examine_store(store, full=full)]


def _settings(wrong: list[str]) -> list[Finding]:
    strange = [
        Finding(level="note", subject="environment", message=f"{name} is no setting: left out")
        for name in unknown_environment(os.environ)
    ]
    if not wrong:
        fine = Finding(level="ok", subject="settings", message="all of them can be used")
        return [fine, *strange]
    told = [Finding(level="problem", subject="settings", message=text) for text in wrong]
    text = "what is wrong there was left out, and the rest examined as if it had not been set"
    return [*told, Finding(level="note", subject="settings", message=text), *strange]


def _failed(error: BackshopError) -> Finding:
    text = f"{error.message} ({error.detail})" if error.detail else error.message
    return Finding(level="problem", subject="store", message=text)


def _disk(home: Path) -> Finding:
    folder = home
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    level = "note" if free < _LOW_DISK_BYTES else "ok"
    return Finding(level=level, subject="disk", message=f"{free // 1024**2} MiB free")


def _owners(home: Path) -> list[Finding]:
    """Name what in the home belongs to others than the home: its owner's servers fail on it."""
    if not home.is_dir():
        return []
    try:
        owner = home.stat().st_uid
        strange = sorted(one.name for one in home.iterdir() if _owner(one) not in (None, owner))
    except OSError as error:
        text = f"cannot be looked into: {error.strerror}"
        return [Finding(level="problem", subject="home", message=text)]
    if not strange:
        return []
    text = f"belong to another user than the home does: {', '.join(strange[:10])}"
    return [Finding(level="problem", subject="home", message=text)]


def _owner(path: Path) -> int | None:
    """Return whose something is; None of what somebody who works here has just removed."""
    try:
        return path.lstat().st_uid
    except FileNotFoundError:
        return None


def _previews(config: Config) -> Finding:
    from backshop.formats import find_program  # loaded on first use

    wanted = config["formats.renderer_path"]
    if find_program(wanted) is not None:
        return Finding(level="ok", subject="previews", message="LibreOffice found")
    text = "LibreOffice is not installed: no page pictures of office files"
    if wanted is not None:
        text = "formats.renderer_path names no program: no page pictures of office files"
    return Finding(level="note", subject="previews", message=text)
