"""Named tables: added, changed and turned back into ranges; Excel's rules kept, nothing else."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.worksheet.protection import SheetProtection

from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Source

from .books import book, differing, edit, mapped, opened, source

SALES: list[list[Any]] = [
    ["Region", "Orders", "Price"],
    ["North", 3, 2.5],
    ["South", 5, 4],
    ["West", 7, 1],
]
SHEET, TABLE = "xl/worksheets/sheet1.xml", "xl/tables/table1.xml"
ADD = {"op": "add_table", "sheet": "Sales", "range": "A1:C4", "name": "Orders"}
BOOKKEEPING = {"[Content_Types].xml", "xl/worksheets/_rels/sheet1.xml.rels"}


@pytest.fixture
def sales(tmp_path) -> Source:
    return book(tmp_path / "in.xlsx", ("Sales", SALES), ("Other", [["x"]]))


@pytest.fixture
def run(tmp_path):
    """Return what carries operations out, and gives the file after and what was said."""
    count = iter(range(100))

    def make(base: Source, *operations: Any) -> tuple[Source, Any]:
        out = tmp_path / f"out{next(count)}.xlsx"
        return (
            source(out) if (said := edit(base, out, *operations)) is None else (source(out), said)
        )

    return make


def part(of: Source, name: str) -> str:
    with zipfile.ZipFile(of.path) as file:
        return file.read(name).decode()


def cell(*pairs: Any, sheet: str = "Other") -> dict[str, Any]:
    return {
        "op": "set_cells",
        "sheet": sheet,
        "cells": [{"cell": place, "value": value} for place, value in pairs],
    }


def value(of: Source, sheet: str, place: str) -> Any:
    """What a formula shows."""
    return openpyxl.load_workbook(of.path, data_only=True)[sheet][place].value


def formula(of: Source, sheet: str, place: str) -> Any:
    return opened(of.path)[sheet][place].value


def refused(run, base: Source, *operations: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        run(base, *operations)
    return caught.value


def rewritten(of: Source, out: Path, changes: dict[str, Any]) -> Source:
    """Write a workbook again with parts changed (from, to) or added (text)."""
    with zipfile.ZipFile(of.path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if isinstance(found := changes.get(name), tuple):
                assert found[0].encode() in data, name
                data = data.replace(found[0].encode(), found[1].encode())
            new.writestr(name, data)
        for name, found in changes.items():
            if isinstance(found, str):
                new.writestr(name, found)
    return source(out)


# --- coming ---------------------------------------------------------------------------------------


@pytest.mark.rule("F37.1", "F23.2", "F23.3")
def test_a_table_comes_with_its_part_and_nothing_else(sales, run):
    made, said = run(sales, ADD)

    assert differing(sales.path, made.path) == {TABLE, SHEET, *BOOKKEEPING}
    assert not said.effects.collateral
    table = opened(made.path)["Sales"].tables["Orders"]
    assert (table.ref, table.autoFilter.ref, table.id) == ("A1:C4", "A1:C4", 1)
    assert [one.name for one in table.tableColumns] == SALES[0]
    assert table.tableStyleInfo.name == "TableStyleMedium2"
    before, after = part(sales, SHEET), part(made, SHEET)
    assert re.sub(r"<tableParts.*?</tableParts>", "", after) == before
    told = [(one.kind, one.where, one.aspect) for one in said.effects.changed]
    assert ("table", "Sales!Orders", "added") in told
    assert mapped(made)["sheets"][0]["tables"] == [{"name": "Orders", "range": "A1:C4"}]


@pytest.mark.rule("F37.1")
def test_the_table_is_named_between_drawings_and_extensions_of_the_sheet(tmp_path, run):
    path = tmp_path / "x.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Sales")
        for at, row in enumerate(SALES):
            sheet.write_row(at, 0, row)
        sheet.write_comment("A1", "note")
        sheet.add_sparkline("F2", {"range": "Sales!B2:C2"})
        sheet.add_table("H1:I3", {"name": "Known"})

    made, _ = run(source(path), ADD, {**ADD, "range": "K1:L3", "name": "More"})

    text = part(made, SHEET)
    assert text.index("<legacyDrawing") < text.index("<tableParts") < text.index("<extLst")
    assert '<tableParts count="3">' in text
    assert len(set(re.findall(r'<table [^>]*\bid="(\d+)"', "".join(
        part(made, f"xl/tables/table{number}.xml") for number in (1, 2, 3)
    )))) == 3  # fmt: skip


@pytest.mark.rule("F37.5")
def test_headers_become_unique_texts_and_it_is_said(tmp_path, run):
    head = ["name", "Name", None, 2024, "=1+1|2", True, "two\nlines"]
    base = book(tmp_path / "in.xlsx", ("Sales", [head, [1, 2, 3, 4, 5, 6, 7]]))

    made, said = run(base, {**ADD, "range": "A1:G2"})

    names = ["name", "Name2", "Column1", "2024", "2", "TRUE", "two\nlines"]
    sheet = opened(made.path)["Sales"]
    assert [one.value for one in sheet[1]] == names
    assert [one.name for one in sheet.tables["Orders"].tableColumns] == names
    assert "two_x000a_lines" in part(made, TABLE)
    (warning,) = said.warnings
    assert (warning.code, warning.count) == ("headers_written", 5)
    assert "C1 “Column1” (empty)" in str(warning.where)
    assert "D1 “2024” (a number)" in str(warning.where)


@pytest.mark.rule("F37.5")
def test_names_that_are_given_are_written_into_the_header(sales, run):
    made, _ = run(sales, {**ADD, "columns": ["A", "B <&>", "C"]})

    sheet = opened(made.path)["Sales"]
    assert [one.value for one in sheet[1]] == ["A", "B <&>", "C"]
    assert [one.name for one in sheet.tables["Orders"].tableColumns] == ["A", "B <&>", "C"]
    for wrong in (
        ["A", "B"],
        ["A", "a", "C"],
        ["A", "", "C"],
        ["A", 1, "C"],
        ["A", "x" * 256, "C"],
    ):
        assert refused(run, sales, {**ADD, "columns": wrong}).reason in ("bad_value", "bad_type")


@pytest.mark.rule("F37.5")
def test_a_range_without_header_row_is_a_table_without_one(tmp_path, run):
    base = book(tmp_path / "in.xlsx", ("Sales", [[1, 2], [3, 4]]))
    made, _ = run(base, {**ADD, "range": "A1:B2", "header": False}, cell(
        ("D1", "=SUM(Orders[Column2])"), sheet="Sales"))  # fmt: skip

    assert 'headerRowCount="0"' in part(made, TABLE)
    assert "autoFilter" not in part(made, TABLE)
    assert value(made, "Sales", "D1") == 6


@pytest.mark.rule("F37.2")
def test_a_column_of_one_formula_is_a_calculated_one_and_goes_on(tmp_path, run):
    rows = [["a", "b"], [1, "=A2*2|2"], [2, "=A3*2|4"]]
    base = book(tmp_path / "in.xlsx", ("Sales", rows))
    append = {"op": "append_rows", "sheet": "Sales", "values": [[5]]}

    made, _ = run(base, {**ADD, "range": "A1:B3"}, append)

    assert "<calculatedColumnFormula>A2*2</calculatedColumnFormula>" in part(made, TABLE)
    assert opened(made.path)["Sales"].tables["Orders"].ref == "A1:B4"
    assert value(made, "Sales", "B4") == 10


@pytest.mark.rule("F37.8", "F24.2")
def test_formulas_may_name_a_table_as_soon_as_it_is_there(sales, run):
    made, said = run(
        sales, ADD, cell(("A1", "=SUM(Orders[Price])"), ("A2", "=ROWS(Orders[[#All],[Price]])"),
                         ("A3", "=ROWS(Orders[[#Headers],[#Data]])")),
    )  # fmt: skip

    assert [value(made, "Other", place) for place in ("A1", "A2", "A3")] == [7.5, 4, 4]
    assert said.extra["recalculated"]["not_computed"] == 0


@pytest.mark.rule("F37.3")
@pytest.mark.parametrize(
    "name",
    ["A1", "XFD1048576", "r", "C", "R1C1", "r12", "two words", "1st", "", "a-b", "x" * 256,
     "_xlnm.Print", "TRUE", "<a>", "a]b", "a\nb", "naïve!"],
)  # fmt: skip
def test_names_that_excel_does_not_take_are_refused(sales, run, name):
    error = refused(run, sales, {**ADD, "name": name})

    assert error.reason == "bad_value"
    assert str(error.detail).startswith("operations[0].name")
    for hint in error.hints:
        run(sales, {**ADD, "name": hint})


@pytest.mark.rule("F37.3")
def test_names_that_are_taken_are_refused_whatever_their_case(tmp_path, run):
    path = tmp_path / "x.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Sales")
        sheet.write_row(0, 0, ["a", "b"])
        sheet.add_table("H1:I3", {"name": "Known"})
        file.define_name("Rate", "=Sales!$A$1")
        file.define_name("Sales!Own", "=Sales!$A$1")
    for name in ("known", "RATE", "own"):
        assert refused(run, source(path), {**ADD, "range": "A1:B2", "name": name}).reason == (
            "name_conflict"
        )
    made, _ = run(source(path), {"op": "add_table", "sheet": "Sales", "range": "A1:B2"})
    assert set(opened(made.path)["Sales"].tables) == {"Known", "Table1"}


@pytest.mark.rule("F37.4")
def test_places_where_no_table_can_be_are_refused_with_the_reason(tmp_path, run):
    path = tmp_path / "x.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Sales")
        sheet.add_table("A1:B3", {"name": "Known"})
        sheet.merge_range("D1:E1", "merged")
        sheet.write_array_formula("G2:G3", "{=ROW(A1:A2)}")
        sheet.write_dynamic_array_formula("I2:I3", "=ROW(A1:A2)")
        sheet.autofilter("K1:L3")
    base = source(path)

    def reason(area: str) -> tuple[str, str]:
        error = refused(run, base, {"op": "add_table", "sheet": "Sales", "range": area})
        return error.reason, str(error.detail)

    assert reason("B3:C5") == (
        "op_conflict",
        "operations[0].range: the table Known is there already (A1:B3)",
    )
    assert "D1:E1 is merged" in reason("D1:D4")[1]
    assert "G2:G3" in reason("G1:G2")[1]
    assert "I2:I3" in reason("I1:I9")[1]
    assert "a filter on K1:L3" in reason("K1:L3")[1]
    assert reason("A9:B9")[0] == "bad_range"
    assert reason("nowhere")[0] == "bad_range"
    assert reason("P:Q")[0] == "bad_range"


@pytest.mark.rule("F37.4", "F40.16")
def test_a_protected_sheet_keeps_its_tables(tmp_path, run):
    made, _ = run(book(tmp_path / "in.xlsx", ("Sales", SALES)), ADD)
    file = opened(made.path)
    file["Sales"].protection = SheetProtection(sheet=True)
    file.save(tmp_path / "locked.xlsx")
    locked = source(tmp_path / "locked.xlsx")

    for op in (
        {**ADD, "range": "F1:G3", "name": "More"},
        {"op": "change_table", "table": "Orders", "style": "none"},
        {"op": "delete_table", "table": "Orders"},
    ):
        assert refused(run, locked, op).reason == "sheet_protected"


# --- totals ---------------------------------------------------------------------------------------


@pytest.mark.rule("F37.7")
def test_a_totals_row_says_the_same_in_its_cells_and_in_the_table(sales, run):
    totals = [
        {"column": "Orders", "function": "average"},
        {"column": "C", "formula": "=SUM([Price])/2"},
    ]
    made, said = run(sales, {**ADD, "totals": totals})

    assert [formula(made, "Sales", place) for place in ("A5", "B5", "C5")] == [
        "Total",
        "=SUBTOTAL(101,Orders[Orders])",
        "=SUM(Orders[Price])/2",
    ]
    assert [value(made, "Sales", place) for place in ("B5", "C5")] == [5, 3.75]
    table = opened(made.path)["Sales"].tables["Orders"]
    assert (table.ref, table.autoFilter.ref, table.totalsRowCount) == ("A1:C5", "A1:C4", 1)
    first, second, third = table.tableColumns
    assert (first.totalsRowLabel, second.totalsRowFunction) == ("Total", "average")
    assert (third.totalsRowFunction, third.totalsRowFormula.attr_text) == (
        "custom",
        "SUM(Orders[Price])/2",
    )
    assert not said.effects.collateral
    assert (
        "totals row 5: Region “Total”, Orders average, Price =SUM([Price])/2" in said.changes[0][1]
    )


@pytest.mark.rule("F37.7")
@pytest.mark.parametrize(
    ("word", "code", "shown", "stored"),
    [("sum", 109, 15, "sum"), ("average", 101, 5, "average"), ("count", 103, 3, "count"),
     ("count_numbers", 102, 3, "countNums"), ("max", 104, 7, "max"), ("min", 105, 3, "min"),
     ("stdev", 107, 2, "stdDev"), ("var", 110, 4, "var")],
)  # fmt: skip
def test_every_function_of_a_totals_row(sales, run, word, code, shown, stored):
    made, _ = run(sales, {**ADD, "totals": [{"column": "Orders", "function": word}]})

    assert formula(made, "Sales", "B5") == f"=SUBTOTAL({code},Orders[Orders])"
    assert value(made, "Sales", "B5") == shown
    assert f'totalsRowFunction="{stored}"' in part(made, TABLE)


@pytest.mark.rule("F37.7")
def test_totals_begin_as_in_excel_and_are_remembered_when_taken_off(sales, run):
    on, _ = run(sales, {**ADD, "totals": True}, cell(("A1", "=Orders[[#Totals],[Price]]")))
    off, said = run(on, {"op": "change_table", "table": "Orders", "totals": False})
    again, _ = run(off, {"op": "change_table", "table": "orders", "totals": True})

    assert (value(on, "Sales", "A5"), value(on, "Sales", "C5")) == ("Total", 7.5)
    assert [value(off, "Sales", place) for place in ("A5", "B5", "C5")] == [None] * 3
    assert opened(off.path)["Sales"].tables["Orders"].ref == "A1:C4"
    assert formula(off, "Other", "A1") == "=#REF!"
    assert [(one.code, one.count) for one in said.warnings] == [("broken_references", 1)]
    assert value(again, "Sales", "C5") == 7.5
    assert differing(off.path, again.path) == {TABLE, SHEET}


@pytest.mark.rule("F37.7")
def test_totals_shift_nothing_silently(tmp_path, run):
    base = book(tmp_path / "in.xlsx", ("Sales", [*SALES, [None, "note"]]))

    error = refused(run, base, {**ADD, "totals": True})

    assert (error.reason, str(error.detail)) == (
        "op_conflict",
        "operations[0].totals: the totals row would be row 5, where B5 is filled",
    )
    way = {"op": "insert_rows", "sheet": "Sales", "row": 5}
    assert '"op": "insert_rows"' in error.hints[0]
    made, _ = run(base, way, {**ADD, "totals": True})
    assert value(made, "Sales", "B6") == "note"


@pytest.mark.rule("F37.7", "F17.9")
def test_a_totals_row_below_the_last_row_is_refused(sales, run):
    last = {**ADD, "range": "E1048575:F1048576", "totals": True}

    assert refused(run, sales, last).reason == "bad_range"


@pytest.mark.rule("F37.7")
@pytest.mark.parametrize(
    "totals",
    [7, "yes", [{"column": "Nope", "function": "sum"}], [{"column": "A", "function": "median"}],
     [{"column": "A"}], [{"column": "A", "function": "sum", "label": "x"}],
     [{"column": "A", "formula": "=1+"}], [{"column": "A", "formula": "=WEBSERVICE(1)"}],
     [{"column": "A", "label": ""}], [{"column": "A", "formula": "=UNIQUE([Region])"}],
     [{"column": "A", "label": "x"}, {"column": "Region", "label": "y"}]],
)  # fmt: skip
def test_totals_that_mean_nothing_are_refused_with_their_place(sales, run, totals):
    error = refused(run, sales, {**ADD, "totals": totals})

    assert str(error.detail).startswith("operations[0].totals")


# --- changing -------------------------------------------------------------------------------------


@pytest.mark.rule("F37.8")
def test_a_new_name_is_followed_everywhere(tmp_path, run):
    base = book(tmp_path / "in.xlsx", ("Sales", SALES), ("Other", [["x"]]))
    named, _ = run(base, ADD, cell(("A1", '=SUM(Orders[Price])&"Orders"')))
    named = rewritten(
        named,
        tmp_path / "named.xlsx",
        {"xl/workbook.xml": ("<calcPr", "<definedNames><definedName name=\"P\">Orders[Price]"
                             "</definedName></definedNames><calcPr")},
    )  # fmt: skip

    made, said = run(named, {"op": "change_table", "table": "Orders", "new_name": "Sold"})

    assert formula(made, "Other", "A1") == '=SUM(Sold[Price])&"Orders"'
    assert "Sold[Price]</definedName>" in part(made, "xl/workbook.xml")
    assert value(made, "Other", "A1") == "7.5Orders"
    assert not said.effects.collateral
    assert (
        refused(run, made, {"op": "change_table", "table": "Sold", "new_name": "p"}).reason
        == "name_conflict"
    )


@pytest.mark.rule("F37.8", "F17.11")
def test_columns_may_change_names_with_each_other(sales, run):
    named, _ = run(sales, ADD, cell(("A1", "=SUM(Orders[Price])-SUM(Orders[[Region]:[Orders]])")))
    swap = [{"column": "Price", "name": "Orders"}, {"column": "Orders", "name": "Price"}]

    made, said = run(named, {"op": "change_table", "table": "Orders", "columns": swap})

    assert [one.value for one in opened(made.path)["Sales"][1]] == ["Region", "Price", "Orders"]
    assert formula(made, "Other", "A1") == "=SUM(Orders[Orders])-SUM(Orders[[Region]:[Price]])"
    assert value(made, "Other", "A1") == -7.5
    assert not said.effects.collateral


@pytest.mark.rule("F37.10")
def test_another_range_takes_rows_and_columns_in_and_leaves_some_out(tmp_path, run):
    rows: list[list[Any]] = [[*row, at or None] for at, row in enumerate(SALES)]
    rows.append(["East", 9, 9, 1])
    base = book(tmp_path / "in.xlsx", ("Sales", rows), ("Other", [["x"]]))
    made, _ = run(
        base,
        ADD,
        cell(("A1", "=SUM(Orders[Price])"), ("A2", "=COUNTA(Orders[Region])")),
    )

    grown, said = run(made, {"op": "change_table", "table": "Orders", "range": "A1:D5"})
    shrunk, told = run(grown, {"op": "change_table", "table": "Orders", "range": "B1:D3"})

    assert value(grown, "Other", "A1") == 16.5
    assert value(grown, "Sales", "D1") == "Column1"
    assert said.changes[0][1] == "Sales: table Orders changed (A1:C4 → A1:D5)"
    assert value(shrunk, "Other", "A1") == 6.5
    assert formula(shrunk, "Other", "A2") == "=COUNTA(#REF!)"
    assert [(one.code, one.count) for one in told.warnings] == [("broken_references", 1)]
    assert value(shrunk, "Sales", "A5") == "East"
    names = [one.name for one in opened(shrunk.path)["Sales"].tables["Orders"].tableColumns]
    assert names == ["Orders", "Price", "Column1"]
    assert not said.effects.collateral
    assert not told.effects.collateral


@pytest.mark.rule("F37.10")
def test_ranges_that_a_table_cannot_have_are_refused(sales, run):
    made, _ = run(sales, {**ADD, "totals": True}, {**ADD, "range": "E1:F4", "name": "Next"})

    def reason(area: str) -> str:
        return refused(run, made, {"op": "change_table", "table": "Orders", "range": area}).reason

    assert reason("A2:C5") == "bad_range"
    assert reason("H1:I5") == "bad_range"
    assert reason("A1:C9") == "op_conflict"  # its totals row would move
    assert reason("A1:E5") == "op_conflict"  # another table
    assert reason("A1:C1") == "bad_range"


@pytest.mark.rule("F37.10")
def test_rows_that_are_left_out_name_their_own_row_by_cells(sales, run):
    own = cell(*((f"D{row}", "=[@Price]*2") for row in (2, 3, 4)), sheet="Sales")
    made, _ = run(sales, {**ADD, "range": "A1:D4"}, own)

    shrunk, _ = run(made, {"op": "change_table", "table": "Orders", "range": "A1:D3"})

    assert formula(shrunk, "Sales", "D3") == "=Orders[[#This Row],[Price]]*2"
    assert formula(shrunk, "Sales", "D4") == "=$C4*2"
    assert value(shrunk, "Sales", "D4") == 2


@pytest.mark.rule("F37.6")
def test_style_and_bands_change_alone(sales, run):
    made, _ = run(sales, ADD)

    styled, said = run(
        made,
        {"op": "change_table", "table": "Orders", "style": "light 9", "banded_rows": False},
    )
    bare, _ = run(styled, {"op": "change_table", "table": "Orders", "style": "none"})

    assert differing(made.path, styled.path) == {TABLE}
    info = opened(styled.path)["Sales"].tables["Orders"].tableStyleInfo
    assert (info.name, info.showRowStripes) == ("TableStyleLight9", False)
    assert opened(bare.path)["Sales"].tables["Orders"].tableStyleInfo.name is None
    assert refused(run, made, {"op": "change_table", "table": "Orders", "style": "Light22"}).reason
    told = [(one.kind, one.where, one.aspect) for one in said.effects.changed]
    assert told[0] == ("table", "Sales!Orders", "changed")


@pytest.mark.rule("F37.2")
def test_a_table_that_is_not_there_is_named_with_those_that_are(sales, run):
    made, _ = run(sales, ADD)

    error = refused(run, made, {"op": "delete_table", "table": "Order"})
    assert (error.reason, error.hints) == ("no_match", ("Orders",))
    assert (
        refused(run, made, {"op": "delete_table", "sheet": "Other", "table": "Orders"}).reason
        == "op_conflict"
    )
    assert refused(run, made, {"op": "change_table", "table": "Orders"}).reason == "missing_field"


# --- going ----------------------------------------------------------------------------------------


@pytest.mark.rule("F37.9", "F23.2")
def test_a_table_becomes_a_plain_range_and_references_ordinary_ones(sales, run):
    made, _ = run(
        sales,
        {**ADD, "totals": True},
        cell(("A1", "=SUM(Orders[Price])"), ("A2", "=Orders[[#Totals],[Price]]"),
             ("A3", '=COUNTA(Orders)&"Orders"'),
             ("A4", "=COUNTA(Orders[[#All],[Region]:[Orders]])")),
        cell(("D3", "=Orders[[#This Row],[Orders]]*2"), sheet="Sales"),
    )  # fmt: skip

    plain, said = run(made, {"op": "delete_table", "table": "Orders"})

    assert [formula(plain, "Other", f"A{row}") for row in (1, 2, 3, 4)] == [
        "=SUM(Sales!$C$2:$C$4)",
        "=Sales!$C$5",
        '=COUNTA(Sales!$A$2:$C$4)&"Orders"',
        "=COUNTA(Sales!$A$1:$B$5)",
    ]
    assert formula(plain, "Sales", "D3") == "=$B3*2"
    assert formula(plain, "Sales", "C5") == "=SUBTOTAL(109,$C$2:$C$4)"
    for place in ("A1", "A2", "A3", "A4"):
        assert value(plain, "Other", place) == value(made, "Other", place)
    with zipfile.ZipFile(plain.path) as file:
        assert not [name for name in file.namelist() if "table" in name.lower()]
    assert "table" not in part(plain, "[Content_Types].xml").lower()
    assert not said.effects.collateral
    told = [(one.kind, one.where, one.aspect) for one in said.effects.changed]
    assert [one for one in told if one[0] != "part"] == [("table", "Sales!Orders", "removed")]


@pytest.mark.rule("F37.9")
def test_coming_and_going_again_leaves_the_sheet_as_it_was(sales, run):
    made, _ = run(sales, ADD)
    back, _ = run(made, {"op": "delete_table", "table": "Orders"})

    assert part(back, SHEET) == part(sales, SHEET)
    assert differing(sales.path, back.path) <= {SHEET, *BOOKKEEPING}


@pytest.mark.rule("F37.9")
def test_what_hangs_on_a_table_from_outside_keeps_it(sales, run, tmp_path):
    made, _ = run(sales, ADD)
    drop = {"op": "delete_table", "table": "Orders"}
    grow = {"op": "change_table", "table": "Orders", "range": "A1:C9"}
    queried = rewritten(
        made, tmp_path / "q.xlsx", {TABLE: ('id="1"', 'id="1" tableType="queryTable"')}
    )
    mapped_to = rewritten(
        made,
        tmp_path / "m.xlsx",
        {TABLE: ("/></tableColumns>", '><xmlColumnPr mapId="1" xpath="/a" xmlDataType="string"/>'
                 "</tableColumn></tableColumns>")},
    )  # fmt: skip
    filtered = rewritten(
        made,
        tmp_path / "f.xlsx",
        {TABLE: ('<autoFilter ref="A1:C4"/>', '<autoFilter ref="A1:C4"><filterColumn colId="0">'
                 '<filters><filter val="North"/></filters></filterColumn></autoFilter>')},
    )  # fmt: skip
    sliced = rewritten(
        made,
        tmp_path / "s.xlsx",
        {"xl/slicerCaches/slicerCache1.xml": '<slicerCacheDefinition xmlns="urn:x"><extLst><ext>'
         '<tableSlicerCache tableId="1" column="2"/></ext></extLst></slicerCacheDefinition>'},
    )  # fmt: skip

    assert "a query" in str(refused(run, queried, drop).detail)
    assert "a query" in str(refused(run, queried, grow).detail)
    assert "an XML map" in str(refused(run, mapped_to, drop).detail)
    assert "hides rows" in str(refused(run, filtered, drop).detail)
    assert "a slicer" in str(refused(run, sliced, drop).detail)
    named, _ = run(queried, {"op": "change_table", "table": "Orders", "new_name": "Sold"})
    assert 'tableType="queryTable"' in part(named, TABLE)


# --- what a review says ---------------------------------------------------------------------------


@pytest.mark.rule("F37.11", "B12.22")
def test_a_review_says_what_became_of_a_table(sales, run):
    made, _ = run(sales, ADD)
    other, _ = run(
        made,
        {"op": "change_table", "table": "Orders", "new_name": "Sold", "range": "A1:B4",
         "columns": ["Region", "Pieces"], "style": "none", "totals": True},
    )  # fmt: skip

    def told(one: Source, two: Source) -> list[str]:
        return [str(item["text"]) for item in xlsx.diff_rest(one, two)["rest"]]  # type: ignore

    assert told(sales, made) == [
        "table Orders on sheet Sales added: A1:C4, columns Region, Orders, Price"
    ]
    assert told(made, sales)[0].startswith("table Orders on sheet Sales removed: A1:C4")
    assert told(made, other) == [
        "table Sold on sheet Sales: called Sold (was Orders); A1:C4 → A1:B5; column Orders → "
        "Pieces; columns that went: Price; totals row on; total of column Region: none → “Total”; "
        "total of column Pieces: none → sum; style TableStyleMedium2 → none"
    ]
