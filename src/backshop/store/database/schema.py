"""The tables, and every statement the store runs, as SQL that both databases understand.

What differs between them is three words of the table definitions (`TYPES`) and how a parameter is
written: here `:name`, which `translated` turns into what the driver wants.
"""

from __future__ import annotations

import re

TYPES = {
    "sqlite": {
        "SERIAL": "INTEGER PRIMARY KEY AUTOINCREMENT",  # never given twice, even after a deletion
        "INT": "INTEGER",
        "BYTES": "BLOB",
    },
    "postgresql": {"SERIAL": "BIGSERIAL PRIMARY KEY", "INT": "BIGINT", "BYTES": "BYTEA"},
}

TABLES = {  # columns of what is copied from one database to another; leases and caches are not
    "stream": (
        *("stream", "kind", "last_idx", "last_hash", "last_seq", "created_ms", "keep", "local"),
    ),
    "event": (
        *("seq", "stream", "idx", "key_idx", "event_id", "kind", "v", "dedupe_key"),
        *("scope_a", "scope_b", "at_ms", "body", "prev_hash", "hash"),
    ),
    "pin": ("stream", "ref", "kind", "idx", "event_id"),
    "blob": ("sha256", "data", "at_ms"),
    "keyring": ("id", "current", "previous"),
}

ALL_TABLES = (*TABLES, "meta", "lease", "snapshot", "quota")
"""Also what stays behind when rows are copied."""

FIRST = (  # what migration 1 makes; never edited after a release
    "CREATE TABLE IF NOT EXISTS meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
    # kind: what stands before the first colon; local: known to this machine only (R4.4)
    """CREATE TABLE IF NOT EXISTS stream (
        stream TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, last_idx {INT} NOT NULL,
        last_hash TEXT NOT NULL, last_seq {INT} NOT NULL, created_ms {INT} NOT NULL,
        keep {INT} NOT NULL DEFAULT 0, local TEXT)""",
    "CREATE INDEX IF NOT EXISTS ix_stream_kind ON stream (kind)",
    # key_idx: idx of the key event of the same part
    """CREATE TABLE IF NOT EXISTS event (
        seq {SERIAL}, stream TEXT NOT NULL, idx {INT} NOT NULL, key_idx {INT} NOT NULL,
        event_id TEXT NOT NULL, kind TEXT NOT NULL, v {INT} NOT NULL, dedupe_key TEXT NOT NULL,
        scope_a TEXT, scope_b TEXT, at_ms {INT} NOT NULL, body {BYTES} NOT NULL,
        prev_hash TEXT NOT NULL, hash TEXT NOT NULL,
        UNIQUE (stream, idx), UNIQUE (stream, dedupe_key))""",
    "CREATE INDEX IF NOT EXISTS event_scope_a ON event (scope_a, kind)",
    "CREATE INDEX IF NOT EXISTS event_scope_b ON event (scope_b, kind)",
    """CREATE TABLE IF NOT EXISTS pin (
        stream TEXT NOT NULL, ref TEXT NOT NULL, kind TEXT NOT NULL, idx {INT} NOT NULL,
        event_id TEXT NOT NULL, PRIMARY KEY (stream, ref))""",
    """CREATE TABLE IF NOT EXISTS blob (
        sha256 TEXT NOT NULL PRIMARY KEY, data {BYTES} NOT NULL, at_ms {INT} NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS keyring (
        id {INT} NOT NULL PRIMARY KEY, current {BYTES} NOT NULL, previous {BYTES})""",
    """CREATE TABLE IF NOT EXISTS lease (
        stream TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, expires_ms {INT} NOT NULL)""",
)

SECOND = (  # migration 2: states kept beside the log (T3.3)
    """CREATE TABLE IF NOT EXISTS snapshot (
        stream TEXT NOT NULL, fold TEXT NOT NULL, code TEXT NOT NULL, idx {INT} NOT NULL,
        hash TEXT NOT NULL, checksum TEXT NOT NULL, data {BYTES} NOT NULL,
        PRIMARY KEY (stream, fold))""",
)

THIRD = (  # migration 3: what was used in a minute (T6.5)
    """CREATE TABLE IF NOT EXISTS quota (
        name TEXT NOT NULL PRIMARY KEY, minute {INT} NOT NULL, used {INT} NOT NULL)""",
)


def _list(table: str, but: str = "") -> str:
    return ", ".join(name for name in TABLES[table] if name != but)


def _insert(table: str, *, but: str = "") -> str:
    names = [name for name in TABLES[table] if name != but]
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"


def insert(table: str) -> str:
    """Return the statement that copies one row of a table."""
    return _insert(table)


def select(table: str) -> str:
    """Return the statement that reads all rows of a table."""
    return f"SELECT {_list(table)} FROM {table}"


_EVENT = select("event")
_STREAM = select("stream")

STATEMENTS = {
    "head": f"{_STREAM} WHERE stream = :stream",
    "head_insert": f"{_insert('stream')} ON CONFLICT DO NOTHING",
    "head_update": "UPDATE stream SET last_idx = :last_idx, last_hash = :last_hash,"
    " last_seq = (SELECT seq FROM event WHERE stream = :name AND idx = :last_idx)"
    " WHERE stream = :name",
    "keep_set": "UPDATE stream SET keep = :keep WHERE stream = :name",
    "local_set": "UPDATE stream SET local = :local WHERE stream = :name",
    "streams": f"{_STREAM} WHERE kind = :kind ORDER BY last_seq",
    "streams_all": f"{_STREAM} ORDER BY last_seq",
    "stream_drop": "DELETE FROM stream WHERE stream = :name",
    "events_drop": "DELETE FROM event WHERE stream = :name",
    "key": "SELECT idx FROM event WHERE stream = :stream AND dedupe_key = :key",
    # the events of a part stand together: the read ends where the next part begins
    "part": f"{_EVENT} WHERE stream = :stream AND idx >= :key_idx AND key_idx = :key_idx"
    " AND idx < coalesce((SELECT n.idx FROM event n WHERE n.stream = :stream"
    " AND n.idx > :key_idx AND n.key_idx <> :key_idx ORDER BY n.idx LIMIT 1), 9007199254740991)"
    " ORDER BY idx",
    "event_insert": f"{_insert('event', but='seq')} RETURNING seq",
    "read": f"{_EVENT} WHERE stream = :stream AND idx > :after ORDER BY idx LIMIT :limit",
    "read_one": f"{_EVENT} WHERE stream = :stream AND idx = :idx",
    "tail": f"{_EVENT} WHERE seq > :after ORDER BY seq LIMIT :limit",
    "event_at": "SELECT hash FROM event WHERE seq = :seq",
    "newest": "SELECT seq, hash, at_ms FROM event ORDER BY seq DESC LIMIT 1",
    "last_seq": "SELECT coalesce(max(seq), 0) FROM event",
    "find_a": f"{_EVENT} WHERE scope_a = :scope AND kind = :kind ORDER BY seq",
    "find_b": f"{_EVENT} WHERE scope_b = :scope AND kind = :kind ORDER BY seq",
    "pin_insert": f"{_insert('pin')} ON CONFLICT DO NOTHING",
    "pin_drop": "DELETE FROM pin WHERE stream = :name AND ref = :ref",
    "pins": "SELECT ref, kind FROM pin WHERE stream = :stream ORDER BY ref",
    "pins_streams": "SELECT stream, ref, kind FROM pin ORDER BY stream, ref",
    "pins_all": "SELECT DISTINCT ref, kind FROM pin",
    "digest_events": "SELECT stream, body FROM event WHERE kind = 'prompt.digest_updated'",
    "pins_drop": "DELETE FROM pin WHERE stream = :name",
    "blob_upsert": f"{_insert('blob')} ON CONFLICT (sha256) DO UPDATE SET at_ms = excluded.at_ms",
    "blob": "SELECT data FROM blob WHERE sha256 = :sha256",
    "blob_ages": "SELECT sha256, at_ms, length(data) FROM blob",
    "blob_delete": "DELETE FROM blob WHERE sha256 = :name AND at_ms < :before",
    "ring": "SELECT current, previous FROM keyring",
    "ring_put": f"{_insert('keyring')} ON CONFLICT (id) DO UPDATE"
    " SET current = excluded.current, previous = excluded.previous",
    "ring_first": f"{_insert('keyring')} ON CONFLICT DO NOTHING",
    "lease": "SELECT owner, expires_ms FROM lease WHERE stream = :stream",
    "leases_held": "SELECT stream, owner FROM lease WHERE expires_ms >= :now_ms ORDER BY stream",
    "leases_run_out": "SELECT stream FROM lease WHERE expires_ms < :before ORDER BY stream",
    "lease_put": "INSERT INTO lease (stream, owner, expires_ms)"
    " VALUES (:stream, :owner, :expires_ms) ON CONFLICT (stream) DO UPDATE"
    " SET owner = excluded.owner, expires_ms = excluded.expires_ms",
    "lease_drop": "DELETE FROM lease WHERE stream = :name AND owner = :owner",
    "lease_end": "UPDATE lease SET expires_ms = :ended_ms WHERE stream = :name AND owner = :owner",
    "lease_forget": "DELETE FROM lease WHERE stream = :name AND expires_ms < :now_ms",
    "leases_drop": "DELETE FROM lease WHERE stream = :name",
    "leases_clear": "DELETE FROM lease",
    "quota": "SELECT used FROM quota WHERE name = :name AND minute = :minute",
    "quota_put": "INSERT INTO quota (name, minute, used) VALUES (:name, :minute, :used)"
    " ON CONFLICT (name) DO UPDATE SET minute = excluded.minute, used = excluded.used",
    "quota_drop": "DELETE FROM quota WHERE minute < :minute",
    "snapshot": "SELECT code, idx, hash, checksum, data FROM snapshot"
    " WHERE stream = :stream AND fold = :fold",
    "snapshot_put": "INSERT INTO snapshot (stream, fold, code, idx, hash, checksum, data)"
    " VALUES (:stream, :fold, :code, :idx, :hash, :checksum, :data)"
    " ON CONFLICT (stream, fold) DO UPDATE SET code = excluded.code, idx = excluded.idx,"
    " hash = excluded.hash, checksum = excluded.checksum, data = excluded.data",
    "snapshots_drop": "DELETE FROM snapshot WHERE stream = :name",
    "snapshots_clear": "DELETE FROM snapshot",
}


def translated(sql: str, dialect: str) -> str:
    """Return a statement with parameters as the driver of this database writes them."""
    return sql if dialect == "sqlite" else re.sub(r":([a-z_0-9]+)", r"%(\1)s", sql)


def definition(sql: str, dialect: str) -> str:
    """Return a table definition in the words of this database."""
    return sql.format(**TYPES[dialect])
