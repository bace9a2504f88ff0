"""Presentations: what a change must leave as it is, and files that stay whole."""

from __future__ import annotations

import re
import zipfile

import pytest
from pptx import Presentation

from backshop.formats import FormatError
from backshop.formats import pptx as pptx_format

from .office import edit, map_of, members, reworked, show, source, warnings

RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
OUT_OF_RELS = "</Relationships>"
TYPES = "[Content_Types].xml"
EQUATION = (
    '<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"><m:oMathPara '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:oMath><m:r>'
    "<m:t>E=mc²</m:t></m:r></m:oMath></m:oMathPara></a14:m>"
)


def rel(number: int, kind: str, target: str, mode: str = "") -> str:
    external = f' TargetMode="{mode}"' if mode else ""
    return f'<Relationship Id="rId{number}" Type="{RELS}/{kind}" Target="{target}"{external}/>'


def sp(number: int, words: str, *, inside: str = "", attributes: str = "") -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Box {number}"{attributes}/><p:cNvSpPr/>'
        f"<p:nvPr>{inside}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{words}"
        "</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def slide(number: int) -> str:
    return f"ppt/slides/slide{number}.xml"


def slide_rels(number: int) -> str:
    return f"ppt/slides/_rels/slide{number}.xml.rels"


@pytest.fixture
def deck(tmp_path):
    """Three slides, written by us: titles A, B, C, and texts."""
    _, out = edit(
        tmp_path / "new.pptx",
        {"op": "add_slide", "title": "A", "body": "one\ntwo"},
        {"op": "add_slide", "title": "B", "body": "x"},
        {"op": "add_slide", "title": "C", "body": "y"},
    )
    return out.rename(tmp_path / "deck.pptx")


def lines(path):
    return pptx_format.extract_lines(source(path))


def written(path, part):
    return members(path)[part].decode()


def clean(applied):
    assert applied.effects.collateral == ()
    return applied


# --- text ----------------------------------------------------------------------------------------


@pytest.fixture
def equation(deck):
    """The last paragraph of the first slide is an equation."""
    end = "<a:t>two</a:t></a:r></a:p>"
    return reworked(deck, {slide(1): (end, f"{end}<a:p>{EQUATION}</a:p>")})


@pytest.mark.rule("F10.4")
def test_equations_are_read(equation):
    assert lines(equation)[:4] == ["# slide 1: A", "one", "two", "E=mc²"]


@pytest.mark.rule("F23.3")
def test_bullets_are_appended_after_an_equation(equation):
    applied, out = edit(equation, {"op": "append_bullets", "index": 0, "bullets": ["new"]})

    assert lines(out)[1:5] == ["one", "two", "E=mc²", "new"]
    clean(applied)


@pytest.mark.rule("F20.1", "F19.4")
@pytest.mark.parametrize(
    "between", [EQUATION, '<a:fld id="{1}" type="slidenum"><a:t>7</a:t></a:fld>']
)
@pytest.mark.parametrize("search", ["one two", "onetwo", "\ufffc"])
def test_no_match_reaches_across_or_into_what_is_not_text(deck, between, search):
    end = "<a:t>one</a:t></a:r>"
    path = reworked(deck, {slide(1): (end, f"{end}{between}<a:r><a:t>two</a:t></a:r>")})

    with pytest.raises(FormatError) as caught:
        edit(path, {"op": "replace_text", "search": search, "replace": "c"})
    assert caught.value.reason == "no_match"


@pytest.mark.rule("F20.1")
@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_what_is_looked_for_may_have_line_ends_of_every_system(deck, ending):
    path = reworked(
        deck,
        {slide(1): ("<a:t>one</a:t></a:r>", "<a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r>")},
    )

    applied, _ = edit(path, {"op": "replace_text", "search": f"a{ending}b", "replace": "c"})

    assert applied.changes == ((0, "1 occurrence replaced"),)


@pytest.mark.rule("F20.6")
def test_bullets_take_the_look_of_an_empty_place(deck):
    text = re.search(r"<a:p>(?:(?!</a:p>).)*x</a:t>.*?</a:p>", written(deck, slide(2)))
    assert text is not None
    look = '<a:p><a:pPr algn="r"/><a:endParaRPr sz="900"/></a:p>'
    path = reworked(deck, {slide(2): (text[0], look)})

    _, out = edit(path, {"op": "append_bullets", "index": 1, "bullets": ["new"]})

    (found,) = show(out).slides[1].placeholders[1].text_frame.paragraphs
    assert (found.text, found.alignment.name, found.runs[0].font.size.pt) == ("new", "RIGHT", 9)


@pytest.mark.rule("F20.5")
def test_text_that_is_there_counts_when_bullets_are_appended(deck):
    path = reworked(deck, {slide(1): ("<a:t>one</a:t>", f"<a:t>{'word ' * 200}</a:t>")})

    applied, _ = edit(path, {"op": "append_bullets", "index": 0, "bullets": ["new"]})

    assert warnings(applied)["text_overflow"] > 1


def test_cells_of_a_damaged_table_are_written_or_refused(deck):
    cell = "<a:tc><a:txBody><a:bodyPr/><a:p/></a:txBody></a:tc>"
    table = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="50" name="t"/><p:cNvGraphicFramePr/>'
        '<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="1" cy="1"/></p:xfrm>'
        '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
        f'<a:tbl><a:tblGrid/><a:tr h="1">{cell}</a:tr><a:tr h="1">{cell}<a:tc vMerge="1"/></a:tr>'
        "</a:tbl></a:graphicData></a:graphic></p:graphicFrame></p:spTree>"
    )
    path = reworked(deck, {slide(1): ("</p:spTree>", table)})

    applied, _ = edit(
        path,
        {"op": "set_table_cells", "index": 0, "shape": 2, "cells": [
            {"row": 1, "column": 1, "text": "x"}]},
    )  # fmt: skip

    assert [effect.where for effect in clean(applied).effects.changed] == ["slide 1 shape 3"]


def test_new_text_stands_before_the_extensions_of_a_shape(deck):
    bare = (
        '<p:sp><p:nvSpPr><p:cNvPr id="9" name="b"/><p:cNvSpPr/><p:nvPr><p:ph type="body" idx="77"/>'
        '</p:nvPr></p:nvSpPr><p:spPr/><p:extLst><p:ext uri="{1}"/></p:extLst></p:sp></p:spTree>'
    )
    path = reworked(deck, {slide(1): ("</p:spTree>", bare)})

    _, out = edit(path, {"op": "set_slide_text", "index": 0, "body": "z", "placeholder": 77})

    assert re.search("<p:spPr/><p:txBody>.*</p:txBody><p:extLst>", written(out, slide(1)))


def test_notes_are_written_into_a_place_without_text(deck):
    _, noted = edit(deck, {"op": "set_notes", "index": 0, "notes": "gone"})
    part = "ppt/notesSlides/notesSlide1.xml"
    shapes = re.findall("<p:txBody>.*?</p:txBody>", written(noted, part))
    path = reworked(noted, {part: (next(one for one in shapes if "gone" in one), "")})

    applied, out = edit(path, {"op": "set_notes", "index": 0, "notes": "again"})

    assert lines(out)[3:5] == ["notes:", "again"]
    assert written(out, part).count('type="body"') == 1
    clean(applied)


@pytest.mark.rule("F29.3")
def test_numbers_beyond_all_measure_are_no_numbers(deck):
    huge = "1" + "0" * 400
    path = reworked(
        deck,
        {
            slide(1): ("<a:t>one</a:t>", f'<a:rPr sz="{huge}"/><a:t>one</a:t>'),
            "ppt/presentation.xml": ('<p:sldSz cx="12192000"', f'<p:sldSz cx="{huge}"'),
        },
    )

    assert len(pptx_format.extract_deck(source(path))["slides"]) == 3  # type: ignore[arg-type]


# --- slides --------------------------------------------------------------------------------------


@pytest.mark.rule("F23.8")
@pytest.mark.parametrize(
    ("mark", "is_copied"),
    [
        ('<p:custDataLst><p:tags r:id="rId7"/></p:custDataLst>', True),
        ('<p:extLst><p:ext uri="x"><p:odd r:embed="rId7"/></p:ext></p:extLst>', False),
    ],
)
def test_a_copied_footer_leads_nowhere(deck, mark, is_copied):
    footer = sp(20, "our footer", inside=f'<p:ph type="ftr" idx="11"/>{mark}')
    path = reworked(
        deck,
        {
            slide(3): ("</p:spTree>", footer + "</p:spTree>"),
            slide_rels(3): (OUT_OF_RELS, rel(7, "tags", "../tags/tag1.xml") + OUT_OF_RELS),
        },
        {"ppt/tags/tag1.xml": "<a/>"},
    )

    applied, out = edit(path, {"op": "add_slide", "title": "Z"})

    assert "rId7" not in written(out, slide(4))
    assert ("our footer" in written(out, slide(4))) is is_copied
    clean(applied)


SECTIONS = (
    f'<p:extLst><p:ext uri="x"><p14:sectionLst xmlns:p14="{P14}"><p14:section name="A">'
    '<p14:sldIdLst><p14:sldId id="256"/></p14:sldIdLst></p14:section><p14:section name="B">'
    '<p14:sldIdLst><p14:sldId id="257"/><p14:sldId id="258"/></p14:sldIdLst></p14:section>'
    "</p14:sectionLst></p:ext></p:extLst></p:presentation>"
)


@pytest.mark.rule("F20.7")
@pytest.mark.parametrize(
    ("index", "to", "sections"),
    [
        (1, 1, [["256"], ["257", "258"]]),
        (2, 1, [["256"], ["258", "257"]]),
        (1, 2, [["256"], ["258", "257"]]),
        (2, 0, [["258", "256"], ["257"]]),
        (0, 2, [[], ["257", "258", "256"]]),
    ],
)
def test_a_slide_that_moves_inside_its_section_stays_in_it(deck, index, to, sections):
    path = reworked(deck, {"ppt/presentation.xml": ("</p:presentation>", SECTIONS)})

    applied, out = edit(path, {"op": "move_slide", "index": index, "to": to})

    found = re.findall("<p14:section .*?</p14:section>", written(out, "ppt/presentation.xml"))
    assert [re.findall(r'<p14:sldId id="(\d+)"', one) for one in found] == sections
    assert (out.read_bytes() == path.read_bytes()) is (index == to)
    clean(applied)


@pytest.mark.rule("F16.13", "F20.7")
def test_an_added_slide_is_not_taken_for_a_deleted_one(deck):
    path = reworked(deck, {slide(3): ("</p:spTree>", sp(9, "more") + "</p:spTree>")})

    applied, out = edit(
        path,
        {"op": "delete_slide", "index": 2},
        {"op": "add_slide", "title": "New", "body": "n"},
    )

    assert {(e.where, e.aspect) for e in clean(applied).effects.changed if e.kind == "slide"} == {
        ("slide order", "structure"),
        ("slide 3", "removed"),
        ("slide 3", "added"),
    }
    assert [one["slide_id"] for one in map_of(out)["slides"]] == [256, 257, 259]
    assert slide(4) in members(out)


@pytest.mark.rule("F16.13")
@pytest.mark.parametrize("note", ["<!-- x -->", "<?x y?>"])
@pytest.mark.parametrize("index", [0, 1, 3])
def test_a_slide_is_added_at_its_place_whatever_programs_noted_there(deck, note, index):
    notes = ("<p:sldIdLst>", f"<p:sldIdLst>{note}{note}")
    path = reworked(deck, {"ppt/presentation.xml": notes})

    applied, out = edit(path, {"op": "add_slide", "title": "New", "body": "n", "index": index})

    titles = ["A", "B", "C"]
    titles.insert(index, "New")
    assert [one["title"] for one in map_of(out)["slides"]] == titles
    assert warnings(applied) == {}
    clean(applied)


@pytest.mark.rule("F20.3")
def test_a_paragraph_with_nothing_but_the_note_of_a_program_is_empty(deck):
    path = reworked(deck, {slide(2): ("<a:t>x</a:t></a:r>", "<a:t/></a:r><!-- x -->")})

    applied, out = edit(path, {"op": "append_bullets", "index": 1, "bullets": ["new"]})

    assert show(out).slides[1].placeholders[1].text_frame.text == "new"
    clean(applied)


VIEW = (
    '<p:viewPr xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:r="{RELS}">'
    '<p:outlineViewPr><p:cViewPr/><p:sldLst><p:sld r:id="rId1" collapse="1"/></p:sldLst>'
    "</p:outlineViewPr></p:viewPr>"
)


def listed(*lines: str) -> str:
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{"".join(lines)}</Relationships>'


@pytest.mark.rule("F20.7")
def test_a_slide_collapsed_in_the_outline_can_go(deck):
    presentation = "ppt/_rels/presentation.xml.rels"
    path = reworked(
        deck,
        {presentation: (OUT_OF_RELS, rel(99, "viewProps", "viewProps.xml") + OUT_OF_RELS)},
        {
            "ppt/viewProps.xml": VIEW,
            "ppt/_rels/viewProps.xml.rels": listed(rel(1, "slide", "slides/slide2.xml")),
        },
    )

    applied, out = edit(path, {"op": "delete_slide", "index": 1})

    assert [one["title"] for one in map_of(out)["slides"]] == ["A", "C"]
    assert "<p:sld " not in written(out, "ppt/viewProps.xml")
    clean(applied)


@pytest.mark.rule("F20.7")
@pytest.mark.parametrize(
    ("owner", "target", "hint"),
    [
        ("ppt/slideLayouts/_rels/slideLayout1.xml.rels", "../slides/slide2.xml",
         "ppt/slideLayouts/slideLayout1.xml"),
        ("ppt/notesSlides/_rels/notesSlide1.xml.rels", "../slides/slide2.xml", "notes of slide 1"),
        (slide_rels(3), "slide2.xml", "slide 3 (slide_index 2)"),
    ],
)  # fmt: skip
def test_a_slide_anything_links_to_stays(deck, owner, target, hint):
    _, noted = edit(deck, {"op": "set_notes", "index": 0, "notes": "see B"})
    path = reworked(noted, {owner: (OUT_OF_RELS, rel(98, "slide", target) + OUT_OF_RELS)})

    with pytest.raises(FormatError) as caught:
        edit(path, {"op": "delete_slide", "index": 1})

    assert (caught.value.reason, caught.value.hints) == ("op_conflict", (hint,))


@pytest.mark.rule("F23.8")
def test_a_part_that_names_a_relationship_it_has_not_is_not_written(deck, monkeypatch):
    monkeypatch.setattr("backshop.formats.pptx.slides.names_relations", lambda _: False)
    footer = sp(20, "f", inside='<p:ph type="ftr" idx="11"/><p:odd r:id="rId7"/>')
    path = reworked(deck, {slide(3): ("</p:spTree>", footer + "</p:spTree>")})

    with pytest.raises(FormatError) as caught:
        edit(path, {"op": "add_slide", "title": "Z"})
    edit(path, {"op": "set_slide_text", "index": 2, "title": "was broken before"})

    assert caught.value.reason == "verify_failed"


# --- dialect -------------------------------------------------------------------------------------


@pytest.fixture
def strict(deck):
    """The deck in the strict dialect of the standard."""
    made = deck.with_name("strict.pptx")
    loose = re.compile(
        rb"http://schemas\.openxmlformats\.org/(presentationml|drawingml|officeDocument)/2006/"
    )
    with zipfile.ZipFile(made, "w") as new:
        for name, data in members(deck).items():
            new.writestr(name, loose.sub(rb"http://purl.oclc.org/ooxml/\1/", data))
    return made


@pytest.mark.rule("F23.11", "F16.13")
def test_an_edit_of_a_strict_deck_reports_what_it_changed(strict):
    applied, _ = edit(strict, {"op": "set_slide_text", "index": 0, "title": "Changed"})

    assert [e.where for e in clean(applied).effects.changed] == ["slide 1 shape 1"]


@pytest.mark.rule("F23.11")
def test_what_is_added_to_a_strict_deck_is_strict(strict):
    applied, out = edit(strict, {"op": "add_slide", "title": "Z", "body": "z", "notes": "n"})

    assert lines(out)[-4:] == ["# slide 4: Z", "z", "notes:", "n"]
    loose = re.compile(rb"schemas\.openxmlformats\.org/(?!package/)")
    parts = {name: data for name, data in members(out).items() if name.endswith((".xml", ".rels"))}
    assert [name for name, data in parts.items() if loose.search(data)] == []
    clean(applied)


# --- copied assets -------------------------------------------------------------------------------


def copied(giver, taker, *assets):
    out = taker.with_name("copied.pptx")
    return pptx_format.copy_assets(source(giver), source(taker), list(assets), out), out


IMAGE = {TYPES: ("</Types>", '<Default Extension="png" ContentType="image/png"/></Types>')}


@pytest.mark.rule("F22.4")
def test_a_copied_text_style_leaves_the_links_of_the_target(deck):
    link = rel(5, "hyperlink", "http://example.com/", "External")
    path = reworked(
        deck,
        {
            slide(1): ("<a:rPr/><a:t>one", '<a:rPr><a:hlinkClick r:id="rId5"/></a:rPr><a:t>one'),
            slide_rels(1): (OUT_OF_RELS, link + OUT_OF_RELS),
        },
    )

    applied, out = copied(deck, path, "text_style:1:0->0:1")

    runs = show(out).slides[0].placeholders[1].text_frame.paragraphs[0].runs
    assert [(run.text, run.hyperlink.address) for run in runs] == [("one", "http://example.com/")]
    clean(applied)


@pytest.mark.rule("F22.4")
def test_a_picture_bullet_comes_with_its_picture(deck):
    bullet = (
        '<a:p><a:pPr><a:buBlip><a:blip r:embed="rId5"/></a:buBlip></a:pPr><a:r><a:rPr/><a:t>one'
    )
    giver = reworked(
        deck,
        {
            slide(1): ("<a:p><a:r><a:rPr/><a:t>one", bullet),
            slide_rels(1): (OUT_OF_RELS, rel(5, "image", "../media/i.png") + OUT_OF_RELS),
            **IMAGE,
        },
        {"ppt/media/i.png": b"picture"},
    )

    applied, out = copied(giver, deck, "text_style:0:1->1:1")

    (found,) = re.findall('<a:blip r:embed="(rId[0-9]+)"/>', written(out, slide(2)))
    assert f'Id="{found}"' in written(out, slide_rels(2))
    assert b"picture" in members(out).values()
    clean(applied)


VIDEO = (
    '<p:pic><p:nvPicPr><p:cNvPr id="30" name="Film"><a:hlinkClick r:id="rId8"/><a:hlinkMouseOver '
    'r:id="rId8"/></p:cNvPr><p:cNvPicPr/><p:nvPr><a:videoFile r:link="rId8"/>'
    '<p:custDataLst><p:tags r:id="rId8"/></p:custDataLst><p:extLst><p:ext uri="{D}"><p14:media '
    f'xmlns:p14="{P14}" r:embed="rId8"/></p:ext></p:extLst></p:nvPr></p:nvPicPr><p:blipFill>'
    '<a:blip r:embed="rId9" r:link="rId10"/></p:blipFill><p:spPr/></p:pic>'
    '<p:pic><p:nvPicPr><p:cNvPr id="31" name="Linked"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
    '<p:blipFill><a:blip r:link="rId10"/></p:blipFill><p:spPr/></p:pic></p:spTree>'
)


@pytest.fixture
def film(deck):
    """The third slide shows a film and a linked picture."""
    rels = (
        rel(8, "video", "../media/v.mp4")
        + rel(9, "image", "../media/i.png")
        + rel(10, "image", "http://example.com/y.png", "External")
    )
    return reworked(
        deck,
        {
            slide(3): ("</p:spTree>", VIDEO),
            slide_rels(3): (OUT_OF_RELS, rels + OUT_OF_RELS),
            **IMAGE,
        },
        {"ppt/media/v.mp4": b"film", "ppt/media/i.png": b"picture"},
    )


@pytest.mark.rule("F22.4")
def test_a_copied_picture_leaves_nothing_that_leads_nowhere(deck, film):
    applied, out = copied(film, deck, "image:2:2->0")

    (picture,) = re.findall("<p:pic>.*</p:pic>", written(out, slide(1)))
    assert picture == (
        '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Film"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        '<p:blipFill><a:blip r:embed="rId2"/></p:blipFill><p:spPr/></p:pic>'
    )
    clean(applied)


@pytest.mark.rule("F22.5")
def test_a_picture_that_is_not_in_the_file_is_no_asset(deck, film):
    with pytest.raises(FormatError) as caught:
        copied(film, deck, "image:2:3->0")

    assert caught.value.reason == "unknown_asset"


@pytest.mark.rule("F22.4")
def test_a_picture_the_target_has_already_is_no_side_effect(film):
    applied, out = copied(film, film, "image:2:2->0")

    assert sum(name.startswith("ppt/media/") for name in members(out)) == 2
    clean(applied)


@pytest.mark.rule("F22.4")
def test_a_copied_layout_leaves_nothing_that_leads_nowhere(deck):
    layout = "ppt/slideLayouts/slideLayout2.xml"
    frame = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="60" name="chart"/><p:cNvGraphicFramePr/>'
        '<p:nvPr/></p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData uri="c"><c:chart '
        'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="rId8"/>'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )
    filled = sp(61, "kept").replace(
        "<p:spPr/>", '<p:spPr><a:blipFill><a:blip r:link="rId8"/></a:blipFill></p:spPr>'
    )
    linked = VIDEO[VIDEO.index('<p:pic><p:nvPicPr><p:cNvPr id="31"') :].replace("rId10", "rId8")
    rels = "ppt/slideLayouts/_rels/slideLayout2.xml.rels"
    outside = rel(8, "image", "http://example.com/y.png", "External")
    giver = reworked(
        deck,
        {
            layout: ("</p:spTree>", frame + filled + linked),
            rels: (OUT_OF_RELS, outside + OUT_OF_RELS),
        },
    )
    taker = deck.with_name("taker.pptx")
    Presentation().save(str(taker))
    name = map_of(giver)["layouts"][1]

    applied, out = copied(giver, taker, {"asset_id": f"layout:{name}", "overwrite": True})

    new = written(out, "ppt/slideLayouts/slideLayout12.xml")
    assert "graphicFrame" not in new
    assert "p:pic" not in new
    assert "<p:spPr><a:noFill/></p:spPr>" in new
    clean(applied)
