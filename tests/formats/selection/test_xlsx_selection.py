"""Changes of a workbook one by one: any subset gives a sound file with just these changes."""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from openpyxl.comments import Comment
from openpyxl.styles import Font

from backshop.base.place import FILE, Place
from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Source
from backshop.formats.selection.change_unit import GROUPS, ChangeUnit
from backshop.formats.xlsx.annotation.note_box import Boxes

from ..rates import Rate
from ..xlsx.books import book, differing, edit, lines, mapped, opened, sheet_of, source

FOLDERS = ("xlsx-features", "ooxml-odd", "office-fixtures")
NEW = "neu ß & <x>"
_FAILURES_OF_THE_OTHER = (IndexError, AttributeError, TypeError, ValueError, KeyError)


def composed(before: Source, after: Source, out: Path, left: set[str]) -> Path:
    """Compose and hold what counts: what differs from before is exactly what was not left out."""
    units = {unit.id for unit in xlsx.separate(before, after)}
    out.unlink(missing_ok=True)
    xlsx.compose(before, after, frozenset(left), out)
    made = source(out)
    assert {unit.id for unit in xlsx.separate(before, made)} == units - left
    assert bool(xlsx.separate(made, after)) == bool(left)
    return out


def without(before: Source, after: Source, out: Path, *labels: str) -> Path:
    """Leave out the units of these labels."""
    units = xlsx.separate(before, after)
    left = {unit.id for unit in units if unit.label in labels}
    assert len(left) == len(labels), [unit.label for unit in units]
    return composed(before, after, out, left)


def told(before: Source, after: Source) -> dict[str, ChangeUnit]:
    units = xlsx.separate(before, after)
    assert len({unit.id for unit in units}) == len(units)
    assert {unit.group for unit in units} <= set(GROUPS)
    return {unit.label: unit for unit in units}


def set_cells(sheet: str, **cells: Any) -> dict[str, Any]:
    given = [{"cell": cell, "value": value} for cell, value in cells.items()]
    return {"op": "set_cells", "sheet": sheet, "cells": given}


def changed(path: Path, *ops: dict[str, Any], of: Source) -> Source:
    edit(of, path, *ops)
    return source(path)


def rewritten(path: Path, part: str, change: Callable[[bytes], bytes]) -> Source:
    """Change the bytes of one part of a package."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in parts.items():
            new.writestr(name, content)
    return source(path)


def part_of(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as file:
        return file.read(name)


def parts_of(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as file:
        return file.namelist()


# --- files that others made ---------------------------------------------------------------------


def _workbooks(corpora: Path, every: int) -> list[Path]:
    return sorted(p for f in FOLDERS for p in (corpora / f).rglob("*.xlsx"))[::every]


def _operations(name: str, used: Any, rnd: random.Random) -> list[dict[str, Any]]:
    below = (used or {"max_row": 0})["max_row"] + 3
    cells = [{"cell": "A1", "value": NEW, "style": {"font_bold": True}}, {"cell": "B2", "value": 7}]
    ops: list[dict[str, Any]] = [
        {"op": "set_cells", "cells": cells},
        {"op": "set_range", "start": f"C{below}", "values": [[1, "x"], [None, True]]},
        {"op": "fill_formula", "range": f"C{below}:D{below + 3}", "formula": "=SUM(A$1:A1)"},
        {"op": "replace_text", "search": "e", "replace": "€€"},
        {"op": "append_rows", "values": [["x", 2]], "style": {"fill_color": "#FFEEDD"}},
        {"op": "set_style", "range": "A1:C3", "style": {"number_format": "0.0", "wrap_text": True}},
        {"op": "merge_cells", "range": f"D{below + 5}:E{below + 6}"},
        {"op": "unmerge_cells", "range": "A1:Z99"},
        {"op": "set_column_widths", "columns": [{"column": "B", "width": 21}]},
        {"op": "set_row_heights", "rows": [{"row": 2, "height": 31}]},
        {"op": "freeze_panes", "row": 2, "column": 1},
        {"op": "set_autofilter", "range": "A1:C3"},
        {"op": "ensure_sheet", "sheet": "Brand new", "position": 0},
        {"op": "rename_sheet", "new_name": "Another's name"},
    ]
    some = sorted(rnd.sample(range(len(ops)), 6))
    return [{"sheet": name, **ops[at]} for at in some]


def _edited(before: Source, folder: Path, rnd: random.Random) -> Source:
    """Make several edits, those that the workbook allows."""
    sheet = next(s for s in mapped(before)["sheets"] if s["kind"] == "worksheet")
    now = before
    for at, op in enumerate(_operations(sheet["name"], sheet["used_range"], rnd)):
        out = folder / f"{at % 2}.xlsx"
        try:
            edit(now, out, op)
        except FormatError:
            continue
        now = source(out)
    return now


@pytest.mark.needs("corpora")
@pytest.mark.timeout(3600)
@pytest.mark.rule("F34.1", "F34.2", "F34.3", "F34.4")
def test_any_changes_of_any_workbook_can_be_left_out(corpora, tmp_path, scaled, record_property):
    rate, out = Rate("workbooks with some of their changes"), tmp_path / "out.xlsx"
    for path in _workbooks(corpora, scaled(60, 2)):
        rnd = random.Random(path.name)
        before = source(path)
        try:
            after = _edited(before, tmp_path, rnd)
        except (FormatError, StopIteration):
            continue
        ids = [unit.id for unit in told(before, after).values()]
        for share in (0.2, *rnd.choices((0.5, 0.8), k=scaled(1, 3))):
            left = {one for one in ids if rnd.random() < share}
            composed(before, after, out, left)
            if _opens(path):
                assert _opens(out), path.name
            rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 10


def _opens(path: Path) -> bool:
    try:
        opened(path)
    except Exception:  # the second reader fails on some of these files in its own ways
        return False
    return True


@pytest.mark.needs("corpora")
@pytest.mark.timeout(3600)
@pytest.mark.rule("F34.1", "F34.2", "F34.5")
def test_a_workbook_that_another_program_wrote_anew_is_put_together_as_well(
    corpora, tmp_path, scaled, record_property
):
    rate, out, saved = Rate("workbooks"), tmp_path / "out.xlsx", tmp_path / "saved.xlsx"
    for path in _workbooks(corpora, scaled(120, 4)):
        rnd = random.Random(path.name)
        try:
            file = opened(path)
            sheet = file.worksheets[0]
            sheet["A1"], sheet["C3"], sheet["D4"] = "by another", 4.5, "=SUM(A1:C3)"
            sheet["B2"].font = Font(bold=True, name="Arial")
            if rnd.random() < 0.3:
                file.create_sheet("Foreign")
            if rnd.random() < 0.3:
                sheet.title = "Renamed"
            file.save(saved)
            before, after = source(path), source(saved)
            ids = [unit.id for unit in told(before, after).values()]
        except (FormatError, zipfile.BadZipFile, *_FAILURES_OF_THE_OTHER):
            continue  # not written by the other program, or not read by us
        for share in rnd.choices((0.2, 0.5, 0.8), k=scaled(1, 3)):
            left = {one for one in ids if rnd.random() < share}
            try:
                composed(before, after, out, left)
            except FormatError as error:
                assert error.reason in ("signed_document", "macro_enabled_read_only"), path.name
                continue
            rate.edited += 1

    rate.record(record_property)
    assert rate.edited > 3


# --- cells --------------------------------------------------------------------------------------


@pytest.mark.rule("F34.1", "F34.2", "F34.6")
def test_one_cell_is_left_out_and_results_follow(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 2, "=A1+B1|3"], ["x", "y"]]))
    after = changed(tmp_path / "a.xlsx", set_cells("S", A1=10, B1=20, A2="z"), of=before)

    made = without(before, after, tmp_path / "o.xlsx", "S!A1")

    cells = opened(made)["S"]
    assert (cells["A1"].value, cells["B1"].value, cells["A2"].value) == (1, 20, "z")
    assert "21" in xlsx.extract_lines(source(made))[0]
    assert [unit.group for unit in xlsx.separate(before, after)] == ["values"] * 3  # no result


@pytest.mark.rule("F34.6")
def test_a_result_that_cannot_be_computed_is_not_kept(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 5, '=CELL("width",A1)+A1|9']]))
    after = changed(tmp_path / "a.xlsx", set_cells("S", A1=10, B1=20), of=before)

    made = without(before, after, tmp_path / "o.xlsx", "S!A1")

    assert "9" not in xlsx.extract_lines(source(made))[0].rpartition("{=")[0].rpartition("|")[2]


@pytest.mark.rule("F34.1", "F34.4")
def test_what_a_cell_holds_and_how_it_looks_are_two_changes(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 2]]))
    style = {"cell": "A1", "value": 5, "style": {"font_bold": True}}
    after = changed(
        tmp_path / "a.xlsx", {"op": "set_cells", "sheet": "S", "cells": [style]}, of=before
    )
    units = told(before, after)
    assert {label: unit.group for label, unit in units.items()} == {
        "S!A1": "values",
        "look of S!A1": "looks",
    }
    assert (units["S!A1"].before, units["S!A1"].after) == ("1", "5")
    assert units["look of S!A1"].after == "bold on"
    assert units["S!A1"].place == Place(sheet="S", range="A1")

    plain = opened(without(before, after, tmp_path / "o.xlsx", "look of S!A1"))["S"]["A1"]
    assert (plain.value, plain.font.b) == (5, False)
    bold = opened(without(before, after, tmp_path / "o.xlsx", "S!A1"))["S"]["A1"]
    assert (bold.value, bold.font.b) == (1, True)


@pytest.mark.rule("F34.2", "F34.3")
def test_parts_that_no_decision_is_about_stay_to_the_byte(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 2]]), ("T", [["a"]]))
    after = changed(tmp_path / "a.xlsx", set_cells("S", A1=5, B1=6), of=before)
    made = without(before, after, tmp_path / "o.xlsx", "S!A1")
    assert differing(before.path, made) == {"xl/worksheets/sheet1.xml"}


@pytest.mark.rule("F34.5")
def test_the_cell_that_holds_a_shared_formula_is_left_or_taken_like_any_other(tmp_path):
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f t="shared" ref="B1:B3" si="0">A1*2</f>'
        "<v>2</v></c></row>"
        '<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/><v>4</v></c></row>'
        '<row r="3"><c r="A3"><v>3</v></c><c r="B3"><f t="shared" si="0"/><v>6</v></c></row>'
    )
    before = sheet_of(tmp_path / "b.xlsx", rows)
    after = changed(tmp_path / "a.xlsx", set_cells("S", B1="gone", B3="=A3*5", A1=9), of=before)
    assert set(told(before, after)) == {"S!A1", "S!B1", "S!B3"}

    formulas = opened(without(before, after, tmp_path / "o.xlsx", "S!B1"))["S"]
    assert [formulas[f"B{n}"].value for n in (1, 2, 3)] == ["=A1*2", "=A2*2", "=A3*5"]
    formulas = opened(without(before, after, tmp_path / "o.xlsx", "S!B3", "S!A1"))["S"]
    assert [formulas[f"B{n}"].value for n in (1, 2, 3)] == ["gone", "=A2*2", "=A3*2"]


@pytest.mark.rule("F34.4", "F34.5")
def test_a_formula_over_several_cells_is_one_change(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 10, 7], [2, 20, 8], [3, 30, 9]]))
    array = {"cell": "B1:B3", "value": "=A1:A3*2", "type": "array_formula"}
    ops = {"op": "set_cells", "sheet": "S", "cells": [array, {"cell": "C1", "value": 70}]}
    after = changed(tmp_path / "a.xlsx", ops, of=before)
    units = told(before, after)
    assert len(units) == 2
    (tied,) = (unit for unit in units.values() if unit.tied)
    assert tied.group == "formulas"

    made = opened(composed(before, after, tmp_path / "o.xlsx", {tied.id}))["S"]
    assert [made[f"B{n}"].value for n in (1, 2, 3)] == [10, 20, 30]
    assert made["C1"].value == 70
    made = opened(without(before, after, tmp_path / "o.xlsx", "S!C1"))["S"]
    assert made["B1"].value.ref == "B1:B3"


@pytest.mark.rule("F34.5")
def test_a_spilling_formula_is_taken_where_the_metadata_part_is_another(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 2], [2, 3]]))
    after = changed(tmp_path / "a.xlsx", set_cells("S", D1="=UNIQUE(A1:A2)", A1=5), of=before)
    after = rewritten(after.path, "docProps/app.xml", lambda xml: xml.replace(b"Excel", b"Other"))
    after = rewritten(after.path, "xl/workbook.xml", _protected)
    units = told(before, after)
    (rest,) = (unit for unit in units.values() if unit.kind == "part")

    made = composed(before, after, tmp_path / "o.xlsx", {rest.id, units["S!A1"].id})

    assert b' cm="1"' in part_of(made, "xl/worksheets/sheet1.xml")
    assert "xl/metadata.xml" in parts_of(made)


def _protected(xml: bytes) -> bytes:
    return xml.replace(b"<bookViews>", b'<workbookProtection lockStructure="1"/><bookViews>')


@pytest.mark.rule("F34.5")
def test_texts_with_looks_inside_go_over_between_different_lists_of_strings(tmp_path):
    def made(path: Path, *texts: Any) -> Source:
        with xlsxwriter.Workbook(str(path)) as file:
            sheet, bold = file.add_worksheet("S"), file.add_format({"bold": True})
            for row, text in enumerate(texts):
                if isinstance(text, list):
                    sheet.write_rich_string(
                        row, 0, *(bold if piece is ... else piece for piece in text)
                    )
                else:
                    sheet.write(row, 0, text)
        return source(path)

    rich = ["one ", ..., "two & <three>"]
    before = made(tmp_path / "b.xlsx", "first", rich, "third", True, 45_000.5)
    after = made(tmp_path / "a.xlsx", "erst", "plain", rich, False, 1)

    out = without(before, after, tmp_path / "o.xlsx", "S!A1", "S!A2", "S!A4")

    data = part_of(out, "xl/worksheets/sheet1.xml")
    assert len(re.findall(rb"<b/>", data)) == 1  # that of A2, come over from the other list
    cells = opened(out)["S"]
    assert [cells[f"A{n}"].value for n in (1, 2, 4, 5)] == ["first", "one two & <three>", True, 1]


@pytest.mark.rule("F34.5")
def test_formats_of_another_style_table_are_translated(tmp_path):
    def made(
        path: Path, formats: list[dict[str, Any]], chosen: list[int], values: list[int]
    ) -> Source:
        with xlsxwriter.Workbook(str(path)) as file:
            sheet = file.add_worksheet("S")
            known = [file.add_format(one) for one in formats]
            for row, (at, value) in enumerate(zip(chosen, values, strict=True)):
                sheet.write(row, 0, value, known[at])
        return source(path)

    red, blue, money = (
        {"font_color": "#FF0000"},
        {"bg_color": "#0000FF"},
        {"num_format": '0.00 "€"'},
    )
    before = made(tmp_path / "b.xlsx", [red, blue, money], [0, 1, 2], [1, 2, 3])
    after = made(tmp_path / "a.xlsx", [money, red, blue], [0, 0, 2], [1, 2, 3])
    assert set(told(before, after)) == {"look of S!A1", "look of S!A2", "look of S!A3"}

    cells = opened(without(before, after, tmp_path / "o.xlsx", "look of S!A1"))["S"]
    assert cells["A1"].font.color.rgb == "FFFF0000"
    assert cells["A2"].number_format == '0.00 "€"'
    assert cells["A3"].fill.fgColor.rgb == "FF0000FF"


@pytest.mark.rule("F34.2", "F34.5")
def test_odd_cells_and_rows_survive(tmp_path):
    rows = (
        "<row><c><v>1</v></c><c><v>2</v></c><c t='str'><f>\"a\"&amp;B1</f><v>a2</v></c></row>"
        '<row r="3" s="0" ht="20" customHeight="1"><c r="B3" t="e"><v>#N/A</v></c>'
        '<c r="C3" t="inlineStr"><is><r><rPr><i/></rPr><t>in</t></r><r>'
        '<t xml:space="preserve"> line</t></r></is></c><c r="D3" t="d"><v>2026-01-02</v></c></row>'
        '<row r="5"><c r="A5"><f t="dataTable" ref="A5:A6" dt2D="0" dtr="0" r1="A1"/><v>4</v></c>'
        '</row><row r="6"><c r="A6"><v>5</v></c><c r="B6"/></row>'
    )
    before = sheet_of(tmp_path / "b.xlsx", rows)
    cells = set_cells("S", A1=9, B3="new", C3="plain", D3=4, B6="x", C1="=B1")
    after = changed(tmp_path / "a.xlsx", cells, of=before)
    labels = told(before, after)
    assert set(labels) == {"S!A1", "S!C1", "S!B3", "S!C3", "S!D3", "S!B6"}
    for label in labels:
        made = without(before, after, tmp_path / "o.xlsx", label)
        data = part_of(made, "xl/worksheets/sheet1.xml")
        assert (b"<i/>" in data) == (label == "S!C3")
        assert (b"#N/A" in data) == (label == "S!B3")
        assert (b"2026-01-02" in data) == (label == "S!D3")
        assert b'r1="A1"' in data


# --- sheets and what surrounds the cells --------------------------------------------------------


@pytest.mark.rule("F34.4", "F34.7")
def test_an_added_sheet_goes_with_the_formulas_that_name_it(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 2]]))
    add = {"op": "ensure_sheet", "sheet": "Neu", "position": 0}
    ops = (add, set_cells("Neu", A1=4), set_cells("S", C1="=Neu!A1*2", A1=9))
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    units = told(before, after)
    (sheet,) = (unit for unit in units.values() if unit.kind == "sheet")
    assert sheet.tied
    assert set(units) == {sheet.label, "S!A1"}

    made = opened(composed(before, after, tmp_path / "o.xlsx", {sheet.id}))
    assert made.sheetnames == ["S"]
    assert (made["S"]["A1"].value, made["S"]["C1"].value) == (9, None)
    made = opened(without(before, after, tmp_path / "o.xlsx", "S!A1"))
    assert (made.sheetnames, made["S"]["C1"].value) == (["Neu", "S"], "=Neu!A1*2")


@pytest.mark.rule("F34.7")
def test_a_deleted_sheet_comes_back_with_all_that_was_its_own(tmp_path):
    path = tmp_path / "b.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        first, gone = file.add_worksheet("S"), file.add_worksheet("Gone")
        first.write(0, 0, 1)
        first.write_formula(0, 1, "=Gone!A1", None, 3)
        gone.write(0, 0, 3)
        chart = file.add_chart({"type": "bar"})
        chart.add_series({"values": "=Gone!$A$1"})
        gone.insert_chart("C3", chart)
        file.define_name("Gone!Own", "=Gone!$A$1")
    before = source(path)
    ops = ({"op": "delete_sheet", "sheet": "Gone"}, set_cells("S", A1=5))
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    (sheet,) = (unit for unit in told(before, after).values() if unit.kind == "sheet")

    made = composed(before, after, tmp_path / "o.xlsx", {sheet.id})

    assert differing(path, made) == {"xl/worksheets/sheet1.xml"}
    assert opened(made)["S"]["B1"].value == "=Gone!A1"
    made = without(before, after, tmp_path / "o.xlsx", "S!A1")
    assert opened(made).sheetnames == ["S"]
    assert "xl/charts/chart1.xml" not in parts_of(made)


@pytest.mark.rule("F34.3", "F34.7")
def test_a_sheet_keeps_its_old_name_while_changes_on_it_are_taken(tmp_path):
    path = tmp_path / "b.xlsx"
    rows = [[1, "='Old one'!A1|1"], [2, "='Old one'!A2|2"]]
    before = book(path, ("Old one", rows), ("T", [["='Old one'!A1+1|2"]]))
    ops = (
        {"op": "rename_sheet", "sheet": "Old one", "new_name": "New"},
        set_cells("New", A1=7, C1="=New!A2*3"),
    )
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    units = told(before, after)
    assert set(units) == {"sheet New renamed", "New!A1", "New!C1"}
    assert (units["sheet New renamed"].before, units["sheet New renamed"].after) == (
        "Old one",
        "New",
    )

    made = opened(without(before, after, tmp_path / "o.xlsx", "sheet New renamed"))
    assert made.sheetnames == ["Old one", "T"]
    assert made["T"]["A1"].value == "='Old one'!A1+1"
    assert made["Old one"]["C1"].value == "='Old one'!A2*3"
    made = opened(without(before, after, tmp_path / "o.xlsx", "New!C1"))
    assert made["T"]["A1"].value == "=New!A1+1"


@pytest.mark.rule("F34.1", "F34.4")
def test_sizes_panes_filters_and_merges_are_changes_of_their_own(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [["a", "b"], [1, None], [3, 4]]))
    ops = (
        {"op": "set_column_widths", "sheet": "S", "columns": [{"column": "B", "width": 33}]},
        {"op": "set_row_heights", "sheet": "S", "rows": [{"row": 2, "height": 40}]},
        {"op": "freeze_panes", "sheet": "S", "row": 1, "column": 0},
        {"op": "set_autofilter", "sheet": "S", "range": "A1:B3"},
        set_cells("S", A2="long"),
        {"op": "merge_cells", "sheet": "S", "range": "A2:B2"},
    )
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    units = told(before, after)
    assert {label: unit.group for label, unit in units.items()} == {
        "columns of S": "looks",
        "heights or formats of rows of S": "looks",
        "view of S": "structure",
        "filter of S": "structure",
        "merged cells S!A2:B2 and S!A2": "structure",
    }
    for label in units:
        made = opened(without(before, after, tmp_path / "o.xlsx", label))["S"]
        is_left = label.partition(" ")[0]
        assert (made.column_dimensions["B"].width == 33) == (is_left != "columns")
        assert (made.row_dimensions[2].height == 40) == (is_left != "heights")
        assert (made.freeze_panes == "A2") == (is_left != "view")
        assert (made.auto_filter.ref == "A1:B3") == (is_left != "filter")
        assert bool(made.merged_cells.ranges) == (is_left != "merged")
        assert made["A2"].value == (1 if is_left == "merged" else "long")


@pytest.mark.rule("F34.4")
def test_a_filter_is_left_with_its_hidden_name_and_merges_that_overlap_are_one(tmp_path):
    path = tmp_path / "b.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        sheet.write_row(0, 0, ["a", "b", "c"])
        sheet.autofilter("A1:B1")
        sheet.merge_range("A5:B5", "m")
    before = source(path)
    ops = (
        {"op": "set_autofilter", "sheet": "S", "range": "A1:C1"},
        {"op": "unmerge_cells", "sheet": "S", "range": "A5:B5"},
        {"op": "merge_cells", "sheet": "S", "range": "A5:C6"},
    )
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    units = told(before, after)
    assert len(units) == 2
    for unit in units.values():
        made = composed(before, after, tmp_path / "o.xlsx", {unit.id})
        is_filter = "filter" in unit.label
        text = part_of(made, "xl/workbook.xml")
        assert (b"$A$1:$B$1" in text) == is_filter
        assert str(opened(made)["S"].merged_cells) == ("A5:C6" if is_filter else "A5:B5")


@pytest.mark.rule("F34.4")
def test_a_table_that_grew_may_be_left_as_it_was_without_its_formulas(tmp_path):
    path = tmp_path / "b.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        table_sheet = file.add_worksheet("S")
        columns = [
            {"header": "Item"},
            {"header": "Net"},
            {"header": "Gross", "formula": "=[@Net]*2"},
        ]
        table_sheet.add_table(
            "A1:C3", {"data": [["a", 1], ["b", 2]], "columns": columns, "name": "Deals"}
        )
    before = source(path)
    ops = ({"op": "append_rows", "sheet": "S", "values": [["c", 3]]}, set_cells("S", B2=9))
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    units = told(before, after)
    (table,) = (unit for unit in units.values() if unit.kind == "table")
    assert table.tied

    sheet = opened(composed(before, after, tmp_path / "o.xlsx", {table.id}))["S"]
    assert sheet.tables["Deals"].ref == "A1:C3"
    assert (sheet["A4"].value, sheet["C4"].value) == ("c", None)
    header = changed(tmp_path / "h.xlsx", set_cells("S", B1="Amount", A2="x"), of=before)
    (unit,) = (one for one in told(before, header).values() if one.kind == "table")
    made = composed(before, header, tmp_path / "o.xlsx", {unit.id})
    assert opened(made)["S"]["B1"].value == "Net"
    assert b'name="Net"' in part_of(made, "xl/tables/table1.xml")


@pytest.mark.rule("F34.2", "F34.8")
def test_what_cannot_be_told_apart_is_one_change_and_unknown_ones_are_refused(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, 2]]))
    after = changed(tmp_path / "a.xlsx", set_cells("S", A1=5), of=before)
    strange = rewritten(after.path, "xl/worksheets/sheet1.xml", _prefixed)
    (unit,) = xlsx.separate(before, strange)
    assert (unit.kind, bool(unit.tied)) == ("file", True)
    out = tmp_path / "o.xlsx"
    xlsx.compose(before, strange, frozenset({unit.id}), out)
    assert out.read_bytes() == before.path.read_bytes()
    xlsx.compose(before, strange, frozenset(), out)
    assert out.read_bytes() == strange.path.read_bytes()
    assert xlsx.separate(before, before) == []
    with pytest.raises(FormatError) as refused:
        xlsx.compose(before, strange, frozenset({"0" * 16}), tmp_path / "never.xlsx")
    assert refused.value.reason == "bad_value"
    assert not (tmp_path / "never.xlsx").exists()


def _prefixed(xml: bytes) -> bytes:
    text = re.sub(rb"<(/?)(?=[a-zA-Z])", rb"<\1x:", xml)
    return text.replace(b' xmlns="', b' xmlns:x="')


# --- notes --------------------------------------------------------------------------------------


def _noted(path: Path, text: str) -> Source:
    with xlsxwriter.Workbook(str(path)) as file:
        file.set_properties({"created": datetime(2026, 1, 2)})
        sheet = file.add_worksheet("S")
        sheet.write_comment("B2", text, {"author": "Eve", "x_scale": 3})
    return source(path)


def _boxes(path: Path) -> Any:
    (name,) = (one for one in parts_of(path) if one.endswith(".vml"))
    return Boxes(part_of(path, name)).parted()


@pytest.mark.rule("F34.8", "F41.20")
def test_a_note_in_a_workbook_written_anew_is_left_or_taken_with_its_box(tmp_path):
    before = _noted(tmp_path / "b.xlsx", "as it was")
    file = opened(before.path)
    file["S"]["B2"].comment = Comment("anew", "Eve", height=50, width=400)
    file.create_sheet("Foreign")
    file.save(tmp_path / "a.xlsx")
    after = source(tmp_path / "a.xlsx")
    (note,) = (unit.id for unit in told(before, after).values() if unit.label == "note at S!B2")
    others = {unit.id for unit in told(before, after).values()} - {note}
    assert others

    made = composed(before, after, tmp_path / "o.xlsx", {note})
    assert opened(made)["S"]["B2"].comment.text == "as it was"
    assert _boxes(made) == _boxes(before.path)
    made = composed(before, after, tmp_path / "o.xlsx", others)
    assert opened(made)["S"]["B2"].comment.text == "anew"
    assert _boxes(made) == _boxes(after.path)


_NEWER = (
    b'<comments xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    b'xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision" mc:Ignorable="xr" '
)


@pytest.mark.rule("F34.5", "F41.20")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("comments1.xml", lambda xml: _prefixed(xml)),
        ("comments1.xml", lambda xml: xml.replace(b"<comments ", _NEWER)),
        ("drawings/vmlDrawing1.vml", lambda xml: xml.replace(b"v:", b"w:").replace(b":v", b":w")),
        ("drawings/vmlDrawing1.vml", lambda xml: xml.replace(b' data="1"', b' data="7"')),
    ],
    ids=["prefixes of the list", "newer list", "prefixes of the drawing", "numbers of shapes"],
)
def test_a_note_means_the_same_whatever_prefixes_its_parts_have(tmp_path, part, change, side):
    before, after = _noted(tmp_path / "b.xlsx", "one"), _noted(tmp_path / "a.xlsx", "two")
    if side == "before":
        before = rewritten(before.path, f"xl/{part}", change)
    else:
        after = rewritten(after.path, f"xl/{part}", change)
    after = rewritten(after.path, "xl/workbook.xml", _protected)
    units = told(before, after)
    assert set(units) == {"note at S!B2", "workbook: protection"}

    for label, text in (("note at S!B2", "one"), ("workbook: protection", "two")):
        made = without(before, after, tmp_path / "o.xlsx", label)
        assert opened(made)["S"]["B2"].comment.text == text
        assert _boxes(made) == _boxes(before.path if text == "one" else after.path)


# --- places -------------------------------------------------------------------------------------


def _moved(before: Source, after: Source, **place: Any) -> tuple[str | None, str | None, bool]:
    (found,) = xlsx.relocate(before, after, [Place(**place)])
    there = found.place
    return (there.sheet if there else None, there.range if there else None, found.is_touched)


@pytest.mark.rule("F34.9")
def test_a_place_goes_with_its_row_and_says_whether_it_changed(tmp_path):
    rows = [[f"item {n}", n, f"=B{n}*2|{n * 2}"] for n in range(1, 40)]
    later = [
        [f"item {n}", n, f"=B{r}*2|{n * 2}"] for r, n in enumerate([1, 2, 100, *range(3, 40)], 1)
    ]
    later[12][1] = 777  # item 12, which stands in row 13 now
    del later[20]  # item 20
    before = book(tmp_path / "b.xlsx", ("S", rows), ("T", [["x"]]))
    after = book(tmp_path / "a.xlsx", ("S", later), ("T", [["x"]]))

    assert _moved(before, after, sheet="S", range="A2") == ("S", "A2", False)
    assert _moved(before, after, sheet="S", range="A5:B6") == ("S", "A6:B7", False)
    assert _moved(before, after, sheet="S", range="c9") == ("S", "C10", False)
    assert _moved(before, after, sheet="S", range="B12") == ("S", "B13", True)
    assert _moved(before, after, sheet="S", range="A20") == (None, None, True)
    assert _moved(before, after, sheet="S", range="A30") == ("S", "A30", False)
    assert _moved(before, after, sheet="S") == ("S", None, True)
    assert _moved(before, after, sheet="T") == ("T", None, False)
    assert _moved(before, after, sheet="S", range="A:B") == ("S", "A:B", True)
    assert xlsx.relocate(before, after, [FILE])[0].is_touched
    assert not xlsx.relocate(before, before, [FILE])[0].is_touched


@pytest.mark.rule("F34.9")
def test_a_place_follows_its_sheet_and_keeps_its_words_while_they_stand_there(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [["some old words", 1]]), ("Gone", [["x"]]))
    ops = (
        set_cells("S", A1="some new words"),
        {"op": "rename_sheet", "sheet": "S", "new_name": "N"},
        {"op": "delete_sheet", "sheet": "Gone"},
    )
    after = changed(tmp_path / "a.xlsx", *ops, of=before)
    places = [
        Place(sheet="S", range="A1", words="some"),
        Place(words="old words"),
        Place(sheet="S", range="B1"),
        Place(sheet="Gone", range="A1"),
    ]
    found = xlsx.relocate(before, after, places)
    assert [one.place for one in found] == [
        Place(sheet="N", range="A1", words="some"),
        Place(sheet="N", range="A1"),
        Place(sheet="N", range="B1"),
        None,
    ]
    assert [one.is_touched for one in found] == [True, True, False, True]


@pytest.mark.rule("F34.9")
def test_a_look_is_part_of_a_place_and_so_is_the_result_of_a_formula(tmp_path):
    before = book(tmp_path / "b.xlsx", ("S", [[1, "=A1*2|2", 3]]))
    style = {"op": "set_style", "sheet": "S", "range": "C1", "style": {"font_bold": True}}
    after = changed(tmp_path / "a.xlsx", set_cells("S", A1=4), style, of=before)
    assert _moved(before, after, sheet="S", range="B1") == ("S", "B1", True)
    assert _moved(before, after, sheet="S", range="C1") == ("S", "C1", True)
    assert _moved(before, after, sheet="S", range="D1") == ("S", "D1", False)


@pytest.mark.rule("F34.9")
def test_a_place_is_written_as_it_shows_or_refused_as_a_read_would(tmp_path):
    path = tmp_path / "b.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("Sums")
        sheet.merge_range("B2:C3", "twice")
        sheet.write("E5", "twice as much")
        sheet.write("E6", "once")
    before = source(path)
    assert xlsx.require_place(before, Place(sheet="sums", range="c3")) == Place(
        sheet="Sums", range="B2:C3"
    )
    assert xlsx.require_place(before, Place(range="$a:b")).range == "A:C"
    assert xlsx.require_place(before, Place(words="once")).range == "E6"
    assert xlsx.require_place(before, FILE) == FILE
    for place, reason in (
        (Place(words="twice"), "ambiguous_match"),
        (Place(words="never"), "no_match"),
        (Place(sheet="Sums", range="E5", words="once"), "no_match"),
        (Place(sheet="None"), "unknown_sheet"),
        (Place(sheet="Sums", range="no range"), "bad_range"),
        (Place(slide_index=1), "bad_selector"),
    ):
        with pytest.raises(FormatError) as refused:
            xlsx.require_place(before, place)
        assert refused.value.reason == reason
        with pytest.raises(FormatError):
            xlsx.relocate(before, before, [place])


@pytest.mark.rule("F34.6", "F24.16")
def test_what_a_formula_spills_merely_follows_it(tmp_path):
    before = book(tmp_path / "a.xlsx", ("S", [[3, None, "=D2|0"], [1], [2]]))
    ops = set_cells("S", D1="=SORT(A1:A3)", A5=9)
    after = changed(tmp_path / "b.xlsx", ops, of=before)
    later = changed(tmp_path / "c.xlsx", set_cells("S", A2=8), of=after)

    assert sorted(told(before, after)) == ["S!A5", "S!D1"]
    assert sorted(told(after, later)) == ["S!A2"]

    out = tmp_path / "o.xlsx"
    shown = lines(without(before, after, out, "S!D1"))
    assert shown == ["1\t3\t\t0", "2\t1", "3\t2", "4", "5\t9"]
    shown = lines(without(before, after, out, "S!A5"))
    assert shown == ["1\t3\t\t2\t1", "2\t1\t\t\t2", "3\t2\t\t\t3"]
    shown = lines(without(after, before, out, "S!A5"))  # the formula goes, and what it filled
    assert shown == ["1\t3\t\t0", "2\t1", "3\t2", "4", "5\t9"]
