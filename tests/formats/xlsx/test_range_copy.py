"""Copies of ranges: values, formulas, looks, merges, rules and links, as Excel's copy has them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats.errors import FormatError

from .books import book, differing, edit, lines, opened, source


def copy(**fields: Any) -> dict[str, Any]:
    return {"op": "copy_range", "sheet": "S", **fields}


def cells(path: Path, area: str, sheet: str = "S") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in opened(path)[sheet][area]]


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "in.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("S"), file.add_worksheet("T")
        bold, red = file.add_format({"bold": True}), file.add_format({"font_color": "red"})
        sheet.write("A1", "Total", bold)
        sheet.write("B1", 2.5, file.add_format({"num_format": "0.00"}))
        sheet.write_rich_string("A2", "plain ", bold, "bold")
        sheet.write_formula("B2", "=B1*$A$4+T!A1", None, 7)
        sheet.merge_range("A3:B3", "wide")
        sheet.write("A4", 2)
        sheet.write_url("C1", "https://example.org/x")
        sheet.conditional_format("A1:B2", {"type": "formula", "criteria": "=$A1>1", "format": red})
        sheet.data_validation("B1", {"validate": "integer", "criteria": ">", "value": "=A1"})
        other.write("A1", 5)
    return source(path)


@pytest.mark.rule("F39.8", "F39.9")
def test_everything_in_the_cells_is_copied_and_relative_references_move(made, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(made, out, copy(range="A1:C3", to="E11"))

    found = opened(out)["S"]
    assert cells(out, "E11:F13") == [
        ["Total", 2.5],
        ["plain bold", "=F11*$A$4+T!E11"],
        ["wide", None],
    ]
    assert (found["E11"].font.b, found["F11"].number_format) == (True, "0.00")
    assert "E13:F13" in {str(merge) for merge in found.merged_cells.ranges}
    assert found["G11"].hyperlink.target == "https://example.org/x"
    rules = {
        str(one.sqref): [rule.formula for rule in one.rules] for one in found.conditional_formatting
    }
    assert rules == {"A1:B2": [["$A1>1"]], "E11:F12": [["$A11>1"]]}
    checks = {str(one.sqref): one.formula1 for one in found.data_validations.dataValidation}
    assert checks == {"B1": "A1", "F11": "E11"}
    assert cells(out, "A1:B3") == cells(made.path, "A1:B3")
    assert done.effects.collateral == ()
    assert differing(made.path, out) <= {
        "xl/worksheets/sheet1.xml",
        "xl/workbook.xml",
        "xl/calcChain.xml",
    }


@pytest.mark.rule("F39.8")
def test_a_copy_to_another_sheet_takes_looks_rules_and_links_along(made, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(made, out, copy(range="A1:C3", to_sheet="T", to="B2"))

    found = opened(out)["T"]
    assert cells(out, "B2:C4", "T") == [
        ["Total", 2.5],
        ["plain bold", "=C2*$A$4+T!B2"],
        ["wide", None],
    ]
    assert (found["B2"].font.b, found["D2"].hyperlink.target) == (True, "https://example.org/x")
    assert [str(one.sqref) for one in found.conditional_formatting] == ["B2:C3"]
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.8")
@pytest.mark.parametrize(
    ("what", "shown", "is_bold"),
    [
        ("values", [["Total", 2.5], ["plain bold", 7]], False),
        ("formulas", [["Total", 2.5], ["plain bold", "=F11*$A$4+T!E11"]], False),
        ("styles", [[None, None], [None, None]], True),
    ],
)
def test_parts_of_what_cells_hold_are_copied(made, tmp_path, what, shown, is_bold):
    out = tmp_path / "out.xlsx"

    edit(made, out, copy(range="A1:B2", to="E11", what=what))

    assert cells(out, "E11:F12") == shown
    assert bool(opened(out)["S"]["E11"].font.b) == is_bold


@pytest.mark.rule("F39.8")
def test_a_copy_that_overlaps_its_source_reads_it_first(tmp_path):
    base = book(tmp_path / "in.xlsx", ("S", [[1], [2], [3], ["=A3|3"]]))

    done = edit(base, tmp_path / "out.xlsx", copy(range="A1:A4", to="A2"))

    assert cells(tmp_path / "out.xlsx", "A1:A5") == [[1], [1], [2], [3], ["=A4"]]
    assert "3 filled cells replaced" in done.changes[0][1]


@pytest.mark.rule("F39.8")
def test_one_cell_fills_a_range_and_a_block_repeats(tmp_path):
    base, out = book(tmp_path / "in.xlsx", ("S", [[1, 2], ["=A1+B$1|3"]])), tmp_path / "out.xlsx"

    edit(base, out, copy(range="A2", to="C3:D4"), copy(range="A1:B1", to="A6:D7"))

    assert cells(out, "C3:D4") == [["=C2+D$1", "=D2+E$1"], ["=C3+D$1", "=D3+E$1"]]
    assert cells(out, "A6:D7") == [[1, 2, 1, 2]] * 2
    with pytest.raises(FormatError) as caught:
        edit(base, out, copy(range="A1:B1", to="A6:C7"))
    assert caught.value.reason == "bad_range"


@pytest.mark.rule("F39.9")
def test_rows_become_columns_and_references_with_them(tmp_path):
    data = [[1, 2, "=A1+B1|3"], ["=A1|1", "=SUM($A$1:$B$1)|3", "=C$1|3"]]
    base, out = book(tmp_path / "in.xlsx", ("S", data)), tmp_path / "out.xlsx"

    edit(
        base,
        out,
        copy(range="A1:C1", to="E1", transpose=True),
        copy(range="A2:B2", to="H4", transpose=True),
    )

    assert cells(out, "E1:E3") == [[1], [2], ["=E1+E2"]]
    assert cells(out, "H4:H5") == [["=G4"], ["=SUM($A$1:$B$1)"]]
    with pytest.raises(FormatError) as caught:
        edit(base, tmp_path / "no.xlsx", copy(range="C2", to="H4", transpose=True))
    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F39.8", "F24.4")
def test_what_cannot_be_copied_is_refused(tmp_path):
    path = tmp_path / "in.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_formula("A1", "=WEBSERVICE(B1)")
        sheet.write_formula("A2", "=B1", None, 1)
        sheet.merge_range("A4:B4", "m")
        sheet.write_array_formula("D1:D2", "=B1:B2")
        sheet.write_formula("E1", "=1+1", None, "")
    path.write_bytes(without_results(path))
    base = source(path)
    wrong = [
        ({"range": "A1", "to": "C9"}, "unsafe_formula"),
        ({"range": "A2", "to": "A1"}, "bad_range"),
        ({"range": "A4", "to": "C9"}, "op_conflict"),
        ({"range": "A2", "to": "B4"}, "op_conflict"),
        ({"range": "D1:D2", "to": "C9"}, "op_conflict"),
        ({"range": "E1", "to": "D2"}, "op_conflict"),
        ({"range": "E1", "to": "C9", "what": "values"}, "uncached_formula"),
        ({"range": "A2", "to": "XFD1048577"}, "bad_range"),
        ({"range": "A1:C3", "to": "XFD9"}, "bad_range"),
        ({"range": "A2", "to": "C9", "to_sheet": "Nowhere"}, "unknown_sheet"),
        ({"range": "A2", "to": "C9", "what": "formats"}, "bad_value"),
    ]

    for fields, reason in wrong:
        with pytest.raises(FormatError) as caught:
            edit(base, tmp_path / "out.xlsx", copy(**fields))
        assert caught.value.reason == reason, fields
    assert not (tmp_path / "out.xlsx").exists()


def without_results(path: Path) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"<f>1+1</f><v></v>", b"<f>1+1</f>"))
    return made.getvalue()


@pytest.mark.rule("F39.10")
def test_rules_of_cells_that_are_copied_over_give_way(tmp_path):
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        for row in range(6):
            sheet.write(row, 0, row)
        sheet.data_validation("A1:A2", {"validate": "list", "source": ["x", "y"]})
        sheet.data_validation("A4:A6", {"validate": "integer", "criteria": ">", "value": 1})

    edit(source(path), out, copy(range="A1:A2", to="A5"))

    checks = {str(one.sqref): one.type for one in opened(out)["S"].data_validations.dataValidation}
    assert checks == {"A1:A2": "list", "A4": "whole", "A5:A6": "list"}


@pytest.mark.rule("F39.8")
def test_notes_are_not_copied_and_that_is_said(tmp_path):
    path = tmp_path / "in.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write("A1", 1)
        sheet.write_comment("A1", "note")

    done = edit(source(path), tmp_path / "out.xlsx", copy(range="A1", to="B1"))

    assert [(one.code, one.count) for one in done.warnings] == [("not_copied", 1)]


@pytest.mark.rule("F39.8", "F24.8")
def test_formulas_that_read_the_copies_are_computed_again(tmp_path):
    base = book(
        tmp_path / "in.xlsx", ("S", [[1, "=A1*10|10"], [5, "=A2*10|50"], [None, "=SUM(B1:B2)|60"]])
    )
    out = tmp_path / "out.xlsx"

    edit(base, out, copy(range="A2:B2", to="A1"))

    assert [line.split("\t")[-1] for line in lines(out, range="B1:B3")[-3:]] == ["50", "50", "100"]
