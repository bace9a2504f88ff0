"""The tables, and the statements the store runs, compiled once for each database."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

METADATA = sa.MetaData()

_INTEGER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # AUTOINCREMENT needs INTEGER

META = sa.Table(
    "meta",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
STREAM = sa.Table(
    "stream",
    METADATA,
    sa.Column("stream", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False, index=True),  # what stands before the first colon
    sa.Column("last_idx", _INTEGER, nullable=False),
    sa.Column("last_hash", sa.Text, nullable=False),
    sa.Column("last_seq", _INTEGER, nullable=False),
    sa.Column("created_ms", _INTEGER, nullable=False),
    sa.Column("keep", _INTEGER, nullable=False, server_default="0"),
    sa.Column("local", sa.Text),  # known to this machine only, never exported (R4.4)
)
EVENT = sa.Table(
    "event",
    METADATA,
    sa.Column("seq", _INTEGER, primary_key=True, autoincrement=True),
    sa.Column("stream", sa.Text, nullable=False),
    sa.Column("idx", _INTEGER, nullable=False),
    sa.Column("key_idx", _INTEGER, nullable=False),  # idx of the key event of the same part
    sa.Column("event_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("v", _INTEGER, nullable=False),
    sa.Column("dedupe_key", sa.Text, nullable=False),
    sa.Column("scope_a", sa.Text),
    sa.Column("scope_b", sa.Text),
    sa.Column("at_ms", _INTEGER, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("prev_hash", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.UniqueConstraint("stream", "idx"),
    sa.UniqueConstraint("stream", "dedupe_key"),
    sqlite_autoincrement=True,  # seq is never given twice, not even after a deletion
)
sa.Index("event_scope_a", EVENT.c.scope_a, EVENT.c.kind)
sa.Index("event_scope_b", EVENT.c.scope_b, EVENT.c.kind)
PIN = sa.Table(
    "pin",
    METADATA,
    sa.Column("stream", sa.Text, primary_key=True),
    sa.Column("ref", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("idx", _INTEGER, nullable=False),
    sa.Column("event_id", sa.Text, nullable=False),
)
BLOB = sa.Table(
    "blob",
    METADATA,
    sa.Column("sha256", sa.Text, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Column("at_ms", _INTEGER, nullable=False),
)
KEYRING = sa.Table(
    "keyring",
    METADATA,
    sa.Column("id", _INTEGER, primary_key=True, autoincrement=False),
    sa.Column("current", sa.LargeBinary, nullable=False),
    sa.Column("previous", sa.LargeBinary),
)
LEASE = sa.Table(
    "lease",
    METADATA,
    sa.Column("stream", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("expires_ms", _INTEGER, nullable=False),
)


def _values(table: sa.Table, *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    return {c.name: sa.bindparam(c.name) for c in table.c if c.name not in but}


def _insert(dialect: str) -> Any:
    """Return the insert of one database; the other's drivers stay unloaded."""
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert

        return insert
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert

    return sqlite_insert


def _upsert(table: sa.Table, dialect: str, key: str, update: tuple[str, ...]) -> Any:
    statement = _insert(dialect)(table).values(_values(table))
    if not update:
        return statement.on_conflict_do_nothing()
    return statement.on_conflict_do_update(
        index_elements=[key], set_={name: statement.excluded[name] for name in update}
    )


def statements(dialect: str) -> dict[str, Any]:
    """Return every statement of the store by name, as Core expressions."""
    e, s, p, b = EVENT.c, STREAM.c, PIN.c, BLOB.c
    after: Any = sa.bindparam("after")
    limit: Any = sa.bindparam("limit", type_=sa.Integer)
    stream: Any = sa.bindparam("stream")
    read = sa.select(EVENT)
    return {
        "head": sa.select(STREAM).where(s.stream == stream),
        "head_insert": _upsert(STREAM, dialect, "stream", ()),
        "head_update": sa.update(STREAM)
        .where(s.stream == sa.bindparam("name"))
        .values(
            last_idx=sa.bindparam("last_idx"),
            last_hash=sa.bindparam("last_hash"),
            last_seq=sa.bindparam("last_seq"),
        ),
        "keep_set": sa.update(STREAM)
        .where(s.stream == sa.bindparam("name"))
        .values(keep=sa.bindparam("keep")),
        "local_set": sa.update(STREAM)
        .where(s.stream == sa.bindparam("name"))
        .values(local=sa.bindparam("local")),
        "streams": sa.select(STREAM).where(s.kind == sa.bindparam("kind")).order_by(s.last_seq),
        "streams_all": sa.select(STREAM).order_by(s.last_seq),
        "key": sa.select(e.idx).where(e.stream == stream, e.dedupe_key == sa.bindparam("key")),
        "part": read.where(e.stream == stream, e.key_idx == sa.bindparam("key_idx")).order_by(
            e.idx
        ),
        "event_insert": sa.insert(EVENT).values(_values(EVENT, but=("seq",))).returning(e.seq),
        "read": read.where(e.stream == stream, e.idx > after).order_by(e.idx).limit(limit),
        "read_one": read.where(e.stream == stream, e.idx == sa.bindparam("idx")),
        "tail": read.where(e.seq > after).order_by(e.seq).limit(limit),
        "last_seq": sa.select(sa.func.coalesce(sa.func.max(e.seq), 0)),
        "find_a": read.where(
            e.scope_a == sa.bindparam("scope"), e.kind == sa.bindparam("kind")
        ).order_by(e.seq),
        "find_b": read.where(
            e.scope_b == sa.bindparam("scope"), e.kind == sa.bindparam("kind")
        ).order_by(e.seq),
        "find_key": read.where(e.stream == stream, e.dedupe_key == sa.bindparam("key")),
        "pin_insert": _upsert(PIN, dialect, "ref", ()),
        "pin_drop": sa.delete(PIN).where(
            p.stream == sa.bindparam("name"), p.ref == sa.bindparam("ref")
        ),
        "pins": sa.select(p.ref, p.kind).where(p.stream == stream).order_by(p.ref),
        "pins_all": sa.select(p.ref, p.kind).distinct(),
        "blob_upsert": _upsert(BLOB, dialect, "sha256", ("at_ms",)),
        "blob": sa.select(b.data).where(b.sha256 == sa.bindparam("sha256")),
        "blob_has": sa.select(b.sha256).where(b.sha256 == sa.bindparam("sha256")),
        "blob_ages": sa.select(b.sha256, b.at_ms, sa.func.length(b.data)),
        "blob_delete": sa.delete(BLOB).where(
            b.sha256 == sa.bindparam("name"), b.at_ms < sa.bindparam("before")
        ),
        **_mutable_rows(dialect),
    }


def _mutable_rows(dialect: str) -> dict[str, Any]:
    """Return the statements for what is not an event: key ring, leases, whole streams (T1.5)."""
    stream: Any = sa.bindparam("stream")
    return {
        "ring": sa.select(KEYRING.c.current, KEYRING.c.previous),
        "ring_put": _upsert(KEYRING, dialect, "id", ("current", "previous")),
        "ring_first": _upsert(KEYRING, dialect, "id", ()),
        "lease": sa.select(LEASE.c.owner, LEASE.c.expires_ms).where(LEASE.c.stream == stream),
        "lease_put": _upsert(LEASE, dialect, "stream", ("owner", "expires_ms")),
        "lease_drop": sa.delete(LEASE).where(
            LEASE.c.stream == sa.bindparam("name"), LEASE.c.owner == sa.bindparam("owner")
        ),
        "stream_drop": sa.delete(STREAM).where(STREAM.c.stream == sa.bindparam("name")),
        "events_drop": sa.delete(EVENT).where(EVENT.c.stream == sa.bindparam("name")),
        "pins_drop": sa.delete(PIN).where(PIN.c.stream == sa.bindparam("name")),
        "leases_drop": sa.delete(LEASE).where(LEASE.c.stream == sa.bindparam("name")),
    }
