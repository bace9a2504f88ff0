"""Locks between processes: on an open file or folder, gone when it is closed or its process ends.

They bind only those who ask for them. A file system that cannot lock raises `OSError`.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def hold(handle: int) -> None:
    """Wait until nobody else holds an open file or folder, and hold it."""
    fcntl.flock(handle, fcntl.LOCK_EX)


def hold_now(handle: int) -> None:
    """Hold an open file or folder.

    Raises:
        BlockingIOError: somebody else holds it.
    """
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def share_now(handle: int) -> None:
    """Hold an open file or folder together with others who only share it.

    Raises:
        BlockingIOError: somebody holds it alone.
    """
    fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)


def release(handle: int) -> None:
    """Let go of an open file or folder without closing it."""
    fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Hold a folder against other processes as long as this lasts."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        hold(handle)
        yield
    finally:
        os.close(handle)
