"""Opens SQLite or PostgreSQL and hides what differs: locks, clocks, driver errors."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from backshop.base.canon import sha256_hex
from backshop.base.errors import (
    TOO_MANY,
    BackshopError,
    DiskFull,
    InternalError,
    ValidationFailed,
)
from backshop.base.limits import STORE_CONNECTIONS
from backshop.base.system import readiness

from ..errors import (
    DatabaseAway,
    DuplicateKey,
    ReadOnlyHome,
    StorageCorrupt,
    StoreBusy,
    StoreUnavailable,
)
from .bulletin import NEWS, Bulletin
from .connection import Ask, Connections, Cursor, NoConnectionLeft, Row, Rows
from .driver import has_wal_reset_defect, sqlite_module, version_of
from .lock_key import SEQ_LOCK, SWEEP_LOCK
from .pool import IDLE_S

_IN_ORDER = f"SELECT pg_advisory_xact_lock({SEQ_LOCK})"
_NEWS = f"SELECT pg_notify('{NEWS}', currval(pg_get_serial_sequence('event', 'seq'))::text)"
_FULL = re.compile("too many (clients|connections)|remaining connection slots")
_PASSING = re.compile("starting up|shutting down|recovery mode|not (yet )?accepting connections")
_LOCKED = (5, 6)  # SQLite's BUSY and LOCKED
_BY_TEXT = {"disk I/O error": 10, "database or disk is full": 13}
"""Codes of errors that come without one, as those of a copy of the whole file do."""
_PAUSE_S = 0.001  # shorter than a commit: the file is never idle for long
_ROOM_TO_READ_BYTES = 1024 * 1024  # the index of a WAL, and some
_OWN_MODE = 0o600
_OTHERS = 0o007
BESIDE = ("", "-wal", "-shm", "-journal")
"""What belongs to a database file, by the end of its name."""


def _is_full(folder: Path) -> bool:
    """Whether the disk has no room even for what SQLite needs to read."""
    try:
        return shutil.disk_usage(folder).free < _ROOM_TO_READ_BYTES
    except OSError:
        return False


class Sqlite(Connections):
    """One file, shared by any number of processes."""

    dialect = "sqlite"
    _begin_snapshot = "BEGIN"

    def __init__(self, path: Path, *, lock_wait_ms: int) -> None:
        super().__init__()
        self.path = path
        self._module = sqlite_module()
        self._wait_ms = lock_wait_ms
        self._turn = threading.Lock()  # SQLite's waiting is unfair; inside a process ours is not
        self.version: str = self._module.sqlite_version
        self.journal = "delete" if has_wal_reset_defect(version_of(self._module)) else "wal"
        self.is_read_only = path.exists() and not _can_write(path)
        self._inode: int | None = None  # of the file, once it was opened
        self._reading: _Reading | None = None  # how one that cannot be written is read

    @contextmanager
    def transaction(self, streams: Iterable[str] = ()) -> Iterator[Cursor]:
        """Give a cursor inside a write transaction, one at a time in this process.

        Raises:
            ReadOnlyHome: the file or its folder cannot be written.
            DatabaseAway: the file was taken away; what is written to it then would be lost.
        """
        if self.is_read_only:
            raise ReadOnlyHome("the home is read-only: nothing can be changed here")
        if not self._turn.acquire(timeout=self._wait_ms / 1000):
            raise StoreBusy("another writer holds the store", reason="store_locked")
        try:
            self._require_place()
            with super().transaction(streams) as cursor:
                yield cursor
        finally:
            self._turn.release()

    def _require_place(self) -> None:
        """Refuse to write to a file that has lost its name, or whose name another file has now."""
        if self._inode is None:
            return
        try:
            is_same = os.stat(self.path).st_ino == self._inode  # noqa: PTH116  # each append
        except FileNotFoundError:
            is_same = False
        if not is_same:
            text = f"{self.path.name} was removed or replaced while it was in use"
            raise DatabaseAway(text, reason="database_missing")

    def close(self) -> None:
        """Close every kept connection, and forget a copy that was made to read."""
        super().close()
        if self._reading is not None:
            self._reading.forget()

    def copy_to(self, path: Path) -> None:
        """Write what is committed to a file of its own, which needs no other one beside it."""
        copy = Sqlite(path, lock_wait_ms=self._wait_ms)
        try:
            with self.reader() as reading, copy.reader() as writing:
                reading.driver.backup(writing.driver)
                writing.text("PRAGMA wal_checkpoint(TRUNCATE)")
                writing.text("PRAGMA journal_mode=DELETE")
        finally:
            copy.close()

    def translated(self, error: BaseException) -> BackshopError:
        """Return our error for SQLite's result code."""
        code = getattr(error, "sqlite_errorcode", _BY_TEXT.get(str(error)))
        primary = code & 0xFF if isinstance(code, int) else -1
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        detail = f"sqlite: {name}"
        if isinstance(error, self._module.ProgrammingError):
            return InternalError("a statement of the store is wrong", detail=detail)
        if primary in _LOCKED:
            return StoreBusy("another writer holds the store", reason="store_locked")
        if primary == 8:  # READONLY: it could be written when it was opened
            return ReadOnlyHome("the home is read-only: nothing can be changed here")
        is_crowded = primary == 10 and _is_full(self.path.parent)  # IOERR: no room for its index
        if primary == 13 or is_crowded:  # FULL
            return DiskFull("no room left for the event store", detail=detail)
        if primary in (11, 26):  # CORRUPT, NOTADB
            return StorageCorrupt("the event store's file is damaged", detail=detail)
        if primary == 19:  # CONSTRAINT
            return DuplicateKey("an event key is used twice", reason="duplicate_key", detail=detail)
        return StoreUnavailable("the event store cannot be used", detail=detail)

    def hold(self, cursor: Cursor, streams: Sequence[str]) -> None:
        """Nothing to do: BEGIN IMMEDIATE holds the whole file."""

    def lock_lease(self, cursor: Cursor, stream: str) -> None:
        """Nothing to do: BEGIN IMMEDIATE holds the whole file."""

    def lock_seq(self, cursor: Cursor) -> None:
        """Nothing to do: there is one writer."""

    def lock_sweep(self, cursor: Cursor, *, alone: bool) -> None:
        """Nothing to do: there is one writer."""

    def conclude(self, connection: Any, first: Sequence[Ask], ordered: Sequence[Ask]) -> list[Rows]:
        """Run the rest and commit: there is one writer, and who waits looks for what is new."""
        self.answers(connection, first)
        found = self.answers(connection, ordered)
        self.execute(connection, "COMMIT")
        return found

    def now_ms(self, cursor: Cursor, own_ms: int) -> int:
        """Return our own time: everybody is on this machine."""
        return own_ms

    def execute(self, connection: Any, text: str, params: Row | None = None) -> Any:
        """Run a text; while another process holds the file, try again in even, short pauses.

        SQLite's own pauses grow to 100 ms and let the file stand idle; and where several
        processes turn a new file to WAL at once it does not wait at all (T8.10).
        """
        ends: float | None = None
        while True:
            try:
                return super().execute(connection, text, params)
            except self._module.OperationalError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _LOCKED:
                    raise
                now = time.monotonic()
                ends = ends if ends is not None else now + self._wait_ms / 1000
                if now >= ends:
                    raise
            time.sleep(_PAUSE_S)

    def _take(self) -> Any:
        if self._reading is not None and self._reading.is_over():
            while (kept := self._pool.take()) is not None:  # somebody writes to the file after all
                self._drop(kept)
            self._reading.forget()
            self._reading = None
        return super()._take()

    def _connect(self) -> Any:
        if self.is_read_only:
            return self._connect_to_read()
        if self._inode is None:
            _make_own(self.path)
        connection = self._opened(self.path, "rw")
        try:
            self.execute(connection, f"PRAGMA journal_mode={self.journal}")
            self.execute(connection, "PRAGMA synchronous=FULL")
            if self._inode is None:
                self._inode = os.stat(self.path).st_ino  # noqa: PTH116
        except self._module.Error:
            connection.close()
            raise
        return connection

    def _connect_to_read(self) -> Any:
        """Open a file that cannot be written, with what is in the log beside it, or not at all.

        SQLite does that itself where a living writer shares its index, or where there is no log.
        A log that nobody looks after is read from a copy: the newest events are in it.
        """
        if self._reading is None:
            try:
                connection = self._opened(self.path, "ro")
            except self._module.OperationalError:
                log = [self.path.with_name(self.path.name + end) for end in ("-wal", "-journal")]
                is_left = any(one.exists() and one.stat().st_size for one in log)
                self._reading = _Reading(self.path, is_copy=is_left)
            else:
                return connection
        return self._opened(self._reading.path, self._reading.way)

    def _opened(self, path: Path, way: str) -> Any:
        """Open a file in one of SQLite's ways; one to be read is tried."""
        how = "immutable=1" if way == "immutable" else f"mode={way}"
        connection = self._module.connect(
            f"{path.absolute().as_uri()}?{how}",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
        )
        if way != "rw":
            try:
                self.execute(connection, "SELECT 1 FROM sqlite_master")
            except self._module.Error:
                connection.close()
                raise
        return connection

    def _begin(self, connection: Any, streams: Sequence[str]) -> None:
        self.execute(connection, "BEGIN IMMEDIATE")  # holds the whole file

    def _errors(self) -> tuple[type[BaseException], ...]:
        return (self._module.Error,)


class _Reading:
    """How a file that cannot be written is read where SQLite needs help: as it is, or a copy."""

    def __init__(self, path: Path, *, is_copy: bool) -> None:
        self._source = path
        self._seen = self._look()
        self._folder: Path | None = None
        self.path, self.way = path, "immutable"
        if is_copy:
            self._folder = Path(tempfile.mkdtemp(prefix="backshop-read-"))
            self.path, self.way = self._folder / path.name, "rw"
            for end in ("", "-wal", "-journal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(path.with_name(path.name + end), f"{self.path}{end}")

    def is_over(self) -> bool:
        """Say whether the files are others than those that are read."""
        return self._look() != self._seen

    def forget(self) -> None:
        """Remove the copy."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _look(self) -> list[tuple[int, int, int] | None]:
        found: list[tuple[int, int, int] | None] = []
        for end in ("", "-wal", "-journal"):
            try:
                stat = self._source.with_name(self._source.name + end).stat()
                found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
            except FileNotFoundError:
                found.append(None)
        return found


def _can_write(path: Path) -> bool:
    """Say whether a database can be written: its file, and its folder for the log beside it."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(one, os.W_OK, effective_ids=effective) for one in (path, path.parent))


def _make_own(path: Path) -> None:
    """Make the file of a database for its owner only, or take others' rights on it away (S3.5).

    The files beside it get its mode by SQLite. Rights of a group stay: somebody gave them.
    """
    with suppress(FileExistsError, FileNotFoundError):  # FileNotFound: SQLite says which folder
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _OWN_MODE))
    for end in BESIDE:
        one = path.with_name(path.name + end)
        with suppress(FileNotFoundError, PermissionError):  # somebody else's, who decides about it
            if one.stat().st_mode & _OTHERS:
                one.chmod(_OWN_MODE)


class Postgres(Connections):
    """A PostgreSQL server, shared by any number of machines."""

    dialect = "postgresql"
    journal = "server"
    is_read_only = False
    _begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(
        self,
        url: str,
        *,
        lock_wait_ms: int,
        connections: int = STORE_CONNECTIONS,
        idle_s: float = IDLE_S,
    ) -> None:
        super().__init__(limit=connections, idle_s=idle_s)
        try:
            import psycopg
        except ImportError as error:
            raise StoreUnavailable(
                "PostgreSQL needs the extra backshop[postgres]", reason="driver_missing"
            ) from error
        self._psycopg = psycopg
        self._url = url
        self._wait_ms = lock_wait_ms

    def execute(self, connection: Any, text: str, params: Row | None = None) -> Any:
        """Run a text; one without parameters may hold several statements."""
        if params is not None:
            return super().execute(connection, text, params)
        return connection.cursor().execute(text, prepare=False)  # several cannot be prepared

    def stream(self, connection: Any, text: str) -> Any:
        """Run a text with a cursor on the server: rows come when they are asked for."""
        cursor = connection.cursor(name="rows")
        cursor.execute(text)
        return cursor

    def translated(self, error: BaseException) -> BackshopError:
        """Return our error for PostgreSQL's SQLSTATE."""
        errors = self._psycopg.errors
        state = getattr(error, "sqlstate", None)
        detail = f"postgresql: {state or type(error).__name__}"
        busy = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
        if isinstance(error, busy):
            return StoreBusy("another writer holds the stream", reason="store_locked")
        if isinstance(error, errors.UniqueViolation):
            return DuplicateKey("an event key is used twice", reason="duplicate_key", detail=detail)
        if isinstance(error, errors.DiskFull):
            return DiskFull("no room left for the event store", detail=detail)
        if isinstance(error, self._psycopg.ProgrammingError):
            return InternalError("a statement of the store is wrong", detail=detail)
        return StoreUnavailable("the database cannot be reached", detail=detail)

    def hold(self, cursor: Cursor, streams: Sequence[str]) -> None:
        """Take advisory locks: a row lock cannot guard a stream that is not born yet."""
        if streams:
            self._told(cursor.driver, [*map(_held, streams)])

    def lock_lease(self, cursor: Cursor, stream: str) -> None:
        """Take an advisory lock on the name."""
        cursor.text(_held(f"lease {stream}"))

    def lock_seq(self, cursor: Cursor) -> None:
        """Take the one lock that puts `seq` in commit order."""
        cursor.text(_IN_ORDER)

    def lock_sweep(self, cursor: Cursor, *, alone: bool) -> None:
        """Take the lock of the sweep, alone or with others: writers do not wait for either."""
        cursor.text(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}({SWEEP_LOCK})")

    def answers(self, connection: Any, asks: Sequence[Ask]) -> list[Rows]:
        """Send all statements as one message."""
        return self._told(connection, self._written(connection, asks)) if asks else []

    def conclude(self, connection: Any, first: Sequence[Ask], ordered: Sequence[Ask]) -> list[Rows]:
        """Send all that is left as one message, the commit included.

        The lock that puts `seq` in commit order is then held while the server works, not while
        this process waits for its turn to go on: one that is busy would hold up everybody.
        """
        before = self._written(connection, first)
        texts = [*before, _IN_ORDER, *self._written(connection, ordered), _NEWS, "COMMIT"]
        return self._told(connection, texts)[len(before) + 1 : -2]

    def _written(self, connection: Any, asks: Sequence[Ask]) -> list[str]:
        """Return statements with their parameters in them: a message of several has no others."""
        cursor = self._psycopg.ClientCursor(connection)
        return [cursor.mogrify(self.sql(name), params) for name, params in asks]

    def _told(self, connection: Any, texts: Sequence[str]) -> list[Rows]:
        cursor = self.execute(connection, ";".join(texts))
        found = [self._rows(cursor)]
        while cursor.nextset():
            found.append(self._rows(cursor))
        return found

    def bulletin(self, heard: Callable[[int], None]) -> Bulletin:
        """Return what carries news between the machines."""
        away = (*self._errors(), BackshopError, NoConnectionLeft)
        return Bulletin(self._connect, away, heard)

    def now_ms(self, cursor: Cursor, own_ms: int) -> int:
        """Return the server's time: machines may disagree."""
        rows = cursor.text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        return int(rows[0][0])

    def _connect(self) -> Any:
        try:
            connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        except self._psycopg.ProgrammingError as error:  # its words may quote the password
            raise ValidationFailed(
                "the database URL cannot be understood", reason="bad_setting"
            ) from error
        except self._psycopg.OperationalError as error:
            refused = refusal(error)
            if refused is None:
                raise
            if refused.reason == TOO_MANY:
                raise NoConnectionLeft(refused) from error
            raise refused from error
        connection.execute(f"SET lock_timeout = {self._wait_ms}")
        return connection

    def _is_lost(self, connection: Any) -> bool:
        """An idle connection has nothing to say; one that has is told that the server went."""
        if connection.closed:
            return True
        return readiness.is_readable(connection.fileno(), 0)

    def _begin(self, connection: Any, streams: Sequence[str]) -> None:
        self._told(connection, ["BEGIN", *map(_held, streams)])

    def _errors(self) -> tuple[type[BaseException], ...]:
        return (self._psycopg.Error,)


def _held(name: str) -> str:
    """Return what holds a name until the transaction ends."""
    return f"SELECT pg_advisory_xact_lock({int(sha256_hex(name.encode())[:15], 16)})"


def refusal(error: BaseException) -> StoreUnavailable | None:
    """Return why a server would not have us, by what it said; None if it said nothing at all."""
    said = re.search(r"FATAL: +(.+)", str(error))
    if said is None:
        return None
    if _PASSING.search(said[1]):  # it comes back by itself, as if it were not there
        return StoreUnavailable("the database cannot be reached", detail=said[1])
    if _FULL.search(said[1]):
        return StoreUnavailable(
            "the database server has too many connections open",
            reason=TOO_MANY,
            detail=said[1],
            hints=("lower store.connections, or raise max_connections of the server",),
        )
    return StoreUnavailable(
        "the database server refused the connection", reason="refused", detail=said[1]
    )


def driver_errors() -> tuple[type[BaseException], ...]:
    """Return what the driver of a database server raises, for who shares its connections."""
    import psycopg

    return (psycopg.Error,)


def why_refused(url: str) -> StoreUnavailable | None:
    """Ask a server once whether it would have us; None if it would, or says nothing."""
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        return refusal(error)
    return None


Database = Sqlite | Postgres


def is_shared(url: str | None) -> bool:
    """Say whether several machines can use the database a URL names; without one it is SQLite."""
    return url is not None and urlsplit(url).scheme in ("postgresql", "postgres")


def connect(url: str, *, lock_wait_ms: int, connections: int = STORE_CONNECTIONS) -> Database:
    """Return the database a URL names; nothing is opened yet.

    `connections` is how many a process uses at once, of a server.

    Raises:
        ValidationFailed: `bad_database_url`.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite" and not parts.netloc and parts.path.startswith("/"):
        return Sqlite(
            Path(unquote(parts.path[1:] if parts.path[1:2] == "/" else parts.path)),
            lock_wait_ms=lock_wait_ms,
        )
    if is_shared(url):
        return Postgres(url, lock_wait_ms=lock_wait_ms, connections=connections)
    raise ValidationFailed(
        "a database URL is sqlite:///path or postgresql://…", reason="bad_database_url"
    )
