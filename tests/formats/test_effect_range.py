"""Effects told as ranges: nothing is lost, nothing is told twice (F16.16)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.effect_range import EffectRange, joined, joined_places
from backshop.formats.protocol import Effect, Effects
from backshop.formats.xlsx.syntax.address import cell_name, parse_area

CELLS = st.sets(st.tuples(st.integers(1, 9), st.integers(1, 30)), max_size=60)


def cells(*places, aspect="value", now=""):
    return [Effect(kind="cell", where=f"S!{one}", aspect=aspect, now=now) for one in places]


def area(where):
    found = parse_area(where.removeprefix("S!"))
    assert found is not None
    return found


@pytest.mark.rule("F16.16")
@given(values=CELLS, looks=CELLS)
def test_ranges_hold_exactly_the_cells_that_changed_and_each_once(values, looks):
    effects = cells(*(cell_name(*one) for one in values))
    effects += cells(*(cell_name(*one) for one in looks), aspect="style")

    found = joined(effects)

    covered = [(cell, one.aspect) for one in found for cell in area(one.where).cells()]
    told = {
        cell: ", ".join(a for a, there in (("value", values), ("style", looks)) if cell in there)
        for cell in values | looks
    }
    assert sorted(covered) == sorted(told.items())
    assert sum(one.count for one in found) == len(values | looks)


@pytest.mark.rule("F16.16")
def test_neighbours_of_every_kind_are_joined_and_others_are_not():
    effects = [
        Effect(kind="row", where="A b!3:3", aspect="structure"),
        Effect(kind="row", where="A b!4:4", aspect="structure"),
        Effect(kind="column", where="S!Z:Z", aspect="structure"),
        Effect(kind="column", where="S!AA:AA", aspect="structure"),
        Effect(kind="cell", where="S!D1:E1", aspect="structure"),
        Effect(kind="cell", where="S!F1", aspect="structure"),
        *(
            Effect(kind="paragraph", where=f"paragraph {n}", aspect="added")
            for n in (9, 10, 11, 13)
        ),
        Effect(kind="cell", where="paragraph 12 row 0 column 1"),
        Effect(kind="line", where="lines 4-9"),
        Effect(kind="shape", where="slide 2 shape 3"),
        Effect(kind="shape", where="slide 3 shape 4"),
        Effect(kind="part", where="xl/workbook.xml"),
        Effect(kind="sheet", where="Q1", aspect="added"),
        Effect(kind="sheet", where="Q2", aspect="added"),
        Effect(kind="sheet", where="paragraph 7", aspect="added"),
        Effect(kind="sheet", where="paragraph 8", aspect="added"),
    ]

    assert [(one.where, one.count) for one in joined(effects)] == [
        ("A b!3:4", 2),
        ("S!Z:AA", 2),
        ("S!D1:E1", 1),
        ("S!F1", 1),
        ("paragraphs 9-11", 3),
        ("paragraph 13", 1),
        ("paragraph 12 row 0 column 1", 1),
        ("lines 4-9", 1),
        ("slide 2 shape 3", 1),
        ("slide 3 shape 4", 1),
        ("xl/workbook.xml", 1),
        ("Q1", 1),
        ("Q2", 1),
        ("paragraph 7", 1),
        ("paragraph 8", 1),
    ]
    assert joined_places(["S!A1", "S!A2", "T!A3", "Q1", "S!B1", "Q2", "S!B2"]) == [
        "S!A1:B2",
        "T!A3",
        "Q1",
        "Q2",
    ]


@pytest.mark.rule("F16.16")
def test_each_thing_is_told_once_and_collateral_is_told_apart():
    formula = cells("A1", "A2", aspect="formula", now="=1 → 1")
    values = cells("A1", "A2", "B1", now="=1 → 1")
    planted = cells("C9", now="boo")
    part = [Effect(kind="part", where="xl/x.xml", aspect="content")]

    told = Effects.compare(
        targets=["S!A1", "S!A2"],
        changed=[*formula, *values, *planted, *part],
        aimed_at=lambda one: one not in planted,
        recalculated=values,
    ).told

    assert told.to_json() == {
        "targets": ["S!A1:A2"],
        "changed": [
            {
                "kind": "cell",
                "where": "S!A1:A2",
                "aspect": "formula",
                "count": 2,
                "first": "=1 → 1",
                "last": "=1 → 1",
            }
        ],
        "recalculated": [{"kind": "cell", "where": "S!B1", "aspect": "value", "now": "=1 → 1"}],
        "collateral": [{"kind": "cell", "where": "S!C9", "aspect": "value", "now": "boo"}],
        "totals": {"changed": 2, "recalculated": 1, "collateral": 1},
    }


@pytest.mark.rule("F16.13")
def test_cells_whose_results_only_follow_are_not_among_the_cells_that_changed():
    written, follows = cells("A1", "A2", aspect="formula"), cells("A1", "A2", "B1", "B2")

    report = Effects.compare(
        targets=["S!A1:A2"],
        changed=[*written, *follows],
        aimed_at=lambda _: True,
        recalculated=follows,
    )

    assert (report.totals["cells"], report.totals["recalculated"]) == (2, 4)


@pytest.mark.rule("F16.16")
def test_what_is_not_listed_any_more_is_counted():
    scattered = cells(*(f"A{2 * n}" for n in range(1, 300)))

    told = Effects.compare(targets=[], changed=scattered, aimed_at=lambda _: False).told

    assert len(told.collateral) == 40
    assert told.totals["collateral"] == 299
    assert told.collateral[0] == EffectRange(kind="cell", where="S!A2", aspect="value")
