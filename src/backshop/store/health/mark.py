"""How far a database file is known to have come, noted beside it: what is older is told (T5.6).

The note is written after each commit and never before: a database behind it has lost events, one
ahead of it has not. It also names the file itself, so that a copy, which may have been made while
somebody wrote, is examined once before it is used.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from backshop.base.canon import sha256_hex
from backshop.base.system import lock, open_folder

from ..database.connection import Cursor
from ..database.engine import Sqlite
from ..errors import DatabaseAway
from .examination import check_database, check_streams, unknown_folders

FOLDERS = "folders of workbenches"
_LENGTH = 384  # bytes; always the same, so that one write replaces all of it
_HINTS = (
    "put the whole database back: store.db together with store.db-wal, or restore a backup",
    "`backshop doctor` says what is there",
    "`backshop doctor --accept-database` goes on with the database as it is; what it does not"
    " name is lost with the next `gc --apply`",
)


@dataclass(frozen=True, slots=True)
class Noted:
    """The last event that was known to be committed, and the file it was committed to."""

    seq: int
    hash: str
    at_ms: int
    inode: int


class Alarm(StrEnum):
    """What is done where a database has less than it is known to have had."""

    RAISE = "raise"
    EXAMINE = "examine"  # look at what there is, and note nothing
    ACCEPT = "accept"  # a person said to go on with it as it is


class Mark:
    """The note beside one database file. Losing it costs a warning, never facts."""

    def __init__(self, database: Sqlite) -> None:
        self._database = database
        self._path = database.path.with_name(f"{database.path.name}-mark")
        self._inode = 0
        self._is_kept = False
        self._home = database.path.parent
        self._handle: int | None = None
        self._lock = threading.Lock()

    def admit(self, home: Path, migrate: Callable[[], None], alarm: Alarm) -> None:
        """Open the database of a home, unless it is missing, empty, old, or a damaged copy.

        What was noted is read before the database: others may go on writing meanwhile.

        Raises:
            DatabaseAway: it is, and nobody accepted that; nothing was made or changed.
        """
        self._home = home
        noted = self.read()
        if alarm is not Alarm.ACCEPT:
            self._require_made(home, noted)
        found = traces(home, self._database) if noted is None else []
        migrate()
        if alarm is Alarm.EXAMINE:
            return
        is_copy = False
        if alarm is Alarm.RAISE:
            is_copy = self._require_sound_copy(noted)
            self._require_current(found, noted)
        self._is_kept = not self._database.is_read_only
        if noted is None or is_copy or alarm is Alarm.ACCEPT:
            self._settle()
        else:
            self._inode = noted.inode

    def read(self) -> Noted | None:
        """Return what is noted; None where there is no note, or none that can be read."""
        try:
            return _parsed(self._path.read_bytes())
        except OSError:
            return None

    def note(self, seq: int, digest: str, at_ms: int) -> None:
        """Note what was just committed; a disk that refuses only leaves an older note.

        Whoever commits first may come here last, in this process or another: what is noted already
        stays where it is further.
        """
        self._write(Noted(seq, digest, at_ms, self._inode), is_newest=False)

    def _write(self, noted: Noted, *, is_newest: bool) -> None:
        if not self._is_kept:
            return
        text = json.dumps({**asdict(noted), "check": _check(noted)}).encode().ljust(_LENGTH - 1)
        with self._lock, suppress(OSError):
            if self._handle is None:
                self._handle = open_folder.open_file(self._path, os.O_RDWR | os.O_CREAT)
                os.ftruncate(self._handle, _LENGTH)
            lock.hold(self._handle)
            try:
                there = _parsed(os.pread(self._handle, _LENGTH, 0))
                if is_newest or there is None or there.seq < noted.seq:
                    os.pwrite(self._handle, text + b"\n", 0)
            finally:
                lock.release(self._handle)

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None
            self._is_kept = False

    def _settle(self) -> None:
        """Note the file and what it holds as they are now."""
        self._inode = self._database.path.stat().st_ino
        with self._database.reader() as cursor:
            row = cursor.one("newest")
            end = _end(cursor)
        seq, digest, at_ms = row or (0, "", 0)
        if end > int(seq):  # the last events went with their stream
            seq, digest = end, ""
        self._write(Noted(int(seq), str(digest), int(at_ms), self._inode), is_newest=True)

    def _require_made(self, home: Path, noted: Noted | None) -> None:
        """Refuse to make a database anew where there was one; nothing is opened to create it."""
        reason = self._unmade()
        if reason is None:
            return
        held = traces(home, self._database)
        if noted is not None and noted.seq:
            held.append("a note of what it held")
        if held and self._unmade():  # another process may just have made both
            told = "is missing" if reason == "database_missing" else "is empty"
            text = f"{self._database.path.name} {told}, but the home holds {' and '.join(held)}"
            raise _away(reason, text)

    def _unmade(self) -> str | None:
        """Say what a database is called that is not there; one without a table is none."""
        path = self._database.path
        if not path.exists():
            return "database_missing"
        if not path.stat().st_size:
            return "database_empty"
        with self._database.reader() as cursor:
            return None if cursor.text("SELECT 1 FROM sqlite_master") else "database_empty"

    def _require_current(self, found: list[str], noted: Noted | None) -> None:
        name = self._database.path.name
        with self._database.reader() as cursor:
            end = _end(cursor)
            row = cursor.one("event_at", {"seq": noted.seq}) if noted is not None else None
            unknown = unknown_folders(cursor, self._home) if noted is None and end else []
        if noted is None:
            if end == 0 and FOLDERS in found:
                raise _away("database_empty", f"{name} holds nothing, but the home holds {FOLDERS}")
            if unknown:  # of 0.1.0, which noted nothing
                text = f"{name} is older than the folders beside it: it does not know"
                raise _away("database_old", f"{text} {', '.join(one.name for one in unknown)}")
        elif end < noted.seq:
            raise _away(
                "database_old",
                f"{name} is older than what was stored here: it ends at event {end}, and event"
                f" {noted.seq} was stored; it is an earlier copy, or {name}-wal is missing",
            )
        elif row is not None and noted.hash and row[0] != noted.hash:
            text = f"{name} is another one: event {noted.seq} is not the one that was stored here"
            raise _away("database_other", text)

    def _require_sound_copy(self, noted: Noted | None) -> bool:
        """Examine a file other than the one that was noted; say whether it is another.

        A folder that was copied while somebody wrote may hold a mixture of two states. Of a file
        that nobody noted yet only the database is asked: chains are long to read.
        """
        if noted is None:
            problems = check_database(self._database)
        elif noted.inode == self._database.path.stat().st_ino:
            return False
        else:
            problems = check_database(self._database) or check_streams(self._database)
        if problems:
            raise _away(
                "database_damaged",
                f"{self._database.path.name} is not whole; it may have been copied while in use",
                "; ".join(problems),
            )
        return True


def was_used(home: Path) -> bool:
    """Say whether a home holds anything of a database of its own, or that one was there."""
    path = home / "store.db"
    is_noted = path.with_name(f"{path.name}-mark").exists()
    return path.exists() or is_noted or bool(traces(home, Sqlite(path, lock_wait_ms=0)))


def traces(home: Path, database: Sqlite) -> list[str]:
    """Name what in a home tells that a database was here: never made before it was."""
    found = []
    if any(_inside(home / "benches", "wb_*")):
        found.append(FOLDERS)
    if any(_inside(home / "blobs", "[0-9a-f][0-9a-f]/*")):
        found.append("stored contents")
    log = database.path.with_name(f"{database.path.name}-wal")
    is_there = database.path.exists() and database.path.stat().st_size  # then SQLite read its log
    if not is_there and log.exists() and log.stat().st_size:
        found.append(log.name)
    return found


def _end(cursor: Cursor) -> int:
    """Return the last position that was ever given; deleting a stream does not take it back."""
    rows = cursor.text("SELECT seq FROM sqlite_sequence WHERE name = 'event'")
    return int(rows[0][0]) if rows else 0


def _inside(folder: Path, pattern: str) -> Iterator[Path]:
    with suppress(OSError):
        yield from folder.glob(pattern)


def _away(reason: str, message: str, detail: str | None = None) -> DatabaseAway:
    return DatabaseAway(message, reason=reason, detail=detail, hints=_HINTS)


def _parsed(content: bytes) -> Noted | None:
    try:
        found = json.loads(content[:_LENGTH])
        check = found.pop("check")
        noted = Noted(**found)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return noted if check == _check(noted) else None


def _check(noted: Noted) -> str:
    return sha256_hex(json.dumps(asdict(noted), sort_keys=True).encode())[:16]
