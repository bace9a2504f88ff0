"""A review tells rows and columns that came or went, and only the cells that changed besides."""

from __future__ import annotations

from typing import Any

import pytest
import xlsxwriter

from backshop.formats import xlsx
from backshop.formats.protocol import Source

from .books import book, edit, source
from .test_line_changes import ITEMS

NEW = {"op": "insert_rows", "sheet": "Sales", "row": 5, "values": [["new", 4, 2.5, "=B5*C5"]]}
GONE = {"op": "delete_rows", "sheet": "Sales", "from": 9, "to": 10}
SET = {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "B7", "value": 99}]}
FORMULA = {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "D7", "value": "=B7*C7*2"}]}


@pytest.fixture
def sides(tmp_path) -> tuple[Source, Source]:
    before = book(tmp_path / "b.xlsx", ("Sales", ITEMS), ("Sum", [["=SUM(Sales!D2:D13)"]]))
    edit(before, tmp_path / "a.xlsx", NEW, GONE, SET, FORMULA, recalculate=False)
    return before, source(tmp_path / "a.xlsx")


def _without_results(found: Any) -> list[dict[str, Any]]:
    cells = [cell for sheet in found["sheets"] for cell in sheet["cells"]]
    return [cell for cell in cells if cell["kind"] != "result"]


@pytest.mark.rule("F42.5", "F29.5")
def test_lines_are_listed_and_cells_that_changed_besides_with_the_place_they_had(sides):
    found: Any = xlsx.diff_cells(*sides)

    told = [
        (one["kind"], one["axis"], one["at"], one["count"], one["beside"]) for one in found["lines"]
    ]
    assert told == [("inserted", "rows", 5, 1, 5), ("removed", "rows", 8, 2, 9)]
    assert found["lines"][1]["texts"][:2] == ["item 7", "10"]
    assert found["lines"][1]["cell_count"] == 8
    assert {one["sheet"] for one in found["lines"]} == {"Sales"}
    cells = {cell["cell"]: cell for cell in _without_results(found)}
    assert set(cells) == {"A5", "B5", "C5", "D5", "B7", "D7"}
    assert cells["A5"]["what"] == "value added"
    assert "cell_before" not in cells["A5"]
    assert (cells["B7"]["cell_before"], cells["B7"]["after"]) == ("B6", "99")
    assert (cells["D7"]["before"], cells["D7"]["after"]) == ("=B6*C6", "=B7*C7*2")
    assert found["following"] == {"count": 9, "is_all": True}  # of 12 rows and two sums


@pytest.mark.rule("F42.5", "B12.22")
def test_what_only_follows_lines_is_no_change(tmp_path):
    path = tmp_path / "b.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        for row in range(12):
            sheet.write_row(row, 0, [f"r{row}", row * 7 % 5, row * 3 % 11])
        sheet.merge_range("E6:F7", "m")
        sheet.conditional_format("B2:B12", {"type": "cell", "criteria": ">", "value": 3})
        sheet.data_validation("C2:C12", {"validate": "integer", "criteria": ">", "value": 0})
        sheet.set_row(8, 40)
        sheet.write_url("G9", "https://example.org/")
        sheet.write_comment("B9", "a note")
        file.define_name("Kept", "=S!$B$2:$B$12")
        chart = file.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$B$2:$B$12"})
        sheet.insert_chart("I5", chart)
    before = source(path)
    for op in (
        {"op": "insert_rows", "sheet": "S", "row": 4, "count": 2},
        {"op": "insert_columns", "sheet": "S", "column": "B"},
        {"op": "delete_rows", "sheet": "S", "from": 4},
    ):
        edit(before, tmp_path / "a.xlsx", op, recalculate=False)
        after = source(tmp_path / "a.xlsx")

        found: Any = xlsx.diff_cells(before, after)

        assert len(found["lines"]) == 1
        assert _without_results(found) == []
        assert xlsx.diff_rest(before, after)["rest"] == []


@pytest.mark.rule("F42.6", "F29.5")
def test_the_windows_of_both_sides_mark_the_same_cells_where_each_has_them(sides):
    after: Any = xlsx.diff_window(sides[0], sides[1], "Sales", 0, 0, 20, 5)
    before: Any = xlsx.diff_window(sides[0], sides[1], "Sales", 0, 0, 20, 5, True)

    assert {one["cell"] for one in after if one["kind"] != "result"} == {
        *("A5", "B5", "C5", "D5", "B7", "D7")
    }
    marks = {one["cell"]: one for one in before if one["kind"] != "result"}
    gone = {f"{column}{row}" for row in (8, 9) for column in "ABCD"}
    assert set(marks) == {"B6", "D6", *gone}
    assert (marks["B6"]["cell_after"], marks["A8"]["after"]) == ("B7", None)
    part: Any = xlsx.diff_window(sides[0], sides[1], "Sales", 6, 1, 1, 1)
    assert [one["cell"] for one in part] == ["B7"]


@pytest.mark.rule("F42.5")
def test_lines_of_a_sheet_that_got_another_name_are_told_by_it(tmp_path):
    before = book(tmp_path / "b.xlsx", ("Sales", ITEMS), ("Sum", [["=SUM(Sales!D2:D13)"]]))
    rename = {"op": "rename_sheet", "sheet": "Sales", "new_name": "Deals"}
    edit(before, tmp_path / "a.xlsx", NEW, rename, recalculate=False)

    found: Any = xlsx.diff_cells(before, source(tmp_path / "a.xlsx"))

    assert [(one["sheet"], one["at"]) for one in found["lines"]] == [("Deals", 5)]
    assert {one["sheet"]: one["renamed_from"] for one in found["sheets"]}["Deals"] == "Sales"
