"""One formula for a whole range: written for its first cell, moved for the others (F17.14)."""

from __future__ import annotations

import json
from dataclasses import replace

from backshop.base import limits
from backshop.formats.protocol import Op
from backshop.formats.write.operation import problem

from ..book.cell_xml import Content
from ..book.sheet_edit import SheetEdit
from ..book.stylesheet import read_look
from ..syntax.address import Area, cell_name
from ..syntax.formula import leaving, shift
from .cell_operation import area_of, write_cell
from .cell_value import content
from .session import Session


def fill_formula(session: Session, op: Op) -> str:
    """Fill a range with a formula; relative references follow each cell, those with `$` stay."""
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    area = area_of(op.args["range"], f"{op.where}.range", edit)
    _refuse_too_many(edit, area, f"{op.where}.range")
    session.count(area.count, f"{op.where}.range")
    first = _formula(session, op, area)
    look = read_look(op.args["style"], f"{op.where}.style", session.warnings)
    edit.load(range(area.row1, area.row2 + 1))
    places = set(area.cells())
    written = 0
    for place in area.cells():
        merged = edit.frame.merge_at(*place)
        if merged and place != (merged.row1, merged.col1):
            session.warnings.add("merged_skipped", where=cell_name(*place))
            continue
        text = shift(first.text, place[0] - area.row1, place[1] - area.col1)
        at = f"{op.where}.formula in {cell_name(*place)}"
        write_cell(session, edit, place, replace(first, text=text), "formula", look, at, places)
        written += 1
    session.aim(edit, area)
    return f"{edit.sheet.name}!{area} filled with a formula ({written} cells)"


def _formula(session: Session, op: Op, area: Area) -> Content:
    """Return the formula of the first cell, checked for all of them."""
    where = f"{op.where}.formula"
    given = str(op.args["formula"])
    book, names = session.book, session.names
    new = content(given, "formula", where, book.date_1904, session.warnings, names)
    if new.kind != "formula" or new.array:
        cell = {"cell": str(area), "value": given.strip().strip("{}"), "type": "array_formula"}
        call = {"op": "set_cells", "sheet": op.args["sheet"], "cells": [cell]}
        hint = json.dumps(call, ensure_ascii=False)
        raise problem("bad_value", where, "one array formula fills a range by set_cells", [hint])
    beyond = leaving(new.text, area.height - 1, area.width - 1)
    if beyond is not None:
        last = cell_name(area.row2, area.col2)
        raise problem(
            "bad_range",
            where,
            f"{beyond} would leave the sheet on the way to {last}",
            ["$ before a row or column keeps it where it is", "A:A is a whole column"],
        )
    return new


def _refuse_too_many(edit: SheetEdit, area: Area, where: str) -> None:
    if area.count > limits.OPS_MAX_CELLS:
        used = edit.used()
        hints = [str(area.in_use(used))] if used else []
        what = f"the range has more than {limits.OPS_MAX_CELLS} cells"
        raise problem("too_large", where, what, hints)
