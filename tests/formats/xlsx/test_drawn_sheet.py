"""A window of a sheet as a drawn page: what a person's own program shows, where it shows it."""

from __future__ import annotations

import io
import re
import statistics
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from lxml import etree
from PIL import Image

from backshop.formats import FormatError, Formats, xlsx
from backshop.formats.xlsx.canvas import condition

from .books import source
from .drawn import parts, rewrite

SVG = "{http://www.w3.org/2000/svg}"


MONEY = {"num_format": "$0.00"}


def drawn(tmp_path: Path, fill: Callable[[Any, Any], None], **window: Any) -> Any:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        fill(book, book.add_worksheet("S"))
    return xlsx.draw_sheet(source(path), **window)


def texts(found: Any) -> dict[str, etree._Element]:
    root = etree.fromstring(found["svg"].encode())
    return {"".join(map(str, one.itertext())): one for one in root.iter(f"{SVG}text")}


def attribute(element: etree._Element, name: str) -> str | None:
    for one in (element, *element.iterancestors()):
        if one.get(name) is not None:
            return one.get(name)
    return None


@pytest.mark.rule("F43.15", "F43.16", "F43.17")
def test_cells_stand_in_their_columns_and_look_as_the_file_says(tmp_path):
    def fill(book, sheet):
        sheet.set_column("B:B", 20)
        sheet.set_column("C:C", 9, None, {"hidden": True})
        sheet.set_row(1, 30)
        bold = book.add_format({"bold": True, "font_color": "#ff0000", "font_size": 18})
        sheet.write("A1", "Title", bold)
        money = book.add_format({"num_format": "#,##0.00", "bg_color": "#ddeeff"})
        sheet.write("B2", 1234.5, money)
        sheet.write("C3", "unseen")
        sheet.write("D3", True)
        sheet.merge_range("A5:B6", "both", book.add_format({"align": "center"}))
        sheet.write_comment("D7", "look")
        sheet.freeze_panes(1, 0)

    found = drawn(tmp_path, fill)
    shown = texts(found)

    assert found["columns"][:5] == [28.0, 92.0, 246.0, 246.0, 310.0]
    assert found["rows"][0] == 20.0
    assert found["rows"][3] - found["rows"][2] == 20
    assert found["rows"][2] - found["rows"][1] == 40
    title = shown["Title"]
    assert (attribute(title, "fill"), attribute(title, "font-weight")) == ("#ff0000", "700")
    assert attribute(title, "font-size") == "24"
    number = shown["1,234.50"]
    width = 246 - float(number.get("x") or 0)
    assert 40 < width < 70  # at the right side of its column
    assert "unseen" not in shown
    assert {"both", "TRUE", "A", "B", "D", "7"} <= set(shown)
    assert "C" not in shown
    assert 'fill="#ddeeff"' in found["svg"]
    [merge] = found["frames"]
    assert (merge["kind"], merge["place"]) == ("cell", "S!A5:B6")
    assert (merge["x"], merge["width"]) == (28.0, 218.0)
    assert (found["sheet"], found["sheets"], found["range"]) == ("S", ("S",), "A1:F12")
    assert (found["row_count"], found["missing"]) == (5, [])


@pytest.mark.rule("F43.16")
def test_a_row_without_a_height_has_room_for_the_letters_of_merged_cells(tmp_path):
    def fill(book, sheet):
        large = book.add_format({"font_size": 24})
        sheet.merge_range("A1:E1", "The title of the sheet", large)
        wrapped = book.add_format({"font_size": 24, "text_wrap": True})
        sheet.merge_range("A2:B2", "A title that would need many lines in so few columns", wrapped)
        sheet.write("A3", "alone", large)
        sheet.merge_range("A4:B9", "several rows", large)

    rows = drawn(tmp_path, fill)["rows"]
    heights = [after - before for before, after in pairwise(rows)]

    assert heights[0] == heights[1] == heights[2] > 1.2 * 24 * 4 / 3
    assert heights[3] == heights[4] == 20


@pytest.mark.rule("F43.17", "F24.19")
@pytest.mark.parametrize(
    ("number", "value", "shown"),
    [
        (14, 45000, "3/15/2023"),
        (22, 45000.75, "3/15/2023 18:00"),
        (7, -1234.5, "($1,234.50)"),
        (44, 1234.5, "$1,234.50"),
        (41, 1234.5, "1,235"),
        (31, 45000, "2023-03-15"),
        (57, 45000, "2023-03-15"),
    ],
)
def test_formats_that_a_file_has_by_number_alone_show_what_they_mean(
    tmp_path, number, value, shown
):
    def fill(book, sheet):
        sheet.set_column("A:A", 30)
        sheet.write("A1", value, book.add_format({"num_format": number}))

    assert shown in {text.strip().replace("$ ", "$") for text in texts(drawn(tmp_path, fill))}


@pytest.mark.rule("F43.18")
def test_text_runs_over_empty_cells_only_and_numbers_are_never_cut(tmp_path):
    long = "a text that is longer than its column"

    def fill(book, sheet):
        sheet.set_column("A:A", 6)
        sheet.write("A1", long)
        sheet.write("A2", long + "!")
        sheet.write("B2", 1)
        sheet.write("A3", 1234567890, book.add_format({"num_format": "#,##0.00"}))
        sheet.write("A4", 1 / 3)
        sheet.write("A5", "x y z " * 4, book.add_format({"text_wrap": True}))
        sheet.write("A6", "tiny " * 6, book.add_format({"shrink": True}))
        sheet.write("A7", "up", book.add_format({"rotation": 90}))
        sheet.write("B9", "late", book.add_format({"align": "right", "indent": 2}))

    found = drawn(tmp_path, fill)
    shown = texts(found)

    assert attribute(shown[long], "clip-path") is None
    assert attribute(shown[long + "!"], "clip-path") is not None
    assert any(re.fullmatch("#+", text) for text in shown)
    assert any(text.startswith("0.33") and len(text) < 8 for text in shown)
    assert found["rows"][5] - found["rows"][4] > 40  # four lines of wrapped text
    small = next(one for text, one in shown.items() if text.startswith("tiny"))
    assert float(attribute(small, "font-size") or 99) < 8
    assert "rotate(-90" in str(attribute(shown["up"], "transform"))


@pytest.mark.rule("F43.17")
def test_raised_letters_stand_above_the_line_and_lowered_ones_below(tmp_path):
    def fill(book, sheet):
        up, down = book.add_format({"font_script": 1}), book.add_format({"font_script": 2})
        sheet.write_rich_string("A1", "on", up, "up", " on", down, "down", "level")
        sheet.write("A3", "all", up)
        sheet.write("B3", "none")

    shown = texts(drawn(tmp_path, fill))
    heights = {text: float(one.get("y") or 0) for text, one in shown.items()}
    assert heights["up"] < heights["on"] - 3
    assert heights["down"] > heights["level"] + 1 == heights["on"] + 1
    assert heights["all"] < heights["none"] - 3


@pytest.mark.rule("F43.18")
@pytest.mark.parametrize("align", ["justify", "distributed"])
def test_text_that_is_spread_out_goes_on_in_the_next_line(tmp_path, align):
    def fill(book, sheet):
        sheet.write("A1", "some words that need lines", book.add_format({"align": align}))
        sheet.write("A2", -1234567.891, book.add_format({"num_format": "0.00", "indent": 3}))

    found = drawn(tmp_path, fill)
    lines = [text.strip() for text in texts(found) if set(text) - set("#0123456789ABCDEF")]
    assert " ".join(lines) == "some words that need lines"
    assert found["rows"][1] - found["rows"][0] > 50
    [hashes] = [one for text, one in texts(found).items() if set(text) == {"#"}]
    assert float(hashes.get("x") or 0) >= found["columns"][0]


@pytest.mark.rule("F43.16")
@pytest.mark.parametrize("align", ["justify", "distributed"])
def test_text_that_is_spread_over_merged_cells_asks_for_one_line(tmp_path, align):
    def fill(book, sheet):
        words = "some words that would need many lines in the first of the merged columns"
        sheet.merge_range("A1:F1", words, book.add_format({"align": align}))

    found = drawn(tmp_path, fill)
    assert found["rows"][1] - found["rows"][0] == 20


@pytest.mark.rule("F43.17", "F43.19")
def test_rich_text_borders_patterns_and_tables_are_drawn(tmp_path):
    def fill(book, sheet):
        red = book.add_format({"color": "red", "italic": True})
        sheet.write_rich_string("A1", "plain ", red, "loud", " end")
        sheet.write("A2", "", book.add_format({"border": 6, "border_color": "#123456"}))
        sheet.write("A3", "", book.add_format({"pattern": 3, "bg_color": "#ffffff"}))
        sheet.add_table("C1:D3", {"data": [[1, 2], [3, 4]]})
        sheet.hide_gridlines(2)

    found = drawn(tmp_path, fill)
    shown = texts(found)

    assert attribute(shown["loud"], "font-style") == "italic"
    assert attribute(shown["plain "], "fill") == "#000000"
    assert float(shown["loud"].get("x") or 0) > float(shown["plain "].get("x") or 0) + 20
    assert 'stroke="#123456" stroke-width="3"' in found["svg"]
    assert "#dadcdd" not in found["svg"]
    assert attribute(shown["Column1"], "fill") == "#ffffff"
    assert attribute(shown["Column1"], "font-weight") == "700"


@pytest.mark.rule("F43.20", "F43.77")
def test_conditional_formats_are_drawn_from_values_and_others_are_named(tmp_path):
    def fill(book, sheet):
        sheet.write_column("A1", [1, 2, 3, 4, 5])
        sheet.write_column("B1", [1, 2, 3, 4, 5])
        sheet.write_column("C1", [1, 2, 3, 4, 5])
        sheet.write_column("D1", ["yes", "no", "yes", "maybe", ""])
        loud = book.add_format({"bg_color": "#ffc7ce", "font_color": "#9c0006"})
        over = {"type": "cell", "criteria": ">", "value": 3, "format": loud}
        sheet.conditional_format("A1:A5", over)
        colors = {"type": "2_color_scale", "min_color": "#000000", "max_color": "#ffffff"}
        sheet.conditional_format("B1:B5", colors)
        sheet.conditional_format("C1:C5", {"type": "data_bar", "bar_color": "#0000ff"})
        twice = {"type": "duplicate", "format": book.add_format({"bg_color": "#00ff00"})}
        sheet.conditional_format("D1:D4", twice)
        rule = {"type": "formula", "criteria": "=$A1>1", "format": loud}
        sheet.conditional_format("E1:E5", rule)

        more = {"type": "cell", "criteria": ">", "value": "=$A1", "format": loud}
        sheet.write_column("I1", [1, 9])
        sheet.conditional_format("I1:I2", more)
        money = {"type": "formula", "criteria": "=G1=7", "format": book.add_format(MONEY)}
        sheet.write("G1", 7)
        sheet.conditional_format("G1", money)
        today = {"type": "formula", "criteria": "=WEBSERVICE(A1)", "format": loud}
        sheet.conditional_format("H1", today)

    found = drawn(tmp_path, fill)
    root = etree.fromstring(found["svg"].encode())
    fills = [one.get("fill") for one in root.iter(f"{SVG}rect")]

    assert fills.count("#ffc7ce") == 2 + 4 + 1  # by a number, by a formula, by another cell
    assert "$7.00" in texts(found)
    assert {"#000000", "#404040", "#808080", "#bfbfbf"} <= set(fills)
    blue = [one for one in root.iter(f"{SVG}rect") if one.get("fill") == "#0000ff"]
    bars = [float(one.get("width") or 0) for one in blue]
    assert bars == [6, 18, 30, 42, 54]  # a tenth to nine tenths of the cell
    assert fills.count("#00ff00") == 2
    assert attribute(next(one for one in root.iter(f"{SVG}text") if one.text == "4"), "fill")
    words = "conditional formats by formula that cannot be computed here are not drawn"
    assert found["missing"] == [words]


@pytest.mark.rule("F43.20")
def test_conditional_formats_hold_for_cells_that_the_sheet_does_not_have(tmp_path):
    rules: list[dict[str, Any]] = [
        {"type": "blanks"},
        {"type": "cell", "criteria": "<", "value": 5},
        {"type": "text", "criteria": "not containing", "value": "a"},
        {"type": "no_blanks"},
        {"type": "text", "criteria": "containing", "value": "a"},
    ]

    def fill(book, sheet):
        for at, rule in enumerate(rules):
            sheet.write(0, at, 7)
            ground = book.add_format({"bg_color": f"#00{at}{at}ff"})
            sheet.conditional_format(0, at, 2, at, {**rule, "format": ground})

    svg = drawn(tmp_path, fill)["svg"]
    counts = [svg.count(f'fill="#00{at}{at}ff"') for at in range(5)]
    assert counts == [2, 2, 3, 1, 0]


@pytest.mark.rule("F43.20")
def test_values_far_from_the_average_are_told_by_their_spread(tmp_path):
    def fill(book, sheet):
        sheet.write_column("A1", [10, 10, 10, 9, 11, 30, 8])
        ground = book.add_format({"bg_color": "#00aaff"})
        for criteria in ("1 std dev above", "1 std dev below"):
            rule = {"type": "average", "criteria": criteria, "format": ground}
            sheet.conditional_format("A1:A7", rule)

    assert drawn(tmp_path, fill)["svg"].count('fill="#00aaff"') == 1


@pytest.mark.rule("F43.20")
@pytest.mark.parametrize("criteria", ["above", "1 std dev above"])
def test_the_average_of_the_largest_numbers_there_are_is_one(tmp_path, criteria):
    def fill(book, sheet):
        sheet.write_column("A1", [1.7e308, 1.7e308, 1.7e308, 1.7e308, 1.0])
        ground = book.add_format({"bg_color": "#00aaff"})
        rule = {"type": "average", "criteria": criteria, "format": ground}
        sheet.conditional_format("A1:A5", rule)

    assert drawn(tmp_path, fill)["svg"].count('fill="#00aaff"') == (4 if criteria == "above" else 0)


@pytest.mark.rule("F43.20")
def test_an_average_is_found_once_for_all_cells_of_a_rule(tmp_path, monkeypatch):
    found = []

    def noted(name):
        made = getattr(statistics, name)

        def one(numbers):
            found.append(name)
            return made(numbers)

        monkeypatch.setattr(condition, name, one)

    noted("mean")
    noted("pstdev")

    def fill(book, sheet):
        sheet.write_column("A1", list(range(50)))
        for criteria in ("above", "1 std dev above"):
            rule = {"type": "average", "criteria": criteria, "format": book.add_format()}
            sheet.conditional_format("A1:A50", rule)

    drawn(tmp_path, fill)
    assert sorted(found) == ["mean", "mean", "pstdev"]


@pytest.mark.rule("F43.21", "F43.10")
def test_charts_and_pictures_stand_at_their_anchors_and_show_cells_as_they_are(tmp_path):
    png = io.BytesIO()
    Image.new("RGB", (40, 20), "#00ff00").save(png, "PNG")

    def fill(book, sheet):
        sheet.write_column("A1", ["Jan", "Feb"])
        sheet.write_column("B1", [10, 20])
        chart = book.add_chart({"type": "column"})
        refs = {"categories": "=S!$A$1:$A$2", "values": "=S!$B$1:$B$2", "name": "Sold"}
        chart.add_series(refs)
        chart.set_title({"name": "Sales"})
        sheet.insert_chart("D2", chart, {"x_offset": 10})
        sheet.insert_image("B20", "p.png", {"image_data": png})
        sheet.insert_textbox("F22", "a word beside")

    found = drawn(tmp_path, fill)
    shown = texts(found)

    assert {"Jan", "Feb", "Sold", "Sales", "a word beside"} <= set(shown)
    order = ("chart", "picture", "shape")
    chart, picture, box = sorted(found["frames"], key=lambda one: order.index(one["kind"]))
    assert (chart["kind"], chart["place"], chart["label"]) == ("chart", "S!D2:K16", "Chart 2")
    assert (chart["x"], chart["y"]) == (found["columns"][3] + 10, found["rows"][1])
    assert (chart["width"], chart["height"]) == (480, 288)
    assert (picture["kind"], picture["width"], picture["height"]) == ("picture", 40, 20)
    assert (box["kind"], box["place"]) == ("shape", "S!F22")
    assert "data:image/png;base64," in found["svg"]
    stale = tmp_path / "stale.xlsx"
    with zipfile.ZipFile(tmp_path / "a.xlsx") as old, zipfile.ZipFile(stale, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("sheet1.xml"):
                data = data.replace(b"<v>20</v>", b"<v>90</v>")
            new.writestr(name, data)
    assert "100" in texts(xlsx.draw_sheet(source(stale)))  # the axis follows the cell


@pytest.mark.rule("F43.22")
def test_what_cannot_be_drawn_is_a_frame_that_says_so(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("S")
        for kind in ("radar", "column"):
            chart = book.add_chart({"type": kind})
            chart.add_series({"values": "=S!$A$1:$A$3"})
            sheet.insert_chart("B2" if kind == "radar" else "B20", chart)
        sheet.write_formula("A1", "=1+1")
        book.add_chartsheet("C").set_chart(chart := book.add_chart({"type": "pie"}))
        chart.add_series({"values": "=S!$A$1:$A$3", "name": "Whole"})
    broken = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("charts/chart2.xml"):
                data = data[: len(data) // 2]
            if name.endswith("sheet1.xml"):
                data = data.replace(b"<v>0</v>", b"")
            new.writestr(name, data)

    found: Any = xlsx.draw_sheet(source(broken))

    assert found["missing"] == [
        "1 formulas without a stored result are shown as formulas",
        "a radar chart is shown as a table of its data",
        "Chart 2 cannot be read",
    ]
    assert {"radar chart", "Chart 2 cannot be read", "=1+1"} <= set(texts(found))
    page: Any = xlsx.draw_sheet(source(broken), "C")
    assert (page["range"], page["columns"], page["width"]) == (None, [], 960)
    assert page["frames"][0]["place"] == "C!"


@pytest.mark.rule("F43.22")
def test_parts_that_are_lost_in_the_file_are_named(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("S")
        sheet.write("A1", "word")
        sheet.insert_chart("B2", chart := book.add_chart({"type": "column"}))
        chart.add_series({"values": "=S!$A$1:$A$3"})
    held = parts(path)
    held["xl/styles.xml"] = held["xl/styles.xml"].replace(b'<sz val="11"', b'<sz val="nan"')
    lost = {
        one: data for one, data in held.items() if not one.endswith(("drawing1.xml", "Strings.xml"))
    }
    rewrite(path, lost)

    assert xlsx.draw_sheet(source(path))["missing"] == [
        "what stands on the sheet (charts, pictures) is lost in the file",
        "the texts of the cells are lost in the file",
    ]


@pytest.mark.rule("F43.84")
def test_shapes_have_their_text_as_they_say_and_groups_all_of_theirs(tmp_path):
    def fill(book, sheet):
        align = {"align": {"vertical": "middle", "horizontal": "center"}}
        looks = {
            "font": {"bold": True, "size": 20, "color": "#0000FF"},
            "width": 200,
            "height": 100,
        }
        sheet.insert_textbox("B2", "in the middle", looks | align)
        sheet.insert_textbox("F2", "grouped", {"width": 200, "height": 100})

    drawn(tmp_path, fill)
    grouped = tmp_path / "grouped.xlsx"
    form = '<a:off x="{}" y="0"/><a:ext cx="100" cy="100"/>'
    group = (
        '<xdr:grpSp><xdr:nvGrpSpPr><xdr:cNvPr id="9" name="Pair"/><xdr:cNvGrpSpPr/></xdr:nvGrpSpPr>'
        "<xdr:grpSpPr><a:xfrm>" + form.format(0) + '<a:chOff x="0" y="0"/>'
        '<a:chExt cx="200" cy="100"/></a:xfrm></xdr:grpSpPr>'
    )
    with zipfile.ZipFile(tmp_path / "a.xlsx") as old, zipfile.ZipFile(grouped, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/drawings/drawing1.xml":
                said = text.decode()
                second = said.rindex("<xdr:sp ")
                end = said.rindex("</xdr:sp>") + len("</xdr:sp>")
                one = re.sub(r"<a:off.*?/><a:ext .*?/>", form.format(0), said[second:end])
                other = one.replace(form.format(0), form.format(100)).replace(
                    "grouped", "beside it"
                )
                text = (said[:second] + group + one + other + "</xdr:grpSp>" + said[end:]).encode()
            new.writestr(name, text)
    found: dict[str, Any] = {**xlsx.draw_sheet(source(grouped))}
    shown = texts(found)

    boxes = {one["label"]: one for one in found["frames"]}
    head, box = shown["in the middle"], boxes["TextBox 1"]
    assert (attribute(head, "fill"), attribute(head, "font-weight")) == ("#0000ff", "700")
    assert float(str(head.get("x"))) > box["x"] + 20
    assert box["y"] + 40 < float(str(head.get("y"))) < box["y"] + 70
    pair = boxes["Pair"]
    assert float(str(shown["grouped"].get("x"))) < pair["x"] + pair["width"] / 2
    assert float(str(shown["beside it"].get("x"))) > pair["x"] + pair["width"] / 2


@pytest.mark.rule("F43.22")
def test_older_controls_and_pictures_in_cells_are_named(tmp_path):
    image = io.BytesIO()
    Image.new("RGB", (40, 20), "#00ff00").save(image, "PNG")

    def fill(book, sheet):
        sheet.insert_button("B2", {"caption": "Press"})
        sheet.write_comment("A1", "a note")
        sheet.embed_image("C9", "p.png", {"image_data": image})

    assert drawn(tmp_path, fill)["missing"] == [
        "controls and other objects on the sheet are not drawn",
        "pictures in cells are not drawn, their cells show an error",
    ]
    assert drawn(tmp_path, lambda book, sheet: sheet.write_comment("A1", "a note"))["missing"] == []


@pytest.mark.rule("F43.23")
def test_windows_of_wide_sheets_are_cheap_and_end_with_the_sheet(tmp_path):
    def fill(book, sheet):
        sheet.set_column(0, 16_383, 3)
        sheet.write_row(0, 0, range(16_384))
        sheet.write_row(999, 16_380, ["far", "away", "in the", "corner"])
        huge = book.add_format({"font_size": 409, "bold": True})
        sheet.write(5, 0, "HUGE", huge)

    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        fill(book, book.add_worksheet("S"))
    end: Any = xlsx.draw_sheet(source(path), None, 990, 16_370, 200, 50)
    assert end["range"] == "XEQ991:XFD1002"
    assert {"far", "corner", "XFD", "1000"} <= set(texts(end))
    first: Any = xlsx.draw_sheet(source(path), "S", 0, 0, 20, 50)
    assert first["range"].startswith("A1:AX")
    assert first["height"] < 1_200
    assert len(first["svg"]) < 60_000
    for window in ((0, 0, 201, 1), (0, 0, 1, 51), (-1, 0, 1, 1), (0, 16_384, 1, 1)):
        with pytest.raises(FormatError) as caught:
            xlsx.draw_sheet(source(path), "S", *window)
        assert caught.value.reason == "bad_range"


@pytest.mark.rule("F43.76", "F43.15")
def test_a_sheet_says_its_frozen_cells_and_how_many_boxes_are_drawn(tmp_path):
    def fill(_: Any, sheet: Any) -> None:
        sheet.freeze_panes(2, 1)
        for at in range(70):
            sheet.insert_textbox(at, 3, f"Box {at}", {"width": 40, "height": 20})

    found = drawn(tmp_path, fill, row_count=80)

    assert found["frozen"] == {"rows": 2, "columns": 1}
    assert found["missing"] == ["60 of 70 shapes are drawn, the others are empty frames"]


@pytest.mark.rule("F43.23", "F43.76")
def test_of_two_thousand_charts_some_are_drawn_and_the_others_are_counted(tmp_path):
    path, many = tmp_path / "a.xlsx", tmp_path / "many.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("S")
        chart = book.add_chart({"type": "column"})
        chart.add_series({"values": "=S!$A$1:$A$3"})
        sheet.insert_chart("B2", chart)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(many, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("drawing1.xml"):
                start = data.index(b"<xdr:twoCellAnchor")
                end = data.index(b"</xdr:wsDr>")
                data = data[:start] + data[start:end] * 2_000 + data[end:]
            new.writestr(name, data)

    found: Any = xlsx.draw_sheet(source(many))

    assert found["missing"] == ["60 of 2,000 charts are drawn, the others are empty frames"]
    assert sum(one["kind"] == "chart" for one in found["frames"]) == 60
    assert len(found["svg"]) < 1_000_000


@pytest.mark.rule("F43.6", "F43.15", "F43.24")
def test_the_door_draws_in_a_worker_and_keeps_what_it_drew(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("S")
        sheet.write("A1", "</text><script>x</script>")
        book.add_worksheet("T").write("A1", "second")
    plain = tmp_path / "a.txt"
    plain.write_text("x")
    with Formats(cache=tmp_path / "cache") as formats:
        book_file = formats.source(path)
        one = formats.draw_sheet(book_file)
        kept = sorted((tmp_path / "cache" / "previews").iterdir())
        again = formats.draw_sheet(book_file)
        picture = formats.draw_sheet_picture(book_file, "T", 0, 0, 10, 5, 0.5)
        with pytest.raises(FormatError) as refused:
            formats.draw_sheet(formats.source(plain))
        with pytest.raises(FormatError) as unknown:
            formats.draw_sheet(book_file, "nowhere")

    assert again == one
    assert len(kept) == 1
    assert "<script" not in str(one["svg"])
    assert picture.image is not None
    assert (picture.mime_type, picture.page_count) == ("image/png", 2)
    assert Image.open(io.BytesIO(picture.image)).width < 250
    assert (refused.value.reason, unknown.value.reason) == ("unsupported_format", "unknown_sheet")
