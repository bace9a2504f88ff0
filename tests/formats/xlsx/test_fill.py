"""One formula for a whole range, as a fill in Excel moves it (F17.14)."""

from __future__ import annotations

import re

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.formula.translate import Translator

from backshop.formats.errors import FormatError
from backshop.formats.xlsx.syntax.address import MAX_COL, MAX_ROW, cell_name
from backshop.formats.xlsx.syntax.formula import leaving, shift

from .. import second_reader
from .books import book, edit, lines, opened, source

ROWS = [["a", 1, 10], ["b", 2, 20], ["c", 3, 30]]


@pytest.fixture
def made(tmp_path):
    return book(tmp_path / "a.xlsx", ("S", ROWS), ("It's 2", [[5], [6], [7]]))


def fill(base, out, formula, where="E1:E3", **more):
    op = {"op": "fill_formula", "sheet": "S", "range": where, "formula": formula, **more}
    return edit(base, out, op)


def formulas(path, *places):
    sheet = opened(path)["S"]
    return [sheet[place].value for place in places]


@pytest.mark.rule("F17.14", "F24.8", "F16.13")
def test_a_formula_is_filled_computed_and_reported(made, tmp_path):
    out = tmp_path / "o.xlsx"

    done = fill(made, out, "=B1*C1", style={"font_bold": True})

    assert formulas(out, "E1", "E2", "E3") == ["=B1*C1", "=B2*C2", "=B3*C3"]
    assert lines(out, sheet="S", range="E1:E3") == ["1\t10", "2\t40", "3\t90"]
    assert done.changes == ((0, "S!E1:E3 filled with a formula (3 cells)"),)
    assert done.effects.collateral == ()
    assert done.to_json()["recalculated"] == {"computed": 3, "not_computed": 0, "reasons": {}}
    assert opened(out)["S"]["E3"].font.bold


@pytest.mark.rule("F17.14")
@pytest.mark.parametrize(
    ("formula", "second", "right"),
    [
        ("=$B1", "=$B2", "=$B1"),
        ("=B$1", "=B$1", "=C$1"),
        ("=$B$1", "=$B$1", "=$B$1"),
        ("SUM(B:B)", "=SUM(B:B)", "=SUM(C:C)"),
        ("=SUM($B:C)", "=SUM($B:C)", "=SUM($B:D)"),
        ("=SUM(1:1)", "=SUM(2:2)", "=SUM(1:1)"),
        ("=SUM($1:2)", "=SUM($1:3)", "=SUM($1:2)"),
        ("=SUM(B$1:B1)", "=SUM(B$1:B2)", "=SUM(C$1:C1)"),
        ("='It''s 2'!A1&\"B1\"", "='It''s 2'!A2&\"B1\"", "='It''s 2'!B1&\"B1\""),
        ("=LOG10(B1)", "=LOG10(B2)", "=LOG10(C1)"),
        ("=SUM(B1:INDEX(C:C,2))", "=SUM(B2:INDEX(C:C,2))", "=SUM(C1:INDEX(D:D,2))"),
        ("=IF(B1>1,\"A1\",TRUE)", "=IF(B2>1,\"A1\",TRUE)", "=IF(C1>1,\"A1\",TRUE)"),
        ("=XLOOKUP(B1,B:B,C:C)", "=_xlfn.XLOOKUP(B2,B:B,C:C)", "=_xlfn.XLOOKUP(C1,C:C,D:D)"),
    ],
)  # fmt: skip
def test_references_move_as_they_do_in_a_fill(made, tmp_path, formula, second, right):
    out = tmp_path / "o.xlsx"

    fill(made, out, formula, "F1:G2")

    assert formulas(out, "F2", "G1") == [second, right]


REFERENCE = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "$"]),
    st.sampled_from(["A", "Z", "AA", "XF"]),
    st.sampled_from(["", "$"]),
    st.integers(1, 900),
)
PIECE = st.one_of(
    REFERENCE,
    st.builds("{}:{}".format, REFERENCE, REFERENCE),
    st.sampled_from(["$A:B", "C:$C", "3:$4", "'It''s 2'!A1", "Jan:Mar!B$2", '"A1 ""B2"" $C3"']),
    st.sampled_from(["TRUE", "12.5", "#REF!", "Table1[A1]", "[@B2]", "LOG10(A1)", "A1_name"]),
)


@pytest.mark.rule("F17.14")
@given(
    pieces=st.lists(PIECE, min_size=1, max_size=5),
    rows=st.integers(0, 500),
    cols=st.integers(0, 500),
)
def test_every_reference_moves_as_another_program_moves_it(pieces, rows, cols):
    formula = "+".join(pieces)

    moved = shift(formula, rows, cols)

    origin, place = "A1", cell_name(1 + rows, 1 + cols)
    assert leaving(formula, rows, cols) is None
    assert f"={moved}" == Translator(f"={formula}", origin).translate_formula(place)


@pytest.mark.rule("F17.14")
@given(
    row=st.integers(1, MAX_ROW),
    col=st.integers(1, MAX_COL),
    rows=st.integers(0, MAX_ROW),
    cols=st.integers(0, MAX_COL),
)
def test_a_reference_leaves_the_sheet_exactly_when_it_has_no_such_cell(row, col, rows, cols):
    place = cell_name(row, col)
    bound = re.sub(r"(\d)", r"$\1", place, count=1)

    assert (leaving(f"SUM({place})", rows, cols) is None) == (
        row + rows <= MAX_ROW and col + cols <= MAX_COL
    )
    assert (leaving(bound, rows, cols) is None) == (col + cols <= MAX_COL)
    assert leaving(f"${bound}", rows, cols) is None
    assert leaving(f'"{place}"&Table1[{place}]', rows, cols) is None


@pytest.mark.rule("F17.14", "F16.4", "F24.4", "F2.5")
@pytest.mark.parametrize(
    ("formula", "where", "reason", "says"),
    [
        ("=A1048576", "E1:E3", "bad_range", "A1048576"),
        ("=SUM(A1:XFD1)", "E1:F1", "bad_range", "XFD1"),
        ("=1:1048576", "E1:E2", "bad_range", "1:1048576"),
        ("{=B1:B3*2}", "E1:E3", "bad_value", "set_cells"),
        ("=B1:B3*2", "E1:E3", "bad_value", "several values"),
        ("=NOPE(B1)", "E1:E3", "bad_value", "NOPE"),
        ("Total", "E1:E3", "bad_value", "no name"),
        ("", "E1:E3", "bad_value", "characters"),
        ("=Nowhere!B1", "E1:E3", "unknown_sheet", "in E1"),
        ('=WEBSERVICE("http://x")', "E1:E3", "unsafe_formula", "WEBSERVICE"),
        ("=B1", "E:E", "too_large", "50000"),
        ("=B1", "nowhere", "bad_range", "range"),
    ],
)
def test_what_cannot_be_filled_is_refused_with_the_reason(
    made, tmp_path, formula, where, reason, says
):
    out = tmp_path / "o.xlsx"

    with pytest.raises(FormatError) as refused:
        fill(made, out, formula, where)

    assert refused.value.reason == reason
    told = f"{refused.value.message} {refused.value.detail} {refused.value.hints}"
    assert says in told
    assert not out.exists()


@pytest.mark.rule("F17.14", "F17.5", "F17.11")
def test_merged_cells_are_left_out_and_array_formulas_are_not_torn(made, tmp_path):
    merged, arrayed, out = (tmp_path / name for name in ("m.xlsx", "r.xlsx", "o.xlsx"))
    edit(made, merged, {"op": "merge_cells", "sheet": "S", "range": "E1:E2"})
    array = {"cell": "E1:E3", "value": "=B1:B3*2", "type": "array_formula"}
    edit(made, arrayed, {"op": "set_cells", "sheet": "S", "cells": [array]})

    done = fill(source(merged), out, "=B1")
    with pytest.raises(FormatError) as torn:
        fill(source(arrayed), tmp_path / "x.xlsx", "=B1", "E2:E3")

    assert formulas(out, "E1", "E2", "E3") == ["=B1", None, "=B3"]
    assert [one.code for one in done.warnings] == ["merged_skipped"]
    assert torn.value.reason == "op_conflict"


@pytest.mark.rule("F17.14", "F24.12")
def test_a_column_of_a_table_is_filled_by_its_own_names(tmp_path):
    path, out = tmp_path / "t.xlsx", tmp_path / "o.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        columns = [{"header": name} for name in ("Qty", "Price", "Total")]
        data = [[2, 5], [3, 7]]
        sheet.add_table("A1:C3", {"name": "Orders", "columns": columns, "data": data})

    fill(source(path), out, "=[@Qty]*[@Price]", "C2:C3")
    with pytest.raises(FormatError) as header:
        fill(source(path), tmp_path / "x.xlsx", "=[@Qty]", "C1:C3")

    wanted = "=Orders[[#This Row],[Qty]]*Orders[[#This Row],[Price]]"
    assert formulas(out, "C2", "C3") == [wanted, wanted]
    assert lines(out, sheet="S", range="C2:C3") == ["h1\tTotal", "2\t10", "3\t21"]
    assert header.value.reason == "op_conflict"


@pytest.mark.rule("F17.14")
@pytest.mark.needs("libreoffice")
def test_another_program_computes_the_same_from_what_was_filled(made, tmp_path):
    out = tmp_path / "o.xlsx"
    fill(made, out, "=SUM(B$1:B1)*C1+'It''s 2'!$A1", "E1:E3")

    (theirs,) = second_reader.convert([out], tmp_path, "xlsx")

    sheet = openpyxl.load_workbook(theirs, data_only=True)["S"]
    assert [sheet[f"E{row}"].value for row in (1, 2, 3)] == [15, 66, 187]


@pytest.mark.rule("F17.14", "F24.18")
def test_a_fill_whose_formulas_read_themselves_is_told_cell_by_cell(made, tmp_path):
    direct = fill(made, tmp_path / "a.xlsx", "=SUM(E$1:E1)", "E1:E2")
    round_about = edit(
        made,
        tmp_path / "b.xlsx",
        {"op": "fill_formula", "sheet": "S", "range": "E1:E2", "formula": "=F1+1"},
        {"op": "fill_formula", "sheet": "S", "range": "F1:F2", "formula": "=E1*2"},
    )
    counted = fill(made, tmp_path / "c.xlsx", "=ROW(E1)+ROWS(E$1:E1)+COLUMNS($A1:E1)", "E1:E2")

    def told(done):
        return [(one.code, one.where) for one in done.warnings]

    assert told(direct) == [("circular_formula", f"S!E{n}") for n in (1, 2)]
    assert sorted(told(round_about)) == sorted(
        ("circular_formula", f"S!{col}{n}") for n in (1, 2) for col in "EF"
    )
    assert told(counted) == []
    assert lines(tmp_path / "c.xlsx", sheet="S", range="E1:E2") == ["1\t7", "2\t9"]


@pytest.mark.rule("F17.14")
def test_a_formula_is_filled_to_the_right_and_around_merged_cells(made, tmp_path):
    out = tmp_path / "o.xlsx"
    merge = {"op": "merge_cells", "sheet": "S", "range": "F2:G2"}
    op = {"op": "fill_formula", "sheet": "S", "range": "E1:G2", "formula": "=$B1*E$4"}
    four = {"op": "set_range", "sheet": "S", "start": "E4", "values": [[1, 10, 100]]}

    done = edit(made, out, four, merge, op)

    assert formulas(out, "E1", "G1", "E2", "F2", "G2") == [
        "=$B1*E$4", "=$B1*G$4", "=$B2*E$4", "=$B2*F$4", None,
    ]  # fmt: skip
    assert lines(out, sheet="S", range="E1:G2") == ["1\t1\t10\t100", "2\t2\t20"]
    assert [(one.code, one.where) for one in done.warnings] == [("merged_skipped", "G2")]
    assert done.effects.collateral == ()
