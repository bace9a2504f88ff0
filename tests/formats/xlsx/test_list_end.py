"""Formulas that end right beside new rows and columns, and do not take them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backshop.formats.errors import FormatError

from .books import book, edit

BILL: list[list[Any]] = [
    ["Item", "Pieces", "Price", "Sum", "Until here"],
    ["Tea", 2, 3, "=B2*C2|6", "=SUM(D$2:D2)|6"],
    ["Ink", 1, 9, "=B3*C3|9", "=SUM(D$2:D3)|15"],
    ["Pad", 4, 2, "=B4*C4|8", "=SUM(D$2:D4)|23"],
    ["Total", None, None, "=SUM(D2:D4)|23"],
]
OTHER = [["=AVERAGE(Bill!C2:C4)|4.6", "=SUM(Bill!B:B)|7", "=Bill!C4|2"]]
NEW = ["Pen", 5, 1, "=B5*C5", "=SUM(D$2:D5)"]


def said(tmp_path: Path, *operations: dict[str, Any]) -> list[tuple[int, str | None]]:
    base = book(tmp_path / "in.xlsx", ("Bill", BILL), ("Other", OTHER))
    done = edit(base, tmp_path / "out.xlsx", *operations)
    return [(one.count, one.where) for one in done.warnings if one.code == "range_not_extended"]


def insert(row: int, *values: list[Any]) -> dict[str, Any]:
    return {"op": "insert_rows", "sheet": "Bill", "row": row, "values": list(values)}


@pytest.mark.rule("F17.17")
def test_a_row_at_the_end_of_a_list_that_its_sum_leaves_out_is_said(tmp_path: Path) -> None:
    assert said(tmp_path, insert(5, NEW)) == [
        (
            2,
            "Bill!D6 (=SUM(D2:D4)), Other!A1 (=AVERAGE(Bill!C2:C4)) do not take in the new row 5 "
            "of Bill",
        )
    ]
    first = ["Pen", 5, 1, "=B2*C2"]
    assert said(tmp_path, insert(2, first))[0][0] == 2


@pytest.mark.rule("F17.17")
@pytest.mark.parametrize(
    "operations",
    [
        pytest.param([insert(4, ["Pen", 5, 1, "=B4*C4"])], id="inside"),
        pytest.param([insert(5, ["see below"])], id="no numbers"),
        pytest.param([insert(5, ["Pen", None, None, "=SUM(D2:D4)"])], id="a sum of its own"),
        pytest.param(
            [
                insert(5, NEW),
                {
                    "op": "set_cells",
                    "sheet": "Bill",
                    "cells": [{"cell": "D6", "value": "=SUM(D2:D5)"}],
                },
                {
                    "op": "set_cells",
                    "sheet": "Other",
                    "cells": [{"cell": "A1", "value": "=AVERAGE(Bill!C2:C5)"}],
                },
            ],
            id="taken in later",
        ),
        pytest.param([{"op": "insert_rows", "sheet": "Bill", "row": 5}], id="empty"),
    ],
)
def test_nothing_is_said_where_nothing_is_left_out(
    tmp_path: Path, operations: list[dict[str, Any]]
) -> None:
    assert said(tmp_path, *operations) == []


@pytest.mark.rule("F17.17")
def test_appended_rows_and_inserted_columns_are_said_likewise(tmp_path: Path) -> None:
    months = [["", "Jan", "Feb", "Q"], ["A", 1, 2, "=SUM(B2:C2)|3"], ["B", 3, 4, "=SUM(B3:C3)|7"]]
    base = book(tmp_path / "a.xlsx", ("S", months), ("T", [["=SUM(S!B2:B3)|4"]]))
    column = {"op": "insert_columns", "sheet": "S", "column": "D", "values": [["Mar"], [5], [6]]}
    rename = {"op": "rename_sheet", "sheet": "S", "new_name": "Plan"}
    done = edit(base, tmp_path / "o.xlsx", column, rename)
    assert [one.where for one in done.warnings] == [
        "Plan!E2 (=SUM(B2:C2)), Plan!E3 (=SUM(B3:C3)) do not take in the new column D of Plan"
    ]
    row = {"op": "append_rows", "sheet": "S", "values": [["C", 7, 8]]}
    done = edit(base, tmp_path / "o.xlsx", row)
    assert [one.where for one in done.warnings] == [
        "T!A1 (=SUM(S!B2:B3)) does not take in the new row 4 of S"
    ]


@pytest.mark.rule("F17.12")
def test_rows_below_totals_are_refused_with_the_call_that_takes_them_in(tmp_path: Path) -> None:
    base = book(tmp_path / "a.xlsx", ("S", [["n", "v"], ["a", 1], ["b", 2]]))
    table = {"op": "add_table", "sheet": "S", "range": "A1:B3", "name": "List", "totals": True}
    append = {"op": "append_rows", "sheet": "S", "values": [["c", 3]]}
    with pytest.raises(FormatError) as refused:
        edit(base, tmp_path / "o.xlsx", table, append)
    assert refused.value.hints[0].startswith("insert_rows with row 4 and these values")
    into = {"op": "insert_rows", "sheet": "S", "row": 4, "values": [["c", 3]]}
    assert edit(base, tmp_path / "o.xlsx", table, into).warnings == ()
