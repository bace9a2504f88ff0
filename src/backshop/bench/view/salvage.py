"""Bytes that other programs put into a bench's folders, kept before they are displaced (B3.12)."""

from __future__ import annotations

import errno
import os
import shutil
from itertools import count
from pathlib import Path

from backshop.base.ambient import Clock, timestamp
from backshop.base.system import durability
from backshop.store import file_error

from .folder_scan import copy_durably, is_kept, made_folder


class Salvage:
    """One stamped folder below `salvage/`, made when there is something to keep."""

    def __init__(self, parent: Path, clock: Clock) -> None:
        self._parent = parent
        self._clock = clock
        self._folder: Path | None = None
        self.kept: list[str] = []
        """Where things are now, below `salvage/`."""

    def keep(self, path: str, actual: Path) -> None:
        """Copy what is at a path of a view until it is on the disk.

        Raises:
            DiskFull, WriteFailed: it could not be copied, so it must stay where it is.
        """
        try:
            if not is_kept(actual):
                if actual.is_dir() and not actual.is_symlink():  # one nobody can look into
                    raise PermissionError(errno.EACCES, "not readable")
                return
            self._folder = self._folder or self._made()
            target = self._folder / path
            made_folder(target.parent)
            copy_durably(actual, target)
        except OSError as error:
            raise file_error(error) from error
        self.kept.append(f"{self._folder.name}/{path}")

    def keep_open(self, path: str, handle: int) -> None:
        """Copy what an open file holds, which was at a path, until it is on the disk.

        Raises:
            DiskFull, WriteFailed: it could not be copied.
        """
        try:
            self._folder = self._folder or self._made()
            target = self._folder / path
            made_folder(target.parent)
            while target.exists():  # kept before, and grown since
                target = target.with_name(f"{target.name}-again")
            with os.fdopen(os.dup(handle), "rb") as source, target.open("xb") as out:
                shutil.copyfileobj(source, out)
                out.flush()
                durability.sync(out.fileno())
        except OSError as error:
            raise file_error(error) from error
        self.kept.append(str(target.relative_to(self._parent)))

    def _made(self) -> Path:
        stamp = timestamp(self._clock.now_ms()).replace(":", "").replace(".", "")
        self._parent.mkdir(parents=True, exist_ok=True)
        for number in count():
            folder = self._parent / (f"{stamp}-{number}" if number else stamp)
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
        raise AssertionError("unreachable")
