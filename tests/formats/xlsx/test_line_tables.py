"""Named tables around inserted and deleted lines: they grow, shrink, go, or refuse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import xlsxwriter

from .books import edit, lines, members, opened, source
from .test_lines import do, part, refused, rewritten, told

TABLE = "xl/tables/table1.xml"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


@pytest.fixture
def table(tmp_path):
    """A table B2:E6 with a calculated column and totals, and formulas that use it."""
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.add_table(
            "B2:E6",
            {
                "name": "T",
                "total_row": True,
                "data": [["a", 1, 2], ["b", 3, 4], ["c", 5, 6]],
                "columns": [
                    {"header": "Item"},
                    {"header": "One", "total_function": "sum"},
                    {"header": "Column1"},
                    {"header": "Both", "formula": "=T[[#This Row],[One]]+T[[#This Row],[Column1]]"},
                ],
            },
        )
        sheet.write_formula("H1", "=SUM(T[One])", None, 9)
        sheet.write_formula("H2", "=SUM(T[[One]:[Column1]])", None, 21)
        sheet.write_formula("H3", "=COUNTA(T)", None, 12)
    return source(path)


def formulas(path: Path, *cells: str) -> list[object]:
    sheet = opened(path)["S"]
    return [sheet[cell].value for cell in cells]


@pytest.mark.rule("F35.6", "F35.5")
def test_rows_inserted_inside_a_table_belong_to_it(table, out):
    done = do(table, out, "insert_rows", sheet="S", row=3, values=[["new", 10]])

    xml = part(out, TABLE)
    assert 'ref="B2:E7"' in xml
    assert 'ref="B2:E6"' in re.findall(r"<autoFilter[^>]*>", xml)[0]
    assert lines(out, sheet="S", range="B3:E4", cells="formulas")[-2:] == [
        "3\tnew\t10\t\t=T[[#This Row],[One]]+T[[#This Row],[Column1]]",
        "4\ta\t1\t2\t=T[[#This Row],[One]]+T[[#This Row],[Column1]]",
    ]
    assert formulas(out, "H1") == ["=SUM(T[One])"]
    assert lines(out, sheet="S", range="H1:H1") == ["1\t19"]
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.6")
def test_columns_inserted_inside_a_table_get_headers_of_their_own(table, out):
    done = do(table, out, "insert_columns", sheet="S", column="D", count=2)

    xml = part(out, TABLE)
    names = re.findall(r'<tableColumn id="(\d+)" name="([^"]+)"', xml)
    assert 'ref="B2:G6"' in xml
    assert [name for _, name in names] == ["Item", "One", "Column2", "Column3", "Column1", "Both"]
    assert len({number for number, _ in names}) == 6
    assert formulas(out, "D2", "E2", "F2") == ["Column2", "Column3", "Column1"]
    assert done.effects.collateral == ()
    assert ("cell", "S!D2", "value") in told(done)


@pytest.mark.rule("F35.6", "F17.11")
def test_a_header_given_with_inserted_columns_names_the_column(table, out):
    do(table, out, "insert_columns", sheet="S", column="D", values=[["Tax"], [0.1], [0.2]])

    names = re.findall(r'<tableColumn id="\d+" name="([^"]+)"', part(out, TABLE))
    assert names == ["Item", "One", "Tax", "Column1", "Both"]
    assert formulas(out, "D2", "D3", "D4") == ["Tax", 0.1, 0.2]


@pytest.mark.rule("F35.6", "F35.2")
def test_a_deleted_column_leaves_the_table_and_its_references_break(table, out):
    done = do(table, out, "delete_columns", sheet="S", **{"from": "C"})

    xml = part(out, TABLE)
    assert re.findall(r'<tableColumn id="\d+" name="([^"]+)"', xml) == ["Item", "Column1", "Both"]
    assert 'ref="B2:D6"' in xml
    assert '<tableColumns count="3">' in xml
    assert "#REF!+T[[#This Row],[Column1]]" in xml
    assert formulas(out, "G1", "G2", "G3", "D3") == [
        "=SUM(#REF!)",
        "=SUM(T[[Column1]:[Column1]])",
        "=COUNTA(T)",
        "=#REF!+T[[#This Row],[Column1]]",
    ]
    assert done.effects.collateral == ()
    assert [w.code for w in done.warnings] == ["broken_references"]


@pytest.mark.rule("F35.6")
@pytest.mark.parametrize("lost", [{"from": 2}, {"from": 1, "to": 3}, {"from": 3, "to": 5}])
def test_a_table_does_not_lose_its_header_or_all_its_rows(table, out, lost):
    error = refused(table, out, "delete_rows", sheet="S", **lost)

    assert (error.reason, "T (B2:E6)" in error.message) == ("op_conflict", True)


@pytest.mark.rule("F35.6")
def test_the_totals_row_may_go(table, out):
    do(table, out, "delete_rows", sheet="S", **{"from": 6})

    assert "totalsRowCount" not in part(out, TABLE)
    assert 'ref="B2:E5"' in part(out, TABLE)


@pytest.mark.rule("F35.6")
def test_a_table_goes_with_all_of_its_rows(table, out):
    done = do(table, out, "delete_rows", sheet="S", **{"from": 2, "to": 6})

    assert TABLE not in members(out)
    assert "tablePart" not in part(out, "xl/worksheets/sheet1.xml")
    assert formulas(out, "H1") == ["=SUM(#REF!)"]
    assert ("content_removed", "S: the table T") in [(w.code, w.where) for w in done.warnings]
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.6")
def test_rows_beside_a_table_do_not_change_it(table, out):
    do(table, out, "insert_rows", sheet="S", row=7)
    assert part(out, TABLE) == part(table.path, TABLE)
    do(table, out, "insert_rows", sheet="S", row=1, count=3)
    assert 'ref="B5:E9"' in part(out, TABLE)


@pytest.mark.rule("F35.6", "F17.12")
def test_a_table_that_grew_in_the_same_call_is_known(table, tmp_path, out):
    plain = tmp_path / "plain.xlsx"
    do(table, plain, "delete_rows", sheet="S", **{"from": 6})

    done = edit(
        source(plain),
        out,
        {"op": "append_rows", "sheet": "S", "values": [["d", 7, 8]]},
        {"op": "insert_rows", "sheet": "S", "row": 4},
    )

    assert 'ref="B2:E7"' in part(out, TABLE)
    assert done.effects.collateral == ()


@pytest.mark.rule("F35.6")
def test_the_columns_of_a_query_are_not_changed(table, out):
    made = rewritten(table.path, TABLE, ('name="T"', 'tableType="queryTable" name="T"'))

    assert refused(made, out, "insert_columns", sheet="S", column="C").reason == "op_conflict"
    do(made, out, "insert_rows", sheet="S", row=4)


@pytest.mark.rule("F35.6")
def test_a_filter_that_hides_rows_by_a_column_keeps_the_column(table, out):
    hidden = '<filterColumn colId="1"><filters><filter val="1"/></filters></filterColumn>'
    made = rewritten(
        table.path,
        TABLE,
        ('<autoFilter ref="B2:E5"/>', f'<autoFilter ref="B2:E5">{hidden}</autoFilter>'),
    )

    error = refused(made, out, "delete_columns", sheet="S", **{"from": "C"})
    assert (error.reason, "column C" in error.message) == ("op_conflict", True)
    do(made, out, "delete_columns", sheet="S", **{"from": "B"})
    assert '<autoFilter ref="B2:D5"><filterColumn colId="0">' in part(out, TABLE)
