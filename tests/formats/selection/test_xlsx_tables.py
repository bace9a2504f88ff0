"""Named tables one by one: each that came, went or changed is taken or left by itself."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest

from backshop.formats import ChangeUnit, xlsx
from backshop.formats.protocol import Source

from ..xlsx.books import book, edit, opened, source

ROWS = [["Region", "Orders", "Price"], ["North", 3, 2.5], ["South", 5, 4], ["West", 7, 1]]
ADD = {"op": "add_table", "sheet": "Sales", "range": "A1:C4", "name": "Orders"}
SET = {"op": "set_cells", "sheet": "Sales", "cells": [{"cell": "B2", "value": 99}]}


def use(cell: str, formula: str) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": "Other", "cells": [{"cell": cell, "value": formula}]}


@pytest.fixture
def sales(tmp_path) -> Source:
    return book(tmp_path / "a.xlsx", ("Sales", ROWS), ("Other", [["k", "n"], ["x", 1]]))


@pytest.fixture
def made(tmp_path):
    count = iter(range(100))

    def make(base: Source, *operations: Any) -> Source:
        out = tmp_path / f"made{next(count)}.xlsx"
        edit(base, out, *operations)
        return source(out)

    return make


@pytest.fixture
def without(tmp_path):
    """Return what puts a file together without some changes."""

    def compose(before: Source, after: Source, *left: str) -> Any:
        out = tmp_path / "composed.xlsx"
        ids = {one.label: one.id for one in xlsx.separate(before, after)}
        xlsx.compose(before, after, frozenset(ids[label] for label in left), out)
        return opened(out)

    return compose


def labels(units: list[ChangeUnit]) -> list[str]:
    return sorted(one.label for one in units)


def choices(units: list[ChangeUnit]) -> list[tuple[str, ...]]:
    names = labels(units)
    return list(chain.from_iterable(combinations(names, n) for n in range(1, len(names))))


def tables(file: Any) -> set[str]:
    return {name for sheet in file for name in sheet.tables}


@pytest.mark.rule("F37.12", "F34.1", "F34.2")
def test_tables_that_came_are_taken_or_left_by_themselves(sales, made, without):
    second = {"op": "add_table", "sheet": "Other", "range": "A1:B2", "name": "Keys"}
    after = made(sales, ADD, second, SET)
    units = xlsx.separate(sales, after)

    assert [(one.kind, one.group, one.label, one.after) for one in units] == [
        ("table", "structure", "table Orders added", "Orders (A1:C4)"),
        ("cell", "values", "Sales!B2", "99"),
        ("table", "structure", "table Keys added", "Keys (A1:B2)"),
    ]
    for left in choices(units):
        file = without(sales, after, *left)
        gone = {label.split()[1] for label in left if label.startswith("table")}
        assert tables(file) == {"Orders", "Keys"} - gone
        assert file["Sales"]["B2"].value == (3 if "Sales!B2" in left else 99)


@pytest.mark.rule("F37.12", "F34.8")
def test_tables_that_went_stay_where_that_is_left_out(sales, made, without):
    second = {"op": "add_table", "sheet": "Other", "range": "A1:B2", "name": "Keys"}
    before = made(sales, ADD, second)
    drops = [{"op": "delete_table", "table": name} for name in ("Orders", "Keys")]
    after = made(before, *drops, SET)
    units = xlsx.separate(before, after)

    assert labels(units) == ["Sales!B2", "table Keys removed", "table Orders removed"]
    for left in choices(units):
        kept = {label.split()[1] for label in left if label.startswith("table")}
        assert tables(without(before, after, *left)) == kept


@pytest.mark.rule("F37.12", "F34.7")
def test_a_table_is_tied_to_its_headers_its_totals_and_what_names_it(sales, made, without):
    blank = made(sales, {"op": "clear_range", "sheet": "Sales", "range": "B1"})
    after = made(blank, {**ADD, "totals": True}, use("D1", "=SUM(Orders[Price])"), SET)
    units = xlsx.separate(blank, after)

    assert labels(units) == ["Sales!B2", "table Orders added and 4 more"]
    (unit,) = (one for one in units if one.kind == "table")
    assert unit.tied
    file = without(blank, after, unit.label)
    assert (tables(file), file["Other"]["D1"].value) == (set(), None)
    assert [file["Sales"][place].value for place in ("B1", "A5", "B2")] == [None, None, 99]


@pytest.mark.rule("F37.12")
def test_what_changed_of_a_table_is_one_change(sales, made, without):
    before = made(sales, ADD, use("D1", "=SUM(Orders[Price])"), use("D2", "=1"))
    change = {"op": "change_table", "table": "Orders", "new_name": "Sold", "style": "Light1"}
    after = made(before, change, SET)
    units = xlsx.separate(before, after)

    assert labels(units) == ["Sales!B2", "table Sold and Other!D1"]
    file = without(before, after, "table Sold and Other!D1")
    assert (tables(file), file["Other"]["D1"].value) == ({"Orders"}, "=SUM(Orders[Price])")
    styled = made(before, {"op": "change_table", "table": "Orders", "style": "Light1"}, SET)
    assert labels(xlsx.separate(before, styled)) == ["Sales!B2", "table Orders"]
    file = without(before, styled, "table Orders")
    assert file["Sales"].tables["Orders"].tableStyleInfo.name == "TableStyleMedium2"


@pytest.mark.rule("F37.12")
def test_tables_that_cannot_stand_beside_one_another_are_tied(sales, made, without):
    before = made(sales, {**ADD, "range": "A1:B4"}, use("D1", "=2"))
    after = made(
        before,
        {"op": "delete_table", "table": "Orders"},
        {**ADD, "range": "B1:C4", "name": "Price"},
        SET,
    )

    units = xlsx.separate(before, after)

    assert len([one for one in units if one.kind == "table"]) == 1
    for left in choices(units):
        assert len(tables(without(before, after, *left))) == 1


@pytest.mark.rule("F37.12", "F42.1")
def test_a_table_that_came_beside_rows_that_came(sales, made, without):
    rows = {"op": "insert_rows", "sheet": "Sales", "row": 3, "values": [["East", 1, 1]]}
    elsewhere = {"op": "insert_rows", "sheet": "Other", "row": 2}
    tied = made(sales, rows, {**ADD, "range": "A1:C5"}, elsewhere)
    units = xlsx.separate(sales, tied)

    assert len(units) == 2
    for left in choices(units):
        file = without(sales, tied, *left)
        if tables(file):
            assert file["Sales"].tables["Orders"].ref == "A1:C5"
            assert file["Sales"]["A3"].value == "East"
        else:
            assert file["Sales"]["A3"].value == "South"
