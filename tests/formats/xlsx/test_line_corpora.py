"""Lines inserted into and deleted from every workbook others made: nothing else changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backshop.formats import xlsx
from backshop.formats.errors import REASONS, FormatError
from backshop.formats.package.package import Package
from backshop.formats.protocol import Selector
from backshop.formats.xlsx.book.array import spread_formulas
from backshop.formats.xlsx.book.workbook import Book

from ..rates import Rate
from .books import differing, edit, mapped, opened, source
from .test_corpora import workbooks

pytestmark = [pytest.mark.needs("corpora"), pytest.mark.timeout(900)]
REFUSED = {"sheet_protected", "macro_enabled_read_only", "signed_document", "op_conflict"}


def operations(sheet: Any, part: int = 2) -> list[dict[str, Any]]:
    """Return an insertion and a deletion of rows and of columns behind a part of a sheet."""
    used = sheet["used_range"] or {"min_row": 1, "max_row": 4, "min_col": 1, "max_col": 4}
    row = used["min_row"] + (used["max_row"] - used["min_row"]) // part + 1
    col = used["min_col"] + (used["max_col"] - used["min_col"]) // part + 1
    ops: list[dict[str, Any]] = [
        {"op": "insert_rows", "row": row, "count": 2},
        {"op": "delete_rows", "from": row},
        {"op": "insert_columns", "column": col, "count": 2},
        {"op": "delete_columns", "from": col},
    ]
    return [{"sheet": sheet["name"], **op} for op in ops]


def first_sheet(path: Path) -> Any:
    """Return the first worksheet of a workbook, None when it cannot be read."""
    try:
        sheets = mapped(source(path))["sheets"]
    except FormatError as error:
        assert error.reason in REASONS, path.name
        return None
    return next((sheet for sheet in sheets if sheet["kind"] == "worksheet"), None)


def is_read_by_others(path: Path) -> bool:
    """Whether openpyxl opens a workbook."""
    try:
        opened(path)
    except Exception:  # it fails in many ways on what others wrote
        return False
    return True


@pytest.mark.rule("F35.1", "F35.7", "F16.14", "F23.1", "F23.4", "F23.8")
def test_lines_come_and_go_in_every_workbook_and_nothing_else_changes(
    corpora, tmp_path, scaled, record_property
):
    out = tmp_path / "out.xlsx"
    rate, done = Rate("lines of workbooks"), Counter[str]()
    for number, path in enumerate(workbooks(corpora, scaled(60, 1))):
        sheet = first_sheet(path)
        if sheet is None:
            continue
        ops = operations(sheet)
        for op in ops if scaled(0, 1) else [ops[number % len(ops)]]:
            out.unlink(missing_ok=True)
            try:
                result = edit(source(path), out, op)
            except FormatError as error:
                assert error.reason in REFUSED, (path.name, op, error)
                assert not out.exists(), (path.name, op)
                rate.refuse(error)
                continue
            assert result.effects.collateral == (), (path.name, op)
            assert differing(path, out) == set(result.changed_parts), (path.name, op)
            xlsx.get_map(source(out))
            xlsx.read(source(out), Selector(sheet=sheet["name"]))
            assert is_read_by_others(out) or not is_read_by_others(path), (path.name, op)
            done[op["op"]] += 1
            rate.edited += 1

    rate.record(record_property)
    assert len(done) == 4
    assert rate.edited > rate.refused.total() * 10


Held = tuple[dict[tuple[str, int, int], str], list[tuple[str, str]]]


def held(path: Path) -> Held:
    """Return what cells hold, formulas without their results, and the names."""
    book = Book(Package.open(source(path)))
    cells = {}
    for sheet in book.sheets:
        xml = book.xml(sheet)
        if xml is None:
            continue
        results = {place for area, _ in spread_formulas(xml) for place in area.cells()}
        for row in xml.iter_rows():
            for cell in xml.cells(row):
                formula, value = book.formula(cell, xml), book.value(cell)
                if formula is not None:
                    cells[sheet.name, cell.row, cell.col] = f"={formula}"
                elif value.kind != "blank" and (cell.row, cell.col) not in results:
                    cells[sheet.name, cell.row, cell.col] = value.text
    return cells, [(name.name, name.refers_to) for name in book.names]


@pytest.mark.rule("F35.1", "F35.2", "F35.3")
def test_lines_inserted_and_deleted_again_leave_formulas_values_and_names_as_they_were(
    corpora, tmp_path, scaled, record_property
):
    out = tmp_path / "out.xlsx"
    rate = Rate("lines of workbooks, there and back")
    for path in workbooks(corpora, scaled(120, 1)):
        sheet = first_sheet(path)
        if sheet is None:
            continue
        for there, back in ((0, 1), (2, 3)):
            ops = operations(sheet)
            line = int(ops[there].get("row") or ops[there]["column"])
            undo = {"op": ops[back]["op"], "sheet": sheet["name"], "from": line, "to": line + 1}
            try:
                edit(source(path), out, ops[there], undo)
            except FormatError as error:
                assert error.reason in REFUSED, (path.name, error)
                rate.refuse(error)
                continue
            assert held(out) == held(path), (path.name, ops[there])
            rate.edited += 1

    rate.record(record_property)
    assert rate.edited
