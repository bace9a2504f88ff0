"""States kept beside the log, so that a fresh process does not fold a long stream again (T3.3).

A snapshot is a cache: it is taken for what it says only if the program that reads it is the one
that wrote it (its sources are hashed), the event it ends with is still the one in the stream, and
its bytes are whole. Anything else, and the stream is folded from its beginning. It is written by
a thread of its own after the fact, so an append never waits for it.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import io
import pickle
import threading
import zlib
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from backshop.base.canon import sha256_hex
from backshop.base.errors import BackshopError
from backshop.base.pmap import PMap

from ..database.connection import Cursor
from ..database.engine import Database
from .event import EMPTY, event_of
from .projection import Fold, Folded

S = TypeVar("S")

STEP = 256  # events folded again at most, of a stream that is not long
_GROWTH = 16  # and of a long one: a sixteenth, so that writing stays cheap beside folding
_MAX_BYTES = 64 * 1024 * 1024
_CLOSE_S = 10.0
_ROOMS = ("app", "base", "bench", "models", "prompts", "rails", "store", "workshop")
_PLAIN = (datetime.datetime, datetime.date, datetime.timedelta, datetime.timezone, frozenset, set)
_BAD = (
    *(pickle.PickleError, zlib.error, AttributeError, EOFError, ImportError, IndexError),
    *(KeyError, RecursionError, TypeError, ValueError),
)

Place = tuple[str, str]  # stream, name of the fold


class Snapshots:
    """The snapshots of one database, and the thread that writes them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[Place, int] = {}  # where the newest one known ends
        self._waiting: dict[Place, tuple[Fold[Any], Folded[Any]]] = {}
        self._unfit: set[str] = set()  # folds whose states cannot be kept
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def load(self, cursor: Cursor, stream: str, fold: Fold[S]) -> Folded[S] | None:
        """Return the state kept for a stream, or None; what is not certain is not used."""
        row = cursor.one("snapshot", {"stream": stream, "fold": fold.name})
        if row is None or row[0] != _code(fold.version):
            return None
        _, idx, digest, checksum, data = row
        found = cursor.one("read_one", {"stream": stream, "idx": idx})
        if found is None or (last := event_of(found)).hash != digest:
            return None
        if sha256_hex(bytes(data)) != checksum:
            return None
        try:
            state: S = thaw(bytes(data))
        except _BAD:
            return None
        with self._changed:
            self._kept[stream, fold.name] = last.idx
        return Folded(state, last)

    def offer(self, stream: str, fold: Fold[S], folded: Folded[S]) -> None:
        """Have a state written if folding up to it again would take long."""
        place = (stream, fold.name)
        kept = self._kept.get(place, EMPTY)
        if folded.idx - kept < max(STEP, kept // _GROWTH) or fold.name in self._unfit:
            return
        with self._changed:
            if self._closed:
                return
            self._kept[place] = folded.idx
            self._waiting[place] = (fold, folded)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="snapshots", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def forget(self, stream: str) -> None:
        """Drop what is known of a stream that was deleted."""
        with self._changed:
            for place in [place for place in self._kept if place[0] == stream]:
                del self._kept[place]
                self._waiting.pop(place, None)

    def close(self) -> None:
        """Write what is waiting, within bounds, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                place = next(iter(self._waiting))
                fold, folded = self._waiting.pop(place)
            self._write(place[0], fold, folded)

    def _write(self, stream: str, fold: Fold[Any], folded: Folded[Any]) -> None:
        assert folded.last is not None
        try:
            data = freeze(folded.state)
            same = len(data) <= _MAX_BYTES and thaw(data) == folded.state
        except _BAD:
            same = False
        if not same:
            self._unfit.add(fold.name)
            return
        row = {
            "stream": stream,
            "fold": fold.name,
            "code": _code(fold.version),
            "idx": folded.idx,
            "hash": folded.last.hash,
            "checksum": sha256_hex(data),
            "data": data,
        }
        try:
            with self._database.transaction([stream]) as cursor:
                if cursor.one("head", {"stream": stream}) is not None:
                    cursor.run("snapshot_put", row)
        except BackshopError:  # busy or gone: somebody folds again, nothing is lost
            with self._changed:
                self._kept.pop((stream, fold.name), None)


def freeze(state: object) -> bytes:
    """Return a state as bytes."""
    return zlib.compress(pickle.dumps(state, protocol=5), level=1)


def thaw(data: bytes) -> Any:
    """Return the state that `freeze` made bytes of; nothing but values is ever made.

    Raises one of `_BAD` for bytes that are not such a state.
    """
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(data, _MAX_BYTES * 4)
    if unpacking.unconsumed_tail or not unpacking.eof:
        raise ValueError("a snapshot is cut off or too large")
    return _Thaw(io.BytesIO(plain)).load()


class _Thaw(pickle.Unpickler):
    """Finds value classes of the product and of time, and no function or module at all."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        found = super().find_class(module_name, global_name) if "." not in global_name else None
        if found in _PLAIN:
            return found
        if module_name.startswith("backshop.") and isinstance(found, type) and _is_value(found):
            return found
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no value of a state")


def _is_value(cls: type) -> bool:
    frozen = getattr(cls, "__dataclass_params__", None)
    is_frozen = dataclasses.is_dataclass(cls) and frozen is not None and frozen.frozen
    return is_frozen or issubclass(cls, enum.Enum) or cls is PMap


@cache
def _code(version: int) -> str:
    """Return what a snapshot must match: the fold's version and the program's own sources."""
    digest = sha256()
    package = Path(__file__).parents[2]
    for room in _ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return f"{version}:{digest.hexdigest()[:32]}"
