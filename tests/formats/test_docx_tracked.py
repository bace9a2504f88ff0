"""Tracked changes and comments are seen by people and agents: what, who, when, where (F9.11)."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.formats import Selector
from backshop.formats import docx as docx_format
from backshop.formats.diff.prose import diff_documents

from .office import edit, map_of, paragraph, source, with_body

ANN = 'w:id="1" w:author="Ann" w:date="2026-01-02T03:04:05Z"'
BOB = 'w:id="2" w:author="Bob" w:date="2026-02-03T04:05:06Z"'
INSERTED = f"<w:ins {ANN}><w:r><w:t>new </w:t></w:r></w:ins>"
DELETED = f"<w:del {BOB}><w:r><w:delText>old </w:delText></w:r></w:del>"
BOLD = f"<w:r><w:rPr><w:b/><w:rPrChange {ANN}><w:rPr/></w:rPrChange></w:rPr><w:t>bold</w:t></w:r>"
CENTRED = f'<w:pPr><w:jc w:val="center"/><w:pPrChange {BOB}><w:pPr/></w:pPrChange></w:pPr>'
FOUR = (
    paragraph("Title", style="Heading1")
    + f"<w:p>{INSERTED}{DELETED}<w:r><w:t>words</w:t></w:r></w:p>"
    + f"<w:p>{CENTRED}{BOLD}</w:p>"
)


def changes(path, **selector):
    read = docx_format.read(source(path), Selector(**selector))
    shown: Any = read.to_json("a.docx")
    found = shown.get("tracked_changes") or []
    return [(c["kind"], c["author"], c["date"], c["text"], c["body_index"]) for c in found]


WHEN = {"Ann": "2026-01-02T03:04:05Z", "Bob": "2026-02-03T04:05:06Z"}
TOLD = [
    ("inserted", "Ann", WHEN["Ann"], "new ", 1),
    ("deleted", "Bob", WHEN["Bob"], "old ", 1),
    ("paragraph_format", "Bob", WHEN["Bob"], "bold", 2),
    ("format", "Ann", WHEN["Ann"], "bold", 2),
]


@pytest.mark.rule("F9.11", "F9.7")
def test_a_read_lists_its_tracked_changes_with_author_time_and_place(tmp_path):
    path = with_body(tmp_path / "a.docx", FOUR)

    read = docx_format.read(source(path), Selector())

    assert read.text == "# Title\nnew words\nbold"  # the text itself is as the document reads
    assert changes(path) == TOLD
    assert [(w.code, w.count) for w in read.warnings] == [("tracked_changes_present", 4)]
    assert changes(path, paragraphs="1-1") == TOLD[:2]
    assert changes(path, paragraphs="0-0") == []


@pytest.mark.rule("F19.7")
def test_a_write_counts_the_tracked_changes_as_the_map_does(tmp_path):
    path = with_body(tmp_path / "a.docx", FOUR)

    applied, _ = edit(path, {"op": "append_paragraph", "text": "x"})

    assert [(w.code, w.count) for w in applied.warnings] == [("tracked_changes_present", 4)]


@pytest.mark.rule("F9.11", "F9.3")
def test_a_map_counts_tracked_changes_and_gives_each_its_place(tmp_path):
    found = map_of(with_body(tmp_path / "a.docx", FOUR))

    assert found["tracked_change_count"] == 4
    assert [one["body_index"] for one in found["tracked_changes"]] == [1, 1, 2, 2]
    assert found["warnings"] == [{"code": "tracked_changes_present", "count": 4, "where": None}]
    plain = map_of(with_body(tmp_path / "b.docx", paragraph("words")))
    assert "tracked_changes" not in plain


@pytest.mark.rule("F9.11")
def test_all_tracked_changes_can_be_read_by_themselves(tmp_path):
    path = with_body(tmp_path / "a.docx", FOUR)

    text = docx_format.read(source(path), Selector(section="@changes")).text

    assert text.split("\n")[:4] == [
        "[tracked change 0: inserted by Ann, 2026-01-02T03:04:05Z, at paragraph 1]",
        "new ",
        "[tracked change 1: deleted by Bob, 2026-02-03T04:05:06Z, at paragraph 1]",
        "old ",
    ]


@pytest.mark.rule("F9.11")
@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        (f"<w:p>{INSERTED}{INSERTED}</w:p>", [("inserted", "new new ")]),
        (
            f'<w:p>{INSERTED}<w:bookmarkStart w:id="3" w:name="b"/>{INSERTED}</w:p>',
            [("inserted", "new new ")],
        ),
        (
            f"<w:p>{INSERTED}<w:r><w:t>x</w:t></w:r>{INSERTED}</w:p>",
            [("inserted", "new "), ("inserted", "new ")],
        ),
        (
            f"<w:p><w:moveFrom {ANN}><w:r><w:t>m</w:t></w:r></w:moveFrom></w:p>"
            f"<w:p><w:moveTo {ANN}><w:r><w:t>m</w:t></w:r></w:moveTo></w:p>",
            [("moved_from", "m"), ("moved_to", "m")],
        ),
        (
            f"<w:p><w:pPr><w:rPr><w:ins {ANN}/></w:rPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
            [("break_inserted", "")],
        ),
        (
            f"<w:p><w:pPr><w:rPr><w:rPrChange {ANN}><w:rPr/></w:rPrChange></w:rPr></w:pPr>"
            f"{BOLD}{BOLD}</w:p>",
            [("format", "boldbold")],
        ),
        (
            f"<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:trPr><w:ins {ANN}/></w:trPr><w:tc>"
            f"<w:tcPr><w:cellDel {BOB}/></w:tcPr><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr>"
            f"</w:tbl>{paragraph('end')}",
            [("row_inserted", "c"), ("cell_deleted", "c")],
        ),
    ],
)
def test_a_tracked_change_counts_once_however_its_runs_are_cut(tmp_path, body, kinds):
    path = with_body(tmp_path / "a.docx", body)

    assert [(kind, text) for kind, _, _, text, _ in changes(path)] == kinds


@pytest.mark.rule("B12.5", "F9.11")
def test_a_review_shows_the_tracked_changes_that_stand_in_a_paragraph_and_new_ones(tmp_path):
    before = with_body(tmp_path / "a.docx", f"<w:p>{DELETED}<w:r><w:t>words</w:t></w:r></w:p>")
    after = with_body(
        tmp_path / "b.docx", f"<w:p>{DELETED}{INSERTED}<w:r><w:t>words</w:t></w:r></w:p>"
    )
    old, new = (docx_format.extract_document(source(path)) for path in (before, after))

    (block,) = diff_documents(old, new)[0]["blocks"]

    gone = "deleted “old ” by Bob, 2026-02-03T04:05:06Z"
    come = "inserted “new ” by Ann, 2026-01-02T03:04:05Z"
    assert block["kind"] == "changed"
    assert block["formats"] == [f"new tracked change: {come}"]
    assert [one["words"] for one in block["tracked"]] == [gone, come]


COMMENT = (
    '<w:comments xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    f"<w:comment {ANN}><w:p><w:r><w:t>why?</w:t></w:r></w:p></w:comment></w:comments>"
)


@pytest.mark.rule("F9.12")
def test_comments_have_author_and_place_in_reads_maps_and_reviews(tmp_path):
    import zipfile

    from .office import members

    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments"
    plain = with_body(
        tmp_path / "plain.docx",
        paragraph("first") + '<w:p><w:r><w:t>x</w:t><w:commentReference w:id="1"/></w:r></w:p>',
    )
    path = tmp_path / "a.docx"
    line = f'<Relationship Id="rId99" Type="{rel}" Target="comments.xml"/></Relationships>'
    with zipfile.ZipFile(path, "w") as new:
        for name, data in members(plain).items():
            is_rels = name == "word/_rels/document.xml.rels"
            new.writestr(
                name, data.replace(b"</Relationships>", line.encode()) if is_rels else data
            )
        new.writestr("word/comments.xml", COMMENT)

    read: Any = docx_format.read(source(path), Selector()).to_json("a.docx")

    (comment,) = read["comments"]
    assert (comment["author"], comment["text"], comment["body_index"]) == ("Ann", "why?", 1)
    assert map_of(path)["comments"] == [comment]
    aside = docx_format.read(source(path), Selector(section="@comments")).text
    assert aside == "[comment 1 by Ann at paragraph 1]\nwhy?"
    document = docx_format.extract_document(source(path))
    blocks = diff_documents(document, document)[0]["blocks"]
    assert [one.get("comments") for one in blocks] == [None, [comment]]
