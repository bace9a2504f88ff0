"""Maps computed before, by content: in memory, and on disk beside the other caches (F5.11).

Deleting the folder changes nothing but speed. A broken file in it counts as absent.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from pathlib import Path

from backshop.base import limits as numbers

from .protocol import MAP_VERSION, Json, JsonObject, Source

_MEMORY_BYTES = 32 * numbers.MIB


class MapCache:
    """Keeps maps under (hash, ending, level); the ending decides which format drew the map."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, source: Source, level: str) -> dict[str, Json] | None:
        """Return the map of this content, if it is known."""
        key = _key(source, level)
        with self._lock:
            data = self._memory.get(key)
            if data is not None:
                self._memory.move_to_end(key)
        if data is None:
            data = self._load(key)
        return None if data is None else _parse(data)

    def put(self, source: Source, level: str, value: JsonObject) -> None:
        """Keep a map; a disk that will not take it is no reason to fail."""
        key = _key(source, level)
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        self._remember(key, data)
        if self._folder is None:
            return
        path = self._path(self._folder, key)
        part = path.with_name(f"{path.name}.{threading.get_ident()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)

    def _remember(self, key: str, data: bytes) -> None:
        with self._lock:
            self._size += len(data) - len(self._memory.pop(key, b""))
            self._memory[key] = data
            while self._size > _MEMORY_BYTES and len(self._memory) > 1:
                self._size -= len(self._memory.popitem(last=False)[1])

    def _load(self, key: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            data = self._path(self._folder, key).read_bytes()
        except OSError:
            return None
        if _parse(data) is None:
            return None
        self._remember(key, data)
        return data

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.json"


def _key(source: Source, level: str) -> str:
    ending = source.extension.lstrip(".") or "none"
    safe = "".join(char for char in ending if char.isalnum())[:16]
    return f"{source.sha256}.{safe}.{MAP_VERSION}.{level}"


def _parse(data: bytes) -> dict[str, Json] | None:
    try:
        value = json.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value.get("map_version") == MAP_VERSION else None
