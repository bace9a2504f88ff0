"""Kept driver connections, transactions and statements by name, the same for both databases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from backshop.base.errors import BackshopError

from ..errors import StoreUnavailable
from . import schema
from .bulletin import Bulletin
from .pool import Pool

Row = Mapping[str, Any]
Ask = tuple[str, Row]
"""A statement by its name, and its parameters."""
Rows = list[tuple[Any, ...]]

_KEPT = 64  # connections to a file that stay open while nobody uses them
_CONNECTION_WAIT_S = 10.0  # for one of our own, or for a server that has none left
_CONNECTION_PAUSE_S = 0.05


class NoConnectionLeft(Exception):
    """Control flow: the server serves as many as it may; `refused` says so to people."""

    def __init__(self, refused: StoreUnavailable) -> None:
        super().__init__(refused.message)
        self.refused = refused


class Cursor:
    """Runs the store's statements on one driver connection."""

    def __init__(self, database: Connections, connection: Any) -> None:
        self._database = database
        self._connection = connection
        self.driver = connection
        self.is_concluded = False
        """Whether the transaction is committed already."""

    def run(self, name: str, params: Row | None = None) -> None:
        """Run a statement whose rows nobody needs."""
        self._execute(name, params)

    def count(self, name: str, params: Row | None = None) -> int:
        """Run a statement and return how many rows it touched."""
        return int(self._execute(name, params).rowcount)

    def all(self, name: str, params: Row | None = None) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return list(self._execute(name, params).fetchall())

    def one(self, name: str, params: Row | None = None) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        cursor = self._execute(name, params)
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else tuple(row)

    def answers(self, asks: Sequence[Ask]) -> list[Rows]:
        """Return the rows of several statements, asked for together."""
        return self._database.answers(self._connection, asks)

    def conclude(self, first: Sequence[Ask], ordered: Sequence[Ask]) -> list[Rows]:
        """Run the rest of the transaction and commit it; return the rows of `ordered`.

        `ordered` draws `seq` in commit order, and other processes hear of it.
        """
        found = self._database.conclude(self._connection, first, ordered)
        self.is_concluded = True
        return found

    def text(self, sql: str) -> list[tuple[Any, ...]]:
        """Run SQL given as text; for pragmas, locks and migrations."""
        cursor = self._database.execute(self._connection, sql)
        return list(cursor.fetchall()) if cursor.description else []

    def hold(self, streams: Sequence[str]) -> None:
        """Hold more streams until the transaction ends."""
        self._database.hold(self, streams)

    def lock_lease(self, stream: str) -> None:
        """Hold the right to change a lease until the transaction ends."""
        self._database.lock_lease(self, stream)

    def lock_seq(self) -> None:
        """Make sure `seq` is drawn in commit order."""
        self._database.lock_seq(self)

    def lock_sweep(self) -> None:
        """Make sure nobody renews a blob while it is looked at and removed."""
        self._database.lock_sweep(self, alone=True)

    def hold_off_sweep(self) -> None:
        """Make sure no blob is removed while this one is renewed; others may renew theirs."""
        self._database.lock_sweep(self, alone=False)

    def now_ms(self, own_ms: int) -> int:
        """Return the database's time; on one machine that is our own."""
        return self._database.now_ms(self, own_ms)

    def _execute(self, name: str, params: Row | None) -> Any:
        return self._database.execute(self._connection, self._database.sql(name), params or {})


class Connections:
    """Kept connections and statements by name, the same for both databases."""

    dialect = ""
    journal = ""
    _begin_snapshot = ""

    def __init__(self, *, limit: int | None = None, idle_s: float | None = None) -> None:
        self._pool = Pool(
            self._drop,
            kept=_KEPT if limit is None else limit,
            limit=limit,
            wait_s=_CONNECTION_WAIT_S,
            idle_s=idle_s,
        )
        self._texts: dict[str, str] = {}
        self._closed = False

    def sql(self, name: str) -> str:
        """Return the text of a named statement for this database."""
        found = self._texts.get(name)
        if found is None:
            found = schema.translated(schema.STATEMENTS[name], self.dialect)
            self._texts[name] = found
        return found

    def execute(self, connection: Any, text: str, params: Row | None = None) -> Any:
        """Run a text on a driver connection and return the driver's cursor."""
        cursor = connection.cursor()
        cursor.execute(text, params) if params is not None else cursor.execute(text)
        return cursor

    def answers(self, connection: Any, asks: Sequence[Ask]) -> list[Rows]:
        """Run several statements and return the rows of each."""
        return [self._rows(self.execute(connection, self.sql(n), row)) for n, row in asks]

    def conclude(self, connection: Any, first: Sequence[Ask], ordered: Sequence[Ask]) -> list[Rows]:
        """Run the rest of a transaction and commit it; return the rows of `ordered`."""
        raise NotImplementedError

    def stream(self, connection: Any, text: str) -> Any:
        """Run a text whose rows are fetched as they are read, inside `snapshot`."""
        return self.execute(connection, text)

    @contextmanager
    def reader(self) -> Iterator[Cursor]:
        """Give a cursor for reads; each statement sees one consistent state."""
        with self._pool.slot():
            connection = self._take()
            try:
                yield Cursor(self, connection)
            except self._errors() as error:
                self._drop(connection)
                raise self.translated(error) from error
            except BaseException:
                self._drop(connection)
                raise
            self._pool.give_back(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Cursor]:
        """Give a cursor whose reads all see the same state."""
        with self.reader() as cursor:
            cursor.text(self._begin_snapshot)
            try:
                yield cursor
            finally:
                cursor.text("ROLLBACK")

    @contextmanager
    def transaction(self, streams: Iterable[str] = ()) -> Iterator[Cursor]:
        """Give a cursor inside a write transaction: committed at the end, or without trace.

        It holds these streams from its beginning, taken in the order of their names.
        """
        with self._pool.slot():
            connection = self._take()
            cursor = Cursor(self, connection)
            try:
                self._begin(connection, sorted(streams))
                yield cursor
                if not cursor.is_concluded:
                    self.execute(connection, "COMMIT")
            except self._errors() as error:
                self._drop(connection)  # closing rolls back, whatever state it is in
                raise self.translated(error) from error
            except BackshopError:
                self._roll_back(connection)
                raise
            except BaseException:
                self._drop(connection)
                raise
            self._pool.give_back(connection)

    def close(self) -> None:
        """Close every kept connection."""
        self._closed = True
        self._pool.close()

    def translated(self, error: BaseException) -> BackshopError:
        """Return our error for a driver's."""
        raise NotImplementedError

    def hold(self, cursor: Cursor, streams: Sequence[str]) -> None:
        """Hold streams."""
        raise NotImplementedError

    def lock_lease(self, cursor: Cursor, stream: str) -> None:
        """Hold the right to change a lease; its row may not exist yet."""
        raise NotImplementedError

    def lock_seq(self, cursor: Cursor) -> None:
        """Order the drawing of `seq`."""
        raise NotImplementedError

    def lock_sweep(self, cursor: Cursor, *, alone: bool) -> None:
        """Keep removing and renewing of blobs apart."""
        raise NotImplementedError

    def bulletin(self, heard: Callable[[int], None]) -> Bulletin | None:
        """Return what carries news between processes, None where they share a file only."""
        return None

    def now_ms(self, cursor: Cursor, own_ms: int) -> int:
        """Return the time leases are judged by."""
        raise NotImplementedError

    def _connect(self) -> Any:
        raise NotImplementedError

    def _is_lost(self, connection: Any) -> bool:
        """Say whether the other side has ended a kept connection."""
        return False

    def _rows(self, cursor: Any) -> Rows:
        """Return the rows of a driver's cursor, none of a statement that has none."""
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def _begin(self, connection: Any, streams: Sequence[str]) -> None:
        raise NotImplementedError

    def _errors(self) -> tuple[type[BaseException], ...]:
        raise NotImplementedError

    def _take(self) -> Any:
        if self._closed:
            raise StoreUnavailable("the store is closed", reason="closed")
        ends = 0.0
        while True:
            while (kept := self._pool.take()) is not None:
                if not self._is_lost(kept):
                    return kept
                self._drop(kept)
            try:
                return self._connect()
            except self._errors() as error:
                raise self.translated(error) from error
            except NoConnectionLeft as error:  # others give theirs back soon
                ends = ends or time.monotonic() + _CONNECTION_WAIT_S
                if time.monotonic() >= ends:
                    raise error.refused from error
            time.sleep(_CONNECTION_PAUSE_S)

    def _roll_back(self, connection: Any) -> None:
        try:
            connection.cursor().execute("ROLLBACK")
        except self._errors():
            self._drop(connection)
        else:
            self._pool.give_back(connection)

    def _drop(self, connection: Any) -> None:
        with suppress(*self._errors()):
            connection.close()
