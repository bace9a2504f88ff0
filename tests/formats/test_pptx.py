"""Presentations: map, reads, every operation, its refusals, and its honest report."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

from backshop.formats import FormatError, OpsRequest, Selector
from backshop.formats import pptx as pptx_format
from backshop.formats.pptx import edit as pptx_edit

from .office import edit, map_of, members, raw_members, show, source, warnings


def picture():
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
    buffer.seek(0)
    return buffer


@pytest.fixture
def deck(tmp_path):
    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text = "Spring plan"
    first.placeholders[1].text = "the subtitle"
    second = made.slides.add_slide(made.slide_layouts[1])
    second.shapes.title.text = "Points"
    body = second.placeholders[1].text_frame
    body.text = "alpha"
    nested = body.add_paragraph()
    nested.text, nested.level = "beta", 1
    second.notes_slide.notes_text_frame.text = "say alpha"
    third = made.slides.add_slide(made.slide_layouts[6])
    table = third.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Sales", (1, 2))
    third.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(3), Inches(1), data
    )
    image = third.shapes.add_picture(picture(), Inches(1), Inches(1))
    image._element.nvPicPr.cNvPr.set("descr", "a red square")
    group = third.shapes.add_group_shape()
    box = group.shapes.add_textbox(Inches(1), Inches(6), Inches(2), Inches(1))
    box.text_frame.text = "in a group"
    path = tmp_path / "deck.pptx"
    made.save(str(path))
    return path


def text(path, index=None):
    return pptx_format.read(source(path), Selector(slide_index=index)).text


def clean(applied):
    assert applied.effects.collateral == ()
    return applied


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.rule("F10.1", "F10.2", "F10.5")
def test_the_map_tells_slides_placeholders_and_tables(deck):
    data = map_of(deck)

    assert data["slide_count"] == 3
    assert data["slide_size"] == {"width": 9144000, "height": 6858000, "unit": "emu"}
    assert data["layouts"][:2] == ["Title Slide", "Title and Content"]
    second, third = data["slides"][1:]
    assert {k: second[k] for k in ("index", "title", "layout", "hidden", "has_notes")} == {
        "index": 1,
        "title": "Points",
        "layout": "Title and Content",
        "hidden": False,
        "has_notes": True,
    }
    assert second["placeholders"] == [
        {"idx": 0, "type": "title", "name": "Title 1", "empty": False},
        {"idx": 1, "type": "obj", "name": "Content Placeholder 2", "empty": False},
    ]
    assert (third["has_images"], third["has_charts"], third["has_tables"]) == (True, True, True)
    assert third["tables"] == [{"shape": 0, "rows": 2, "cols": 2}]
    assert third["title"] is None


@pytest.mark.rule("F10.4", "F29.1")
def test_slides_are_read_from_top_to_bottom(deck):
    assert text(deck, 1) == "# slide 2 (slide_index 1): Points\nalpha\n  beta\nnotes:\nsay alpha"
    assert text(deck, 2).split("\n") == [
        "# slide 3 (slide_index 2)",
        "[image: a red square]",
        "[chart: bar; Sales; East, West]",
        "| 00 | 01 |",
        "| 10 | 11 |",
        "in a group",
    ]
    assert pptx_format.extract_lines(source(deck))[:2] == ["# slide 1: Spring plan", "the subtitle"]


@pytest.mark.rule("F10.3", "F5.3")
def test_next_leads_through_the_slides(deck):
    seen = []
    selector: Selector | None = Selector(chunk_index=0)
    while selector is not None:
        part = pptx_format.read(source(deck), selector)
        seen.append(part.text)
        selector = part.chunk_info.next

    assert [t.split("\n")[0] for t in seen] == [
        "# slide 1 (slide_index 0): Spring plan",
        "# slide 2 (slide_index 1): Points",
        "# slide 3 (slide_index 2)",
    ]
    assert "\n\n".join(seen) == text(deck)
    whole = pptx_format.read(source(deck), Selector()).chunk_info.to_json()
    assert (whole["slides"], whole["has_more"]) == ("1-3", False)


@pytest.mark.rule("F5.4")
def test_a_slide_beyond_the_limit_is_split_without_loss(tmp_path):
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Long"
    slide.placeholders[1].text = "\n".join(["x" * 999] * 100)
    made.save(str(tmp_path / "long.pptx"))
    long = source(tmp_path / "long.pptx")

    seen, selector = "", Selector(slide_index=0)
    while True:
        part = pptx_format.read(long, selector)
        seen += part.text
        if part.chunk_info.next is None:
            break
        selector = part.chunk_info.next

    assert seen == "# slide 1 (slide_index 0): Long\n" + "\n".join(["x" * 999] * 100)


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (Selector(slide_index=9), "unknown_slide"),
        (Selector(slide_index=-1), "unknown_slide"),
        (Selector(chunk_index=9), "bad_index"),
        (Selector(chunk_index=0, slide_index=1), "op_conflict"),
        (Selector(section="1"), "bad_selector"),
    ],
)
def test_wrong_selectors_get_their_reason(deck, selector, reason):
    with pytest.raises(FormatError) as caught:
        pptx_format.read(source(deck), selector)

    assert caught.value.reason == reason


# --- slides --------------------------------------------------------------------------------------


@pytest.mark.rule("F20.1", "F20.4")
def test_add_slide_fills_title_body_notes_and_every_look(deck):
    applied, out = edit(
        deck,
        {
            "op": "add_slide",
            "index": 1,
            "title_runs": [
                {
                    "text": "New",
                    "bold": True,
                    "italic": True,
                    "underline": True,
                    "font_name": "Arial",
                    "font_size": 30,
                    "font_color": "00FF00",
                    "highlight_color": "yellow",
                }
            ],
            "body": "- first\n  * second\n\nthird",
            "alignment": "right",
            "space_before": 3,
            "space_after": 4,
            "line_spacing": 1.5,
            "notes": "one\ntwo",
        },
    )

    slide = show(out).slides[1]
    run = slide.shapes.title.text_frame.paragraphs[0].runs[0]
    assert (run.text, run.font.bold, run.font.italic, run.font.underline) == (
        "New",
        True,
        True,
        True,
    )
    assert (run.font.name, run.font.size, str(run.font.color.rgb)) == ("Arial", Pt(30), "00FF00")
    assert b"<a:highlight><a:srgbClr" in members(out)["ppt/slides/slide4.xml"]
    body = slide.placeholders[1].text_frame.paragraphs
    assert [(p.text, p.level) for p in body] == [("first", 0), ("second", 1), ("third", 0)]
    assert body[0].alignment.name == "RIGHT"
    assert (body[0].space_before, body[0].space_after, body[0].line_spacing) == (Pt(3), Pt(4), 1.5)
    assert slide.notes_slide.notes_text_frame.text == "one\ntwo"
    assert applied.focus == {"slide_index": 1}
    assert warnings(clean(applied)) == {}
    assert [s.shapes.title.text for s in list(show(out).slides)[:3]] == [
        "Spring plan", "New", "Points",
    ]  # fmt: skip


@pytest.mark.rule("F20.2", "F32.43")
@pytest.mark.parametrize(
    ("layout", "name", "substituted"),
    [
        ("two content", "Two Content", False),
        ("title_slide", "Title Slide", False),
        ("section_header", "Section Header", False),
        ("comparison", "Comparison", False),
        ("blank", "Blank", False),
        ("Company Cover", "Title and Content", True),
    ],
)
def test_layouts_are_found_by_name_and_key(deck, layout, name, substituted):
    applied, out = edit(deck, {"op": "add_slide", "layout": layout, "title": "T", "body": "B"})

    slide = show(out).slides[3]
    assert slide.slide_layout.name == name
    assert ("layout_substituted" in warnings(applied)) is substituted
    assert {"T", "B"} <= set(text(out, 3).replace("# slide 4 (slide_index 3): ", "").split("\n"))
    clean(applied)


@pytest.mark.rule("F20.3", "F20.5", "F32.44")
def test_the_body_goes_to_whatever_index_the_template_uses(tmp_path):
    made: Any = Presentation()
    layout = made.slide_layouts[1]
    layout.placeholders[1]._element.nvSpPr.nvPr.ph.set("idx", "13")
    made.save(str(tmp_path / "odd.pptx"))

    _, out = edit(tmp_path / "odd.pptx", {"op": "add_slide", "body": "here"})

    slide = show(out).slides[0]
    assert [(s.placeholder_format.idx, s.text_frame.text) for s in slide.placeholders] == [
        (13, "here")
    ]


@pytest.mark.rule("F20.5")
def test_too_much_text_is_noted(deck):
    applied, _ = edit(deck, {"op": "add_slide", "title": "T", "body": "word " * 900})

    assert warnings(applied)["text_overflow"] > 10


@pytest.mark.rule("F20.7", "F32.47")
def test_deleting_a_slide_takes_only_its_own_parts(deck):
    before = raw_members(deck)

    applied, out = edit(deck, {"op": "delete_slide", "index": 2})

    after = raw_members(out)
    gone = set(before) - set(after)
    assert {name.rpartition("/")[0] for name in gone} == {
        "ppt/slides",
        "ppt/slides/_rels",
        "ppt/charts",
        "ppt/charts/_rels",
        "ppt/embeddings",
        "ppt/media",
    }
    changed = {name for name in after if before.get(name) != after[name]}
    assert changed == {
        "[Content_Types].xml",
        "ppt/presentation.xml",
        "ppt/_rels/presentation.xml.rels",
    }
    assert len(show(out).slides) == 2
    clean(applied)


@pytest.mark.rule("F20.7")
def test_a_picture_that_another_slide_shows_stays_when_its_slide_goes(deck):
    made = Presentation(str(deck))
    made.slides[0].shapes.add_picture(picture(), 0, 0)
    made.save(str(deck))
    assert sum(name.startswith("ppt/media/") for name in members(deck)) == 1

    applied, out = edit(deck, {"op": "delete_slide", "index": 2})

    assert show(out).slides[0].shapes[-1].image.blob == picture().getvalue()
    clean(applied)


@pytest.mark.rule("F20.7", "F32.47")
def test_deleting_and_moving_keep_the_ids_of_the_others(deck):
    ids = [slide["slide_id"] for slide in map_of(deck)["slides"]]

    applied, out = edit(
        deck, {"op": "move_slide", "index": 2, "to": 0}, {"op": "delete_slide", "index": 0}
    )

    assert [s["slide_id"] for s in map_of(out)["slides"]] == [ids[2], ids[1]]
    clean(applied)


@pytest.mark.rule("F20.8")
def test_operations_of_one_call_do_not_shift_each_others_slides(deck):
    ids = [slide["slide_id"] for slide in map_of(deck)["slides"]]

    _, out = edit(
        deck,
        {"op": "add_slide", "title": "first", "index": 0},
        {"op": "delete_slide", "index": 0},
        {"op": "set_slide_text", "index": 1, "title": "still the second"},
        {"op": "set_notes", "index": 3, "notes": "of the new one"},
    )

    slides = map_of(out)["slides"]
    assert [s["slide_id"] for s in slides][1:] == ids[1:]
    assert [s["title"] for s in slides][:2] == ["first", "still the second"]
    assert show(out).slides[0].notes_slide.notes_text_frame.text == "of the new one"
    with pytest.raises(FormatError) as caught:
        edit(deck, {"op": "delete_slide", "index": 1}, {"op": "delete_slide", "index": 1})
    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F23.8", "F16.14")
def test_a_slide_is_added_where_every_part_has_a_content_type_of_its_own(deck):
    parts = members(deck)
    root = etree.fromstring(parts["[Content_Types].xml"])
    space = "{http://schemas.openxmlformats.org/package/2006/content-types}"
    endings = {}
    for line in root.findall(f"{space}Default"):
        endings[str(line.get("Extension")).lower()] = str(line.get("ContentType"))
        root.remove(line)
    named = {line.get("PartName") for line in root}
    for name in parts:
        ending = name.rpartition(".")[2].lower()
        if f"/{name}" not in named and ending in endings and name != "[Content_Types].xml":
            kind = endings[ending]
            etree.SubElement(root, f"{space}Override", PartName=f"/{name}", ContentType=kind)
    with zipfile.ZipFile(deck, "w") as file:
        for name, data in parts.items():
            own = etree.tostring(root) if name == "[Content_Types].xml" else data
            file.writestr(name, own)

    applied, out = edit(deck, {"op": "add_slide", "title": "More", "body": "text"})

    assert show(out).slides[3].shapes.title.text == "More"
    assert b"slide4.xml.rels" in members(out)["[Content_Types].xml"]
    clean(applied)


@pytest.mark.rule("F20.3", "F16.14")
def test_a_text_box_on_an_empty_slide_changes_nothing_else(deck):
    made = show(deck)
    empty = made.slides.add_slide(made.slide_layouts[6])
    for shape in list(empty.shapes):
        shape._element.getparent().remove(shape._element)
    made.save(str(deck))

    applied, _ = edit(deck, {"op": "append_bullets", "index": 3, "bullets": ["x"]})

    assert warnings(applied) == {"textbox_added": 1}
    assert [(e.kind, e.where) for e in applied.effects.changed] == [("shape", "slide 4 shape 1")]
    clean(applied)


@pytest.mark.rule("F20", "F19.5")
def test_text_that_is_nowhere_on_the_slides_is_refused(deck):
    with pytest.raises(FormatError) as caught:
        edit(deck, {"op": "replace_text", "search": "absent", "replace": "x"})

    assert caught.value.reason == "no_match"
    assert "'absent'" in caught.value.message


def test_a_slide_others_link_to_is_not_deleted(deck):
    made = show(deck)
    made.slides[1].shapes.title.click_action.target_slide = made.slides[0]
    made.save(str(deck))

    with pytest.raises(FormatError) as caught:
        edit(deck, {"op": "delete_slide", "index": 0})

    assert (caught.value.reason, caught.value.hints) == (
        "op_conflict",
        ("slide 2 (slide_index 1)",),
    )


def test_sections_of_the_show_follow(deck):
    made = show(deck)
    first, second, third = (slide.slide_id for slide in made.slides)
    made.save(str(deck))
    ns = "http://schemas.microsoft.com/office/powerpoint/2010/main"
    listing = (
        f'<p:extLst><p:ext uri="x"><p14:sectionLst xmlns:p14="{ns}"><p14:section name="A">'
        f'<p14:sldIdLst><p14:sldId id="{first}"/><p14:sldId id="{second}"/></p14:sldIdLst>'
        f'</p14:section><p14:section name="B"><p14:sldIdLst><p14:sldId id="{third}"/>'
        "</p14:sldIdLst></p14:section></p14:sectionLst></p:ext></p:extLst></p:presentation>"
    )
    with_listing = deck.with_name("sections.pptx")
    with zipfile.ZipFile(deck) as old, zipfile.ZipFile(with_listing, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "ppt/presentation.xml":
                content = content.replace(b"</p:presentation>", listing.encode())
            new.writestr(name, content)

    applied, out = edit(
        with_listing, {"op": "add_slide", "title": "x"}, {"op": "delete_slide", "index": 0}
    )

    xml = members(out)["ppt/presentation.xml"].decode()
    assert xml.count("p14:sldId ") == 3
    assert f'<p14:sldId id="{first}"/>' not in xml
    assert f'id="{third}"/><p14:sldId id="{third + 1}"/>' in xml
    clean(applied)


@pytest.mark.rule("F4.8")
def test_hiding_and_showing(deck):
    applied, out = edit(deck, {"op": "set_hidden", "index": 1, "hidden": True})
    again, same = edit(out, {"op": "set_hidden", "index": 1, "hidden": True})
    _, shown = edit(out, {"op": "set_hidden", "index": 1, "hidden": False})

    assert [s["hidden"] for s in map_of(out)["slides"]] == [False, True, False]
    assert [e.where for e in clean(applied).effects.changed] == ["slide 2"]
    assert (same.read_bytes() == out.read_bytes()) or again.changed_parts == ()
    assert [s["hidden"] for s in map_of(shown)["slides"]] == [False] * 3
    assert text(out, 1).startswith("# slide 2 (slide_index 1): Points [hidden]\n")


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.rule("F20.6")
def test_set_slide_text_keeps_the_look_and_leaves_null_fields(deck):
    made = show(deck)
    run = made.slides[1].placeholders[1].text_frame.paragraphs[0].runs[0]
    run.font.bold, run.font.size = True, Pt(33)
    made.save(str(deck))

    applied, out = edit(
        deck, {"op": "set_slide_text", "index": 1, "title": None, "body": "gamma\n\tdelta"}
    )

    slide = show(out).slides[1]
    assert slide.shapes.title.text == "Points"
    found = slide.placeholders[1].text_frame.paragraphs
    assert [(p.text, p.level, p.runs[0].font.bold, p.runs[0].font.size) for p in found] == [
        ("gamma", 0, True, Pt(33)),
        ("delta", 1, True, Pt(33)),
    ]
    assert [e.where for e in clean(applied).effects.changed] == ["slide 2 shape 2"]


@pytest.mark.rule("F23.7")
def test_writing_what_is_there_changes_no_byte(deck):
    applied, out = edit(
        deck,
        {"op": "set_slide_text", "index": 1, "title": "Points", "body": "alpha\n  beta"},
        {"op": "set_notes", "index": 1, "notes": "say alpha"},
        {"op": "set_table_cells", "index": 2, "shape": 0, "cells": [
            {"row": 0, "column": 1, "text": "01"}]},
        {"op": "set_hidden", "index": 1, "hidden": False},
    )  # fmt: skip

    assert out.read_bytes() == deck.read_bytes()
    assert applied.effects.changed == ()


@pytest.mark.rule("F32.45", "F20.3")
def test_bullets_go_to_the_body_or_to_a_text_box(deck):
    applied, out = edit(
        deck,
        {"op": "append_bullets", "index": 1, "bullets": ["• gamma", {"text": "deep", "level": 2}]},
        {"op": "append_bullets", "index": 2, "bullets": ["lonely"], "alignment": "center"},
    )

    body = show(out).slides[1].placeholders[1].text_frame.paragraphs
    assert [(p.text, p.level) for p in body] == [
        ("alpha", 0),
        ("beta", 1),
        ("gamma", 0),
        ("deep", 2),
    ]
    assert "lonely" in text(out, 2)
    assert warnings(clean(applied)) == {"textbox_added": 1}


@pytest.mark.rule("F16.12", "F20.1")
@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_of_every_system_become_lines_and_no_mark_stays(deck, ending):
    broken = f"x{ending}y"
    applied, out = edit(
        deck,
        {"op": "set_slide_text", "index": 0, "title": broken, "body": broken},
        {"op": "set_notes", "index": 0, "notes": broken},
        {"op": "add_slide", "title": "t", "body_runs": [{"text": broken}], "notes": broken},
        {"op": "append_bullets", "index": 1, "bullets": [broken]},
        {"op": "set_table_cells", "index": 2, "shape": 0, "cells": [
            {"row": 0, "column": 1, "text": broken}]},
        {"op": "replace_text", "search": "Points", "replace": broken},
    )  # fmt: skip

    shown = show(out).slides
    assert shown[0].notes_slide.notes_text_frame.text == "x\ny"
    assert shown[3].notes_slide.notes_text_frame.text == "x\ny"
    assert shown[2].shapes[0].table.cell(0, 1).text == "x\ny"
    assert shown[1].placeholders[1].text_frame.paragraphs[-1].text == "x y"
    parts = [data for name, data in members(out).items() if name.endswith(".xml")]
    assert not any(b"&#13;" in data or b"_x000D_" in data or b"&#xD;" in data for data in parts)
    clean(applied)


def test_notes_are_made_where_there_are_none(deck):
    applied, out = edit(deck, {"op": "set_notes", "index": 0, "notes": "fresh"})
    bare, second = edit(
        deck.with_name("new.pptx"), {"op": "add_slide", "title": "x", "notes": "first notes"}
    )

    assert show(out).slides[0].notes_slide.notes_text_frame.text == "fresh"
    assert show(second).slides[0].notes_slide.notes_text_frame.text == "first notes"
    clean(applied)
    clean(bare)


@pytest.mark.rule("F20.1", "F19.4")
def test_replacing_crosses_runs_and_reaches_tables_groups_and_notes(deck):
    made = show(deck)
    frame = made.slides[0].placeholders[1].text_frame
    frame.text = ""
    for part, bold in (("{{na", True), ("me}", None), ("} rest", False)):
        run = frame.paragraphs[0].add_run()
        run.text, run.font.bold = part, bold
    made.slides[2].shapes[0].table.cell(0, 0).text = "{{NAME}}"
    made.slides[2].shapes[3].shapes[0].text_frame.text = "{{name}}"
    made.slides[1].notes_slide.notes_text_frame.text = "{{name}}"
    made.save(str(deck))

    applied, out = edit(
        deck, {"op": "replace_text", "search": "{{name}}", "replace": "Ann\nBo", "expect": 4}
    )

    written = show(out)
    runs = written.slides[0].placeholders[1].text_frame.paragraphs[0].runs
    assert [(r.text, r.font.bold) for r in runs] == [("Ann", True), ("Bo", True), (" rest", False)]
    assert written.slides[2].shapes[0].table.cell(0, 0).text == "Ann\vBo"
    assert "Ann" in written.slides[1].notes_slide.notes_text_frame.text
    assert applied.changes == ((0, "4 occurrences replaced"),)
    clean(applied)


def test_replacing_can_be_bound_to_slides(deck):
    applied, out = edit(
        deck,
        {"op": "replace_text", "search": "a", "replace": "A", "slides": [0], "match_case": True},
    )

    assert text(out, 1) == text(deck, 1)
    assert "plAn" in text(out, 0)
    clean(applied)


def test_table_cells_are_set_in_the_look_of_their_text(deck):
    applied, out = edit(
        deck,
        {"op": "set_table_cells", "index": 2, "shape": 0, "cells": [
            {"row": 1, "column": 0, "text": "new\nline"}]},
    )  # fmt: skip

    assert show(out).slides[2].shapes[0].table.cell(1, 0).text == "new\nline"
    assert [e.where for e in clean(applied).effects.changed] == ["slide 3 shape 1"]


@pytest.mark.rule("F16.7")
def test_style_problems_are_noted_and_the_rest_applies(deck):
    applied, out = edit(
        deck,
        {
            "op": "set_slide_text",
            "index": 0,
            "title_runs": [{"text": "T", "bold": "yes", "font_color": "redish"}],
            "alignment": "middle",
            "line_spacing": -2,
        },
    )

    assert show(out).slides[0].shapes.title.text_frame.paragraphs[0].runs[0].font.bold is True
    assert warnings(applied) == {"style_value_ignored": 3}


@pytest.mark.rule("F16.6", "F32.46")
@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ({"op": "set_slide_text", "index": 99, "title": "x"}, "unknown_slide"),
        ({"op": "set_slide_text", "index": 0}, "missing_field"),
        ({"op": "set_slide_text", "title": "x"}, "missing_field"),
        ({"op": "set_slide_text", "index": "first", "title": "x"}, "bad_type"),
        ({"op": "set_slide_text", "index": 0, "slide_index": 1, "title": "x"}, "op_conflict"),
        ({"op": "set_slide_text", "index": 0, "body": "x", "placeholder": 77}, "bad_index"),
        ({"op": "set_slide_text", "index": 0, "title_runs": [{}]}, "missing_field"),
        ({"op": "set_slide_text", "index": 0, "title_runs": [3]}, "bad_type"),
        ({"op": "add_slide", "index": 9}, "unknown_slide"),
        ({"op": "add_slide", "search": "x"}, "unknown_field"),
        ({"op": "append_bullets", "index": 0, "bullets": []}, "bad_value"),
        ({"op": "append_bullets", "index": 0, "bullets": [{"level": 1}]}, "missing_field"),
        ({"op": "append_bullets", "index": 0, "bullets": [{"text": "a", "level": 9}]}, "bad_value"),
        ({"op": "replace_text", "search": "", "replace": "x"}, "bad_value"),
        ({"op": "replace_text", "search": "zz", "replace": "x", "expect": 1}, "no_match"),
        ({"op": "replace_text", "search": "a", "replace": "x", "expect": 1}, "ambiguous_match"),
        ({"op": "replace_text", "search": "a", "replace": "x", "slides": [8]}, "unknown_slide"),
        ({"op": "replace_text", "search": "a", "replace": "x", "slides": ["one"]}, "bad_type"),
        ({"op": "set_table_cells", "index": 2, "shape": 1, "cells": []}, "bad_index"),
        ({"op": "set_table_cells", "index": 2, "shape": 0, "cells": [{"row": 5, "column": 0,
          "text": "x"}]}, "bad_index"),
        ({"op": "set_table_cells", "index": 2, "shape": 0, "cells": [{"row": 0}]}, "missing_field"),
        ({"op": "move_slide", "index": 0, "to": 3}, "unknown_slide"),
        ({"op": "delete_slide", "index": -1}, "unknown_slide"),
        ({"op": "set_hidden", "index": 0, "hidden": "yes"}, "bad_type"),
        ({"op": "duplicate_slide", "index": 0}, "unknown_op"),
    ],
)  # fmt: skip
def test_bad_operations_get_their_reason_and_leave_nothing(deck, op, reason):
    with pytest.raises(FormatError) as caught:
        edit(deck, {"op": "set_notes", "index": 0, "notes": "never"}, op)

    assert caught.value.reason == reason
    assert not deck.with_name("out-deck.pptx").exists()


def test_the_only_slide_stays(tmp_path):
    made = Presentation()
    made.slides.add_slide(made.slide_layouts[6])
    made.save(str(tmp_path / "one.pptx"))

    with pytest.raises(FormatError) as caught:
        edit(tmp_path / "one.pptx", {"op": "delete_slide", "index": 0})

    assert caught.value.reason == "op_conflict"


# --- the file ------------------------------------------------------------------------------------


@pytest.mark.rule("F16.3")
def test_a_missing_file_is_created_wide_with_the_standard_layouts(tmp_path):
    applied, out = edit(
        tmp_path / "new.pptx",
        {"op": "add_slide", "layout": "title_slide", "title": "Hello", "body": "sub"},
        {"op": "add_slide", "title": "Next", "body": "- a\n- b"},
    )

    written = show(out)
    assert applied.created is True
    assert (written.slide_width, written.slide_height) == (12192000, 6858000)
    assert len(written.slide_layouts) == 11
    assert [s.shapes.title.text for s in written.slides] == ["Hello", "Next"]
    assert [p.text for p in written.slides[1].placeholders[1].text_frame.paragraphs] == ["a", "b"]
    clean(applied)


@pytest.mark.rule("F23.1", "F23.2")
def test_only_the_addressed_slide_changes(deck):
    applied, out = edit(deck, {"op": "set_slide_text", "index": 0, "title": "Other"})

    before, after = raw_members(deck), raw_members(out)
    assert {name for name in before if before[name] != after[name]} == {"ppt/slides/slide1.xml"}
    assert list(before) == list(after)
    assert applied.changed_parts == ("ppt/slides/slide1.xml",)


@pytest.mark.rule("F16.13", "F16.14")
def test_a_change_outside_the_target_is_reported_as_collateral(deck, monkeypatch):
    real = pptx_edit.apply

    def careless(editor, change):
        slide = editor.deck.slides[2]
        shape = slide.shapes[3].element
        editor.deck.trees.touch(slide.part)
        shape.getparent().remove(shape)
        slide.root.set("showMasterSp", "0")
        editor.deck.package.put("ppt/theme/theme1.xml", b"<a/>")
        return real(editor, change)

    monkeypatch.setattr("backshop.formats.pptx.application.apply", careless)

    applied, _ = edit(deck, {"op": "set_slide_text", "index": 0, "title": "Other"})

    assert {(e.where, e.aspect) for e in applied.effects.collateral} == {
        ("slide 3 shape 4", "removed"),
        ("slide 3", "value"),
        ("ppt/theme/theme1.xml", "value"),
    }


@given(operations=st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["op", "index", "title", "body", "title_runs", "bullets", "search",
                         "replace", "slides", "shape", "cells", "notes", "to", "hidden", "text"]),
        inner | st.sampled_from(["add_slide", "set_slide_text", "append_bullets", "replace_text",
                                 "set_table_cells", "move_slide", "delete_slide"]),
        max_size=5,
    ),
    max_leaves=12,
))  # fmt: skip
def test_any_json_as_operations_is_applied_or_refused_cleanly(tmp_path_factory, operations):
    folder = tmp_path_factory.mktemp("any")
    ask = OpsRequest(name="a.pptx", operations=operations, create_new=True)

    try:
        pptx_format.apply_ops(None, ask, folder / "out.pptx")
    except FormatError:
        assert not (folder / "out.pptx").exists()
    else:
        show(folder / "out.pptx")


@pytest.mark.rule("F4.8", "F10.4")
def test_white_text_on_a_white_slide_is_labelled(tmp_path):
    shown = Presentation()
    white = RGBColor(255, 255, 255)

    def add(slide, words, left, fill=None):
        box = slide.shapes.add_textbox(Inches(left), Inches(1), Inches(2), Inches(1))
        box.text_frame.paragraphs[0].add_run().text = "seen "
        run = box.text_frame.paragraphs[0].add_run()
        run.text = words
        run.font.color.rgb = white
        if fill is not None:
            box.fill.solid()
            box.fill.fore_color.rgb = fill

    first = shown.slides.add_slide(shown.slide_layouts[6])
    add(first, "pale", 0)
    add(first, "on blue", 3, RGBColor(0, 0, 128))
    under = first.shapes.add_shape(1, Inches(6), Inches(0), Inches(3), Inches(3))
    under.text_frame.text = ""
    add(first, "on a shape", 6.5)
    second = shown.slides.add_slide(shown.slide_layouts[6])
    second.background.fill.solid()
    second.background.fill.fore_color.rgb = RGBColor(0, 0, 0)
    add(second, "on black", 0)
    path = tmp_path / "pale.pptx"
    shown.save(str(path))

    assert pptx_format.extract_lines(source(path)) == [
        "# slide 1",
        "seen [white text: pale]",
        "seen on blue",
        "seen on a shape",
        "# slide 2",
        "seen on black",
    ]


SURVIVORS = (
    '<p:transition spd="slow"><p:fade/></p:transition><mc:AlternateContent '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice '
    'Requires="p14" xmlns:p14="urn:p14"><p14:odd kept="1"/></mc:Choice><mc:Fallback/>'
    "</mc:AlternateContent><p:timing><p:tnLst><p:par><p:cTn id='1'/></p:par></p:tnLst></p:timing>"
    '<p:extLst><p:ext uri="{1}"><x:unknown xmlns:x="urn:x"><!-- kept --></x:unknown></p:ext>'
    "</p:extLst>"
)


@pytest.mark.rule("F23.3", "F23.4")
@pytest.mark.parametrize(
    "op",
    [
        {"op": "set_slide_text", "index": 0, "title": "Other"},
        {"op": "replace_text", "search": "One", "replace": "Other"},
        {"op": "append_bullets", "index": 0, "bullets": ["more"]},
        {"op": "set_hidden", "index": 0, "hidden": True},
    ],
    ids=lambda op: op["op"],
)
def test_animations_transitions_and_unknown_content_of_an_edited_slide_survive(tmp_path, op):
    shown = Presentation()
    shown.slides.add_slide(shown.slide_layouts[1]).shapes.title.text = "One"
    plain = tmp_path / "plain.pptx"
    shown.save(str(plain))
    path = tmp_path / "a.pptx"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members(plain).items():
            odd = data.replace(b"</p:sld>", SURVIVORS.encode() + b"</p:sld>")
            archive.writestr(name, odd if name == "ppt/slides/slide1.xml" else data)

    applied, out = edit(path, op)

    def beside_shapes(file: Any) -> list[bytes]:
        root = etree.fromstring(members(file)["ppt/slides/slide1.xml"])
        return [etree.tostring(child, method="c14n") for child in root if "cSld" not in child.tag]

    assert beside_shapes(out) == beside_shapes(path)
    assert len(beside_shapes(out)) == 5
    assert applied.effects.collateral == ()
