"""The order of a query's rows, and the hidden column `__row`: changes to a checked syntax tree.

Every result comes in an order that depends on the data alone (F27.6), because windows of it are
read one after the other. `__row` is DuckDB's own `rowid` counted from 1 (F25.2): it costs no
storage, stays out of `*`, natural joins and pivots, and here it gets its name.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

from . import functions, syntax
from .syntax import Node, Tree, as_node, fold, nodes, text_of, words

ROW = "__row"
ROWID = "rowid"
RESERVED = frozenset({ROW, ROWID})  # names no column of a table may have


@dataclass(frozen=True, slots=True)
class Ordered:
    """A query with a complete order; `by_query` when the query asked for one itself."""

    node: Node
    by_query: bool
    added: bool


def complete(node: Node, width: int) -> Ordered:
    """Return the query, which has `width` output columns, with its order completed (F27.6)."""
    if _is_description(node):
        return Ordered(node, by_query=False, added=False)  # in the order of the columns
    node = deepcopy(node)
    modifiers = nodes(node.get("modifiers"))
    present = next((item for item in modifiers if item["type"] == "ORDER_MODIFIER"), None)
    ties: list[Tree] = [_ascending(_position(index)) for index in range(1, width + 1)]
    if present is not None:
        asked = nodes(present.get("orders"))
        if not any(as_node(item["expression"]).get("class") == "STAR" for item in asked):
            present["orders"] = [*asked, *ties]  # ORDER BY ALL is complete
        return Ordered(node, by_query=True, added=False)
    if any(
        item["type"] == "DISTINCT_MODIFIER" and item.get("distinct_on_targets")
        for item in modifiers
    ):
        node = _wrapped(node)  # an order inside would choose other rows
        modifiers = []
    data = _projected(node)
    by: list[Tree] = ties if data is None else [_ascending(_column([data, ROWID]))]
    place = sum(item["type"] == "DISTINCT_MODIFIER" for item in modifiers)
    order: Node = {"type": "ORDER_MODIFIER", "orders": by}
    node["modifiers"] = [*modifiers[:place], order, *modifiers[place:]]
    return Ordered(node, by_query=False, added=True)


def name_rows(node: Node) -> Node:
    """Return the query with every `__row` of the table replaced by what it stands for."""
    node = deepcopy(node)
    _Rows().query(node, (), hidden=False)
    return node


def mentions_rows(tree: Tree) -> bool:
    """Tell whether the query speaks of `__row` at all."""
    if isinstance(tree, list):
        return any(map(mentions_rows, tree))
    if isinstance(tree, dict):
        return any(map(mentions_rows, tree.values()))
    return isinstance(tree, str) and fold(tree) == ROW


@dataclass(frozen=True, slots=True)
class _From:
    """What one FROM clause offers: aliases of the table, and whether there is anything else."""

    data: tuple[str, ...]
    other: bool


class _Rows:
    """Replaces column references in place."""

    def query(self, node: Node, outer: tuple[_From, ...], *, hidden: bool) -> None:
        for entry in nodes(as_node(node.get("cte_map") or {}).get("map")):
            self.query(as_node(as_node(entry["value"])["query_node"]), outer, hidden=hidden)
            hidden = hidden or fold(text_of(entry, "key")) == syntax.DATA
        if node.get("type") != "SELECT_NODE":
            inner = hidden or fold(text_of(node, "cte_name")) == syntax.DATA
            for child in [node.get("left"), node.get("right"), *nodes(node.get("children"))]:
                if isinstance(child, dict):
                    self.query(child, outer, hidden=inner)
            return
        scopes = (_from(node.get("from_table"), hidden), *outer)
        self._visit(node.get("from_table"), scopes, hidden)
        for item in nodes(node.get("select_list")):
            self._output(item, scopes, hidden)
        named = any(_output_name(item) == ROW for item in nodes(node.get("select_list")))
        done = {"cte_map", "from_table", "select_list"} | ({"modifiers"} if named else set())
        for key, value in node.items():
            if key not in done:
                self._visit(value, scopes, hidden)

    def _output(self, item: Node, scopes: tuple[_From, ...], hidden: bool) -> None:
        bare = item.get("class") == "COLUMN_REF" and not item.get("alias")
        self._visit(item, scopes, hidden)
        if bare and item.get("class") == "FUNCTION":
            item["alias"] = ROW
        if item.get("class") == "STAR" and scopes[0].data:
            item["exclude_list"] = [x for x in words(item.get("exclude_list")) if fold(x) != ROW]

    def _visit(self, tree: Tree, scopes: tuple[_From, ...], hidden: bool) -> None:
        if isinstance(tree, list):
            for item in tree:
                self._visit(item, scopes, hidden)
        elif isinstance(tree, dict):
            if text_of(tree, "type").endswith("_NODE"):
                self.query(tree, scopes, hidden=hidden)
            elif tree.get("class") == "COLUMN_REF":
                self._column(tree, scopes)
            else:
                _join(tree, hidden)
                for value in list(tree.values()):
                    self._visit(value, scopes, hidden)

    def _column(self, node: Node, scopes: tuple[_From, ...]) -> None:
        names = words(node.get("column_names"))
        if fold(names[-1]) == ROW:
            path = _row_path(names, scopes)
            if path is not None:
                alias = node.get("alias")
                node.clear()
                node.update(_plus_one(_column(path)), alias=alias)


def _join(node: Node, hidden: bool) -> None:
    """Let `USING (__row)` join by row numbers: of the table with itself, or with a query's."""
    columns = words(node.get("using_columns"))
    if ROW not in map(fold, columns):
        return
    sides = [list(syntax.sources(node.get(side))) for side in ("left", "right")]
    ours = [all(syntax.names_data(item, hidden) for item in side) for side in sides]
    if all(ours):
        node["using_columns"] = [ROWID if fold(name) == ROW else name for name in columns]
        return
    plain = len(columns) == 1 and all(len(side) == 1 for side in sides)
    if any(ours) and plain and node.get("join_type") in {"INNER", "LEFT"}:
        names = [text_of(side[0], "alias") or text_of(side[0], "table_name") for side in sides]
        paths: list[Node] = [
            _plus_one(_column([name, ROWID])) if mine else _column([name, ROW])
            for name, mine in zip(names, ours, strict=True)
        ]
        node["using_columns"] = []
        node["condition"] = _equal(*paths)


def _row_path(names: list[str], scopes: tuple[_From, ...]) -> list[str] | None:
    """Return where the row number is, or None when `__row` is somebody else's column."""
    for scope in scopes:
        if len(names) == 1:
            if scope.data:  # of several the table's own name is ambiguous, and DuckDB says so
                return [scope.data[0], ROWID] if len(scope.data) == 1 else [ROWID]
            if scope.other:
                return None
        elif fold(names[-2]) in map(fold, scope.data):
            return [names[-2], ROWID]
    return None


def _from(table: Tree, hidden: bool) -> _From:
    found = list(syntax.sources(table))
    data = [item for item in found if syntax.names_data(item, hidden)]
    other = any(item not in data and item.get("type") != "EMPTY" for item in found)
    return _From(tuple(text_of(item, "alias") or syntax.DATA for item in data), other)


def _output_name(item: Node) -> str:
    return fold(text_of(item, "alias") or (words(item.get("column_names")) or [""])[-1])


def _is_description(node: Node) -> bool:
    table = node.get("from_table")
    return isinstance(table, dict) and table.get("type") == "SHOW_REF"


def _projected(node: Node) -> str | None:
    """Return the alias of the table when the query gives its rows one by one, else None."""
    table = node.get("from_table")
    ctes = nodes(as_node(node.get("cte_map") or {}).get("map"))
    hidden = any(fold(text_of(entry, "key")) == syntax.DATA for entry in ctes)
    if node.get("type") != "SELECT_NODE" or not isinstance(table, dict):
        return None
    if not syntax.names_data(table, hidden) or _counts_up(node.get("select_list")):
        return None
    if any(node.get(key) for key in ("group_expressions", "group_sets", "having", "qualify")):
        return None
    if node.get("aggregate_handling") != "STANDARD_HANDLING":  # GROUP BY ALL
        return None
    if any(item["type"] == "DISTINCT_MODIFIER" for item in nodes(node.get("modifiers"))):
        return None
    return text_of(table, "alias") or syntax.DATA


def _counts_up(tree: Tree) -> bool:
    """Tell whether an expression makes one row of many, or many of one."""
    if isinstance(tree, list):
        return any(map(_counts_up, tree))
    if not isinstance(tree, dict) or tree.get("class") == "SUBQUERY":
        return False
    name = fold(text_of(tree, "function_name"))
    many = functions.AGGREGATES | functions.AGGREGATING_MACROS | functions.EXPANDING
    if tree.get("class") == "FUNCTION" and name in many:
        return True
    return any(map(_counts_up, syntax.children(tree)))


def _wrapped(node: Node) -> Node:
    star: Node = {"class": "STAR", "type": "STAR", "alias": "", **_STAR}
    return {
        "type": "SELECT_NODE",
        "modifiers": [],
        "cte_map": {"map": []},
        "select_list": [star],
        "from_table": {
            "type": "SUBQUERY",
            "alias": "",
            "sample": None,
            "subquery": {"node": node, "named_param_map": []},
            "column_name_alias": [],
        },
        "aggregate_handling": "STANDARD_HANDLING",
    }


_STAR: Node = {
    "relation_name": "",
    "exclude_list": [],
    "replace_list": [],
    "columns": False,
    "expr": None,
    "qualified_exclude_list": [],
    "rename_list": [],
}


def _ascending(expression: Node) -> Node:
    return {"type": "ORDER_DEFAULT", "null_order": "NULLS LAST", "expression": expression}


def _position(index: int) -> Node:
    literal: Node = {"kind": "INTEGER", "text": str(index)}
    return {"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "literal": literal}


def _column(names: list[str]) -> Node:
    path: list[Tree] = [*names]
    return {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": path}


def _equal(left: Node, right: Node) -> Node:
    return {
        "class": "COMPARISON",
        "type": "COMPARE_EQUAL",
        "alias": "",
        "left": left,
        "right": right,
    }


def _plus_one(expression: Node) -> Node:
    return {
        "class": "FUNCTION",
        "type": "FUNCTION",
        "alias": "",
        "function_name": "+",
        "is_operator": True,
        "order_bys": {"type": "ORDER_MODIFIER", "orders": []},
        "arguments": [
            {"name": "", "expression": expression},
            {"name": "", "expression": _position(1)},
        ],
        "qualified_name": {"path": ["+"]},
    }
