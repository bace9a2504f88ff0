"""Dates that are given as text to new rows of a column of dates."""

from __future__ import annotations

import datetime

import openpyxl
import pytest
import xlsxwriter

from backshop.formats.errors import FormatError

from .books import edit, source

DAY = datetime.date(2026, 1, 2)


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "ledger.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        for col, name in enumerate(("Day", "Start", "What", "Code")):
            sheet.write(0, col, name)
        for row in (1, 2):
            sheet.write_datetime(row, 0, DAY, file.add_format({"num_format": "dd.mm.yyyy"}))
            sheet.write_number(row, 1, 0.5, file.add_format({"num_format": "h:mm"}))
            sheet.write(row, 2, "2026-01-02")
            sheet.write(row, 3, 7)
    return path


def row_of(path, row):
    sheet = openpyxl.load_workbook(path)["S"]
    return [(cell.value, cell.number_format) for cell in sheet[row]]


ROW = ["2026-02-03", "08:30", "2026-02-03", "2026-02-03"]
TAKEN = [
    (datetime.datetime(2026, 2, 3), "dd.mm.yyyy"),
    (datetime.time(8, 30), "h:mm"),
    ("2026-02-03", "General"),
    ("2026-02-03", "General"),
]


@pytest.mark.rule("F17.16")
def test_an_iso_date_appended_below_dates_is_a_date_that_looks_like_them(ledger, tmp_path):
    out = tmp_path / "out.xlsx"

    result = edit(source(ledger), out, {"op": "append_rows", "sheet": "S", "values": [ROW, ROW]})

    assert row_of(out, 4) == row_of(out, 5) == TAKEN
    assert result.effects.collateral == ()


@pytest.mark.rule("F17.16", "F35.5")
@pytest.mark.parametrize("row", [2, 3, 4])
def test_an_iso_date_inserted_among_dates_is_a_date(ledger, tmp_path, row):
    out = tmp_path / "out.xlsx"
    op = {"op": "insert_rows", "sheet": "S", "row": row, "values": [ROW], "copy_format": "none"}

    edit(source(ledger), out, op)

    assert row_of(out, row) == TAKEN


@pytest.mark.rule("F17.16")
def test_what_is_no_date_of_the_column_stays_text(ledger, tmp_path):
    out = tmp_path / "out.xlsx"
    rows = [["2026-02-30", "8:30", "x"], ["soon", "2026-02-03", "x"], ["1899-01-01", "25:00", "x"]]

    edit(source(ledger), out, {"op": "append_rows", "sheet": "S", "values": rows})

    found = [[cell[0] for cell in row_of(out, row)][:3] for row in (4, 5, 6)]
    assert found == rows


@pytest.mark.rule("F17.16", "F17.1")
def test_types_of_columns_come_before_their_neighbours(ledger, tmp_path):
    out = tmp_path / "out.xlsx"
    types = ["string", None, "date", "number"]
    values = [["2026-02-03", "08:30", "2026-02-03", "12"]]

    edit(source(ledger), out, {"op": "append_rows", "sheet": "S", "values": values, "types": types})

    assert row_of(out, 4) == [
        ("2026-02-03", "General"),
        (datetime.time(8, 30), "h:mm"),
        (datetime.datetime(2026, 2, 3), "yyyy-mm-dd"),
        (12, "General"),
    ]


@pytest.mark.rule("F35.5")
def test_types_without_values_are_refused(ledger, tmp_path):
    with pytest.raises(FormatError) as caught:
        edit(source(ledger), tmp_path / "out.xlsx",
             {"op": "insert_rows", "sheet": "S", "row": 2, "types": ["date"]})  # fmt: skip

    assert caught.value.reason == "missing_field"


@pytest.mark.rule("F17.16")
def test_a_cell_formatted_as_text_keeps_the_text(ledger, tmp_path):
    looked, out = tmp_path / "looked.xlsx", tmp_path / "out.xlsx"
    as_text = {"op": "set_style", "sheet": "S", "range": "A4", "style": {"number_format": "@"}}
    edit(source(ledger), looked, as_text)

    edit(source(looked), out, {"op": "append_rows", "sheet": "S", "values": [ROW]})

    assert row_of(out, 4)[:2] == [("2026-02-03", "@"), TAKEN[1]]
