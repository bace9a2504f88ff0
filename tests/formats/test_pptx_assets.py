"""Presentations: review slides, style reports and copied assets."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from lxml import etree
from PIL import Image
from pptx import Presentation
from pptx.util import Inches, Pt

from backshop.formats import FormatError
from backshop.formats import pptx as pptx_format

from .office import map_of, members, reworked, show, source, warnings


@pytest.fixture
def giver(tmp_path):
    made: Any = Presentation()
    made.slide_layouts[1].name = "House Layout"
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Title"
    run = slide.placeholders[1].text_frame.paragraphs[0].add_run()
    run.text, run.font.bold, run.font.size, run.font.name = "styled", True, Pt(31), "Georgia"
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "blue").save(buffer, "PNG")
    buffer.seek(0)
    group = slide.shapes.add_group_shape()
    group.shapes.add_picture(buffer, Inches(1), Inches(2), Inches(3), Inches(1))
    path = tmp_path / "giver.pptx"
    made.save(str(path))
    return path


@pytest.fixture
def taker(tmp_path):
    made: Any = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Mine"
    slide.placeholders[1].text = "a\nb"
    path = tmp_path / "taker.pptx"
    made.save(str(path))
    return path


def copy(giver, taker, *assets):
    out = taker.with_name("out.pptx")
    return pptx_format.copy_assets(source(giver), source(taker), list(assets), out), out


@pytest.mark.rule("F29.3", "F32.88")
def test_a_slide_is_extracted_with_inherited_and_grouped_places(giver):
    data: Any = pptx_format.extract_slide(source(giver), 0)

    slide = data["slide"]
    assert (data["slide_index"], data["slide_count"]) == (0, 1)
    assert (slide["title"], slide["layout"], slide["render_mode"]) == (
        "Title",
        "House Layout",
        "positioned",
    )
    title, body, image = slide["shapes"]
    assert title["placeholder_type"] == "title"
    assert title["width"] == 8229600  # from the layout's master
    assert body["text_blocks"][0]["runs"][0] == {
        "index": 0,
        "text": "styled",
        "bold": True,
        "italic": None,
        "underline": None,
        "size_pt": 31.0,
        "font_name": "Georgia",
        "color": None,
    }
    assert (image["left"], image["top"], image["has_image"]) == (Inches(1), Inches(2), True)
    assert image["image_ref"] == "ppt/media/image1.png"
    bounds = slide["positioned"]["positioned_shapes"][2]["bounds"]
    assert bounds == {"x": 0.1, "y": 0.266667, "width": 0.3, "height": 0.133333}
    assert slide["positioned"]["font_families"] == ["Calibri", "Georgia"]
    assert slide["positioned"]["missing_features"] == []
    lite: Any = pptx_format.extract_slide(source(giver), 0, "layout_lite")
    assert lite["slide"]["positioned"] is None


@pytest.mark.parametrize(
    ("index", "detail", "reason"),
    [(4, "positioned", "unknown_slide"), (0, "pixels", "bad_value")],
)
def test_wrong_slides_and_details_are_refused(giver, index, detail, reason):
    with pytest.raises(FormatError) as caught:
        pptx_format.extract_slide(source(giver), index, detail)

    assert caught.value.reason == reason


@pytest.mark.rule("F21.3", "F21.4")
def test_layouts_theme_fonts_texts_and_images_are_listed(giver):
    data: Any = pptx_format.get_styles(source(giver))

    assert [entry["name"] for entry in data["layouts"]] == sorted(
        entry["name"] for entry in data["layouts"]
    )
    assert data["theme"]["fonts"] == {"major": "Calibri", "minor": "Calibri"}
    assert data["fonts"] == [{"family": "Georgia", "count": 1}]
    assert data["text_style_assets"][1] == {
        "asset_id": "text_style:0:1",
        "font_name": "Georgia",
        "font_size": 31.0,
        "bold": True,
        "count": 1,
        "shapes": ["0:1"],
    }
    assert data["image_assets"][0]["asset_id"] == "image:0:2"


@pytest.mark.rule("F22.4")
def test_a_text_style_reaches_every_run_of_the_target(giver, taker):
    applied, out = copy(giver, taker, "text_style:0:1->0:1")

    runs = [p.runs[0] for p in show(out).slides[0].placeholders[1].text_frame.paragraphs]
    assert [(r.text, r.font.name, r.font.size, r.font.bold) for r in runs] == [
        ("a", "Georgia", Pt(31), True),
        ("b", "Georgia", Pt(31), True),
    ]
    assert applied.effects.collateral == ()
    assert applied.changed_parts == ("ppt/slides/slide1.xml",)


@pytest.mark.rule("F22.4")
@pytest.mark.parametrize("note", ["", "<!-- x -->", "<?x y?>"])
def test_a_list_goes_with_the_last_thing_in_it_that_cannot_come_along(giver, taker, note):
    odd = '<x:odd xmlns:x="urn:x" r:id="rId99"/>'
    listed = f'<p:extLst>{note}<p:ext uri="1">{odd}</p:ext></p:extLst>'
    slide = "ppt/slides/slide1.xml"
    place = "</p:cNvPicPr><p:nvPr/>"
    path = reworked(
        giver, {slide: (place, place.replace("<p:nvPr/>", f"<p:nvPr>{listed}</p:nvPr>"))}
    )

    applied, out = copy(path, taker, {"asset_id": "image:0:2", "target_slide": 0})

    assert b"extLst" not in members(out)[slide]
    assert applied.effects.collateral == ()


PHOTO = "http://schemas.microsoft.com/office/2007/relationships/hdphoto"


@pytest.mark.rule("F22.4")
def test_an_image_keeps_the_layer_it_was_made_from(giver, taker):
    layer = '<a14:imgLayer xmlns:a14="urn:a14" r:embed="rId9"/>'
    line = f'<Relationship Id="rId9" Type="{PHOTO}" Target="../media/hdphoto1.png"/>'
    slide, rels = "ppt/slides/slide1.xml", "ppt/slides/_rels/slide1.xml.rels"
    path = reworked(
        giver,
        {
            slide: ("<a:stretch>", f"<a:extLst><a:ext>{layer}</a:ext></a:extLst><a:stretch>"),
            rels: ("</Relationships>", line + "</Relationships>"),
        },
        {"ppt/media/hdphoto1.png": b"photo"},
    )

    applied, out = copy(path, taker, {"asset_id": "image:0:2", "target_slide": 0})

    relations = {line.get("Id"): line for line in etree.fromstring(members(out)[rels])}
    names = re.findall('r:embed="(.*?)"', members(out)[slide].decode())
    assert [relations[one].get("Type", "").rpartition("/")[2] for one in names] == [
        "image",
        "hdphoto",
    ]
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.4")
def test_an_image_keeps_its_place_and_is_stored_once(giver, taker):
    asset = {"asset_id": "image:0:2", "target_slide": 0}
    applied, out = copy(giver, taker, asset, asset)

    pictures = [s for s in show(out).slides[0].shapes if s.shape_type == 13]
    assert [(p.left, p.top, p.width) for p in pictures] == [(Inches(1), Inches(2), Inches(3))] * 2
    assert sum(name.startswith("ppt/media/") for name in members(out)) == 1
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.4")
def test_a_layout_brings_its_master_and_theme(giver, taker):
    applied, out = copy(giver, taker, "layout:House Layout")

    written = show(out)
    assert len(written.slide_masters) == 2
    assert [layout.name for layout in written.slide_masters[1].slide_layouts] == ["House Layout"]
    assert map_of(out)["layouts"][-1] == "House Layout"
    assert applied.effects.collateral == ()
    again, _ = copy(giver, out.rename(taker.with_name("second.pptx")), "layout:House Layout")
    assert warnings(again) == {"asset_exists": 1}


@pytest.mark.rule("F22.5")
@pytest.mark.parametrize(
    ("asset", "reason"),
    [
        ("layout:House Layot", "unknown_asset"),
        ("image:0:0->0", "unknown_asset"),
        ("image:9:9->0", "unknown_asset"),
        ("text_style:x->0:1", "unknown_asset"),
        ("image:0:2", "asset_target_missing"),
        ("image:0:2->7", "asset_target_missing"),
        ("text_style:0:1->0", "asset_target_missing"),
        ("text_style:0:1->0:9", "asset_target_missing"),
    ],
)
def test_bad_assets_get_their_reason_and_leave_nothing(giver, taker, asset, reason):
    with pytest.raises(FormatError) as caught:
        copy(giver, taker, asset)

    assert caught.value.reason == reason
    assert not taker.with_name("out.pptx").exists()
