"""Copies of sheets with all that is on them, and tabs that move, hide and get colours."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.comments import Comment

from backshop.formats.errors import FormatError

from .books import book, edit, lines, mapped, members, opened, source

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da6364"
    "f8cf500f0003860180b0c7b8e40000000049454e44ae426082"
)


def copied(**fields: Any) -> dict[str, Any]:
    return {"op": "copy_sheet", "sheet": "S", "new_name": "S copy", **fields}


@pytest.fixture
def full(tmp_path):
    path, picture = tmp_path / "in.xlsx", tmp_path / "p.png"
    picture.write_bytes(PICTURE)
    with xlsxwriter.Workbook(str(path)) as file:
        sheet, other = file.add_worksheet("S"), file.add_worksheet("T")
        red = file.add_format({"font_color": "red"})
        columns = [{"header": "N"}, {"header": "A"}]
        sheet.add_table(
            "A1:B3", {"name": "Sales", "data": [["a", 1], ["b", 2]], "columns": columns}
        )
        sheet.write_formula("D1", "=SUM(Sales[A])+S!B2+T!A1+Rate+Own", None, 17)
        sheet.write_url("D2", "https://example.org/x")
        sheet.write_url("D3", "internal:S!A1")
        sheet.write_comment("D4", "a note")
        sheet.merge_range("D5:E5", "wide")
        sheet.conditional_format(
            "A2:B3", {"type": "formula", "criteria": "=S!$D$1>1", "format": red}
        )
        sheet.data_validation("B9", {"validate": "list", "source": "=S!$A$2:$A$3"})
        sheet.set_column(0, 0, 31)
        sheet.print_area("A1:E9")
        sheet.set_header("&L&G", {"image_left": str(picture)})
        sheet.insert_image("G9", str(picture))
        chart = file.add_chart({"type": "line"})
        chart.add_series({"values": "=S!$B$2:$B$3", "name": "=T!$A$1"})
        sheet.insert_chart("G20", chart)
        file.define_name("Rate", "=S!$B$3")
        file.define_name("S!Own", "=S!$B$2")
        other.write_formula("A1", "=S!B3", None, 2)
    return source(path)


@pytest.mark.rule("F39.14", "F39.15")
def test_everything_on_a_sheet_is_there_again_and_means_its_own_cells(full, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(full, out, copied())

    found: Any = opened(out)
    assert found.sheetnames == ["S", "S copy", "T"]
    sheet, model = found["S copy"], opened(full.path)["S"]
    assert [[c.value for c in row] for row in sheet["A1:B3"]] == [["N", "A"], ["a", 1], ["b", 2]]
    assert sheet["D1"].value == "=SUM(Sales_2[A])+'S copy'!B2+T!A1+Rate+Own"
    assert (list(sheet.tables), sheet.tables["Sales_2"].ref) == (["Sales_2"], "A1:B3")
    assert sheet["D2"].hyperlink.target == "https://example.org/x"
    assert sheet["D3"].hyperlink.location == "'S copy'!A1"
    assert sheet["D4"].comment.text == model["D4"].comment.text
    assert [str(one) for one in sheet.merged_cells.ranges] == ["D5:E5"]
    (rule,) = [one.rules[0].formula for one in sheet.conditional_formatting]
    assert rule == ["'S copy'!$D$1>1"]
    assert sheet.data_validations.dataValidation[0].formula1 == "'S copy'!$A$2:$A$3"
    assert sheet.column_dimensions["A"].width == model.column_dimensions["A"].width
    assert sheet.print_area == "'S copy'!$A$1:$E$9"
    assert sheet.defined_names["Own"].attr_text == "'S copy'!$B$2"
    assert sheet.defined_names["Rate"].attr_text == "'S copy'!$B$3"
    assert found.defined_names["Rate"].attr_text == "S!$B$3"
    assert (len(sheet._charts), len(sheet._images)) == (1, 1)
    assert lines(out, sheet="S copy", range="D1:D1")[-1].endswith("17")
    charts = [members(out)[f"xl/charts/chart{n}.xml"][0] for n in (1, 2)]
    assert b"S!$B$2" in charts[0]
    assert b"'S copy'!$B$2:$B$3" in charts[1]
    assert b"T!$A$1" in charts[1]
    assert done.effects.collateral == ()
    assert done.warnings == ()


@pytest.mark.rule("F39.14", "F23.1")
def test_nothing_else_changes(full, tmp_path):
    done = edit(full, tmp_path / "out.xlsx", copied())

    before, after = members(full.path), members(tmp_path / "out.xlsx")
    changed = {name for name in before if before[name] != after.get(name)}
    assert changed <= {"[Content_Types].xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"}
    assert [row[1] for row in done.changes] == ["sheet S copied to S copy, place 1 from 0"]
    told: Any = done.effects.told.to_json()["changed"]
    assert {(one["kind"], one["aspect"]) for one in told} == {
        ("sheet", "added"),
        ("chart", "added"),
        ("picture", "added"),
    }


@pytest.mark.rule("F39.14")
def test_a_copy_can_be_copied_and_edited_in_one_call(full, tmp_path):
    done = edit(
        full,
        tmp_path / "out.xlsx",
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "B2", "value": 100}]},
        copied(),
        copied(sheet="S copy", new_name="Third", position=0),
        {"op": "set_cells", "sheet": "S copy", "cells": [{"cell": "B3", "value": 7}]},
        {"op": "insert_rows", "sheet": "Third", "row": 1},
    )

    found = opened(tmp_path / "out.xlsx")
    assert found.sheetnames == ["Third", "S", "S copy", "T"]
    assert [found[name][cell].value for name, cell in (("S copy", "B3"), ("Third", "B4"))] == [7, 2]
    assert list(found["Third"].tables) == ["Sales_2_2"]
    assert done.effects.collateral == ()


@pytest.mark.rule("F39.14")
@pytest.mark.needs("corpora")
def test_what_cannot_be_there_twice_is_left_out_and_said(tmp_path, corpora):
    base = source(_with_pivot(corpora))
    sheets = mapped(base)["sheets"]
    name = next(sheet["name"] for sheet in sheets if sheet["has_pivot_tables"])

    done = edit(base, tmp_path / "out.xlsx", copied(sheet=name, position=len(sheets)))

    assert [one.where for one in done.warnings if one.code == "not_copied"]
    assert mapped(source(tmp_path / "out.xlsx"))["sheets"][-1]["has_pivot_tables"] is False
    assert done.effects.collateral == ()


def _with_pivot(corpora: Path) -> Path:
    for path in sorted(corpora.rglob("*.xlsx")):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as file:
                if any("pivotTables/" in name for name in file.namelist()):
                    return path
    raise AssertionError("no workbook with a pivot table")


@pytest.mark.rule("F39.14")
def test_threads_of_a_copy_are_its_own(tmp_path):
    path, out = tmp_path / "in.xlsx", tmp_path / "out.xlsx"
    made = openpyxl.Workbook()
    sheet = made.create_sheet("S", 0)
    sheet["A1"].comment = Comment("hello", "tc={11111111-2222-4333-8444-555555555555}")
    made.save(path)
    thread = (
        '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/'
        'threadedcomments"><threadedComment ref="A1" personId="{99999999-2222-4333-8444-'
        '555555555555}" id="{11111111-2222-4333-8444-555555555555}"><text>hello</text>'
        "</threadedComment></ThreadedComments>"
    )
    _add(path, "xl/threadedComments/threadedComment1.xml", thread)

    edit(source(path), out, copied())

    parts = {name: data for name, (data, _) in members(out).items()}
    threads = [
        data for name, data in parts.items() if "threadedComment" in name and name.endswith("xml")
    ]
    ids = [data.partition(b' id="{')[2][:36] for data in threads]
    assert len(set(ids)) == 2
    assert all(b'personId="{99999999-2222-4333-8444-555555555555}"' in data for data in threads)
    notes = [data for name, data in parts.items() if "/comment" in name and name.endswith("xml")]
    assert {one in note for one in ids for note in notes} == {True, False}


def _add(path: Path, part: str, data: str) -> None:
    """Add a part to which the first sheet leads."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    rels = "xl/worksheets/_rels/sheet1.xml.rels"
    line = (
        '<Relationship Id="rIdT" Type="http://schemas.microsoft.com/office/2017/10/relationships/'
        f'threadedComment" Target="/{part}"/></Relationships>'
    )
    parts[rels] = parts[rels].replace(b"</Relationships>", line.encode())
    types = parts["[Content_Types].xml"]
    kind = "application/vnd.ms-excel.threadedcomments+xml"
    line = f'<Override PartName="/{part}" ContentType="{kind}"/></Types>'
    parts["[Content_Types].xml"] = types.replace(b"</Types>", line.encode())
    parts[part] = data.encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


@pytest.mark.rule("F39.14")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"new_name": "t"}, "name_conflict"),
        ({"new_name": "a/b"}, "bad_sheet_name"),
        ({"sheet": "U"}, "unknown_sheet"),
        ({"position": -1}, "bad_value"),
    ],
)
def test_wrong_copies_are_refused(full, tmp_path, fields, reason):
    with pytest.raises(FormatError) as caught:
        edit(full, tmp_path / "out.xlsx", copied(**fields))

    assert caught.value.reason == reason


# --- tabs ---------------------------------------------------------------------------------------


@pytest.fixture
def three(tmp_path):
    path = tmp_path / "three.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        for name in ("A", "B", "C"):
            file.add_worksheet(name).write("A1", name)
        file.get_worksheet_by_name("A").write_formula("B1", "=SUM(A:B!C1)", None, 0)
        file.get_worksheet_by_name("B").activate()
        file.define_name("C!Local", "=C!$A$1")
    return source(path)


@pytest.mark.rule("F39.16")
def test_a_tab_moves_and_what_counts_sheets_follows(three, tmp_path):
    out = tmp_path / "out.xlsx"

    done = edit(three, out, {"op": "move_sheet", "sheet": "C", "position": 0})

    found: Any = opened(out)
    assert found.sheetnames == ["C", "A", "B"]
    assert list(found["C"].defined_names) == ["Local"]
    assert found.active.title == "B"
    assert done.warnings == ()
    told = done.effects.told.to_json()["changed"]
    assert told == [{"kind": "sheet", "where": "C", "aspect": "order"}]
    assert done.effects.collateral == ()
    again = edit(source(out), out, {"op": "move_sheet", "sheet": "C", "position": 1})
    assert [(one.code, one.count) for one in again.warnings] == [("references_by_place", 1)]


@pytest.mark.rule("F39.16")
def test_a_sheet_is_hidden_shown_and_coloured(three, tmp_path):
    out = tmp_path / "out.xlsx"
    op = {"op": "set_sheet_state", "sheet": "B"}

    done = edit(three, out, {**op, "state": "hidden", "tab_color": "#FFC000"})

    found: Any = opened(out)
    assert (found["B"].sheet_state, found.active.title) == ("hidden", "C")
    assert found["B"].sheet_properties.tabColor.rgb == "FFFFC000"
    assert [bool(found[name].sheet_view.tabSelected) for name in "ABC"] == [False, False, True]
    assert done.effects.collateral == ()
    shown = edit(source(out), out, {**op, "state": "visible", "tab_color": "none"})
    assert opened(out)["B"].sheet_state == "visible"
    assert opened(out)["B"].sheet_properties.tabColor is None
    assert shown.effects.collateral == ()


@pytest.mark.rule("F39.16")
@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ({"op": "move_sheet", "sheet": "A", "position": 3}, "bad_value"),
        ({"op": "set_sheet_state", "sheet": "A"}, "missing_field"),
        ({"op": "set_sheet_state", "sheet": "A", "state": "gone"}, "bad_value"),
        ({"op": "set_sheet_state", "sheet": "A", "tab_color": "blueish"}, "bad_value"),
    ],
)
def test_wrong_wishes_about_tabs_are_refused(three, tmp_path, op, reason):
    with pytest.raises(FormatError) as caught:
        edit(three, tmp_path / "out.xlsx", op)

    assert caught.value.reason == reason


@pytest.mark.rule("F39.16")
def test_the_last_visible_sheet_stays(tmp_path):
    base = book(tmp_path / "in.xlsx", ("S", [[1]]))

    with pytest.raises(FormatError) as caught:
        edit(
            base, tmp_path / "out.xlsx", {"op": "set_sheet_state", "sheet": "S", "state": "hidden"}
        )

    assert caught.value.reason == "last_sheet"
