"""What a query may say: nothing but a computation over `data` (F26.2 to F26.4).

The tree that DuckDB's parser gives is walked, and everything in it is refused that is not known to
be harmless: kinds of nodes, tables, functions. The connection is locked down as well (`engine`), so
that each of the two suffices without the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..errors import FormatError, fail
from . import functions, syntax
from .engine import Connection
from .syntax import Node, Tree, as_node, fold, nodes, text_of, words

_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE"})
_TABLES = frozenset(
    {
        *("BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SHOW_REF", "SUBQUERY"),
        "TABLE_FUNCTION",
    }
)
_EXPRESSIONS = frozenset(
    {
        *("BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION"),
        *("CONSTANT", "FUNCTION", "LAMBDA", "OPERATOR", "POSITIONAL_REFERENCE", "STAR"),
        *("SUBQUERY", "TYPE", "WINDOW"),
    }
)
_CLAUSES = frozenset(
    {
        *("ORDER_MODIFIER", "LIMIT_MODIFIER", "DISTINCT_MODIFIER"),
        *("ORDER_DEFAULT", "ASCENDING", "DESCENDING"),
    }
)
_SHOWS = frozenset({"DESCRIBE", "SUMMARY"})


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at one place of the query."""

    columns: frozenset[str]  # of the table
    tables: frozenset[str] = frozenset()  # CTEs that can be seen
    sees_columns: bool = False  # the SELECT around this place reads the table itself


def check(connection: Connection, text: str, columns: Iterable[str]) -> Node:
    """Return the tree of a query that may be run on a table with `columns`.

    Raises:
        FormatError: with one of the `sql_…` reasons.
    """
    node = syntax.parse(connection, text)
    try:
        _query(node, Scope(frozenset(map(fold, columns))))
    except RecursionError as error:
        raise fail("sql_error", "the query is nested too deeply") from error
    return node


def _query(node: Node, scope: Scope) -> None:
    kind = text_of(node, "type")
    if kind not in _QUERIES:
        raise fail("sql_not_select", "a query only reads", detail=kind)
    scope = _common_tables(node.get("cte_map"), replace(scope, sees_columns=False))
    if kind == "RECURSIVE_CTE_NODE":
        _query(as_node(node.get("left")), scope)  # the name does not stand for itself yet
        name = fold(text_of(node, "cte_name"))
        _query(as_node(node.get("right")), replace(scope, tables=scope.tables | {name}))
        _rest(node, {"cte_map", "left", "right"}, scope)
        return
    if kind == "SELECT_NODE":
        table = node.get("from_table")
        _visit(table, scope)
        hidden = syntax.DATA in scope.tables
        sees = any(_shows_columns(source, hidden) for source in syntax.sources(table))
        scope = replace(scope, sees_columns=sees)
    _rest(node, {"cte_map", "from_table"}, scope)


def _common_tables(ctes: Tree, scope: Scope) -> Scope:
    """Check the CTEs in order and return the scope that sees them.

    A CTE sees only those before it. That matters: where its own name is not visible, DuckDB takes
    it for a file.
    """
    for entry in nodes(as_node(ctes).get("map")) if ctes else []:
        definition = as_node(entry.get("value"))
        _query(as_node(definition.get("query_node")), scope)
        _rest(definition, {"query_node"}, scope)
        scope = replace(scope, tables=scope.tables | {fold(text_of(entry, "key"))})
    return scope


def _visit(tree: Tree, scope: Scope) -> None:
    if isinstance(tree, list):
        for item in tree:
            _visit(item, scope)
    elif isinstance(tree, dict):
        kind = text_of(tree, "type")
        if "class" in tree:
            _expression(tree, scope)
        elif kind in _TABLES:
            _table(tree, scope)
        elif kind in _CLAUSES or "type" not in tree:
            _rest(tree, set(), scope)
        else:
            _query(tree, scope)


def _rest(node: Node, done: set[str], scope: Scope) -> None:
    if node.get("sample") is not None:
        raise fail("sql_forbidden_function", "a query takes no samples")
    for key, value in node.items():
        if key not in done and isinstance(value, dict | list):
            _visit(value, scope)


def _table(node: Node, scope: Scope) -> None:
    kind = node.get("type")
    if kind == "BASE_TABLE":
        path = words(as_node(node.get("qualified_name")).get("path"))
        name = fold(text_of(node, "table_name"))
        known = name == syntax.DATA or name in scope.tables
        if not known or len(path) != 1 or fold(path[0]) != name or node.get("at_clause"):
            raise _forbidden_table(".".join(path) or name)
    elif kind == "SHOW_REF":
        if text_of(node, "show_type") not in _SHOWS or not node.get("query"):
            raise _forbidden_table(text_of(node, "table_name"))
    elif kind == "TABLE_FUNCTION":
        call = as_node(node.get("function"))
        if call.get("class") != "FUNCTION":
            raise _forbidden_function(text_of(call, "class"))
        _allowed(call, functions.AFTER_FROM)
        _rest(call, set(), scope)
        _rest(node, {"function"}, scope)
        return
    _rest(node, {"qualified_name"}, scope)


def _expression(node: Node, scope: Scope) -> None:
    kind = text_of(node, "class")
    if kind not in _EXPRESSIONS:
        raise fail("sql_error", f"a query has no {kind.lower()} expressions")
    if kind in {"FUNCTION", "WINDOW"}:
        _allowed(node, functions.IN_EXPRESSIONS)
    elif kind == "COLUMN_REF":
        _column(words(node.get("column_names")), scope)
    _rest(node, {"qualified_name"}, scope)


def _column(names: list[str], scope: Scope) -> None:
    if len(names) != 1 or fold(names[0]) not in functions.CALLED_BARE:
        return
    if not (scope.sees_columns and fold(names[0]) in scope.columns):
        raise _forbidden_function(names[0])


def _allowed(call: Node, names: frozenset[str]) -> None:
    name = fold(text_of(call, "function_name"))
    path = words(as_node(call.get("qualified_name")).get("path"))
    if name not in names or not path or fold(path[-1]) != name:
        raise _forbidden_function(name)
    if name in functions.NEEDS_TWO | functions.BY_NAME:
        arguments = nodes(call.get("arguments"))
        plain = len(path) == 1 and not any(text_of(item, "name") for item in arguments)
        if not plain or len(arguments) < 2:
            raise _forbidden_function(name)
        if name in functions.BY_NAME:
            _allowed_by_name(arguments[1].get("expression"))


def _allowed_by_name(argument: Tree) -> None:
    literal = as_node(argument).get("literal")
    name = fold(text_of(literal, "text")) if isinstance(literal, dict) else ""
    if name not in functions.AGGREGATES:
        raise _forbidden_function(name or "an aggregate that is not named by a literal")


def _shows_columns(source: Node, hidden: bool) -> bool:
    return syntax.names_data(source, hidden) and not source.get("column_name_alias")


def _forbidden_table(name: str) -> FormatError:
    return fail(
        "sql_forbidden_table", "a query sees only the table data", detail=name, hints=["data"]
    )


def _forbidden_function(name: str) -> FormatError:
    return fail("sql_forbidden_function", f"a query may not call {name}", detail=name)
