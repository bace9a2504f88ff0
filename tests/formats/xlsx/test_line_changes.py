"""Rows and columns that came or went are found from two workbooks alone, or not at all."""

from __future__ import annotations

import random
from typing import Any

import openpyxl
import pytest
from tests.effort import calls

from backshop.formats.package.package import Package
from backshop.formats.protocol import Source
from backshop.formats.xlsx.alignment import line_search
from backshop.formats.xlsx.alignment.line_change import line_changes
from backshop.formats.xlsx.alignment.line_run import LineRun, Lines
from backshop.formats.xlsx.book.workbook import Book
from backshop.formats.xlsx.syntax.line_shift import LineShift

from .books import book, edit, source
from .line_models import Model, random_model

ITEMS: list[list[Any]] = [["Item", "Units", "Price", "Total"]]
ITEMS += [[f"item {n}", n * 7 % 13, n * n % 31 + 0.5, f"=B{n + 1}*C{n + 1}"] for n in range(1, 13)]
ITEMS += [["Sum", None, None, "=SUM(D2:D13)"]]


def found(before: Source, after: Source) -> dict[str, Any]:
    """Return the runs by sheet, rows and columns apart."""
    one, two = (Book(Package.open(side)) for side in (before, after))
    return {
        name: (lines.rows.runs, lines.columns.runs)
        for name, lines in line_changes(one, two).items()
    }


def came(at: int, count: int = 1) -> LineRun:
    return LineRun(at, False, count)


def went(at: int, count: int = 1) -> LineRun:
    return LineRun(at, True, count)


@pytest.mark.rule("F42.1")
def test_lines_know_where_each_line_is_and_was():
    lines = Lines("row", [came(3, 2), went(6, 3)])

    assert [lines.now(n) for n in (1, 2, 3, 5, 6, 8, 9)] == [1, 2, 5, 7, None, None, 8]
    assert [lines.was(n) for n in (2, 3, 4, 5, 7, 8)] == [2, None, None, 3, 5, 9]
    assert (lines.place(came(3, 2)), lines.place(went(6, 3))) == (3, 8)
    assert [str(one) for one in lines.undone([went(6, 3)])] == [str(LineShift("row", 8, 3))]
    alone = lines.without([came(3, 2)])
    assert {lines.told(n) for n in (5, 7, 8)} == {alone.told(n) for n in (3, 5, 6)} == {3, 5, 9}
    assert lines.told(3) != lines.told(4)


@pytest.mark.rule("F42.1", "F42.2")
def test_rows_and_columns_of_several_sheets_are_found_among_other_edits(tmp_path):
    before = book(
        tmp_path / "b.xlsx", ("Sales", ITEMS), ("Other", [["=SUM(Sales!D2:D9)", *"xyz"]] * 5)
    )
    edit(
        before,
        tmp_path / "a.xlsx",
        {"op": "insert_rows", "sheet": "Sales", "row": 5, "values": [["new", 1, 2, "=B5*C5"]]},
        {"op": "delete_rows", "sheet": "Sales", "from": 9, "to": 10},
        {"op": "insert_columns", "sheet": "Sales", "column": "B"},
        {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "C3", "value": 999}]},
        {"op": "delete_columns", "sheet": "Other", "from": "B"},
    )

    assert found(before, source(tmp_path / "a.xlsx")) == {
        "Sales": ((came(5), went(8, 2)), (came(2),)),
        "Other": ((), (went(2),)),
    }


@pytest.mark.rule("F42.1")
def test_workbooks_that_another_program_saved_are_looked_at_cell_by_cell(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", ITEMS))
    rows = [*ITEMS[:6], ["brand new", 5, 6, 7], *ITEMS[6:]]
    moved = [
        [v if i < 3 else _follow(v, at) for i, v in enumerate(row)]
        for at, row in enumerate(rows, 1)
    ]
    after = book(tmp_path / "a.xlsx", ("S", moved))

    assert found(before, after) == {"S": ((came(7),), ())}


def _follow(value: Any, row: int) -> Any:
    text = str(value)
    if text.startswith("=B"):
        return f"=B{row}*C{row}"
    return "=SUM(D2:D14)" if text.startswith("=SUM") else value


@pytest.mark.rule("F42.2")
def test_lines_among_blank_and_equal_ones_stand_where_references_say(tmp_path):
    same = [["x", 1, 2]] * 6
    rows = [*same, [], [], [], *same, ["=SUM(B1:B7)", "=SUM(B1:B8)", "=SUM(B1:B9)"]]
    before = book(tmp_path / "b.xlsx", ("S", rows))
    for at in (7, 8, 9):
        edit(before, tmp_path / "a.xlsx", {"op": "insert_rows", "sheet": "S", "row": at})
        assert found(before, source(tmp_path / "a.xlsx")) == {"S": ((came(at),), ())}


@pytest.mark.rule("F42.3")
def test_cells_that_were_written_anew_are_no_lines(tmp_path):
    before = book(
        tmp_path / "b.xlsx", ("S", ITEMS), ("Years", [[n, n * 3] for n in range(2020, 2030)])
    )
    file = openpyxl.load_workbook(before.path)
    file["S"].insert_rows(5)  # which lets no reference follow
    file.save(tmp_path / "shifted.xlsx")
    assert found(before, source(tmp_path / "shifted.xlsx")) == {}

    years = [[n + 1, n * 3 + 3] for n in range(2020, 2030)]
    swapped = [*ITEMS[:3], ITEMS[4][:3], ITEMS[3][:3]]
    for sheet, start, values in (("Years", "A1", years), ("S", "A1", [r[:3] for r in swapped])):
        op = {"op": "set_range", "sheet": sheet, "start": start, "values": values}
        edit(before, tmp_path / "typed.xlsx", op)
        assert found(before, source(tmp_path / "typed.xlsx")) == {}


@pytest.mark.rule("F42.2", "F42.3")
def test_lines_at_the_end_went_only_if_a_reference_knows_it(tmp_path):
    before = book(
        tmp_path / "b.xlsx", ("S", [["a", 1], ["b", 2], ["c", 3]]), ("T", [["=SUM(S!B1:B3)"]])
    )
    clear = {
        "op": "set_range",
        "sheet": "S",
        "start": "A3",
        "values": [[None, None]],
        "null_cells": "clear",
    }
    edit(before, tmp_path / "cleared.xlsx", clear)
    edit(before, tmp_path / "deleted.xlsx", {"op": "delete_rows", "sheet": "S", "from": 3})

    assert found(before, source(tmp_path / "cleared.xlsx")) == {}
    assert found(before, source(tmp_path / "deleted.xlsx")) == {"S": ((went(3),), ())}


def test_a_changed_cell_of_a_large_sheet_is_not_searched_for_lines(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[n, n * n] for n in range(4000)]))
    edit(
        before,
        tmp_path / "a.xlsx",
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B9", "value": 1}]},
    )
    after = source(tmp_path / "a.xlsx")

    assert calls(line_search.search, lambda: found(before, after)) == 0


@pytest.mark.timeout(1800)
@pytest.mark.rule("F42.1", "F42.2")
def test_lines_of_any_workbook_are_found_or_told_as_cells(tmp_path, scaled):
    exact = total = 0
    for seed in range(scaled(25, 600)):
        rnd = random.Random(seed)
        before = now = random_model(rnd)
        for _ in range(rnd.choice([1, 1, 2, 3])):
            name = rnd.choice(list(now.sheets))
            if now.sheets[name]:
                now = now.shifted(name, _any_shift(now, name, rnd))
        sides = before.write(tmp_path / "b.xlsx"), now.write(tmp_path / "a.xlsx")

        lines = line_changes(*(Book(Package.open(side)) for side in sides))
        again = before
        for name, own in lines.items():
            again = again.shifted(name, *own.shifts)

        assert _differing(again, now) <= _differing(before, now), seed
        exact += again == now
        total += 1
    assert exact > 0.85 * total  # the rest: lines at the end, lines that came where others went


def _any_shift(model: Model, name: str, rnd: random.Random) -> LineShift:
    axis = rnd.choice(["row", "row", "column"])
    most = max(place[axis == "column"] for place in model.sheets[name])
    at, by = rnd.randint(1, most), rnd.choice([1, 1, 2, 3, -1, -2])
    return LineShift("row" if axis == "row" else "column", at, max(by, at - most - 1))


def _differing(one: Model, two: Model) -> int:
    return sum(
        one.sheets[name].get(place) != two.sheets[name].get(place)
        for name in one.sheets
        for place in one.sheets[name].keys() | two.sheets[name].keys()
    )
