"""A totals row put under a table, changed, or taken away (F37.7)."""

from __future__ import annotations

from dataclasses import replace

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json
from backshop.formats.write.operation import problem

from ...book.cell_xml import EMPTY
from ...book.sheet_edit import SheetEdit
from ...book.workbook import Table
from ...lines.follow import LostColumns
from ...syntax.address import Area
from ..session import Session
from . import obstacle
from .follower import follow, note_broken, note_users
from .table_move import TableLoss
from .totals import Total, given_totals, put_totals, stored_totals, totals_words, usual_totals


def put_totals_row(session: Session, edit: SheetEdit, table: Table, given: Json, where: str) -> str:
    """Let a table have a totals row with what was given, or none; return what was done."""
    if given is False:
        return _take_off(session, edit, table) if table.totals_rows else "no totals row, as before"
    if given is not True and not isinstance(given, list | dict):
        what = "true, false, or a list of {column, function}"
        raise problem("bad_type", where, what)
    items = [given] if isinstance(given, dict) else given
    listed = {} if given is True else given_totals(session, table, items, where)
    return _put(session, edit, table, listed, where, is_listed=given is not True)


def _put(
    session: Session,
    edit: SheetEdit,
    table: Table,
    listed: dict[int, Total],
    where: str,
    *,
    is_listed: bool,
) -> str:
    if table.totals_rows > 1:
        raise problem("op_conflict", where, f"the table {table.name} has several totals rows")
    root = session.book.package.xml(table.part)
    totals = dict(listed)
    is_new = not table.totals_rows
    if is_new:
        row = table.area.row2 + 1
        below = Area(row, table.area.col1, row, table.area.col2)
        obstacle.refuse_filled(edit, below, where)
        obstacle.refuse_place(edit, below, where, own=table)
        totals = {**_start(edit, table, listed, stored_totals(root), is_listed=is_listed)}
        root.set("ref", Area(table.area.row1, table.area.col1, row, table.area.col2).span)
        root.set("totalsRowCount", "1")
        root.attrib.pop("totalsRowShown", "")
        table = replace(table, area=replace(table.area, row2=row), totals_rows=1)
        _save(session, edit, table.part, root)
    elif not is_listed:
        return "totals row, as before"
    put_totals(session, edit, table, root, totals)
    _save(session, edit, table.part, root)
    session.flush()
    note_users(session, table.name)
    return totals_words(table, totals)


def _start(
    edit: SheetEdit,
    table: Table,
    listed: dict[int, Total],
    stored: dict[int, Total],
    *,
    is_listed: bool,
) -> dict[int, Total]:
    """Return what a new totals row shows: what was given, what it showed once, or the usual."""
    usual = stored or usual_totals(edit, table)
    if not is_listed:
        return usual
    columns = range(table.area.width)
    label = {0: usual.get(0, Total())} if 0 not in listed and usual.get(0, Total()).label else {}
    return {at: listed.get(at) or label.get(at) or Total() for at in columns}


def _take_off(session: Session, edit: SheetEdit, table: Table) -> str:
    """Empty the totals row; the table remembers what it showed, as in Excel."""
    area = table.area
    first = area.row2 - table.totals_rows + 1
    row = Area(first, area.col1, area.row2, area.col2)
    edit.load(range(row.row1, row.row2 + 1))
    for place in row.cells():
        if not edit.is_empty(*place):
            edit.set_content(*place, EMPTY)
    session.aim(edit, row)
    root = session.book.package.xml(table.part)
    root.set("ref", replace(area, row2=first - 1).span)
    root.attrib.pop("totalsRowCount", "")
    _save(session, edit, table.part, root)
    session.flush()
    loss = TableLoss(table.name, LostColumns({}, {}), has_totals=False)
    count = follow(session, loss)
    note_broken(session, count, f"totals of the table {table.name}")
    note_users(session, table.name)
    return f"no totals row; {row} is empty"


def _save(session: Session, edit: SheetEdit, part: str, root: Element) -> None:
    session.book.package.put_xml(part, root)
    edit.__dict__.pop("tables", None)
    session.forget_vocabulary()
