"""Questions about a table: rows, descriptions, statistics and queries (F27)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import duckdb

from backshop.base import limits as numbers

from ..errors import fail
from ..protocol import Json, JsonObject, Limits
from ..warning import Warnings
from . import engine, order, sqlguard, syntax, values
from .engine import Connection, identifier
from .table import Column, Table

SAMPLES = 3
MOST_COMMON = 5
_NUMERIC = frozenset({"integer", "float"})
_MOMENTS = frozenset({"date", "datetime", "time"})
_OF_TYPES = frozenset({"ambiguous_dates", "decimal_comma", "mixed_types"})  # why a column is text


@dataclass(frozen=True, slots=True)
class Plan:
    """A query that passed the guard, with its columns and a complete order."""

    sql: str  # in order
    unordered: str
    columns: tuple[values.Column, ...]
    by_query: bool
    added: bool

    def selecting(self) -> str:
        """Return SQL for its rows in a form that `values.converter` takes."""
        names = [f"c{index}" for index in range(len(self.columns))]
        pairs = zip(self.columns, names, strict=True)
        chosen = ", ".join(f"{column.select(name)} AS {name}" for column, name in pairs)
        return f"SELECT {chosen} FROM ({self.sql}) AS result({', '.join(names)})"


def plan(connection: Connection, text: str, columns: Iterable[str]) -> Plan:
    """Check a query and complete its order (F26, F27.6).

    Raises:
        FormatError: with one of the `sql_…` reasons.
    """
    node = sqlguard.check(connection, text, columns)
    if order.mentions_rows(node):
        node = order.name_rows(node)
        text = syntax.write(connection, node)
    found = _bound(connection, text)
    ordered = order.complete(node, len(found))
    return Plan(
        syntax.write(connection, ordered.node),
        syntax.write(connection, node),
        tuple(found),
        ordered.by_query,
        ordered.added,
    )


def _bound(connection: Connection, text: str) -> list[values.Column]:
    try:
        relation = connection.sql(text)  # binds and does not run
    except duckdb.Error:
        connection.execute(text)  # fails alike, and says in which line (F26.8)
        raise
    return values.columns(relation.columns, relation.types)


def query(
    table: Table,
    text: str,
    window_rows: int = numbers.TABLE_WINDOW_ROWS,
    window_offset: int = 0,
) -> JsonObject:
    """Return one window of a query's result (F27.5)."""
    _check_number("window_rows", window_rows, 1)
    _check_number("window_offset", window_offset, 0)
    if not isinstance(text, str):
        raise fail("bad_type", "query is text")
    started = time.monotonic()
    warnings = table.left_out
    with engine.asking(table.path, table.limits) as connection:
        found = plan(connection, text, table.names)
        sql = f"{found.selecting()} LIMIT {window_rows} OFFSET {window_offset}"
        rows = _rows(connection, sql, found.columns, warnings)
        is_last = 0 < len(rows.kept) < window_rows and not rows.more
        total = window_offset + len(rows.kept)
        if not is_last:
            total = count(connection, found.unordered)
    if found.added:
        warnings.add("order_added")
    return {
        "columns": [column.name for column in found.columns],
        "column_types": [column.type for column in found.columns],
        "rows": rows.kept,
        "row_count": len(rows.kept),
        "total_row_count": total,
        "window_rows": window_rows,
        "window_offset": window_offset,
        "has_more": window_offset + len(rows.kept) < total,
        "query_elapsed_ms": int((time.monotonic() - started) * 1000),
        "ordered": found.by_query,
        "warnings": [warning.to_json() for warning in warnings.all()],
    }


def read_rows(
    table: Table, row_start: int, row_count: int, columns: Sequence[str] | None = None
) -> JsonObject:
    """Return rows in the order of the file, counted from 1 (F27.4)."""
    _check_number("row_start", row_start, 1)
    _check_number("row_count", row_count, 1)
    chosen = table.pick(columns)
    total = table.shape.row_count
    if not chosen:
        raise fail("bad_value", "the table has no columns, or none was asked for")
    if row_start > max(total, 1):
        raise fail("bad_index", f"there is no row {row_start}", hints=[f"1 to {total}"])
    warnings = table.left_out
    wanted = min(row_count, numbers.TABLE_ANSWER_MAX_ROWS)
    names = ", ".join(identifier(column.name) for column in chosen)
    sql = f"SELECT {names} FROM data WHERE rowid >= {row_start - 1} ORDER BY rowid LIMIT {wanted}"
    with engine.asking(table.path, table.limits) as connection:
        found = _as_it_is(connection, sql)
        rows = _rows(connection, found.selecting(), found.columns, warnings)
    after = row_start + len(rows.kept)
    has_more = after <= total
    following: Json = {"row_start": after, "row_count": row_count} if has_more else None
    return {
        "columns": [column.name for column in chosen],
        "column_types": [column.type for column in chosen],
        "rows": rows.kept,
        "row_start": row_start,
        "row_count": len(rows.kept),
        "total_rows": total,
        "has_more": has_more,
        "next": following,
        "warnings": [warning.to_json() for warning in warnings.all()],
    }


def describe(table: Table) -> JsonObject:
    """Return what each column holds (F27.2)."""
    exact = table.shape.row_count <= numbers.TABLE_EXACT_DISTINCT_MAX_ROWS
    warnings = table.left_out
    warnings.extend(one for one in table.shape.warnings if one.code in _OF_TYPES)
    with engine.asking(table.path, _patient(table)) as connection:
        columns = [
            _described(connection, table, index, column, exact, warnings)
            for index, column in enumerate(table.shape.columns)
        ]
    return {
        "row_count": table.shape.row_count,
        "column_count": len(columns),
        "columns": columns,
        "warnings": [warning.to_json() for warning in warnings.all()],
        **({"hints": list(table.shape.hints)} if table.shape.hints else {}),
    }


def stats(table: Table, columns: Sequence[str] | None = None) -> JsonObject:
    """Return statistics of the columns (F27.3)."""
    chosen = table.pick(columns)
    warnings = table.left_out
    with engine.asking(table.path, _patient(table)) as connection:
        found = [_statistics(connection, column, warnings) for column in chosen]
    return {
        "row_count": table.shape.row_count,
        "columns": found,
        "warnings": [warning.to_json() for warning in warnings.all()],
    }


# --- one column -----------------------------------------------------------------------------------


def _described(
    connection: Connection,
    table: Table,
    index: int,
    column: Column,
    exact: bool,
    warnings: Warnings,
) -> JsonObject:
    name = identifier(column.name)
    distinct = f"count(DISTINCT {name})" if exact else f"approx_count_distinct({name})"
    (counts,) = _answer(connection, f"SELECT count({name}), {distinct} FROM data", warnings)
    samples = _answer(
        connection,
        f"SELECT {name} FROM (SELECT {name}, min(rowid) AS place FROM data"
        f" WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY place LIMIT {SAMPLES}) ORDER BY place",
        warnings,
    )
    return {
        "name": column.name,
        "index": index,
        "inferred_type": column.type,
        "nullable": counts[0] != table.shape.row_count,
        "non_null_count": counts[0],
        "distinct_count": counts[1],
        "distinct_is_estimate": not exact,
        "sample_values": [row[0] for row in samples],
    }


def _statistics(connection: Connection, column: Column, warnings: Warnings) -> JsonObject:
    name = identifier(column.name)
    total = f"fsum({name})" if column.type == "float" else f"sum({name})"
    mean = f"favg({name})" if column.type == "float" else f"avg({name})"
    if column.type in _NUMERIC:
        wanted = {
            "min": f"min({name})",
            "max": f"max({name})",
            "mean": mean,
            "sum": total,
            "stddev": f"stddev_samp({name})",
        }
    elif column.type in _MOMENTS:
        wanted = {"min": f"min({name})", "max": f"max({name})"}
    elif column.type == "boolean":
        wanted = {"true_count": f"count_if({name})", "false_count": f"count_if(NOT {name})"}
    else:
        wanted = {"min_length": f"min(length({name}))", "max_length": f"max(length({name}))"}
    sql = f"SELECT count({name}), {', '.join(wanted.values())} FROM data"
    (row,) = _answer(connection, sql, warnings)
    result: dict[str, Json] = {"name": column.name, "type": column.type, "non_null_count": row[0]}
    result.update(zip(wanted, row[1:], strict=True))
    if column.type == "string":
        top = _answer(
            connection,
            f"SELECT {name}, count(*) FROM data WHERE {name} IS NOT NULL"
            f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST_COMMON}",
            warnings,
        )
        result["most_common"] = [{"value": value, "count": count} for value, count in top]
    return result


def _answer(connection: Connection, sql: str, warnings: Warnings) -> list[list[Json]]:
    found = _as_it_is(connection, sql)
    convert = [values.converter(column, warnings) for column in found.columns]
    rows = connection.execute(found.selecting()).fetchall()
    return [[turn(value) for turn, value in zip(convert, raw, strict=True)] for raw in rows]


def _as_it_is(connection: Connection, sql: str) -> Plan:
    relation = connection.sql(sql)
    columns = tuple(values.columns(relation.columns, relation.types))
    return Plan(sql, sql, columns, by_query=True, added=False)


# --- rows as JSON ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rows:
    kept: list[list[Json]]
    more: bool  # rows were left out because they did not fit


def _rows(
    connection: Connection,
    sql: str,
    columns: Sequence[values.Column],
    warnings: Warnings,
) -> _Rows:
    """Fetch rows until the answer is full; a first row that alone is too long loses text."""
    convert = [values.converter(column, warnings) for column in columns]
    cursor = connection.execute(sql)
    kept: list[list[Json]] = []
    room = numbers.TABLE_ANSWER_MAX_BYTES
    while batch := cursor.fetchmany(numbers.TABLE_WINDOW_ROWS):
        for raw in batch:
            row = [turn(value) for turn, value in zip(convert, raw, strict=True)]
            size = len(json.dumps(row, ensure_ascii=False).encode())
            if size > room:
                warnings.add("truncated_to_fit")
                return _Rows(kept or [_shortened(row, room)], True)
            kept.append(row)
            room -= size
    return _Rows(kept, False)


def _shortened(row: list[Json], room: int) -> list[Json]:
    """Cut the longest texts of a row, all to the same length, until it fits."""
    length = max(len(str(value)) for value in row)
    while len(json.dumps(row, ensure_ascii=False).encode()) > room and length > 1:
        length //= 2
        row = [
            value if isinstance(value, int | float | None) else _cut(value, length) for value in row
        ]
    return row


def _cut(value: Json, length: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:length]


def count(connection: Connection, sql: str) -> int:
    """Return how many rows a query gives."""
    row = connection.execute(f"SELECT count(*) FROM ({sql})").fetchone()
    return int(row[0]) if row else 0


def _check_number(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise fail("bad_type", f"{name} is a whole number")
    if value < least:
        raise fail("bad_value", f"{name} is at least {least}")


def _patient(table: Table) -> Limits:
    """Return limits for work over whole columns, which has the time of a map."""
    return replace(table.limits, sql_timeout_s=table.limits.map_timeout_s)
