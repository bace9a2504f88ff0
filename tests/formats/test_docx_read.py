"""Documents: map, sections, chunks, reads and review lines."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest
from docx import Document as WordDocument
from hypothesis import given, settings
from hypothesis import strategies as st

from backshop.formats import FormatError, Selector
from backshop.formats import docx as docx_format

from .office import map_of, members, paragraph, source, with_body


@pytest.fixture
def report(tmp_path):
    document = WordDocument()
    document.add_paragraph("Before all")
    document.add_heading("Summary", 1)
    document.add_paragraph("Short {{company}} text")
    document.add_heading("Market review", 1)
    document.add_paragraph("first point", style="List Bullet")
    table = document.add_table(2, 2)
    for row, cells in zip(table.rows, (("Item", "Q1"), ("a|b", "2")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph("after the table")
    document.add_heading("Detail", 2)
    document.sections[0].header.paragraphs[0].text = "Top {{date}}"
    document.save(tmp_path / "report.docx")
    return source(tmp_path / "report.docx")


@pytest.mark.rule("F9.3", "F9.2", "F9.5", "F9.9")
def test_the_map_lists_sections_tables_and_placeholders(report):
    data = map_of(report.path)

    assert [
        (s["index"], s["heading"], s["level"], s["body_start"], s["paragraph_count"])
        for s in data["sections"]
    ] == [
        (0, "(untitled)", 0, 0, 1),
        (1, "Summary", 1, 1, 2),
        (2, "Market review", 1, 3, 4),
        (3, "Detail", 2, 7, 1),
    ]
    assert data["tables"] == [
        {
            "index": 0,
            "section_index": 2,
            "section": "Market review",
            "body_index": 5,
            "rows": 2,
            "cols": 2,
            "headers": ["Item", "Q1"],
        }
    ]
    assert data["placeholders"] == ["{{company}}", "{{date}}"]
    assert data["styles_in_use"][:2] == ["Normal", "Heading 1"]
    assert data["has_headers_footers"] is True
    assert data["sections"][2]["has_tables"] is True


@pytest.mark.rule("F9.7", "F9.1", "F32.41", "F29.1")
def test_text_is_rendered_in_body_order(report):
    read = docx_format.read(report, Selector())

    assert read.text.split("\n") == [
        "Before all",
        "# Summary",
        "Short {{company}} text",
        "# Market review",
        "- first point",
        "[table 0: 2x2]",
        "| Item | Q1 |",
        "| a\\|b | 2 |",
        "after the table",
        "## Detail",
    ]
    assert docx_format.extract_lines(report)[-1] == "[header] Top {{date}}"
    assert docx_format.extract_lines(report)[:10] == read.text.split("\n")


@pytest.mark.rule("F9.6", "F32.39")
def test_a_section_is_found_by_index_and_by_heading_in_any_case(report):
    by_index = docx_format.read(report, Selector(section="2"))
    by_name = docx_format.read(report, Selector(section="market   REVIEW"))

    assert by_index == by_name
    assert by_index.text.startswith("# Market review\n- first point")


@pytest.mark.rule("F3.1", "F32.39")
@pytest.mark.parametrize(
    ("wanted", "first"), [("Market reviews", "2: Market review"), ("9", "3: Detail")]
)
def test_an_unknown_section_lists_the_headings_the_closest_first(report, wanted, first):
    with pytest.raises(FormatError) as caught:
        docx_format.read(report, Selector(section=wanted))

    assert caught.value.reason == "unknown_section"
    assert caught.value.hints[0] == first
    assert sorted(caught.value.hints) == [
        "0: (untitled)",
        "1: Summary",
        "2: Market review",
        "3: Detail",
    ]


@pytest.mark.rule("F9.6")
def test_paragraphs_select_inside_a_section(report):
    drawn: Any = docx_format.get_map(report).data
    start = drawn["sections"][2]["body_start"]
    assert (drawn["sections"][2]["heading"], start) == ("Market review", 3)
    span = f"{start + 1}-{start + 2}"
    read = docx_format.read(report, Selector(section="Market review", paragraphs=span))
    assert read.text == docx_format.read(report, Selector(paragraphs=span)).text
    assert read.chunk_info.span == {"paragraphs": span}

    assert read.text.split("\n") == [
        "- first point",
        "[table 0: 2x2]",
        "| Item | Q1 |",
        "| a\\|b | 2 |",
    ]
    assert read.chunk_info.next == Selector(section="2", paragraphs=f"{start + 3}-{start + 3}")


@pytest.mark.rule("F5.6", "F5.7")
@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (Selector(sheet="x"), "bad_selector"),
        (Selector(slide_index=0), "bad_selector"),
        (Selector(chunk_index=0, paragraphs="1-2"), "op_conflict"),
        (Selector(chunk_index=9), "bad_index"),
        (Selector(chunk_index=-1), "bad_index"),
        (Selector(section="Market review", paragraphs="0-2"), "bad_range"),
        (Selector(paragraphs="3-1"), "bad_range"),
        (Selector(paragraphs="99"), "bad_range"),
        (Selector(paragraphs="a"), "bad_range"),
        (Selector(section="@nothing"), "unknown_section"),
    ],
)
def test_wrong_selectors_get_their_reason(report, selector, reason):
    with pytest.raises(FormatError) as caught:
        docx_format.read(report, selector)

    assert caught.value.reason == reason


def everything(document, section=None):
    """Read chunk after chunk to the end."""
    texts = []
    selector: Selector | None = Selector(section=section, chunk_index=0)
    while selector is not None:
        part = docx_format.read(document, selector)
        texts.append(part.text)
        selector = part.chunk_info.next
    return texts


@pytest.mark.rule("F9.4", "F32.40")
def test_a_long_section_is_read_in_three_chunks_each_paragraph_once(tmp_path):
    document = WordDocument()
    document.add_heading("Long", 1)
    lines = [f"paragraph {number} " + "x" * 430 for number in range(20)]
    for line in lines:
        document.add_paragraph(line)
    document.save(tmp_path / "long.docx")
    long = source(tmp_path / "long.docx")

    section = map_of(long.path)["sections"][0]
    texts = everything(long, "Long")

    assert section["chunking"]["count"] == 3
    assert [chunk["char_count"] <= 4000 for chunk in section["chunks"]] == [True] * 3
    assert "\n".join(texts).split("\n") == ["# Long", *lines]


@settings(max_examples=25)
@given(
    st.lists(
        st.one_of(
            st.integers(0, 3000),
            st.lists(st.integers(0, 1500), min_size=1, max_size=8),
        ),
        min_size=1,
        max_size=12,
    )
)
@pytest.mark.rule("F5.3", "F5.4")
def test_following_next_gives_back_the_whole_document(tmp_path_factory, sizes):
    body = []
    for size in sizes:
        if isinstance(size, int):
            body.append(paragraph("p" * size))
        else:
            rows = "".join(f"<w:tr><w:tc>{paragraph('c' * s)}</w:tc></w:tr>" for s in size)
            body.append(f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>{rows}</w:tbl>")
    path = with_body(tmp_path_factory.mktemp("d") / "a.docx", "".join(body))
    document = source(path)

    assert "\n".join(everything(document)).split("\n") == docx_format.extract_lines(document)


@pytest.mark.rule("F5.4", "F32.82")
def test_a_paragraph_beyond_the_limit_is_split_without_loss(tmp_path):
    text = "".join(chr(0x4E00 + at % 5000) for at in range(60_000))
    path = with_body(tmp_path / "a.docx", paragraph("short") + paragraph(text) + paragraph("end"))
    document = source(path)

    seen = ""
    selector: Selector | None = Selector(paragraphs="1-2")
    while selector is not None:
        part = docx_format.read(document, selector)
        assert len(part.text.encode()) <= 64 * 1024
        seen += part.text
        selector = part.chunk_info.next

    assert seen == text + "\nend"


@pytest.mark.rule("F5.5")
def test_a_large_document_without_selector_gives_chunk_zero(tmp_path):
    path = with_body(tmp_path / "a.docx", "".join(paragraph("y" * 3000) for _ in range(9)))

    read = docx_format.read(source(path), Selector())

    assert (read.chunk_info.chunk_index, read.chunk_info.total_chunks) == (0, 9)
    assert read.chunk_info.next == Selector(chunk_index=1)


@pytest.mark.rule("F9.7", "F32.42")
def test_tracked_insertions_show_and_deletions_do_not(tmp_path):
    body = (
        '<w:p><w:r><w:t>kept </w:t></w:r><w:ins w:id="1" w:author="a"><w:r><w:t>new</w:t></w:r>'
        '</w:ins><w:del w:id="2" w:author="a"><w:r><w:delText>old</w:delText></w:r></w:del></w:p>'
    )
    document = source(with_body(tmp_path / "a.docx", body))

    read = docx_format.read(document, Selector())

    assert read.text == "kept new"
    assert [w.code for w in read.warnings] == ["tracked_changes_present"]
    assert map_of(document.path)["has_tracked_changes"] is True


@pytest.mark.rule("F9.8")
def test_merged_cells_print_once(tmp_path):
    body = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
        f'<w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("wide")}</w:tc></w:tr>'
        f'<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{paragraph("tall")}</w:tc>'
        f"<w:tc>{paragraph('1')}</w:tc></w:tr>"
        f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph('')}</w:tc>"
        f"<w:tc>{paragraph('2')}</w:tc></w:tr></w:tbl>"
    )
    document = source(with_body(tmp_path / "a.docx", body))

    assert docx_format.read(document, Selector()).text.split("\n") == [
        "[table 0: 3x2]",
        "| wide |  |",
        "| tall | 1 |",
        "|  | 2 |",
    ]


@pytest.mark.rule("F9.7")
def test_field_codes_are_hidden_and_results_shown(tmp_path):
    body = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>DATE</w:instrText>'
        '</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>today</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    document = source(with_body(tmp_path / "a.docx", body))

    assert docx_format.read(document, Selector()).text == "today"
    assert map_of(document.path)["has_fields"] is True


@pytest.mark.rule("F9.7", "F9.10")
def test_text_boxes_are_read_once_although_they_are_stored_twice(tmp_path):
    inner = f"<w:txbxContent>{paragraph('in a box')}</w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>around</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'>"
        f"<w:drawing><wp:inline><wps:txbx>{inner}</wps:txbx></wp:inline></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{inner}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )
    document = source(with_body(tmp_path / "a.docx", body))

    assert docx_format.read(document, Selector()).text == "around\n[text box] in a box"


@pytest.mark.rule("F4.8")
def test_text_nobody_sees_is_labelled_and_not_dropped(tmp_path):
    body = (
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:t> seen </w:t></w:r>"
        '<w:r><w:rPr><w:color w:val="ffffff"/></w:rPr><w:t>pale</w:t></w:r></w:p>'
        '<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/><w:shd w:fill="000000"/></w:rPr>'
        "<w:t>on black</w:t></w:r></w:p>"
    )
    document = source(with_body(tmp_path / "a.docx", body))

    assert docx_format.extract_lines(document) == [
        "[hidden: secret] seen [white text: pale]",
        "on black",
    ]


@pytest.mark.rule("F4.8", "F9.10")
def test_text_nobody_sees_in_table_cells_is_labelled_too(tmp_path):
    pale = '<w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>pale</w:t></w:r>'
    gone = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>gone</w:t></w:r>"
    dark = '<w:tcPr><w:shd w:val="clear" w:fill="1F3864"/></w:tcPr>'
    white = '<w:tcPr><w:shd w:val="clear" w:fill="FFFFFF"/></w:tcPr>'
    inner = f"<w:tbl><w:tr><w:tc><w:p>{gone}</w:p></w:tc></w:tr></w:tbl><w:p/>"
    body = (
        "<w:tbl><w:tr>"
        f"<w:tc><w:p><w:r><w:t>seen </w:t></w:r>{pale}</w:p></w:tc>"
        f"<w:tc>{dark}<w:p>{pale}</w:p></w:tc><w:tc>{white}<w:p>{pale}</w:p></w:tc></w:tr>"
        f"<w:tr><w:tc><w:p>{gone}</w:p></w:tc><w:tc>{inner}</w:tc>"
        f"<w:tc>{paragraph('styled', style='Ghost')}</w:tc>"
        "</w:tr><w:tr><w:trPr><w:hidden/></w:trPr><w:tc><w:p><w:r><w:t>row</w:t></w:r></w:p></w:tc>"
        "</w:tr></w:tbl>"
        '<w:p><w:r><w:rPr><w:rStyle w:val="GhostRun"/></w:rPr><w:t>by style</w:t></w:r></w:p>'
    )
    path = with_styles(
        with_body(tmp_path / "a.docx", body),
        '<w:style w:type="paragraph" w:styleId="Ghost"><w:name w:val="Ghost"/>'
        "<w:rPr><w:vanish/></w:rPr></w:style>"
        '<w:style w:type="character" w:styleId="GhostRun"><w:name w:val="Ghost Run"/>'
        '<w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>',
    )

    assert docx_format.extract_lines(source(path)) == [
        "[table 0: 3x3]",
        "| seen [white text: pale] | pale | [white text: pale] |",
        "| [hidden: gone] | [hidden: gone] | [hidden: styled] |",
        "| [hidden: row] |",
        "[white text: by style]",
    ]


@pytest.mark.rule("F4.8", "F9.10")
def test_what_a_table_style_hides_or_turns_white_is_labelled(tmp_path):
    def table(style, *cells):
        inside = "".join(f"<w:tc>{cell}</w:tc>" for cell in cells)
        named = f'<w:tblStyle w:val="{style}"/>' if style else ""
        return f"<w:tbl><w:tblPr>{named}</w:tblPr><w:tr>{inside}</w:tr></w:tbl><w:p/>"

    def style(name, look, based_on="", attributes=""):
        base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
        return (
            f'<w:style w:type="table" w:styleId="{name}"{attributes}><w:name w:val="{name}"/>'
            f"{base}{look}</w:style>"
        )

    plain = paragraph("secret")
    shown = '<w:p><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r></w:p>'
    box = (
        "<w:p><w:r><w:t>around</w:t></w:r><w:r><w:drawing><wp:inline><wps:txbx><w:txbxContent>"
        "<w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></wps:txbx></wp:inline>"
        "</w:drawing></w:r></w:p>"
    )
    dark = '<w:tcPr><w:shd w:val="clear" w:fill="1F3864"/></w:tcPr>'
    path = with_styles(
        with_body(
            tmp_path / "a.docx",
            table("Gone", plain, shown, box)
            + table("GoneToo", plain)
            + table("Pale", plain, dark + plain)
            + table("PaleOnDark", plain)
            + table("Gone", table("Plain", plain)),
        ),
        style("Gone", "<w:rPr><w:vanish/></w:rPr>")
        + style("GoneToo", "", "Gone")
        + style("Pale", '<w:rPr><w:color w:val="FFFFFF"/></w:rPr>')
        + style("PaleOnDark", '<w:tcPr><w:shd w:fill="000000"/></w:tcPr>', "Pale")
        + style("Plain", ""),
    )

    lines = [line for line in docx_format.extract_lines(source(path)) if line]

    assert [line for line in lines if not line.startswith("[table")] == [
        "| [hidden: secret] | shown | [hidden: around] |",
        "[text box] boxed",
        "| [hidden: secret] |",
        "| [white text: secret] | secret |",
        "| secret |",
        "| secret |",  # of two tables the inner one lends its style
    ]


@pytest.mark.rule("F4.8", "F9.10")
def test_tables_without_a_style_have_that_of_all_tables(tmp_path):
    body = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>secret</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/>"
    path = with_body(tmp_path / "a.docx", body)
    parts = members(path)
    sheet = parts["word/styles.xml"]
    start = sheet.index(b'<w:style w:type="table" w:default="1"')
    end = sheet.index(b"</w:style>", start)
    hidden = sheet[:end] + b"<w:rPr><w:vanish/></w:rPr>" + sheet[end:]
    made = with_parts(path, {"word/styles.xml": hidden})

    assert docx_format.extract_lines(source(made))[1] == "| [hidden: secret] |"


def with_styles(path, styles):
    """Add styles to a document in place."""
    parts = members(path)
    sheet = parts["word/styles.xml"].replace(b"</w:styles>", styles.encode() + b"</w:styles>")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (parts | {"word/styles.xml": sheet}).items():
            archive.writestr(name, data)
    return path


def test_an_empty_body_reads_as_nothing(tmp_path):
    document = source(with_body(tmp_path / "a.docx", ""))

    read = docx_format.read(document, Selector())

    assert (read.text, read.chunk_info.next) == ("", None)
    assert map_of(document.path)["sections"] == []


@pytest.mark.rule("F9.2")
def test_a_heading_is_known_by_its_outline_level_and_by_its_style_chain(tmp_path):
    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:type="paragraph" w:styleId="X"><w:name w:val="Kapitel"/>'
        '<w:basedOn w:val="Y"/></w:style><w:style w:type="paragraph" w:styleId="Y">'
        '<w:name w:val="heading 3"/><w:basedOn w:val="X"/></w:style></w:styles>'
    )
    body = paragraph("by chain", style="X") + (
        '<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>by level</w:t></w:r></w:p>'
        '<w:p><w:pPr><w:pStyle w:val="X"/><w:outlineLvl w:val="9"/></w:pPr><w:r><w:t>no</w:t></w:r>'
        "</w:p>"
    )
    path = with_body(tmp_path / "a.docx", body)
    replaced = with_parts(path, {"word/styles.xml": styles})

    sections = map_of(replaced)["sections"]

    assert [(s["heading"], s["level"]) for s in sections] == [("by chain", 3), ("by level", 2)]


def with_parts(path, parts):
    import zipfile

    out = path.with_name("parts-" + path.name)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, parts.get(name, old.read(name)))
    return out
