"""Header cells of tables: the cell and the table must say the same, or Excel repairs the file."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.formats.write.operation import problem

from ..book.cell_xml import Content
from ..book.table_text import header_attribute, header_text
from ..book.workbook import Book, Table, child, children
from ..calculation.moved_reference import ColumnMove


@dataclass(frozen=True, slots=True)
class Header:
    """A header cell that gets another text."""

    table: Table
    column: int
    name: str


def renamed_header(
    tables: list[Table], place: tuple[int, int], content: Content, where: str
) -> Header | None:
    """Return the header a write changes; refuse what a table cannot have."""
    row, col = place
    for table in tables:
        if not (table.header_rows and row == table.area.row1 and table.area.has(row, col)):
            continue
        if content.kind != "string" or not content.text.strip():
            raise problem("op_conflict", where, f"a header of the table {table.name} must be text")
        column = col - table.area.col1
        others = [name.lower() for i, name in enumerate(table.columns) if i != column]
        if content.text.lower() in others:
            raise problem("op_conflict", where, f"the table {table.name} has this header already")
        if column < len(table.columns) and table.columns[column] != content.text:
            return Header(table, column, content.text)
    return None


def rename_headers(book: Book, headers: list[Header]) -> list[ColumnMove]:
    """Give the tables' columns their new names and return what references must follow."""
    moves = []
    for header in headers:
        root = book.package.xml(header.table.part)
        columns = children(child(root, "tableColumns"), "tableColumn")
        old = header_text(columns[header.column].get("name") or "")
        if old == header.name:
            continue
        columns[header.column].set("name", header_attribute(header.name))
        book.package.put_xml(header.table.part, root)
        moves.append(ColumnMove(header.table.name, old, header.name))
    return moves
