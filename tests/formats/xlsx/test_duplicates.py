"""Rows that repeat others: which go, what stays, what moves up with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats.errors import FormatError

from .books import book, differing, edit, lines, opened, source

DATA = [
    ["Name", "City", "Sum", None, "beside"],
    ["Ann", "Rome", 1, None, 1],
    ["ann", "Rome", 1.0, None, 2],
    ["Bob", "Oslo", 2, None, 3],
    ["Ann", "Oslo", 1, None, 4],
    ["Bob", "Oslo", "2", None, 5],
    ["Bob", "Oslo", 2, None, 6],
]
OP = {"op": "remove_duplicates", "sheet": "S", "range": "A1:C7"}


def rows(path: Path, area: str = "A2:C7") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in opened(path)["S"][area]]


@pytest.mark.rule("F39.7")
@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({}, [1, 3, 4, 5]),
        ({"columns": ["name"]}, [1, 3]),
        ({"columns": ["B", "Sum"], "keep": "last"}, [2, 4, 5, 6]),
    ],
)
def test_one_of_equal_rows_stays_and_the_others_move_up(tmp_path, more, left):
    base, out = book(tmp_path / "in.xlsx", ("S", DATA)), tmp_path / "out.xlsx"

    done = edit(base, out, {**OP, **more})

    kept = [DATA[at][:3] for at in left]
    assert rows(out) == kept + [[None] * 3] * (6 - len(kept))
    assert [row[0] for row in rows(out, "E2:E7")] == [1, 2, 3, 4, 5, 6]
    assert f"{6 - len(kept)} row" in done.changes[0][1]
    assert differing(base.path, out) == {"xl/worksheets/sheet1.xml"}
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.7", "F23.7")
def test_rows_that_all_differ_leave_the_file_as_it_is(tmp_path):
    base = book(tmp_path / "in.xlsx", ("S", DATA[:2]))

    done = edit(base, tmp_path / "out.xlsx", {**OP, "range": "A1:C2"})

    assert (done.changed_parts, "no row occurs twice" in done.changes[0][1]) == ((), True)


@pytest.mark.rule("F39.7", "F39.5")
def test_formulas_of_rows_that_move_up_read_their_own_row(tmp_path):
    data = [["N", "A", "Twice"], ["a", 1, "=B2*2|2"], ["a", 1, "=B3*2|2"], ["b", 3, "=B4*2|6"]]
    others = [["=SUM(S!C2:C4)|10"]]
    base = book(tmp_path / "in.xlsx", ("S", data), ("T", others))
    out = tmp_path / "out.xlsx"

    edit(base, out, {**OP, "range": "A1:C4", "columns": ["N"]})

    assert rows(out, "A2:C4") == [["a", 1, "=B2*2"], ["b", 3, "=B3*2"], [None] * 3]
    assert lines(out, sheet="S", range="C3:C3")[-1].split("\t")[-1] == "6"
    assert lines(out, sheet="T", range="A1:A1")[-1] == "1\t8"


@pytest.mark.rule("F39.7")
def test_a_table_ends_with_its_last_row(tmp_path):
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("S")
        columns = [{"header": "N"}, {"header": "A"}]
        data = [["a", 1], ["a", 1], ["b", 2]]
        sheet.add_table("A1:B4", {"name": "T", "data": data, "columns": columns})
        sheet.write_formula("D1", "=SUM(T[A])", None, 4)
        total = {"name": "U", "data": data, "columns": columns, "total_row": True}
        sheet.add_table("F1:G5", total)
    base = source(path)

    done = edit(base, out, {**OP, "range": "T"})

    table = opened(out)["S"].tables["T"]
    assert (table.ref, table.autoFilter.ref) == ("A1:B3", "A1:B3")
    assert rows(out, "A1:B4") == [["N", "A"], ["a", 1], ["b", 2], [None, None]]
    assert lines(out, sheet="S", range="D1:D1")[-1].endswith("3")
    assert done.effects.collateral == ()
    with pytest.raises(FormatError) as caught:
        edit(base, tmp_path / "no.xlsx", {**OP, "range": "U"})
    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F39.7")
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("keep", "both", "bad_value"),
        ("columns", ["Nam"], "unknown_column"),
        ("columns", [], "missing_field"),
        ("columns", [["A"]], "bad_type"),
    ],
)
def test_what_is_written_wrong_is_said(tmp_path, field, value, reason):
    base = book(tmp_path / "in.xlsx", ("S", DATA))

    with pytest.raises(FormatError) as caught:
        edit(base, tmp_path / "out.xlsx", {**OP, field: value})

    assert caught.value.reason == reason
