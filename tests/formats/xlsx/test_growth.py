"""Rows appended under a named table become part of it."""

from __future__ import annotations

import pytest
import xlsxwriter
from tests.formats.xlsx.books import edit, lines, members, opened, source

from backshop.formats.errors import FormatError

ROWS = {"op": "append_rows", "sheet": "S", "values": [["c", 30], ["d", 40]]}


def ledger(path, *, total=False, beside=False):
    """A table of items with a calculated column, from B2, and its sum on another sheet."""
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write(0, 0, "title")
        columns = [
            {"header": "Item"},
            {"header": "Amount", **({"total_function": "sum"} if total else {})},
            {"header": "Twice", "formula": "=Ledger[[#This Row],[Amount]]*2"},
        ]
        last = 5 if total else 4
        options = {"name": "Ledger", "columns": columns, "total_row": total}
        sheet.add_table(f"B2:D{last}", {**options, "data": [["a", 10], ["b", 20]]})
        if beside:
            sheet.write(3, 5, "note")
        other = file.add_worksheet("Sum")
        other.write_formula(0, 0, "=SUM(Ledger[Amount])", None, 30)
    return source(path)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


@pytest.mark.rule("F17.12", "F16.14")
def test_appended_rows_belong_to_the_table_above_them(tmp_path, out):
    made = ledger(tmp_path / "a.xlsx")

    done = edit(made, out, ROWS)

    table = opened(out)["S"].tables["Ledger"]
    assert (table.ref, table.autoFilter.ref) == ("B2:D6", "B2:D6")
    assert lines(out, sheet="S", range="B5:D6")[1:] == ["5\tc\t30\t60", "6\td\t40\t80"]
    assert lines(out, sheet="Sum") == ["1\t100"]
    assert done.changes[0][1] == "S!B5:C6 appended (2 rows) to the table Ledger"
    assert done.effects.collateral == ()
    assert "xl/tables/table1.xml" in done.changed_parts


@pytest.mark.rule("F17.12")
def test_two_appends_of_one_call_grow_the_table_twice(tmp_path, out):
    edit(ledger(tmp_path / "a.xlsx"), out, ROWS, {**ROWS, "values": [["e", 50, 7]]})

    assert opened(out)["S"].tables["Ledger"].ref == "B2:D7"
    assert lines(out, sheet="S", range="B7:D7")[1:] == ["7\te\t50\t7"]
    assert lines(out, sheet="Sum")[0] == "1\t150"


@pytest.mark.rule("F17.12")
def test_rows_below_a_totals_row_are_refused_with_the_call_that_writes_them(tmp_path, out):
    with pytest.raises(FormatError) as caught:
        edit(ledger(tmp_path / "a.xlsx", total=True), out, ROWS)

    assert caught.value.reason == "op_conflict"
    assert caught.value.hints[1] == 'set_range with start "B6" writes below it all the same'
    assert not out.exists()


@pytest.mark.rule("F17.12")
def test_a_table_that_does_not_end_the_sheet_is_left_alone(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.add_table("A1:B3", {"name": "Ledger", "data": [["a", 1], ["b", 2]]})
        sheet.write(9, 0, "far below")

    edit(source(path), out, ROWS)

    assert opened(out)["S"].tables["Ledger"].ref == "A1:B3"
    assert members(out)["xl/tables/table1.xml"] == members(path)["xl/tables/table1.xml"]


@pytest.mark.rule("F17.12")
@pytest.mark.parametrize(("filled", "ends"), [(1, 6), (3, 8)])
def test_a_table_that_ends_in_empty_rows_grows_beyond_them(tmp_path, out, filled, ends):
    with xlsxwriter.Workbook(str(tmp_path / "a.xlsx")) as file:
        sheet = file.add_worksheet("S")
        columns = [{"header": "Item"}, {"header": "Amount"}]
        data = [["a", 1]] * (filled - 1)
        sheet.add_table(f"A1:B{filled + 1}", {"name": "New", "columns": columns, "data": data})
        file.add_worksheet("Sum").write_formula(0, 0, "=SUM(New[Amount])", None, filled - 1)
    rows = [["x", 10]] * 5

    edit(source(tmp_path / "a.xlsx"), out, {"op": "append_rows", "sheet": "S", "values": rows})

    assert opened(out)["S"].tables["New"].ref == f"A1:B{ends}"
    assert lines(out, sheet="Sum") == [f"1\t{50 + filled - 1}"]


@pytest.mark.rule("F17.12")
def test_an_appended_row_may_speak_of_its_own_row(tmp_path, out):
    first = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "G1", "value": "=Sum!A1"}]}
    rows = {**ROWS, "values": [["c", 30, "=[@Amount]*3"]]}
    later = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "D5", "value": "=[@Amount]*4"}]}

    edit(ledger(tmp_path / "a.xlsx"), out, first, rows, later)

    assert lines(out, sheet="S", range="B5:D5")[1:] == ["5\tc\t30\t120"]


def warned(done):
    return [(one.count, one.where) for one in done.warnings if one.code == "table_not_extended"]


UNDER = {"op": "set_range", "sheet": "S", "start": "B5", "values": [["c", 30], ["d", 40]]}
CELLS = [{"cell": "B5", "value": "c"}, {"cell": "C6", "value": 40}]


@pytest.mark.rule("F17.13")
@pytest.mark.parametrize(
    "op",
    [
        UNDER,
        {**UNDER, "start": "B4", "values": [["b", 21], ["c", 30], ["d", 40]]},
        {"op": "set_cells", "sheet": "S", "cells": CELLS},
    ],
    ids=["right under", "beyond its end", "cell by cell"],
)
def test_rows_written_under_a_table_are_said_not_to_extend_it(tmp_path, out, op):
    done = edit(ledger(tmp_path / "a.xlsx"), out, op)

    said = "the table Ledger (B2:D4) was not extended by S!B5:C6, written below it: "
    assert warned(done) == [(2, said + "append_rows would have taken the rows in")]
    assert opened(out)["S"].tables["Ledger"].ref == "B2:D4"


@pytest.mark.rule("F17.13")
def test_no_table_is_spoken_of_where_nobody_takes_the_rows_for_its_own(tmp_path, out):
    beside = {**UNDER, "start": "F5"}
    inside = {**UNDER, "start": "B3"}
    apart = {**UNDER, "start": "B6"}
    total = {**UNDER, "start": "B6"}
    emptied = {**UNDER, "values": [[None, None]]}

    for op in (beside, inside, apart, emptied, ROWS):
        assert warned(edit(ledger(tmp_path / "a.xlsx"), out, op)) == []
    assert warned(edit(ledger(tmp_path / "b.xlsx", total=True), out, total)) == []
    edit(ledger(tmp_path / "a.xlsx"), out, UNDER)
    again = {**UNDER, "values": [["changed", 1]]}
    assert warned(edit(source(out), tmp_path / "again.xlsx", again)) == []


@pytest.mark.rule("F17.13")
def test_rows_appended_far_below_a_table_say_where_they_went(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.add_table("A1:B3", {"name": "Ledger", "data": [["a", 1], ["b", 2]]})
        sheet.write(9, 0, "far below")

    done = edit(source(path), out, ROWS)
    under = edit(source(path), tmp_path / "under.xlsx", {**UNDER, "start": "A4"})

    way = "the sheet goes on below the table, so append_rows writes further down"
    far = "the table Ledger (A1:B3) was not extended by S!A11:B12, written below it: "
    near = "the table Ledger (A1:B3) was not extended by S!A4:B5, written below it: "
    assert warned(done) == [(2, far + way)]
    assert warned(under) == [(2, near + way)]
