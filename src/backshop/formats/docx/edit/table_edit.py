"""Carries out the operations on tables (F19)."""

from __future__ import annotations

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json
from backshop.formats.write import style as looks
from backshop.formats.write.operation import problem
from backshop.formats.write.style import StyleReader

from ..text import name as n
from ..text.document import WRAPPERS, block_elements, row_cells, table_rows
from .editor import Editor, beside, count_of
from .removal import splits_field
from .schema import Edit
from .table import copy_row, find_cell, make_table, says, set_cell


def append_table(editor: Editor, edit: Edit) -> str:
    """Add a table at the end or at the anchor."""
    args = edit.op.args
    reader = StyleReader(args, edit.op.where, editor.warnings)
    style = reader.get("style", lambda value: editor.builder.stock.style(value, "table"))
    if style is None:
        style = editor.builder.stock.style("Table Grid", "table")
    if not any(edit.rows):
        raise problem("bad_value", f"{edit.op.where}.rows", "at least one cell is needed")
    widths = reader.get("column_widths", _widths)
    table = make_table(
        editor.builder, edit.rows, header=bool(args["header"]), style=style, widths=widths
    )
    if edit.anchor is not None:
        parent, at, _, _ = editor.place(edit.anchor)
    else:
        parent = editor.document.body_element
        at = editor.end_of_text()
    editor.touch()
    parent.insert(at, table)
    editor.aimed[table] = None
    _keep_apart(editor, parent, table)
    return f"table of {len(edit.rows)} rows added"


def _keep_apart(editor: Editor, parent: Element, table: Element) -> None:
    """Put empty paragraphs where tables would grow together or end the text."""
    if _neighbour(table, before=True) == n.TBL:
        _separate(editor, parent, parent.index(table))
    if _neighbour(table, before=False) in (None, n.TBL, n.SECT_PR):
        _separate(editor, parent, parent.index(table) + 1)


def _neighbour(table: Element, *, before: bool) -> str | None:
    """Return the tag of what a table meets on one side; ends of ranges and the like are nothing."""
    for sibling in table.itersiblings(n.P, n.TBL, n.SECT_PR, *WRAPPERS, preceding=before):
        met = list(block_elements(sibling)) if sibling.tag in WRAPPERS else [sibling]
        if met:
            return str(met[-1 if before else 0].tag)
    return None


def _separate(editor: Editor, parent: Element, at: int) -> None:
    paragraph = etree.Element(n.P)
    parent.insert(at, paragraph)
    editor.aimed[paragraph] = None


def _table(editor: Editor, edit: Edit) -> Element:
    return editor.table(edit.op.number("table"), f"{edit.op.where}.table")


def set_table_cells(editor: Editor, edit: Edit) -> str:
    """Give cells new text."""
    table = _table(editor, edit)
    editor.touch()
    places = editor.row_places(table)
    for spec in edit.cells:
        row = places.get(spec.row)
        found = find_cell(table, row, spec.column) if row is not None else None
        if found is None:
            rows = table_rows(table)
            raise problem(
                "bad_index",
                spec.where,
                f"there is no cell {spec.row},{spec.column}",
                (f"{len(rows)} rows",),
            )
        cell, redirected = found
        if redirected:
            editor.warnings.add("merged_redirect", where=spec.where)
        if says(cell, spec.runs):
            continue
        if splits_field([cell]):
            raise problem("op_conflict", spec.where, "the cell holds part of a field")
        editor.note_lost([cell], spec.where)
        set_cell(editor.builder, cell, spec.runs)
        editor.aimed[cell] = None
    return f"table {edit.op.args['table']}: {count_of(len(edit.cells), 'cell')} set"


def add_table_rows(editor: Editor, edit: Edit) -> str:
    """Add rows in the format of the row above."""
    table = _table(editor, edit)
    rows = table_rows(table)
    at = edit.op.args["at"]
    assert at is None or isinstance(at, int)
    places = editor.row_places(table)
    place = len(rows) if at is None or at == len(places) else places.get(at)
    if place is None or not rows:
        raise problem("bad_index", f"{edit.op.where}.at", "no such row", (f"0-{len(places)}",))
    editor.touch()
    model = rows[place - 1] if place else rows[0]
    columns = len(row_cells(model))
    too_long = next((i for i, row in enumerate(edit.rows) if len(row) > columns), None)
    if too_long is not None:
        raise problem(
            "bad_value",
            f"{edit.op.where}.rows[{too_long}]",
            f"the row above has {columns} cells",
        )
    below = rows[place] if 0 < place < len(rows) else None
    parent, start = beside(model, after=place > 0)
    for offset, texts in enumerate(edit.rows):
        row, covered = copy_row(editor.builder, model, texts, below)
        parent.insert(start + offset, row)
        editor.aimed[row] = None
        for column in covered:
            where = f"{edit.op.where}.rows[{offset}][{column}]"
            editor.warnings.add("merged_skipped", where=where)
    return f"table {edit.op.args['table']}: {count_of(len(edit.rows), 'row')} added"


def delete_table_rows(editor: Editor, edit: Edit) -> str:
    """Take rows out of a table."""
    table = _table(editor, edit)
    rows = table_rows(table)
    numbers = editor.row_places(table)
    first, last = editor.span(edit, len(numbers), "rows")
    places = [numbers[number] for number in range(first, last + 1)]
    here = sorted(place for place in places if place is not None)
    if len(here) < len(places):
        said = "a row was taken out by an earlier operation of this call"
        raise problem("op_conflict", f"{edit.op.where}.from", said)
    if len(here) == len(rows):
        raise fail(
            "op_conflict",
            "a table keeps at least one row",
            detail=f"{edit.op.where}: all rows",
            hints=("delete_paragraphs with the table's body index removes the table",),
        )
    gone = [rows[place] for place in here]
    if splits_field(gone):
        raise problem("op_conflict", edit.op.where, "the rows hold part of a field")
    editor.touch()
    editor.note_lost(gone, edit.op.where)
    for place in reversed(here):
        editor.remove_rows(table, place, place)
    return f"table {edit.op.args['table']}: {count_of(last - first + 1, 'row')} deleted"


def _widths(value: Json) -> list[float] | None:
    if not isinstance(value, list | tuple) or not value:
        return None
    read = looks.number(0, 22, above=True)
    found = [read(item) for item in value]
    return [width for width in found if width is not None] if None not in found else None
