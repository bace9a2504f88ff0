"""Totals per category over several sheets, in exact decimal arithmetic (F17.8)."""

from __future__ import annotations

import sys
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce

from backshop.formats.errors import fail
from backshop.formats.protocol import Op
from backshop.formats.write.operation import as_list, problem

from ..book.array import Unshown
from ..book.cell_xml import EMPTY, Content
from ..book.sheet_edit import SheetEdit
from ..book.survey import islands
from ..syntax.address import cell_name, parse_column
from .cell_value import content
from .session import Session
from .settlement import settle
from .sheet_operation import unmerge_all
from .table_header import renamed_header

_CENTS = Decimal("0.01")
# all places from the largest float to the last digit of the smallest, and room for carries
_EXACT = Context(prec=700, rounding=ROUND_HALF_UP)
_LARGEST = Decimal(repr(sys.float_info.max))
Totals = dict[str, Decimal]


def summarize_by_category(session: Session, op: Op) -> str:
    """Replace a sheet's content with one row of totals per category."""
    names = _sources(op)
    category = _column(op, "category_col")
    amount = _column(op, "amount_col")
    header = content(
        op.args["category_header"],
        "string",
        f"{op.where}.category_header",
        session.book.date_1904,
        session.warnings,
    )
    settle(session, names)
    totals = []
    for index, name in enumerate(names):
        source = session.edit(name, f"{op.where}.source_sheets[{index}]")
        totals.append(_totals(session, source, category, amount))
    titles = [session.book.sheet(name).name for name in names]
    target = session.edit_or_name(str(op.args["sheet"]), op.where)
    rows = [[header]]
    rows[0] += [Content("string", f"{title}_Total") for title in titles]
    rows[0].append(Content("string", "Grand_Total"))
    for key in sorted({key for found in totals for key in found}):
        amounts = [found.get(key, Decimal(0)) for found in totals]
        row = [Content("string", key)]
        amounts.append(reduce(_EXACT.add, amounts))
        row += [Content("number", _money(value, op.where)) for value in amounts]
        rows.append(row)
    _replace(session, target, rows, op.where)
    return f"{target.sheet.name}: {len(rows) - 1} categories of {len(names)} sheets summed"


def _sources(op: Op) -> list[str]:
    names = as_list(op.args["source_sheets"])
    if not names:
        raise problem("missing_field", f"{op.where}.source_sheets", "at least one sheet is needed")
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise problem("bad_type", f"{op.where}.source_sheets[{index}]", "must be text")
    return [str(name) for name in names]


def _column(op: Op, key: str) -> int:
    col = parse_column(op.args[key])
    if col is None:
        raise problem("bad_range", f"{op.where}.{key}", "this is no column: a letter or 1 to 16384")
    return col


def _totals(session: Session, edit: SheetEdit, category: int, amount: int) -> Totals:
    totals: Totals = {}
    used = edit.used()
    if used is None:
        return totals
    first = _first_data_row(edit, category, amount)
    edit.load(range(first, used.row2 + 1))
    unshown = Unshown(session.book, edit.xml)
    skipped, uncached = 0, []
    for row in range(first, used.row2 + 1):
        label = edit.value(row, category)
        key = label.text.strip()
        if label.kind == "blank" or not key:
            continue
        raw = edit.raw(row, amount)
        if raw is not None and (session.book.is_uncached(raw) or unshown.formula(raw) is not None):
            uncached.append(cell_name(row, amount))
            continue
        value = edit.value(row, amount)
        if value.kind != "number" or value.number is None:
            skipped += 1
            continue
        totals[key] = _EXACT.add(totals.get(key, Decimal(0)), Decimal(repr(value.number)))
    if uncached:
        raise fail(
            "uncached_formula",
            "amounts are formulas whose results are not stored in the file",
            detail=edit.sheet.name,
            hints=uncached,
        )
    if skipped:
        session.warnings.add("non_numeric_amounts", skipped, where=edit.sheet.name)
    return totals


def _first_data_row(edit: SheetEdit, category: int, amount: int) -> int:
    blocks, _ = islands(edit.book, edit.xml, edit.survey)
    for block in blocks:
        inside = block.area.col1 <= category <= block.area.col2
        if block.header_row and inside and block.area.col1 <= amount <= block.area.col2:
            return block.header_row + 1
    return 2


def _money(value: Decimal, where: str) -> str:
    if value.copy_abs() > _LARGEST:
        raise problem("bad_value", where, "a sum is larger than a cell can hold")
    return format(value.quantize(_CENTS, context=_EXACT), "f")


def _replace(session: Session, edit: SheetEdit, rows: list[list[Content]], where: str) -> None:
    unmerge_all(session, edit, where)
    used = edit.used()
    session.count(sum(len(row) for row in rows), where)
    for place in edit.cells_in(used) if used else []:
        session.check_writable(edit, *place, where)
        renamed_header(edit.tables, place, EMPTY, where)
        edit.set_content(*place, EMPTY)
    for i, row in enumerate(rows):
        for j, new in enumerate(row):
            session.check_writable(edit, i + 1, j + 1, where)
            edit.set_content(i + 1, j + 1, new)
    from_here = edit.used()
    if from_here:
        session.aim(edit, from_here.join(used) if used else from_here)
