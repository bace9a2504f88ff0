"""What a writing tool answers about its effects: short for the caller, whole for the review."""

from __future__ import annotations

import json

import pytest
import xlsxwriter

ROWS = 190


@pytest.fixture
def orders(room, tmp_path):
    """A workbook of orders, and one of customers to look them up in."""
    path = tmp_path / "orders.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet, customers = made.add_worksheet("Orders"), made.add_worksheet("Customers")
        sheet.write_row(0, 0, ["Order", "Customer"])
        for row in range(1, ROWS + 1):
            sheet.write_row(row, 0, [row, row % 20])
        for row in range(20):
            customers.write_row(row, 0, [row, f"R{row % 4}"])
    room.call("WorkbenchFilesAdd", source_paths=[str(path)])
    return path.name


def lookups(more=""):
    table = "Customers!$A$1:$B$20,2,FALSE"
    cells = [
        {"cell": f"C{row}", "value": f"=VLOOKUP(B{row}{more},{table})"}
        for row in range(2, ROWS + 2)
    ]
    return [{"op": "set_cells", "sheet": "Orders", "cells": cells}]


@pytest.mark.rule("F16.16", "F24.10")
def test_many_formulas_are_answered_as_one_range_with_examples(room, use, orders):
    right = use("xlsx_operations", path=orders, operations=lookups())
    wrong = use("xlsx_operations", path=orders, operations=lookups("+99"))

    assert right.value["effects"] == {
        "targets": ["Orders!C2:C191"],
        "changed": [
            {
                "kind": "cell",
                "where": "Orders!C2:C191",
                "aspect": "formula",
                "count": 190,
                "first": "=VLOOKUP(B2,Customers!$A$1:$B$20,2,FALSE) → R1",
                "last": "=VLOOKUP(B191,Customers!$A$1:$B$20,2,FALSE) → R2",
            }
        ],
        "recalculated": [],
        "collateral": [],
        "totals": {"changed": 190, "recalculated": 0, "collateral": 0},
    }
    assert wrong.value["new_errors"] == [
        {
            "sheet": "Orders",
            "cell": "C2:C191",
            "error": "#N/A",
            "formula": "=VLOOKUP(B2+99,Customers!$A$1:$B$20,2,FALSE)",
            "count": 190,
        }
    ]
    for answer in (right, wrong):
        assert len(json.dumps(answer.value, default=list)) < 1500


@pytest.mark.rule("F16.13", "B12.21", "W11.20")
def test_the_review_keeps_every_cell_it_kept_before(room, use, orders):
    use("xlsx_operations", path=orders, operations=lookups("+99"))

    [entry] = room.call("ReviewGetChangeSet")["entries"]
    kept = room.call("ReviewGetSummary", path=orders)["effects"]

    assert (entry["collateral"], entry["new_error_count"]) == (0, 190)
    assert entry["new_errors"][:2] == ["Orders!C2", "Orders!C3"]
    assert kept["changed"][0] == {"kind": "cell", "where": "Orders!C2", "aspect": "formula"}
    assert (len(kept["changed"]), kept["totals"]["cells"]) == (200, 190)
