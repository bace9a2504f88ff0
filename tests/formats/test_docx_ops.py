"""Documents: every operation, its look, its refusals, and its honest report."""

from __future__ import annotations

import zipfile

import pytest
from docx import Document as WordDocument
from docx.enum.section import WD_ORIENT
from docx.shared import Inches, Pt
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from backshop.formats import FormatError, OpsRequest, Selector
from backshop.formats import docx as docx_format
from backshop.formats.docx.edit import paragraph_edit as docx_edit
from backshop.formats.find import Needle, replace_spans

from .office import (
    W,
    edit,
    map_of,
    members,
    paragraph,
    raw_members,
    source,
    warnings,
    with_body,
    word,
)

LONG = "x" * (1024 * 1024 + 1)


@pytest.fixture
def report(tmp_path):
    document = WordDocument()
    document.add_heading("Summary", 1)
    document.add_paragraph("The quick brown fox")
    document.add_heading("Market review", 1)
    document.add_paragraph("Old text", style="Body Text")
    table = document.add_table(2, 2, style="Table Grid")
    for row in table.rows:
        for cell in row.cells:
            cell.text = "cell"
    document.add_heading("Deeper", 2)
    document.add_paragraph("below")
    document.add_heading("Outlook", 1)
    document.add_paragraph("last")
    document.sections[0].header.paragraphs[0].text = "quick header"
    document.sections[0].footer.paragraphs[0].text = "quick footer"
    path = tmp_path / "report.docx"
    document.save(path)
    return path


def texts(path):
    return [p.text for p in word(path).paragraphs]


def lines(path):
    return docx_format.read(source(path), Selector()).text.split("\n")


def clean(applied):
    assert applied.effects.collateral == ()
    return applied


@pytest.mark.rule("F19.1")
# --- paragraphs ----------------------------------------------------------------------------------


def test_append_paragraph_carries_every_look(report):
    applied, out = edit(
        report,
        {
            "op": "append_paragraph",
            "runs": [
                {
                    "text": "bold",
                    "bold": True,
                    "italic": True,
                    "underline": True,
                    "font_name": "Arial",
                    "font_size": 13.5,
                    "font_color": "#FF0000",
                    "highlight_color": "Bright-Green",
                },
                {"text": " plain"},
                {"text": "site", "hyperlink": "https://example.org/a?b=1&c=2"},
            ],
            "style": "heading2",
            "alignment": "center",
            "space_before": 6,
            "space_after": 12,
            "line_spacing": 1.5,
            "indent_left": 0.5,
            "indent_right": 0.25,
            "indent_first_line": -0.25,
            "page_break_before": True,
        },
    )

    written = word(out).paragraphs[-1]
    first = written.runs[0]
    form = written.paragraph_format
    assert written.text == "bold plainsite"
    assert written.style.name == "Heading 2"
    assert (first.bold, first.italic, first.underline) == (True, True, True)
    assert (first.font.name, first.font.size, str(first.font.color.rgb)) == (
        "Arial",
        Pt(13.5),
        "FF0000",
    )
    assert first.font.highlight_color.name == "BRIGHT_GREEN"
    assert form.alignment.name == "CENTER"
    assert (form.space_before, form.space_after, form.line_spacing) == (Pt(6), Pt(12), 1.5)
    assert (form.left_indent, form.right_indent) == (Inches(0.5), Inches(0.25))
    assert form.first_line_indent == Inches(-0.25)
    assert form.page_break_before is True
    assert written.hyperlinks[0].url == "https://example.org/a?b=1&c=2"
    assert warnings(clean(applied)) == {"alias_used": 1}


@pytest.mark.rule("F16.7", "F19.2")
def test_style_problems_are_noted_and_the_rest_applies(report):
    applied, out = edit(
        report,
        {
            "op": "append_paragraph",
            "style": "No Such Style",
            "alignment": "middle",
            "space_before": -1,
            "line_spacing": 0,
            "space_after": 3,
            "level": 12,
            "runs": [
                {
                    "text": "x",
                    "bold": True,
                    "font_color": "redish",
                    "font_size": 0,
                    "hyperlink": "javascript:alert(1)",
                }
            ],
        },
    )

    written = word(out).paragraphs[-1]
    assert written.style.name == "Normal"
    assert written.runs[0].bold is True
    assert written.paragraph_format.space_after == Pt(3)
    assert warnings(applied) == {"style_value_ignored": 8}
    assert {w.where for w in applied.warnings} >= {
        "operations[0].style",
        "operations[0].runs[0].font_color",
    }


@pytest.mark.rule("F19.2")
def test_a_lent_style_names_the_styles_of_its_new_document(report):
    document = word(report)
    styles = document.styles
    styles.element.remove(styles["Heading 5"].element)
    normal = styles["Normal"].element
    normal.set(f"{{{W}}}styleId", "Standard")
    for link in styles.element.iter(f"{{{W}}}basedOn", f"{{{W}}}next"):
        if link.get(f"{{{W}}}val") == "Normal":
            link.set(f"{{{W}}}val", "Standard")
    document.save(str(report))

    applied, out = edit(report, {"op": "append_paragraph", "text": "x", "style": "Heading 5"})

    lent = word(out).paragraphs[-1].style
    assert (lent.name, lent.base_style.name) == ("Heading 5", "Normal")
    assert lent.next_paragraph_style.name == "Normal"
    clean(applied)


@pytest.mark.rule("F19.2")
def test_a_lent_style_takes_a_free_identifier_and_comes_once(report):
    document = word(report)
    styles = document.styles
    styles.element.remove(styles["Quote"].element)
    styles["Strong"].element.set(f"{{{W}}}styleId", "Quote")
    document.save(str(report))
    quote = {"op": "append_paragraph", "text": "x", "style": "Quote"}

    applied, out = edit(report, quote, quote)

    assert [p.style.name for p in word(out).paragraphs[-2:]] == ["Quote", "Quote"]
    identifiers = [style.style_id for style in word(out).styles]
    assert len(identifiers) == len(set(identifiers))
    assert warnings(clean(applied)) == {}


@pytest.mark.rule("F19.1")
def test_values_that_would_win_over_written_ones_go(tmp_path):
    body = (
        '<w:p><w:pPr><w:spacing w:beforeLines="50" w:before="120" w:afterLines="50"/>'
        '<w:ind w:leftChars="100" w:startChars="100" w:rightChars="9" w:firstLineChars="200" '
        'w:firstLine="420"/></w:pPr><w:r><w:t>text</w:t></w:r></w:p>'
        "<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc><w:p><w:r><w:rPr>"
        '<w:rFonts w:asciiTheme="minorHAnsi" w:hAnsiTheme="minorHAnsi" w:cstheme="minorBidi" '
        'w:eastAsiaTheme="minorEastAsia"/></w:rPr><w:t>c</w:t></w:r></w:p></w:tc></w:tr></w:tbl>'
    )
    path = with_body(tmp_path / "a.docx", body)
    new = {"text": "new", "indent_left": 1, "indent_first_line": 0, "space_before": 3}
    place = {"row": 0, "column": 0, "runs": [{"text": "new", "font_name": "Arial"}]}

    _, out = edit(
        path,
        {"op": "insert_paragraphs", "anchor": {"paragraph": 0}, "paragraphs": [new]},
        {"op": "set_table_cells", "table": 0, "cells": [place]},
    )

    xml = members(out)["word/document.xml"].decode()
    assert '<w:spacing w:before="60" w:afterLines="50" w:beforeAutospacing="0"/>' in xml
    assert '<w:ind w:rightChars="9" w:left="1440" w:firstLine="0"/>' in xml
    fonts = 'w:eastAsiaTheme="minorEastAsia" w:ascii="Arial" w:hAnsi="Arial" w:cs="Arial"'
    assert f"<w:rFonts {fonts}/>" in xml


def test_newlines_and_tabs_become_breaks_and_tabs(report):
    _, out = edit(report, {"op": "append_paragraph", "text": "a\nb\tc"})

    assert texts(out)[-1] == "a\nb\tc"
    assert lines(out)[-2:] == ["a", "b\tc"]


@pytest.mark.rule("F16.12")
def test_characters_that_xml_cannot_hold_are_removed(report):
    applied, out = edit(report, {"op": "append_paragraph", "text": "a\x00b\x0bc\ufffe"})

    assert texts(out)[-1] == "abc"
    assert warnings(applied) == {"control_chars_removed": 3}


@pytest.mark.rule("F32.37", "F19.9")
def test_insert_after_a_heading_takes_the_format_of_the_text_there(report):
    applied, out = edit(
        report,
        {
            "op": "insert_paragraphs",
            "anchor": {"text": "market review", "at": "after"},
            "paragraphs": ["inserted one", {"text": "inserted two", "style": "Quote"}],
        },
    )

    found = [(p.text, p.style.name) for p in word(out).paragraphs][2:6]
    assert found == [
        ("Market review", "Heading 1"),
        ("inserted one", "Body Text"),
        ("inserted two", "Quote"),
        ("Old text", "Body Text"),
    ]
    assert [e.where for e in clean(applied).effects.changed] == ["paragraph 3", "paragraph 4"]
    assert applied.focus == {"section_index": 2, "paragraph": 3}


def test_copy_format_can_be_switched_off(report):
    _, out = edit(
        report,
        {
            "op": "insert_paragraphs",
            "anchor": {"paragraph": 3, "at": "before"},
            "paragraphs": ["x"],
            "copy_format": False,
        },
    )

    assert word(out).paragraphs[3].style.name == "Normal"


@pytest.mark.parametrize(
    ("anchor", "place"),
    [
        ({"section": "Market review", "at": "start"}, 3),
        ({"section": "Market review", "at": "end"}, 5),
        ({"section": "2"}, 5),
        ({"paragraph": 0, "at": "before"}, 0),
        ({"paragraph": 0}, 1),
    ],
)
def test_anchors_name_places(report, anchor, place):
    _, out = edit(
        report, {"op": "insert_paragraphs", "anchor": anchor, "paragraphs": ["HERE", "THERE"]}
    )

    body = docx_format.extract_lines(source(out))
    blocks = [line for line in body if not line.startswith("|")]
    assert blocks[place].endswith("HERE")
    assert blocks[place + 1].endswith("THERE")


@pytest.mark.rule("F3.1")
@pytest.mark.parametrize(
    ("anchor", "reason"),
    [
        ({}, "missing_field"),
        ({"at": "after"}, "missing_field"),
        ({"paragraph": 1, "text": "x"}, "op_conflict"),
        ({"paragraph": 99}, "bad_index"),
        ({"paragraph": -1}, "bad_index"),
        ({"paragraph": 1, "at": "start"}, "bad_value"),
        ({"paragraph": "first"}, "bad_type"),
        ({"text": "no such text"}, "no_match"),
        ({"text": "e"}, "ambiguous_match"),
        ({"text": ""}, "bad_value"),
        ({"section": "Nowhere"}, "unknown_section"),
        ({"section": "@headers"}, "unknown_section"),
    ],
)
def test_wrong_anchors_get_their_reason(report, anchor, reason):
    with pytest.raises(FormatError) as caught:
        edit(report, {"op": "insert_paragraphs", "anchor": anchor, "paragraphs": ["x"]})

    assert caught.value.reason == reason
    assert not report.with_name("out-report.docx").exists()


@pytest.mark.rule("F19.12")
def test_lists_number_and_continue(report):
    _, out = edit(
        report,
        {"op": "append_paragraph", "text": "one", "list": "number"},
        {"op": "append_paragraph", "text": "two", "list": "number", "level": 1},
        {"op": "append_paragraph", "text": "dot", "list": "bullet"},
    )

    assert lines(out)[-3:] == ["1. one", "  1. two", "- dot"]
    found = [p._p.pPr.numPr.numId.val for p in word(out).paragraphs[-3:]]
    assert found[0] == found[1] != found[2]


@pytest.mark.rule("F19.3", "F32.36")
def test_set_paragraphs_keeps_header_footer_and_landscape_sections(report):
    document = word(report)
    section = document.add_section()
    section.orientation = WD_ORIENT.LANDSCAPE
    section.page_width, section.page_height = section.page_height, section.page_width
    document.add_paragraph("in landscape")
    document.save(str(report))

    applied, out = edit(report, {"op": "set_paragraphs", "paragraphs": ["new one", "new two"]})

    written = word(out)
    assert [p.text for p in written.paragraphs if p.text] == ["new one", "new two"]
    assert not written.tables
    assert [s.orientation.name for s in written.sections] == ["PORTRAIT", "LANDSCAPE"]
    assert written.sections[0].header.paragraphs[0].text == "quick header"
    assert written.sections[0].footer.paragraphs[0].text == "quick footer"
    clean(applied)
    before, after = members(report), members(out)
    assert {name for name in before if before[name] != after[name]} == {"word/document.xml"}


@pytest.mark.rule("F19.3")
def test_set_paragraphs_counts_what_disappears_with_the_body(tmp_path):
    body = (
        '<w:p><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="1"/></w:r>'
        "<w:r><w:drawing/></w:r></w:p>"
    )
    path = with_body(tmp_path / "a.docx", body)

    applied, _ = edit(path, {"op": "set_paragraphs", "paragraphs": [{"text": "x"}]})

    assert warnings(clean(applied)) == {"content_removed": 3}


@pytest.mark.rule("F9.9", "F19.8")
@pytest.mark.rule("F19.9")
def test_replace_section_keeps_the_heading_and_ends_at_its_level(report):
    applied, out = edit(
        report, {"op": "replace_section", "section": "market review", "paragraphs": ["fresh"]}
    )

    assert texts(out) == [
        "Summary",
        "The quick brown fox",
        "Market review",
        "fresh",
        "Outlook",
        "last",
    ]
    assert word(out).paragraphs[3].style.name == "Body Text"
    clean(applied)


def test_delete_paragraphs_counts_tables_as_places(report):
    applied, out = edit(report, {"op": "delete_paragraphs", "from": 3, "to": 4})

    assert not word(out).tables
    assert "Old text" not in texts(out)
    assert {
        (e.where, e.aspect) for e in clean(applied).effects.changed if " row" not in e.where
    } == {
        ("paragraph 3", "removed"),
        ("paragraph 4", "removed"),
    }
    assert applied.focus == {"section_index": 3, "paragraph": 3}
    assert applied.changes[0][1] == "2 paragraphs deleted: 3-4, “Old text” to table 0"


@pytest.mark.rule("F19.13", "F9.9")
def test_operations_of_one_call_do_not_shift_each_others_paragraphs(report):
    drawn = map_of(report)
    outlook = next(s for s in drawn["sections"] if s["heading"] == "Outlook")["body_start"]

    applied, out = edit(
        report,
        {"op": "delete_paragraphs", "from": 0, "to": 1},
        {
            "op": "insert_paragraphs",
            "anchor": {"paragraph": outlook, "at": "before"},
            "paragraphs": ["new"],
        },
        {"op": "delete_paragraphs", "from": outlook + 1, "to": outlook + 1},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 1, "column": 0, "text": "x"}]},
    )

    assert texts(out) == ["Market review", "Old text", "Deeper", "below", "new", "Outlook"]
    assert applied.changes[2][1].endswith("“last”")
    for wrong in (1, 0):
        with pytest.raises(FormatError) as caught:
            edit(
                report,
                {"op": "delete_paragraphs", "from": 0, "to": 1},
                {"op": "delete_paragraphs", "from": wrong, "to": wrong},
            )
        assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F19.13")
def test_what_a_call_adds_counts_on_after_what_was_there(report):
    count = map_of(report)["paragraph_count"]

    _, out = edit(
        report,
        {"op": "append_table", "rows": [["a"], ["b"]], "anchor": {"paragraph": 0, "at": "after"}},
        {"op": "add_table_rows", "table": 0, "rows": [["1", "2"]], "at": 0},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 1, "column": 1, "text": "old 1"}]},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 2, "column": 0, "text": "added"}]},
        {"op": "delete_table_rows", "table": 0, "from": 0, "to": 0},
        {"op": "set_table_cells", "table": 1, "cells": [{"row": 1, "column": 0, "text": "new"}]},
    )

    first, second = word(out).tables
    assert [[c.text for c in row.cells] for row in first.rows] == [["a"], ["new"]]
    assert [[c.text for c in row.cells] for row in second.rows] == [
        ["added", "2"],
        ["cell", "old 1"],
    ]
    _, out = edit(
        report,
        {"op": "append_paragraph", "text": "one"},
        {"op": "delete_paragraphs", "from": count, "to": count},
    )
    assert "one" not in texts(out)


@pytest.mark.rule("F19.13")
def test_rows_of_which_one_is_gone_already_are_not_deleted(report):
    with pytest.raises(FormatError) as caught:
        edit(
            report,
            {"op": "add_table_rows", "table": 0, "rows": [["1", "2"], ["3", "4"]]},
            {"op": "delete_table_rows", "table": 0, "from": 1, "to": 1},
            {"op": "delete_table_rows", "table": 0, "from": 1, "to": 2},
        )

    assert caught.value.reason == "op_conflict"


@pytest.mark.rule("F19.10")
@pytest.mark.parametrize(("first", "last"), [(-1, 2), (3, 2), (0, 99)])
def test_deleting_what_is_not_there_is_refused(report, first, last):
    with pytest.raises(FormatError) as caught:
        edit(report, {"op": "delete_paragraphs", "from": first, "to": last})

    assert caught.value.reason == "bad_index"


@pytest.mark.rule("F19.10")
def test_deleting_half_a_field_is_refused_and_a_whole_one_is_not(tmp_path):
    def char(kind):
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    body = (
        f"<w:p>{char('begin')}<w:r><w:instrText>TOC</w:instrText></w:r>{char('separate')}</w:p>"
        f"{paragraph('entry')}<w:p>{char('end')}</w:p>{paragraph('text')}"
    )
    path = with_body(tmp_path / "a.docx", body)

    with pytest.raises(FormatError) as caught:
        edit(path, {"op": "delete_paragraphs", "from": 0, "to": 1})
    _, out = edit(path, {"op": "delete_paragraphs", "from": 0, "to": 2})

    assert caught.value.reason == "op_conflict"
    assert texts(out) == ["text"]


def test_the_end_of_a_bookmark_survives_when_its_paragraph_goes(tmp_path):
    body = (
        '<w:p><w:bookmarkStart w:id="7" w:name="b"/><w:r><w:t>one</w:t></w:r></w:p>'
        '<w:p><w:r><w:t>two</w:t></w:r><w:bookmarkEnd w:id="7"/></w:p>' + paragraph("three")
    )
    path = with_body(tmp_path / "a.docx", body)

    applied, out = edit(path, {"op": "delete_paragraphs", "from": 1, "to": 1})

    xml = members(out)["word/document.xml"].decode()
    assert xml.count("bookmarkStart") == xml.count("bookmarkEnd") == 1
    clean(applied)


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.rule("F19.4", "F32.33")
def test_a_token_split_over_three_runs_is_replaced_and_bold_neighbours_stay(tmp_path):
    path = with_body(tmp_path / "a.docx", paragraph("(b)Dear ", "{{com", "(i)pany", "}}", "(b)!"))

    applied, out = edit(
        path, {"op": "replace_text", "search": "{{company}}", "replace": "Acme & Söhne"}
    )

    runs = word(out).paragraphs[0].runs
    assert [(r.text, r.bold, r.italic) for r in runs] == [
        ("Dear ", True, None),
        ("Acme & Söhne", None, None),
        ("!", True, None),
    ]
    assert applied.changes == ((0, "1 occurrence replaced"),)
    clean(applied)


@pytest.mark.rule("F19.4", "F32.34", "F23.4")
def test_replacing_reaches_headers_nested_tables_boxes_links_and_notes(tmp_path):
    nested = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>"
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:tc>"
        f"{paragraph('TOKEN')}</w:tc></w:tr></w:tbl><w:p/></w:tc></w:tr></w:tbl>"
    )
    inner = f"<w:txbxContent>{paragraph('TOKEN')}</w:txbxContent>"
    box = (
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>"
        f"{inner}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{inner}"
        "</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    others = (
        "<w:p><w:hyperlink w:anchor='x'><w:r><w:t>TOKEN</w:t></w:r></w:hyperlink></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>TOKEN</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:p><w:del w:id='1'><w:r><w:delText>TOKEN</w:delText></w:r></w:del>"
        "<w:r><w:instrText>TOKEN</w:instrText></w:r></w:p>"
    )
    path = with_body(tmp_path / "a.docx", nested + box + others)

    applied, out = edit(path, {"op": "replace_text", "search": "token", "replace": "done"})

    xml = members(out)["word/document.xml"].decode()
    assert applied.changes == ((0, "4 occurrences replaced"),)
    assert xml.count("done") == 5  # the old copy of the text box too
    assert "<w:delText>TOKEN</w:delText>" in xml
    assert "<w:instrText>TOKEN</w:instrText>" in xml
    clean(applied)


@pytest.mark.rule("F19.4", "F32.34")
def test_scopes_bound_a_replacement(report):
    def count(scope):
        applied, _ = edit(
            report, {"op": "replace_text", "search": "quick", "replace": "slow", "scope": scope}
        )
        clean(applied)
        return applied.changes[0][1], set(applied.changed_parts)

    header = {"word/header1.xml", "word/footer1.xml"}
    assert count("all") == ("3 occurrences replaced", {"word/document.xml", *header})
    assert count("body") == ("1 occurrence replaced", {"word/document.xml"})
    assert count("headers") == ("2 occurrences replaced", header)
    with pytest.raises(FormatError) as caught:
        count("tables")
    assert caught.value.reason == "no_match"


@pytest.mark.rule("F19.5", "F16.5", "F32.35")
def test_expectations_and_aliases_of_replace_text(report):
    applied, _ = edit(report, {"op": "replace_text", "find": "quick", "replace": "x", "expect": 3})
    assert warnings(applied) == {"alias_used": 1}

    for fields, reason in (
        ({"search": "quick", "expect": 2}, "ambiguous_match"),
        ({"search": "absent", "expect": 1}, "no_match"),
        ({"search": ""}, "bad_value"),
        ({"search": "a", "find": "b"}, "op_conflict"),
        ({"search": "a", "scope": "margins"}, "bad_value"),
        ({"search": "a", "expect": -1}, "bad_value"),
        ({"search": "a", "rows": [["x"]]}, "unknown_field"),
        ({}, "missing_field"),
        ({"search": 5}, "bad_type"),
    ):
        with pytest.raises(FormatError) as caught:
            edit(report, {"op": "replace_text", "replace": "x", **fields})
        assert caught.value.reason == reason, fields


@pytest.mark.rule("F19.5")
def test_replacing_text_that_is_nowhere_is_refused_with_what_was_sought(report):
    wish = {"op": "replace_text", "search": "absent", "replace": "x"}
    with pytest.raises(FormatError) as caught:
        edit(report, wish, {**wish, "search": "gone"})

    assert caught.value.reason == "no_match"
    assert "'absent'" in caught.value.message
    assert caught.value.hints == ("nor does 'gone'",)
    assert not report.with_name("out-" + report.name).exists()


@pytest.mark.rule("F19.5", "F16.10")
def test_a_call_of_which_a_part_matched_says_so_of_each_operation(report):
    wish = {"op": "replace_text", "search": "absent", "replace": "x"}

    applied, _ = edit(report, wish, {**wish, "search": "quick"})

    assert [text for _, text in applied.changes] == [
        "nothing replaced: 'absent' occurs nowhere",
        "3 occurrences replaced",
    ]
    assert [(w.code, w.where) for w in applied.warnings] == [("no_match", "operations[0]")]


@pytest.mark.rule("F23.7")
def test_replacing_text_by_itself_changes_no_byte(report):
    applied, out = edit(
        report, {"op": "replace_text", "search": "quick", "replace": "quick", "match_case": True}
    )

    assert out.read_bytes() == report.read_bytes()
    assert applied.changed_parts == ()


@pytest.mark.rule("F19.5")
def test_whole_words_and_letters_that_fold_to_two(tmp_path):
    path = with_body(tmp_path / "a.docx", paragraph("Straße STRASSE strassen İx"))

    _, out = edit(
        path, {"op": "replace_text", "search": "straße", "replace": "way", "whole_word": True}
    )

    assert texts(out) == ["way way strassen İx"]


@pytest.mark.rule("F19.5")
@given(
    pieces=st.lists(st.text("aAßsSİi{} ", max_size=6), max_size=6),
    search=st.text("aAßsSİi{}", min_size=1, max_size=3),
    by=st.text("xyz", max_size=3),
)
def test_replacing_in_pieces_equals_replacing_in_the_whole(pieces, search, by):
    whole = "".join(pieces)
    spans = Needle(search).spans(whole)

    expected, at = "", 0
    for start, end in spans:
        assert whole[start:end].casefold() == search.casefold()
        expected += whole[at:start] + by
        at = end
    expected += whole[at:]
    assert "".join(replace_spans(pieces, spans, by)) == expected


@pytest.mark.rule("F19.6")
def test_a_replacement_with_newlines_breaks_lines_inside_the_paragraph(tmp_path):
    path = with_body(tmp_path / "a.docx", paragraph("see {{items}}."))

    _, out = edit(path, {"op": "replace_text", "search": "{{items}}", "replace": "a\nb"})

    assert texts(out) == ["see a\nb."]


@pytest.mark.rule("F19.6")
@pytest.mark.parametrize("by", ["a\rb", "a\r\nb"])
def test_line_ends_of_every_system_break_lines(tmp_path, by):
    path = with_body(tmp_path / "a.docx", paragraph("see {{items}}."))

    _, out = edit(path, {"op": "replace_text", "search": "{{items}}", "replace": by})

    assert texts(out) == ["see a\nb."]
    assert b"&#13;" not in members(out)["word/document.xml"]


# --- tables --------------------------------------------------------------------------------------


@pytest.mark.rule("F32.38")
def test_a_table_is_added_filled_and_grown(report):
    applied, out = edit(
        report,
        {
            "op": "append_table",
            "rows": [["Item", "Amount"], ["a", "1"]],
            "column_widths": [2, 1.5],
            "anchor": {"text": "below", "at": "after"},
        },
        {"op": "set_table_cells", "table": 1, "cells": [{"row": 1, "column": 1, "text": "2"}]},
        {"op": "add_table_rows", "table": 1, "rows": [["b", "3"], ["c"]]},
        {"op": "add_table_rows", "table": 0, "rows": [["top"]], "at": 0},
        {"op": "delete_table_rows", "table": 0, "from": 1, "to": 1},
    )

    tables = word(out).tables
    assert [[c.text for c in row.cells] for row in tables[1].rows] == [
        ["Item", "Amount"],
        ["a", "2"],
        ["b", "3"],
        ["c", ""],
    ]
    assert [[c.text for c in row.cells] for row in tables[0].rows] == [
        ["top", ""],
        ["cell", "cell"],
    ]
    assert tables[1].style.name == "Table Grid"
    assert tables[1].rows[0].cells[0].paragraphs[0].runs[0].bold is True
    assert tables[1].columns[0].width == Inches(2)
    clean(applied)


@pytest.mark.rule("F19.11")
def test_cells_keep_the_look_of_their_text_and_their_neighbours(tmp_path):
    body = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid><w:tr>"
        f"<w:tc>{paragraph('(b)old', 'er')}{paragraph('second')}</w:tc>"
        f"<w:tc>{paragraph('other')}</w:tc></w:tr></w:tbl>"
    )
    path = with_body(tmp_path / "a.docx", body)

    applied, out = edit(
        path,
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 0, "text": "new"}]},
    )

    cell = word(out).tables[0].cell(0, 0)
    assert cell.text == "new"
    assert cell.paragraphs[0].runs[0].bold is True
    assert [e.where for e in clean(applied).effects.changed] == ["paragraph 0 row 0 column 0"]


def test_writing_into_a_merged_cell_reaches_the_one_that_shows(tmp_path):
    body = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
        f'<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr>{paragraph("tall")}</w:tc>'
        f"<w:tc>{paragraph('1')}</w:tc></w:tr>"
        f"<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph('')}</w:tc>"
        f"<w:tc>{paragraph('2')}</w:tc></w:tr></w:tbl>"
    )
    path = with_body(tmp_path / "a.docx", body)

    applied, out = edit(
        path, {"op": "set_table_cells", "table": 0, "cells": [{"row": 1, "column": 0, "text": "T"}]}
    )
    assert warnings(clean(applied)) == {"merged_redirect": 1}
    assert lines(out)[1] == "| T | 1 |"

    _, rest = edit(path, {"op": "delete_table_rows", "table": 0, "from": 0, "to": 0})
    assert lines(rest) == ["[table 0: 1x2]", "|  | 2 |"]
    assert b'<w:vMerge w:val="restart"/>' in members(rest)["word/document.xml"]


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ({"op": "set_table_cells", "table": 5, "cells": []}, "bad_index"),
        ({"op": "set_table_cells", "table": 0, "cells": [{"row": 9, "column": 0, "text": "x"}]},
         "bad_index"),
        ({"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 9, "text": "x"}]},
         "bad_index"),
        ({"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "column": 0}]},
         "missing_field"),
        ({"op": "set_table_cells", "table": 0, "cells": ["x"]}, "bad_type"),
        ({"op": "add_table_rows", "table": 0, "rows": [["a", "b", "c"]]}, "bad_value"),
        ({"op": "add_table_rows", "table": 0, "rows": [["a"]], "at": 7}, "bad_index"),
        ({"op": "add_table_rows", "table": 0, "rows": ["a"]}, "bad_type"),
        ({"op": "add_table_rows", "table": 0, "rows": [[1]]}, "bad_type"),
        ({"op": "add_table_rows", "table": 0, "rows": []}, "bad_value"),
        ({"op": "delete_table_rows", "table": 0, "from": 0, "to": 1}, "op_conflict"),
        ({"op": "delete_table_rows", "table": 0, "from": 0, "to": 5}, "bad_index"),
        ({"op": "append_table", "rows": [[]]}, "bad_value"),
        ({"op": "append_table"}, "missing_field"),
        ({"op": "append_paragraph"}, "missing_field"),
        ({"op": "append_paragraph", "runs": "x"}, "bad_type"),
        ({"op": "append_paragraph", "runs": [{"bold": True}]}, "missing_field"),
        ({"op": "append_paragraph", "runs": [{"text": 3}]}, "bad_type"),
        ({"op": "append_paragraph", "text": 3}, "bad_type"),
        ({"op": "append_paragraph", "text": "x", "search": "y"}, "unknown_field"),
        ({"op": "set_paragraphs", "paragraphs": [3]}, "bad_type"),
        ({"op": "replace_section", "section": "None such", "paragraphs": []}, "unknown_section"),
        ({"op": "make_coffee"}, "unknown_op"),
        ({"op": None}, "missing_field"),
        ({}, "missing_field"),
    ],
)  # fmt: skip
@pytest.mark.rule("F16.4", "F16.6", "F32.23")
def test_bad_operations_get_their_reason_and_leave_nothing(report, op, reason):
    good = {"op": "append_paragraph", "text": "never written"}

    with pytest.raises(FormatError) as caught:
        edit(report, good, op)

    assert caught.value.reason == reason
    assert (caught.value.detail or "operations[1]").startswith(("operations[1]", "section"))
    assert not report.with_name("out-report.docx").exists()


def test_too_many_paragraphs_are_refused(report):
    with pytest.raises(FormatError) as caught:
        edit(report, {"op": "set_paragraphs", "paragraphs": ["x"] * 5001})

    assert caught.value.reason == "too_large"


@pytest.mark.rule("F2.5", "F16.4")
@pytest.mark.parametrize(
    ("op", "reason", "place"),
    [
        ({"op": "append_table", "rows": [["x"], ["x"] * 64]}, "bad_value", "rows[1]"),
        ({"op": "append_table", "rows": [["x", LONG]]}, "too_large", "rows[0][1]"),
        ({"op": "add_table_rows", "table": 0, "rows": [[LONG]]}, "too_large", "rows[0][0]"),
        ({"op": "replace_text", "search": "a", "replace": LONG}, "too_large", "replace"),
    ],
    ids=["columns", "a cell of a table", "a cell of a row", "a replacement"],
)  # fmt: skip
def test_tables_and_texts_beyond_their_limits_are_refused(report, op, reason, place):
    with pytest.raises(FormatError) as caught:
        edit(report, op)

    assert (caught.value.reason, (caught.value.detail or "").split(":")[0]) == (
        reason,
        f"operations[0].{place}",
    )
    assert not report.with_name("out-report.docx").exists()


def test_a_table_as_wide_as_word_allows_is_made(report):
    _, out = edit(report, {"op": "append_table", "rows": [["x"] * 63]})

    assert map_of(out)["tables"][-1]["cols"] == 63


# --- the file ------------------------------------------------------------------------------------


@pytest.mark.rule("F16.2", "F16.3")
def test_a_missing_file_is_created_from_the_blank_document(tmp_path):
    applied, out = edit(
        tmp_path / "new.docx",
        {"op": "append_paragraph", "text": "Title", "style": "Title"},
        {"op": "append_paragraph", "text": "dot", "style": "List Bullet"},
        {"op": "append_table", "rows": [["a"]]},
    )

    written = word(out)
    assert applied.created is True
    assert [p.text for p in written.paragraphs] == ["Title", "dot", ""]
    assert round(written.sections[0].page_width.mm) == 210
    assert {"Heading 6", "List Number", "Table Grid"} <= {s.name for s in written.styles}
    assert lines(out)[1] == "- dot"
    clean(applied)


@pytest.mark.rule("F16.2", "F16.15", "F32.85")
def test_the_base_follows_the_request(report, tmp_path):
    op = {"op": "append_paragraph", "text": "x"}

    with pytest.raises(FormatError) as caught:
        edit(tmp_path / "none.docx", op, create_new=False)
    assert caught.value.reason == "not_found"

    applied, out = edit(report, op, create_new=True)
    assert warnings(applied) == {"replaced_existing": 1}
    assert texts(out) == ["x"]

    applied, out = edit(tmp_path / "copy.docx", op, copy_from=source(report))
    assert texts(out)[-2:] == ["last", "x"]
    assert applied.created is True


@pytest.mark.rule("F23.1", "F23.2", "F23.3", "F1.3")
def test_only_the_main_part_changes_and_twice_the_same(report):
    applied, out = edit(report, {"op": "append_paragraph", "text": "new"})
    first = out.read_bytes()
    edit(report, {"op": "append_paragraph", "text": "new"})

    before, after = raw_members(report), raw_members(out)
    assert {name for name in before if before[name] != after[name]} == {"word/document.xml"}
    assert list(before) == list(after)
    assert applied.changed_parts == ("word/document.xml",)
    assert out.read_bytes() == first


@pytest.mark.rule("F19.7")
def test_edits_in_a_tracked_document_are_plain_and_said(tmp_path):
    body = '<w:p><w:ins w:id="1" w:author="a"><w:r><w:t>kept</w:t></w:r></w:ins></w:p>'
    path = with_body(tmp_path / "a.docx", body)

    applied, out = edit(path, {"op": "append_paragraph", "text": "x"})

    assert warnings(applied) == {"tracked_changes_present": 1}
    assert b'<w:ins w:id="1" w:author="a">' in members(out)["word/document.xml"]


@pytest.mark.rule("F23.9", "F32.56", "F32.57", "F32.58")
@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("word/vbaProject.bin", "macro_enabled_read_only"),
        ("_xmlsignatures/sig1.xml", "signed_document"),
    ],
)
def test_macros_and_signatures_forbid_writing(report, part, reason):
    with zipfile.ZipFile(report, "a") as archive:
        archive.writestr(part, "<x/>")

    with pytest.raises(FormatError) as caught:
        edit(report, {"op": "append_paragraph", "text": "x"})

    assert caught.value.reason == reason
    assert docx_format.read(source(report), Selector()).text.startswith("# Summary")


@pytest.mark.rule("F16.13", "F16.14")
def test_a_change_outside_the_target_is_reported_as_collateral(report, monkeypatch):
    real = docx_edit.apply

    def careless(editor, change):
        blocks = editor.body.blocks
        blocks[1].element.remove(blocks[1].element[-1])
        cell = next(blocks[4].element.iter("{*}tc"))
        cell.remove(cell[-1])
        return real(editor, change)

    monkeypatch.setattr("backshop.formats.docx.edit.operation.apply", careless)

    applied, _ = edit(report, {"op": "append_paragraph", "text": "x"})

    assert [e.where for e in applied.effects.collateral] == [
        "paragraph 1",
        "paragraph 4 row 0 column 0",
    ]
    assert applied.effects.targets == ("paragraph 9",)


@pytest.mark.rule("F16.13", "F16.14")
def test_a_planted_change_of_styles_or_another_part_is_collateral(report, monkeypatch):
    real = docx_edit.apply

    def careless(editor, change):
        trees = editor.document.trees
        root = trees.touch("word/styles.xml")
        root.remove(root[-1])
        trees.package.put("docProps/app.xml", b"<Properties/>")
        return real(editor, change)

    monkeypatch.setattr("backshop.formats.docx.edit.operation.apply", careless)

    applied, _ = edit(report, {"op": "append_paragraph", "text": "x"})

    assert {e.where for e in applied.effects.collateral} == {"word/styles.xml", "docProps/app.xml"}


@pytest.mark.rule("F16.4")
@given(operations=st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["op", "text", "runs", "paragraphs", "anchor", "rows", "table", "cells",
                         "search", "replace", "from", "to", "section", "style", "list"]),
        inner | st.sampled_from(["append_paragraph", "set_table_cells", "replace_text",
                                 "insert_paragraphs", "append_table", "set_paragraphs"]),
        max_size=5,
    ),
    max_leaves=12,
))  # fmt: skip
def test_any_json_as_operations_is_applied_or_refused_cleanly(tmp_path_factory, operations):
    folder = tmp_path_factory.mktemp("any")
    path = with_body(folder / "a.docx", paragraph("text"))
    ask = OpsRequest(name="a.docx", operations=operations)

    try:
        docx_format.apply_ops(source(path), ask, folder / "out.docx")
    except FormatError:
        assert not (folder / "out.docx").exists()
    else:
        word(folder / "out.docx")


RICH = (
    '<w:p><w:pPr><w:pPrChange w:id="90" w:author="a"><w:pPr/></w:pPrChange></w:pPr>'
    '<w:commentRangeStart w:id="1"/><w:ins w:id="2" w:author="a"><w:r><w:t>added</w:t></w:r>'
    "</w:ins>"
    '<w:del w:id="3" w:author="a"><w:r><w:delText>gone</w:delText></w:r></w:del>'
    '<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r></w:p>'
    '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    '<w:sdt><w:sdtPr><w:tag w:val="t"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>held</w:t></w:r>'
    "</w:p></w:sdtContent></w:sdt>"
    '<w:p><w:bookmarkStart w:id="5" w:name="b"/><w:r><w:t>marked</w:t></w:r>'
    '<w:bookmarkEnd w:id="5"/><w:proofErr w:type="spellStart"/><!-- kept --><?kept too?></w:p>'
)


@pytest.mark.rule("F23.3", "F23.4")
@pytest.mark.parametrize(
    "op",
    [
        {"op": "append_paragraph", "text": "TARGET"},
        {"op": "replace_text", "search": "aim", "replace": "TARGET"},
        {"op": "insert_paragraphs", "anchor": {"paragraph": 0}, "paragraphs": ["TARGET"]},
        {"op": "replace_section", "section": "Last", "paragraphs": ["TARGET"]},
        {"op": "delete_paragraphs", "from": 5, "to": 5},
    ],
    ids=lambda op: op["op"],
)
def test_marks_comments_fields_notes_and_controls_survive(tmp_path, op):
    body = paragraph("first") + RICH + paragraph("aim") + paragraph("Last", style="Heading1")
    path = with_body(tmp_path / "a.docx", body + paragraph("end"))

    applied, out = edit(path, op)

    def masked(file):
        root = etree.fromstring(members(file)["word/document.xml"])
        for element in list(root.iter("{*}p")):
            if "".join(map(str, element.itertext("{*}t"))) in ("TARGET", "aim", "end"):
                parent = element.getparent()
                assert parent is not None
                parent.remove(element)
        return etree.tostring(root, method="c14n", with_comments=True)

    assert masked(out) == masked(path)
    clean(applied)


@pytest.mark.rule("F16.8")
def test_a_table_gets_its_content_its_look_and_then_its_widths(tmp_path):
    blank = tmp_path / "a.docx"
    table = {"op": "append_table", "rows": [["a", "b"]], "style": "Table Grid"}

    _, out = edit(blank, {**table, "column_widths": [1, 2.5]}, create_new=True)

    made = word(out).tables[0]
    assert [cell.text for cell in made.rows[0].cells] == ["a", "b"]
    assert made.style.name == "Table Grid"
    assert [column.width.inches for column in made.columns] == [1, 2.5]
    look = next(made._tbl.tblPr.iterchildren(f"{{{W}}}tblLook"))
    named = {"firstRow": 0x20, "firstColumn": 0x80, "noHBand": 0x200, "noVBand": 0x400}
    bits = sum(bit for name, bit in named.items() if look.get(f"{{{W}}}{name}") == "1")
    assert int(look.get(f"{{{W}}}val"), 16) == bits
