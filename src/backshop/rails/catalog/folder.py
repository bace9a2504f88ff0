"""A folder of definitions: one writer at a time, and every file old or new, never between."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backshop.base.paths import TEMP_PREFIX
from backshop.base.system import durability, lock


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep others out of a folder, also those of other processes."""
    folder.mkdir(parents=True, exist_ok=True)
    with lock.held_folder(folder):
        yield


def put_file(path: Path, text: str) -> None:
    """Put a file in place whole: written beside it, synced, renamed."""
    handle, name = tempfile.mkstemp(prefix=TEMP_PREFIX, dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            durability.sync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
