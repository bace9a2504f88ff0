"""What a review of documents tells beside words: links with their addresses, and every look."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.formats import docx as docx_format
from backshop.formats.diff.prose import diff_documents

from .office import W, edit, members, paragraph, reworked, source, with_body

EVIL = "https://evil.example/"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELS = "word/_rels/document.xml.rels"
TABLE = (
    "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid><w:tr>"
    "<w:tc><w:p><w:r><w:t>pay here</w:t></w:r></w:p></w:tc>"
    "<w:tc><w:p><w:r><w:t>beside</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
)


def compared(before, after) -> Any:
    old, new = (docx_format.extract_document(source(path)) for path in (before, after))
    return [block for section in diff_documents(old, new) for block in section["blocks"]]


def told(before, after) -> list[tuple[str, list[str]]]:
    """Return kind and words of every block that is not the same."""
    found = []
    for block in compared(before, after):
        cells = [cell for row in block.get("rows", ()) for cell in row["cells"]]
        words = [line for cell in cells for line in cell.get("formats", ())]
        if block["kind"] != "same":
            found.append((block["kind"], [*block["formats"], *words]))
    return found


def linked(path, *links: tuple[str, str], words: str = "pay here", head: str = ""):
    """Write a document with links to addresses under relationships of the given ids."""
    lines = "".join(
        f'<Relationship Id="{rel}" Type="{REL}/hyperlink" Target="{address}" '
        'TargetMode="External"/>'
        for rel, address in links
    )
    inside = "".join(
        f'<w:hyperlink r:id="{rel}"><w:r><w:t>{words}</w:t></w:r></w:hyperlink>' for rel, _ in links
    )
    made = with_body(path, f"{head}<w:p>{inside}</w:p>")
    return reworked(made, {RELS: ("</Relationships>", f"{lines}</Relationships>")})


@pytest.mark.rule("B12.5", "F29.2")
def test_a_link_put_under_the_words_of_a_cell_is_told_with_its_address(tmp_path):
    path = with_body(tmp_path / "a.docx", TABLE + paragraph("end"))
    run = {"text": "pay here", "hyperlink": EVIL, "bold": True}
    cells = [{"row": 0, "column": 0, "runs": [run]}]
    _, out = edit(path, {"op": "set_table_cells", "table": 0, "cells": cells})

    (table, end) = compared(path, out)

    assert (table["kind"], end["kind"]) == ("format", "same")
    assert table["rows"] == [
        {
            "kind": "format",
            "cells": [
                {
                    "kind": "format",
                    "text": "pay here",
                    "formats": [
                        f"link: none → {EVIL}: “pay here”",
                        "bold: default → on: “pay here”",
                    ],
                },
                {"kind": "same", "text": "beside"},
            ],
        }
    ]


@pytest.mark.rule("B12.5", "F29.2")
def test_every_field_of_a_paragraph_written_with_the_same_words_is_told(tmp_path):
    path = with_body(tmp_path / "a.docx", paragraph("pay here"))
    look = {
        "runs": [{"text": "pay here", "hyperlink": EVIL, "highlight_color": "bright_green"}],
        "indent_left": 1.5,
        "space_before": 12,
        "page_break_before": True,
        "list": "bullet",
    }
    _, out = edit(path, {"op": "set_paragraphs", "paragraphs": [look]})

    ((kind, formats),) = told(path, out)

    assert kind == "format"
    assert formats == [
        f"link: none → {EVIL}: “pay here”",
        "style: Normal → List Bullet",
        "list: default → bullet",
        "left indent: default → 1.5 in",
        "space before: default → 12.0 pt",
        "page break before: default → on",
        "highlight: default → bright_green: “pay here”",
    ]


@pytest.mark.rule("B12.5")
@pytest.mark.parametrize(
    "properties",
    [
        '<w:shd w:val="clear" w:fill="FF0000"/>',
        '<w:pBdr><w:top w:val="single"/></w:pBdr>',
        "<w:keepNext/>",
    ],
)
def test_a_look_that_has_no_name_is_a_change_of_format_too(tmp_path, properties):
    path = with_body(tmp_path / "a.docx", paragraph("words") + TABLE)
    shaded = f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>words</w:t></w:r></w:p>"
    cell = TABLE.replace(
        "<w:p><w:r><w:t>beside", f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>beside"
    )
    after = with_body(tmp_path / "b.docx", shaded + cell)
    framed = TABLE.replace("<w:tblPr/>", '<w:tblPr><w:tblStyle w:val="X"/></w:tblPr>')
    styled = with_body(tmp_path / "c.docx", paragraph("words") + framed)

    assert told(path, after) == [("format", ["other formatting"])] * 2
    assert told(path, styled) == [("format", ["look of the table"])]


@pytest.mark.rule("B12.5")
def test_links_are_told_where_the_words_are_new_too(tmp_path):
    path = with_body(tmp_path / "a.docx", paragraph("one two three four"))
    run = {"text": "five", "hyperlink": EVIL}
    changed = {"runs": [{"text": "one two three "}, run]}
    _, out = edit(path, {"op": "set_paragraphs", "paragraphs": [changed, {"runs": [run]}]})

    assert told(path, out) == [
        ("changed", [f"link: none → {EVIL}: “five”"]),
        ("added", [f"link: none → {EVIL}: “five”"]),
    ]
    assert told(out, path)[1] == ("removed", [f"link: {EVIL} → none: “five”"])


@pytest.mark.rule("B12.5", "F29.2")
def test_of_a_link_its_address_counts_and_not_the_id_it_is_kept_under(tmp_path):
    old = linked(tmp_path / "a.docx", ("rA", "https://a.example/"), ("rB", "https://b.example/"))
    renamed = linked(
        tmp_path / "b.docx", ("rX", "https://a.example/"), ("rY", "https://b.example/")
    )
    swapped = linked(
        tmp_path / "c.docx", ("rB", "https://b.example/"), ("rA", "https://a.example/")
    )
    led_away = linked(tmp_path / "d.docx", ("rA", "https://a.example/"), ("rB", EVIL))

    assert told(old, renamed) == []
    assert [kind for kind, _ in told(old, swapped)] == ["format"]
    assert told(old, led_away) == [("format", [f"link: https://b.example/ → {EVIL}: “pay here”"])]


def field(address: str) -> str:
    """Return a link as Word keeps it in a field."""
    char = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    return (
        f"<w:p>{char.format('begin')}<w:r><w:instrText> HYPERLINK &quot;{address}&quot; \\l "
        f"&quot;x&quot;</w:instrText></w:r>{char.format('separate')}"
        f"<w:r><w:t>here</w:t></w:r>{char.format('end')}<w:r><w:t> and on</w:t></w:r></w:p>"
    )


@pytest.mark.rule("B12.5", "F29.2")
def test_links_in_fields_and_of_pictures_are_links(tmp_path):
    def simple(address):
        return (
            f'<w:p><w:fldSimple w:instr="HYPERLINK {address}"><w:r><w:t>there</w:t></w:r>'
            "</w:fldSimple></w:p>"
        )

    def picture(rel):
        return (
            '<w:p><w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="logo">'
            f'<a:hlinkClick r:id="{rel}"/></wp:docPr></wp:inline></w:drawing></w:r></w:p>'
        )

    def made(name, address, rel):
        body = field(address) + simple(address) + picture(rel)
        return linked(tmp_path / name, ("rA", "https://a/"), ("rB", EVIL), head=body)

    old, new = made("a.docx", "https://a/", "rA"), made("b.docx", EVIL, "rB")

    assert [words for _, words in told(old, new)] == [
        [f"link: https://a/#x → {EVIL}#x: “here”"],
        [f"link: https://a/ → {EVIL}: “there”"],
        [f"link: https://a/ → {EVIL}: “logo”"],
    ]
    first: Any = docx_format.extract_document(source(new))["sections"]
    runs = first[0]["paragraphs"][0]["runs"]
    assert [(run["text"], run["link"]) for run in runs] == [
        ("here", f"{EVIL}#x"),
        (" and on", None),
    ]


@pytest.mark.rule("B12.5")
def test_links_in_footers_are_told_where_the_words_are_the_same(tmp_path):
    def made(name, target):
        body = paragraph("x") + (
            '<w:sectPr><w:footerReference w:type="default" r:id="rFoot"/></w:sectPr>'
        )
        line = f'<Relationship Id="rFoot" Type="{REL}/footer" Target="footer9.xml"/>'
        foot = (
            f'<w:ftr xmlns:w="{W}" xmlns:r="{REL}"><w:p><w:hyperlink r:id="r1"><w:r><w:t>site</w:t>'
            "</w:r></w:hyperlink></w:p></w:ftr>"
        )
        rels = (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{REL}/hyperlink" Target="{target}" '
            'TargetMode="External"/></Relationships>'
        )
        kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footer+xml"
        override = f'<Override PartName="/word/footer9.xml" ContentType="{kind}"/></Types>'
        return reworked(
            with_body(tmp_path / name, body),
            {
                RELS: ("</Relationships>", f"{line}</Relationships>"),
                "[Content_Types].xml": ("</Types>", override),
            },
            {"word/footer9.xml": foot, "word/_rels/footer9.xml.rels": rels},
        )

    old, new = made("a.docx", "https://a/"), made("b.docx", EVIL)

    assert told(old, new) == [("format", [f"link: https://a/ → {EVIL}: “site”"])]
    assert told(old, old) == []


@pytest.mark.rule("B12.5", "F29.2")
def test_what_programs_write_anew_at_every_save_is_no_change(tmp_path):
    rich = (
        '<w:p w:rsidR="00AA" w:rsidRDefault="00AA"><w:r w:rsidRPr="00AB"><w:rPr><w:b/>'
        '<w:lang w:val="de-DE"/></w:rPr><w:t>bold words</w:t></w:r>'
        "<w:r><w:t> and plain ones</w:t></w:r></w:p>"
    )
    saved = (
        '<w:p w:rsidR="00FF"><w:pPr/><w:bookmarkStart w:id="7" w:name="_GoBack"/>'
        '<w:r><w:rPr><w:b/><w:lang w:val="de-DE"/></w:rPr><w:t>bold </w:t></w:r>'
        '<w:proofErr w:type="spellStart"/>'
        '<w:r><w:rPr><w:b/><w:lang w:val="de-DE"/></w:rPr><w:t>words</w:t></w:r>'
        '<w:bookmarkEnd w:id="7"/><w:r><w:lastRenderedPageBreak/>'
        '<w:t xml:space="preserve"> and plain ones</w:t></w:r></w:p>'
    )
    before = with_body(tmp_path / "a.docx", rich + TABLE)
    after = with_body(tmp_path / "b.docx", saved + TABLE)

    assert told(before, after) == []


@pytest.mark.rule("B12.5", "F23.1")
def test_an_edit_elsewhere_leaves_all_other_blocks_the_same(tmp_path):
    path = linked(tmp_path / "a.docx", ("rA", "https://a.example/"), head=TABLE + paragraph("(b)x"))
    run = {"text": "new", "hyperlink": EVIL}
    _, out = edit(
        path,
        {"op": "append_paragraph", "runs": [run]},
        {"op": "append_paragraph", "text": "item", "list": "number"},
    )

    assert [kind for kind, _ in told(path, out)] == ["added", "added"]
    assert members(path)["word/document.xml"] != members(out)["word/document.xml"]
