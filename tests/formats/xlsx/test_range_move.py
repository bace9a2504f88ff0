"""Cutting and pasting: cells, what stands around them, and every reference to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.comments import Comment

from backshop.formats.errors import FormatError

from .books import book, edit, lines, members, opened, sheet_of, source


def move(**fields: Any) -> dict[str, Any]:
    return {"op": "move_range", "sheet": "S", **fields}


def cells(path: Path, area: str, sheet: str = "S") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in opened(path)[sheet][area]]


@pytest.mark.rule("F39.11", "F39.12")
def test_references_follow_and_moved_formulas_stay_as_they_are(tmp_path):
    data = [[1, 2, "=A1+B1|3"], ["=B1*2|4", "=T!A1|8", "=SUM(A1:B1)|3"], [9, "=C1|3", "=A3|9"]]
    others = [["=S!B1*4|8", "=SUM(S!$A$1:$C$1)|6", "=S!A1:A3|0"]]
    base, out = book(tmp_path / "in.xlsx", ("S", data), ("T", others)), tmp_path / "out.xlsx"

    done = edit(base, out, move(range="A1:B2", to="E5"))

    assert cells(out, "E5:F6") == [[1, 2], ["=F5*2", "=T!A1"]]
    assert cells(out, "A1:C3") == [
        [None, None, "=E5+F5"],
        [None, None, "=SUM(E5:F5)"],
        [9, "=C1", "=A3"],
    ]
    assert cells(out, "A1:C1", "T") == [["=S!F5*4", "=SUM(S!$A$1:$C$1)", "=S!A1:A3"]]
    shown = lines(out, sheet="T", range="A1:B1")[-1]
    assert shown == "1\t8\t3"
    assert done.effects.collateral == ()
    assert done.warnings == ()


@pytest.mark.rule("F39.11", "F39.12")
def test_cells_on_another_sheet_are_followed_there(tmp_path):
    data: list[list[Any]] = [[1, "=A1+C1|4", 3], ["=B1|4", "=Here|3"]]
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("S"), file.add_worksheet("T u")
        for at, row in enumerate(data):
            for col, one in enumerate(row):
                text, _, result = str(one).partition("|")
                if text.startswith("="):
                    sheet.write_formula(at, col, text, None, float(result))
                else:
                    sheet.write(at, col, one)
        other.write_formula("A1", "=S!A1", None, 1)
        file.define_name("S!Here", "=S!$C$1")
        file.define_name("First", "=S!$A$1")

    edit(source(path), out, move(range="A1:B2", to_sheet="T u", to="C3"))

    assert cells(out, "C3:D4", "T u") == [[1, "=C3+S!C1"], ["=D3", "=S!Here"]]
    assert cells(out, "A1:A1", "T u") == [["='T u'!C3"]]
    assert opened(out).defined_names["First"].attr_text == "'T u'!$C$3"
    assert cells(out, "A1:B2") == [[None, None]] * 2


@pytest.mark.rule("F39.12")
def test_what_is_put_over_is_lost_to_those_who_read_it(tmp_path):
    data = [[1, 2], ["=B1|2", "=SUM(B1:B3)|2"]]
    base, out = book(tmp_path / "in.xlsx", ("S", data)), tmp_path / "out.xlsx"

    done = edit(base, out, move(range="A1", to="B1"))

    assert cells(out, "A1:B2") == [[None, 1], ["=#REF!", "=SUM(B1:B3)"]]
    assert [(one.code, one.count) for one in done.warnings] == [("broken_references", 1)]
    errors: Any = done.extra["new_errors"]
    assert [one["cell"] for one in errors] == ["A2"]
    assert "1 filled cell replaced" in done.changes[0][1]


@pytest.mark.rule("F39.12")
def test_a_range_whose_last_rows_move_down_reaches_as_far(tmp_path):
    data = [[1], [2], [3], [None], [None], ["=SUM(A1:A3)|6"], ["=SUM(A2:A9)|0"]]
    base, out = book(tmp_path / "in.xlsx", ("S", data)), tmp_path / "out.xlsx"

    edit(base, out, move(range="A3", to="A5"))

    assert cells(out, "A6:A7") == [["=SUM(A1:A5)"], ["=SUM(A2:A9)"]]


@pytest.mark.rule("F39.12")
def test_shared_formulas_are_spelled_out_where_they_part(tmp_path):
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c>'
        '<c r="B1"><f t="shared" ref="B1:B3" si="0">A1*2</f><v>2</v></c></row>'
        '<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/><v>4</v></c></row>'
        '<row r="3"><c r="A3"><v>3</v></c><c r="B3"><f t="shared" si="0"/><v>6</v></c></row>'
    )
    base, out = sheet_of(tmp_path / "in.xlsx", rows), tmp_path / "out.xlsx"

    edit(base, out, move(range="A2", to="D9"))

    assert lines(out, range="B1:B3", cells="formulas")[-3:] == ["1\t=A1*2", "2\t=D9*2", "3\t=A3*2"]
    assert [one.split("\t")[-1] for one in lines(out, range="B1:B3")[-3:]] == ["2", "4", "6"]


@pytest.mark.rule("F39.11", "F39.13")
def test_what_stands_around_the_cells_goes_along(tmp_path):
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        red = file.add_format({"font_color": "red"})
        sheet.write("A1", "x", file.add_format({"bold": True}))
        sheet.merge_range("A2:B2", "wide")
        sheet.write_url("B1", "https://example.org/b")
        sheet.write_comment("A1", "why?")
        sheet.write_comment("E5", "gone")
        sheet.conditional_format("A1:A9", {"type": "formula", "criteria": "=$B1>1", "format": red})
        sheet.data_validation("A1:A2", {"validate": "integer", "criteria": ">", "value": 1})
        chart = file.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$A$1:$B$1"})
        sheet.insert_chart("H20", chart)
        sheet.set_column(7, 7, 8)

    done = edit(source(path), out, move(range="A1:B2", to="E5"))

    found = opened(out)["S"]
    assert (found["E5"].value, found["E5"].font.b, found["A1"].font.b) == ("x", True, False)
    assert [str(one) for one in found.merged_cells.ranges] == ["E6:F6"]
    assert found["F5"].hyperlink.target == "https://example.org/b"
    assert (found["E5"].comment.text, found["A1"].comment) == ("why?", None)
    rules = {str(one.sqref): one.rules[0].formula for one in found.conditional_formatting}
    assert rules == {"A3:A9": ["$B3>1"], "E5:E6": ["$F5>1"]}
    assert [str(one.sqref) for one in found.data_validations.dataValidation] == ["E5:E6"]
    chart_xml = members(out)["xl/charts/chart1.xml"][0]
    assert b"S!$E$5:$F$5" in chart_xml
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.11")
def test_a_table_and_a_filter_move_as_wholes(tmp_path):
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        columns = [{"header": "N"}, {"header": "A"}]
        sheet.add_table("A1:B3", {"name": "T", "data": [["a", 1], ["b", 2]], "columns": columns})
        sheet.write_formula("D1", "=SUM(T[A])+B2", None, 4)
        other = file.add_worksheet("F")
        other.write_row("A1", ["h", "i"])
        other.write_row("A2", [1, 2])
        other.autofilter("A1:B2")
    base = source(path)

    done = edit(
        base, out, move(range="A1:B3", to="C7"), {**move(range="A1:B2", to="B5"), "sheet": "F"}
    )

    found = opened(out)["S"]
    assert (found.tables["T"].ref, found.tables["T"].autoFilter.ref) == ("C7:D9", "C7:D9")
    assert found["D1"].value == "=SUM(T[A])+D8"
    assert opened(out)["F"].auto_filter.ref == "B5:C6"
    assert done.effects.collateral == ()
    for fields in (
        {"range": "A1:B2", "to": "G7"},
        {"range": "G1", "to": "A1"},
        {"range": "A2:B4", "to": "G7"},
    ):
        with pytest.raises(FormatError) as caught:
            edit(base, tmp_path / "no.xlsx", move(**fields))
        assert caught.value.reason == "op_conflict", fields
    edit(base, out, move(range="A2:B2", to="G7"))


@pytest.mark.rule("F39.11")
def test_what_would_be_torn_is_refused(tmp_path):
    made = openpyxl.Workbook()
    sheet = made.create_sheet("S", 0)
    made.create_sheet("T")
    sheet["A1"], sheet["A1"].comment = 1, Comment("n", "me")
    sheet.merge_cells("B2:C2")
    made.save(tmp_path / "in.xlsx")
    base = source(tmp_path / "in.xlsx")
    wrong = [
        ({"range": "B2", "to": "F9"}, "op_conflict"),
        ({"range": "A1", "to": "C2"}, "op_conflict"),
        ({"range": "A1", "to_sheet": "T", "to": "A1"}, "op_conflict"),
        ({"range": "A1:B1", "to": "XFD1"}, "bad_range"),
        ({"range": "A1", "to": "B5:C5"}, "bad_range"),
        ({"range": "A1", "to_sheet": "U", "to": "B5"}, "unknown_sheet"),
    ]

    for fields, reason in wrong:
        with pytest.raises(FormatError) as caught:
            edit(base, tmp_path / "out.xlsx", move(**fields))
        assert caught.value.reason == reason, fields


@pytest.mark.rule("F39.11", "F16.4")
def test_a_move_works_with_what_else_the_call_does(tmp_path):
    base = book(tmp_path / "in.xlsx", ("S", [[1, "=A1|1"], [2, "=A2|2"]]))
    out = tmp_path / "out.xlsx"

    done = edit(
        base,
        out,
        {
            "op": "set_cells",
            "sheet": "S",
            "cells": [{"cell": "A1", "value": 5}, {"cell": "C1", "value": "=A1+1"}],
        },
        move(range="A1:A2", to="F1"),
        {"op": "insert_rows", "sheet": "S", "row": 2},
    )

    assert cells(out, "B1:C3") == [["=F1", "=F1+1"], [None, None], ["=F3", None]]
    assert [one.split("\t")[1:] for one in lines(out, range="B1:C1")[-1:]] == [["5", "6"]]
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.12")
def test_whole_rows_and_columns_stay_when_their_first_cell_moves_along_them(tmp_path):
    others = [["=SUM(S!2:2)|6", "=SUM(S!A:A)|5", "=SUM(S!1:3)|6", "=SUM(S!A2:C2)|6"]]
    data = [["x"], [1, 2, 3], [4]]
    base, out = book(tmp_path / "in.xlsx", ("S", data), ("T", others)), tmp_path / "out.xlsx"

    edit(base, out, move(range="A2", to="H2"))

    assert cells(out, "A1:D1", "T")[0] == others_after("=SUM(S!A2:C2)")
    assert lines(out, sheet="T") == ["1\t6\t4\t10\t5"]
    edit(base, out, move(range="A1:A2", to="A8"))
    assert cells(out, "A1:C1", "T")[0] == others_after()


def others_after(*more: str) -> list[str]:
    return ["=SUM(S!2:2)", "=SUM(S!A:A)", "=SUM(S!1:3)", *more]
