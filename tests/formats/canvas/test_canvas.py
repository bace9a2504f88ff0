"""Figures on a canvas: the same in SVG and PNG, and nothing in them that runs or loads (F43)."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path as File

import pytest
from lxml import etree
from PIL import Image

from backshop.formats.canvas import face as faces
from backshop.formats.canvas.bitmap import bitmap
from backshop.formats.canvas.face_folder import faces_folder
from backshop.formats.canvas.figure import Box, Canvas, Gradient, Group, Path, Picture, Stroke, Text
from backshop.formats.canvas.raster import png
from backshop.formats.canvas.svg import svg
from backshop.formats.canvas.text_block import Run, lines

CALIBRI = faces.face("Calibri")
DEPENDENCIES = File(__file__).parents[3] / "docs/spec/dependencies.md"


def picture(mode: str = "RGB", size: tuple[int, int] = (40, 20)) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, "#ff0000").save(out, "PNG")
    return out.getvalue()


def drawn(*figures, width=100, height=60, scale=1.0):
    data = png(Canvas(width=width, height=height, figures=figures), scale)
    return Image.open(io.BytesIO(data))


@pytest.mark.rule("F43.2")
def test_bundled_faces_are_as_wide_as_those_documents_name():
    # advances of Calibri, Arial, Times New Roman and Courier New, in parts of the size
    assert CALIBRI.width("Budget", 1000) == pytest.approx(544 + 525 + 525 + 471 + 498 + 335, abs=6)
    assert faces.face("Arial").width("Total", 2048) == pytest.approx(4553, abs=4)
    assert faces.face("Times New Roman").width("Total", 2048) == pytest.approx(4322, abs=4)
    assert faces.face("Courier New").width("abc", 2048) == pytest.approx(3687, abs=4)
    assert [faces.family(name) for name in ("Cambria", "Comic Sans MS", None, "Consolas")] == [
        "Caladea",
        "Arimo",
        "Carlito",
        "Cousine",
    ]
    assert CALIBRI.width("Жąώ", 10) > 10
    assert CALIBRI.width("中", 10) == 10


@pytest.mark.rule("F43.2")
def test_bundled_faces_are_the_files_that_were_taken():
    said = dict(
        re.findall(
            r"^\| (\w+) \| `@fontsource.*`([0-9a-f]{64})` \|$", DEPENDENCIES.read_text(), re.M
        )
    )
    for family in ("Carlito", "Caladea", "Arimo", "Tinos", "Cousine"):
        files = sorted(faces_folder().glob(f"{family.lower()}-*.woff2"), key=lambda one: one.name)
        whole = hashlib.sha256(b"".join(one.read_bytes() for one in files)).hexdigest()
        assert said[family] == whole


@pytest.mark.rule("F43.2")
def test_text_is_cut_into_lines_where_it_would_be_too_wide():
    run = Run(text="one two three", face=CALIBRI, size=10)
    room = CALIBRI.width("one two", 10) + 0.1
    assert ["".join(r.text for r in line.runs) for line in lines([run], room)] == [
        "one two ",
        "three",
    ]
    assert len(lines([Run(text="a\nb\r\n\nc", face=CALIBRI, size=10)], None)) == 4
    long = lines([Run(text="x" * 200, face=CALIBRI, size=10)], 50)
    assert all(line.width <= 50.1 for line in long)
    assert "".join(r.text for line in long for r in line.runs) == "x" * 200


@pytest.mark.rule("F43.3")
def test_svg_of_a_canvas_holds_text_as_text_and_nothing_that_runs():
    hostile = "</text><script>alert(1)</script>&\x00\ud800"
    figures = (
        Text(x=1, y=2, text=hostile, face=CALIBRI, size=10, color='red" onload="x'),
        Picture(x=0, y=0, width=5, height=5, data=bitmap(picture(), 5, 5) or b"", alt=hostile),
        Box(x=0, y=0, width=float("nan"), height=1, fill="url(http://x)"),
        Group(figures=(Box(x=0, y=0, width=9, height=9, fill="#123456"),), clip=(0, 0, 5, 5)),
    )
    canvas = Canvas(width=100, height=60, figures=figures, label=hostile)
    root = etree.fromstring(svg(canvas))
    tags = {etree.QName(node).localname for node in root.iter()}
    assert tags == {"svg", "rect", "text", "image", "title", "g", "clipPath"}
    for node in root.iter():
        for name, value in node.attrib.items():
            assert not str(name).startswith("on")
            assert name != "style"
            assert "http" not in value
    assert svg(canvas) == svg(canvas)


@pytest.mark.rule("F43.1", "F43.5")
def test_png_of_a_canvas_shows_figures_where_they_stand():
    image = drawn(
        Box(x=10, y=10, width=20, height=20, fill="#00ff00"),
        Box(x=60, y=10, width=20, height=20, fill=Gradient(stops=((0, "#000000"), (1, "#ffffff")))),
        Path(
            steps=(("M", 40.0, 10.0), ("L", 50.0, 10.0), ("L", 45.0, 30.0), ("Z",)),
            fill="#0000ff",
            stroke=Stroke(color="#0000ff"),
        ),
    )
    assert image.getpixel((20, 20)) == (0, 255, 0)
    assert image.getpixel((45, 15)) == (0, 0, 255)
    assert image.getpixel((62, 20))[0] < 40 < 200 < image.getpixel((78, 20))[0]
    assert image.getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.rule("F43.1", "F43.5")
def test_groups_are_cut_then_mirrored_then_turned():
    mark = Box(x=10, y=10, width=10, height=10, fill="#ff0000")
    cut = drawn(Group(figures=(mark,), clip=(10, 10, 5, 10)))
    assert cut.getpixel((12, 15)) == (255, 0, 0)
    assert cut.getpixel((18, 15)) == (255, 255, 255)
    mirrored = drawn(Group(figures=(mark,), around=(30, 30), mirror_x=True))
    assert mirrored.getpixel((45, 15)) == (255, 0, 0)
    turned = drawn(Group(figures=(mark,), around=(30, 30), turn=90), width=60)
    assert turned.getpixel((45, 15)) == (255, 0, 0)
    both = drawn(Group(figures=(mark,), around=(30, 30), turn=90, mirror_x=True), width=60)
    assert both.getpixel((45, 45)) == (255, 0, 0)


@pytest.mark.rule("F43.80")
def test_what_is_turned_into_the_page_is_drawn_whole():
    bar = Box(x=-40, y=20, width=100, height=10, fill="#ff0000")  # upright on the page: x 5 to 15
    upright = Group(figures=(bar,), around=(10, 25), turn=90)
    for figure in (upright, Group(figures=(upright,), clip=(0, 0, 30, 100))):
        shown = drawn(figure, width=60, height=100)
        assert [shown.getpixel((10, y)) for y in (2, 50, 73)] == [(255, 0, 0)] * 3
    words = Text(x=10, y=52, text="mmmmmmmm", face=CALIBRI, size=16, anchor="middle")
    turned = drawn(Group(figures=(words,), around=(10, 50), turn=-90), width=60, height=140)
    half = round(CALIBRI.width(words.text, 16) / 2) - 3
    dark = [y for y in range(140) if any(turned.getpixel((x, y))[0] < 128 for x in range(30))]
    assert min(dark) <= 50 - half < 50 + half <= max(dark)


@pytest.mark.rule("F43.4")
def test_pictures_are_made_anew_and_no_finer_than_shown():
    small = bitmap(picture(size=(400, 200)), 20, 10)
    assert small is not None
    assert Image.open(io.BytesIO(small)).size == (40, 20)
    half = bitmap(picture(), 100, 100, (0.5, 0, 0, 0))
    assert half is not None
    assert Image.open(io.BytesIO(half)).size == (20, 20)
    assert bitmap(b"<svg onload='x'/>", 10, 10) is None
    assert bitmap(picture()[:30], 10, 10) is None
