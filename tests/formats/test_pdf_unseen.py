"""Text of a PDF that nobody sees: it is read with a label, never dropped and never plain."""

from __future__ import annotations

import pytest

from backshop.formats import Selector
from backshop.formats.pdf import document

from .archives import file_source

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
PICTURE = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"
SEEN = b"BT /F 12 Tf 0 g 20 180 Td (Seen words) Tj ET "


def write(path, content, form=b""):
    """Write a page of 200 × 200 points that can draw a picture (I) and a form (X)."""
    streams = [content, form, b"\x80"]
    heads = [
        b"<<",
        b"<</Type/XObject/Subtype/Form/BBox[0 0 200 200]/Resources<</Font<</F 4 0 R>>>>",
        PICTURE,
    ]
    resources = b"<</Font<</F 4 0 R>>/XObject<</X 6 0 R/I 7 0 R>>/ExtGState<</T<</ca 0>>>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 5 0 R/Resources "
        + resources
        + b">>",
        FONT,
        *(
            b"%s/Length %d>>\nstream\n%s\nendstream" % (head, len(data), data)
            for head, data in zip(heads, streams, strict=True)
        ),
    ]
    data = b"%PDF-1.7\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    data += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    path.write_bytes(data)
    return file_source(path)


def text(look, words=b"Pay twice", at=b"20 100"):
    return b"BT /F 12 Tf %s %s Td (%s) Tj ET " % (look, at, words)


WHITE = b"1 g 1 G"
DARK = b"0.2 g 10 90 150 30 re f "
BELOW = b"q 1 0 0 1 0 0 cm 0.2 g 10 10 150 30 re f Q "
PICTURE_BELOW = b"q 150 0 0 40 10 90 cm /I Do Q "
FORM = b"q 1 0 0 1 0 0 cm /X Do Q "


@pytest.mark.rule("F4.8", "F11.6")
@pytest.mark.parametrize(
    ("content", "shown"),
    [
        pytest.param(text(b"3 Tr"), "[hidden: Pay twice]", id="no-ink"),
        pytest.param(text(b"7 Tr"), "[hidden: Pay twice]", id="only-clips"),
        pytest.param(b"/T gs " + text(b"0 g"), "[hidden: Pay twice]", id="transparent"),
        pytest.param(text(WHITE), "[white text: Pay twice]", id="white"),
        pytest.param(text(b"0 0 0 0 k"), "[white text: Pay twice]", id="white-of-print"),
        pytest.param(BELOW + text(WHITE), "[white text: Pay twice]", id="ground-elsewhere"),
        pytest.param(text(WHITE) + DARK, "[white text: Pay twice]", id="ground-drawn-later"),
        pytest.param(
            b"1 g 0 0 200 200 re f " + text(WHITE), "[white text: Pay twice]", id="white-ground"
        ),
        pytest.param(
            b"0 G 1 w 10 90 150 30 re S " + text(WHITE), "[white text: Pay twice]", id="in-a-frame"
        ),
        pytest.param(DARK + text(WHITE), "Pay twice", id="white-on-dark"),
        pytest.param(
            b"0 G 30 w 10 105 m 160 105 l S " + text(WHITE), "Pay twice", id="on-a-broad-line"
        ),
        pytest.param(PICTURE_BELOW + text(WHITE), "Pay twice", id="white-on-a-picture"),
        pytest.param(PICTURE_BELOW + text(b"3 Tr"), "Pay twice", id="searchable-scan"),
        pytest.param(DARK + text(b"3 Tr"), "[hidden: Pay twice]", id="no-ink-on-dark"),
        pytest.param(text(b"0.9 g"), "Pay twice", id="pale"),
        pytest.param(text(b"1 g 0 G 1 Tr"), "Pay twice", id="outlined"),
    ],
)
def test_text_without_ink_and_white_text_on_nothing_are_labelled(tmp_path, content, shown):
    source = write(tmp_path / "a.pdf", SEEN + content)

    assert document.extract_lines(source) == ["--- page 1 ---", "Seen words", shown]
    assert document.read(source, Selector()).text == f"--- page 1 ---\nSeen words\n{shown}"


@pytest.mark.rule("F4.8", "F11.6")
def test_a_line_that_is_seen_in_part_is_labelled_in_part(tmp_path):
    content = text(b"0 g", b"Pay once ") + text(b"3 Tr", b"or twice", b"75 100")

    assert document.extract_lines(write(tmp_path / "a.pdf", content))[1:] == [
        "Pay once [hidden: or twice]"
    ]


@pytest.mark.rule("F4.8", "F11.6")
def test_text_and_grounds_inside_other_drawings_count_where_they_stand(tmp_path):
    inner = write(tmp_path / "a.pdf", SEEN + FORM, form=text(WHITE))
    ground = write(tmp_path / "b.pdf", SEEN + FORM + text(WHITE), form=DARK)
    moved = b"q 1 0 0 1 0 -80 cm /X Do Q "
    beside = write(tmp_path / "c.pdf", SEEN + moved + text(WHITE), form=DARK)

    shown = [document.extract_lines(source)[-1] for source in (inner, ground, beside)]
    assert shown == ["[white text: Pay twice]", "Pay twice", "[white text: Pay twice]"]


@pytest.mark.rule("F4.8", "F11.6")
def test_on_a_page_with_too_much_below_white_text_is_not_judged(tmp_path):
    lines = b"".join(b"0.5 g %d 1 1 1 re f " % (at % 100) for at in range(2_001))
    hidden = text(b"3 Tr", b"Pay thrice", b"20 60")
    source = write(tmp_path / "a.pdf", lines + SEEN + text(WHITE) + hidden)

    assert document.extract_lines(source)[1:] == ["Seen words", "Pay twice", "[hidden: Pay thrice]"]
