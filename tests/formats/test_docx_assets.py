"""Documents: review sections, style reports and copied assets."""

from __future__ import annotations

import io
from typing import Any

import pytest
from docx import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import Inches, Pt, RGBColor
from PIL import Image

from backshop.formats import FormatError
from backshop.formats import docx as docx_format

from .office import members, source, warnings, word


@pytest.fixture
def giver(tmp_path):
    document: Any = WordDocument()
    base = document.styles.add_style("House Base", WD_STYLE_TYPE.PARAGRAPH)
    base.font.name = "Georgia"
    house = document.styles.add_style("House Text", WD_STYLE_TYPE.PARAGRAPH)
    house.base_style = base
    house.font.size = Pt(13)
    house.font.bold = True
    house.font.color.rgb = RGBColor(0x12, 0x34, 0x56)
    document.add_heading("One", 1)
    document.add_paragraph("styled", style="House Text")
    paragraph = document.add_paragraph("mixed ")
    run = paragraph.add_run("bold")
    run.bold, run.font.size = True, Pt(15)
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "x"
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "blue").save(buffer, "PNG")
    buffer.seek(0)
    document.add_picture(buffer, width=Inches(1.5))
    document.sections[0].header.paragraphs[0].text = "House header"
    path = tmp_path / "giver.docx"
    document.save(str(path))
    return path


@pytest.fixture
def taker(tmp_path):
    document: Any = WordDocument()
    document.add_paragraph("first")
    document.add_paragraph("second")
    path = tmp_path / "taker.docx"
    document.save(str(path))
    return path


def copy(giver, taker, *assets):
    out = taker.with_name("out.docx")
    return docx_format.copy_assets(source(giver), source(taker), list(assets), out), out


@pytest.mark.rule("F29.2")
def test_a_section_is_extracted_with_runs_tables_images_and_order(giver):
    data: Any = docx_format.extract_section(source(giver), 1)

    section = data["section"]
    assert (data["section_index"], data["section_count"]) == (1, 2)
    assert (section["heading"], section["level"]) == ("One", 1)
    assert section["order"] == [{"p": 0}, {"p": 1}, {"p": 2}, {"t": 0}, {"p": 3}]
    mixed = section["paragraphs"][2]
    assert mixed["text"] == "mixed bold"
    assert mixed["runs"][1] == {
        "index": 1,
        "text": "bold",
        "bold": True,
        "italic": None,
        "underline": None,
        "size_pt": 15.0,
        "font_name": None,
        "color": None,
    }
    assert section["tables"] == [
        {"index": 0, "row_count": 1, "col_count": 2, "rows": [["x", ""]], "drawn": []}
    ]
    assert section["images"][0]["target"] == "word/media/image1.png"
    before: Any = docx_format.extract_section(source(giver), 0)
    assert before["section"]["paragraphs"] == []


def test_an_unknown_section_is_refused(giver):
    with pytest.raises(FormatError) as caught:
        docx_format.extract_section(source(giver), 7)

    assert (caught.value.reason, caught.value.hints) == ("unknown_section", ("1: One",))


@pytest.mark.rule("F21.2", "F21.4")
def test_styles_images_headers_and_page_are_listed(giver):
    data: Any = docx_format.get_styles(source(giver))

    styles = {entry["asset_id"]: entry for entry in data["styles"]}
    assert styles["paragraph_style:House Text"] == {
        "asset_id": "paragraph_style:House Text",
        "name": "House Text",
        "style_id": "HouseText",
        "type": "paragraph",
        "builtin": False,
        "base_style": "House Base",
        "font_name": "Georgia",
        "font_size": 13.0,
        "bold": True,
        "color": "#123456",
        "alignment": None,
        "in_use": True,
    }
    order = [(entry["type"], entry["asset_id"]) for entry in data["styles"]]
    assert order == sorted(order)
    image = data["image_assets"][0]
    assert (image["filename"], image["content_type"], image["width"]) == (
        "image1.png",
        "image/png",
        Inches(1.5),
    )
    assert data["headers_footers"] == [
        {
            "asset_id": "header:default",
            "kind": "header",
            "type": "default",
            "text": "House header",
        }
    ]
    assert data["page"]["orientation"] == "portrait"


@pytest.mark.rule("F22.3", "F32.87")
def test_a_style_is_copied_with_its_base_chain(giver, taker):
    applied, out = copy(giver, taker, "paragraph_style:House Text")

    styles = word(out).styles
    assert styles["House Text"].base_style.name == "House Base"
    assert styles["House Text"].font.size == Pt(13)
    assert styles["House Base"].font.name == "Georgia"
    assert applied.extra == {"copied_count": 1, "copied": ["paragraph_style:House Text"]}
    assert applied.effects.collateral == ()
    assert applied.changed_parts == ("word/styles.xml",)


@pytest.mark.rule("F22.3")
def test_a_style_of_the_same_name_is_overwritten_only_when_asked(giver, taker, tmp_path):
    _, with_style = copy(giver, taker, "paragraph_style:House Text")
    other = with_style.rename(tmp_path / "other.docx")
    document = word(other)
    document.styles["House Text"].font.size = Pt(40)
    document.save(str(other))

    kept, out = copy(giver, other, "paragraph_style:House Text")
    assert warnings(kept) == {"asset_exists": 1}
    assert word(out).styles["House Text"].font.size == Pt(40)

    forced, out = copy(giver, other, {"asset_id": "paragraph_style:House Text", "overwrite": True})
    assert word(out).styles["House Text"].font.size == Pt(13)
    assert forced.effects.collateral == ()


@pytest.mark.rule("F22.3")
def test_a_list_style_brings_its_list(giver, taker):
    document = word(taker)
    styles = document.styles.element
    styles.remove(document.styles["List Bullet"].element)
    document.save(str(taker))

    applied, out = copy(giver, taker, "paragraph_style:List Bullet")

    number = word(out).styles["List Bullet"].element.pPr.numPr.numId.val
    assert f'w:numId="{number}"'.encode() in members(out)["word/numbering.xml"]
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.3", "F22.6")
def test_an_image_is_inserted_at_its_size_after_the_target(giver, taker):
    data: Any = docx_format.get_styles(source(giver))
    asset = data["image_assets"][0]["asset_id"]

    applied, out = copy(giver, taker, f"{asset}->0")

    document = word(out)
    assert [p.text for p in document.paragraphs] == ["first", "", "second"]
    assert document.inline_shapes[0].width == Inches(1.5)
    assert applied.effects.collateral == ()
    assert members(out)["word/media/image1.png"] == members(giver)["word/media/image1.png"]


@pytest.mark.rule("F22.3")
def test_a_header_is_copied(giver, taker):
    applied, out = copy(giver, taker, {"asset_id": "header:default"})

    assert word(out).sections[0].header.paragraphs[0].text == "House header"
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.5", "F22.1")
@pytest.mark.parametrize(
    ("asset", "reason"),
    [
        ("paragraph_style:House Txt", "unknown_asset"),
        ("footer:first", "unknown_asset"),
        ("nonsense", "unknown_asset"),
        ("IMAGE", "asset_target_missing"),
        ("IMAGE->99", "asset_target_missing"),
        ({"target": "0"}, "missing_field"),
        (7, "bad_type"),
    ],
)
def test_bad_assets_get_their_reason_and_leave_nothing(giver, taker, asset, reason):
    data: Any = docx_format.get_styles(source(giver))
    image = data["image_assets"][0]["asset_id"]
    wish = asset.replace("IMAGE", image) if isinstance(asset, str) else asset

    with pytest.raises(FormatError) as caught:
        copy(giver, taker, "paragraph_style:House Base", wish)

    assert caught.value.reason == reason
    assert not taker.with_name("out.docx").exists()
    if reason == "unknown_asset" and "Txt" in str(asset):
        assert "paragraph_style:House Text" in caught.value.hints
