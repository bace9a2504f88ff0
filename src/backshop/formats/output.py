"""Puts finished bytes at the path the caller chose: whole and synced, or not at all (F1.2)."""

from __future__ import annotations

import errno
from pathlib import Path

from backshop.base.system import durability

from .errors import fail

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def write_file(out: Path, data: bytes) -> None:
    """Write `data` to `out` through a neighbour that takes its place in one step.

    Raises:
        FormatError: `disk_full`.
    """
    part = out.with_name(out.name + ".part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            durability.sync(file.fileno())
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.errno in NO_SPACE:
            raise fail("disk_full", "the disk has no room for the result") from error
        raise
