"""Files that come to a bench in several requests, kept where every server finds them (T6.1).

A folder of thousands of files comes in many requests, and with several servers each may reach
another one. What came is a stream of its own until the last request adds all of it or none (B6.9);
then it is deleted, as one is that nobody goes on with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from backshop.base.ambient import Clock
from backshop.base.canon import canonical
from backshop.base.errors import AccessDenied, LimitExceeded, NotFound
from backshop.base.event import event
from backshop.base.ids import BlobId, UserId
from backshop.store import Batch, NewEvent, Part, Pin, Plan, Store

PARCELS_MAX = 32
PARCEL_MS = 3_600_000  # a parcel nobody goes on with is thrown away after this
_KIND = "upload"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedFile:
    """A file as it was called by whoever sent it; names are checked when it is added."""

    name: str
    content: BlobId


@event("upload.piece_arrived")
@dataclass(frozen=True, slots=True, kw_only=True)
class PieceArrived:
    """Some files of an upload are here; nothing of it is in the bench yet."""

    bench_id: str
    user_id: UserId | None = None
    files: tuple[ArrivedFile, ...]


class Parcels:
    """Uploads that are not whole yet, shared by all servers of a home."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

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
        limit_bytes: int,
    ) -> None:
        """Keep a piece: of each file at most one byte more than may be added.

        A piece that is sent again is kept once.

        Raises:
            AccessDenied: the upload is somebody else's, or for another bench.
            LimitExceeded: there are too many uploads that are not whole.
        """
        stream = _stream(key)
        self.require_own(key, bench_id, user)
        if self._store.head(stream) is None:
            self._throw_away_old()
            if len(self._store.streams(_KIND)) >= PARCELS_MAX:
                raise LimitExceeded("too many uploads at once", reason="too_many")
        with self._store.blobs.batch() as batch:
            files = tuple(
                ArrivedFile(name=name, content=_taken(batch, source, limit_bytes + 1))
                for source, name in given
            )
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


def _taken(batch: Batch, source: IO[bytes], most_bytes: int) -> BlobId:
    found = batch.add_stream(_UpTo(source, most_bytes), most_bytes)
    assert found is not None  # it cannot be longer
    return found[0]


def _stream(key: str) -> str:
    """Return the stream of an upload; its name is of the client's choice, so it is hashed."""
    return f"{_KIND}:{hashlib.sha256(key.encode()).hexdigest()}"
