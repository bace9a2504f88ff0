"""Table files kept for the next question: named by content, rebuilt when broken (F25.8)."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backshop.base import codec
from backshop.base import limits as numbers
from backshop.base.canon import digest
from backshop.base.errors import ValidationFailed

from .table import Shape

INGEST_VERSION = 2  # changes with everything that makes a table come out differently
_TABLE, _SHAPE = ".duckdb", ".json"


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of table files; everything in it can be made again."""

    folder: Path
    max_bytes: int = numbers.TABLE_CACHE_MAX_BYTES

    def get(
        self, sha256: str, region: object, build: Callable[[Path], Shape]
    ) -> tuple[Path, Shape]:
        """Return the table of a source and region, built by `build(path)` if it is not there."""
        stem = f"{sha256}-{digest([INGEST_VERSION, region]).removeprefix('sha256:')[:16]}"
        table, shape_file = self.folder / (stem + _TABLE), self.folder / (stem + _SHAPE)
        shape = _read_shape(shape_file)
        if shape is not None and _begins_well(table):
            os.utime(table)  # used last is kept longest
            return table, shape
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=self.folder) as scratch:
            made = Path(scratch) / ("table" + _TABLE)
            shape = build(made)
            described = made.with_suffix(_SHAPE)
            described.write_text(json.dumps(codec.encode(shape, omit_none=False)))
            self.make_room(made.stat().st_size)
            made.replace(table)
            described.replace(shape_file)  # last: a table counts only with its shape
        return table, shape

    def drop(self, table: Path) -> None:
        """Remove a table that turned out to be broken."""
        table.with_suffix(_SHAPE).unlink(missing_ok=True)
        table.unlink(missing_ok=True)

    def make_room(self, size_bytes: int = 0) -> None:
        """Delete tables, least recently used first, until `size_bytes` more fit."""
        tables = sorted(self._tables(), key=lambda item: (item[1].st_mtime_ns, item[0].name))
        used = sum(status.st_size for _, status in tables)
        for path, status in tables:
            if used + size_bytes <= self.max_bytes:
                return
            self.drop(path)
            used -= status.st_size

    def clear(self) -> None:
        """Delete everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _tables(self) -> list[tuple[Path, os.stat_result]]:
        found = []
        for path in self.folder.glob("*" + _TABLE):
            try:
                found.append((path, path.stat()))
            except FileNotFoundError:  # another process cleaned up
                continue
        return found


def _read_shape(path: Path) -> Shape | None:
    try:
        return codec.decode_json(Shape, path.read_bytes())
    except (FileNotFoundError, ValidationFailed):
        return None


def _begins_well(path: Path) -> bool:
    """Tell a table file from a torn one without opening it."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except FileNotFoundError:
        return False
