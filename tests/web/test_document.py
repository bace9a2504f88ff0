"""The template that shows a drawn document: places and looks as data, words escaped (F43.51)."""

from __future__ import annotations

from typing import Any

import pytest
from docx import Document as WordDocument
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import RGBColor
from lxml import html

from backshop.formats import Formats
from backshop.web.render import environment

SHOWN = '{% import "document.html" as paper %}{{ paper.document(drawn) }}'
INSERTED = '<w:ins {} w:id="9" w:author="M&lt;b&gt;"><w:r><w:t>new</w:t></w:r></w:ins>'


@pytest.mark.rule("F43.51", "F43.53", "F43.54")
def test_a_document_is_shown_without_a_style_or_a_link_and_with_its_places(tmp_path):
    word = WordDocument()
    word.add_heading("Top", 2)
    paragraph = word.add_paragraph("<script>alert(1)</script> \u202eturned")
    paragraph.runs[0].font.color.rgb = RGBColor(1, 2, 3)
    paragraph._p.append(parse_xml(INSERTED.format(nsdecls("w"))))
    word.add_comment(paragraph.runs, "Why <i>?", author="Ole")
    word.add_paragraph("item", "List Number")
    word.add_table(1, 2).cell(0, 0).text = "cell"
    word.save(str(tmp_path / "d.docx"))
    with Formats(plugins={}) as formats:
        drawn = formats.draw_document(formats.source(tmp_path / "d.docx"))

    text = environment().from_string(SHOWN).render(drawn=drawn)
    page: Any = html.fromstring(text)

    assert not page.xpath("//script | //style | //link | //a | //iframe | //*[@style]")
    assert not [name for one in page.iter() for name in one.attrib if name.startswith("on")]
    assert page.xpath("//h2/@data-place") == ["paragraph 0"]
    run = page.xpath('//p[@data-place="paragraph 1"]/span[1]')[0]
    assert run.text_content() == "<script>alert(1)</script> ⟦U+202E⟧turned"
    assert run.get("data-color") == "#010203"
    assert page.xpath("//ins/@title") == ["M<b> inserted this"]
    assert [one.text_content() for one in page.xpath("//*[@role='note']/p")] == ["Why <i>?"]
    assert page.xpath('//span[@class="paper-marker"]/text()') == ["1."]
    assert page.xpath("//td/@data-place") == [
        "paragraph 3 row 0 column 0",
        "paragraph 3 row 0 column 1",
    ]
