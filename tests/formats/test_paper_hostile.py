"""PDF, OpenDocument and pictures gone wrong: an answer or an error of the closed set (F3, F4)."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from backshop.formats import FormatError, Formats, Selector
from backshop.formats.errors import REASONS

from .archives import archive, source

OFFICE = "urn:oasis:names:tc:opendocument:xmlns"
WORDS = "".join(f"<t:p>line {n} of a text</t:p>" for n in range(40))
CONTENT = (
    f'<o:document-content xmlns:o="{OFFICE}:office:1.0" xmlns:t="{OFFICE}:text:1.0"><o:body>'
    f"<o:text><t:h>Title</t:h>{WORDS}</o:text></o:body></o:document-content>"
)


def pdf(*objects: str, trailer: str = "/Root 1 0 R") -> bytes:
    """Return a PDF of these objects; the table of their places is left to the reader."""
    body = "".join(f"{n} 0 obj\n{text}\nendobj\n" for n, text in enumerate(objects, 1))
    return f"%PDF-1.7\n{body}trailer\n<< {trailer} /Size {len(objects) + 1} >>\n%%EOF\n".encode()


def page(box: str = "0 0 300 200", more: str = "") -> bytes:
    text = "BT /F1 12 Tf 20 100 Td (Hello page) Tj ET"
    return pdf(
        f"<< /Type /Catalog /Pages 2 0 R {more} >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((60, 40), 50).save(buffer, "PNG")
    return buffer.getvalue()


SOUND = {
    "a.pdf": page(),
    "a.odt": archive({"content.xml": CONTENT.encode()}, method=0),
    "a.png": picture(),
}


@pytest.fixture(scope="module")
def formats():
    with Formats(plugins={}, workers=1) as door:
        yield door


@pytest.mark.rule("F3.2", "F4.1")
@pytest.mark.parametrize("name", SOUND)
@given(
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6),
    keep=st.sampled_from([1.0, 1.0, 0.9, 0.4]),
)
def test_bytes_gone_wrong_are_an_answer_or_an_error(tmp_path_factory, formats, name, changes, keep):
    data = bytearray(SOUND[name])
    for place, value in changes:
        data[int(place * (len(data) - 1))] = value
    file = source(tmp_path_factory.mktemp("f"), name, bytes(data[: int(len(data) * keep)]))

    for ask in (formats.get_info, formats.get_map, formats.read, formats.extract_lines):
        try:
            ask(file)
        except FormatError as error:
            assert error.reason in REASONS
            assert error.reason not in {"worker_crashed", "timeout"}


@pytest.mark.rule("F4.4", "F11.1")
def test_scripts_of_a_pdf_are_told_and_never_run(tmp_path, formats):
    action = "/OpenAction << /S /JavaScript /JS (app.launchURL\\('http://127.0.0.1:9/'\\)) >>"
    names = "/Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (x) >>] >> >>"

    for more in (action, names):
        file = source(tmp_path, "a.pdf", page(more=more))
        assert formats.get_map(file)["security"] == {"javascript": True}
        assert formats.read(file, Selector()).text == "--- page 1 ---\nHello page"


@pytest.mark.rule("F3.2", "F11.1")
def test_half_a_character_in_a_bookmark_is_marked(tmp_path, formats):
    marks = "/Outlines << /First << /Title <FEFF0041D800> /Dest [3 0 R /Fit] >> >>"

    drawn = formats.get_map(source(tmp_path, "a.pdf", page(more=marks)))

    assert drawn["toc"] == [{"title": "A\ufffd", "page": 1, "level": 1}]


@pytest.mark.rule("F29.8", "F2.5")
@pytest.mark.parametrize("box", ["0 0 14400 14400", "0 0 900000 1", "0 0 0 0", "9 9 -500 -900"])
def test_a_page_of_any_size_is_drawn_within_the_limits(tmp_path, formats, box):
    file = source(tmp_path, "a.pdf", page(box))

    try:
        drawn = formats.render_page(file, 0, 2.0)
    except FormatError as error:
        assert error.reason in {"corrupt_file", "too_large"}
        return

    shown = Image.open(io.BytesIO(drawn.image or b""))
    assert max(shown.size) <= 2048
    assert min(shown.size) >= 1


@pytest.mark.rule("F3.2", "F11.4")
@pytest.mark.parametrize(
    "objects",
    [
        ("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"),
        ("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 2000000000 >>"),
        ("<< /Type /Catalog /Outlines 2 0 R >>", "<< /First 2 0 R /Next 2 0 R /Title (a) >>"),
    ],
    ids=["pages in a circle", "pages that are not there", "contents in a circle"],
)
def test_a_pdf_that_goes_in_circles_is_an_answer_or_an_error(tmp_path, formats, objects):
    file = source(tmp_path, "a.pdf", pdf(*objects))

    for ask in (formats.get_map, formats.read):
        try:
            ask(file)
        except FormatError as error:
            assert error.reason in {"corrupt_file", "bad_range", "too_large"}
