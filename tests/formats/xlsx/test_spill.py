"""Formulas that fill several cells: their values, the room they need, and what reads them."""

from __future__ import annotations

from typing import Any

import pytest
import xlsxwriter

from backshop.formats.errors import FormatError

from .books import book, counts, edit, lines, members, opened, sheet_of, source

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


def cells(*items, sheet="S"):
    made = [{"cell": place, "value": value, **more} for place, value, *rest in items
            for more in (rest[0] if rest else {},)]  # fmt: skip
    return {"op": "set_cells", "sheet": sheet, "cells": made}


def rows(path, place):
    return [line.split("\t")[1:] for line in lines(path, range=place)]


@pytest.fixture
def made(tmp_path):
    people = [["Ann", 3, "x"], ["bob", 1, "y"], ["Cid", 2, "x"], ["bob", 5, "x"]]
    return book(tmp_path / "a.xlsx", ("S", people))


@pytest.mark.rule("F24.16")
def test_a_formula_of_many_values_fills_its_neighbours_as_excel_stores_them(made, out):
    done = edit(made, out, cells(("E1", '=SORT(FILTER(A1:B4,C1:C4="x"),2)')))

    assert rows(out, "E1:F3") == [["Cid", "2"], ["Ann", "3"], ["bob", "5"]]
    sheet = members(out)[SHEET][0]
    assert b'<c r="E1" cm="1" t="str"><f t="array" ref="E1:F3">' in sheet
    assert b'<c r="F1"><v>2</v></c>' in sheet
    assert b'<c r="E2" t="str"><v>Ann</v></c>' in sheet
    assert counts(done) == {"computed": 6, "not_computed": 0, "reasons": {}}
    assert done.effects.collateral == ()
    assert opened(out)["S"]["E3"].value == "bob"


@pytest.mark.rule("F24.16")
def test_a_formula_takes_more_room_or_less_when_what_it_reads_changes(made, out, tmp_path):
    edit(made, out, cells(("E1", '=FILTER(A1:A4,C1:C4="x")'), ("H1", "=E4"), ("H2", "=E3")))
    assert rows(out, "E1:E4") == [["Ann"], ["Cid"], ["bob"], []]
    assert rows(out, "H1:H2") == [["0"], ["bob"]]

    wider, less = tmp_path / "wider.xlsx", tmp_path / "less.xlsx"
    more = edit(source(out), wider, cells(("C2", "x")))
    fewer = edit(source(wider), less, cells(("C1", "-"), ("C2", "-"), ("C3", "-")))

    assert rows(wider, "E1:E4") == [["Ann"], ["bob"], ["Cid"], ["bob"]]
    assert rows(wider, "H1:H2") == [["bob"], ["Cid"]]  # what reads a cell that came follows
    assert b'ref="E1:E4"' in members(wider)[SHEET][0]
    assert rows(less, "E1:E4") == [["bob"], [], [], []]
    assert rows(less, "H1:H2") == [["0"], ["0"]]
    assert b'ref="E1"' in members(less)[SHEET][0]
    assert more.effects.collateral == fewer.effects.collateral == ()


@pytest.mark.rule("F24.16", "F24.10")
@pytest.mark.parametrize("way", ["value", "formula", "merge", "table"])
def test_what_is_in_the_way_of_a_formula_is_told_and_kept(tmp_path, out, way):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_column(0, 0, [1, 2, 3])
        if way == "value":
            sheet.write(1, 2, "here")
        elif way == "formula":
            sheet.write_formula(1, 2, "=1", None, 1)
        elif way == "merge":
            sheet.merge_range("C2:D2", "")
        else:
            sheet.add_table("C2:C4", {"columns": [{"header": "x"}]})

    done = edit(source(path), out, cells(("C1", "=SORT(A1:A3,,-1)"), ("E1", "=C1+1")))

    errors: Any = done.extra["new_errors"]
    told = [(e["cell"], e["error"], e["formula"]) for e in errors]
    assert told == [("C1", "#SPILL!", "=SORT(A1:A3,,-1)"), ("E1", "#SPILL!", "=C1+1")]
    now = {one.where: one.now for one in done.effects.changed if one.kind == "cell"}
    assert now["S!C1"].endswith("→ #SPILL!")
    assert now["S!E1"].endswith("→ #SPILL!")
    assert b'ref="C1"' in members(out)[SHEET][0]
    assert rows(out, "C1:C1") == [["#VALUE!"]]  # as Excel stores it for older readers
    if way == "value":
        assert rows(out, "C2:C2") == [["here"]]
        again = edit(source(out), tmp_path / "again.xlsx", cells(("C2", None)))
        assert rows(tmp_path / "again.xlsx", "C1:C3") == [["3"], ["2"], ["1"]]
        assert rows(tmp_path / "again.xlsx", "E1:E1") == [["4"]]
        assert again.effects.collateral == ()


@pytest.mark.rule("F24.16")
def test_what_a_formula_spilled_can_be_named_by_its_first_cell(made, out, tmp_path):
    edit(made, out, cells(("E1", "=UNIQUE(A1:A4)"), ("G1", "=COUNTA(E1#)"), ("H1", '=E1#&"!"')))
    assert rows(out, "G1:H3") == [["3", "Ann!"], ["", "bob!"], ["", "Cid!"]]

    edit(source(out), tmp_path / "b.xlsx", cells(("A4", "Dan")))

    assert rows(tmp_path / "b.xlsx", "G1:H4") == [["4", "Ann!"], ["", "bob!"], ["", "Cid!"],
                                                 ["", "Dan!"]]  # fmt: skip


@pytest.mark.rule("F24.16")
def test_an_array_formula_over_given_cells_fills_all_of_them(made, out, tmp_path):
    wish = {"type": "array_formula"}
    done = edit(
        made,
        out,
        cells(("E1:E5", "=B1:B4*2", wish), ("F1:G2", "=B1", wish), ("H1", "=SUM(B1:B4*2)", wish)),
    )

    assert rows(out, "E1:H5") == [
        ["6", "3", "3", "22"],
        ["2", "3", "3"],
        ["4"],
        ["10"],
        ["#N/A"],
    ]
    assert b'<f t="array" ref="E1:E5">' in members(out)[SHEET][0]
    assert done.effects.collateral == ()

    edit(source(out), tmp_path / "b.xlsx", cells(("B1", 10)))
    assert rows(tmp_path / "b.xlsx", "E1:H2") == [["20", "10", "10", "36"], ["2", "10", "10"]]

    same = edit(source(out), tmp_path / "c.xlsx", cells(("E1:E5", "=B1:B4*2", wish)))
    assert same.changed_parts == ()


@pytest.mark.rule("F24.16")
def test_writing_over_a_spilled_formula_takes_its_values_along(made, out, tmp_path):
    edit(made, out, cells(("E1", "=SORT(A1:A4)")))

    edit(source(out), tmp_path / "b.xlsx", cells(("E1", "=UNIQUE(C1:C4)")))
    edit(source(out), tmp_path / "c.xlsx", cells(("E1", 7)))
    cleared = {"op": "clear_range", "sheet": "S", "range": "E1"}
    edit(source(out), tmp_path / "d.xlsx", cleared)
    same = edit(source(out), tmp_path / "e.xlsx", cells(("E1", "=SORT(A1:A4)")))

    assert rows(tmp_path / "b.xlsx", "E1:E4") == [["x"], ["y"], [], []]
    assert rows(tmp_path / "c.xlsx", "E1:E4") == [["7"], [], [], []]
    assert rows(tmp_path / "d.xlsx", "E1:E4") == [[], [], [], []]
    assert same.changed_parts == ()
    with pytest.raises(FormatError) as caught:
        edit(source(out), tmp_path / "x.xlsx", cells(("E2", "no")))
    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F24.16", "F24.9")
def test_a_formula_that_reads_what_another_spills_waits_for_it(tmp_path, out):
    made = book(tmp_path / "a.xlsx", ("S", [[3], [1], [2]]))
    first = cells(("A5", "=SUM(C1:C9)"), ("C1", "=SORT(A1:A3)"), ("E1", "=A5*2"))

    edit(made, out, first)
    loop = edit(made, tmp_path / "loop.xlsx", cells(("C1", "=SORT(A1:A3)+E2*0"), ("E2", "=C3")))

    assert rows(out, "A5:E5") == [["6"]]
    assert rows(out, "E1:E1") == [["12"]]
    assert counts(loop)["reasons"] == {"circular": 2}


@pytest.mark.rule("F24.9")
def test_a_plain_formula_that_excel_would_store_as_an_array_has_no_value(tmp_path, out):
    made = sheet_of(
        tmp_path / "a.xlsx",
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>_xlfn.UNIQUE(A1:A3)</f><v>1</v></c></row>',
    )

    done = edit(made, out, cells(("A1", 2)))

    assert done.extra["recalculated"] == {
        "computed": 0,
        "not_computed": 1,
        "reasons": {"array_context": 1},
        "uncomputed": [
            {"where": "S!B1", "function": "UNIQUE", "reason": "array_context", "count": 1}
        ],
    }
