"""DuckDB, opened in the two ways we use it: to build a table, and to ask about one.

The connection that builds may read one file. The connection that asks sees one table, read-only,
and is locked: no other file, no setting, no extension, no variable of this process (F25.9, F26.1).
It runs on one thread, because sums of floats and aggregates that depend on the order of rows come
out the same only then (F1.3); building, which is most of the work, uses all threads allowed.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ..protocol import Limits
from ..worker import overdue
from .failure import sql_error, too_long

Connection = duckdb.DuckDBPyConnection
_NOTHING_FROM_OUTSIDE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_extension_repositories": "forbidden",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "true",
}
_AGAIN_S = 0.02  # an interrupt between two statements is lost, so it is repeated
_DEAF_S = 1.0  # after which a function that never looks for an interrupt is not waited for


@contextmanager
def asking(path: Path, limits: Limits) -> Iterator[Connection]:
    """Open the table at `path` for one question, under the time limit (F26.1, F26.7).

    Raises:
        FormatError: `sql_timeout`, `memory_limit`, `sql_error`, for whatever DuckDB raises inside.
    """
    try:
        with _opened(path, limits, threads=1, read_only=True) as connection:
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            with _limited(connection, limits.sql_timeout_s, deaf_s=_DEAF_S):
                yield connection
    except duckdb.Error as error:
        raise sql_error(error) from error


@contextmanager
def building(
    path: Path, limits: Limits, readable: Path, timeout_s: float, *, without: str = ""
) -> Iterator[Connection]:
    """Open a new table file at `path`; the only other file it can read is `readable` (F25.9).

    `without` names optimizers that are left out.
    """
    with _opened(path, limits, threads=limits.sql_threads, read_only=False) as connection:
        connection.execute(f"SET allowed_paths = [{quoted(str(readable))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute(f"SET disabled_optimizers = {quoted(without)}")
        connection.execute("SET lock_configuration = true")
        with _limited(connection, timeout_s):
            yield connection


def quoted(text: str) -> str:
    """Return a string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _opened(path: Path, limits: Limits, *, threads: int, read_only: bool) -> Iterator[Connection]:
    # DuckDB names its temporary files alike in every process: each needs a folder of its own
    with tempfile.TemporaryDirectory(prefix="spill-", dir=path.parent) as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            **_NOTHING_FROM_OUTSIDE,
            "threads": str(threads),
            "memory_limit": f"{limits.sql_memory_bytes}B",
            "max_temp_directory_size": f"{limits.sql_spill_bytes}B",
            "temp_directory": spill,
        }
        connection = duckdb.connect(str(path), read_only=read_only, config=settings)
        try:
            connection.execute("SET TimeZone = 'UTC'")
            yield connection
        finally:
            connection.close()


@contextmanager
def _limited(
    connection: Connection, seconds: float, *, deaf_s: float | None = None
) -> Iterator[None]:
    """Interrupt what takes longer; a worker that has not heard it after `deaf_s` more ends."""
    finished = threading.Event()

    def watch() -> None:
        if finished.wait(seconds):
            return
        ends = None if deaf_s is None else time.monotonic() + deaf_s
        while not finished.wait(_AGAIN_S):
            connection.interrupt()
            if ends is not None and time.monotonic() >= ends:
                overdue.end(too_long())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
