"""Conditional formats and validations one by one: each taken or left, whatever else is."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest

from backshop.formats import xlsx
from backshop.formats.protocol import Source

from ..xlsx.books import book, edit, source, text

ROWS = [["n", "word"], *[[n, "ab"] for n in range(1, 20)]]


def condition(kind: str, cells: str = "A2:A20", **fields: Any) -> dict[str, Any]:
    return {"op": "add_conditional_format", "sheet": "S", "range": cells, "kind": kind, **fields}


def validation(cells: str, *values: str) -> dict[str, Any]:
    fields = {"sheet": "S", "range": cells, "kind": "list", "values": list(values)}
    return {"op": "set_validation", **fields}


def without(kind: str, **fields: Any) -> dict[str, Any]:
    return {"op": f"delete_{kind}", "sheet": "S", **fields}


@pytest.fixture
def before(tmp_path) -> Source:
    base = book(tmp_path / "a.xlsx", ("S", ROWS), ("Lists", [["Yes"], ["No"]]))
    edit(
        base,
        tmp_path / "before.xlsx",
        condition("greater_than", value=3),
        condition("data_bar", "A2:B20"),
        condition("formula", "B2:B20", formula="=$A2=Lists!$A$1"),
        validation("A2:A20", "x"),
        validation("B2:B20", "y"),
    )
    return source(tmp_path / "before.xlsx")


def rules(path: Path) -> list[list[str]]:
    lines = text(path, sheet="S", cells="rules").split("\n")[1:]
    return [line.split("\t")[1:] for line in lines]


def every_mixture(before: Source, after: Source, out: Path) -> int:
    """Put together every mixture of the changes; it is verified by whoever writes it."""
    ids = [one.id for one in xlsx.separate(before, after)]
    sets = chain.from_iterable(combinations(ids, size) for size in range(1, len(ids)))
    count = 0
    for left in sets:
        xlsx.compose(before, after, frozenset(left), out)
        count += 1
    return count


@pytest.mark.rule("F38.12", "F34.1", "F34.2", "F34.4")
def test_each_rule_is_a_change_of_its_own(before, tmp_path):
    path, out = tmp_path / "after.xlsx", tmp_path / "out.xlsx"
    edit(
        before,
        path,
        condition("duplicate", "C1:C9", priority=1),
        condition("data_bar", "D1:D9", min=0, priority=2),
        without("conditional_format", number=4),
        without("conditional_format", number=3, range="A2:A9"),
        validation("B5:C6", "z"),
    )
    after = source(path)
    units = xlsx.separate(before, after)

    assert [(u.kind, u.group, u.label, u.tied) for u in units] == [
        ("part", "looks", "conditional format on S!C1:C9", None),
        ("part", "looks", "conditional format on S!D1:D9", None),
        ("part", "looks", "conditional format on S!A2:B20", None),
        ("part", "other", "validation on S!B2:B4, B7:B20", None),
        ("part", "looks", "conditional format on S!A10:A20", None),
    ]
    assert units[4].after == "A10:A20: above 3: fill #FFC7CE, text #9C0006"
    assert units[2].after is None
    assert every_mixture(before, after, out) == 30
    ids = {u.label: u.id for u in units}
    left = {ids["conditional format on S!C1:C9"], ids["validation on S!B2:B4, B7:B20"]}
    xlsx.compose(before, after, frozenset(left), out)
    assert [where for where, _ in rules(out)] == [
        *("D1:D9", "A10:A20", "B2:B20", "A2:A20", "B2:B20"),
    ]


@pytest.mark.rule("F38.12", "F42.8")
def test_rules_are_taken_with_or_without_lines_that_came(before, tmp_path):
    path, out = tmp_path / "after.xlsx", tmp_path / "out.xlsx"
    edit(
        before,
        path,
        {"op": "insert_rows", "sheet": "S", "row": 5, "count": 2},
        condition("top", "A2:A22", value=3),
        condition("data_bar", "C2:C12"),
        without("conditional_format", number=2),
        validation("B8:B9", "q"),
    )
    after = source(path)

    assert len(xlsx.separate(before, after)) == 5
    assert every_mixture(before, after, out) == 30


@pytest.mark.rule("F38.12")
def test_what_cannot_be_told_apart_is_one_change(before, tmp_path):
    path, out = tmp_path / "after.xlsx", tmp_path / "out.xlsx"
    edit(before, path, condition("unique", "C1"), condition("unique", "C1"), validation("E1", "x"))
    after = source(path)

    units = xlsx.separate(before, after)
    assert len(units) == 2
    assert every_mixture(before, after, out) == 2


@pytest.mark.rule("F38.12", "F34.7")
def test_a_rule_goes_with_the_sheet_it_names(before, tmp_path):
    path, out = tmp_path / "after.xlsx", tmp_path / "out.xlsx"
    edit(
        before,
        path,
        {"op": "ensure_sheet", "sheet": "New"},
        condition("less_than", "C1:C9", value="=New!$A$1"),
        condition("unique", "D1"),
    )
    after = source(path)

    units = xlsx.separate(before, after)
    assert len(units) == 2
    assert every_mixture(before, after, out) == 2
