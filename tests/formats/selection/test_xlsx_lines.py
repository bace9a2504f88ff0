"""Rows and columns that came or went are taken or left like any other change."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.base.place import Place
from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Source
from backshop.formats.xlsx.syntax.address import column_name

from ..rates import Rate
from ..xlsx.books import book, edit, mapped, opened, source
from ..xlsx.line_models import random_model
from ..xlsx.test_line_changes import ITEMS
from .test_xlsx_selection import _opens, _workbooks, changed, composed, set_cells, told, without

Op = dict[str, Any]


def insert(row: int, *values: list[Any], sheet: str = "S", count: int | None = None) -> Op:
    op: Op = {"op": "insert_rows", "sheet": sheet, "row": row}
    return {**op, "values": [*values]} if values else {**op, "count": count or 1}


def delete(first: int, last: int | None = None, sheet: str = "S") -> Op:
    return {"op": "delete_rows", "sheet": sheet, "from": first, "to": last or first}


@pytest.mark.rule("F42.7", "F42.8", "F34.8")
def test_lines_are_one_change_with_what_stands_in_them_whatever_follows(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS), ("T", [["=SUM(S!D2:D13)"]]))
    after = changed(tmp_path / "a.xlsx", insert(5, ["new", 1, 2, "=B5*C5"]), of=before)

    (unit,) = xlsx.separate(before, after)

    assert (unit.kind, unit.group, unit.label) == ("rows", "structure", "row 5 of S inserted")
    assert (unit.place, unit.tied) == (Place(sheet="S", range="5:5"), None)
    xlsx.compose(before, after, frozenset({unit.id}), tmp_path / "o.xlsx")
    assert (tmp_path / "o.xlsx").read_bytes() == before.path.read_bytes()


@pytest.mark.rule("F42.8", "F42.9", "F34.3")
def test_lines_and_other_changes_are_taken_without_one_another(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS), ("T", [["=SUM(S!D2:D13)"]]))
    ops = (insert(5, ["new", 1, 2, "=B5*C5"]), set_cells("S", B8=77, D9="=B9*C9*3"), delete(11))
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    labels = {"row 5 of S inserted", "row 10 of S deleted", "S!B8", "S!D9"}
    assert set(told(before, after)) == labels
    assert told(before, after)["S!D9"].before == "=B8*C8"

    sheet = opened(without(before, after, tmp_path / "o.xlsx", "row 5 of S inserted"))["S"]
    assert (sheet["A5"].value, sheet["B7"].value, sheet["D8"].value) == ("item 4", 77, "=B8*C8*3")
    assert [sheet[f"A{n}"].value for n in (9, 10, 13)] == ["item 8", "item 10", "Sum"]
    assert sheet["D13"].value == "=SUM(D2:D12)"
    made = opened(without(before, after, tmp_path / "o.xlsx", "row 10 of S deleted", "S!B8"))
    sheet = made["S"]
    assert [sheet[f"A{n}"].value for n in (5, 11, 12)] == ["new", "item 9", "item 10"]
    assert (sheet["B8"].value, sheet["D9"].value) == (ITEMS[6][1], "=B9*C9*3")
    assert (sheet["D15"].value, made["T"]["A1"].value) == ("=SUM(D2:D14)", "=SUM(S!D2:D14)")


@pytest.mark.rule("F42.9")
def test_a_formula_goes_with_the_lines_at_which_what_it_names_ends(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS), ("T", [["=S!B12", 5]]))
    into = set_cells("T", A1="=S!B5*2", B1=6)
    units = told(before, changed(tmp_path / "a.xlsx", insert(5, ["new", 1, 2]), into, of=before))
    assert set(units) == {"row 5 of S inserted and T!A1", "T!B1"}
    assert units["row 5 of S inserted and T!A1"].tied

    lost = set_cells("T", A1="=S!B2*2", B1=6)
    after = changed(tmp_path / "l.xlsx", delete(12), lost, of=before)
    assert set(told(before, after)) == {"row 12 of S deleted and T!A1", "T!B1"}
    made = without(before, after, tmp_path / "o.xlsx", "row 12 of S deleted and T!A1")
    assert opened(made)["T"]["A1"].value == "=S!B12"


@pytest.mark.rule("F42.8", "F42.9")
def test_columns_bring_their_width_and_leave_that_of_others(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS))
    widths = [{"column": "C", "width": 30}, {"column": "E", "width": 40}]
    after = changed(
        tmp_path / "a.xlsx",
        {"op": "insert_columns", "sheet": "S", "column": "C", "values": [["Tax"], [5], [6]]},
        {"op": "set_column_widths", "sheet": "S", "columns": widths},
        of=before,
    )
    assert set(told(before, after)) == {"column C of S inserted", "columns of S"}

    sheet = opened(without(before, after, tmp_path / "o.xlsx", "column C of S inserted"))["S"]
    assert (sheet["C1"].value, sheet["D2"].value) == ("Price", "=B2*C2")
    assert sheet.column_dimensions["D"].width == 40
    sheet = opened(without(before, after, tmp_path / "o.xlsx", "columns of S"))["S"]
    assert (sheet["C1"].value, sheet["E2"].value) == ("Tax", "=B2*D2")
    assert sheet.column_dimensions["C"].width == 30
    assert "E" not in sheet.column_dimensions


@pytest.mark.rule("F42.9")
def test_a_sheet_that_came_is_taken_while_lines_that_went_are_left(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS))
    ops = (delete(4, 5), {"op": "ensure_sheet", "sheet": "New"}, set_cells("New", A1="=S!B9"))
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    assert set(told(before, after)) == {"rows 4 to 5 of S deleted", "sheet New added"}

    made = opened(without(before, after, tmp_path / "o.xlsx", "rows 4 to 5 of S deleted"))
    assert [made["S"][f"A{n}"].value for n in (4, 5, 6)] == ["item 3", "item 4", "item 5"]
    assert (made["S"]["D4"].value, made["S"]["D14"].value) == ("=B4*C4", "=SUM(D2:D13)")
    assert made["New"]["A1"].value == "=S!B11"


def _rich(path: Path) -> Source:
    """Make a workbook with all that follows lines."""
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("Sales"), file.add_worksheet("Costs")
        sheet.merge_range("C1:D1", "merged")
        columns = [{"header": name} for name in ("Item", "Net", "Tax")]
        columns.append({"header": "Gross", "formula": "=[@Net]+[@Tax]"})
        data = [[f"item {n}", n * 7 % 11, n * 5 % 13] for n in range(9)]
        sheet.add_table("A3:D12", {"name": "Deals", "data": data, "columns": columns})
        sheet.write_formula("B15", "=SUM(B4:B12)", None, 1)
        sheet.conditional_format("B4:C12", {"type": "cell", "criteria": ">", "value": 5})
        sheet.data_validation("F2", {"validate": "list", "source": "=$A$4:$A$12"})
        sheet.write_url("F9", "https://example.org/", string="link")
        sheet.write_comment("B8", "a note")
        sheet.freeze_panes(3, 1)
        sheet.print_area("A1:F15")
        chart = file.add_chart({"type": "column"})
        chart.add_series({"values": "=Sales!$B$4:$B$12", "categories": "=Sales!$A$4:$A$12"})
        sheet.insert_chart("H4", chart)
        for row in range(9):
            other.write_row(row, 0, [f"cost {row}", row * 3 % 7])
            other.write_formula(row, 2, f"=B{row + 1}*Rate+Sales!B{row + 4}", None, 1)
        other.autofilter("A1:C9")
        other.write_array_formula("E2:E4", "{=B2:B4*2}")
        other.write("A12", 0.19)
        file.define_name("Rate", "=Costs!$A$12")
    return source(path)


@pytest.mark.rule("F42.8", "F42.9")
def test_tables_merges_rules_and_charts_follow_lines_that_are_left(tmp_path):
    before = _rich(tmp_path / "b.xlsx")
    ops = (
        insert(6, count=2, sheet="Sales"),
        set_cells("Sales", B10=500),
        {"op": "insert_columns", "sheet": "Sales", "column": "C"},
        delete(6, sheet="Costs"),
    )
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    rows, column = "rows 6 to 7 of Sales inserted", "column C of Sales inserted"
    assert set(told(before, after)) >= {rows, "Sales!B10"}

    made = opened(without(before, after, tmp_path / "o.xlsx", rows))["Sales"]
    assert made.tables["Deals"].ref == "A3:E12"
    assert (made["B8"].value, made["B15"].value) == (500, "=SUM(B4:B12)")
    made = opened(without(before, after, tmp_path / "o.xlsx", column))["Sales"]
    assert (made.tables["Deals"].ref, str(made.merged_cells)) == ("A3:D14", "C1:D1")
    assert {str(one.sqref) for one in made.conditional_formatting} == {"B4:C14"}


def _operation(rnd: random.Random, sizes: dict[str, tuple[int, int]]) -> Op:
    name = rnd.choice(list(sizes))
    rows, cols = sizes[name]
    row, col, count = rnd.randint(1, rows), rnd.randint(1, cols), rnd.choice([1, 1, 2])
    cell = f"{column_name(rnd.randint(1, cols + 1))}{rnd.randint(1, rows + 1)}"
    value = rnd.choice([rnd.randint(1, 999), "typed", f"=SUM(A1:B{row})", f"=Costs!A{row}*2"])
    new = [[rnd.randint(1, 99), "new", f"=A{row}+1"][:cols] for _ in range(count)]
    ops: list[Op] = [
        {"op": "insert_rows", "row": row, "count": count},
        {"op": "insert_rows", "row": row, "values": new},
        {"op": "delete_rows", "from": row, "to": min(rows, row + count - 1)},
        {"op": "insert_columns", "column": col},
        {"op": "insert_columns", "column": col, "values": [[5], [6], [7]]},
        {"op": "delete_columns", "from": col},
        {"op": "set_cells", "cells": [{"cell": cell, "value": value}]},
        {"op": "set_cells", "cells": [{"cell": cell, "value": rnd.randint(1, 99)}]},
        {"op": "set_style", "range": cell, "style": {"font_bold": True}},
        {"op": "set_row_heights", "rows": [{"row": row, "height": rnd.randint(10, 60)}]},
        {"op": "set_column_widths", "columns": [{"column": col, "width": rnd.randint(5, 40)}]},
        {"op": "merge_cells", "range": f"{column_name(col)}{row}:{column_name(col + 1)}{row}"},
        {"op": "ensure_sheet", "sheet": "Brand new"},
    ]
    return {"sheet": name, **rnd.choice(ops)}


def _history(before: Source, folder: Path, rnd: random.Random) -> Source:
    """Make several edits, those that the workbook allows."""
    now = before
    for at in range(rnd.choice([2, 3, 4, 5])):
        sizes = {
            one["name"]: (used["max_row"], used["max_col"])
            for one in mapped(now)["sheets"]
            if (used := one["used_range"] or {"max_row": 3, "max_col": 3})
        }
        out = folder / f"{at % 2}.xlsx"
        try:
            edit(now, out, _operation(rnd, sizes), recalculate=False)
        except FormatError:
            continue
        now = source(out)
    return now


@pytest.mark.timeout(3600)
@pytest.mark.rule("F42.8", "F42.10", "F34.2", "F34.3")
def test_any_changes_of_a_history_with_lines_can_be_left_out(tmp_path, scaled, record_property):
    rate, out = Rate("histories with lines"), tmp_path / "out.xlsx"
    lines = 0
    for seed in range(scaled(10, 400)):
        rnd = random.Random(seed)
        path = tmp_path / "b.xlsx"
        before = _rich(path) if seed % 2 else random_model(rnd).write(path)
        after = _history(before, tmp_path, rnd)
        units = xlsx.separate(before, after)
        lines += sum(unit.kind in ("rows", "columns") for unit in units)
        for share in rnd.choices((0.2, 0.5, 0.8), k=scaled(1, 3)):
            left = frozenset(unit.id for unit in units if rnd.random() < share)
            kept = xlsx.compose(before, after, left, out)

            assert kept == {unit.id for unit in units} - left
            opened(out)
            rate.edited += 1
    rate.record(record_property)
    assert lines > scaled(6, 300)


@pytest.mark.timeout(600)
@pytest.mark.rule("F42.10")
def test_taking_an_edit_without_the_lines_is_doing_it_alone(tmp_path, scaled):
    for seed in range(scaled(8, 100)):
        rnd = random.Random(seed)
        before = random_model(rnd).write(tmp_path / "b.xlsx")
        rows = mapped(before)["sheets"][0]["used_range"]["max_row"]
        row, cell = rnd.randint(2, rows - 2), rnd.randint(1, rows - 2)
        alone = changed(tmp_path / "e.xlsx", set_cells("Sales", **{f"A{cell}": 4711}), of=before)
        line = insert(row, count=2, sheet="Sales") if seed % 2 else delete(row, sheet="Sales")
        after = changed(tmp_path / "a.xlsx", line, of=alone)
        units = xlsx.separate(before, after)
        lines = [unit for unit in units if unit.kind == "rows"]
        if len(units) < 2 or len(lines) != 1 or lines[0].tied:
            continue  # the row went that was edited, or nothing tells that it did

        made = composed(before, after, tmp_path / "o.xlsx", {lines[0].id})

        assert xlsx.separate(alone, source(made)) == []


@pytest.mark.needs("corpora")
@pytest.mark.timeout(3600)
@pytest.mark.rule("F42.7", "F42.8", "F42.10")
def test_a_row_that_came_into_any_workbook_is_one_change(
    corpora, tmp_path, scaled, record_property
):
    rate, out = Rate("workbooks with a row inserted"), tmp_path / "out.xlsx"
    for path in _workbooks(corpora, scaled(9, 1)):
        before = source(path)
        try:
            sheets = mapped(before)["sheets"]
            sheet = next(
                s for s in sheets if s["kind"] == "worksheet" and _is_wide(s["used_range"])
            )
            row = insert(sheet["used_range"]["min_row"] + 1, sheet=sheet["name"])
            edit(before, tmp_path / "a.xlsx", row, recalculate=False)
        except (FormatError, StopIteration):
            continue
        after = source(tmp_path / "a.xlsx")
        (unit,) = xlsx.separate(before, after)
        assert unit.kind == "rows", path.name
        below = f"A{sheet['used_range']['max_row'] + 9}"
        edit(after, tmp_path / "e.xlsx", set_cells(sheet["name"], **{below: 7}), recalculate=False)
        both = source(tmp_path / "e.xlsx")
        units = xlsx.separate(before, both)
        assert [one.id for one in units if one.kind == "rows"] == [unit.id], path.name
        for one in units:
            assert xlsx.compose(before, both, frozenset({one.id}), out) == {
                other.id for other in units if other is not one
            }
            assert _opens(out) or not _opens(path), path.name
        rate.edited += 1
    rate.record(record_property)
    assert rate.edited > scaled(4, 60)


def _is_wide(used: Any) -> bool:
    return bool(used) and used["max_row"] - used["min_row"] > 4 and used["max_col"] > 1


@pytest.mark.rule("F34.9", "F42.11")
def test_a_place_follows_columns_and_rows(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS))
    ops = (
        {"op": "insert_columns", "sheet": "S", "column": "B", "count": 2},
        insert(4, ["new"]),
        {"op": "delete_columns", "sheet": "S", "from": "E"},
        set_cells("S", D8=77),
    )
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    places = [Place(sheet="S", range=one) for one in ("A3", "B3", "B7", "C2", "A3:B5", "D14")]

    found = xlsx.relocate(before, after, places)

    ranges = [one.place.range if one.place else None for one in found]
    assert ranges == ["A3", "D3", "D8", None, "A3:D6", "E15"]
    assert [one.is_touched for one in found] == [False, False, True, True, True, True]
