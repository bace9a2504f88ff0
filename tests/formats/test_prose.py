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
