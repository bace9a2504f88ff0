"""Which SQLite the store runs on: the standard library's if sound, else pysqlite3's (T2.5).

The standard library brings whatever the machine has. `pysqlite3` brings one of its own and is
installed where there is a wheel of it; what neither makes sound is used without a WAL.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from ..errors import StoreUnavailable

OLDEST = (3, 35, 0)  # RETURNING, by which an append learns its number
_SOUND_SINCE = (3, 51, 3)
_BACKPORTS = ((3, 50, 7), (3, 44, 6))  # the first sound one of an older line
_NAMES = ("sqlite3", "pysqlite3.dbapi2")  # in the order they are taken

Version = tuple[int, ...]


def has_wal_reset_defect(version: Version) -> bool:
    """Say whether this SQLite can spoil a WAL shared by several connections (T2.5)."""
    is_backport = any(version[:2] == first[:2] and version >= first for first in _BACKPORTS)
    return version < _SOUND_SINCE and not is_backport


def version_of(module: ModuleType) -> Version:
    """Return the version of the SQLite behind a module."""
    return tuple(int(part) for part in str(module.sqlite_version).split("."))


def sqlite_module(names: Iterable[str] = _NAMES) -> ModuleType:
    """Return the first module whose SQLite is sound, else the one with the newest.

    Raises:
        StoreUnavailable: every SQLite here is too old for the statements of the store.
    """
    found: list[ModuleType] = []
    for name in names:
        try:
            module = import_module(name)
        except ImportError:  # no wheel for this machine, or a Python built without
            continue
        if not has_wal_reset_defect(version_of(module)):
            return module
        found.append(module)
    newest = max(found, key=version_of, default=None)
    if newest is None or version_of(newest) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        has = "has none" if newest is None else f"has {newest.sqlite_version}"
        raise StoreUnavailable(
            f"the store needs SQLite {needed} or later, and this Python {has}",
            reason="driver_missing",
        )
    return newest
