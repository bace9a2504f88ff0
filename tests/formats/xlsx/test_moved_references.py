"""References that follow inserted and deleted lines: by hand-made cases, and quick as slow."""

from __future__ import annotations

import random

import pytest

from backshop.formats.xlsx.syntax.address import MAX_COL, MAX_ROW, Area, parse_area
from backshop.formats.xlsx.syntax.line_reference import LineFormulas
from backshop.formats.xlsx.syntax.line_shift import LineShift
from backshop.formats.xlsx.syntax.reference import Reference, moved, references

INSERTED, DELETED = LineShift("row", 3, 2), LineShift("row", 3, -2)  # rows 3 and 4 of sheet S
CASES = [
    ("A1+$A$3:B7", "A1+$A$5:B9", "A1+$A$3:B5"),
    ("A2:A3", "A2:A5", "A2:A2"),
    ("A4:A9", "A6:A11", "A3:A7"),
    ("S!A3:A4", "S!A5:A6", "#REF!"),
    ("3:5", "5:7", "3:3"),
    ("$2:$4+3:$4", "$2:$6+5:$6", "$2:$2+#REF!"),
    ("A:C+'S'!$A:$A", "A:C+'S'!$A:$A", "A:C+'S'!$A:$A"),
    ("B7:A1", "B9:A1", "B5:A1"),
    ("A9:$B$2", "A11:$B$2", "A7:$B$2"),
    ("S!A1:S!B9", "S!A1:S!B11", "S!A1:S!B7"),
    ("S!A3:S!B4", "S!A5:S!B6", "#REF!"),
    ("INDEX(A1:A9,3):A7", "INDEX(A1:A11,3):A9", "INDEX(A1:A7,3):A5"),
    ('INDIRECT("A5")&A5', 'INDIRECT("A5")&A7', 'INDIRECT("A5")&A3'),
    ("Other!A5+Jan:Mar!A5+[1]S!A5", "Other!A5+Jan:Mar!A5+[1]S!A5", "Other!A5+Jan:Mar!A5+[1]S!A5"),
    ("T1[[#This Row],[A5]]*LOG10(A5)", "T1[[#This Row],[A5]]*LOG10(A7)", None),
    ("A1.:.A9 + A5", "A1.:.A11 + A7", "A1.:.A7 + A3"),
    ("A2:A1048576", "A2:A1048576", "A2:A1048574"),
    ("A1048576", "#REF!", "A1048574"),
    ("{1,2;3,5}*A5", "{1,2;3,5}*A7", "{1,2;3,5}*A3"),
]


@pytest.mark.rule("F35.2")
@pytest.mark.parametrize(("formula", "inserted", "deleted"), CASES)
def test_references_follow_rows_and_everything_else_stays(formula, inserted, deleted):
    assert moved(formula, "S", INSERTED.on("s")) == inserted
    if deleted is not None:
        assert moved(formula, "S", DELETED.on("S")) == deleted


@pytest.mark.rule("F35.2")
def test_references_without_a_sheet_belong_to_the_sheet_of_the_formula():
    assert moved("A5+S!A5", "T", INSERTED.on("S")) == "A5+S!A7"


@pytest.mark.rule("F35.2")
@pytest.mark.parametrize(
    ("formula", "now"),
    [
        ("A1:C3+B:B", "A1:D3+C:C"),
        ("A:C", "A:D"),
        ("$B$2", "$C$2"),
        ("5:6", "5:6"),
        ("XFD1", "#REF!"),
        ("A:XFD", "A:XFD"),
    ],
)
def test_references_follow_an_inserted_column(formula, now):
    assert moved(formula, "S", LineShift("column", 2, 1).on("S")) == now


def test_a_reference_may_follow_its_cells_to_another_sheet():
    def cut(reference: Reference) -> tuple[str, Area] | None:
        return ("Other sheet", Area(1, 1, 2, 1)) if reference.area == Area(5, 2, 6, 2) else None

    assert moved("SUM($B5:B$6)", "S", cut) == "SUM('Other sheet'!$A1:A$2)"
    assert references("SUM($B5:S!C9)", "S") == [
        Reference("S", Area(5, 2, 5, 2), (False, False), (True, True)),
        Reference("S", Area(9, 3, 9, 3)),
    ]


@pytest.mark.rule("F35.2")
@pytest.mark.parametrize("axis", ["row", "column"])
def test_a_rectangle_holds_the_cells_it_held_and_what_came_between(axis):
    dice = random.Random(35)
    for _ in range(2000):
        shift = LineShift(axis, dice.randint(1, 12), dice.choice((-4, -3, -1, 1, 2, 5)))
        first = dice.randint(1, 12)
        last = first + dice.randint(0, 9)
        held = [now for line in range(first, last + 1) if (now := shift.line(line))]

        span = shift.span(first, last)

        assert span == ((held[0], held[-1]) if held else None)
        for number in range(1, 20):
            now = shift.line(number)
            assert now is None or shift.origin(now) == number


def _formula(dice: random.Random) -> str:
    def cell() -> str:
        col, row = dice.choice("ABCDZ"), dice.choice((1, 2, 3, 4, 5, 9, 77, 1048576, 1048577, 0))
        return f"{dice.choice(('', '$'))}{col}{dice.choice(('', '$'))}{row}"

    sheets = ("S", "T", "S2", "'S'")
    kinds = [
        cell,
        cell,
        lambda: f"{cell()}:{cell()}",
        lambda: f"{dice.choice(sheets)}!{cell()}:{cell()}",
        lambda: f"S!{cell()}:S!{cell()}",
        lambda: f"{dice.randint(1, 9)}:{dice.randint(1, 9)}",
        lambda: f"{dice.choice('ABC')}:{dice.choice('ABC')}",
        lambda: str(dice.choice((1, 3, 1.5, 7e20))),
        lambda: f'"A{dice.randint(1, 9)}"',
        lambda: f"T{dice.randint(1, 2)}[A{dice.randint(1, 9)}]",
        lambda: f"Name{dice.randint(1, 3)}",
        lambda: f"LOG10({cell()})",
    ]
    return dice.choice("+*&").join(dice.choice(kinds)() for _ in range(dice.randint(1, 4)))


@pytest.mark.rule("F35.2")
@pytest.mark.parametrize("home", ["S", "T"])
@pytest.mark.parametrize("axis", ["row", "column"])
def test_many_formulas_follow_as_each_by_itself(home, axis):
    dice = random.Random(2)
    for by in (1, 3, -1, -2):
        shift = LineShift(axis, 3, by)
        many = LineFormulas(home, "S", shift)
        for _ in range(1500):
            formula = _formula(dice)
            assert many.moved(formula) == moved(formula, home, shift.on("S")), formula


def test_all_lines_of_a_sheet_stay_all():
    for axis, whole in (("row", "A:B"), ("column", "4:9")):
        area = parse_area(whole)
        assert area is not None
        shift = LineShift(axis, 5, 3)  # type: ignore[arg-type]
        assert shift.area(area) == area
        assert shift.inverse.area(area) == area
    assert LineShift("row", 1, 1).band == Area(1, 1, 1, MAX_COL)
    assert LineShift("column", 4, -2).band == Area(1, 4, MAX_ROW, 5)
