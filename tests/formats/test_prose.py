"""What differs between two documents: versions of paragraphs together, at a cost that adds up."""

from __future__ import annotations

from typing import Any

import pytest
from tests.effort import calls

from backshop.formats.diff.prose import diff_documents
from backshop.formats.diff.word_diff import Words


def document(*texts: str) -> Any:
    paragraphs = [
        {"text": text, "style": "Normal", "alignment": None, "runs": (), "drawn": ()}
        for text in texts
    ]
    order = [{"p": at} for at in range(len(texts))]
    section = {"heading": "One", "level": 1, "paragraphs": paragraphs, "tables": []}
    return {"sections": [{**section, "order": order}]}


def headed(*texts: str) -> Any:
    """Return a document whose headings are the texts that begin with `#`."""
    sections: list[Any] = []
    for text in texts:
        if text.startswith("#") or not sections:
            sections.append([])
        sections[-1].append(text)
    made = [document(*one)["sections"][0] for one in sections]
    return {"sections": [{**one, "heading": one["paragraphs"][0]["text"]} for one in made]}


def kinds(before: Any, after: Any) -> list[tuple[str, str]]:
    (section,) = diff_documents(before, after)
    return [
        (block["kind"], "".join(piece["text"] for piece in block["pieces"]))
        for block in section["blocks"]
    ]


@pytest.mark.rule("B12.5")
def test_versions_of_a_paragraph_stand_together_and_the_rest_is_gone_and_come():
    before = document("alpha beta gamma delta", "nothing like it", "")
    after = document("quite new words here", "alpha beta gamma epsilon", " ")

    assert kinds(before, after) == [
        ("added", "quite new words here"),
        ("changed", "alpha beta gamma deltaepsilon"),
        ("removed", "nothing like it"),
        ("changed", " "),
    ]


@pytest.mark.rule("B12.5")
def test_words_are_counted_once_for_each_paragraph_and_compared_with_the_nearest():
    count = 300
    before = document(*(f"old{n} a{n} b{n}" for n in range(count)))
    after = document(*(f"new{n} c{n} d{n}" for n in range(count)))

    def compare() -> None:
        assert len(kinds(before, after)) == 2 * count

    assert calls(Words.of, compare) == 2 * count
    assert calls(Words.is_like, compare) <= 50 * count


@pytest.mark.rule("B12.5")
@pytest.mark.parametrize("is_gone", [False, True])
def test_a_heading_that_came_or_went_leaves_the_paragraphs_below_it_as_they_are(is_gone):
    without = headed("# A", "one", "", "two", "", "three", "four", "# B", "five")
    having = headed("# A", "one", "# New", "", "two", "", "# Newer", "three", "four", "# B", "five")
    sides = (having, without) if is_gone else (without, having)

    sections = diff_documents(*sides)

    blocks = [block for section in sections for block in section["blocks"]]
    changed = [
        (block["kind"], block["pieces"][0]["text"]) for block in blocks if block["kind"] != "same"
    ]
    kind = "removed" if is_gone else "added"
    assert changed == [(kind, "# New"), (kind, "# Newer")]
    assert [(one["heading"], one["kind"], one["changes"]) for one in sections] == [
        ("# A", "same", 0),
        ("# New", "changed", 1),
        ("# Newer", "changed", 1),
        ("# B", "same", 0),
    ]
    assert len(blocks) == 11


@pytest.mark.rule("B12.5")
def test_a_section_that_came_with_all_it_holds_is_added_whole():
    sections = diff_documents(headed("# A", "one", ""), headed("# A", "one", "# New", "", "two"))

    assert [(one["heading"], one["kind"]) for one in sections] == [
        ("# A", "changed"),
        ("# New", "added"),
    ]
