"""Operations that insert and delete rows and columns; everything in the workbook follows (F35)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from backshop.base import limits
from backshop.formats.package.unused import remove_tree
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import as_list, problem

from ..book.cell_xml import Content
from ..book.protection import refusal
from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, Table, child, children, truth
from ..calculation import recalculation
from ..calculation.graph import build
from ..lines.line_move import LineMove
from ..lines.loss import kept_ranges, removed_things
from ..lines.obstacle import obstacle
from ..lines.seat import seats
from ..lines.verification import check_lines
from ..syntax.address import MAX_COL, MAX_ROW, WHOLE, Area, column_name, parse_column
from ..syntax.formula import shift as filled
from ..syntax.line_shift import LineShift
from . import structure
from .cell_operation import write_block
from .session import REMOVED, Added, Session, Target

Axis = Literal["row", "column"]
_MOST: dict[Axis, int] = {"row": MAX_ROW, "column": MAX_COL}
_SIDES: dict[Axis, tuple[str, str]] = {"row": ("above", "below"), "column": ("left", "right")}
_ALL = frozenset({"inserted", "value", "formula", "style", "structure"})


def insert_rows(session: Session, op: Op) -> str:
    """Insert rows before a row."""
    at = op.args["row"]
    if not isinstance(at, int) or not 1 <= at <= MAX_ROW:
        raise problem("bad_range", f"{op.where}.row", "rows count from 1 to 1048576")
    return _insert(session, op, "row", at)


def insert_columns(session: Session, op: Op) -> str:
    """Insert columns before a column."""
    return _insert(session, op, "column", _column(op, "column"))


def delete_rows(session: Session, op: Op) -> str:
    """Delete rows."""
    lines = [op.args["from"], op.args["from"] if op.args["to"] is None else op.args["to"]]
    for key, line in zip(("from", "to"), lines, strict=True):
        if not isinstance(line, int) or not 1 <= line <= MAX_ROW:
            raise problem("bad_range", f"{op.where}.{key}", "rows count from 1 to 1048576")
    return _delete(session, op, "row", *(int(str(line)) for line in lines))


def delete_columns(session: Session, op: Op) -> str:
    """Delete columns."""
    first = _column(op, "from")
    return _delete(session, op, "column", first, _column(op, "to") if op.args["to"] else first)


def _column(op: Op, key: str) -> int:
    col = parse_column(op.args[key])
    if col is None:
        what = "this is no column: a letter or 1 to 16384"
        raise problem("bad_range", f"{op.where}.{key}", what)
    return col


def _insert(session: Session, op: Op, axis: Axis, at: int) -> str:
    edit = session.edit(str(op.args["sheet"]), op.where)
    name = edit.sheet.name
    values = _values(op)
    if op.args["types"] is not None and not values:
        raise problem("missing_field", f"{op.where}.values", "types are those of values")
    count = _count(op, axis, values)
    if at + count - 1 > _MOST[axis]:
        raise problem("bad_range", f"{op.where}.count", "the sheet does not reach as far")
    _refuse_protected(edit, "insert", axis, op.where)
    shift = LineShift(axis, at, count)
    pattern = _pattern(op, edit, axis, at)
    _refuse_many(edit, shift, pattern, f"{op.where}.count")
    move = _apply(session, edit, shift, pattern, op.where)
    edit = session.edit(name, op.where)
    session.targets.append(Target(name, shift.band, _ALL))
    _touch(session, edit, shift)
    _complete(session, edit, shift, move, op.where)
    written = 0
    if values:
        start = _start(edit, shift)
        ours = replace(op, args={**op.args, "null_cells": "keep"})
        area, written = write_block(session, edit, ours, start, are_rows=axis == "row")
        session.added.append(Added(name, axis, area))
    said = f"{name}: {_lines(axis, at, at + count - 1)} inserted"
    return f"{said}, {written} cell{'' if written == 1 else 's'} written" if written else said


def _delete(session: Session, op: Op, axis: Axis, first: int, last: int) -> str:
    edit = session.edit(str(op.args["sheet"]), op.where)
    name = edit.sheet.name
    if last < first:
        raise problem("bad_range", f"{op.where}.to", "the last one stands before the first")
    shift = LineShift(axis, first, first - last - 1)
    _refuse_protected(edit, "delete", axis, op.where)
    _refuse_locked(session, edit, shift, op.where)
    _apply(session, edit, shift, None, op.where)
    session.targets.append(Target(name, shift.band, frozenset({REMOVED})))
    _touch(session, session.edit(name, op.where), replace(shift, by=1))
    return f"{name}: {_lines(axis, first, last)} deleted"


def _lines(axis: Axis, first: int, last: int) -> str:
    """Return lines in words: `row 5`, `columns C to E`."""
    ends = [str(line) if axis == "row" else column_name(line) for line in (first, last)]
    return f"{axis} {ends[0]}" if first == last else f"{axis}s {ends[0]} to {ends[1]}"


# --- what was asked for ---------------------------------------------------------------------------


def _values(op: Op) -> Sequence[Sequence[Json]]:
    rows = as_list(op.args["values"]) if op.args["values"] is not None else []
    for index, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Sequence):
            what = "a row is a list of values, such as [1, 2]"
            raise problem("bad_type", f"{op.where}.values[{index}]", what)
    return [row for row in rows if isinstance(row, Sequence) and not isinstance(row, str)]


def _count(op: Op, axis: Axis, values: Sequence[Sequence[Json]]) -> int:
    """Return how many lines come: as many as asked for, else as the values need, else one."""
    needed = len(values) if axis == "row" else max(map(len, values), default=0)
    given = op.args["count"]
    if given is None:
        return max(1, needed)
    if not isinstance(given, int) or given < 1:
        raise problem("bad_value", f"{op.where}.count", "counts from 1")
    if needed > given:
        what = f"there are values for {needed} {axis}s, and {given} to insert"
        raise problem("bad_value", f"{op.where}.values", what)
    return given


def _pattern(op: Op, edit: SheetEdit, axis: Axis, at: int) -> int | None:
    """Return the line that inserted ones are to look like."""
    side = op.args["copy_format"]
    before, behind = _SIDES[axis]
    if side not in (before, behind, "none"):
        hints = (before, behind, "none")
        raise problem("bad_value", f"{op.where}.copy_format", "not known", hints)
    if side == "none" or (side == before and at == 1):
        return None
    if side == behind:
        return at
    is_headed = axis == "row" and any(
        table.header_rows and table.area.row1 == at - 1 < table.area.row2 for table in edit.tables
    )
    return at if is_headed else at - 1  # the first row of a table looks like its other rows


def _refuse_protected(edit: SheetEdit, verb: str, axis: Axis, where: str) -> None:
    protection = child(edit.frame.root, "sheetProtection")
    key = f"{verb}{axis.capitalize()}s"
    if edit.frame.protected and protection is not None and truth(protection.get(key), True):
        raise refusal(edit.frame, where, "the sheet is protected against this")


def _refuse_many(edit: SheetEdit, shift: LineShift, pattern: int | None, where: str) -> None:
    """Refuse lines that would bring more cells than a workbook can be given at once."""
    if pattern is None:
        return
    if shift.axis == "row":
        across = sum(len(list(edit.xml.cells(row))) + 1 for row in edit.xml.pick({pattern}))
    else:
        across = sum(1 for _ in edit.xml.iter_rows())
    if across * shift.by > limits.OPS_MAX_LINE_CELLS:
        what = f"at most {limits.OPS_MAX_LINE_CELLS} cells come with inserted lines"
        raise problem("too_large", where, what, ['"copy_format": "none" brings none'])


def _refuse_locked(session: Session, edit: SheetEdit, shift: LineShift, where: str) -> None:
    if edit.frame.protected:
        for place in edit.cells_in(shift.band):
            session.check_writable(edit, *place, where)


# --- doing it -------------------------------------------------------------------------------------


def _apply(
    session: Session, edit: SheetEdit, shift: LineShift, pattern: int | None, where: str
) -> LineMove:
    """Let lines come or go, and every part of the workbook follow."""
    session.flush()
    book, name = session.book, edit.sheet.name
    sheet = book.sheet(name)
    kinds = seats(book)
    found = obstacle(book, sheet, shift, kinds)
    if found is not None:
        raise problem(found.reason, where, found.said)
    stale = _stale(book, name, shift)
    for count, said in removed_things(book, sheet, shift):
        session.warnings.add("content_removed", count, said)
    kept = kept_ranges(book, sheet)
    if kept:
        session.warnings.add("references_kept", len(kept), kept[0])
    move = LineMove.of(book, sheet, shift, pattern, kinds)
    before = book.xml(sheet)
    structure.follow(book, move)
    check_lines(before, book.xml(sheet), shift)
    for link, part in move.gone.items():
        book.package.remove_rel(move.part, link)
        session.made.update(remove_tree(book.package, part))
    recalculation.drop_chain(book)
    book.forget()
    if move.broken.total():
        session.warnings.add("broken_references", move.broken.total(), where=name)
    session.shift(move)
    session.forget_vocabulary()
    for home, places in stale.items():
        session.stale.setdefault(home, set()).update(places)
    return move


def _stale(book: Book, name: str, shift: LineShift) -> dict[str, set[tuple[int, int]]]:
    """Return the formulas, where they are going to be, whose results may become others."""
    found: dict[str, set[tuple[int, int]]] = {}
    if not any(xml.has_formulas for sheet in book.sheets if (xml := book.xml(sheet))):
        return found
    for place in build(book).shaken(name, shift):
        now = (place.row, place.col)
        moved = shift.cell(*now) if place.sheet == name else now
        if moved is not None:
            found.setdefault(place.sheet, set()).add(moved)
    return found


def _touch(session: Session, edit: SheetEdit, shift: LineShift) -> None:
    """Note where to look: the lines as far as the sheet is used."""
    used = edit.used() or Area(1, 1, 1, 1)
    area = shift.band.in_use(used).clip(WHOLE)
    session.touched.setdefault(edit.sheet.name, []).append(area or used)


def _start(edit: SheetEdit, shift: LineShift) -> tuple[int, int]:
    """Return where values of inserted lines begin: with the table they belong to, or the sheet."""
    grown = _grown(edit, shift)
    used = grown[0].area if len(grown) == 1 else edit.used()
    if shift.axis == "row":
        return shift.at, used.col1 if used else 1
    return used.row1 if used else 1, shift.at


def _grown(edit: SheetEdit, shift: LineShift) -> list[Table]:
    """Return the tables that have inserted lines inside them."""
    spans = ((table, shift.along(table.area)) for table in edit.tables)
    return [table for table, (first, last) in spans if first < shift.at and shift.last < last]


def _complete(
    session: Session, edit: SheetEdit, shift: LineShift, move: LineMove, where: str
) -> None:
    """Give tables what their new lines need: headers for columns, formulas for rows."""
    for table in _grown(edit, shift):
        lines = range(shift.at, shift.last + 1)
        if shift.axis == "column":
            for col in lines if table.header_rows else ():
                text = move.columns[table.part][col - table.area.col1]
                edit.set_content(table.area.row1, col, Content("string", text))
            continue
        model = shift.at - 1  # the row above, or below where that is the header
        if model < table.area.row1 + table.header_rows:
            model = shift.last + 1
        formulas = _calculated(session.book, edit, table, model)
        session.count(len(formulas) * len(lines), where)
        for row in lines:
            for col, text in formulas.items():
                edit.set_content(row, col, Content("formula", filled(text, row - model, 0)))


def _calculated(book: Book, edit: SheetEdit, table: Table, row: int) -> dict[int, str]:
    """Return the formulas that a row has in the calculated columns of a table."""
    root = book.package.xml(table.part)
    found: dict[int, str] = {}
    for at, column in enumerate(children(child(root, "tableColumns"), "tableColumn")):
        col = table.area.col1 + at
        cell, text = edit.raw(row, col), edit.formula(row, col)
        is_array = cell is not None and cell.formula is not None and cell.formula.kind == "array"
        if child(column, "calculatedColumnFormula") is not None and text and not is_array:
            found[col] = text
    return found
