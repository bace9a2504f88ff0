from __future__ import annotations

import zipfile
from typing import Any

import pytest

from backshop.formats import FormatError, Formats, Selector, Warn
from backshop.formats.odt.document import extract_lines, get_info, get_map, read

from .archives import archive, source

NAMES = (
    "".join(
        f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in [
            *(("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing")),
            *(("style", "style"), ("svg", "svg-compatible"), ("manifest", "manifest")),
            ("fo", "xsl-fo-compatible"),
        ]
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    + ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)

BODY = """
<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>
</text:changed-region></text:tracked-changes>
<text:p>Before<text:s text:c="2"/>all<text:tab/>x<text:line-break/>y</text:p>
<text:section><text:h text:outline-level="2">Market
 review</text:h></text:section>
<text:list text:style-name="N"><text:list-item><text:p>first</text:p>
<text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item>
</text:list>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Item</text:p>
</table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>a|b</text:p>
</table:table-cell><table:table-cell table:number-columns-repeated="9999"/></table:table-row>
</table:table-header-rows><table:table-row table:number-rows-repeated="100000"><table:table-cell/>
</table:table-row></table:table>
<text:p>See <draw:frame><draw:image/><svg:desc>A chart</svg:desc></draw:frame><text:note>
<text:note-body><text:p>aside</text:p></text:note-body></text:note>.</text:p>
"""
STYLES = """<text:list-style style:name="N"><text:list-level-style-number text:level="1"/>
</text:list-style>"""


@pytest.fixture(scope="module")
def formats():
    with Formats(workers=1) as door:
        yield door


def document(tmp_path, body=BODY, extra=None, header="<text:p>Page head</text:p>"):
    content = (
        f"<office:document-content{NAMES}><office:automatic-styles>{STYLES}{LOOKS}"
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    margins = (
        f"<office:document-styles{NAMES}><office:master-styles><style:master-page><style:header>"
        f"{header}</style:header></style:master-page></office:master-styles>"
        "</office:document-styles>"
    )
    parts = {"content.xml": content.encode(), "styles.xml": margins.encode(), **(extra or {})}
    return source(tmp_path, "a.odt", archive(parts, method=zipfile.ZIP_STORED))


@pytest.mark.rule("F12.1", "F29.1", "F9.7")
def test_everything_stands_in_its_order(tmp_path):
    lines = extract_lines(document(tmp_path))

    assert lines == [
        "Before  all\tx",
        "y",
        "## Market review",
        "1. first",
        "  - inner",
        "[table 0: 1x3]",
        "| Item | a\\|b | a\\|b |",
        "See [image 0: A chart].",
        "[header] Page head",
        "[footnote] aside",
    ]


LOOKS = """
<style:style style:name="Gone" style:family="text"><style:text-properties text:display="none"/>
</style:style><style:style style:name="Pale" style:family="text" style:parent-style-name="Base">
<style:text-properties fo:color="#FFFFFF"/></style:style>
<style:style style:name="Dark" style:family="paragraph">
<style:paragraph-properties fo:background-color="#000080"/></style:style>
<style:style style:name="Cell" style:family="table-cell">
<style:table-cell-properties fo:background-color="#000080"/></style:style>"""


@pytest.mark.rule("F4.8", "F12.1")
def test_text_nobody_sees_is_labelled(tmp_path):
    pale = '<text:span text:style-name="Pale">pale</text:span>'
    gone = '<text:span text:style-name="Gone">gone</text:span>'
    box = f"<draw:frame><draw:text-box><text:p>{pale}</text:p></draw:text-box></draw:frame>"
    body = (
        f'<text:p>seen {pale} {gone}</text:p><text:p text:style-name="Dark">{pale}</text:p>'
        f"<text:p>around{box}</text:p>"
        "<table:table><table:table-row>"
        f'<table:table-cell table:style-name="Cell"><text:p>{pale}</text:p></table:table-cell>'
        f"<table:table-cell><text:p>{pale}</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:visibility="collapse"><table:table-cell><text:p>row</text:p>'
        "</table:table-cell></table:table-row></table:table>"
        '<text:section text:display="none"><text:p>section</text:p></text:section>'
        '<text:p><text:hidden-paragraph text:is-hidden="true"/>paragraph</text:p>'
    )

    lines = extract_lines(document(tmp_path, body))

    assert lines[:-1] == [
        "seen [white text: pale] [hidden: gone]",
        "pale",
        "around",
        "[text box] pale",
        "[table 0: 2x2]",
        "| pale | [white text: pale] |",
        "| [hidden: row] |  |",
        "[hidden: section]",
        "[hidden: paragraph]",
    ]


FRAME = """<draw:frame>
 <draw:image xlink:href="Pictures/a.svg"/> <draw:image xlink:href="Pictures/a.png"/>
 <svg:title>Plan</svg:title> </draw:frame>"""


@pytest.mark.rule("F12.1", "F9.7", "F9.10")
def test_drawings_show_their_paragraphs_and_pictures_and_not_their_descriptions(tmp_path):
    shape = (
        "<draw:custom-shape> <svg:title>Shape</svg:title><svg:desc>A shape</svg:desc>"
        '<text:p>one</text:p><text:p>two<text:span text:style-name="Pale">pale</text:span></text:p>'
        "</draw:custom-shape>"
    )
    box = (
        "<draw:frame><draw:text-box><text:p>in a box</text:p>"
        f"{FRAME}</draw:text-box><svg:title>Alt</svg:title><svg:desc>Description</svg:desc>"
        "</draw:frame>"
    )
    body = (
        f"{FRAME}<draw:g><svg:desc>Group</svg:desc>{shape}</draw:g><draw:line/>"
        f'<text:h text:outline-level="1">Head{box}</text:h><text:p>{shape}</text:p>'
        f"<text:p>See <draw:a>{FRAME}</draw:a>.<draw:rect/></text:p>"
    )
    file = document(tmp_path, body)

    drawn = get_map(file)

    assert extract_lines(file)[:-1] == [
        "[image 0: Plan]",
        "[text box] one",
        "[text box] twopale",
        "# Head",
        "[text box] in a box",
        "[text box] [image 1: Plan]",
        "[text box] one",
        "[text box] twopale",
        "See [image 2: Plan].",
    ]
    sections = drawn.data["sections"]
    assert isinstance(sections, list)
    at = sections[1]["body_start"]
    assert [section["heading"] for section in sections] == ["(untitled)", "Head"]
    assert drawn.data["images"] == [
        {"index": index, "section_index": section, "alt_text": "Plan", "name": "a.svg"}
        for index, section in enumerate([0, 1, 1])
    ]
    assert read(file, Selector(section="Head", paragraphs=str(at))).text.split("\n") == [
        "# Head",
        "[text box] in a box",
        "[text box] [image 1: Plan]",
    ]


@pytest.mark.rule("F9.7", "F12.1", "F29.1")
def test_a_header_shows_what_is_on_the_page(tmp_path):
    header = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        "<text:p>Title<text:line-break/>below<office:annotation><text:p>aside</text:p>"
        f"</office:annotation></text:p><text:p>{FRAME}</text:p><table:table><table:table-row>"
        "<table:table-cell><text:p>cell</text:p></table:table-cell></table:table-row></table:table>"
    )

    lines = extract_lines(document(tmp_path, "<text:p/>", header=header))

    shown = ["Title", "below", "[image: Plan]", "cell"]
    assert lines == ["", *(f"[header] {line}" for line in shown)]


@pytest.mark.rule("F12.1")
def test_lists_of_any_depth_keep_their_text(tmp_path):
    body = "<text:p>deep</text:p>"
    for _ in range(60):
        body = f"<text:list><text:list-item>{body}</text:list-item></text:list>"

    assert extract_lines(document(tmp_path, body))[0] == "  " * 10 + "- deep"


CELL = "<table:table-cell table:number-columns-repeated='{}'><text:p>{}</text:p></table:table-cell>"
ROW = "<table:table-row table:number-rows-repeated='{}'>{}</table:table-row>"


@pytest.mark.rule("F2.5", "F3", "F12.1")
@pytest.mark.parametrize(
    "rows",
    [
        ROW.format(99_999_999, CELL.format(99_999_999, "x" * 100)),
        ROW.format(200, CELL.format(200, "x" * 1_000)),
        ROW.format(1, CELL.format(200, "x") * 200) + ROW.format(1, CELL.format(1, "y")) * 200,
        ROW.format(1, CELL.format(250, "") * 20_000 + CELL.format(1, "x")),
    ],
    ids=["many", "long", "wide", "blank"],
)
def test_a_table_that_repeats_without_end_is_too_large(tmp_path, rows):
    with pytest.raises(FormatError) as caught:
        get_map(document(tmp_path, f"<table:table>{rows}</table:table>"))

    assert caught.value.reason == "too_large"


@pytest.mark.rule("F2.5", "F3", "F12.1")
@pytest.mark.parametrize(("count", "is_read"), [(4, True), (6, False)])
def test_what_several_tables_repeat_is_counted_together(tmp_path, count, is_read):
    table = f"<table:table>{ROW.format(200, CELL.format(4, 'x' * 999))}</table:table>"
    file = document(tmp_path, table * count)

    if is_read:
        assert str(get_map(file).data["tables"]).count("rows") == count
        return
    with pytest.raises(FormatError) as caught:
        get_map(file)
    assert caught.value.reason == "too_large"


@pytest.mark.rule("F12.1", "F4.8")
@pytest.mark.parametrize("often", [0, -1, "9" * 400, "x", ""])
def test_a_cell_that_repeats_no_sensible_number_of_times_is_read_once(tmp_path, often):
    table = f"<table:table>{ROW.format(often, CELL.format(often, 'x'))}</table:table>"

    assert extract_lines(document(tmp_path, table))[:2] == ["[table 0: 1x1]", "| x |"]


@pytest.mark.rule("F9.10", "F12.1")
def test_text_boxes_in_text_boxes_are_labelled_once(tmp_path):
    body = "<text:p>deep</text:p>"
    for _ in range(60):
        body = f"<text:p><draw:frame><draw:text-box>{body}</draw:text-box></draw:frame></text:p>"

    assert extract_lines(document(tmp_path, body))[0] == "[text box] deep"


@pytest.mark.rule("F12.1")
def test_blank_cells_and_rows_to_the_end_of_a_sheet_cost_nothing(tmp_path):
    row = ROW.format(1, CELL.format(1, "x") + CELL.format(250, "") * 70)
    blank = ROW.format(99_999_999, CELL.format(99_999_999, ""))

    lines = extract_lines(document(tmp_path, f"<table:table>{row * 300}{blank}</table:table>"))

    assert lines[:2] == ["[table 0: 300x1]", "| x |"]


@pytest.mark.rule("F12.1", "F9.7", "F3.1")
def test_what_stands_beside_the_text_is_read_by_name(tmp_path):
    body = (
        "<text:p>One<office:annotation><dc:creator>Ann</dc:creator><text:p>why?</text:p>"
        '</office:annotation><text:note text:note-class="endnote"><text:note-citation>1'
        "</text:note-citation><text:note-body><text:p>because</text:p><text:p>so</text:p>"
        "</text:note-body></text:note></text:p>"
    )
    file = document(tmp_path, body)

    assert read(file, Selector()).text == "One"
    assert read(file, Selector(section="@comments")).text == "[comment by Ann]\nwhy?"
    assert read(file, Selector(section="@footnotes")).text == "[endnote 1]\nbecause\nso"
    assert read(file, Selector(section="@headers")).text == "[header]\nPage head"
    with pytest.raises(FormatError) as caught:
        read(file, Selector(section="@margin"))
    assert caught.value.hints == ("@headers", "@comments", "@changes", "@footnotes")


@pytest.mark.rule("F12.1", "F9.2")
def test_the_map_names_sections_tables_and_pictures(tmp_path):
    file = document(tmp_path)

    drawn = get_map(file)

    sections = drawn.data["sections"]
    assert isinstance(sections, list)
    assert [(s["index"], s["heading"], s["level"]) for s in sections] == [
        (0, "(untitled)", 0),
        (1, "Market review", 2),
    ]
    assert drawn.data["tables"] == [
        {
            "index": 0,
            "section_index": 1,
            "section": "Market review",
            "rows": 1,
            "cols": 3,
            "headers": ["Item", "a|b", "a|b"],
        }
    ]
    assert drawn.data["images"] == [
        {"index": 0, "section_index": 1, "alt_text": "A chart", "name": None}
    ]
    assert drawn.warnings == (Warn("tracked_changes_present"),)
    assert get_info(file) == {"sections": 2, "tables": 1}


@pytest.mark.rule("F12.1", "F15.1", "F29.2")
@pytest.mark.parametrize("text", ["Just a letter.", ""])
def test_a_text_without_headings_is_one_section(formats, tmp_path, text):
    file = document(tmp_path, f"<text:p>{text}</text:p>")

    drawn = formats.get_map(file)

    assert [(s["index"], s["heading"]) for s in drawn["sections"]] == [(0, "(untitled)")]
    assert formats.get_info(file)["sections"] == 1
    assert formats.read(file, Selector(section="0")).text == text
    assert formats.extract_lines(file) == [text, "[header] Page head"]
    assert formats.diff_document(None, file)[0]["heading"] == "(untitled)"


@pytest.mark.rule("F12.1")
def test_a_heading_in_a_list_opens_a_section(tmp_path):
    body = (
        '<text:list text:style-name="N"><text:list-item><text:h text:outline-level="1">One'
        "</text:h></text:list-item></text:list><text:p>words</text:p>"
        '<text:list text:style-name="N"><text:list-item><text:list><text:list-item>'
        '<text:h text:outline-level="2">Inner</text:h><text:p>more</text:p></text:list-item>'
        "</text:list></text:list-item></text:list>"
    )
    file = document(tmp_path, body)

    assert extract_lines(file)[:-1] == ["# One", "words", "## Inner", "    more"]
    assert read(file, Selector(section="Inner")).text == "## Inner\n    more"
    assert get_info(file)["sections"] == 2


@pytest.mark.rule("F9.6", "F12.1", "F3.1")
def test_sections_are_read_by_name_or_number(tmp_path):
    file = document(tmp_path)

    by_name = read(file, Selector(section="market   REVIEW"))
    by_number = read(file, Selector(section="1"))
    assert by_name.text == by_number.text
    assert read(file, Selector(section="1", paragraphs="2-3")).text == "1. first\n  - inner"
    with pytest.raises(FormatError) as caught:
        read(file, Selector(section="nowhere"))
    assert caught.value.reason == "unknown_section"
    assert caught.value.hints == ("1: Market review", "0: (untitled)")  # the closest first


@pytest.mark.rule("F9.4", "F32.40", "F5.4")
@pytest.mark.parametrize("start", [Selector(chunk_index=0), Selector(section="1", chunk_index=0)])
def test_chunks_in_turn_give_every_paragraph_once(tmp_path, start):
    wanted = [f"paragraph {n} " + "x" * (70_000 if n == 30 else 290) for n in range(60)]
    body = "<text:h>Long</text:h>" + "".join(f"<text:p>{text}</text:p>" for text in wanted)
    file = document(tmp_path, body)
    seen, selector, step = "", start, 0

    while selector is not None:
        part = read(file, selector)
        cut = selector.char_offset is not None
        seen += part.text if not seen or cut else "\n" + part.text
        selector, step = part.chunk_info.next, step + 1
        assert step < 100

    assert seen.split("\n") == ["# Long", *wanted]


@pytest.mark.rule("F3", "F4.2")
@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ({"content.xml": b"<a>"}, "corrupt_file"),
        ({"content.xml": b"<a/>"}, "corrupt_file"),
        ({"content.xml": b"<!DOCTYPE a []><a/>"}, "xml_dtd_forbidden"),
        (
            {
                "META-INF/manifest.xml": f"<manifest:manifest{NAMES}>"
                "<manifest:encryption-data/></manifest:manifest>".encode()
            },
            "encrypted_file",
        ),
    ],
)
def test_documents_that_cannot_be_read_say_why(tmp_path, extra, reason):
    with pytest.raises(FormatError) as caught:
        get_map(document(tmp_path, extra=extra))

    assert caught.value.reason == reason


TRACKED = """
<text:tracked-changes>
<text:changed-region xml:id="c1"><text:insertion><office:change-info><dc:creator>Ann</dc:creator>
<dc:date>2026-01-02T03:04:05</dc:date></office:change-info></text:insertion></text:changed-region>
<text:changed-region xml:id="c2"><text:deletion><office:change-info><dc:creator>Bob</dc:creator>
<dc:date>2026-02-03T04:05:06</dc:date></office:change-info><text:p>old</text:p></text:deletion>
</text:changed-region></text:tracked-changes>
<text:p>first</text:p>
<text:p>some <text:change-start text:change-id="c1"/>new<text:change-end text:change-id="c1"/>
words<text:change text:change-id="c2"/></text:p>
"""


@pytest.mark.rule("F12.3", "F9.11")
def test_tracked_changes_have_author_time_and_place(tmp_path):
    file = document(tmp_path, TRACKED)

    found = read(file, Selector())

    shown: Any = found.to_json("a.odt")
    told = [
        (one["kind"], one["author"], one["date"], one["text"], one["body_index"])
        for one in shown["tracked_changes"]
    ]
    assert told == [
        ("inserted", "Ann", "2026-01-02T03:04:05", "new", 1),
        ("deleted", "Bob", "2026-02-03T04:05:06", "old", 1),
    ]
    assert found.warnings == (Warn("tracked_changes_present", 2),)
    assert get_map(file).data["tracked_change_count"] == 2
    assert read(file, Selector(section="@changes")).text.split("\n")[:2] == [
        "[tracked change 0: inserted by Ann, 2026-01-02T03:04:05, at paragraph 1]",
        "new",
    ]
    assert "tracked_changes" not in read(file, Selector(paragraphs="0")).to_json("a.odt")
