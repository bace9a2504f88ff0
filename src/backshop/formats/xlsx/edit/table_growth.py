"""Rows appended under a named table belong to it: its range, filter and formulas go on (F17.12)."""

from __future__ import annotations

from backshop.formats.package.guard import Element
from backshop.formats.write.operation import problem

from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, Table, child, children
from ..syntax.address import Area, column_name, parse_area
from ..syntax.formula import shift

APPENDING = "append_rows would have taken the rows in"
NO_WAY = "the sheet goes on below the table, so append_rows writes further down"


def tables_above(edit: SheetEdit) -> list[Table]:
    """Return the tables that hold the last used row, so that appended rows touch them.

    A table may end in empty rows, as every new one does: these are filled first.
    """
    used = edit.used()
    return [t for t in edit.tables if used and t.area.row1 <= used.row2 <= t.area.row2]


def refuse_totals(tables: list[Table], area: Area, where: str) -> None:
    """Refuse rows below a totals row: they would look like the table's and not be counted."""
    for table in tables:
        if table.totals_rows and table.area.shares_columns(area):
            start = f"{column_name(area.col1)}{area.row1}"
            raise problem(
                "op_conflict",
                where,
                f"the table {table.name} ends in a totals row; rows below it do not belong to it",
                [
                    f"insert_rows with row {table.area.row2} and these values puts them into the "
                    "table, above its totals",
                    f'set_range with start "{start}" writes below it all the same',
                ],
            )


def grow(book: Book, edit: SheetEdit, tables: list[Table], area: Area) -> dict[str, int]:
    """Take appended rows into the tables above them; return by part the row each ends in now."""
    grown: dict[str, int] = {}
    for table in tables:
        if area.row2 <= table.area.row2:
            continue
        root = book.package.xml(table.part)
        extend(root, area.row2)
        book.package.put_xml(table.part, root)
        grown[table.part] = area.row2
    edit.__dict__.pop("tables", None)  # they are read again
    return grown


def extend(root: Element, last_row: int) -> None:
    """Let a table and its filter end in another row."""
    for element in (root, child(root, "autoFilter")):
        area = parse_area(element.get("ref") or "") if element is not None else None
        if element is not None and area is not None:
            element.set("ref", str(Area(area.row1, area.col1, last_row, area.col2)))


def calculated(
    book: Book, edit: SheetEdit, table: Table, rows: range
) -> dict[tuple[int, int], str]:
    """Return the formulas of calculated columns for new rows, as the row above has them."""
    root = book.package.xml(table.part)
    columns = children(child(root, "tableColumns"), "tableColumn")
    last = rows.start - 1  # used, and the table's
    found: dict[tuple[int, int], str] = {}
    for at, column in enumerate(columns):
        col = table.area.col1 + at
        above = edit.formula(last, col)
        own = edit.raw(last, col)
        is_array = own is not None and own.formula is not None and own.formula.kind == "array"
        if child(column, "calculatedColumnFormula") is None or above is None or is_array:
            continue
        for row in rows:
            found[row, col] = shift(above, row - last, 0)
    return found


def left_outside(edit: SheetEdit) -> list[tuple[int, str]]:
    """Return how many new rows stand right under a table without belonging to it, and a sentence.

    Where the cells had been filled before, and below a totals row, nobody takes them for its rows.
    """
    found = []
    for table in edit.tables:
        first = last = table.area.row2 + 1
        columns = range(table.area.col1, table.area.col2 + 1)
        filled = [col for col in columns if _is_new(edit, first, col)]
        if table.totals_rows or not filled or any(_was_filled(edit, first, c) for c in columns):
            continue
        while any(_is_new(edit, last + 1, col) for col in columns):
            last += 1
            filled += [col for col in columns if _is_new(edit, last, col)]
        used = edit.survey.used
        way = NO_WAY if used and used.row2 > table.area.row2 else APPENDING
        rows = Area(first, min(filled), last, max(filled))
        found.append((rows.height, _outside(edit, rows, table, way)))
    return found


def far_below(edit: SheetEdit, tables: list[Table], area: Area) -> str | None:
    """Return where appended rows went, when a table of their columns ends further up."""
    if any(table.area.shares_columns(area) for table in tables):
        return None
    above = [table for table in edit.tables if table.area.row2 < area.row1]
    over = [table for table in above if table.area.shares_columns(area)]
    if not over:
        return None
    lowest = max(over, key=lambda table: table.area.row2)
    return _outside(edit, area, lowest, NO_WAY)


def _outside(edit: SheetEdit, rows: Area, table: Table, way: str) -> str:
    return (
        f"the table {table.name} ({table.area}) was not extended by "
        f"{edit.sheet.name}!{rows}, written below it: {way}"
    )


def _is_new(edit: SheetEdit, row: int, col: int) -> bool:
    patch = edit.patches.get((row, col))
    is_filled = patch is not None and patch.content is not None and patch.content.kind != "blank"
    return is_filled and not _was_filled(edit, row, col)


def _was_filled(edit: SheetEdit, row: int, col: int) -> bool:
    cell = edit.raw(row, col)
    return cell is not None and (cell.formula is not None or edit.book.value(cell).kind != "blank")
