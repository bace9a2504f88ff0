from __future__ import annotations

import json
from typing import Any

import pytest
import xlsxwriter
from openpyxl.styles import Alignment, Font, PatternFill

from backshop.formats import xlsx
from backshop.formats.errors import FormatError
from backshop.formats.write.style import BORDER_STYLES, CELL_H_ALIGN, CELL_V_ALIGN, FILL_PATTERNS

from .books import book, differing, edit, members, opened, source


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out.xlsx"


@pytest.fixture
def made(tmp_path):
    return book(tmp_path / "a.xlsx", ("S", [[1, 2, 3], [4, 5, 6]]))


def styled(base, out, style, area="A1"):
    return edit(base, out, {"op": "set_style", "sheet": "S", "range": area, "style": style})


@pytest.mark.rule("F18", "F18.1")
def test_every_style_field_reaches_the_file(made, out):
    style = {
        "font_name": "Arial",
        "font_size": 13.5,
        "font_bold": "yes",
        "font_italic": 1,
        "font_underline": True,
        "font_color": "#1a2B3c",
        "fill_color": "FFEEDDCC",
        "fill_pattern": "DARKGRID",
        "number_format": "#,##0.000",
        "h_align": "centerContinuous",
        "v_align": "Top",
        "wrap_text": "on",
        "border_top": {"style": "double", "color": "#FF0000"},
        "border_bottom": {"style": "thin"},
        "border_left": {"style": "mediumDashed", "color": "00FF00"},
        "border_right": {"style": "hair"},
    }

    result = styled(made, out, style)

    cell = opened(out)["S"]["A1"]
    font, side = cell.font, cell.border
    assert (font.name, font.sz, font.b, font.i, font.u) == ("Arial", 13.5, True, True, "single")
    assert (font.color.rgb, font.scheme) == ("FF1A2B3C", None)
    assert (cell.fill.patternType, cell.fill.fgColor.rgb) == (
        "darkGrid",
        "FFEEDDCC"[:2] + "EEDDCC"[0:6],
    )
    assert cell.number_format == "#,##0.000"
    align = cell.alignment
    assert (align.horizontal, align.vertical, align.wrap_text) == ("centerContinuous", "top", True)
    assert (side.top.style, side.top.color.rgb) == ("double", "FFFF0000")
    assert (side.bottom.style, side.left.style, side.right.style) == (
        "thin",
        "mediumDashed",
        "hair",
    )
    assert (cell.value, result.warnings) == (1, ())
    assert opened(out)["S"]["B1"].font.b is False
    assert differing(made.path, out) == {"xl/styles.xml", "xl/worksheets/sheet1.xml"}


@pytest.mark.rule("F18")
def test_every_word_of_the_closed_lists_is_written_as_it_is(made, out):
    rows = max(map(len, (FILL_PATTERNS, BORDER_STYLES, CELL_H_ALIGN, CELL_V_ALIGN)))
    items: list[dict[str, Any]] = [
        {
            "cell": f"A{n + 1}",
            "value": n,
            "style": {
                "fill_pattern": FILL_PATTERNS[n % len(FILL_PATTERNS)],
                "fill_color": "#010203",
                "h_align": CELL_H_ALIGN[n % len(CELL_H_ALIGN)],
                "v_align": CELL_V_ALIGN[n % len(CELL_V_ALIGN)],
                "border_left": {"style": BORDER_STYLES[n % len(BORDER_STYLES)]},
            },
        }
        for n in range(rows)
    ]

    edit(made, out, {"op": "set_cells", "sheet": "S", "cells": items})

    for n, cell in enumerate(next(iter(opened(out)["S"].iter_cols(max_col=1)))):
        style = items[n]["style"]
        line = BORDER_STYLES[n % len(BORDER_STYLES)]
        assert cell.fill.patternType == (
            None if style["fill_pattern"] == "none" else style["fill_pattern"]
        )
        assert (cell.alignment.horizontal, cell.alignment.vertical) == (
            style["h_align"],
            style["v_align"],
        )
        assert cell.border.left.style == (None if line == "none" else line)


@pytest.mark.rule("F16.7", "F32.29")
def test_what_cannot_be_used_is_said_and_the_rest_applies(made, out):
    bad = {
        "font_color": "redish",
        "font_bold": True,
        "font_size": 500,
        "h_align": "middle",
        "border_left": {"style": "wavy", "color": "#00FF00"},
        "wrap_text": "maybe",
    }

    result = styled(made, out, bad)

    assert opened(out)["S"]["A1"].font.b is True
    place = "operations[0].style"
    assert sorted((w.code, w.where) for w in result.warnings) == sorted(
        [
            *(
                ("style_value_ignored", f"{place}.{key}")
                for key in ("font_color", "font_size", "h_align", "wrap_text")
            ),
            ("style_value_ignored", f"{place}.border_left.style"),
        ]
    )


@pytest.mark.rule("F18.1", "F32.30", "F17.6")
def test_a_colour_alone_keeps_the_line_and_other_fields_stay(tmp_path, out):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        look = file.add_format(
            {"bottom": 1, "italic": True, "num_format": "0.0", "bg_color": "red"}
        )
        file.add_worksheet("S").write(0, 0, 1, look)

    styled(source(path), out, {"border_bottom": {"color": "#FF0000"}, "font_bold": True})

    cell = opened(out)["S"]["A1"]
    assert (cell.border.bottom.style, cell.border.bottom.color.rgb) == ("thin", "FFFF0000")
    assert (cell.font.b, cell.font.i, cell.number_format) == (True, True, "0.0")
    assert cell.fill.fgColor.rgb == "FFFF0000"


@pytest.mark.rule("F18.2", "F18.3")
def test_equal_looks_are_shared_and_no_look_leaves_the_table_alone(made, out):
    styled(made, out, {"font_bold": True}, "A1:C2")
    once = members(out)["xl/styles.xml"][0]
    again = out.with_name("again.xlsx")
    styled(source(out), again, {"font_bold": True}, "A1:D2")
    plain = out.with_name("plain.xlsx")
    styled(made, plain, {"font_color": None})

    assert once.count(b"<xf ") == members(made.path)["xl/styles.xml"][0].count(b"<xf ") + 1
    assert members(again)["xl/styles.xml"][0] == once
    assert plain.read_bytes() == made.path.read_bytes()


@pytest.mark.rule("F18.2", "F23.7")
@pytest.mark.parametrize(
    "style",
    [
        {"font_bold": True, "fill_color": "#E2EFDA"},
        {"font_italic": False, "font_underline": True, "font_color": "#123456", "font_size": 12},
        {"fill_pattern": "gray125"},
        {"border_top": {"style": "thin", "color": "#FF0000"}, "border_left": {"style": "none"}},
        {"h_align": "center", "v_align": "bottom", "wrap_text": False},
        {"number_format": "0.00"},
    ],
)
def test_a_look_that_cells_have_already_changes_no_byte(made, out, style):
    styled(made, out, style, "A1:B1")
    again = out.with_name("again.xlsx")

    result = styled(source(out), again, style, "A1:B1")

    assert again.read_bytes() == out.read_bytes()
    assert result.effects.totals["changed"] == 0


@pytest.mark.rule("F18.2", "F23.7")
def test_a_look_that_another_program_wrote_otherwise_is_there_already(made, tmp_path, out):
    file = opened(made.path)
    cell = file["S"]["A1"]
    cell.fill = PatternFill("solid", fgColor="00E2EFDA", bgColor="00E2EFDA")  # opaque to Excel
    cell.font = Font(name="Arial", sz=12, b=True, u="double", color="00123456")
    cell.alignment = Alignment(horizontal="right")
    file.save(tmp_path / "other.xlsx")
    other = source(tmp_path / "other.xlsx")
    had = {
        "font_bold": True,
        "font_size": 12,
        "font_color": "#123456",
        "fill_color": "#E2EFDA",
        "h_align": "right",
        "wrap_text": False,
    }

    styled(other, out, had)
    assert out.read_bytes() == other.path.read_bytes()

    styled(other, out, {"font_underline": True})
    assert opened(out)["S"]["A1"].font.u == "single"
    styled(other, out, {"font_underline": False})
    assert opened(out)["S"]["A1"].font.u is None


@pytest.mark.rule("F21.1", "F21.4")
def test_the_style_report(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        bold = file.add_format({"bold": True, "num_format": "0.00%", "bg_color": "#00FF00"})
        sheet.write_row(0, 0, [1, 2], bold)
        sheet.write_row(1, 0, [1, 2], bold)
        sheet.set_column("B:C", 20)
        sheet.conditional_format(
            "A1:A9", {"type": "cell", "criteria": ">", "value": 1, "format": bold}
        )

    found = json.loads(json.dumps(xlsx.get_styles(source(path), "S")))

    assert found["named_styles"] == [
        {"asset_id": "named_style:Normal", "type": "named_style", "name": "Normal", "builtin": True}
    ]
    assert [item["code"] for item in found["number_formats"]] == ["0.00%"]
    assert found["column_widths"] == {"S": {"B:C": 20.7109375}}
    assert found["conditional_formats"] == [{"sheet": "S", "range": "A1:A9", "type": "cellIs"}]
    assert found["cell_styles"] == [
        {
            "asset_id": "cell_style:S!A1",
            "style": {
                "font_name": "Calibri",
                "font_size": 11,
                "font_bold": True,
                "font_color": "#000000",
                "fill_pattern": "solid",
                "fill_color": "#00FF00",
                "number_format": "0.00%",
            },
            "named_style": "Normal",
            "count": 4,
            "cells": ["S!A1:B2"],
        }
    ]


@pytest.mark.rule("F21.1")
def test_each_look_in_use_is_told_once_with_its_ranges(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        head = file.add_format({"bold": True, "bg_color": "#1F4E78", "font_color": "#FFFFFF"})
        money = file.add_format({"num_format": "#,##0.00"})
        for n in range(60):  # defined, and used by nobody
            file.add_format({"font_size": 20 + n, "bg_color": f"#0000{n:02X}"})
        for name in ("Orders", "More"):
            sheet = file.add_worksheet(name)
            sheet.write_row(0, 0, ["a", "b", "c"], head)
            for row in range(1, 400):
                sheet.write(row, 0, row)
                if row != 200:
                    sheet.write_row(row, 1, [row, row], money)

    found: Any = xlsx.get_styles(source(path))
    one: Any = xlsx.get_styles(source(path), "More")

    told = [(s["style"].get("fill_color"), s["count"], s["cells"]) for s in found["cell_styles"]]
    assert told == [
        ("#1F4E78", 6, ["Orders!A1:C1", "More!A1:C1"]),
        (None, 798, ["Orders!A2:A400", "More!A2:A400"]),
        (
            None,
            1592,
            ["Orders!B2:C200", "Orders!B202:C400", "More!B2:C200", "More!B202:C400"],
        ),
    ]
    assert [s["cells"] for s in one["cell_styles"]] == [
        ["More!A1:C1"],
        ["More!A2:A400"],
        ["More!B2:C200", "More!B202:C400"],
    ]
    assert len(json.dumps(found)) < 4096


@pytest.mark.rule("F21.1")
def test_a_look_in_very_many_places_tells_some_and_counts_the_rest(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as file:
        sheet = file.add_worksheet("S")
        grey = file.add_format({"bg_color": "#EEEEEE"})
        for row in range(100):
            sheet.write(row, 0, row, grey if row % 2 else None)

    found: Any = xlsx.get_styles(source(path))

    plain, striped = found["cell_styles"]
    assert (striped["count"], len(striped["cells"]), striped["more_ranges"]) == (50, 10, 40)
    assert plain["count"] == 50
    assert "seen_to" not in found


@pytest.mark.rule("F22.1", "F22.2", "F32.86")
def test_assets_are_copied_by_look_not_by_number(tmp_path, out):
    giver, taker = tmp_path / "g.xlsx", tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(giver)) as file:
        sheet = file.add_worksheet("Q1")
        for n in range(9):
            sheet.write(n, 5, n, file.add_format({"font_size": 20 + n}))
        look = {"bold": True, "bg_color": "#123456", "num_format": "0.0000", "bottom": 2}
        sheet.write("A1", 1, file.add_format(look))
        sheet.set_column("D:D", 33)
        rule = {"type": "cell", "criteria": ">", "value": 1, "format": file.add_format({"bold": 1})}
        sheet.conditional_format("A1:A3", rule)
    with xlsxwriter.Workbook(str(taker)) as file:
        file.add_worksheet("T").write("A1", 5, file.add_format({"italic": True}))

    result = xlsx.copy_assets(
        source(giver),
        source(taker),
        [
            "cell_style:Q1!A1->T!B2:C3",
            {"asset_id": "number_format:0.0000", "target_sheet": "T", "target": "A1"},
            {"asset_id": "column_widths:Q1", "target_sheet": "T"},
            "conditional_formats:Q1->T!E1:E9",
        ],
        out,
    )

    sheet = opened(out)["T"]
    cell = sheet["C3"]
    assert (cell.font.b, cell.fill.fgColor.rgb, cell.number_format) == (True, "FF123456", "0.0000")
    assert (cell.border.bottom.style, cell.value) == ("medium", None)
    assert (sheet["A1"].font.i, sheet["A1"].number_format, sheet["A1"].value) == (True, "0.0000", 5)
    assert round(sheet.column_dimensions["D"].width) == 34
    (rules,) = sheet.conditional_formatting
    assert (str(rules.sqref), rules.rules[0].dxf.font.b) == ("E1:E9", True)
    assert result.extra["copied_count"] == 4
    assert result.effects.collateral == ()


@pytest.mark.rule("F22.2")
def test_a_named_style_is_copied_with_everything_it_needs(tmp_path, made, out):
    import openpyxl
    from openpyxl.styles import Font, NamedStyle, PatternFill

    giver = openpyxl.Workbook()
    style = NamedStyle(
        "Loud",
        font=Font(bold=True, size=20),
        fill=PatternFill("solid", "FFABCDEF"),
        number_format="0.0",
    )
    giver.add_named_style(style)
    giver.active["A1"].style = "Loud"  # type: ignore[index]  # a fresh workbook has an active sheet
    giver.save(tmp_path / "g.xlsx")

    xlsx.copy_assets(
        source(tmp_path / "g.xlsx"),
        made,
        [{"asset_id": "named_style:Loud", "target_sheet": "S", "target": "A1:A2"}],
        out,
    )

    cell = opened(out)["S"]["A2"]
    assert (cell.style, cell.font.b, cell.font.sz) == ("Loud", True, 20)
    assert (cell.fill.fgColor.rgb, cell.number_format, cell.value) == ("FFABCDEF", "0.0", 4)
    assert opened(out)["S"]["B2"].style == "Normal"


@pytest.mark.rule("F22.5")
def test_wrong_assets_and_missing_targets_are_refused(made, out):
    for assets, reason in (
        (["named_style:Normall"], "unknown_asset"),
        (["picture:1"], "unknown_asset"),
        (["cell_style:S!A1"], "asset_target_missing"),
        (["number_format:General"], "asset_target_missing"),
        ([], "missing_field"),
        ("x", "bad_type"),
        ([5], "bad_type"),
    ):
        with pytest.raises(FormatError) as caught:
            xlsx.copy_assets(made, made, assets, out)
        assert caught.value.reason == reason
        assert not out.exists()
    with pytest.raises(FormatError) as caught:
        xlsx.copy_assets(made, made, ["named_style:Normall"], out)
    assert "named_style:Normal" in caught.value.hints
