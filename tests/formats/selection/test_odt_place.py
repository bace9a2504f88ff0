"""Places in OpenDocument texts: they stay with their paragraphs and rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from backshop.base.place import FILE, Place
from backshop.formats import FormatError
from backshop.formats.odt import document as odt_format

from ..archives import archive, file_source

_NS = "urn:oasis:names:tc:opendocument:xmlns"


def text(path: Path, *paragraphs: str, table: tuple[tuple[str, ...], ...] = ()) -> Path:
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{c}</text:p></table:table-cell>" for c in row)
        + "</table:table-row>"
        for row in table
    )
    body = "".join(f"<text:p>{one}</text:p>" for one in paragraphs)
    body += f"<table:table>{rows}</table:table>" if rows else ""
    content = (
        f'<office:document-content xmlns:office="{_NS}:office:1.0" xmlns:text="{_NS}:text:1.0" '
        f'xmlns:table="{_NS}:table:1.0"><office:body><office:text>{body}</office:text>'
        "</office:body></office:document-content>"
    )
    path.write_bytes(
        archive(
            {
                "mimetype": b"application/vnd.oasis.opendocument.text",
                "content.xml": content.encode(),
            }
        )
    )
    return path


@pytest.mark.rule("F34.19")
def test_places_stay_with_paragraphs_words_and_cells(tmp_path):
    before = text(
        tmp_path / "a.odt",
        "One fish here",
        "two birds there",
        "gone",
        table=(("a", "b"), ("c", "d")),
    )
    after = text(
        tmp_path / "b.odt", "top", "One fish now here", "two birds there",
        table=(("x", "y"), ("a", "b"), ("c", "e")),
    )  # fmt: skip
    places = [
        Place(paragraph=0),
        Place(paragraph=0, words="fish"),
        Place(words="birds"),
        Place(paragraph=2),
        Place(paragraph=3, table_row=1, table_column=1),
        FILE,
    ]

    found = odt_format.relocate(file_source(before), file_source(after), places)

    assert [(one.place, one.is_touched) for one in found] == [
        (Place(paragraph=1), True),
        (Place(paragraph=1, words="fish"), False),
        (Place(paragraph=2, words="birds"), False),
        (None, True),
        (Place(paragraph=3, table_row=2, table_column=1), True),
        (FILE, True),
    ]


@pytest.mark.rule("F34.19")
def test_a_place_that_is_not_there_is_refused(tmp_path):
    path = text(tmp_path / "a.odt", "One fish", "two fish")

    for place, reason in (
        (Place(paragraph=2), "bad_range"),
        (Place(words="fish"), "ambiguous_match"),
        (Place(page=1), "bad_selector"),
    ):
        with pytest.raises(FormatError) as caught:
            odt_format.require_place(file_source(path), place)
        assert caught.value.reason == reason
