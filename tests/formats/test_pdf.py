from __future__ import annotations

import pytest

from backshop.formats import FormatError, Selector, Warn
from backshop.formats.pdf import document

from .archives import file_source

pytestmark = pytest.mark.needs("corpora")


def sample(corpora, name):
    return file_source(next((corpora / "pdf").rglob(name)))


@pytest.mark.rule("F11.1", "F32.48", "F11.2")
@pytest.mark.parametrize(
    ("pages", "wanted"), [("1-3", [1, 2, 3]), ("3", [3]), (" 1 , 3 - 4", [1, 3, 4]), ("2,2", [2])]
)
def test_pages_are_read_by_number(corpora, pages, wanted):
    part = document.read(sample(corpora, "pdflatex-4-pages.pdf"), Selector(pages=pages))

    heads = [line for line in part.text.split("\n") if line.startswith("--- page")]
    assert heads == [f"--- page {page} ---" for page in wanted]
    assert "ﬁ" not in part.text


@pytest.mark.rule("F11.1", "F32.48")
@pytest.mark.parametrize(("pages", "wanted"), [("1-5", "1-4"), ("2,3-99", "2-4"), ("4-999", "4")])
def test_a_span_of_pages_that_goes_on_after_the_last_one_ends_there_and_says_so(
    corpora, pages, wanted
):
    part = document.read(sample(corpora, "pdflatex-4-pages.pdf"), Selector(pages=pages))

    assert part.chunk_info.span == {"pages": wanted}
    assert part.selector == Selector(pages=wanted)
    assert part.warnings == (Warn("span_clipped", where="the last page is 4"),)


@pytest.mark.rule("F11.1", "F32.48")
@pytest.mark.parametrize("pages", ["5-1", "0", "999", "", "a", "1-", "-1", "1;2", "1-99999999999"])
def test_pages_that_do_not_exist_are_refused(corpora, pages):
    with pytest.raises(FormatError) as caught:
        document.read(sample(corpora, "pdflatex-4-pages.pdf"), Selector(pages=pages))

    assert caught.value.reason == "bad_range"


@pytest.mark.rule("F11.3", "F32.49")
def test_a_scan_has_no_text_and_says_so(corpora):
    file = sample(corpora, "grayscale-image.pdf")

    drawn, part = document.get_map(file).data, document.read(file, Selector())

    assert drawn["pages"] == [{"page": 1, "chars": 0, "has_images": True, "scanned": True}]
    assert drawn["has_text_layer"] is False
    assert (part.text, part.warnings) == ("--- page 1 ---", (Warn("no_text_layer"),))


@pytest.mark.rule("F11.4", "F32.50")
def test_a_password_is_asked_for_by_name(corpora):
    with pytest.raises(FormatError) as caught:
        document.get_map(sample(corpora, "libreoffice-writer-password.pdf"))

    assert caught.value.reason == "encrypted_file"


@pytest.mark.rule("F11.4", "F11.5")
def test_contents_and_form_fields_are_listed(corpora):
    toc = document.get_map(sample(corpora, "pdflatex-outline.pdf")).data["toc"]
    info = document.get_info(sample(corpora, "libreoffice-form.pdf"))

    assert isinstance(toc, list)
    assert [(entry["page"], entry["level"]) for entry in toc[:2]] == [(2, 1), (2, 1)]
    assert isinstance(info["form_fields"], list)
    assert {"name": "First Name", "value": "Alice"} in info["form_fields"]


@pytest.mark.rule("F5.3")
def test_a_named_read_goes_on_where_it_ended(corpora):
    part = document.read(sample(corpora, "pdflatex-4-pages.pdf"), Selector(pages="1-2"))

    assert part.chunk_info.next == Selector(pages="3-4")
    assert part.chunk_info.span == {"pages": "1-2"}


@pytest.mark.rule("F4.4")
def test_attachments_are_reported_and_never_opened(corpora):
    drawn = document.get_map(sample(corpora, "with-attachment.pdf"))

    assert drawn.security == {"embedded_objects": True}
