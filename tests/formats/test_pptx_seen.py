"""Presentations: text an audience does not see is labelled, and none is left out (F4.8, F10.5)."""

from __future__ import annotations

import pytest
from tests.effort import work

from backshop.formats import Selector
from backshop.formats import pptx as pptx_format
from backshop.formats.place import for_people

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
    shown = pptx_format.read(source(path), Selector(slide_index=0)).text
    assert for_people(shown).split("\n") == found
    return found


@pytest.mark.rule("F10.2", "F10.4")
def test_a_second_title_is_text(deck):
    path = with_shapes(deck, sp(43, run("also a title"), place='<p:ph type="title"/>'))

    assert lines(path) == ["# slide 1: Top", "also a title", "text"]


@pytest.mark.rule("F4.8", "F10.5")
def test_every_line_of_what_is_hidden_is_labelled(deck):
    group = (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="40" name="g" hidden="1"/><p:cNvGrpSpPr/><p:nvPr/>'
        f"</p:nvGrpSpPr><p:grpSpPr/>{sp(41, run('in a group'))}</p:grpSp>"
    )
    broken = sp(42, run("above") + "<a:br/>" + run("below"), attributes=' hidden="1"')

    assert lines(with_shapes(deck, group + broken)) == [
        "# slide 1: Top",
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
         "# slide 1: [hidden] Top"),
        ("<a:rPr/><a:t>Top", f"{WHITE}<a:t>Top", "# slide 1: [white text: Top]"),
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

    assert lines(path) == ["# slide 1: Top", "bright", "text"]


@pytest.mark.rule("F10.5")
def test_white_text_on_a_slide_that_is_dark_by_itself_is_seen(deck):
    path = reworked(deck, {SLIDE: OVERRIDE})

    assert lines(with_shapes(path, sp(46, run("bright", WHITE)))) == [
        "# slide 1: Top",
        "bright",
        "text",
    ]


@pytest.mark.parametrize("scheme", ["<a:schemeClr/>", '<a:schemeClr val="{no} such"/>'])
def test_a_colour_without_a_name_is_no_colour(deck, scheme):
    odd = f"<a:rPr><a:solidFill>{scheme}</a:solidFill></a:rPr>"
    path = with_shapes(deck, sp(44, run("pale", WHITE) + run("odd", odd)))

    assert lines(path) == ["# slide 1: Top", "[white text: pale]odd", "text"]


@pytest.mark.rule("F10.5")
@pytest.mark.parametrize(
    ("look", "is_seen"),
    [
        ('<a:highlight><a:srgbClr val="000000"/></a:highlight>', True),
        ('<a:effectLst><a:glow rad="9"><a:srgbClr val="000000"/></a:glow></a:effectLst>', True),
        ("<a:effectLst/>", False),
        ("<a:effectLst><!-- x --></a:effectLst>", False),
    ],
)
def test_white_text_with_a_ground_of_its_own_is_seen(deck, look, is_seen):
    path = with_shapes(deck, sp(46, run("pale", WHITE.replace("</a:rPr>", f"{look}</a:rPr>"))))

    assert ("pale" in lines(path)) is is_seen


@pytest.mark.rule("F10.5")
@pytest.mark.parametrize(
    "fill", ["<a:noFill/>", '<a:solidFill><a:srgbClr val="000000"/></a:solidFill>']
)
def test_white_text_with_an_outline_is_seen(deck, fill):
    outlined = WHITE.replace("<a:rPr>", f"<a:rPr><a:ln>{fill}</a:ln>")

    assert ("pale" in lines(with_shapes(deck, sp(46, run("pale", outlined))))) is ("solid" in fill)


NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
TABLE_STYLES = "ppt/tableStyles.xml"
SHOW_STYLES = {
    "ppt/_rels/presentation.xml.rels": (
        "</Relationships>",
        f'<Relationship Id="rId99" Type="{RELS}/tableStyles" Target="tableStyles.xml"/>'
        "</Relationships>",
    )
}
OWN_STYLE = "{11111111-2222-3333-4444-555555555555}"


def frame(look: str = "", cell: str = "", words: str = "pale", columns: int = 1) -> str:
    inside = run(words, WHITE) + run(" dark")
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="60" name="T"/><p:cNvGraphicFramePr/>'
        '<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="9000000"/><a:ext cx="9" cy="9"/>'
        "</p:xfrm><a:graphic><a:graphicData "
        'uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl>'
        f'<a:tblPr firstRow="1" bandRow="1">{look}</a:tblPr><a:tblGrid>'
        + '<a:gridCol w="1000"/>' * columns
        + '</a:tblGrid><a:tr h="9">'
        + f"<a:tc><a:txBody><a:bodyPr/><a:p>{inside}</a:p></a:txBody>{cell}</a:tc>" * columns
        + "</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


def style(name: str) -> str:
    return f"<a:tableStyleId>{name}</a:tableStyleId>"


BLACK = '<a:solidFill><a:srgbClr val="000000"/></a:solidFill>'


@pytest.mark.rule("F4.8", "F10.5")
@pytest.mark.parametrize(
    "table",
    [
        frame(),
        frame(style(NO_STYLE)),
        frame(style(NO_STYLE.lower()), "<a:tcPr><a:noFill/></a:tcPr>"),
        frame(
            style("{5940675A-B579-460E-94D1-54222C63F5DA}"),
            f"<a:tcPr><a:lnL>{BLACK}</a:lnL></a:tcPr>",
        ),
    ],
)
def test_white_text_in_a_table_without_any_fill_is_labelled(deck, table):
    assert lines(with_shapes(deck, table))[-1] == "| [white text: pale] dark |"


@pytest.mark.rule("F10.5")
@pytest.mark.parametrize(
    "table",
    [
        frame(cell=f"<a:tcPr>{BLACK}</a:tcPr>"),
        frame(BLACK),
        frame(f"<a:tableStyle styleId='{NO_STYLE}' styleName='x'/>"),
        frame(style("{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}")),
        sp(59, "").replace("</a:xfrm>", f"</a:xfrm>{BLACK}").replace("59000", "9500000") + frame(),
    ],
)
def test_white_text_in_a_table_that_may_have_a_ground_is_not_labelled(deck, table):
    assert lines(with_shapes(deck, table))[-1] == "| pale dark |"


@pytest.mark.rule("F10.5")
def test_what_lies_below_a_wide_table_is_its_ground(deck):
    ground = sp(59, "").replace("</a:xfrm>", f"</a:xfrm>{BLACK}").replace("59000", "9500000")
    aside = ground.replace('x="0"', 'x="2500"')

    assert lines(with_shapes(deck, aside + frame(columns=2)))[-1].count("white") == 2
    assert lines(with_shapes(deck, aside + frame(columns=3)))[-1].count("white") == 0


@pytest.mark.rule("F10.5")
def test_damaged_table_styles_do_not_keep_a_slide_from_being_read(deck):
    path = with_shapes(deck, frame(style(OWN_STYLE)), SHOW_STYLES, {TABLE_STYLES: "<a:tblStyleLst"})

    assert lines(path)[-1] == "| pale dark |"


@pytest.mark.rule("F10.5")
@pytest.mark.parametrize(
    ("inside", "is_seen"),
    [
        ("<a:tcStyle><a:tcBdr/><a:fill><a:noFill/></a:fill></a:tcStyle>", False),
        (f"<a:tcStyle><a:tcBdr/><a:fill>{BLACK}</a:fill></a:tcStyle>", True),
        ('<a:tcStyle><a:fillRef idx="1"><a:schemeClr val="tx1"/></a:fillRef></a:tcStyle>', True),
    ],
)
def test_a_style_the_file_defines_says_itself_whether_it_fills(deck, inside, is_seen):
    for name in (OWN_STYLE, NO_STYLE):
        defined = (
            f'<a:tblStyleLst {A} def="{OWN_STYLE}"><a:tblStyle styleId="{name}" styleName="x">'
            f"<a:wholeTbl>{inside}</a:wholeTbl></a:tblStyle></a:tblStyleLst>"
        )
        path = with_shapes(deck, frame(style(name)), SHOW_STYLES, {TABLE_STYLES: defined})

        assert ("| pale dark |" in lines(path)) is is_seen


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

    assert lines(path) == ["# slide 1: Top", "text", *shown]
