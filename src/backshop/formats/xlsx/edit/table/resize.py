"""Another range for a table: rows and columns come in or are left out (F37.10)."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.write.operation import problem

from ...book.cell_xml import Content
from ...book.sheet_edit import SheetEdit
from ...book.table_text import header_attribute
from ...book.workbook import Table, child, children, like
from ...lines.filter_range import is_active
from ...lines.follow import LostColumns
from ...syntax.address import Area, cell_name
from ..session import Session
from ..table_growth import calculated
from . import obstacle
from .follower import follow, note_broken, note_users
from .header_row import HeaderRow, note_written, put_headers
from .table_move import TableLoss, TablePlain
from .table_part import columns_of


def resize(session: Session, edit: SheetEdit, table: Table, area: Area, where: str) -> str:
    """Let a table have another range; cells stay where they are."""
    if area == table.area:
        return f"{area} as before"
    _refuse(session, edit, table, area, where)
    columns = range(area.col1, area.col2 + 1)
    kept = {col for col in columns if table.area.col1 <= col <= table.area.col2}
    names = _names(session, edit, table, area, where)
    filled = _formulas(session, edit, table, area, where)
    _leave_rows(session, edit.sheet.name, table, area)
    edit = session.edit(edit.sheet.name, where)
    if table.header_rows:
        put_headers(edit, area.row1, columns, names)
    new = [col for col in columns if col not in kept]
    for col in new if table.header_rows else ():
        session.aim(edit, Area(area.row1, col, area.row1, col))
    for place, text in filled.items():
        edit.set_content(*place, Content("formula", text))
        session.aim(edit, Area(*place, *place))
    root = session.book.package.xml(table.part)
    _put_columns(root, table, columns, names)
    _put_range(root, table, area)
    session.book.package.put_xml(table.part, root)
    edit.__dict__.pop("tables", None)
    session.flush()
    _lose_columns(session, table, area, names)
    note_users(session, table.name)
    return f"{table.area} → {area}"


def _refuse(session: Session, edit: SheetEdit, table: Table, area: Area, where: str) -> None:
    if table.header_rows and area.row1 != table.area.row1:
        what = f"the header of the table {table.name} stays in row {table.area.row1}"
        hint = str(Area(table.area.row1, area.col1, max(area.row2, table.area.row1 + 1), area.col2))
        raise problem("bad_range", where, what, [hint])
    if not area.meets(table.area):
        what = f"the new range has no cell of the table {table.name} ({table.area})"
        raise problem("bad_range", where, what, [str(table.area)])
    if area.height < table.header_rows + 1 + table.totals_rows:
        what = f"the table {table.name} would have no rows"
        raise problem("bad_range", where, what, [str(table.area)])
    if table.totals_rows and area.row2 != table.area.row2:
        what = f"the totals row of the table {table.name} is row {table.area.row2}"
        hints = [
            "insert_rows inside the table makes it longer, with its totals row",
            '"totals": false first takes the totals row off',
        ]
        raise problem("op_conflict", where, what, hints)
    if len(table.columns) != table.area.width:
        what = f"the table {table.name} does not list its columns"
        raise problem("op_conflict", where, what)
    obstacle.refuse_bound(session.book, table, where, "it keeps its range")
    lost = [
        col - table.area.col1
        for col in range(table.area.col1, table.area.col2 + 1)
        if not area.col1 <= col <= area.col2
    ]
    obstacle.refuse_slicers(session.book, table, where, lost)
    found = child(session.book.package.xml(table.part), "autoFilter")
    shrinks = bool(lost) or area.row2 < table.area.row2
    if shrinks and found is not None and is_active(found):
        what = f"the filter of the table {table.name} hides rows; the person can clear it in Excel"
        raise problem("op_conflict", where, what)
    obstacle.refuse_place(edit, area, where, own=table)
    for col in range(area.col1, area.col2 + 1) if table.totals_rows else ():
        is_new = not table.area.col1 <= col <= table.area.col2
        if is_new and not edit.is_empty(area.row2, col):
            what = f"{cell_name(area.row2, col)} is filled, where the totals row would go on"
            raise problem("op_conflict", where, what)


def _names(session: Session, edit: SheetEdit, table: Table, area: Area, where: str) -> list[str]:
    """Return the names of all columns afterwards; new ones say what their header cells do."""
    own = dict(zip(range(table.area.col1, table.area.col2 + 1), table.columns, strict=True))
    columns = range(area.col1, area.col2 + 1)
    rows = HeaderRow(own[col] for col in columns if col in own)
    found = []
    for col in columns:
        if col in own:
            found.append(own[col])
        elif table.header_rows:
            found += rows.read(edit, area.row1, [col], where)
        else:
            found.append(rows.free())
    note_written(session, edit, rows.written)
    return found


def _formulas(
    session: Session, edit: SheetEdit, table: Table, area: Area, where: str
) -> dict[tuple[int, int], str]:
    """Return the formulas of calculated columns for rows that come in, where cells are empty."""
    rows = range(table.area.row2 + 1, area.row2 + 1)
    if not rows:
        return {}
    edit.load(rows)
    found = {
        place: text
        for place, text in calculated(session.book, edit, table, rows).items()
        if area.has(*place) and edit.is_empty(*place)
    }
    session.count(len(found), where)
    return found


def _leave_rows(session: Session, sheet: str, table: Table, area: Area) -> None:
    """Let formulas of rows that are left out name their own row by cells."""
    for left in table.area.without(area):
        if left.row1 > area.row2 or left.row2 < area.row1:
            follow(session, TablePlain.of(session.book, sheet, table, left))


def _lose_columns(session: Session, table: Table, area: Area, names: list[str]) -> None:
    """Let references to columns that are left out be errors, as in Excel."""
    after = tuple(names)
    if set(table.columns) <= set(after):
        return
    name = table.name.lower()
    lost = LostColumns({name: table.columns}, {name: after})
    count = follow(session, TableLoss(table.name, lost))
    note_broken(session, count, f"columns left out of the table {table.name}")


def _put_columns(root: Element, table: Table, columns: range, names: list[str]) -> None:
    """List the columns: those that stay as they are, new ones under new numbers."""
    holder = child(root, "tableColumns")
    assert holder is not None, "the table lists its columns"
    old = columns_of(root)
    numbers = [int(one.get("id") or 0) for one in old if (one.get("id") or "").isdigit()]
    number = max(numbers, default=0)
    made = []
    for col, name in zip(columns, names, strict=True):
        at = col - table.area.col1
        if 0 <= at < len(old):
            made.append(deepcopy(old[at]))
            continue
        number += 1
        item = etree.Element(like(holder, "tableColumn"))
        item.set("id", str(number))
        item.set("name", header_attribute(name))
        made.append(item)
    for item in old:
        holder.remove(item)
    holder.extend(made)
    holder.set("count", str(len(made)))


def _put_range(root: Element, table: Table, area: Area) -> None:
    root.set("ref", area.span)
    for item in children(root, "sortState"):
        root.remove(item)
    found = child(root, "autoFilter")
    if found is None:
        return
    found.set("ref", Area(area.row1, area.col1, area.row2 - table.totals_rows, area.col2).span)
    by = table.area.col1 - area.col1
    for item in children(found, "filterColumn"):
        number = item.get("colId") or ""
        now = int(number) + by if number.isdigit() else -1
        if 0 <= now < area.width:
            item.set("colId", str(now))
        else:
            found.remove(item)
    for item in children(found, "sortState"):
        found.remove(item)
