"""Sorts the rows of a range or a table by some of its columns (F39.1)."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import serialise
from backshop.formats.protocol import Op
from backshop.formats.write.operation import problem

from ...book.workbook import child, children, like
from ...syntax.address import Area, column_name, parse_area
from ..session import Session, Target
from ..settlement import settle
from .block import Block, beside, block, check
from .rearrangement import carry
from .row_formula import RowFormulas
from .sort_key import Ordering, SortKey, arranged, keys


def sort_range(session: Session, op: Op) -> str:
    """Put the rows of a range in another order; equal ones stay as they stand."""
    settle(session, [str(op.args["sheet"])])
    rows = block(session, op)
    check(session, rows, f"{op.where}.range")
    by = keys(rows, op, session.warnings)
    formulas = RowFormulas(rows)
    formulas.survey(f"{op.where}.range")
    for index, key in enumerate(by):
        if key.column in formulas.columns:
            what = f"column {column_name(key.column)} is computed from the order of the rows itself"
            raise problem("op_conflict", f"{op.where}.by[{index}].column", what)
    numbers = range(rows.area.row1, rows.area.row2 + 1)
    ordering = Ordering(session.book, bool(op.args["match_case"]))
    order = arranged(rows, numbers, by, ordering, f"{op.where}.by")
    sources = dict(zip(numbers, order, strict=True))
    moved = sum(row != source for row, source in sources.items())
    if left := beside(rows):
        session.warnings.add("columns_left", len(left), _left(rows, left))
    said = f"{rows.said} sorted by {_said(rows, by)}"
    if rows.headers is not None and rows.table is None:
        said += f" below the header in row {rows.area.row1 - 1}"
    if not moved:
        return f"{said}: the rows stand in this order already"
    carry(session, rows, sources, formulas)
    _note_order(session, rows, by, match_case=bool(op.args["match_case"]))
    return f"{said} ({moved} of {len(order)} rows stand elsewhere now)"


def _left(rows: Block, columns: Sequence[str]) -> str:
    names = ", ".join(columns[:8])
    return f"column {names} beside {rows.said} holds values and did not move with the rows"


def _said(rows: Block, by: Sequence[SortKey]) -> str:
    names = []
    for key in by:
        at = key.column - rows.area.col1
        title = rows.headers[at] if rows.headers and at < len(rows.headers) else None
        name = title or f"column {column_name(key.column)}"
        names.append(f"{name[:40]}{', descending' if key.descending else ''}")
    return "; ".join(names)


# --- what a filter or a table remembers of its order ---------------------------------------------


def _note_order(session: Session, rows: Block, by: Sequence[SortKey], *, match_case: bool) -> None:
    """Let a table, or the sheet's filter, that remembers an order remember this one."""
    if rows.table is not None:

        def remembered(data: bytes) -> bytes:
            root = parse_xml(data)
            changed = _remember(root, rows.area, by, match_case)
            return serialise(root, like=data) if changed else data

        session.rewrite(rows.table.part, remembered)
        return
    edit = session.edit(rows.edit.sheet.name, "")
    if _remember(edit.frame.root, rows.area, by, match_case):
        aspects = frozenset({"filter", "sortState"})
        session.targets.append(Target(edit.sheet.name, None, aspects))
        edit.refresh_frame()


def _remember(root: Element, area: Area, by: Sequence[SortKey], match_case: bool) -> bool:
    """Say the new order wherever an order of these rows is said; False where none is."""
    places = [one for one in (root, child(root, "autoFilter")) if one is not None]
    found = [state for place in places for state in children(place, "sortState")]
    changed = False
    for state in found:
        said = parse_area(state.get("ref") or "")
        if said is None or not said.meets(area):
            continue
        new = _state(state, area, by, match_case)
        new.tail = state.tail
        parent = state.getparent()
        if parent is not None:
            parent.replace(state, new)
            changed = True
    return changed


def _state(like_: Element, area: Area, by: Sequence[SortKey], match_case: bool) -> Element:
    state = etree.Element(like(like_, "sortState"))
    if match_case:
        state.set("caseSensitive", "1")
    state.set("ref", area.span)
    for key in by:
        column = Area(area.row1, key.column, area.row2, key.column)
        condition = etree.SubElement(state, like(like_, "sortCondition"))
        if key.descending:
            condition.set("descending", "1")
        condition.set("ref", column.span)
        if key.words:
            condition.set("customList", ",".join(key.words))
    return state
