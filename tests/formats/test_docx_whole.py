"""Documents: edits tear nothing that reaches across what they change, nor what is around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from backshop.formats import FormatError
from backshop.formats import docx as docx_format
from backshop.formats.docx.edit import paragraph_edit as docx_edit

from .office import edit, members, paragraph, run, source, warnings, with_body

NEW = "<w:p><w:r><w:t>new</w:t></w:r></w:p>"
BREAK = '<w:p><w:pPr><w:sectPr><w:pgSz w:w="{}" w:h="9000"/></w:sectPr></w:pPr>' + run("break")


def char(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def tag(name: str, inner: str) -> str:
    return f"<w:{name}>{inner}</w:{name}>" if inner else f"<w:{name}/>"


def control(inner: str, look: str = "") -> str:
    return f"<w:sdt>{tag('sdtPr', look)}{tag('sdtContent', inner)}</w:sdt>"


def cell(inner: str, look: str = "") -> str:
    return f"<w:tc>{tag('tcPr', look)}{inner}</w:tc>"


def table(*rows: str) -> str:
    grid = "<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
    return f"<w:tbl><w:tblPr/>{grid}{''.join(rows)}</w:tbl>"


def row(*cells: str, look: str = "") -> str:
    return f"<w:tr>{look}{''.join(cells)}</w:tr>"


def body_of(path: Path) -> str:
    """Return the content of the body, without the namespaces of its elements."""
    body = etree.fromstring(members(path)["word/document.xml"])[0]
    inner = b"".join(map(etree.tostring, body)).decode()
    head = inner.partition(">")[0]
    for word in head.split():
        if word.startswith("xmlns:"):
            inner = inner.replace(" " + word.removesuffix("/"), "")
    return inner


def changed(path: Path, *operations: dict[str, Any]) -> str:
    """Apply operations that touch nothing but their targets; return the new body."""
    applied, out = edit(path, *operations)
    assert applied.effects.collateral == ()
    return body_of(out)


def refusal(path: Path, operation: dict[str, Any]) -> str:
    with pytest.raises(FormatError) as caught:
        edit(path, operation)
    return caught.value.reason


def set_cell(row: int, column: int, text: str) -> dict[str, Any]:
    place = {"row": row, "column": column, "text": text}
    return {"op": "set_table_cells", "table": 0, "cells": [place]}


def delete_row(number: int) -> dict[str, Any]:
    return {"op": "delete_table_rows", "table": 0, "from": number, "to": number}


# --- content controls and sections around blocks -------------------------------------------------


@pytest.mark.rule("F19.9")
def test_a_replaced_section_is_not_written_into_the_control_around_its_heading(tmp_path):
    heading = control(paragraph("Title", style="Heading1"))
    path = with_body(tmp_path / "a.docx", heading + paragraph("old"))

    body = changed(path, {"op": "replace_section", "section": "Title", "paragraphs": ["new"]})

    assert body == heading + NEW


@pytest.mark.rule("F19.9")
def test_text_before_the_first_heading_is_replaced_outside_its_control(tmp_path):
    rest = paragraph("Head", style="Heading1")
    path = with_body(tmp_path / "a.docx", control(paragraph("old")) + rest)

    body = changed(path, {"op": "replace_section", "section": "0", "paragraphs": ["new"]})

    assert body == NEW + rest


@pytest.mark.rule("F19.3", "F19.10")
def test_section_breaks_in_content_controls_stay_when_the_body_is_set(tmp_path):
    held = control(paragraph("cover") + BREAK.format(2) + "</w:p>" + BREAK.format(3) + "</w:p>")
    path = with_body(
        tmp_path / "a.docx", BREAK.format(1) + "</w:p>" + held + paragraph("end") + "<w:sectPr/>"
    )

    body = changed(path, {"op": "set_paragraphs", "paragraphs": ["new"]})

    kept = "".join(BREAK.format(n).removesuffix(run("break")) + "</w:p>" for n in (1, 2, 3))
    assert body == f"{NEW}{kept}<w:p/><w:sectPr/>"


@pytest.mark.rule("F19.10")
def test_the_end_of_a_range_leaves_the_control_that_goes(tmp_path):
    mark = '<w:bookmarkStart w:id="7" w:name="b"/>'
    ends = f'<w:p>{run("two")}<w:bookmarkEnd w:id="7"/></w:p>'
    path = with_body(tmp_path / "a.docx", control(f"<w:p>{mark}{run('one')}</w:p>") + ends)

    body = changed(path, {"op": "delete_paragraphs", "from": 0, "to": 0})

    assert body == mark + ends


@pytest.mark.rule("F19.10")
def test_ranges_with_equal_numbers_are_not_taken_for_one(tmp_path):
    start, end = '<w:bookmarkStart w:id="0" w:name="{}"/>', '<w:bookmarkEnd w:id="0"/>'
    both = f"<w:p>{start.format('a')}{start.format('b')}</w:p>"
    path = with_body(tmp_path / "a.docx", both + f"<w:p>{end}{end}</w:p>" + paragraph("rest"))

    body = changed(path, {"op": "delete_paragraphs", "from": 0, "to": 0})

    assert (body.count("bookmarkStart"), body.count("bookmarkEnd")) == (2, 2)


@pytest.mark.rule("F19.9")
def test_a_list_item_by_its_style_lends_no_format_to_running_text(tmp_path):
    heading = paragraph("Head", style="Heading1")
    path = with_body(tmp_path / "a.docx", heading + paragraph("item", style="ListBullet"))

    body = changed(path, {"op": "replace_section", "section": "Head", "paragraphs": ["text"]})

    assert body == heading + "<w:p><w:r><w:t>text</w:t></w:r></w:p>"


# --- tables --------------------------------------------------------------------------------------

STARTS = '<w:commentRangeStart w:id="3"/><w:bookmarkStart w:id="1" w:name="k"/>'
ENDS = '<w:bookmarkEnd w:id="1"/><w:commentRangeEnd w:id="3"/>'


@pytest.fixture
def ranged(tmp_path):
    return with_body(
        tmp_path / "ranged.docx",
        table(
            row(cell(paragraph("top"))),
            row(cell(f"<w:p><w:pPr/>{STARTS}{run('a')}</w:p>")),
            row(cell(f"<w:p>{run('b')}{ENDS}</w:p>")),
        )
        + paragraph("end"),
    )


@pytest.mark.rule("F19.10")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_both_ends_of_a_range_stay_when_the_row_of_one_goes(ranged, number):
    body = changed(ranged, delete_row(number))

    ends = [body.index(mark) for mark in (*STARTS.split("><"), *ENDS.split("><"))]
    assert max(ends[:2]) < min(ends[2:])
    assert all(body.count(f'Start w:id="{n}"') == 1 for n in (1, 3))


@pytest.mark.rule("F19.10")
@pytest.mark.parametrize("number", [1, 2])
def test_both_ends_of_a_range_stay_when_the_cell_of_one_is_set(ranged, number):
    body = changed(ranged, set_cell(number, 0, "new"))

    held = f"{STARTS}<w:r><w:t>new</w:t></w:r>" if number == 1 else "<w:r><w:t>new</w:t></w:r>"
    assert held + (ENDS if number == 2 else "</w:p>") in body


@pytest.mark.rule("F19.10")
@pytest.mark.parametrize("operation", [set_cell(0, 0, "new"), set_cell(1, 0, ""), delete_row(1)])
def test_half_a_field_is_not_taken_out_of_a_table(tmp_path, operation):
    path = with_body(
        tmp_path / "a.docx",
        table(
            row(cell(f"<w:p>{char('begin')}{char('separate')}{run('a')}</w:p>")),
            row(cell(f"<w:p>{run('b')}{char('end')}</w:p>")),
        ),
    )

    assert refusal(path, operation) == "op_conflict"


@pytest.mark.rule("F19.11")
@pytest.mark.parametrize(
    ("look", "left"),
    [
        ("<w:text/>", "<w:text/>"),
        ("<w:showingPlcHdr/><w:text/>", "<w:text/>"),
        ('<w:date w:fullDate="2024-05-01T00:00:00Z"/>', "<w:date/>"),
    ],
)
def test_a_form_field_that_fills_a_cell_is_filled_in(tmp_path, look, left):
    hint = f'<w:r><w:rPr><w:rStyle w:val="PlaceholderText"/></w:rPr>{run("old")[5:]}'
    inner = hint if "Plc" in look else run("old")
    around = '<w:bookmarkStart w:id="1" w:name="k"/>{}<w:bookmarkEnd w:id="1"/>'
    path = with_body(
        tmp_path / "a.docx", table(row(cell(f"<w:p>{around.format(control(inner, look))}</w:p>")))
    )

    body = changed(path, set_cell(0, 0, "new"))

    filled = control("<w:r><w:t>new</w:t></w:r>", left)
    assert body == table(row(cell(f"<w:p>{around.format(filled)}</w:p>")))


@pytest.mark.rule("F19.11")
@pytest.mark.parametrize(
    "inner",
    [
        f"<w:p>{run('Name: ')}{control(run('old'))}</w:p>",
        f"<w:p>{control(run('one'))}{control(run('two'))}</w:p>",
        f"<w:p>{control('')}{control('')}</w:p>",
        f"<w:p>{control(run('x'), '<w:picture/>')}</w:p>",
        f"<w:p>{run('old')}</w:p>{control(paragraph('second'))}",
    ],
)
def test_controls_that_are_only_part_of_a_cell_go_with_its_text(tmp_path, inner):
    path = with_body(tmp_path / "a.docx", table(row(cell(inner))))

    body = changed(path, set_cell(0, 0, "new"))

    assert body == table(row(cell(NEW)))


@pytest.mark.rule("F19.10", "F19.11")
def test_the_control_around_a_row_goes_with_it_and_leaves_the_ends_of_ranges(tmp_path):
    mark = '<w:bookmarkStart w:id="1" w:name="k"/>'
    last = row(cell(f'<w:p>{run("c")}<w:bookmarkEnd w:id="1"/></w:p>'))
    held = control(mark + row(cell(paragraph("b"))))
    path = with_body(tmp_path / "a.docx", table(row(cell(paragraph("a"))), held, last))

    body = changed(path, delete_row(1))

    assert body == table(row(cell(paragraph("a"))), mark, last)


@pytest.mark.rule("F19.11")
def test_a_new_row_stands_beside_the_control_around_the_row_it_copies(tmp_path):
    held = control(row(cell(paragraph("a"))))
    path = with_body(tmp_path / "a.docx", table(held))

    body = changed(path, {"op": "add_table_rows", "table": 0, "rows": [["b"]]})

    assert body == table(held, row(cell("<w:p><w:r><w:t>b</w:t></w:r></w:p>")))


@pytest.mark.rule("F19.11")
def test_a_row_added_inside_a_merge_continues_it(tmp_path):
    path = with_body(
        tmp_path / "a.docx",
        table(
            row(cell(paragraph("tall"), '<w:vMerge w:val="restart"/>'), cell(paragraph("1"))),
            row(cell("<w:p/>", "<w:vMerge/>"), cell(paragraph("2"))),
        ),
    )
    inside = {"op": "add_table_rows", "table": 0, "rows": [["lost", "new"]], "at": 1}
    after = {"op": "add_table_rows", "table": 0, "rows": [["own", "new"]]}

    applied, out = edit(path, inside, after)

    assert docx_format.extract_lines(source(out)) == [
        "[table 0: 4x2]",
        "| tall | 1 |",
        "|  | new |",
        "|  | 2 |",
        "| own | new |",
    ]
    assert body_of(out).count("vMerge") == 3
    assert warnings(applied) == {"merged_skipped": 1}
    assert applied.effects.collateral == ()


@pytest.mark.rule("F19.7")
def test_a_new_row_copies_no_marks_of_tracked_changes_but_the_exceptions_of_the_row(tmp_path):
    by = 'w:id="1" w:author="a"'
    exception = '<w:tblPrEx><w:jc w:val="right"/>{}</w:tblPrEx>'
    marks = f"<w:ins {by}/><w:rPrChange {by}><w:rPr/></w:rPrChange>"
    form = '<w:jc w:val="center"/><w:rPr><w:b/>{}</w:rPr>'
    content = f"<w:p>{tag('pPr', form.format(marks))}{run('a')}</w:p>"
    old = row(
        cell(content, f'<w:noWrap/><w:cellMerge {by} w:vMerge="cont"/>'),
        control(cell(paragraph("second"))),
        look=exception.format(f"<w:tblPrExChange {by}><w:tblPrEx/></w:tblPrExChange>"),
    )
    path = with_body(tmp_path / "a.docx", table(old))

    body = changed(path, {"op": "add_table_rows", "table": 0, "rows": [["b", "c"]]})

    plain = f"<w:p>{tag('pPr', form.format(''))}<w:r><w:t>b</w:t></w:r></w:p>"
    new = row(
        cell(plain, "<w:noWrap/>"),
        cell("<w:p><w:r><w:t>c</w:t></w:r></w:p>"),
        look=exception.format(""),
    )
    assert body == table(old, new)


@pytest.mark.rule("F23.7")
def test_a_cell_that_says_the_text_already_is_left_alone(tmp_path):
    path = with_body(tmp_path / "a.docx", table(row(cell(paragraph("a") + paragraph("b")))))

    applied, _ = edit(path, set_cell(0, 0, "a\nb"))

    assert applied.changed_parts == ()


@pytest.mark.rule("F19.11")
def test_the_text_of_a_deleted_row_is_no_longer_found(tmp_path):
    rows = table(row(cell(paragraph("a"))), row(cell(paragraph("Total"))))
    path = with_body(tmp_path / "a.docx", rows + paragraph("Total"))
    insert = {"op": "insert_paragraphs", "anchor": {"text": "Total"}, "paragraphs": ["new"]}

    body = changed(path, delete_row(1), insert)

    assert body.endswith(paragraph("Total") + NEW)


# --- the report ----------------------------------------------------------------------------------


@pytest.mark.rule("F16.14", "F19.10")
def test_what_an_operation_tears_is_collateral_even_inside_its_target(tmp_path, monkeypatch):
    path = with_body(
        tmp_path / "a.docx",
        f'<w:p><w:bookmarkStart w:id="7" w:name="b"/>{char("begin")}{run("aim")}</w:p>'
        f'<w:p>{char("end")}<w:bookmarkEnd w:id="7"/></w:p>'
        + BREAK.format(1)
        + "</w:p>"
        + control(paragraph("held")),
    )
    real = docx_edit.apply

    def careless(editor, change):
        first, _, breaks, held = (block.element for block in editor.body.blocks)
        for child in list(first):
            first.remove(child)
        for element in (breaks, held):
            element.getparent().remove(element)
            editor.gone[element] = None
        editor.aimed[first] = None
        editor.frame_aimed = True
        return real(editor, change)

    monkeypatch.setattr("backshop.formats.docx.edit.operation.apply", careless)

    applied, _ = edit(path, {"op": "append_paragraph", "text": "x"})

    assert {effect.where for effect in applied.effects.collateral} == {
        "word/document.xml bookmarkEnd 7",
        "word/document.xml field",
        "word/document.xml content control",
        "word/document.xml section break",
    }


# --- what stands between and around the blocks ---------------------------------------------------


def choices(*choice: str, other: str) -> str:
    inner = "".join(f'<mc:Choice Requires="w">{one}</mc:Choice>' for one in choice)
    fallback = f"<mc:Fallback>{other}</mc:Fallback>"
    return f"<mc:AlternateContent>{inner}{fallback}</mc:AlternateContent>"


def insert(text: str, at: str) -> dict[str, Any]:
    anchor = {"text": text, "at": at}
    return {"op": "insert_paragraphs", "anchor": anchor, "paragraphs": ["new"]}


@pytest.mark.rule("F19.10")
@pytest.mark.parametrize("around", ["{}", control("{}")])
@pytest.mark.parametrize("at", ["before", "after"])
@pytest.mark.parametrize("text", ["one", "two"])
def test_a_new_block_stands_outside_a_place_that_has_several_forms(tmp_path, around, at, text):
    held = choices(paragraph("one"), paragraph("two"), other=paragraph("old"))
    held = around.format(held)
    path = with_body(tmp_path / "a.docx", paragraph("top") + held + paragraph("end"))

    body = changed(path, insert(text, at))

    new = NEW + held if at == "before" else held + NEW
    assert body == paragraph("top") + new + paragraph("end")


@pytest.mark.rule("F19.10")
def test_a_new_block_between_two_of_one_form_stays_between_them(tmp_path):
    one, two = paragraph("one"), paragraph("two")
    path = with_body(tmp_path / "a.docx", choices(one + two, other=paragraph("old")))

    body = changed(path, insert("one", "after"))

    assert body == choices(one + NEW + two, other=paragraph("old"))


@pytest.mark.rule("F19.11")
def test_a_new_row_stands_outside_a_place_that_has_several_forms(tmp_path):
    held = choices(row(cell(paragraph("a"))), other=row(cell(paragraph("old"))))
    path = with_body(tmp_path / "a.docx", table(held))

    body = changed(path, {"op": "add_table_rows", "table": 0, "rows": [["b"]]})

    assert body == table(held, row(cell("<w:p><w:r><w:t>b</w:t></w:r></w:p>")))


OLD_TABLE = table(row(cell(paragraph("a"))))
BOOKMARK = '<w:bookmarkStart w:id="1" w:name="k"/>', '<w:bookmarkEnd w:id="1"/>'


def outline(body: str) -> list[str]:
    """Return the names of what stands directly in a body."""
    root = etree.fromstring(f'<a xmlns:w="w" xmlns:mc="mc">{body}</a>')
    return [etree.QName(child).localname for child in root.iterchildren("*")]


@pytest.mark.rule("F19.11")
@pytest.mark.parametrize(
    ("last", "shown"),
    [
        (OLD_TABLE + BOOKMARK[1], ["tbl", "bookmarkEnd", "p"]),
        (OLD_TABLE + BOOKMARK[1] + "<!-- x -->", ["tbl", "bookmarkEnd", "p"]),
        (control(OLD_TABLE) + BOOKMARK[1], ["sdt", "bookmarkEnd", "p"]),
        (control(OLD_TABLE + paragraph("b")) + BOOKMARK[1], ["sdt", "bookmarkEnd"]),
        (
            choices(OLD_TABLE, other=paragraph("b")) + BOOKMARK[1],
            ["AlternateContent", "bookmarkEnd", "p"],
        ),
        (OLD_TABLE + paragraph("b") + BOOKMARK[1], ["tbl", "p", "bookmarkEnd"]),
    ],
)
def test_marks_between_tables_do_not_let_them_touch(tmp_path, last, shown):
    path = with_body(tmp_path / "a.docx", BOOKMARK[0] + last + "<w:sectPr/>")

    body = changed(path, {"op": "append_table", "rows": [["new"]]})

    assert outline(body) == ["bookmarkStart", *shown, "tbl", "p", "sectPr"]


@pytest.mark.rule("F19.11")
@pytest.mark.parametrize(
    ("rest", "shown"),
    [
        ("", ["p", "bookmarkEnd"]),
        (OLD_TABLE, ["p", "bookmarkEnd", "tbl"]),
        (control(OLD_TABLE), ["p", "bookmarkEnd", "sdt"]),
        (paragraph("b"), ["bookmarkEnd", "p"]),
    ],
)
def test_a_mark_behind_a_new_table_does_not_let_it_end_the_text(tmp_path, rest, shown):
    text = BOOKMARK[0] + paragraph("text") + BOOKMARK[1]
    path = with_body(tmp_path / "a.docx", text + rest + "<w:sectPr/>")
    anchor = {"text": "text", "at": "after"}

    body = changed(path, {"op": "append_table", "rows": [["new"]], "anchor": anchor})

    assert outline(body) == ["bookmarkStart", "p", "tbl", *shown, "sectPr"]


@pytest.mark.rule("F19.3")
@pytest.mark.parametrize("note", ["<!-- x -->", "<?x y?>"])
def test_nothing_is_written_behind_the_last_section(tmp_path, note):
    path = with_body(tmp_path / "a.docx", paragraph("text") + f"<w:sectPr/>{note}")

    body = changed(
        path, {"op": "append_paragraph", "text": "new"}, {"op": "append_table", "rows": [["x"]]}
    )

    assert outline(body) == ["p", "p", "tbl", "p", "sectPr"]


@pytest.mark.rule("F19.11")
@pytest.mark.parametrize("note", ["<!-- x -->", "<?x y?>"])
def test_a_note_of_a_program_in_a_form_field_does_not_keep_it_from_being_filled_in(tmp_path, note):
    field = "<w:p>" + control("{}", note + "<w:text/>") + "</w:p>"
    path = with_body(tmp_path / "a.docx", table(row(cell(field.format(run("old"))))))

    body = changed(path, set_cell(0, 0, "new"))

    assert body == table(row(cell(field.format("<w:r><w:t>new</w:t></w:r>"))))


@pytest.mark.rule("F19.1")
@pytest.mark.parametrize("note", ["<!-- x -->", "<?x y?>"])
def test_a_look_is_written_in_the_order_of_the_schema_whatever_programs_noted_there(tmp_path, note):
    look = f'<w:pPr>{note}<w:spacing w:after="2"/></w:pPr>'
    path = with_body(tmp_path / "a.docx", f"<w:p>{look}{run('old')}</w:p>")
    operation = insert("old", "after") | {"paragraphs": [{"text": "new", "indent_left": 1}]}

    body = changed(path, operation)

    ordered = f'<w:pPr>{note}<w:spacing w:after="2"/><w:ind w:left="1440"/></w:pPr>'
    assert body.endswith(f"<w:p>{ordered}<w:r><w:t>new</w:t></w:r></w:p>")


@pytest.mark.rule("F19.4")
@pytest.mark.parametrize("note", ["", "<!-- x -->", "<?x y?>"])
def test_a_link_without_a_word_goes_with_the_notes_of_programs_in_it(tmp_path, note):
    link = f"<w:hyperlink>{note}<w:r>{note}<w:t>gone</w:t></w:r></w:hyperlink>"
    path = with_body(tmp_path / "a.docx", f"<w:p>{link}{run('stays')}</w:p>")

    body = changed(path, {"op": "replace_text", "search": "gone", "replace": ""})

    assert body == paragraph("stays")
