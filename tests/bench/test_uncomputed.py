"""Formulas without a result: named in a tool's answer and in the review (F24.15)."""

from __future__ import annotations

import io
from typing import Any

import pytest
from openpyxl import Workbook
from tests.bench.test_review import done

from backshop.bench.review import effect
from backshop.formats import remaining

TODAY = "S!C1:C3: TODAY gives another value every time"


def workbook() -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "S"
    for row in (1, 2, 3):
        sheet.append([row, row, f"=A{row}+TODAY()", f"=C{row}*2", f"=BAHTTEXT(A{row})"])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


@pytest.mark.rule("F24.15", "F24.10")
def test_cells_without_a_result_are_named_with_function_and_reason(room, use):
    room.add({"w.xlsx": workbook()})
    cells = [{"cell": f"A{row}", "value": 7} for row in (1, 2, 3)]
    op = {"op": "set_cells", "sheet": "S", "cells": cells}

    told = done(use("xlsx_operations", path="w.xlsx", operations=[op]))["recalculated"]

    assert told == {
        "computed": 0,
        "not_computed": 9,
        "reasons": {"unknown_function": 3, "volatile": 6},
        "uncomputed": [
            {"where": "S!E1:E3", "function": "BAHTTEXT", "reason": "unknown_function", "count": 3},
            {"where": "S!D1:D3", "reason": "volatile", "count": 3},
            {"where": "S!C1:C3", "function": "TODAY", "reason": "volatile", "count": 3},
        ],
    }
    (entry,) = room.call("ReviewGetChangeSet")["entries"]
    assert entry["uncomputed_count"] == 9
    assert entry["uncomputed"] == [
        "S!E1:E3: BAHTTEXT is not computed here",
        "S!D1:D3: what it reads gives another value every time",
        TODAY,
    ]


@pytest.mark.rule("F24.15", "B12.21")
def test_a_later_write_names_what_is_left_and_hides_nothing(room, use):
    room.add({"w.xlsx": workbook()})

    def write(cell: str, value: object) -> Any:
        op = {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": value}]}
        done(use("xlsx_operations", path="w.xlsx", operations=[op]))
        (entry,) = room.call("ReviewGetChangeSet")["entries"]
        return entry["uncomputed"]

    first = write("A2", 5)
    other = write("G9", "note")
    mended = write("C2", 4)
    last = write("E2", "=B2")

    assert first == other
    assert first[0] == "S!E2: BAHTTEXT is not computed here"
    assert mended == ["S!E2: BAHTTEXT is not computed here"]
    assert last == []


@pytest.mark.rule("F24.15")
def test_reports_of_earlier_releases_are_joined_as_before():
    old: dict[str, Any] = {"changed": [], "totals": {"changed": 1}, "new_errors": []}
    gap = {"where": "S!B1:B4", "reason": "volatile", "function": "NOW", "count": 4}

    assert "uncomputed" not in effect.joined(old, old)
    assert effect.joined({**old, "uncomputed": [gap]}, old)["uncomputed"] == [gap]
    assert effect.joined({**old, "uncomputed": [gap]}, {**old, "settled": ["S!B2:C3"]})[
        "uncomputed"
    ] == [{**gap, "where": "S!B1", "count": 1}, {**gap, "where": "S!B4", "count": 1}]


@pytest.mark.rule("F24.15")
def test_what_is_left_of_ranges_is_told_as_ranges():
    assert remaining(["S!A1:C3"], ["S!B2"]) == ["S!A1:C1", "S!A2", "S!C2", "S!A3:C3"]
    assert remaining(["S!A1", "T!A1"], ["S!A1:Z9", "no range"]) == ["T!A1"]
    assert remaining(["It's!A1:A9"], ["It's!A3:A4"]) == ["It's!A1:A2", "It's!A5:A9"]
    assert remaining(["S!A1:XFD1048576", "part"], ["S!A1"]) == ["S!A1:XFD1048576", "part"]
