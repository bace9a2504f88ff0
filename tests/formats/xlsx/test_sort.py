"""Sorting rows: Excel's order, whole rows, formulas that keep their meaning, nothing else moves."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.styles import Border, Font, Side

from backshop.formats.errors import FormatError

from .books import book, differing, edit, lines, members, opened, source

HEAD = ["Name", "Amount", "Day"]


def sort(base: Any, out: Path, by: Any, **more: Any) -> Any:
    columns = [{"column": one} if isinstance(one, str | int) else one for one in by]
    op = {"op": "sort_range", "sheet": "S", "range": "A1:C5", "by": columns, **more}
    return edit(base, out, op)


def rows(path: Path, area: str = "A1:C5") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in opened(path)["S"][area]]


@pytest.fixture
def small(tmp_path):
    data = [HEAD, ["b", 3, 1], ["a", 1, 2], ["d", None, 3], ["c", 2, 4]]
    return book(tmp_path / "in.xlsx", ("S", data))


@pytest.mark.rule("F39.1")
@pytest.mark.parametrize(
    ("by", "names"),
    [
        (["Amount"], "acbd"),
        ([{"column": "B", "order": "descending"}], "bcad"),
        ([{"column": 1, "order": "desc"}], "dcba"),
        ([{"column": "name", "values": ["c", "a"]}], "cabd"),
    ],
)
def test_rows_go_as_wholes_and_blank_cells_are_last(small, tmp_path, by, names):
    sort(small, tmp_path / "out.xlsx", by)

    found = rows(tmp_path / "out.xlsx")
    amounts, days = {"a": 1, "b": 3, "c": 2}, {"b": 1, "a": 2, "d": 3, "c": 4}
    assert found == [HEAD, *([name, amounts.get(name), days[name]] for name in names)]


@pytest.mark.rule("F39.4")
def test_the_order_of_values_is_that_of_excel(tmp_path):
    given = ["b", True, 10, "B", None, -1, "a-b", "ab", "ä", "10", False, "z", "_x", "aa", " y"]
    base = book(tmp_path / "in.xlsx", ("S", [[one] for one in given]))
    out = tmp_path / "out.xlsx"

    op = {"op": "sort_range", "sheet": "S", "range": "A:A", "header": False}
    edit(base, out, {**op, "by": [{"column": "A"}]})

    area = f"A1:A{len(given)}"
    order = [-1, 10, " y", "_x", "10", "ä", "aa", "ab", "a-b", "b", "B", "z", False, True, None]
    assert [row[0] for row in rows(out, area)] == order
    down = [{"column": "A", "order": "descending"}]
    edit(source(out), out, {**op, "by": down})
    back = [row[0] for row in rows(out, area)]
    assert back == [
        True,
        False,
        "z",
        "b",
        "B",
        "a-b",
        *order[7:4:-1],
        "10",
        "_x",
        " y",
        10,
        -1,
        None,
    ]


@pytest.mark.rule("F39.4")
def test_capitals_count_only_when_asked_for_and_equal_rows_stay(tmp_path):
    data = [["B", 1], ["a", 2], ["A", 3], ["b", 4]]
    base, out = book(tmp_path / "in.xlsx", ("S", data)), tmp_path / "out.xlsx"
    op = {"op": "sort_range", "sheet": "S", "range": "A1:B4", "by": [{"column": "A"}]}

    edit(base, out, {**op, "header": False})
    loose = rows(out, "A1:B4")
    edit(base, out, {**op, "header": False, "match_case": True})

    assert loose == [["a", 2], ["A", 3], ["B", 1], ["b", 4]]
    assert rows(out, "A1:B4") == [["a", 2], ["A", 3], ["b", 4], ["B", 1]]


@pytest.mark.rule("F39.5")
def test_formulas_read_their_own_row_and_keep_their_results(tmp_path):
    data = [
        ["Name", "Net", "Sum", "Far", 10],
        ["b", 3, "=B2*E$1|30", "=T!B2|2"],
        ["a", 1, "=B3*E1|10", "=SUM(B$2:B$4)|6"],
        ["c", 2, "=S!B4*$E$1|20", "=T!A1:A1|5"],
    ]
    base = book(tmp_path / "in.xlsx", ("S", data), ("T", [[5, 1], [6, 2]]))
    op = {"op": "sort_range", "sheet": "S", "range": "A1:D4", "by": [{"column": "A"}]}

    done = edit(base, tmp_path / "out.xlsx", op)

    assert rows(tmp_path / "out.xlsx", "A2:D4") == [
        ["a", 1, "=B2*E1", "=SUM(B$2:B$4)"],
        ["b", 3, "=B3*E$1", "=T!B2"],
        ["c", 2, "=S!B4*$E$1", "=T!A1:A1"],
    ]
    shown = lines(tmp_path / "out.xlsx", sheet="S", range="A2:D4")
    assert shown == ["2\ta\t1\t10\t6", "3\tb\t3\t30\t2", "4\tc\t2\t20\t5"]
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.5")
def test_a_running_total_stays_a_running_total(tmp_path):
    data = [
        ["N", "A", "T"],
        ["b", 3, "=SUM(B$2:B2)|3"],
        ["a", 1, "=SUM(B$2:B3)|4"],
        ["c", 2, "=SUM(B$2:B4)|6"],
    ]
    base = book(tmp_path / "in.xlsx", ("S", data))
    op = {"op": "sort_range", "sheet": "S", "range": "A1:C4", "by": [{"column": "N"}]}

    edit(base, tmp_path / "out.xlsx", op)

    assert rows(tmp_path / "out.xlsx", "A2:C4") == [
        ["a", 1, "=SUM(B$2:B2)"],
        ["b", 3, "=SUM(B$2:B3)"],
        ["c", 2, "=SUM(B$2:B4)"],
    ]
    shown = lines(tmp_path / "out.xlsx", sheet="S", range="C2:C4")
    assert [line.split("\t")[-1] for line in shown[-3:]] == ["1", "4", "6"]
    with pytest.raises(FormatError) as caught:
        edit(base, tmp_path / "no.xlsx", {**op, "by": [{"column": "T"}]})
    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F39.5")
def test_formulas_that_read_other_rows_each_in_their_own_way_are_refused(tmp_path):
    data = [["N", "B"], ["b", "=1|1"], ["a", "=B2+1|2"], ["c", "=B3+1|3"]]
    base = book(tmp_path / "in.xlsx", ("S", data))

    op = {"op": "sort_range", "sheet": "S", "range": "A1:B4", "by": [{"column": "N"}]}

    with pytest.raises(FormatError) as caught:
        edit(base, tmp_path / "out.xlsx", op)

    assert (caught.value.reason, caught.value.hints[:2]) == ("op_conflict", ("B3", "B4"))
    assert not (tmp_path / "out.xlsx").exists()


@pytest.mark.rule("F39.5")
def test_formulas_elsewhere_that_read_single_rows_are_counted(tmp_path):
    data = [["N", "A"], ["b", 3], ["a", 1], [None, "=SUM(B2:B3)|4"], [None, "=B2|3"]]
    others = [["=S!B3|1", "=S!A2:B3|0", "=S!B1|0"]]
    base = book(tmp_path / "in.xlsx", ("S", data), ("T", others))

    done = edit(
        base,
        tmp_path / "out.xlsx",
        {"op": "sort_range", "sheet": "S", "range": "A1:B3", "by": [{"column": "N"}]},
    )

    (warning,) = done.warnings
    assert (warning.code, warning.count) == ("references_by_place", 2)
    assert warning.where == "S!B5, T!A1 read rows of S!A2:B3"
    assert lines(tmp_path / "out.xlsx", sheet="T", range="A1:A1")[-1] == "1\t3"


@pytest.mark.rule("F39.5")
def test_formulas_inside_that_read_fixed_rows_are_counted(tmp_path):
    data = [
        ["N", "A", "Share", "Of all", "Of own"],
        ["b", 3, "=B2/$B$3|3", "=B2/SUM($B$2:$B$4)|0.5", "=B2/$B$9|1"],
        ["a", 1, "=B3/$B$3|1", "=B3/SUM(B$2:B$4)|0.2", "=B3|1"],
        ["c", 2, "=B4/SUM($B$3:$B$4)|0.7", "=B4/SUM(B:B)|0.3", "=B4|2"],
    ]
    base = book(tmp_path / "in.xlsx", ("S", data))
    op = {"op": "sort_range", "sheet": "S", "range": "A1:E4", "by": [{"column": "N"}]}

    done = edit(base, tmp_path / "out.xlsx", op)

    said = "formulas in S!A2:E4 read fixed cells of it, which hold other rows now"
    assert [(w.code, w.count, w.where) for w in done.warnings] == [("references_by_place", 3, said)]


@pytest.mark.rule("F39.2")
def test_looks_notes_and_links_go_along_and_lines_stay(tmp_path):
    made = openpyxl.Workbook()
    sheet = made.create_sheet("S", 0)
    for row in [HEAD, ["b", 3, 1], ["a", 1, 2]]:
        sheet.append(row)
    sheet["A2"].font = Font(bold=True)
    sheet["A3"].border = Border(bottom=Side(style="thick"))
    sheet["B2"].comment = Comment("why three?", "me")
    sheet["B2"].hyperlink = "https://example.org/b"
    sheet.row_dimensions[2].height = 33
    made.save(tmp_path / "in.xlsx")
    base = source(tmp_path / "in.xlsx")

    done = edit(
        base,
        tmp_path / "out.xlsx",
        {
            "op": "sort_range",
            "sheet": "S",
            "range": "A1:C3",
            "by": [{"column": "Name"}],
        },
    )

    found = opened(tmp_path / "out.xlsx")["S"]
    assert [found[f"A{row}"].font.b for row in (2, 3)] == [False, True]
    assert [found[f"A{row}"].border.bottom.style for row in (2, 3)] == [None, "thick"]
    assert (found["B2"].comment, found["B3"].comment.text) == (None, "why three?")
    assert found["B3"].hyperlink.target == "https://example.org/b"
    assert found["B2"].hyperlink is None
    assert found.row_dimensions[2].height == 33
    vml = next(name for name in members(tmp_path / "out.xlsx") if name.endswith(".vml"))
    assert b"Row>2</" in members(tmp_path / "out.xlsx")[vml][0]
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.3")
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda s: s.merge_range("A3:B3", "m"), "op_conflict"),
        (lambda s: s.set_row(2, None, None, {"hidden": True}), "op_conflict"),
        (lambda s: s.write_array_formula("B2:B3", "=C2:C3"), "op_conflict"),
        (lambda s: s.protect(), "sheet_protected"),
        (lambda s: s.write_formula("B3", "=1", None, ""), None),
        (lambda s: s.write_formula("A3", "=1+1", None, ""), None),
    ],
)
def test_what_cannot_be_carried_is_refused(tmp_path, change, reason):
    path = tmp_path / "in.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("S")
        for at, row in enumerate([HEAD, ["b", 3, 1], ["a", 1, 2]]):
            sheet.write_row(at, 0, row)
        change(sheet)
    with zipfile.ZipFile(path) as file:  # one without a stored result
        parts = {name: file.read(name) for name in file.namelist()}
    if reason is None:
        name = "xl/worksheets/sheet1.xml"
        parts[name] = parts[name].replace(b"</f><v></v>", b"</f>")
        with zipfile.ZipFile(path, "w") as file:
            for one, data in parts.items():
                file.writestr(one, data)
    op = {"op": "sort_range", "sheet": "S", "range": "A1:C3", "header": True}

    with pytest.raises(FormatError) as caught:
        edit(source(path), tmp_path / "out.xlsx", {**op, "by": [{"column": "A"}, {"column": "B"}]})

    assert caught.value.reason == (reason or "uncached_formula")


@pytest.mark.rule("F39.1", "F3.1")
@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("by", [], "bad_value"),
        ("by", [{"column": "Amout"}], "unknown_column"),
        ("by", [{"column": "F"}], "unknown_column"),
        ("by", [{"column": "A", "order": "up"}], "bad_value"),
        ("by", [{"column": "A"}, {"column": "Name"}], "op_conflict"),
        ("by", [{"column": "A", "direction": "down"}], "unknown_field"),
        ("range", "F1:G9", "bad_range"),
        ("range", "Nothing", "bad_range"),
        ("range", "A1:C1", "bad_range"),
    ],
)
def test_what_is_written_wrong_is_said(small, tmp_path, field, value, reason):
    with pytest.raises(FormatError) as caught:
        sort(
            small, tmp_path / "out.xlsx", ["A"], header=True, **{field: value}
        ) if field != "by" else edit(
            small,
            tmp_path / "out.xlsx",
            {"op": "sort_range", "sheet": "S", "range": "A1:C5", "by": value},
        )

    assert caught.value.reason == reason


@pytest.mark.rule("F39.1", "F23.7")
def test_rows_that_are_in_order_leave_the_file_as_it_is(small, tmp_path):
    done = sort(small, tmp_path / "out.xlsx", ["Day"])

    assert (tmp_path / "out.xlsx").read_bytes() == small.path.read_bytes()
    assert done.changed_parts == ()


@pytest.mark.rule("F39.1", "F16.13")
def test_a_sort_is_told_as_one_effect_and_touches_one_part(small, tmp_path):
    done = sort(small, tmp_path / "out.xlsx", ["Amount"])

    assert differing(small.path, tmp_path / "out.xlsx") == {"xl/worksheets/sheet1.xml"}
    told = done.effects.told.to_json()["changed"]
    assert told == [{"kind": "rows", "where": "S!A2:C5", "aspect": "order"}]
    assert "4 of 4 rows" in done.changes[0][1] or "3 of 4 rows" in done.changes[0][1]


@pytest.mark.rule("F39.1")
def test_columns_beside_the_range_are_told(small, tmp_path):
    done = sort(small, tmp_path / "out.xlsx", ["Name"], range="A1:B5")

    assert [(one.code, one.count) for one in done.warnings] == [("columns_left", 1)]
    assert rows(tmp_path / "out.xlsx")[1] == ["a", 1, 1]


@pytest.mark.rule("F39.1", "F39.3")
def test_a_table_is_sorted_by_its_name_without_header_and_totals(tmp_path):
    path = tmp_path / "in.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("S")
        data = [["b", 3], ["a", 1], ["c", 2]]
        columns = [{"header": "N", "total_string": "T"}, {"header": "A", "total_function": "sum"}]
        options = {"name": "Sales", "data": data, "columns": columns, "total_row": True}
        sheet.add_table("B2:C6", options)
    base, by = source(path), [{"column": "A", "order": "descending"}]

    done = edit(
        base,
        tmp_path / "out.xlsx",
        {
            "op": "sort_range",
            "sheet": "S",
            "range": "sales",
            "by": by,
        },
    )

    assert rows(tmp_path / "out.xlsx", "B2:C5") == [["N", "A"], ["b", 3], ["c", 2], ["a", 1]]
    assert rows(tmp_path / "out.xlsx", "B6:B6") == [["T"]]
    assert done.effects.collateral == ()
    for area in ("B2:B6", "B2:C4", "B3:C6", "A1:C6"):
        if area == "B2:C4":
            continue
        with pytest.raises(FormatError) as caught:
            edit(
                base,
                tmp_path / "no.xlsx",
                {"op": "sort_range", "sheet": "S", "range": area, "by": by},
            )
        assert caught.value.reason == "op_conflict", area


@pytest.mark.rule("F39.1", "F16.4")
def test_cells_written_before_in_the_call_are_sorted_too(small, tmp_path):
    done = edit(
        small,
        tmp_path / "out.xlsx",
        {
            "op": "set_cells",
            "sheet": "S",
            "cells": [{"cell": "A2", "value": "zz"}, {"cell": "E9", "value": 1}],
        },
        {"op": "sort_range", "sheet": "S", "range": "A1:C5", "by": [{"column": "Name"}]},
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A2", "value": "first"}]},
    )

    assert [row[0] for row in rows(tmp_path / "out.xlsx")] == ["Name", "first", "c", "d", "zz"]
    assert done.effects.collateral == ()
