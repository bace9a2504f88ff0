"""Sorted rows, moved cells and copied sheets as changes that can be taken or left."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from backshop.formats.xlsx.selection.comparison import separate
from backshop.formats.xlsx.selection.composition import compose

from ..xlsx.books import book, edit, opened, source

ROWS: list[list[Any]] = [
    ["Name", "Amount", "Twice", "Far"],
    *([name, at, f"=B{row}*2|0", f"=T!A{row}|0"] for row, (name, at) in enumerate(
        [("d", 7), ("b", 3), ("e", 9), ("a", 1), ("c", 5)], 2
    )),
]  # fmt: skip
SORT = {"op": "sort_range", "sheet": "S", "range": "A1:D6", "by": [{"column": "Name"}]}
NOTE = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "H2", "value": "note"}]}


def made(tmp_path: Path, *operations: Any) -> tuple[Any, Any]:
    base = book(tmp_path / "in.xlsx", ("S", ROWS), ("T", [[n] for n in range(9)]))
    edit(base, tmp_path / "after.xlsx", *operations)
    return base, source(tmp_path / "after.xlsx")


@pytest.mark.rule("F39.17", "F34.1")
def test_rows_in_another_order_are_one_change_with_their_formulas(tmp_path):
    before, after = made(tmp_path, SORT, NOTE)

    units = separate(before, after)

    assert [unit.label.partition(" and ")[0] for unit in units] == [
        "rows of S!A2:B6 in another order",
        "S!H2",
    ]
    assert (units[0].kind, units[0].group, bool(units[0].tied)) == ("cell", "structure", True)


@pytest.mark.rule("F39.17", "F34.2")
@pytest.mark.parametrize(
    "operations",
    [
        (SORT, NOTE),
        (
            SORT,
            {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A3", "value": "edited"}]},
            NOTE,
        ),
        (
            {"op": "remove_duplicates", "sheet": "S", "range": "A1:D6", "columns": ["Name"]},
            SORT,
            NOTE,
        ),
        ({"op": "copy_sheet", "sheet": "S", "new_name": "More"}, NOTE, SORT),
        ({"op": "move_range", "sheet": "S", "range": "A2:A3", "to": "F8"}, NOTE),
        ({"op": "copy_range", "sheet": "S", "range": "A1:D3", "to": "A10"}, NOTE),
        ({"op": "move_sheet", "sheet": "T", "position": 0}, NOTE, SORT),
        ({"op": "set_sheet_state", "sheet": "T", "state": "hidden", "tab_color": "#00FF00"}, NOTE),
    ],
)
def test_any_choice_of_changes_can_be_put_together(tmp_path, operations):
    before, after = made(tmp_path, *operations)
    ids = [unit.id for unit in separate(before, after)]
    chosen = [{one} for one in ids[:4]] + [{*two} for two in combinations(ids[:4], 2)]

    for left_out in chosen:
        compose(before, after, frozenset(left_out), tmp_path / "some.xlsx")
        found = separate(before, source(tmp_path / "some.xlsx"))
        assert {unit.id for unit in found} == {*ids} - left_out


@pytest.mark.rule("F39.17")
def test_left_out_the_rows_stand_as_before(tmp_path):
    before, after = made(tmp_path, SORT, NOTE)
    order = separate(before, after)[0].id

    compose(before, after, frozenset({order}), tmp_path / "some.xlsx")

    sheet = opened(tmp_path / "some.xlsx")["S"]
    assert [row[0].value for row in sheet["A2:A6"]] == ["d", "b", "e", "a", "c"]
    assert sheet["D2"].value == "=T!A2"
    assert sheet["H2"].value == "note"


@pytest.mark.rule("F39.17")
def test_values_changed_here_and_there_are_changes_of_their_own(tmp_path):
    cells = [{"cell": "B2", "value": 3}, {"cell": "B3", "value": 7}, {"cell": "A5", "value": "z"}]
    before, after = made(tmp_path, {"op": "set_cells", "sheet": "S", "cells": cells})

    assert [unit.label for unit in separate(before, after)] == ["S!B2", "S!B3", "S!A5"]
