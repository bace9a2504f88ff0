"""Presentations: text an audience does not see is labelled, and none is left out (F4.8, F10.5)."""

from __future__ import annotations

import pytest
from tests.effort import work

from backshop.formats import Selector
from backshop.formats import pptx as pptx_format

from .office import edit, reworked, source

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SLIDE = "ppt/slides/slide1.xml"
WHITE = '<a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr>'


@pytest.fixture
def deck(tmp_path):
    _, out = edit(tmp_path / "new.pptx", {"op": "add_slide", "title": "Top", "body": "text"})
    return out


def run(words: str, look: str = "") -> str:
    return f"<a:r>{look}<a:t>{words}</a:t></a:r>"


def sp(number: int, inside: str, *, place: str = "", attributes: str = "") -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Box {number}"{attributes}/><p:cNvSpPr/>'
        f'<p:nvPr>{place}</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="0" y="{number}000"/>'
        f'<a:ext cx="100" cy="100"/></a:xfrm></p:spPr><p:txBody><a:bodyPr/><a:p>{inside}</a:p>'
        "</p:txBody></p:sp>"
    )


def with_shapes(deck, shapes, edits=None, extra=None):
    return reworked(deck, {SLIDE: ("</p:spTree>", shapes + "</p:spTree>"), **(edits or {})}, extra)


def lines(path):
    found = pptx_format.extract_lines(source(path))
    assert pptx_format.read(source(path), Selector(slide_index=0)).text.split("\n") == found
    return found


@pytest.mark.rule("F10.2", "F10.4")
def test_a_second_title_is_text(deck):
    path = with_shapes(deck, sp(43, run("also a title"), place='<p:ph type="title"/>'))

    assert lines(path) == ["# slide 0: Top", "also a title", "text"]


@pytest.mark.rule("F4.8", "F10.5")
def test_every_line_of_what_is_hidden_is_labelled(deck):
    group = (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="40" name="g" hidden="1"/><p:cNvGrpSpPr/><p:nvPr/>'
        f"</p:nvGrpSpPr><p:grpSpPr/>{sp(41, run('in a group'))}</p:grpSp>"
    )
    broken = sp(42, run("above") + "<a:br/>" + run("below"), attributes=' hidden="1"')

    assert lines(with_shapes(deck, group + broken)) == [
        "# slide 0: Top",
        "[hidden] in a group",
        "[hidden] above",
        "[hidden] below",
        "text",
    ]


@pytest.mark.rule("F4.8", "F10.5")
@pytest.mark.parametrize(
    ("old", "new", "heading"),
    [
        ('<p:cNvPr id="2" name="Title 1"', '<p:cNvPr id="2" name="Title 1" hidden="1"',
         "# slide 0: [hidden] Top"),
        ("<a:rPr/><a:t>Top", f"{WHITE}<a:t>Top", "# slide 0: [white text: Top]"),
    ],
)  # fmt: skip
def test_a_title_nobody_sees_is_labelled(deck, old, new, heading):
    assert lines(reworked(deck, {SLIDE: (old, new)}))[0] == heading


@pytest.mark.rule("F4.8", "F10.5")
@pytest.mark.parametrize("note", ["<!-- x -->", "<?x y?>"])
@pytest.mark.parametrize(
    "white",
    [
        '<a:solidFill>{}<a:srgbClr val="FFFFFF"/></a:solidFill>',
        '<a:solidFill><a:srgbClr val="FFFFFF">{}</a:srgbClr></a:solidFill>',
        '<a:solidFill>{}<a:schemeClr val="bg1"/></a:solidFill>',
    ],
)
def test_a_note_of_a_program_beside_a_colour_hides_no_white_text(deck, white, note):
    theme = "ppt/theme/theme1.xml"
    path = with_shapes(
        deck,
        sp(46, run("pale", f"<a:rPr>{white.format(note)}</a:rPr>")),
        {theme: ("<a:lt1>", f"<a:lt1>{note}")},
    )

    assert "[white text: pale]" in lines(path)


DARK = ('bg1="lt1" tx1="dk1"', 'bg1="dk1" tx1="lt1"')
OVERRIDE = (
    "<a:masterClrMapping/></p:clrMapOvr></p:sld>",
    '<a:overrideClrMapping bg1="dk1" tx1="lt1" bg2="dk2" tx2="lt2" accent1="accent1" '
    'accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" '
    'hlink="hlink" folHlink="folHlink"/></p:clrMapOvr></p:sld>',
)


@pytest.mark.rule("F10.5")
def test_white_text_on_a_slide_that_its_master_makes_dark_is_seen(deck):
    path = with_shapes(
        deck, sp(46, run("bright", WHITE)), {"ppt/slideMasters/slideMaster1.xml": DARK}
    )

    assert lines(path) == ["# slide 0: Top", "bright", "text"]


@pytest.mark.rule("F10.5")
def test_white_text_on_a_slide_that_is_dark_by_itself_is_seen(deck):
    path = reworked(deck, {SLIDE: OVERRIDE})

    assert lines(with_shapes(path, sp(46, run("bright", WHITE)))) == [
        "# slide 0: Top",
        "bright",
        "text",
    ]


@pytest.mark.parametrize("scheme", ["<a:schemeClr/>", '<a:schemeClr val="{no} such"/>'])
def test_a_colour_without_a_name_is_no_colour(deck, scheme):
    odd = f"<a:rPr><a:solidFill>{scheme}</a:solidFill></a:rPr>"
    path = with_shapes(deck, sp(44, run("pale", WHITE) + run("odd", odd)))

    assert lines(path) == ["# slide 0: Top", "[white text: pale]odd", "text"]


def test_twice_as_many_white_texts_are_twice_the_work(deck):
    def reading(count: int) -> int:
        shapes = "".join(sp(n, run("pale", WHITE)) for n in range(50, 50 + count))
        here = source(with_shapes(deck, shapes))
        return work(lambda: pptx_format.extract_lines(here))

    assert reading(300) < 2.5 * reading(150)


OLD_COMMENTS = (
    f'<p:cmLst {P}><p:cm authorId="3" idx="1"><p:pos x="1" y="1"/><p:text>too\nlong</p:text></p:cm>'
    '<p:cm authorId="9" idx="1"><p:pos x="1" y="1"/><p:text>why?</p:text></p:cm></p:cmLst>'
)
NEW = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
NEW_COMMENTS = (
    f'<c:cmLst xmlns:c="{NEW}" {A}><c:cm id="{{1}}" authorId="{{A}}"><c:replyLst>'
    '<c:reply id="{2}" authorId="{B}"><c:txBody><a:bodyPr/><a:p><a:r><a:t>done</a:t></a:r></a:p>'
    "</c:txBody></c:reply></c:replyLst><c:txBody><a:bodyPr/><a:p><a:r><a:t>check</a:t></a:r></a:p>"
    "<a:p><a:r><a:t>this</a:t></a:r></a:p></c:txBody></c:cm></c:cmLst>"
)


def rel(number: int, kind: str, target: str, base: str = RELS) -> tuple[str, str]:
    line = f'<Relationship Id="rId{number}" Type="{base}/{kind}" Target="{target}"/>'
    return "</Relationships>", line + "</Relationships>"


@pytest.mark.rule("F4.8", "F10.6")
@pytest.mark.parametrize(
    ("kinds", "base", "comments", "authors", "shown"),
    [
        (
            ("comments", "commentAuthors"),
            RELS,
            OLD_COMMENTS,
            f'<p:cmAuthorLst {P}><p:cmAuthor id="3" name="Ann Lee"/></p:cmAuthorLst>',
            ["[comment 0 by Ann Lee]", "too", "long", "[comment 1 by unknown]", "why?"],
        ),
        (
            ("comments", "authors"),
            "http://schemas.microsoft.com/office/2018/10/relationships",
            NEW_COMMENTS,
            f'<c:authorLst xmlns:c="{NEW}"><c:author id="{{A}}" name="Ann"/><c:author id="{{B}}" '
            'name="Bo"/></c:authorLst>',
            ["[comment 0 by Ann]", "check", "this", "[comment 1 by Bo]", "done"],
        ),
    ],
    ids=["old", "new"],
)
def test_comments_are_read_with_their_authors(deck, kinds, base, comments, authors, shown):
    path = reworked(
        deck,
        {
            "ppt/slides/_rels/slide1.xml.rels": rel(90, kinds[0], "../comments/c.xml", base),
            "ppt/_rels/presentation.xml.rels": rel(91, kinds[1], "authors.xml", base),
        },
        {"ppt/comments/c.xml": comments, "ppt/authors.xml": authors},
    )

    assert lines(path) == ["# slide 0: Top", "text", *shown]
