"""A folder of pictures kept by name, up to a size (B12.15)."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


class Shelf:
    """Files kept by name up to a size, those not asked for longest going first; a cache that
    cannot be read or written is only slower."""

    def __init__(self, folder: Path | None, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def get(self, name: str) -> bytes | None:
        """Return what is kept under a name."""
        if self._folder is None:
            return None
        try:
            data = (self._folder / name).read_bytes()
            os.utime(self._folder / name)
        except OSError:
            return None
        return data

    def take(self, name: str, into: Path) -> bool:
        """Copy what is kept under a name; say whether there was anything."""
        if self._folder is None:
            return False
        try:
            os.utime(self._folder / name)
            shutil.copyfile(self._folder / name, into)
        except OSError:
            return False
        return True

    def put(self, name: str, data: bytes) -> None:
        """Keep bytes under a name."""
        self._fill(name, lambda part: part.write_bytes(data))

    def keep(self, name: str, path: Path) -> None:
        """Keep a copy of a file under a name."""
        self._fill(name, lambda part: shutil.copyfile(path, part))

    def _fill(self, name: str, write: Callable[[Path], object]) -> None:
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(dir=self._folder, suffix=".part")
            os.close(handle)
            try:
                write(Path(part))
                Path(part).replace(self._folder / name)
            finally:
                Path(part).unlink(missing_ok=True)
            self._make_room()

    def _make_room(self) -> None:
        files = []
        for entry in os.scandir(self._folder):
            with contextlib.suppress(FileNotFoundError):  # another process made room
                status = entry.stat()
                files.append((status.st_mtime_ns, status.st_size, Path(entry.path)))
        used = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if used <= self._most_bytes:
                return
            path.unlink(missing_ok=True)
            used -= size
