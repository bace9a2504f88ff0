"""Places in PDF files: pages, and words on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.selection.contents import pair, source

from backshop.formats import FILE, FormatError, Place
from backshop.formats.pdf import document


def pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page."""
    drawn = [f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET" for text in pages]
    kids = " ".join(f"{3 + 2 * at} 0 R" for at in range(len(pages)))
    font = "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    for at, text in enumerate(drawn):
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents {4 + 2 * at} 0 R"
            f" {font} >>",
            f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        ]
    body = "".join(f"{n} 0 obj\n{text}\nendobj\n" for n, text in enumerate(objects, 1))
    return f"%PDF-1.7\n{body}trailer\n<< /Root 1 0 R /Size {len(objects) + 1} >>\n%%EOF\n".encode()


OLD = pdf("first page of it", "second page with words", "third page of it")


def found(folder: Path, new: bytes, **place):
    (one,) = document.relocate(*pair(folder, "a.pdf", OLD, new), [Place(**place)])
    return one.place, one.is_touched


@pytest.mark.rule("F34.29")
def test_pages_are_found_by_what_stands_on_them(tmp_path):
    new = pdf("a new page", "first page of it", "second page with other words")

    assert found(tmp_path, new, page=1) == (Place(page=2), False)
    assert found(tmp_path, new, page=2) == (Place(page=3), True)
    assert found(tmp_path, new, page=3) == (None, True)
    assert found(tmp_path, new, words="with  words") == (Place(page=3), True)
    assert found(tmp_path, new, words="first") == (Place(page=2, words="first"), False)
    assert found(tmp_path, new) == (FILE, True)


@pytest.mark.rule("F34.29")
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (Place(page=4), "bad_range"),
        (Place(page=0), "bad_range"),
        (Place(words="page"), "ambiguous_match"),
        (Place(page=1, words="second"), "no_match"),
        (Place(line_start=1), "bad_selector"),
    ],
)
def test_a_page_that_is_not_there_is_refused(tmp_path, place, reason):
    with pytest.raises(FormatError) as caught:
        document.require_place(source(tmp_path / "a.pdf", OLD), place)

    assert caught.value.reason == reason
