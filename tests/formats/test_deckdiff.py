"""Review of presentations: which slides and shapes are the same, and what differs (B12.8)."""

from __future__ import annotations

from typing import Any

import pytest

from backshop.formats import pptx as pptx_format
from backshop.formats.diff.deck_diff import diff_decks

from .office import edit, members, reworked, source

SLIDE = "ppt/slides/slide1.xml"


def diff(before, after) -> Any:
    old, new = (pptx_format.extract_deck(source(path)) for path in (before, after))
    return diff_decks(old, new)


def box(number: int, words: str, inside: str = "") -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Box {number}"/><p:cNvSpPr/><p:nvPr/>'
        f"</p:nvSpPr><p:spPr>{inside}</p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>{words}</a:t>"
        "</a:r></a:p></p:txBody></p:sp>"
    )


def with_shapes(deck, *shapes):
    made = reworked(deck, {SLIDE: ("</p:spTree>", "".join(shapes) + "</p:spTree>")})
    return made.rename(made.with_name(f"{len(list(made.parent.iterdir()))}.pptx"))


@pytest.fixture
def deck(tmp_path):
    _, out = edit(
        tmp_path / "new.pptx",
        {"op": "add_slide", "title": "A", "body": "one\ntwo"},
        {"op": "add_slide", "title": "B", "body": "three"},
        {"op": "add_slide", "title": "C", "body": "four"},
    )
    return out.rename(tmp_path / "deck.pptx")


def told(shapes):
    return [(s["name"], s["kind"], s["what"]) for s in shapes if s["name"].startswith("Box")]


@pytest.mark.rule("B12.8")
def test_shapes_are_found_again_when_one_before_them_went_or_came(deck):
    three = with_shapes(deck, box(10, "a"), box(11, "b"), box(12, "c"))
    two = with_shapes(deck, box(11, "b"), box(12, "C"))

    assert told(diff(three, two)[0]["shapes"]) == [
        ("Box 11", "same", []),
        ("Box 12", "changed", ["text"]),
        ("Box 10", "removed", []),
    ]
    assert told(diff(two, three)[0]["shapes"]) == [
        ("Box 10", "added", []),
        ("Box 11", "same", []),
        ("Box 12", "changed", ["text"]),
    ]


@pytest.mark.rule("B12.8")
@pytest.mark.parametrize(
    "op",
    [
        {"body": "one\n\ttwo"},
        {"body": "one\ntwo", "alignment": "right"},
        {"body": "one\ntwo", "line_spacing": 3},
        {"title_runs": [{"text": "A", "highlight_color": "yellow"}]},
        {"title_runs": [{"text": "A", "bold": True}]},
    ],
    ids=lambda op: ",".join(op),
)
def test_a_change_of_looks_alone_is_shown(deck, op):
    _, out = edit(deck, {"op": "set_slide_text", "index": 0, **op})

    first, *others = diff(deck, out)
    assert [shape["what"] for shape in first["shapes"] if shape["kind"] != "same"] == [["format"]]
    assert (first["kind"], [slide["kind"] for slide in others]) == ("changed", ["same", "same"])


def table(look: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="50" name="Box t"/><p:cNvGraphicFramePr/>'
        '<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="1" cy="1"/></p:xfrm>'
        '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
        f'<a:tbl><a:tblGrid/><a:tr h="1"><a:tc><a:txBody><a:bodyPr/><a:p><a:r>{look}<a:t>x</a:t>'
        "</a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )


@pytest.mark.rule("B12.8")
@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (table('<a:rPr lang="en"/>'), table('<a:rPr b="1"/>'), ["format"]),
        (table('<a:rPr lang="en"/>'), table(""), ["other"]),
        (table('<a:rPr dirty="0" err="1"/>'), table("<a:rPr/>"), []),
        (box(9, "x"), box(9, "x", "<a:noFill/>"), ["format"]),
    ],
)
def test_looks_of_cells_and_shapes_count_and_marks_of_spelling_do_not(deck, one, other, what):
    (found,) = told(diff(with_shapes(deck, one), with_shapes(deck, other))[0]["shapes"])

    assert found[2] == what


@pytest.mark.rule("B12.8")
def test_another_picture_under_the_same_name_is_shown(deck):
    picture = (
        '<p:pic><p:nvPicPr><p:cNvPr id="30" name="Box p"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        '<p:blipFill><a:blip r:embed="rId9"/></p:blipFill><p:spPr/></p:pic></p:spTree>'
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    line = f'<Relationship Id="rId9" Type="{kind}" Target="../media/i.png"/></Relationships>'
    edits = {
        SLIDE: ("</p:spTree>", picture),
        "ppt/slides/_rels/slide1.xml.rels": ("</Relationships>", line),
    }
    red, blue = (
        reworked(deck, edits, {"ppt/media/i.png": data}).rename(deck.with_name(f"{data!r}.pptx"))
        for data in (b"red", b"blue")
    )

    assert told(diff(red, blue)[0]["shapes"]) == [("Box p", "changed", ["picture"])]
    assert told(diff(red, red)[0]["shapes"]) == [("Box p", "same", [])]


@pytest.mark.rule("B12.8")
def test_a_slide_with_another_id_and_title_is_found_between_its_neighbours(deck):
    presentation = members(deck)["ppt/presentation.xml"].decode()
    assert 'id="257"' in presentation
    _, renamed = edit(deck, {"op": "set_slide_text", "index": 1, "title": "Other"})
    again = reworked(renamed, {"ppt/presentation.xml": ('id="257"', 'id="400"')})

    found = diff(deck, again)

    assert [(s["kind"], s["index_before"], s["index_after"]) for s in found] == [
        ("same", 0, 0),
        ("changed", 1, 1),
        ("same", 2, 2),
    ]


@pytest.mark.rule("B12.8")
def test_a_slide_put_where_another_was_is_another_slide(deck):
    _, out = edit(
        deck,
        {"op": "delete_slide", "index": 1},
        {"op": "add_slide", "index": 1, "title": "New", "body": "words of its own"},
    )

    assert sorted(slide["kind"] for slide in diff(deck, out)) == [
        "added", "removed", "same", "same",
    ]  # fmt: skip
