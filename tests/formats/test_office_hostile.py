"""Documents and decks that lie, break off or bite: a clean error, or a careful result."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import Any

import pytest
from docx import Document as WordDocument
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from backshop.formats import FormatError, Selector
from backshop.formats import docx as docx_format
from backshop.formats import pptx as pptx_format
from backshop.formats.docx.edit.blank import blank_document
from backshop.formats.errors import REASONS
from backshop.formats.pptx.blank import blank_presentation

from .archives import archive
from .office import edit, map_of, members, paragraph, source, with_body


def rewritten(path, changes, out="changed"):
    """Copy a package with some members replaced, added or, by None, left out."""
    made = path.with_name(f"{out}-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = changes.get(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
        for name in changes.keys() - set(old.namelist()):
            new.writestr(name, changes[name])
    return made


@pytest.fixture
def document(tmp_path):
    return with_body(tmp_path / "a.docx", paragraph("one") + paragraph("two"))


@pytest.fixture
def deck(tmp_path):
    _, out = edit(
        tmp_path / "a.pptx", {"op": "add_slide", "title": "t"}, {"op": "add_slide", "title": "u"}
    )
    return out


LOOSE = re.compile(
    rb"http://schemas\.openxmlformats\.org/"
    rb"(wordprocessingml|presentationml|drawingml|officeDocument)/2006/"
)


def strict(path):
    """Return the file in the strict dialect of the standard."""
    changes: dict[str, Any] = {
        name: LOOSE.sub(rb"http://purl.oclc.org/ooxml/\1/", content)
        for name, content in members(path).items()
        if name.endswith((".xml", ".rels"))
    }
    return rewritten(path, changes, "strict")


@pytest.mark.rule("F23.3", "F23.11")
def test_documents_of_the_strict_dialect_are_read_and_stay_strict(tmp_path):
    made: Any = WordDocument()
    made.add_heading("Head", 1)
    made.add_paragraph("body text")
    made.save(str(tmp_path / "a.docx"))
    path = strict(tmp_path / "a.docx")

    applied, out = edit(path, {"op": "append_paragraph", "text": "new", "style": "Heading 2"})

    assert [s["heading"] for s in map_of(path)["sections"]] == ["Head"]
    assert docx_format.extract_lines(source(out)) == ["# Head", "body text", "## new"]
    xml = members(out)["word/document.xml"]
    assert b"schemas.openxmlformats.org/wordprocessingml" not in xml
    assert applied.changed_parts == ("word/document.xml",)
    assert applied.effects.collateral == ()


@pytest.mark.rule("F23.11", "F21.2")
def test_what_is_added_to_a_strict_document_is_strict(tmp_path):
    giver: Any = WordDocument()
    picture = BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    giver.add_picture(picture)
    giver.sections[0].header.paragraphs[0].text = "top"
    giver.save(str(tmp_path / "giver.docx"))
    plain = with_body(tmp_path / "a.docx", paragraph("body"))
    rels = members(plain)["word/_rels/document.xml.rels"]
    bare = re.sub(rb'<Relationship [^>]*/(?:numbering|styles)"[^>]*>', b"", rels)
    path = strict(rewritten(plain, {"word/_rels/document.xml.rels": bare}))

    applied, edited = edit(
        path,
        {"op": "append_paragraph", "text": "head", "style": "Heading 2"},
        {"op": "append_paragraph", "text": "point", "list": "bullet"},
        {"op": "append_paragraph", "runs": [{"text": "link", "hyperlink": "https://e.x"}]},
    )
    given = source(tmp_path / "giver.docx")
    found: Any = docx_format.get_styles(given)["image_assets"]
    out = tmp_path / "copied.docx"
    docx_format.copy_assets(
        given,
        source(edited),
        [
            {"asset_id": found[0]["asset_id"], "target": "0"},
            "header:default",
            "paragraph_style:Quote",
        ],
        out,
    )

    assert docx_format.extract_lines(source(out)) == [
        "body",
        "[image 0]",
        "## head",
        "- point",
        "link",
        "[header] top",
    ]
    assert len(applied.changed_parts) > 3
    assert applied.effects.collateral == ()
    parts = {name: data for name, data in members(out).items() if name.endswith((".xml", ".rels"))}
    assert [name for name, data in parts.items() if LOOSE.search(data)] == []


@pytest.mark.rule("F23.11")
def test_what_is_added_to_a_strict_document_has_words_of_its_dialect(tmp_path):
    plain = with_body(tmp_path / "a.docx", paragraph("body"))
    rels = members(plain)["word/_rels/document.xml.rels"]
    bare = re.sub(rb'<Relationship [^>]*/(?:numbering|styles)"[^>]*>', b"", rels)
    operations: list[dict[str, Any]] = [
        {"op": "append_paragraph", "text": "a", "alignment": "left", "indent_left": 1},
        {"op": "append_paragraph", "text": "b", "alignment": "right", "indent_right": 1},
        {"op": "append_paragraph", "text": "c", "list": "number"},
        {"op": "append_paragraph", "text": "d", "style": "Quote"},
        {"op": "append_paragraph", "text": "e", "style": "Header"},
        {"op": "append_table", "rows": [["x"]]},
    ]
    path = rewritten(plain, {"word/_rels/document.xml.rels": bare})

    _, loose = edit(path, *operations)
    applied, out = edit(strict(path), *operations)

    words = re.compile(rb'w:(?:left|right)\b|w:val="(?:left|right)"')
    sides = re.compile(rb'w:(?:start|end)\b(?! w:val="1")|w:val="(?:start|end)"')
    written = [name for name in applied.changed_parts if words.search(members(loose)[name])]
    assert [re.sub(r"\d", "", name) for name in written] == [
        "word/document.xml",
        "word/numbering.xml",
        "word/styles.xml",
    ]
    for name in written:
        before, after = members(loose)[name], members(out)[name]
        assert words.findall(after) == []
        assert len(sides.findall(after)) == len(words.findall(before))
    assert docx_format.extract_lines(source(out)) == docx_format.extract_lines(source(loose))
    assert applied.effects.collateral == ()


@pytest.mark.rule("F22.3", "F23.11")
def test_what_is_copied_from_a_strict_document_is_not_strict(tmp_path):
    giver: Any = WordDocument()
    picture = BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    giver.add_picture(picture)
    giver.save(str(tmp_path / "giver.docx"))
    given = source(strict(tmp_path / "giver.docx"))
    found: Any = docx_format.get_styles(given)["image_assets"]
    plain = with_body(tmp_path / "a.docx", paragraph("body"))
    out = tmp_path / "copied.docx"

    wish: Any = {"asset_id": found[0]["asset_id"], "target": "0"}
    docx_format.copy_assets(given, source(plain), [wish], out)

    assert docx_format.extract_lines(source(out)) == ["body", "[image 0]"]
    parts = {name: data for name, data in members(out).items() if name.endswith((".xml", ".rels"))}
    assert [name for name, data in parts.items() if b"purl.oclc.org" in data] == []


def test_decks_of_the_strict_dialect_are_read_and_stay_strict(deck):
    path = strict(deck)

    applied, out = edit(path, {"op": "set_slide_text", "index": 0, "title": "other"})

    assert pptx_format.extract_lines(source(out)) == ["# slide 1: other", "# slide 2: u"]
    assert applied.changed_parts == ("ppt/slides/slide1.xml",)
    assert b"purl.oclc.org" in members(out)["ppt/slides/slide1.xml"]


BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("docx", {"word/document.xml": None}, "corrupt_file"),
    ("docx", {"word/document.xml": b"<w:document"}, "corrupt_file"),
    ("docx", {"word/document.xml": b"<x/>"}, "corrupt_file"),
    ("docx", {"_rels/.rels": None}, "corrupt_file"),
    ("docx", {"word/document.xml": b"<!DOCTYPE x><x/>"}, "xml_dtd_forbidden"),
    ("docx", {"../evil": b"x"}, "archive_path_escape"),
    ("pptx", {"ppt/presentation.xml": None}, "corrupt_file"),
    ("pptx", {"ppt/slides/slide1.xml": None}, "corrupt_file"),
    ("pptx", {"ppt/slides/slide1.xml": b"<p:sld"}, "corrupt_file"),
    ("pptx", {"ppt/slides/slide1.xml": b"<sld/>"}, "corrupt_file"),
    ("pptx", {"ppt/slides/slide1.xml": b'<!DOCTYPE a [<!ENTITY x "y">]><a/>'}, "xml_dtd_forbidden"),
]


@pytest.mark.rule("F32.51", "F32.54", "F32.55")
@pytest.mark.parametrize(("kind", "changes", "reason"), BROKEN)
def test_broken_packages_are_refused_with_a_reason(document, deck, kind, changes, reason):
    path = rewritten(document if kind == "docx" else deck, changes)
    module: Any = docx_format if kind == "docx" else pptx_format
    op = (
        {"op": "append_paragraph", "text": "x"}
        if kind == "docx"
        else {"op": "set_slide_text", "index": 0, "title": "x"}
    )

    for act in (
        lambda: module.get_map(source(path)),
        lambda: module.read(source(path), Selector()),
        lambda: edit(path, op),
    ):
        with pytest.raises(FormatError) as caught:
            act()
        assert caught.value.reason == reason


@pytest.mark.rule("F4.2")
def test_nesting_beyond_the_limit_is_refused_and_a_deep_document_is_read(tmp_path):
    deep = "<w:sdt><w:sdtContent>" * 100 + paragraph("deep") + "</w:sdtContent></w:sdt>" * 100
    path = with_body(tmp_path / "a.docx", deep)

    assert docx_format.read(source(path), Selector()).text == "deep"

    deeper = "<w:sdt><w:sdtContent>" * 5000 + "</w:sdtContent></w:sdt>" * 5000
    with pytest.raises(FormatError) as caught:
        docx_format.get_map(source(with_body(tmp_path / "b.docx", deeper)))
    assert caught.value.reason == "corrupt_file"


def test_styles_that_go_in_circles_and_numbers_that_are_none_do_no_harm(tmp_path):
    body = (
        '<w:p><w:pPr><w:pStyle w:val="A"/><w:outlineLvl w:val="x"/><w:numPr><w:ilvl w:val="y"/>'
        '<w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>text</w:t></w:r></w:p>'
        '<w:tbl><w:tr><w:trPr><w:gridBefore w:val="999999999"/></w:trPr><w:tc><w:p/></w:tc></w:tr>'
        '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc></w:tr>'
        "</w:tbl>"
    )
    path = with_body(tmp_path / "a.docx", body)

    assert docx_format.read(source(path), Selector()).text.startswith("1. text")
    assert map_of(path)["tables"][0]["cols"] <= 300


def test_numbers_of_a_deck_may_be_anything(deck):
    many = b"9" * 5000
    xml = members(deck)["ppt/slides/slide1.xml"]
    frame = (
        b'<a:xfrm rot="\xc2\xb2"><a:off x="1e999" y="nan"/><a:ext cx="'
        + many
        + b'" cy="x"/></a:xfrm>'
    )
    xml = xml.replace(b"<p:spPr/>", b"<p:spPr>" + frame + b"</p:spPr>").replace(
        b'id="2"', b'id="' + many + b'"'
    )
    path = rewritten(deck, {"ppt/slides/slide1.xml": xml})

    pptx_format.extract_slide(source(path), 0)
    applied, out = edit(
        path,
        {"op": "append_bullets", "index": 0, "bullets": ["x"]},
        {"op": "add_slide", "title": "y", "index": 1},
    )

    assert "x" in pptx_format.read(source(out), Selector(slide_index=0)).text
    assert applied.effects.collateral == ()


@pytest.mark.rule("F23.1")
def test_a_part_nothing_leads_to_is_left_alone(document):
    rels = members(document)["word/_rels/document.xml.rels"]
    path = rewritten(
        document, {"word/_rels/document.xml.rels": rels.replace(b"/styles", b"/other")}
    )

    applied, out = edit(path, {"op": "append_paragraph", "text": "x", "style": "Heading 1"})

    assert members(out)["word/styles.xml"] == members(path)["word/styles.xml"]
    assert "word/styles2.xml" in applied.changed_parts
    assert applied.effects.collateral == ()
    assert docx_format.extract_lines(source(out))[-1] == "# x"


MUTATED = {"docx": blank_document(), "pptx": blank_presentation()}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["docx", "pptx"]),
    changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=6),
    keep=st.floats(0.3, 1.0),
)
def test_bytes_gone_wrong_are_an_error_of_the_closed_set(tmp_path, kind, changes, keep):
    data = bytearray(MUTATED[kind])
    for at, value in changes:
        data[at % len(data)] = value
    path = tmp_path / f"m.{kind}"
    path.write_bytes(bytes(data[: int(len(data) * keep)]))
    module: Any = docx_format if kind == "docx" else pptx_format

    try:
        module.get_map(source(path))
        module.read(source(path), Selector())
    except FormatError as error:
        assert error.reason in REASONS


@pytest.mark.rule("F4.3", "F4.4", "F23.4")
@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_what_is_embedded_is_told_and_never_opened(document, deck, kind, tmp_path):
    path = document if kind == "docx" else deck
    inner = archive({"../../evil": b"x", "bomb.xml": bytes(8 << 20)})  # refused if it were opened
    folder = "word" if kind == "docx" else "ppt"
    with zipfile.ZipFile(path, "a") as package:
        package.writestr(f"{folder}/embeddings/book.xlsx", inner)
        package.writestr(f"{folder}/embeddings/oleObject1.bin", b"\xd0\xcf\x11\xe0" + bytes(2000))
    op = (
        {"op": "append_paragraph", "text": "x"}
        if kind == "docx"
        else {"op": "add_slide", "title": "x"}
    )

    applied, out = edit(path, op)

    assert map_of(path)["security"]["embedded_objects"] is True
    assert members(out)[f"{folder}/embeddings/book.xlsx"] == inner
    assert applied.effects.collateral == ()
