"""DuckDB's own syntax tree of a query, as data: text to tree and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias

import duckdb

from backshop.base import limits as numbers

from ..errors import fail
from .engine import Connection
from .failure import sql_error

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"
Node: TypeAlias = "dict[str, Tree]"

DATA = "data"  # what the table is called in SQL (F25.2)

_UPPER_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def fold(name: str) -> str:
    """Return `name` as DuckDB compares identifiers: only A to Z lose their case.

    `str.lower` would also make the Kelvin sign a `k`, and two names equal that DuckDB keeps apart.
    """
    return name.translate(_UPPER_TO_LOWER)


def parse(connection: Connection, text: str) -> Node:
    """Return the query node of the one SELECT in `text` (F26.2).

    Raises:
        FormatError: `sql_error`, `sql_multiple_statements`, `sql_not_select` or `too_large`.
    """
    _check_text(text)
    _check_kind(connection, text)
    try:
        row = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
        reply = json.loads(row[0] if row else "null")
    except duckdb.Error as error:
        raise sql_error(error) from error
    except RecursionError as error:
        raise fail("sql_error", "the query is nested too deeply") from error
    if not isinstance(reply, dict) or reply.get("error") or len(reply["statements"]) != 1:
        raise fail("sql_not_select", "only a SELECT can be asked")
    return as_node(reply["statements"][0]["node"])


def write(connection: Connection, node: Node) -> str:
    """Return SQL for a query node."""
    statement = {"error": False, "statements": [{"node": node, "named_param_map": []}]}
    row = connection.execute("SELECT json_deserialize_sql(?::JSON)", [json.dumps(statement)])
    return str((row.fetchone() or [""])[0])


def as_node(tree: Tree) -> Node:
    """Return `tree`, which is an object."""
    if not isinstance(tree, dict):
        raise fail("sql_error", "the query's syntax tree is not as expected")
    return tree


def items(tree: Tree) -> list[Tree]:
    """Return the elements of a list, none for what is no list."""
    return tree if isinstance(tree, list) else []


def nodes(tree: Tree) -> list[Node]:
    """Return the objects in a list."""
    return [item for item in items(tree) if isinstance(item, dict)]


def words(tree: Tree) -> list[str]:
    """Return the strings in a list."""
    return [item for item in items(tree) if isinstance(item, str)]


def text_of(node: Node, key: str) -> str:
    """Return a string field, empty when it is not there."""
    value = node.get(key)
    return value if isinstance(value, str) else ""


def children(node: Node) -> Iterator[Tree]:
    """Yield the values of a node that can hold other nodes."""
    return (value for value in node.values() if isinstance(value, dict | list))


def sources(table: Tree) -> Iterator[Node]:
    """Yield what a FROM clause names, joins taken apart."""
    if isinstance(table, dict):
        if table.get("type") == "JOIN":
            yield from sources(table.get("left"))
            yield from sources(table.get("right"))
        else:
            yield table


def names_data(table: Node, hidden: bool) -> bool:
    """Tell whether a source of a FROM clause is the table itself; `hidden` by a CTE of its name."""
    named = table.get("type") == "BASE_TABLE" and fold(text_of(table, "table_name")) == DATA
    return named and not hidden


def _check_text(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise fail("sql_error", "the query holds characters that are not text") from error
    if size > numbers.SQL_MAX_BYTES:
        raise fail("too_large", f"a query has at most {numbers.SQL_MAX_BYTES} bytes, not {size}")
    if "\0" in text:
        raise fail("sql_error", "the query holds a NUL character")


def _check_kind(connection: Connection, text: str) -> None:
    try:
        statements = connection.extract_statements(text)
        kinds = [statement.type for statement in statements]
    except duckdb.Error as error:
        raise sql_error(error) from error
    except ValueError as error:  # a kind of statement the Python client has no name for
        raise fail("sql_not_select", "only a SELECT can be asked") from error
    if not kinds:
        raise fail("sql_error", "the query is empty")
    if len(kinds) > 1:
        raise fail("sql_multiple_statements", f"one statement is allowed, not {len(kinds)}")
    if kinds[0] != duckdb.StatementType.SELECT:
        raise fail("sql_not_select", f"only a SELECT can be asked, not {kinds[0].name}")
