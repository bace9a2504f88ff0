"""Looks over a home and the machine under it, and says what is not as it should be."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from backshop.base.errors import BackshopError
from backshop.store import Finding, Store, examine_store, repair_store

from .config import Config

_LOW_DISK_BYTES = 1024**3


def examine(config: Config, *, full: bool = False, repair: bool = False) -> tuple[Finding, ...]:
    """Return findings about machine, home and store; a store that cannot be opened is one.

    With `repair` what can be put right without guessing is put right first.
    """
    found = [
        Finding(level="ok", subject="python", message=platform.python_version()),
        _disk(config.home),
        _previews(config),
    ]
    if not (config.home / "store.db").exists() and config["database_url"] is None:
        found.append(Finding(level="note", subject="home", message="nothing is stored here yet"))
        return tuple(found)
    try:
        with Store.open(
            config.home, database_url=config["database_url"], blobs_url=config["blobs_url"]
        ) as store:
            if repair:
                found.extend(repair_store(store, (config.home / "benches",)))
            found.extend(examine_store(store, full=full))
    except BackshopError as error:
        found.append(Finding(level="problem", subject="store", message=error.message))
    return tuple(found)


def _disk(home: Path) -> Finding:
    folder = home
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    level = "note" if free < _LOW_DISK_BYTES else "ok"
    return Finding(level=level, subject="disk", message=f"{free // 1024**2} MiB free")


def _previews(config: Config) -> Finding:
    from backshop.formats import find_program  # loaded on first use

    wanted = config["formats.renderer_path"]
    if find_program(wanted) is not None:
        return Finding(level="ok", subject="previews", message="LibreOffice found")
    text = "LibreOffice is not installed: no page pictures of office files"
    if wanted is not None:
        text = "formats.renderer_path names no program: no page pictures of office files"
    return Finding(level="note", subject="previews", message=text)
