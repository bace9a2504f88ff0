"""Documents that Backshop draws itself, as they flow: typed blocks with places (F43.50)."""

from __future__ import annotations

import io
from typing import Any

import pytest
from docx import Document as WordDocument
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt, RGBColor
from PIL import Image

from backshop.base import limits
from backshop.formats import FormatError, Formats, docx

from ..office import source

INS = '<w:{0} {1} w:id="9" w:author="Mira" w:date="2026-01-02T03:04:05Z"><w:r>{2}</w:r></w:{0}>'


@pytest.fixture
def word(tmp_path):
    document: Any = WordDocument()
    document.path = tmp_path / "d.docx"
    return document


def drawn(document: Any, **window: int) -> Any:
    document.save(str(document.path))
    return docx.draw_document(source(document.path), **window)


def plain(block):
    return "".join(run["text"] for run in block.get("runs", ()))


@pytest.mark.rule("F43.50", "F43.51")
def test_headings_paragraphs_and_runs_have_their_looks_and_places(word):
    word.add_heading("Top", 1)
    paragraph = word.add_paragraph("plain ")
    run = paragraph.add_run("strong")
    run.bold, run.italic, run.font.size = True, True, Pt(20)
    run.font.color.rgb = RGBColor(0x12, 0x34, 0x56)
    run.font.name = "Arial"
    paragraph.paragraph_format.left_indent = Pt(36)
    found = drawn(word)

    head, text = found["blocks"]
    assert (head["kind"], head["level"], head["place"]) == ("heading", 1, "paragraph 0")
    assert head["runs"][0]["bold"]
    assert (text["place"], text["left"], text["style"]) == ("paragraph 1", 48, "Normal")
    assert text["runs"][1] == {
        "text": "strong",
        "bold": True,
        "italic": True,
        "size": 26.67,
        "color": "#123456",
        "family": "Arimo",
    }
    assert found["sections"] == [{"heading": "Top", "level": 1, "first_block": 0}]
    assert (found["block_count"], found["next_block"], found["missing"]) == (2, None, [])


@pytest.mark.rule("F43.52")
def test_lists_have_their_real_numbers_and_bullets(word):
    for style, text in (("List Number", "a"), ("List Number", "b"), ("List Bullet", "c")):
        word.add_paragraph(text, style)

    assert [block["marker"] for block in drawn(word)["blocks"]] == ["1.", "2.", "•"]
    later = drawn(word, first_block=1, block_count=1)
    assert [block["marker"] for block in later["blocks"]] == ["2."]
    assert (later["first_block"], later["next_block"]) == (1, 2)


@pytest.mark.rule("F43.53", "F43.54")
def test_tracked_changes_comments_notes_and_page_breaks_are_there(word):
    paragraph = word.add_paragraph("We ")
    space = nsdecls("w")
    for tag, inner in (("del", "<w:delText>may</w:delText>"), ("ins", "<w:t>will</w:t>")):
        paragraph._p.append(parse_xml(INS.format(tag, space, inner)))
    word.add_comment(paragraph.runs, "Sure?", author="Ole", initials="O")
    word.add_paragraph("next").add_run().add_break(WD_BREAK.PAGE)
    word.sections[0].header.paragraphs[0].text = "On top"
    found = drawn(word)

    first, second = found["blocks"]
    changes = [(run.get("change"), run.get("author"), run["text"]) for run in first["runs"]]
    assert changes == [
        (None, None, "We "),
        ("deleted", "Mira", "may"),
        ("inserted", "Mira", "will"),
    ]
    assert [(one["author"], one["text"]) for one in first["comments"]] == [("Ole", "Sure?")]
    assert second["runs"][-1]["breaks_page"]
    (header,) = found["asides"]
    assert (header["kind"], plain(header["blocks"][0])) == ("header", "On top")


@pytest.mark.rule("F43.55")
def test_tables_have_merges_fills_and_places_of_cells(word):
    table = word.add_table(3, 2, "Table Grid")
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "high"
    table.cell(1, 1)._tc.get_or_add_tcPr().append(
        parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:fill="FFEE00"/>')
    )
    (found,) = drawn(word)["blocks"]

    (wide,), (high, filled), (last,) = found["rows"]
    assert (wide["column_span"], wide["place"]) == (2, "paragraph 0 row 0 column 0")
    assert (high["row_span"], filled["fill"]) == (2, "#ffee00")
    assert last["place"] == "paragraph 0 row 2 column 1"
    assert found.get("has_lines", True)


@pytest.mark.rule("F43.53", "F43.4")
def test_pictures_are_made_anew_and_broken_ones_are_frames(word):
    out = io.BytesIO()
    Image.new("RGB", (30, 20), "#00ff00").save(out, "PNG")
    out.seek(0)
    word.add_picture(out)
    word.add_picture(out)
    second = word.part.related_parts[
        word.inline_shapes[1]._inline.graphic.graphicData.pic.blipFill.blip.embed
    ]
    found = drawn(word)
    picture = found["blocks"][0]["runs"][0]["picture"]
    assert picture["address"].startswith("data:image/png;base64,")

    second._blob = b"\x89PNG no"
    found = drawn(word)
    assert "address" not in found["blocks"][0]["runs"][0]["picture"]
    assert "a picture that cannot be drawn" in found["missing"]


@pytest.mark.rule("F43.50", "F43.56", "F43.6")
def test_a_long_document_is_drawn_in_windows_through_the_door(word, tmp_path):
    for at in range(limits.DRAWN_BLOCKS_MAX + 5):
        word.add_paragraph(f"line {at}")
    word.save(str(word.path))
    (tmp_path / "a.txt").write_text("x")

    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        first: Any = formats.draw_document(formats.source(word.path), 0, 10**9)
        rest: Any = formats.draw_document(formats.source(word.path), first["next_block"])
        with pytest.raises(FormatError) as refused:
            formats.draw_document(formats.source(tmp_path / "a.txt"))

    assert len(first["blocks"]) == limits.DRAWN_BLOCKS_MAX
    assert [plain(block) for block in rest["blocks"]] == [f"line {600 + at}" for at in range(5)]
    assert rest["next_block"] is None
    assert refused.value.reason == "unsupported_format"
