"""Files that come to a bench in several requests, kept where every server finds them (T6.1).

A folder of thousands of files comes in many requests, and with several servers each may reach
another one. What came is a stream of its own until the last request adds all of it or none (B6.9);
then it is deleted, as one is that nobody goes on with. Until then it counts for whoever sends it
(T6.5): nobody else is kept from uploading.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from backshop.base.ambient import Clock
from backshop.base.canon import canonical
from backshop.base.errors import AccessDenied, LimitExceeded, NotFound
from backshop.base.event import event
from backshop.base.ids import BlobId, UserId
from backshop.store import Batch, NewEvent, Part, Pin, Plan, Store

if TYPE_CHECKING:  # loaded with the first command about a bench (S2.4)
    from backshop.bench import requests

PARCELS_MAX = 8  # of one person
PARCEL_MS = 3_600_000  # a parcel nobody goes on with is thrown away after this
_KIND = "upload"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedFile:
    """A file as it was called by whoever sent it; names are checked when it is added."""

    name: str
    content: BlobId
    size: int


@event("upload.piece_arrived")
@dataclass(frozen=True, slots=True, kw_only=True)
class PieceArrived:
    """Some files of an upload are here; nothing of it is in the bench yet."""

    bench_id: str
    user_id: UserId | None = None
    files: tuple[ArrivedFile, ...]


_Piece = tuple[ArrivedFile, ...]
Room = Callable[[str, int], None]
"""Refuses so many bytes more in a bench when that is too much for its owner (T6.5)."""


class Parcels:
    """Uploads that are not whole yet, shared by all servers of a home."""

    def __init__(self, store: Store, clock: Clock, room: Room) -> None:
        self._store = store
        self._clock = clock
        self._room = room

    def require_own(self, key: str, bench_id: str, user: UserId | None) -> None:
        """Refuse an upload that somebody else began, or that is for another bench.

        Raises:
            AccessDenied: it is.
        """
        first = next(self._store.read(_stream(key)), None)
        if first is not None and (first.fact.bench_id, first.fact.user_id) != (bench_id, user):
            raise AccessDenied("this upload is somebody else's")

    def keep(
        self,
        key: str,
        bench_id: str,
        user: UserId | None,
        given: Sequence[tuple[IO[bytes], str]],
        limits: requests.LimitValues,
    ) -> None:
        """Keep a piece: of each file at most one byte more than may be added.

        A piece that is sent again is kept once. `limits` are the bench's own.

        Raises:
            AccessDenied: the upload is somebody else's, or for another bench.
            LimitExceeded: the person has too many uploads that are not whole, or they are more
                than could be added.
        """
        stream, most_bytes = _stream(key), limits.max_file_bytes + 1
        self.require_own(key, bench_id, user)
        self._throw_away_old()
        theirs = self._unfinished(user)
        if stream not in theirs and len(theirs) >= PARCELS_MAX:
            raise LimitExceeded("too many uploads at once", reason="too_many")
        here = theirs.setdefault(stream, [])
        with self._store.blobs.batch() as batch:  # a refusal inside it leaves nothing behind
            files = tuple(_taken(batch, source, name, most_bytes) for source, name in given)
            if files in here:
                return
            here.append(files)
            if _bytes(here) > limits.max_total_bytes:
                raise LimitExceeded("the workbench would hold too many bytes", reason="too_large")
            self._room(bench_id, sum(map(_bytes, theirs.values())))
        named = canonical([[one.name, one.content] for one in files])
        fact = PieceArrived(bench_id=bench_id, user_id=user, files=files)
        pins = [Pin(one, "content") for one in sorted({one.content for one in files})]
        same = hashlib.sha256(named).hexdigest()
        self._store.append(Plan((Part(stream, [NewEvent(fact, f"piece:{same}")], pins=pins),)))

    def kept(self, key: str) -> Iterator[tuple[IO[bytes], str]]:
        """Yield the files that came so far, in the order they came, open for reading."""
        for stored in self._store.read(_stream(key)):
            for one in stored.fact.files:
                with self._store.blobs.open(one.content) as source:
                    yield source, one.name

    def drop(self, key: str) -> None:
        """Forget an upload; its contents go with the next collection."""
        with suppress(NotFound):  # it came in one request, or another server was faster
            self._store.delete_stream(_stream(key))

    def _unfinished(self, user: UserId | None) -> dict[str, list[_Piece]]:
        """Return the uploads somebody has begun, and the pieces that came of each."""
        found: dict[str, list[_Piece]] = {}
        for head in self._store.streams(_KIND):
            facts = [stored.fact for stored in self._store.read(head.stream)]
            if facts and facts[0].user_id == user:
                found[head.stream] = [one.files for one in facts]
        return found

    def _throw_away_old(self) -> None:
        before = self._clock.now_ms() - PARCEL_MS
        for head in self._store.streams(_KIND):
            last = next(self._store.read(head.stream, head.last_idx - 1), None)
            if last is not None and last.at_ms < before:
                with suppress(NotFound):
                    self._store.delete_stream(head.stream)


class _UpTo:
    """Reads no further than so many bytes."""

    def __init__(self, source: IO[bytes], left_bytes: int) -> None:
        self._source = source
        self._left = left_bytes

    def read(self, size: int) -> bytes:
        """Read on."""
        chunk = self._source.read(min(size, self._left))
        self._left -= len(chunk)
        return chunk


def _bytes(pieces: Iterable[_Piece]) -> int:
    return sum(one.size for piece in pieces for one in piece)


def _taken(batch: Batch, source: IO[bytes], name: str, most_bytes: int) -> ArrivedFile:
    found = batch.add_stream(_UpTo(source, most_bytes), most_bytes)
    assert found is not None  # it cannot be longer
    return ArrivedFile(name=name, content=found[0], size=found[1])


def _stream(key: str) -> str:
    """Return the stream of an upload; its name is of the client's choice, so it is hashed."""
    return f"{_KIND}:{hashlib.sha256(key.encode()).hexdigest()}"
