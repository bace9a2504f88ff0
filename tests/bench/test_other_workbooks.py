"""Workbooks of other formats and with macros, through the tools and the review (F40)."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter

from .conftest import Room

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.rule("F40.10", "F40.15", "B6.1", "B7.3")
@pytest.mark.parametrize("name", ["sheets.ods", "sheets.xls"])
def test_an_agent_reads_asks_and_copies_the_values_of_a_workbook_it_cannot_write(room, use, name):
    room.add({name: (DATA / name).read_bytes()})

    info = use("get_file_info", path=name)
    read = use("read_file", path=name, sheet="It's 2nd", range="A1:A1")
    found = use("search_files", query="Item 59")
    refused = use(
        "xlsx_operations", path=name, operations=[{"op": "delete_sheet", "sheet": "Sales"}]
    )
    made = use("table_export", path=name, sheet="Sales", target_path="new.xlsx", format="xlsx")

    assert (info.value["kind"], info.value["writable"]) == ("xlsx", False)
    assert read.value["text"].endswith("\n1\t7")
    assert [one["path"] for one in found.value["files"]] == [name]
    assert (refused.ok, refused.code) == (False, "read_only_format")
    assert "table_export" in refused.value["hints"][0]
    assert made.ok
    assert (
        use("read_file", path="new.xlsx", range="B61")
        .value["text"]
        .endswith("Item 60 \u00e9\u4e2d")
    )


@pytest.mark.rule("F40.5", "F40.13", "B12.9")
def test_a_review_says_that_macros_are_there_and_what_is_not_compared(room: Room, use, tmp_path):
    path, code = tmp_path / "a.xlsm", tmp_path / "code.bin"
    code.write_bytes(b"macros")
    with xlsxwriter.Workbook(str(path)) as made:
        made.add_vba_project(str(code))
        made.add_worksheet("S").write(0, 0, 1)
    room.add({"a.xlsm": path.read_bytes(), "b.ods": (DATA / "sheets.ods").read_bytes()})
    cells = [{"cell": "A1", "value": 2}]

    done = use(
        "xlsx_operations",
        path="a.xlsm",
        operations=[{"op": "set_cells", "sheet": "S", "cells": cells}],
    )
    shown = room.call("ReviewGetDiff", path="a.xlsm")

    assert done.value["macros"] == "kept as they were, not run"
    assert shown["notes"] == [
        "The workbook has macros. They were not run, and they are as they were."
    ]
    assert shown["body"]["cell_count"] == 1
    units = room.call("ReviewListChanges", path="a.xlsm")["changes"]
    assert [one["label"] for one in units] == ["S!A1"]
