"""What a document shows beside its plain paragraphs: tables in headers, boxes, emoji, lists."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from tests.effort import work

from backshop.formats import Selector
from backshop.formats import docx as docx_format

from .office import W, edit, map_of, members, paragraph, source, with_body

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SYMBOLS = "http://schemas.microsoft.com/office/word/2015/wordml/symex"
NAMES = (
    f'xmlns:w="{W}" xmlns:r="{REL}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
PICTURE = (
    '<w:r><w:drawing><wp:inline><wp:docPr id="1" descr="logo"/>'
    '<a:graphic><a:blip r:embed="rPic"/></a:graphic></wp:inline></w:drawing></w:r>'
)
BOX = f"<w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r>{PICTURE}</w:p></w:txbxContent>"
BOXED = (
    '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor>'
    f'<wp:docPr id="9" descr="frame"/>{BOX}</wp:anchor></w:drawing></mc:Choice>'
    f"<mc:Fallback><w:pict>{BOX}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
)
RICH = (
    "<w:p><w:r><w:t>Left</w:t><w:br/><w:t>Right</w:t><w:tab/><w:t>T</w:t></w:r>"
    '<w:moveFrom w:id="5" w:author="a"><w:r><w:t>GONE</w:t></w:r></w:moveFrom></w:p>'
)


def sections_of(path) -> Any:
    return docx_format.extract_document(source(path))["sections"]


def table(*cells: str) -> str:
    inside = "".join(f"<w:tc><w:tcPr/>{cell}</w:tc>" for cell in cells)
    return f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr>{inside}</w:tr></w:tbl>"


def emoji(code: str = "1F60A", shown: str = "\U0001f60a", look: str = "") -> str:
    """Return a run as Word writes an emoji."""
    return (
        f'<w:r>{look}<mc:AlternateContent><mc:Choice Requires="w16se">'
        f'<w16se:symEx xmlns:w16se="{SYMBOLS}" w16se:font="Segoe UI Emoji" w16se:char="{code}"/>'
        f"</mc:Choice><mc:Fallback><w:t>{shown}</w:t></mc:Fallback></mc:AlternateContent></w:r>"
    )


def related(path, body, parts=None):
    """Write a document with more parts, each under the kind of its relationship."""
    plain = members(with_body(path, body))
    rels = f'<Relationship Id="rPic" Type="{REL}/image" Target="media/i.png"/>'
    types = '<Default Extension="png" ContentType="image/png"/>'
    for kind, xml in (parts or {}).items():
        content = "application/vnd.openxmlformats-officedocument.wordprocessingml"
        rels += f'<Relationship Id="r{kind}" Type="{REL}/{kind}" Target="{kind}9.xml"/>'
        types += f'<Override PartName="/word/{kind}9.xml" ContentType="{content}.{kind}+xml"/>'
        plain[f"word/{kind}9.xml"] = xml.encode()
    plain["word/media/i.png"] = b"png"
    for name, end, more in (
        ("word/_rels/document.xml.rels", b"</Relationships>", rels),
        ("[Content_Types].xml", b"</Types>", types),
    ):
        plain[name] = plain[name].replace(end, more.encode() + end)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in plain.items():
            archive.writestr(name, data)
    return path


@pytest.mark.rule("F9.7", "F9.10", "F29.1")
def test_tables_in_headers_notes_and_comments_show_what_tables_of_the_body_show(tmp_path):
    inside = table(RICH, f"<w:p>{PICTURE}{BOXED}</w:p>") + "<w:p/>"
    reference = '<w:headerReference w:type="default" r:id="rheader"/>'
    path = related(
        tmp_path / "a.docx",
        paragraph("body") + f"<w:sectPr>{reference}</w:sectPr>",
        {
            "header": f"<w:hdr {NAMES}>{inside}</w:hdr>",
            "footnotes": f'<w:footnotes {NAMES}><w:footnote w:id="2">{inside}</w:footnote>'
            "</w:footnotes>",
            "comments": f'<w:comments {NAMES}><w:comment w:id="3" w:author="Ann">{inside}'
            "</w:comment></w:comments>",
        },
    )

    lines = docx_format.extract_lines(source(path))
    asides = [
        docx_format.read(source(path), Selector(section=name)).text
        for name in ("@headers", "@footnotes", "@comments")
    ]

    shown = ["| Left<br>Right\tT |  |", "[image]", "[text box] in a box[image]", ""]
    assert lines == [
        "body",
        *(f"[header] {line}" for line in shown),
        *(f"[footnote] {line}" for line in shown),
    ]
    assert [text.split("\n") for text in asides] == [
        ["[header default]", *shown],
        ["[footnote 2]", *shown],
        ["[comment 3 by Ann]", *shown],
    ]


@pytest.mark.rule("F9.10")
def test_a_picture_in_a_text_box_is_shown_once(tmp_path):
    path = related(
        tmp_path / "a.docx",
        table(f"<w:p>{BOXED}</w:p>") + f"<w:p>{BOXED}</w:p><w:p>{PICTURE}</w:p>",
    )

    assert docx_format.extract_lines(source(path)) == [
        "[table 0: 1x1]",
        "|  |",
        "[text box] in a box[image 0: logo]",
        "[text box] in a box[image 1: logo]",
        "[image 2: logo]",
    ]
    assert [image["alt_text"] for image in map_of(path)["images"]] == ["logo"] * 3


@pytest.mark.rule("F9.10", "F29.2")
def test_a_box_inside_a_box_of_a_table_is_reviewed_once(tmp_path):
    inner = "<w:r><w:drawing><wp:anchor>" + BOX + "</wp:anchor></w:drawing></w:r>"
    outer = f"<w:txbxContent><w:p><w:r><w:t>outer</w:t></w:r>{inner}</w:p></w:txbxContent>"
    cell = f"<w:p><w:r><w:drawing><wp:anchor>{outer}</wp:anchor></w:drawing></w:r></w:p>"
    path = related(tmp_path / "a.docx", table(cell))

    found = sections_of(path)[0]["tables"][0]

    assert found["drawn"] == ["[text box] outer", "[text box] [text box] in a box[image 0: logo]"]


@pytest.mark.rule("F9.7", "F29.2")
def test_emoji_written_by_word_are_read_and_found(tmp_path):
    hidden = "<w:rPr><w:vanish/></w:rPr>"
    senseless = "".join(emoji(code, "?") for code in ("E000", "zz", "D83D", "110000"))
    body = (
        f"<w:p>{emoji()}<w:r><w:t> fine </w:t></w:r>{emoji('2764', 'x')}{emoji(look=hidden)}</w:p>"
        f"<w:p>{senseless}</w:p>"
    )
    path = related(tmp_path / "a.docx", body)

    shown = "\U0001f60a fine ❤[hidden: \U0001f60a]"
    assert docx_format.extract_lines(source(path)) == [shown, ""]
    runs = sections_of(path)[0]["paragraphs"][0]["runs"]
    assert [run["text"] for run in runs] == ["\U0001f60a", " fine ", "❤", "\U0001f60a"]


@pytest.mark.rule("F19.4")
def test_replacing_beside_an_emoji_leaves_it_as_word_wrote_it(tmp_path):
    kept = emoji()
    body = f"<w:p><w:r><w:t>so fine </w:t></w:r>{kept}<w:r><w:t> fine</w:t></w:r></w:p>"
    path = related(tmp_path / "a.docx", body)

    over = {"op": "replace_text", "search": "fine \U0001f60a", "replace": "good"}
    beside = {"op": "replace_text", "search": "fine", "replace": "good", "expect": 2}
    applied, out = edit(path, over, beside)

    assert docx_format.extract_lines(source(out)) == ["so good \U0001f60a good"]
    assert applied.changes[0] == (0, "nothing replaced: 'fine 😊' occurs nowhere")
    assert members(out)["word/document.xml"].count("\U0001f60a".encode()) == 1
    assert members(out)["word/document.xml"].count(b"w16se:char=") == 1


def level(number: int, shown: str) -> str:
    return f'<w:lvl w:ilvl="{number}"><w:numFmt w:val="{shown}"/></w:lvl>'


def item(text: str, num_id: int, depth: int = 0) -> str:
    place = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{num_id}"/></w:numPr>'
    return f"<w:p><w:pPr>{place}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def lists(path, body, numbering, styles=""):
    """Write a document with these list definitions and more styles."""
    parts = members(with_body(path, body))
    parts["word/numbering.xml"] = f'<w:numbering xmlns:w="{W}">{numbering}</w:numbering>'.encode()
    parts["word/styles.xml"] = parts["word/styles.xml"].replace(
        b"</w:styles>", styles.encode() + b"</w:styles>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def abstract(number: int, inside: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{number}">{inside}</w:abstractNum>'


def num(number: int, of: int, inside: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{of}"/>{inside}</w:num>'


@pytest.mark.rule("F9.7")
def test_a_list_shows_what_its_list_style_and_its_own_levels_say(tmp_path):
    own = f'<w:lvlOverride w:ilvl="0">{level(0, "bullet")}</w:lvlOverride>'
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    numbering = (
        abstract(1, level(0, "bullet") + level(1, "decimal"))
        + abstract(2, '<w:numStyleLink w:val="Dots"/>')
        + abstract(3, '<w:styleLink w:val="Loose"/>' + level(0, "bullet"))
        + abstract(4, '<w:numStyleLink w:val="Loose"/>')
        + abstract(5, level(0, "decimal"))
        + abstract(6, '<w:numStyleLink w:val="Round"/>')
        + num(1, 1)
        + num(2, 2)
        + num(4, 4)
        + num(5, 5, own)
        + num(6, 6)
        + num(7, 5, again)
    )
    styles = "".join(
        f'<w:style w:type="numbering" w:styleId="{name}"><w:name w:val="{name}"/><w:pPr><w:numPr>'
        f'<w:numId w:val="{of}"/></w:numPr></w:pPr></w:style>'
        for name, of in (("Dots", 1), ("Round", 6))
    )
    body = (
        item("by style", 2)
        + item("its next level", 2, 1)
        + item("by link", 4)
        + item("its own", 5)
        + item("in a circle", 6)
        + item("begun again", 7)
    )

    path = lists(tmp_path / "a.docx", body, numbering, styles)

    assert docx_format.extract_lines(source(path)) == [
        "- by style",
        "  1. its next level",
        "- by link",
        "- its own",
        "1. in a circle",
        "1. begun again",
    ]


@pytest.mark.rule("F9.7")
def test_a_style_takes_its_list_from_the_style_it_is_based_on_and_has_a_level_of_its_own(tmp_path):
    styles = (
        '<w:style w:type="paragraph" w:styleId="Outer"><w:name w:val="Outer"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Inner"><w:name w:val="Inner"/>'
        '<w:basedOn w:val="Outer"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    body = paragraph("one", style="Outer") + paragraph("two", style="Inner")

    path = lists(
        tmp_path / "a.docx",
        body,
        abstract(1, level(0, "decimal") + level(1, "bullet")) + num(1, 1),
        styles,
    )

    assert docx_format.extract_lines(source(path)) == ["1. one", "  - two"]


@pytest.mark.rule("F29.2", "F21.2")
def test_numbers_of_a_file_that_nobody_means_are_as_if_not_there(tmp_path):
    huge = "9" * 400
    body = (
        f'<w:p><w:r><w:rPr><w:sz w:val="{huge}"/></w:rPr><w:t>x</w:t></w:r></w:p>'
        f'<w:sectPr><w:pgSz w:w="{huge}" w:h="-{huge}"/></w:sectPr>'
    )
    path = with_body(tmp_path / "a.docx", body)

    runs = sections_of(path)[0]["paragraphs"][0]["runs"]
    page: Any = docx_format.get_styles(source(path))["page"]

    assert runs[0]["size_pt"] is None
    assert (page["width"], page["height"]) == (None, None)


@pytest.mark.rule("F9.3", "F29.2", "F21.2")
@pytest.mark.parametrize("act", ["extract_document", "get_map", "get_styles"])
def test_twice_as_many_sections_and_pictures_take_twice_the_work(tmp_path, act):
    def seen(count: int) -> int:
        parts = members(with_body(tmp_path / "plain.docx", pictured(count)))
        rels = "".join(
            f'<Relationship Id="rPic{at}" Type="{REL}/image" Target="media/i.png"/>'
            for at in range(count)
        )
        name = "word/_rels/document.xml.rels"
        parts[name] = parts[name].replace(b"</Relationships>", f"{rels}</Relationships>".encode())
        path = tmp_path / f"{count}.docx"
        with zipfile.ZipFile(path, "w") as archive:
            for part, data in (parts | {"word/media/i.png": b"png"}).items():
                archive.writestr(part, data)
        here = source(path)
        return work(lambda: getattr(docx_format, act)(here))

    few, many, more = seen(20), seen(60), seen(100)

    assert (more - many) / (many - few) < 1.1


def pictured(count: int) -> str:
    return "".join(
        paragraph(f"Part {at}", style="Heading1")
        + f"<w:p>{PICTURE}</w:p>".replace("rPic", f"rPic{at}")
        for at in range(count)
    )


def table_styled(rows: list[list[str]], look: str) -> str:
    inside = "".join(
        f"<w:tr>{''.join(f'<w:tc><w:tcPr/>{paragraph(text)}</w:tc>' for text in row)}</w:tr>"
        for row in rows
    )
    return (
        f'<w:tbl><w:tblPr><w:tblStyle w:val="Own"/>{look}</w:tblPr><w:tblGrid/>{inside}</w:tbl>'
        + paragraph("end")
    )


def condition(name: str, inside: str) -> str:
    return f'<w:tblStylePr w:type="{name}">{inside}</w:tblStylePr>'


VANISHED = "<w:rPr><w:vanish/></w:rPr>"
WHITE = '<w:rPr><w:color w:val="FFFFFF"/></w:rPr>'
ROWS = [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]


@pytest.mark.rule("F9.10", "F4.8")
@pytest.mark.parametrize(
    ("parts", "look", "rows"),
    [
        (
            condition("firstRow", VANISHED),
            '<w:tblLook w:firstRow="1" w:noHBand="1" w:noVBand="1"/>',
            {0: "| [hidden: a] | [hidden: b] |", 1: "| c | d |"},
        ),
        (condition("firstRow", VANISHED), '<w:tblLook w:firstRow="0"/>', {0: "| a | b |"}),
        (
            condition("firstRow", VANISHED),
            '<w:tblLook w:val="0020"/>',
            {0: "| [hidden: a] | [hidden: b] |"},
        ),
        (condition("firstRow", VANISHED), "", {0: "| a | b |"}),
        (
            condition("lastCol", WHITE),
            '<w:tblLook w:lastColumn="1"/>',
            {2: "| e | [white text: f] |"},
        ),
        (
            condition("lastCol", WHITE)
            + condition("band1Horz", '<w:tcPr><w:shd w:fill="000000"/></w:tcPr>'),
            '<w:tblLook w:lastColumn="1"/>',
            {2: "| e | f |"},
        ),
        (
            condition("band2Horz", VANISHED),
            '<w:tblLook w:firstRow="1"/>',
            {0: "| a | b |", 1: "| c | d |", 2: "| [hidden: e] | [hidden: f] |", 3: "| g | h |"},
        ),
        (
            condition("firstRow", VANISHED)
            + condition("nwCell", '<w:rPr><w:vanish w:val="0"/></w:rPr>'),
            '<w:tblLook w:firstRow="1" w:firstColumn="1"/>',
            {0: "| a | [hidden: b] |"},
        ),
        (
            condition("lastRow", "<w:trPr><w:hidden/></w:trPr>"),
            '<w:tblLook w:lastRow="1"/>',
            {3: "| [hidden: g] | [hidden: h] |"},
        ),
    ],
)
def test_text_that_a_condition_of_a_table_style_hides_is_labelled(tmp_path, parts, look, rows):
    style = f'<w:style w:type="table" w:styleId="Own"><w:name w:val="Own"/>{parts}</w:style>'
    plain = with_body(tmp_path / "plain.docx", table_styled(ROWS, look))
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as new:
        for name, data in members(plain).items():
            styled = data.replace(b"</w:styles>", f"{style}</w:styles>".encode())
            new.writestr(name, styled if name == "word/styles.xml" else data)

    lines = docx_format.extract_lines(source(path))

    assert {at: lines[at + 1] for at in rows} == rows


@pytest.mark.rule("F9.7", "F10.4")
def test_words_behind_a_comment_inside_a_text_element_are_read(tmp_path):
    body = "<w:p><w:r><w:t>one<!-- x --> two<!-- y -->, three</w:t></w:r></w:p>"
    path = with_body(tmp_path / "a.docx", body + paragraph("end"))

    assert docx_format.extract_lines(source(path)) == ["one two, three", "end"]
    _, out = edit(path, {"op": "replace_text", "search": "two", "replace": "2"})
    assert docx_format.extract_lines(source(out)) == ["one 2, three", "end"]
    assert b"<!-- x -->" in members(out)["word/document.xml"]
