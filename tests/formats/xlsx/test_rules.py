"""Conditional formats and validations: they come, are listed and go; all else stays."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from lxml import etree

from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Selector, Source
from backshop.formats.xlsx.edit.rule import condition_xml, validation_operation

from .books import book, differing, edit, opened, source, text

ROWS: list[list[Any]] = [["n", "word"], *[[n, "ab" if n % 2 else "cd"] for n in range(1, 20)]]
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def plain(tmp_path) -> Source:
    return book(tmp_path / "a.xlsx", ("S", ROWS), ("Lists", [["Yes"], ["No"]]))


@pytest.fixture
def out(tmp_path) -> Path:
    return Path(tmp_path) / "out.xlsx"


def condition(kind: str, cells: str = "A2:A20", **fields: Any) -> dict[str, Any]:
    return {"op": "add_conditional_format", "sheet": "S", "range": cells, "kind": kind, **fields}


def validation(kind: str, cells: str = "A2:A20", **fields: Any) -> dict[str, Any]:
    return {"op": "set_validation", "sheet": "S", "range": cells, "kind": kind, **fields}


def without(kind: str, **fields: Any) -> dict[str, Any]:
    return {"op": f"delete_{kind}", "sheet": "S", **fields}


def listed(path: Path, **selector: Any) -> list[str]:
    return text(path, sheet="S", cells="rules", **selector).split("\n")[1:]


def refused(base: Source, out: Path, *ops: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        edit(base, out, *ops)
    assert not out.exists()
    return caught.value


def sheet_xml(path: Path) -> bytes:
    with zipfile.ZipFile(path) as file:
        return file.read(SHEET)


Given = dict[str, tuple[dict[str, Any], str]]
EVERY: Given = {
    "greater_than": ({"value": 5}, "above 5"),
    "less_than": ({"value": "2026-03-31"}, "below 46112"),
    "greater_or_equal": ({"value": 2.5}, "at least 2.5"),
    "less_or_equal": ({"value": "=$B$1"}, "at most $B$1"),
    "equal": ({"value": 'a"b'}, 'equal to "a""b"'),
    "not_equal": ({"value": True}, "not equal to TRUE"),
    "between": ({"value": 1, "value2": 2}, "between 1 and 2"),
    "not_between": ({"value": 1, "value2": 2}, "not between 1 and 2"),
    "contains_text": ({"value": "=cmd|' /C calc'!A0"}, "text containing “=cmd|' /C calc'!A0”"),
    "not_contains_text": ({"value": "x"}, "text not containing “x”"),
    "begins_with": ({"value": "<b>"}, "text beginning with “<b>”"),
    "ends_with": ({"value": 7}, "text ending with “7”"),
    "date": ({"value": "last 7 days"}, "dates in the last 7 days"),
    "duplicate": ({}, "repeated values"),
    "unique": ({}, "values that occur once"),
    "top": ({"value": 3}, "the highest 3"),
    "bottom": ({"value": 10, "percent": True}, "the lowest 10 %"),
    "above_average": ({"value": 2}, "above the average by 2 standard deviations"),
    "below_average": ({}, "below the average"),
    "blank": ({}, "empty cells"),
    "not_blank": ({}, "cells that are not empty"),
    "error": ({}, "errors"),
    "not_error": ({}, "cells without an error"),
    "formula": ({"formula": "=MOD($A2,2)=0"}, "when MOD($A2,2)=0"),
}
SCALES: Given = {
    "color_scale": (
        {"colors": ["#FF0000", "#FFFF00", "#00B050"], "mid": "percentile 40", "max": "90%"},
        "color scale: lowest red #FF0000, percentile 40 yellow #FFFF00, 90 % green #00B050",
    ),
    "data_bar": (
        {"colors": "#0070C0", "min": 0, "show_value": False},
        "solid data bars blue #0070C0 from 0 to automatic, without the values",
    ),
    "icon_set": (
        {"icons": "4arrows", "thresholds": [5, "50%", "=$B$1"], "reverse": True},
        "icons 4Arrows from 5, 50 %, =$B$1 on, reversed",
    ),
}


# --- conditional formats ------------------------------------------------------------------------


@pytest.mark.rule("F38.1", "F38.2", "F38.4")
def test_every_kind_of_condition_is_written_listed_and_opened_elsewhere(plain, out):
    look = {"fill_color": "#FFFF00", "font_color": "#C00000", "font_bold": True}
    ops = [condition(kind, style=look, **given) for kind, (given, _) in EVERY.items()]
    ops += [condition(kind, **given) for kind, (given, _) in SCALES.items()]

    result = edit(plain, out, *ops)

    said = "fill yellow #FFFF00, text dark red #C00000, bold"
    wanted = [f"{words}: {said}" for _, words in EVERY.values()]
    wanted += [words for _, words in SCALES.values()]
    assert listed(out) == [
        f"conditional format {at}\tA2:A20\t{words}" for at, words in enumerate(wanted, 1)
    ]
    assert {*EVERY, *SCALES} == set(condition_xml.KINDS)
    assert result.changed_parts == ("xl/styles.xml", SHEET)
    assert differing(plain.path, out) == {"xl/styles.xml", SHEET}
    assert result.effects.collateral == ()
    rules = [r for c in opened(out)["S"].conditional_formatting for r in c.rules]
    assert sorted(rule.priority for rule in rules) == [*range(1, len(ops) + 1)]
    first = next(rule for rule in rules if rule.priority == 1)
    assert (first.dxf.font.b, first.dxf.fill.bgColor.rgb) == (True, "FFFFFF00")


@pytest.mark.rule("F38.4")
def test_a_rule_comes_last_unless_its_priority_says_otherwise(plain, out, tmp_path):
    edit(plain, out, condition("greater_than", value=1), condition("greater_than", value=2))
    second = tmp_path / "b.xlsx"
    edit(
        source(out),
        second,
        condition("greater_than", value=3, priority=1, stop_if_true=True),
        condition("greater_than", value=4, priority=3),
        condition("greater_than", value=5, priority=99),
    )

    said = [line.split("\t")[2].split(":")[0] for line in listed(second)]
    assert said == ["above 3", "above 1", "above 4", "above 2", "above 5"]
    assert "stops rules after it" in listed(second)[0]


@pytest.mark.rule("F38.6")
def test_bars_are_said_in_the_words_of_old_and_new_programs(plain, out):
    edit(plain, out, condition("data_bar", min=0, max=50), condition("data_bar", solid=False))

    root: Any = etree.fromstring(sheet_xml(out))
    bars = [*root.iter("{*}dataBar")]
    old, new = bars[:2], bars[2:]
    ids = [item.text for item in root.iter("{*}id")]
    twins = [bar.getparent() for bar in new]
    assert [twin.get("id") for twin in twins] == ids
    assert len({*ids}) == 2
    assert [b.get("gradient") for b in new] == ["0", None]
    points = [[(c.get("type"), c.get("val")) for c in bar.iter("{*}cfvo")] for bar in old]
    assert points == [[("num", "0"), ("num", "50")], [("min", None), ("max", None)]]
    assert [c.get("type") for c in new[1].iter("{*}cfvo")] == ["autoMin", "autoMax"]


@pytest.mark.rule("F38.5", "F24.4", "F24.12", "F24.17")
def test_formulas_of_rules_are_checked_like_those_of_cells(plain, out):
    done = edit(plain, out, condition("formula", formula="=WENN($A2>3;WAHR;FALSCH)"))
    assert [w.code for w in done.warnings] == ["formula_corrected"]
    assert "when IF($A2>3,TRUE,FALSE)" in listed(out)[0]
    out.unlink()
    for formula, reason in (
        ("=WEBSERVICE(A1)>1", "unsafe_formula"),
        ("=[other.xlsx]S!A1>1", "unsafe_formula"),
        ("=cmd|'/C calc'!A0", "unsafe_formula"),
        ("=Nowhere!A1>1", "unknown_sheet"),
        ("=Unnamed>1", "bad_value"),
        ("=OR(A2={1,2})", "bad_value"),
        ("=SUM(A2", "bad_value"),
        ("=" + "A1+" * 4000 + "1", "bad_value"),
        ("=Table1[X]>1", "bad_value"),
    ):
        for op in (condition("formula", formula=formula), validation("custom", formula=formula)):
            assert refused(plain, out, op).reason == reason, formula


@pytest.mark.rule("F38.3", "F38.4", "F38.5")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "pivot"}, "bad_value"),
        ({"kind": "greater_than"}, "missing_field"),
        ({"kind": "between", "value": 1}, "missing_field"),
        ({"kind": "duplicate", "value": 1}, "op_conflict"),
        ({"kind": "data_bar", "style": {"font_bold": True}}, "op_conflict"),
        ({"kind": "data_bar", "stop_if_true": True}, "op_conflict"),
        ({"kind": "date", "value": "someday"}, "bad_value"),
        ({"kind": "top", "value": 0}, "bad_value"),
        ({"kind": "top", "value": 101, "percent": True}, "bad_value"),
        ({"kind": "contains_text", "value": ""}, "missing_field"),
        ({"kind": "contains_text", "value": "x" * 256}, "too_large"),
        ({"kind": "formula"}, "missing_field"),
        ({"kind": "color_scale", "colors": ["#FF0000"]}, "bad_value"),
        ({"kind": "color_scale", "colors": ["red", "blue"]}, "bad_value"),
        ({"kind": "color_scale", "colors": ["#FF0000", "#00FF00"], "mid": 3}, "op_conflict"),
        ({"kind": "color_scale", "min": "=A1"}, "bad_value"),
        ({"kind": "icon_set", "icons": "3Stars"}, "bad_value"),
        ({"kind": "icon_set", "thresholds": [1]}, "bad_value"),
        ({"kind": "duplicate", "style": {"font_size": 20}}, "bad_value"),
        ({"kind": "duplicate", "priority": 0}, "bad_value"),
        ({"kind": "duplicate", "range": ""}, "bad_range"),
        ({"kind": "duplicate", "range": " , "}, "bad_range"),
        ({"kind": "duplicate", "range": "Lists!A1"}, "bad_range"),
        ({"kind": "duplicate", "range": "XFE1:XFZ9"}, "bad_range"),
        ({"kind": "duplicate", "range": "A1048577"}, "bad_range"),
        ({"kind": "duplicate", "range": ",".join(["A1"] * 65)}, "bad_range"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused_with_its_place(plain, out, fields, reason):
    error = refused(plain, out, {**condition("duplicate"), **fields})

    assert error.reason == reason
    assert str(error.detail).startswith("operations[0].")


@pytest.mark.rule("F38.3")
def test_ranges_may_be_several_overlap_and_be_whole_columns(plain, out):
    edit(plain, out, condition("duplicate", "A1:B5, B2:C3;$E$1"), condition("unique", "C:C"))

    assert [line.split("\t")[1] for line in listed(out)] == ["A1:B5, C2:C3, E1", "C:C"]


@pytest.mark.rule("F38.4", "F16.7")
def test_what_a_conditional_format_cannot_show_is_left_out_and_told(plain, out):
    style = {"font_size": 20, "font_italic": True, "border_top": {"style": "thick"}}
    done = edit(plain, out, condition("duplicate", style=style))

    told = [(w.code, w.where) for w in done.warnings]
    assert told == [
        ("style_value_ignored", "operations[0].style.font_size"),
        ("style_value_ignored", "operations[0].style.border_top.style"),
    ]
    (rule,) = [r for c in opened(out)["S"].conditional_formatting for r in c.rules]
    assert (rule.dxf.font.i, rule.dxf.font.sz, rule.dxf.border.top.style) == (True, None, "thin")


# --- validations --------------------------------------------------------------------------------


@pytest.mark.rule("F38.1", "F38.2", "F38.7")
def test_every_kind_of_validation_is_written_listed_and_opened_elsewhere(plain, out):
    said: Given = {
        "list": ({"values": ["ab", "c d", 7, True]}, "one of: ab, c d, 7, TRUE"),
        "whole": (
            {"operator": "between", "value": 1, "value2": 9},
            "a whole number between 1 and 9",
        ),
        "decimal": ({"operator": "less_than", "value": 2.5}, "a number below 2.5"),
        "date": ({"operator": "greater_than", "value": "2026-03-31"}, "a date above 46112"),
        "time": ({"operator": "less_or_equal", "value": "12:00"}, "a time at most 0.5"),
        "text_length": ({"operator": "equal", "value": 3}, "a text length equal to 3"),
        "custom": ({"formula": "LEN(G1)<4"}, "when LEN(G1)<4"),
        "any": ({"prompt": "as you like"}, "any value; prompt “as you like”"),
    }
    ops = [
        validation(kind, f"{column}1:{column}9", **given)
        for column, (kind, (given, _)) in zip("ABCDEFGH", said.items(), strict=True)
    ]

    result = edit(plain, out, *ops)

    assert set(said) == set(validation_operation.KINDS)
    assert [line.split("\t")[2] for line in listed(out)] == [words for _, words in said.values()]
    assert differing(plain.path, out) == {SHEET}
    assert result.effects.collateral == ()
    found = opened(out)["S"].data_validations.dataValidation
    assert [one.type for one in found[:3]] == ["list", "whole", "decimal"]
    assert found[0].formula1 == '"ab,c d,7,TRUE"'


@pytest.mark.rule("F38.7")
def test_a_list_of_cells_means_the_same_cells_everywhere_and_messages_are_kept(plain, out):
    fields = {"prompt_title": "Pick", "prompt": "a\nb", "error_title": "No", "error": "<&>"}
    edit(
        plain,
        out,
        validation("list", "C2:C9", source="Lists!A1:A2", **fields, error_style="warning"),
        validation("list", "D2", source="=$A$2:$A$5", dropdown=False, allow_blank=False),
    )

    one, two = opened(out)["S"].data_validations.dataValidation
    assert (one.formula1, two.formula1) == ("Lists!$A$1:$A$2", "$A$2:$A$5")
    assert (one.promptTitle, one.prompt, one.errorTitle, one.error) == ("Pick", "a\nb", "No", "<&>")
    assert (one.errorStyle, one.allowBlank, one.showDropDown) == ("warning", True, False)
    assert (two.allowBlank, two.showDropDown) == (False, True)


@pytest.mark.rule("F38.7")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "list", "values": ["a, b"]}, "bad_value"),
        ({"kind": "list", "values": ["x" * 100] * 3}, "bad_value"),
        ({"kind": "list", "values": []}, "bad_value"),
        ({"kind": "list", "values": ["  "]}, "bad_value"),
        ({"kind": "list"}, "missing_field"),
        ({"kind": "list", "values": ["a"], "source": "A1:A2"}, "missing_field"),
        ({"kind": "list", "source": "Yes,No"}, "bad_value"),
        ({"kind": "list", "source": "A1:B2"}, "bad_range"),
        ({"kind": "list", "source": "Gone!A1:A2"}, "unknown_sheet"),
        ({"kind": "list", "source": "NoSuchName"}, "bad_value"),
        ({"kind": "list", "source": "[b.xlsx]S!A1:A2"}, "unsafe_formula"),
        ({"kind": "list", "values": ["a"], "operator": "equal"}, "op_conflict"),
        ({"kind": "whole", "value": 1}, "missing_field"),
        ({"kind": "whole", "operator": "near", "value": 1}, "bad_value"),
        ({"kind": "whole", "operator": "equal"}, "missing_field"),
        ({"kind": "whole", "operator": "equal", "value": 1.5}, "bad_value"),
        ({"kind": "whole", "operator": "equal", "value": 1, "value2": 2}, "op_conflict"),
        ({"kind": "whole", "operator": "between", "value": 3, "value2": 2}, "bad_value"),
        ({"kind": "date", "operator": "equal", "value": "31.3.2026"}, "bad_value"),
        ({"kind": "custom"}, "missing_field"),
        ({"kind": "any"}, "missing_field"),
        ({"kind": "list", "values": ["a"], "prompt": "x" * 256}, "too_large"),
        ({"kind": "list", "values": ["a"], "error": "x" * 226}, "too_large"),
        ({"kind": "list", "values": ["a"], "prompt_title": "x" * 33}, "too_large"),
        ({"kind": "list", "values": ["a"], "error_style": "loud"}, "bad_value"),
        ({"kind": "list", "values": ["a"], "range": "nowhere"}, "bad_range"),
    ],
)
def test_a_validation_that_makes_no_sense_is_refused_with_its_place(plain, out, fields, reason):
    error = refused(plain, out, {**validation("list"), **fields})

    assert error.reason == reason
    assert str(error.detail).startswith("operations[0].")


@pytest.mark.rule("F38.7")
def test_values_that_do_not_fit_into_a_list_are_sent_to_cells(plain, out):
    for values in (["a, b"], ["x" * 100] * 3):
        error = refused(plain, out, validation("list", values=values))
        assert "source" in error.hints[0]


@pytest.mark.rule("F38.8")
def test_a_cell_has_one_validation_the_older_one_keeps_its_other_cells(plain, out, tmp_path):
    edit(plain, out, validation("custom", "B2:D9", formula="=LEN(B2)<9"))
    second = tmp_path / "b.xlsx"
    done = edit(source(out), second, validation("list", "A1:B4", values=["x"]))

    assert [line.split("\t")[1:] for line in listed(second)] == [
        ["C2:D4, B5:D9", "when LEN(B2)<9"],
        ["A1:B4", "one of: x"],
    ]
    assert done.effects.collateral == ()
    third = tmp_path / "c.xlsx"
    edit(source(second), third, validation("list", "C2:D4,B5:D8", values=["y"]))
    assert listed(third)[0].split("\t")[1:] == ["B9:D9", "when LEN(B9)<9"]


@pytest.mark.rule("F38.9")
def test_values_that_a_new_validation_would_not_take_are_counted(plain, out):
    for op, count, where in (
        (validation("list", "B2:B20", values=["ab"]), 9, "S!B3, B5, B7, B9, B11, …"),
        (validation("list", "B2:B20", values=["AB", "cd"]), 10, "S!B2, B4, B6, B8, B10, …"),
        (validation("list", "A1", source="Lists!A1:A2"), 1, "S!A1"),
        (validation("whole", operator="less_than", value=17), 3, "S!A18, A19, A20"),
        (validation("text_length", "B1:B20", operator="equal", value=2), 1, "S!B1"),
    ):
        done = edit(plain, out, op)
        assert [(w.code, w.count, w.where) for w in done.warnings] == [
            ("breaks_validation", count, where)
        ]
    done = edit(plain, out, validation("decimal", operator="greater_than", value="=$A$2"))
    assert done.warnings == ()
    assert done.changes[0][1].endswith("; present values were not checked")


@pytest.mark.rule("F23.7", "F38.8")
def test_the_same_validation_again_changes_nothing(plain, out, tmp_path):
    op = validation("list", values=["x"])
    edit(plain, out, op)
    again = tmp_path / "again.xlsx"
    edit(source(out), again, op)

    assert again.read_bytes() == out.read_bytes()


# --- taking them away ---------------------------------------------------------------------------


@pytest.mark.rule("F38.10")
def test_rules_go_by_number_by_range_or_from_some_cells(plain, out, tmp_path):
    first = condition("formula", "A2:B20", formula="=$A2>B2")
    edit(plain, out, first, condition("data_bar"), condition("duplicate"))
    second = tmp_path / "b.xlsx"
    done = edit(
        source(out),
        second,
        without("conditional_format", number=2),
        without("conditional_format", range="A1:A4,B20"),
    )

    assert [line.split("\t")[1:] for line in listed(second)] == [
        ["B2:B4, A5:B19, A20", "when $A2>B2: fill #FFC7CE, text #9C0006"],
        ["A5:A20", "repeated values: fill #FFC7CE, text #9C0006"],
    ]
    assert b"extLst" not in sheet_xml(second)
    assert done.effects.collateral == ()
    assert "solid data bars #638EC6 from automatic to automatic) removed" in done.changes[0][1]
    third = tmp_path / "c.xlsx"
    edit(source(second), third, without("conditional_format", number=[1, 2]))
    assert listed(third) == []
    assert sheet_xml(third) == sheet_xml(plain.path)


@pytest.mark.rule("F38.10")
def test_a_rule_that_is_not_there_is_refused_with_those_that_are(plain, out, tmp_path):
    edit(plain, out, condition("duplicate"), validation("list", values=["x"]))
    base, fresh = source(out), tmp_path / "b.xlsx"
    for kind in ("conditional_format", "validation"):
        for fields in ({"number": 2}, {"range": "C1:D9"}):
            error = refused(base, fresh, without(kind, **fields))
            assert error.reason == "no_match"
            assert error.hints[0].startswith("1: A2:A20: ")
        assert refused(base, fresh, without(kind)).reason == "missing_field"
        assert refused(base, fresh, without(kind, number="x")).reason == "bad_type"


@pytest.mark.rule("F38.10", "F23.4")
def test_rules_of_pivot_tables_stay(tmp_path, out):
    path = tmp_path / "pivot.xlsx"
    book(tmp_path / "a.xlsx", ("S", ROWS))
    edit(source(tmp_path / "a.xlsx"), path, condition("duplicate"), condition("unique"))
    _rewrite(path, b'<conditionalFormatting sqref="A2:A20">', b' pivot="1"')

    assert listed(path)[0].endswith("; of a pivot table")
    base = source(path)
    assert refused(base, out, without("conditional_format", number=1)).reason == "op_conflict"
    first = condition("blank", priority=1)
    assert refused(base, out, first).reason == "op_conflict"
    edit(base, out, without("conditional_format", range="A1:B20"))
    assert len(listed(out)) == 1


def _rewrite(path: Path, tag: bytes, more: bytes) -> None:
    with zipfile.ZipFile(path) as file:
        held = {name: file.read(name) for name in file.namelist()}
    held[SHEET] = held[SHEET].replace(tag, tag[:-1] + more + b">", 1)
    with zipfile.ZipFile(path, "w") as file:
        for name, data in held.items():
            file.writestr(name, data)


@pytest.mark.rule("F38.3", "F23.10")
def test_a_protected_sheet_keeps_its_rules(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        file.add_worksheet("S").protect()
        file.add_worksheet("T").protect("", {"format_cells": True})
    base = source(path)
    for op in (
        condition("duplicate"),
        validation("list", values=["x"]),
        without("conditional_format", range="A1"),
        without("validation", range="A1"),
    ):
        assert refused(base, out, op).reason == "sheet_protected"
    edit(base, out, {**condition("duplicate"), "sheet": "T"})


# --- rules that others made ---------------------------------------------------------------------


@pytest.fixture
def theirs(tmp_path) -> Source:
    """Return a workbook with rules as Excel writes them, some in extensions."""
    path = tmp_path / "theirs.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, red = file.add_worksheet("S"), file.add_format({"bg_color": "red"})
        sheet.write_column("A1", range(9))
        cell = {"type": "cell", "criteria": ">", "value": 4, "format": red}
        sheet.conditional_format("A1:A9", cell)
        sheet.conditional_format("A1:A9", {"type": "blanks", "format": red})
        sheet.conditional_format("B1:B9", {"type": "data_bar"})
        sheet.conditional_format("C1:C9", {"type": "data_bar", "data_bar_2010": True})
        sheet.data_validation("D1:D9", {"validate": "list", "source": ["x", "y"]})
    return source(path)


@pytest.mark.rule("F38.2", "F38.10", "F23.3")
def test_rules_of_others_are_listed_and_go_one_by_one(theirs, out):
    assert len(listed(theirs.path)) == 5
    edit(theirs, out, without("conditional_format", range="A3"))

    assert [line.split("\t")[1] for line in listed(out)[:2]] == ["A1:A2, A4:A9"] * 2
    bars = [item.get("id") for item in etree.fromstring(sheet_xml(out)).iter("{*}cfRule")]
    assert len([one for one in bars if one]) == 1
    done = edit(theirs, out, without("conditional_format", number=4))
    assert b"x14:cfRule" not in sheet_xml(out)
    assert done.effects.collateral == ()
    assert [e.kind for e in done.effects.changed][:1] == ["conditional format"]


@pytest.mark.rule("F38.2")
def test_rules_are_read_for_a_range_and_in_chunks(plain, out):
    many = [condition("equal", "C1:C9", value=n) for n in range(99)]
    edit(plain, out, *many, validation("list", "D1", values=["x"]))
    more = out.with_name("more.xlsx")
    edit(source(out), more, condition("unique", "E1"))

    read = xlsx.read(source(more), Selector(sheet="S", cells="rules"))
    assert read.chunk_info.total_chunks == 2
    assert read.chunk_info.next is not None
    rest = xlsx.read(source(more), read.chunk_info.next)
    assert (rest.text.count("\n"), rest.chunk_info.next) == (1, None)
    assert [line.split("\t")[0] for line in listed(more, range="D1:E1")] == [
        "conditional format 100",
        "validation 1",
    ]
    assert listed(more, range="H1") == []


@pytest.mark.rule("F38.1")
def test_rules_follow_lines_and_other_operations_of_one_call(plain, out):
    lines = {"op": "insert_rows", "sheet": "S", "row": 3, "count": 2}
    done = edit(plain, out, condition("data_bar"), validation("list", "B2:B9", values=["x"]), lines)

    assert [line.split("\t")[1] for line in listed(out)] == ["A2:A22", "B2:B11"]
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.10", "F39.13", "F38.6")
@pytest.mark.parametrize(
    ("op", "twins"),
    [
        ({"op": "copy_range", "range": "A2:A20", "to": "D2"}, [True, False]),
        ({"op": "move_range", "range": "A2:A20", "to": "D2"}, [True]),
        ({"op": "move_range", "range": "A2:A9", "to": "D2"}, [True, False]),
    ],
)
def test_copied_bars_do_not_share_what_newer_programs_know(plain, out, tmp_path, op, twins):
    edit(plain, out, condition("data_bar"))
    later = tmp_path / "b.xlsx"
    edit(source(out), later, {"sheet": "S", **op})

    root: Any = etree.fromstring(sheet_xml(later))
    rules = [*root.iter("{http://schemas.openxmlformats.org/spreadsheetml/2006/main}cfRule")]
    assert [rule.find("{*}extLst") is not None for rule in rules] == twins
    assert sum("solid" in line for line in listed(later)) == 1


# --- review -------------------------------------------------------------------------------------


@pytest.mark.rule("F38.11", "B12.22")
def test_a_review_says_which_rule_came_went_or_changed(plain, out, tmp_path):
    edit(plain, out, condition("greater_than", value=9), condition("data_bar", "B2:B9"))
    later = tmp_path / "b.xlsx"
    edit(
        source(out),
        later,
        without("conditional_format", number=1, range="A9:A20"),
        without("conditional_format", number=2),
        validation("list", "B1", values=["x"]),
    )

    told = xlsx.diff_rest(source(out), source(later))["rest"]
    assert isinstance(told, list)
    assert told[0]["what"] == [
        "conditional format holds for A2:A8, before for A2:A20: "
        "above 9: fill #FFC7CE, text #9C0006",
        "conditional format on B2:B9 removed: solid data bars #638EC6 from automatic to automatic",
        "validation on B1 added: one of: x",
    ]


@pytest.mark.rule("F38.2")
def test_openpyxl_reads_back_what_the_list_says(plain, out):
    edit(plain, out, condition("between", value=1, value2=2))
    (held,) = openpyxl.load_workbook(out)["S"].conditional_formatting
    assert str(held.sqref) == "A2:A20"
    assert held.rules[0].formula == ["1", "2"]
