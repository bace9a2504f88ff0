"""The keys tokens are signed with: one row beside the log (T1.5, R6.3)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from .engine import Database

_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys tokens are signed with: the current one, and the one before it if there is."""

    current: bytes = field(repr=False)
    previous: bytes | None = field(repr=False)


def key_ring(database: Database) -> KeyRing:
    """Return the ring, made on first use."""
    with database.reader() as cursor:
        row = cursor.one("ring")
    if row is None:
        fresh = {"id": 1, "current": os.urandom(_KEY_BYTES), "previous": None}
        with database.transaction() as cursor:
            cursor.run("ring_first", fresh)
            row = cursor.one("ring")
    assert row is not None
    return KeyRing(bytes(row[0]), None if row[1] is None else bytes(row[1]))


def rotate(database: Database) -> KeyRing:
    """Make a new current key and keep the one before."""
    key_ring(database)
    with database.transaction() as cursor:
        cursor.lock_lease("keyring")  # of two who rotate at once the later keeps the earlier's key
        row = cursor.one("ring")
        assert row is not None
        fresh = KeyRing(os.urandom(_KEY_BYTES), bytes(row[0]))
        put = {"id": 1, "current": fresh.current, "previous": fresh.previous}
        cursor.run("ring_put", put)
    return fresh
