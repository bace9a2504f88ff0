"""Documents and decks: twice as much in a file, or in a request, is twice the work and no more."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from pptx import Presentation
from tests.effort import calls, work

from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format
from backshop.formats.docx.text import visible
from backshop.formats.package import guard, package

from .office import edit, paragraph, source, with_body

PALE = '<w:rPr><w:color w:val="FFFFFF"/></w:rPr>'
CELL = f"<w:tc><w:p><w:r>{PALE}<w:t>x</w:t></w:r></w:p></w:tc>"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (f"<w:p><w:pPr/>{'<w:r><w:t>x</w:t></w:r>' * 300}</w:p>", 301),
        (f"<w:p><w:r>{PALE}{'<w:t>x</w:t>' * 300}</w:r></w:p>", 2),
        (f"<w:tbl><w:tblPr/><w:tr>{CELL * 300}</w:tr></w:tbl>", 902),
    ],
    ids=["runs of a paragraph", "texts of a run", "cells of a row"],
)
def test_properties_are_looked_for_once_in_each_element(tmp_path, body, kept):
    here = source(with_body(tmp_path / "a.docx", body))

    assert calls(visible._child, lambda: docx_format.extract_lines(here)) == kept


@pytest.mark.rule("F29.2")
def test_twice_as_many_runs_and_cells_are_twice_the_work_of_a_review(tmp_path):
    def reviewing(count: int) -> int:
        link = '<w:hyperlink w:anchor="x"><w:r><w:t>to</w:t></w:r></w:hyperlink>'
        cells = "<w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr>" * count
        runs = f"<w:r><w:t>a</w:t></w:r>{link}" * count
        body = f"<w:p>{runs}</w:p><w:tbl><w:tblPr/>{cells}</w:tbl>"
        here = source(with_body(tmp_path / "a.docx", body))
        return work(lambda: docx_format.extract_document(here))

    assert reviewing(400) < 2.2 * reviewing(200)


@pytest.mark.rule("F19.4")
def test_twice_as_many_symbols_between_matches_are_twice_the_work(tmp_path):
    def replacing(count: int) -> int:
        runs = '<w:r><w:t>ab</w:t><w:sym w:char="00e9"/></w:r>' * count
        path = with_body(tmp_path / "a.docx", f"<w:p>{runs}</w:p>")
        op = {"op": "replace_text", "search": "ab", "replace": "cd"}
        return work(lambda: edit(path, op))

    assert replacing(400) < 2.2 * replacing(200)


def test_a_match_that_touches_a_symbol_is_kept_and_one_over_it_is_not(tmp_path):
    body = (
        '<w:p><w:r><w:t>ab</w:t><w:sym w:char="00e9"/><w:t>ab a</w:t><w:sym w:char="F0FC"/>'
        "<w:t>b é</w:t></w:r></w:p>"
    )
    path = with_body(tmp_path / "a.docx", body)

    _, out = edit(path, {"op": "replace_text", "search": "ab", "replace": "X"})

    assert docx_format.extract_lines(source(out)) == ["XéX ab é"]


@pytest.mark.rule("F29.3", "F21.2")
@pytest.mark.parametrize("act", ["extract_deck", "get_styles"])
def test_more_pictures_on_a_slide_are_no_more_parts_to_parse(tmp_path, act):
    def parsed(count: int) -> int:
        deck = Presentation()
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        for number in range(count):
            picture = io.BytesIO()
            Image.new("RGB", (2, 2), (number, 0, 0)).save(picture, "PNG")
            slide.shapes.add_picture(picture, 0, 0)
        deck.save(str(tmp_path / "a.pptx"))
        here = source(tmp_path / "a.pptx")
        return calls(guard.parse_xml, lambda: getattr(pptx_format, act)(here))

    assert parsed(30) == parsed(3)


@pytest.mark.rule("F19.1")
def test_twice_as_many_lists_are_twice_the_work(tmp_path):
    def writing(count: int) -> int:
        path = with_body(tmp_path / "a.docx", paragraph("x"))
        items = [{"text": "a", "list": "number"}, {"text": "b", "list": "bullet"}] * count
        return work(lambda: edit(path, {"op": "set_paragraphs", "paragraphs": items}))

    assert writing(120) < 2.2 * writing(60)


@pytest.mark.rule("F19.1")
def test_more_links_are_no_more_parts_to_parse_and_to_write(tmp_path):
    def cost(count: int) -> tuple[int, int]:
        path = with_body(tmp_path / "a.docx", paragraph("x"))
        links = [{"runs": [{"text": "a", "hyperlink": f"https://e.x/{n}"}]} for n in range(count)]
        op = {"op": "set_paragraphs", "paragraphs": links}
        return (
            calls(guard.parse_xml, lambda: edit(path, op)),
            calls(package.canonical, lambda: edit(path, op)),
        )

    cost(1)  # reads the template, which is kept

    assert cost(60) == cost(6)
