"""Takes out rows that say again what another row of the range says (F39.7)."""

from __future__ import annotations

from collections.abc import Sequence

from backshop.formats.package.guard import parse_xml
from backshop.formats.package.package import serialise
from backshop.formats.protocol import Op
from backshop.formats.write.operation import as_list, problem

from ...book.array import Unshown
from ...book.sheet_xml import RawCell
from ...book.workbook import Book, Value
from ...syntax.address import cell_name
from ..session import Session
from ..settlement import settle
from ..table_growth import extend
from .block import Block, block, check
from .rearrangement import carry
from .row_formula import RowFormulas

_KEEP = ("first", "last")
_SHOWN_ROWS, _SHOWN_CHARS = 3, 40

Key = tuple[tuple[str, object], ...]


def remove_duplicates(session: Session, op: Op) -> str:
    """Keep one of the rows that are equal; those below move up within the range."""
    keep = str(op.args["keep"])
    if keep not in _KEEP:
        raise problem("bad_value", f"{op.where}.keep", "not known", _KEEP)
    settle(session, [str(op.args["sheet"])])
    rows = block(session, op)
    check(session, rows, f"{op.where}.range")
    if rows.table is not None and rows.table.totals_rows:
        what = f"the table {rows.table.name} has a totals row, which would stay behind"
        raise problem("op_conflict", f"{op.where}.range", what, [str(rows.table.data)])
    keys = _keys(rows, _columns(rows, op), op.where)
    numbers = [*keys] if keep == "first" else [*reversed(keys)]
    kept = {keys[number]: number for number in reversed(numbers)}
    stay = sorted(kept.values())
    gone = [number for number in keys if kept[keys[number]] != number]
    if not gone:
        return f"{rows.said}: no row occurs twice ({len(stay)} rows)"
    formulas = RowFormulas(rows)
    formulas.survey(f"{op.where}.range")
    ends = rows.area.row1 + len(stay) - 1
    sources = dict(zip(keys, [*stay, *([None] * len(gone))], strict=True))
    examples = _examples(rows, gone)
    carry(session, rows, sources, formulas)
    said = f"{rows.said}: {_counted(len(gone))} removed, {_counted(len(stay))} stay ({examples})"
    if rows.table is not None:
        _shrink(session, rows, ends)
        said += f"; the table {rows.table.name} ends in row {ends}"
    return said


def _counted(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _columns(rows: Block, op: Op) -> list[int]:
    """Return the columns that are compared, all without a list."""
    given = op.args["columns"]
    if given is None:
        return [*rows.columns]
    items = as_list(given)
    if not items:
        raise problem("missing_field", f"{op.where}.columns", "at least one column is needed")
    found = []
    for index, item in enumerate(items):
        at = f"{op.where}.columns[{index}]"
        if isinstance(item, bool) or not isinstance(item, str | int):
            raise problem("bad_type", at, "must be a header, a letter or a number")
        found.append(rows.column(item, at))
    return sorted(set(found))


def _keys(rows: Block, columns: Sequence[int], where: str) -> dict[int, Key]:
    """Return what is compared of every row, by its number."""
    edit, wanted = rows.edit, frozenset(columns)
    unshown = Unshown(edit.book, edit.xml)
    uncached: list[str] = []
    found: dict[int, Key] = {}
    for number in range(rows.area.row1, rows.area.row2 + 1):
        span = rows.rows.get(number)
        said: dict[int, tuple[str, object]] = {}
        for cell in edit.xml.cells(span, min(columns), max(columns)) if span else ():
            if cell.col not in wanted:
                continue
            if edit.book.is_uncached(cell) or unshown.formula(cell) is not None:
                uncached.append(cell_name(number, cell.col))
            elif (value := _compared(edit.book, cell)) is not None:
                said[cell.col] = value
        found[number] = tuple(said.get(col, ("", "")) for col in columns)
    if uncached:
        what = "rows cannot be compared by formulas whose results are not stored in the file"
        raise problem("uncached_formula", f"{where}.range", what, uncached[:20])
    return found


def _compared(book: Book, cell: RawCell) -> tuple[str, object] | None:
    """Return what a cell is compared by; a number is the same in whichever format."""
    value: Value = book.value(cell)
    if value.kind == "blank" or (value.kind == "string" and not value.text):
        return None
    if value.number is not None and value.kind != "boolean":
        return "number", value.number
    return value.kind, value.text.casefold() if value.kind == "string" else value.text


def _examples(rows: Block, gone: Sequence[int]) -> str:
    """Return what the first removed rows held."""
    said = []
    for number in gone[:_SHOWN_ROWS]:
        span = rows.rows.get(number)
        area = rows.area
        cells = rows.edit.xml.cells(span, area.col1, area.col2) if span else ()
        texts = [rows.edit.book.value(cell).text for cell in cells]
        words = ", ".join(text for text in texts if text)
        said.append(f"row {number}: {words[:_SHOWN_CHARS]}" if words else f"row {number}: empty")
    more = f"; {len(gone) - _SHOWN_ROWS} more" if len(gone) > _SHOWN_ROWS else ""
    return "; ".join(said) + more


def _shrink(session: Session, rows: Block, last_row: int) -> None:
    """Let a table end in the last row that stays."""
    assert rows.table is not None, "only tables are asked to"

    def shrunk(data: bytes) -> bytes:
        root = parse_xml(data)
        extend(root, last_row)
        return serialise(root, like=data)

    session.rewrite(rows.table.part, shrunk)
    session.book.forget()
    session.forget_vocabulary()
