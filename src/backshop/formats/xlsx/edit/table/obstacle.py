"""What forbids a table to be at a place, to be changed, or to go (F37.4, F37.9)."""

from __future__ import annotations

import json
from collections.abc import Collection

from backshop.formats.write.operation import problem

from ...book.protection import refusal
from ...book.sheet_edit import SheetEdit
from ...book.workbook import Book, Table, child, children
from ...lines.filter_range import is_active
from ...lines.obstacle import is_queried, pivot_area
from ...syntax.address import MAX_ROW, Area, cell_name, parse_area


def refuse_protected(edit: SheetEdit, where: str) -> None:
    """Refuse a protected sheet: Excel lets no table come, change or go there."""
    if edit.frame.protected:
        what = f"the sheet {edit.sheet.name} is protected: its tables stay as they are"
        raise refusal(edit.frame, where, what)


def refuse_place(edit: SheetEdit, area: Area, where: str, own: Table | None = None) -> None:
    """Refuse cells that a table cannot have."""
    for table in edit.tables:
        if (own is None or table.part != own.part) and table.area.meets(area):
            what = f"the table {table.name} is there already ({table.area})"
            raise problem("op_conflict", where, what, [str(table.area)])
    merged = next((merge for merge in edit.frame.merges if merge.meets(area)), None)
    if merged is not None:
        what = f"{merged} is merged, and a table has no merged cells"
        raise problem("op_conflict", where, what, [f'unmerge_cells with range "{merged}"'])
    for array in edit.arrays:
        if array.area.meets(area):
            what = f"{array.area} holds one formula over several cells, which a table cannot have"
            raise problem("op_conflict", where, what, [str(array.area)])
    for part in edit.book.sheet_rels(edit.sheet, "pivotTable"):
        root = edit.book.package.xml(part)
        pivot = pivot_area(root)
        if pivot is not None and pivot.meets(area):
            what = f"the pivot table {root.get('name') or ''} stands in {pivot}"
            raise problem("op_conflict", where, what)
    for part in edit.book.sheet_rels(edit.sheet, "queryTable"):
        name = edit.book.package.xml(part).get("name") or ""
        bound = _named_area(edit, name)
        if bound is not None and bound.meets(area):
            raise problem("op_conflict", where, f"a query fills {bound}")
    found = child(edit.frame.root, "autoFilter")
    filtered = parse_area(found.get("ref") or "") if found is not None else None
    if filtered is not None and filtered.meets(area):
        what = f"the sheet has a filter on {filtered}; a table has one of its own"
        call = json.dumps({"op": "set_autofilter", "sheet": edit.sheet.name}, ensure_ascii=False)
        raise problem("op_conflict", where, what, [f"{call} takes it away first"])


def _named_area(edit: SheetEdit, name: str) -> Area | None:
    """Return the cells that a query of the sheet fills: a name of the sheet says so."""
    for one in edit.book.names:
        if one.name.lower() == name.lower() and one.scope in (None, edit.sheet.index):
            return parse_area(one.refers_to.rpartition("!")[2])
    return None


def refuse_filled(edit: SheetEdit, area: Area, where: str) -> None:
    """Refuse cells for totals that hold something: nothing is shifted without being asked for."""
    if area.row2 > MAX_ROW:
        what = f"a totals row would be row {area.row2}, below the end of the sheet"
        raise problem("bad_range", where, what)
    filled = [cell_name(*cell) for cell in area.cells() if not edit.is_empty(*cell)]
    if filled:
        what = f"the totals row would be row {area.row1}, where {filled[0]} is filled"
        call = {"op": "insert_rows", "sheet": edit.sheet.name, "row": area.row1}
        hint = f"{json.dumps(call, ensure_ascii=False)} first makes room"
        raise problem("op_conflict", where, what, [hint, *filled[:4]])


def bound_to(book: Book, table: Table) -> str | None:
    """Return to what a table's columns are bound from outside, None for nothing."""
    root = book.package.xml(table.part)
    if is_queried(book, table):
        return "a query"
    columns = children(child(root, "tableColumns"), "tableColumn")
    if root.get("tableType") == "xml" or any(
        child(one, "xmlColumnPr") is not None for one in columns
    ):
        return "an XML map"
    return None


def refuse_bound(book: Book, table: Table, where: str, what: str) -> None:
    """Refuse to change the columns or rows of a table that something outside fills."""
    bound = bound_to(book, table)
    if bound is not None:
        raise problem("op_conflict", where, f"the table {table.name} is filled by {bound}: {what}")


def refuse_slicers(
    book: Book, table: Table, where: str, columns: Collection[int] | None = None
) -> None:
    """Refuse to take columns away that a slicer shows; None for the whole table."""
    root = book.package.xml(table.part)
    numbers = [one.get("id") for one in children(child(root, "tableColumns"), "tableColumn")]
    gone = {number for at, number in enumerate(numbers) if columns is None or at in columns}
    if not gone:
        return
    for part in book.package.names:
        if not part.endswith(".xml") or "slicercache" not in part.lower():
            continue
        for item in book.package.xml(part).iter("{*}tableSlicerCache"):
            if item.get("tableId") == root.get("id") and item.get("column") in gone:
                what = f"the table {table.name} has a slicer, which would lead nowhere"
                raise problem("op_conflict", where, what)


def refuse_views(book: Book, edit: SheetEdit, table: Table, where: str) -> None:
    """Refuse to lose a table by which a saved view of the sheet filters."""
    number = book.package.xml(table.part).get("id")
    for part in book.sheet_rels(edit.sheet, "namedSheetView"):
        if any(item.get("tableId") == number for item in book.package.xml(part).iter("{*}*")):
            raise problem("op_conflict", where, f"a saved view filters the table {table.name}")


def refuse_hiding(edit: SheetEdit, table: Table, where: str) -> None:
    """Refuse to lose a filter that hides rows, which would stay hidden."""
    found = child(edit.book.package.xml(table.part), "autoFilter")
    if found is not None and is_active(found):
        what = f"the filter of the table {table.name} hides rows; the person can clear it in Excel"
        raise problem("op_conflict", where, what)
