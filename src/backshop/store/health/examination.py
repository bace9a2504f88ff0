"""What a database and its streams say about themselves; nothing is repaired here (T5.1, T5.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from backshop.base.errors import ValidationFailed
from backshop.base.event import UnknownEvent
from backshop.base.ids import BlobId
from backshop.base.progress import report

from ..database import schema
from ..database.connection import Cursor
from ..database.engine import Database
from ..errors import StorageCorrupt, StoreUnavailable, StreamNotHealthy
from ..log.event import EMPTY, ZERO_HASH, Event, chain_break, event_of, require_head


class Status(StrEnum):
    """The four states of a stream."""

    HEALTHY = "healthy"
    CORRUPT_TAIL = "corrupt_tail"
    CORRUPT_HEAD = "corrupt_head"
    UNKNOWN_VERSION = "unknown_version"


@dataclass(frozen=True, slots=True)
class Health:
    """A stream's state; `valid_through` is the last index that can be trusted (-1: none)."""

    status: Status
    reason: str | None = None
    valid_through: int = EMPTY

    @property
    def is_healthy(self) -> bool:
        """Say whether the stream takes writes."""
        return self.status is Status.HEALTHY


_PAGE = 1000
_TOLD = 20  # problems of a database that are named; one page of random bytes makes several
_WHAT = "database"


def check_database(database: Database, *, full: bool = False) -> list[str]:
    """Ask the database itself whether it is whole; return what it says is not, in its words.

    SQLite reads every page that is in use and compares every index with its table. A PostgreSQL
    server is asked for every row of every table, with `full` for every value.
    """
    report(_WHAT, 0, 1)
    try:
        if database.dialect == "sqlite":
            with database.reader() as cursor:
                rows = cursor.text(f"PRAGMA integrity_check({_TOLD})")
            found = [str(row[0]) for row in rows if row[0] != "ok"]
        else:
            found = _unanswered(database, full)
    except StorageCorrupt as error:
        found = [f"{error.message} ({error.detail})"]
    report(_WHAT, 1, 1)
    return found


def _unanswered(database: Database, full: bool) -> list[str]:
    """Return the tables of a server that do not answer, with its reason."""
    found = []
    for number, table in enumerate(schema.ALL_TABLES, 1):
        what = f"sum(octet_length({table}::text))" if full else "count(*)"
        try:
            with database.reader() as cursor:
                cursor.text(f"SELECT {what} FROM {table}")  # noqa: S608  # names of ours
        except (StorageCorrupt, StoreUnavailable) as error:
            found.append(f"table {table}: {error.message} ({error.detail})")
        report(_WHAT, number, len(schema.ALL_TABLES))
    return found


def check_streams(database: Database) -> list[str]:
    """Check the chain of every stream; return those that are broken. Contents are not looked at."""
    try:
        with database.snapshot() as cursor:
            streams = [str(row[0]) for row in cursor.all("streams_all")]
            found = []
            for number, stream in enumerate(streams, 1):
                state = check_stream(cursor, stream, lambda _: True)
                report("streams", number, len(streams))
                if not state.is_healthy:
                    found.append(f"{stream}: {state.reason}")
            return found
    except StorageCorrupt as error:
        return [f"{error.message} ({error.detail})"]


def unknown_folders(cursor: Cursor, home: Path) -> list[Path]:
    """Return folders with files of workbenches that the database neither knows nor let go.

    A folder that is empty was being made when its program died; one with a tombstone in `home` is
    left of a workbench whose time in the trash was over.
    """
    folders = sorted((home / "benches").glob("wb_*"))  # first: others may make one meanwhile
    known = {str(row[0]) for row in cursor.all("streams", {"kind": "bench"})}
    return [
        folder
        for folder in folders
        if f"bench:{folder.name}" not in known
        and any(path for name in ("published", "draft") for path in (folder / name).glob("*"))
        and cursor.one("key", {"stream": "home", "key": f"purged:{folder.name}"}) is None
    ]


def check_stream(cursor: Cursor, stream: str, has_blob: Callable[[BlobId], bool]) -> Health:
    """Check the whole stream: chain, head, kinds, and the presence of every pinned blob."""
    head = require_head(cursor.one("head", {"stream": stream}))
    last: Event | None = None
    while True:
        after = EMPTY if last is None else last.idx
        rows = cursor.all("read", {"stream": stream, "after": after, "limit": _PAGE})
        for row in rows:
            event = event_of(row)
            reason = chain_break(last, event) or _unreadable(event)
            if reason is not None:
                return _damaged(reason, last)
            last = event
        if len(rows) < _PAGE:
            break
    ends = (EMPTY, ZERO_HASH) if last is None else (last.idx, last.hash)
    if ends != (head.last_idx, head.last_hash):
        return _damaged("head_mismatch", last)
    is_bench = stream.startswith("bench:")  # there a missing blob is bench health (T5.1, B3.11)
    if not is_bench and any(
        not has_blob(BlobId(ref)) for ref, _ in cursor.all("pins", {"stream": stream})
    ):
        return _damaged("missing_blob", last)
    return Health(Status.HEALTHY, None, ends[0])


def check_tail(cursor: Cursor, stream: str) -> None:
    """Check head and last event only: cheap enough for every opening.

    Raises:
        StreamNotHealthy: they do not agree.
    """
    row = cursor.one("head", {"stream": stream})
    if row is None:
        return
    head = require_head(row)
    found = cursor.one("read_one", {"stream": stream, "idx": head.last_idx})
    if found is None:
        agrees = head.last_idx == EMPTY
    else:
        event = event_of(found)
        agrees = event.hash == head.last_hash == event.computed_hash()
    beyond = cursor.one("read_one", {"stream": stream, "idx": head.last_idx + 1})
    if not agrees or beyond is not None:
        raise StreamNotHealthy(f"the end of {stream} is damaged", reason="head_mismatch")


def _unreadable(event: Event) -> str | None:
    try:
        _ = event.fact
    except UnknownEvent:
        return "unknown_schema_version"
    except ValidationFailed:
        return "schema_validation_failed"
    return None


def _damaged(reason: str, last: Event | None) -> Health:
    if reason == "unknown_schema_version":
        return Health(Status.UNKNOWN_VERSION, reason, EMPTY if last is None else last.idx)
    if last is None:
        return Health(Status.CORRUPT_HEAD, reason, EMPTY)
    return Health(Status.CORRUPT_TAIL, reason, last.idx)
