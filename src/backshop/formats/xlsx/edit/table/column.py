"""A column of a table by its header, its letter or its number (F37.2)."""

from __future__ import annotations

from backshop.formats.protocol import Json
from backshop.formats.write.operation import nearest, problem

from ...book.workbook import Table
from ...syntax.address import column_name, parse_column


def column_at(table: Table, given: Json, where: str) -> int:
    """Return the place of a column in its table, from 0; a header comes before a letter."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise problem("bad_type", where, "must be a header, a letter or a number")
    text = str(given).strip()
    headers = [name.strip().lower() for name in table.columns]
    if text.lower() in headers:
        return headers.index(text.lower())
    col = parse_column(given)
    if col is not None and table.area.col1 <= col <= table.area.col2:
        return col - table.area.col1
    first, last = column_name(table.area.col1), column_name(table.area.col2)
    what = f"the table {table.name} has no column {text[:60]!r}: its columns are {first} to {last}"
    raise problem("unknown_column", where, what, nearest(text, table.columns))
