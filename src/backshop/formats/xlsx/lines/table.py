"""Named tables after lines came or went: their range, columns, filter and formulas."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.formats.package.guard import Element

from ..book.table_text import header_attribute
from ..book.workbook import Table, child, children, like, local
from ..syntax.address import Area, parse_area
from ..syntax.line_shift import LineShift
from .filter_range import moved_filter, moved_sort
from .follow import Follow

_NEW = "Column"


def move_table(root: Element, follow: Follow, names: Sequence[str] = ()) -> None:
    """Let a table follow; `names` are those of its columns afterwards, for its own sheet."""
    area = parse_area(root.get("ref") or "")
    _move_formulas(root, follow, area)
    if not follow.is_own or area is None:
        return
    shift = follow.shift
    now = shift.area(area)
    if now is None:
        return  # it goes as a whole
    totals = _whole(root.get("totalsRowCount")) if shift.axis == "row" else 0
    if totals and shift.span(area.row2 - totals + 1, area.row2) is None:
        root.attrib.pop("totalsRowCount", "")
    if str(now) != str(area):
        root.set("ref", now.span if ":" in (root.get("ref") or "") else str(now))
    if shift.axis == "column" and shift.resizes(area):
        _move_columns(root, shift, area, names)
    for item in children(root, "autoFilter"):
        if not moved_filter(item, follow):
            root.remove(item)
    for item in children(root, "sortState"):
        if not moved_sort(item, follow):
            root.remove(item)


def _move_formulas(root: Element, follow: Follow, area: Area | None) -> None:
    columns = children(child(root, "tableColumns"), "tableColumn")
    for at, column in enumerate(columns):
        for item in column:
            text, name = item.text or "", local(item)
            if name == "calculatedColumnFormula" and text:
                rows = _data(root, area, at)
                now = follow.rule(text, rows) if rows else follow.formula(text)
            elif name == "totalsRowFormula" and text:
                now = follow.formula(text)
            else:
                continue
            if now != text:
                item.text = now


def _data(root: Element, area: Area | None, at: int) -> list[Area]:
    """Return the data cells of a column: its formula reads as it stands in the first of them."""
    if area is None:
        return []
    first = area.row1 + _whole(root.get("headerRowCount"), 1)
    last = area.row2 - _whole(root.get("totalsRowCount"))
    col = area.col1 + at
    return [Area(first, col, last, col)] if first <= last else []


def _move_columns(root: Element, shift: LineShift, area: Area, names: Sequence[str]) -> None:
    """Take columns out of the table's list, or put new ones in."""
    holder = child(root, "tableColumns")
    if holder is None:
        return
    columns = children(holder, "tableColumn")
    if shift.by < 0:
        for at, column in enumerate(columns):
            if shift.line(area.col1 + at) is None:
                holder.remove(column)
    else:
        place = shift.at - area.col1
        number = max((_whole(column.get("id")) for column in columns), default=0)
        for at in range(shift.by):
            made = holder.makeelement(like(holder, "tableColumn"))
            made.set("id", str(number + at + 1))
            made.set("name", header_attribute(names[place + at]))
            columns[place].addprevious(made)
    if holder.get("count") is not None:
        holder.set("count", str(len(children(holder, "tableColumn"))))


def _whole(text: str | None, default: int = 0) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else default


def columns_after(table: Table, shift: LineShift) -> tuple[str, ...]:
    """Return the names of a table's columns after a shift; new ones get names of their own."""
    if shift.axis == "row" or not shift.resizes(table.area):
        return table.columns
    columns = list(table.columns)
    if shift.by < 0:
        return tuple(
            name for at, name in enumerate(columns) if shift.line(table.area.col1 + at) is not None
        )
    taken = {name.lower() for name in columns}
    new: list[str] = []
    number = 0
    while len(new) < shift.by:
        number += 1
        if f"{_NEW}{number}".lower() not in taken:
            new.append(f"{_NEW}{number}")
    place = shift.at - table.area.col1
    return (*columns[:place], *new, *columns[place:])
