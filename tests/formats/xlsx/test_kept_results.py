"""Stored results that a change cannot reach stay; those it reaches are never stale."""

from __future__ import annotations

import pytest
import xlsxwriter
from tests.formats.xlsx.books import book, counts, edit, lines, source


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


def change(made, out, cell, value, sheet="S"):
    wish = {"op": "set_cells", "sheet": sheet, "cells": [{"cell": cell, "value": value}]}
    return edit(made, out, wish)


def results(out, count, sheet="S"):
    """Column E of a sheet, one text per row."""
    return [line.split("\t")[-1] for line in lines(out, sheet=sheet, range=f"E1:E{count}")]


@pytest.mark.rule("F24.2", "F24.14")
def test_results_of_cubes_and_pivot_tables_stay_unless_their_arguments_change(tmp_path, out):
    made = book(
        tmp_path / "a.xlsx",
        (
            "S",
            [
                [1, 2, None, None, '=CUBEVALUE("Sales","[Measures].[Net]",A1)|781'],
                [1, 2, None, None, '=CUBEMEMBER("Sales","[Product].[All]")|5'],
                [1, 2, None, None, '=GETPIVOTDATA("Net",P!$A$3,"Year",A3)|42'],
                [1, 2, None, None, "=E1+1|782"],
            ],
        ),
        ("P", [["x"]]),
    )

    change(made, out, "B1", 9)
    assert results(out, 4) == ["781", "5", "42", "782"]

    change(made, out, "A1", 9)
    shown = results(out, 4)
    assert shown[1:3] == ["5", "42"]
    assert shown[0].startswith("{=CUBEVALUE")
    assert shown[3] == "{=E1+1}"


LED = [
    [1, 10, "B2", 2, "=OFFSET(A1,1,0)|2"],
    [2, 20, "S!B3", None, "=SUM(OFFSET($A$1,0,1,D1,1))|30"],
    [3, 30, "Other", None, "=INDIRECT(C1)|20"],
    [4, 40, None, None, '=INDIRECT("B"&D1+0)|20'],
    [5, 50, None, None, '=SUM(INDIRECT(C3&"!A1:A2"))|3'],
    [6, 60, None, None, "=SUM(OFFSET(Other!A1,0,0,COUNTA(Other!A:A),1))|3"],
    [7, 70, None, None, "=E1+E2|32"],
]


@pytest.fixture
def led(tmp_path):
    return book(tmp_path / "led.xlsx", ("S", LED), ("Other", [[1], [2]]), ("Far", [[0]]))


@pytest.mark.rule("F24.2", "F24.14")
def test_a_change_that_offset_and_indirect_do_not_lead_to_leaves_their_results(led, out):
    stored = ["2", "30", "20", "20", "3", "3", "32"]

    far = change(led, out, "A1", 7, sheet="Far")

    assert results(out, 7) == stored
    assert counts(far)["computed"] == 1  # B&D1+0 leads somewhere that only computing tells

    change(led, out, "A7", 8)
    assert results(out, 7) == stored


@pytest.mark.rule("F24.2", "F24.9", "F24.14")
def test_a_change_that_offset_and_indirect_lead_to_is_computed(led, out):
    change(led, out, "A2", 5)
    assert [results(out, 7)[at] for at in (0, 6)] == ["5", "35"]

    change(led, out, "B2", 21)
    assert [results(out, 3)[at] for at in (1, 2)] == ["31", "21"]

    change(led, out, "C1", "B3")
    assert results(out, 3)[2] == "30"

    change(led, out, "D1", 3)
    assert results(out, 2)[1] == "60"

    change(led, out, "A2", 4, sheet="Other")
    assert results(out, 6)[4:] == ["5", "5"]


@pytest.mark.rule("F24.2", "F24.14")
def test_an_indirect_that_leads_to_a_changed_formula_waits_for_its_new_result(tmp_path, out):
    rows = [[1, "=A1*2|2", None, None, '=INDIRECT("B1")|2'], [1, None, None, None, "=E1*10|20"]]
    made = book(tmp_path / "a.xlsx", ("S", rows))

    change(made, out, "A1", 5)

    assert results(out, 2) == ["10", "100"]


@pytest.mark.rule("F24.2")
def test_a_name_of_the_workbook_itself_is_followed(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write(0, 0, 4)
        sheet.write_formula(0, 4, "=[0]!Rate*2", None, 8)
        file.define_name("Rate", "=S!$A$1")

    change(source(path), out, "A1", 5)

    assert results(out, 1) == ["10"]


@pytest.mark.rule("F24.9")
@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=GCD(A1,A2,A3)", "6"),
        ("=GCD(A1:A3,9)", "3"),
        ("=LCM(A1,A2,A3)", "180"),
        ("=LCM(A1:A3,7)", "1260"),
        ("=XOR(A1>1,A2>1,A3>1)", "TRUE"),
        ("=SUM(COUNTIF(A1:A3,A1:A3))", "1"),  # a plain formula: of the cell in its own row
        ("=SUM(LARGE(A1:A3,A1:A3))", "#NUM!"),
        ("=SUM((A1:A3)*2)", "24"),
        ("=SUM(LEN(A1:A3))", "2"),
        ("=SUM(ROW(A1:A3))", None),
        ('=SUMPRODUCT(--(LEFT(A1:A3)="1"))', "2"),
        ("=PI(3)*A3", None),
    ],
)
def test_a_value_is_right_or_missing_never_wrong(tmp_path, out, formula, value):
    rows = [[12, None, None, None, formula], [18], [29]]
    made = book(tmp_path / "a.xlsx", ("S", rows))

    change(made, out, "A3", 30)

    assert results(out, 1) == [value or "{" + formula + "}"]
