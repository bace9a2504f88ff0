"""`Store`: one append-only event store and one blob store, shared by any number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from backshop.base.acting import By, acting_by
from backshop.base.ambient import Clock, Mint, SystemClock
from backshop.base.errors import BackshopError, NotFound
from backshop.base.ids import BlobId, TreeId
from backshop.base.limits import (
    BLOB_GRACE_HOURS,
    INLINE_BLOB_MAX_BYTES,
    LOCK_WAIT_MS,
    STORE_CONNECTIONS,
)

from . import migration
from .blob import gc
from .blob.blob import Blobs, make_home
from .blob.shared import blobs_at
from .blob.tree_node import Nodes
from .database import engine, keyring
from .database.connection import Cursor
from .database.keyring import KeyRing
from .database.news import News
from .database.quota import Quotas
from .errors import ReadOnlyHome, StoreUnavailable
from .health import examination as health
from .health.mark import Alarm, Mark
from .lease.lease import Leases
from .log import append
from .log import event as log_event
from .log.event import Appended, Event, Head, NewEvent, Part, Pin, Plan
from .log.opening import NOTHING_BESIDE, Beginning
from .log.projection import Fold, FoldCache, Folded, forward, with_new
from .log.snapshot import Snapshots

S = TypeVar("S")
T = TypeVar("T")

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Write:
    """What a rule wants appended to its stream."""

    events: Sequence[NewEvent]
    pins: Sequence[Pin] = ()
    blobs: Sequence[bytes] = field(default=(), repr=False)
    lease: str | None = None
    unpins: Sequence[BlobId] = ()

    def part(self, stream: str) -> Part:
        """Return it as its stream's part of a plan."""
        return Part(stream, self.events, None, self.pins, self.unpins, self.lease)


Rule = Callable[[S], Write | Sequence[NewEvent]]
ManyRule = Callable[[tuple[Any, ...]], Plan | None]


class Store:
    """Events and blobs of one home. Safe for threads; other processes may use the same home."""

    def __init__(
        self,
        home: Path,
        database: engine.Database,
        blobs: Blobs,
        clock: Clock,
        mint: Mint,
        *,
        mark: Mark | None = None,
        place: By | None = None,
    ) -> None:
        self.home = home
        self.database = database
        self._clock = clock
        self._mint = mint
        self._cache = FoldCache()
        self._snapshots = Snapshots(database)
        self._checked: set[str] = set()
        self._news = News(database, clock)
        self.bulletin = self._news.bulletin  # None on SQLite
        self.blobs = blobs
        self._nodes = Nodes(blobs)
        self.leases = Leases(database, clock)
        self.quotas = Quotas(database, clock)
        self._mark = mark
        self.place = place or By()
        """Where this process is: its door, and which worker of a team it is (T1.6)."""

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written here: the file, or the folder it is in, refuses."""
        return self.database.is_read_only

    def require_writable(self) -> None:
        """Refuse what would change a home that cannot be written.

        Raises:
            ReadOnlyHome: nothing can be changed here.
        """
        if self.is_read_only:
            raise ReadOnlyHome("the home is read-only: nothing can be changed here")

    def _by(self) -> By:
        """Return who acts, and through which door."""
        return replace(acting_by(), door=self.place.door, worker=self.place.worker)

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        database_url: str | None = None,
        blobs_url: str | None = None,
        clock: Clock | None = None,
        mint: Mint | None = None,
        lock_wait_ms: int = LOCK_WAIT_MS,
        alarm: Alarm = Alarm.RAISE,
        connections: int = STORE_CONNECTIONS,
        place: By | None = None,
    ) -> Store:
        """Open the store of a home, creating or upgrading it first.

        `alarm` says what is done where the database has less than it is known to have had; `place`
        is what events say about the process.

        Raises:
            StoreUnavailable: the database cannot be reached, or a later program was here.
            DatabaseAway: it is missing, empty, old, or a damaged copy (T5.6).
            WriteFailed: the home cannot be written.
        """
        clock = clock or SystemClock()
        database = (
            engine.connect(database_url, lock_wait_ms=lock_wait_ms, connections=connections)
            if database_url
            else engine.Sqlite(home / "store.db", lock_wait_ms=lock_wait_ms)
        )
        blobs = blobs_at(blobs_url, home, database, clock)
        is_new = make_home(home)
        mark = Mark(database) if isinstance(database, engine.Sqlite) else None
        try:
            if mark is None:
                migration.migrate(database)
            else:
                mark.admit(home, partial(migration.migrate, database), alarm)
        except BaseException:
            if mark is not None:
                mark.close()
            database.close()
            if is_new:
                with suppress(OSError):  # it holds something by now
                    home.rmdir()
            raise
        if database.is_read_only and blobs_url is None:
            blobs.close_for_writing()
        return cls(home, database, blobs, clock, mint or Mint(clock), mark=mark, place=place)

    def close(self) -> None:
        """Close the database."""
        self._news.close()
        self._snapshots.close()
        self.database.close()
        if self._mark is not None:
            self._mark.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, plan: Plan, *, beginning: Beginning = NOTHING_BESIDE) -> Appended:
        """Commit a plan: all parts and pins, or nothing (T2.1).

        `beginning` goes beside the streams it begins; so it does in the methods below.
        A plan whose key events are all recorded changes nothing and returns the recorded facts.
        """
        log_event.check_plan(plan)
        self._put_large(plan.blobs)
        streams = {*(part.stream for part in plan.parts), *beginning.streams}

        def work(cursor: Cursor) -> Appended:
            self._check_healthy(cursor, streams)
            whole = beginning.beside(cursor, plan)
            ready = append.prepare(cursor, whole, self._clock, self._mint, self._by())
            return ready if isinstance(ready, Appended) else append.commit(cursor, ready)

        appended = self._in_transaction(streams, work)
        self._committed(appended)
        return appended

    def update(
        self,
        stream: str,
        fold: Fold[S],
        rule: Rule[S],
        *,
        beginning: Beginning = NOTHING_BESIDE,
    ) -> tuple[S, Appended]:
        """Fold the stream, let the rule decide, append what it returns: one transaction (T2.3).

        The rule is pure and may be called again. Returning no events appends nothing.
        """

        def decide(states: tuple[Any, ...]) -> Plan | None:
            wish = rule(states[0])
            write = wish if isinstance(wish, Write) else Write(wish)
            if not write.events:
                return None
            part = write.part(stream)
            return Plan((part,), write.blobs)

        states, appended = self.update_many(((stream, fold),), decide, beginning=beginning)
        return states[0], appended

    def update_many(
        self,
        targets: Sequence[tuple[str, Fold[Any]]],
        rule: ManyRule,
        *,
        beginning: Beginning = NOTHING_BESIDE,
    ) -> tuple[tuple[Any, ...], Appended]:
        """Do the same over several streams; the rule gets their states and returns a plan."""
        stored: set[bytes] = set()
        streams = {*(log_event.check_stream(stream) for stream, _ in targets), *beginning.streams}

        def work(cursor: Cursor) -> tuple[list[Folded[Any]], Appended]:
            return self._decide_and_append(cursor, targets, rule, stored, beginning)

        for stream, fold in targets:
            if self._cache.get(stream, fold).last is None:
                self.state(stream, fold)  # a long history is not folded while others wait
        while True:
            try:
                done = self._in_transaction(streams, work)
            except _LargeBlobs as wanted:  # files are synced before a transaction begins (T2.6)
                self._put_large(wanted.blobs)
                stored.update(wanted.blobs)
                continue
            for (stream, fold), folded in zip(targets, done[0], strict=True):
                self._keep(stream, fold, folded)
            self._committed(done[1])
            return tuple(folded.state for folded in done[0]), done[1]

    def _committed(self, appended: Appended) -> None:
        """Tell whoever waits, and note how far the database has come."""
        self._news.hear(appended.last_seq)
        if self._mark is not None and appended.parts and not appended.replayed:
            last = max((event for part in appended.parts for event in part), key=lambda e: e.seq)
            self._mark.note(last.seq, last.hash, last.at_ms)

    def _decide_and_append(
        self,
        cursor: Cursor,
        targets: Sequence[tuple[str, Fold[Any]]],
        rule: ManyRule,
        stored: set[bytes],
        beginning: Beginning,
    ) -> tuple[list[Folded[Any]], Appended]:
        held = {*(stream for stream, _ in targets), *beginning.streams}
        self._check_healthy(cursor, held)
        states = [
            forward(cursor, stream, fold, self._cache.get(stream, fold)) for stream, fold in targets
        ]
        plan = rule(tuple(folded.state for folded in states))
        if plan is None:
            return states, Appended((), replayed=False)
        log_event.check_plan(plan)
        large = [b for b in plan.blobs if len(b) > INLINE_BLOB_MAX_BYTES and b not in stored]
        if large:
            raise _LargeBlobs(large)
        plan = beginning.beside(cursor, plan)
        more = {part.stream for part in plan.parts} - held
        cursor.hold(sorted(more))
        self._check_healthy(cursor, more)
        ready = append.prepare(cursor, plan, self._clock, self._mint, self._by())
        if isinstance(ready, Appended):
            return states, ready
        append.check_readable(ready)
        appended = append.commit(cursor, ready)
        after = zip(targets, states, strict=True)
        return [with_new(target, folded, appended.parts) for target, folded in after], appended

    def _in_transaction(self, streams: Iterable[str], work: Callable[[Cursor], T]) -> T:
        """Run `work` in a transaction; a connection lost on the way is replaced once.

        That is safe: a commit whose answer was lost is found again by its key event (T8.17).
        """
        try:
            with self.database.transaction(streams) as cursor:
                return work(cursor)
        except StoreUnavailable as error:
            if error.reason is not None:  # closed, newer: not a lost connection
                raise
        with self.database.transaction(streams) as cursor:
            return work(cursor)

    def _put_large(self, blobs: Sequence[bytes]) -> None:
        large = [blob for blob in blobs if len(blob) > INLINE_BLOB_MAX_BYTES]
        if large:
            self.blobs.put_many(large)

    def _check_healthy(self, cursor: Cursor, streams: Iterable[str]) -> None:
        """Look at the ends of held streams the first time: nobody else moves them now."""
        for stream in streams:
            if stream not in self._checked:
                health.check_tail(cursor, stream)
                self._checked.add(stream)

    # ------------------------------------------------------------ reading

    def state(self, stream: str, fold: Fold[S]) -> S:
        """Return the stream's state, brought forward by the new events alone."""
        known = self._cache.get(log_event.check_stream(stream), fold)
        with self.database.reader() as cursor:
            if known.last is None:
                known = self._snapshots.load(cursor, stream, fold) or known
            folded = forward(cursor, stream, fold, known)
        self._keep(stream, fold, folded)
        return folded.state

    def now_ms(self) -> int:
        """Return the time as this store reads it."""
        return self._clock.now_ms()

    def position(self, stream: str) -> int:
        """Return the index of the last event, -1 if there is none."""
        head = self.head(stream)
        return log_event.EMPTY if head is None else head.last_idx

    def head(self, stream: str) -> Head | None:
        """Return where the stream ends, or None if it does not exist."""
        row = self._one("head", {"stream": log_event.check_stream(stream)})
        return log_event.head_of(row) if row else None

    def streams(self, kind: str | None = None) -> list[Head]:
        """Return the heads of all streams of a kind, least recently written first."""
        with self.database.reader() as cursor:
            rows = cursor.all("streams", {"kind": kind}) if kind else cursor.all("streams_all")
        return [log_event.head_of(row) for row in rows]

    def read(self, stream: str, after: int = log_event.EMPTY) -> Iterator[Event]:
        """Yield the stream's events after an index, in order, in pages."""
        log_event.check_stream(stream)
        while True:
            params = {"stream": stream, "after": after, "limit": _PAGE}
            with self.database.reader() as cursor:
                rows = cursor.all("read", params)
            for row in rows:
                yield log_event.event_of(row)
            if len(rows) < _PAGE:
                return
            after = int(rows[-1][2])

    def tail(self, after_seq: int, limit: int = _PAGE) -> list[Event]:
        """Return events of all streams after a position, in commit order."""
        with self.database.reader() as cursor:
            rows = cursor.all("tail", {"after": after_seq, "limit": limit})
        return [log_event.event_of(row) for row in rows]

    def last_seq(self) -> int:
        """Return the position of the newest event of the store."""
        return int((self._one("last_seq") or (0,))[0])

    def wait(self, after_seq: int, timeout_s: float) -> bool:
        """Wait until there is an event after a position; other processes' events count (T3.1)."""
        return self._news.wait(after_seq, timeout_s, self.last_seq)

    def find(
        self, kind: str, *, scope_a: str | None = None, scope_b: str | None = None
    ) -> list[Event]:
        """Return the events of a kind with this scope, over all streams, in commit order."""
        name, scope = ("find_b", scope_b) if scope_b is not None else ("find_a", scope_a)
        with self.database.reader() as cursor:
            return [
                log_event.event_of(row)
                for row in cursor.all(name, {"scope": scope, "kind": kind})
                if scope_a is None or row[8] == scope_a
            ]

    def pins(self, stream: str) -> list[Pin]:
        """Return what a stream pins."""
        with self.database.reader() as cursor:
            rows = cursor.all("pins", {"stream": stream})
        return [Pin(BlobId(ref), kind) for ref, kind in rows]

    def content_bytes(self, stream: str) -> int:
        """Return the bytes of all contents that a stream keeps, each once.

        Raises:
            StorageCorrupt: a tree cannot be read.
        """
        pins = [(str(pin.ref), pin.kind) for pin in self.pins(stream)]
        return self.blobs.total(gc.mark(pins, self.blobs))

    def load_tree(self, node: TreeId) -> bytes:
        """Return a tree object; the `load` of `base.tree`."""
        return self._nodes.read(node)

    def health(self, stream: str) -> health.Health:
        """Check a whole stream as it is at one moment."""
        with self.database.snapshot() as cursor:
            return health.check_stream(cursor, log_event.check_stream(stream), self.blobs.has)

    # ------------------------------------------------------------ mutable rows

    def set_keep(self, stream: str, keep: bool) -> None:
        """Mark a stream as exempt from retention, or not."""
        self._set_on_head("keep_set", {"name": stream, "keep": int(keep)})

    def set_local(self, stream: str, local: str | None) -> None:
        """Note something about a stream that is only true on this machine."""
        self._set_on_head("local_set", {"name": stream, "local": local})

    def delete_stream(self, stream: str) -> None:
        """Delete a whole stream with its pins; its blobs go with the next collection."""
        with self.database.transaction([log_event.check_stream(stream)]) as cursor:
            if cursor.count("stream_drop", {"name": stream}) == 0:
                raise NotFound("there is no such stream", reason="not_found")
            for table in ("events_drop", "pins_drop", "leases_drop", "snapshots_drop"):
                cursor.run(table, {"name": stream})
        self._cache.forget(stream)
        self._snapshots.forget(stream)
        self._checked.discard(stream)

    def key_ring(self) -> KeyRing:
        """Return the keys tokens are signed with, made on first use."""
        return keyring.key_ring(self.database)

    def rotate_keys(self) -> KeyRing:
        """Make a new current key; tokens of the one before stay good, older ones do not."""
        return keyring.rotate(self.database)

    # ------------------------------------------------------------ collection

    def collect(self, *, apply: bool, grace_hours: float = BLOB_GRACE_HOURS) -> gc.Swept:
        """Remove blobs that nothing pins and nobody put within the grace time (T4.5).

        With a damaged stream nothing is removed: what it needs cannot be known.
        """
        sick = [head for head in self.streams() if not self.health(head.stream).is_healthy]
        if sick:
            return gc.Swept(0, 0, applied=False, refused=f"{len(sick)} stream(s) are damaged")
        before_ms = self._clock.now_ms() - int(grace_hours * 3_600_000)
        return gc.Collector(self.database, self.blobs, before_ms).collect(apply=apply)

    def _one(self, name: str, params: dict[str, Any] | None = None) -> tuple[Any, ...] | None:
        with self.database.reader() as cursor:
            return cursor.one(name, params)

    def _keep(self, stream: str, fold: Fold[S], folded: Folded[S]) -> None:
        """Remember a committed state; if it pays, for other processes too."""
        self._cache.put(stream, fold, folded)
        if not self.is_read_only:
            self._snapshots.offer(stream, fold, folded)

    def _set_on_head(self, name: str, params: dict[str, Any]) -> None:
        with self.database.transaction() as cursor:
            if cursor.count(name, params) == 0:
                raise NotFound("there is no such stream", reason="not_found")


class _LargeBlobs(BackshopError):
    """Control flow: a rule wants blobs that must be files before the transaction begins."""

    def __init__(self, blobs: list[bytes]) -> None:
        super().__init__("large blobs come first")
        self.blobs = blobs
