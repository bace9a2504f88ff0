"""Charts, diagrams and turned groups of slides."""

from __future__ import annotations

import math
from io import BytesIO
from typing import Any

import pytest
from lxml import etree
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from backshop.formats import Formats
from backshop.formats import pptx as pptx_format

from .archives import file_source
from .office import edit, members, raw_members, source, warnings

A = "http://schemas.openxmlformats.org/drawingml/2006/main"


@pytest.fixture
def charts(tmp_path):
    """Two slides, each with a chart of its own."""
    deck = Presentation()
    for name in ("East", "West"):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        data = CategoryChartData()
        data.categories = [f"{name} one", "two"]
        data.add_series(f"Sales {name}", (1, 2))
        frame = slide.shapes.add_chart(
            XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(6), Inches(4), data
        )
        frame.chart.has_title = True
        paragraph = frame.chart.chart_title.text_frame.paragraphs[0]
        paragraph.add_run().text = "Sales in the Ea"
        paragraph.add_run().text = "st"
    path = tmp_path / "charts.pptx"
    deck.save(str(path))
    return path


@pytest.mark.rule("F20", "F10.4", "F23.2", "F16.11", "F16.14")
def test_titles_of_charts_are_replaced_and_their_data_is_left_and_counted(charts):
    applied, out = edit(
        charts, {"op": "replace_text", "search": "east", "replace": "North", "slides": [0]}
    )

    assert pptx_format.extract_lines(source(out)) == [
        "# slide 1",
        "[chart: bar; Sales East; East one, two]",
        "Sales in the North",
        "# slide 2",
        "[chart: bar; Sales West; West one, two]",
        "Sales in the East",
    ]
    assert applied.changes == ((0, "1 occurrence replaced"),)
    assert warnings(applied) == {"occurrences_left": 2}
    assert applied.focus == {"slide_index": 0}
    assert len(applied.changed_parts) == 1
    assert applied.effects.collateral == ()
    before, after = raw_members(charts), raw_members(out)
    assert {name for name in before if before[name] != after[name]} == set(applied.changed_parts)


@pytest.mark.rule("F29.3", "B12.8")
def test_review_of_slides_shows_what_a_chart_says(charts):
    _, out = edit(charts, {"op": "replace_text", "search": "Sales in", "replace": "Costs of"})

    with Formats(plugins={}) as formats:
        slides: Any = formats.diff_deck(file_source(charts), file_source(out))

    shape = next(s for s in slides[0]["shapes"] if s["kind"] == "changed")
    assert shape["what"] == ["text"]
    added = [p["text"] for line in shape["lines"] for p in line if p["mark"] == "added"]
    assert added == ["Costs", "of"]


@pytest.mark.needs("corpora")
@pytest.mark.rule("F20", "F23.2", "F16.14")
def test_words_of_a_diagram_are_replaced_in_its_data_and_its_drawing(tmp_path, corpora):
    path = tmp_path / "a.pptx"
    path.write_bytes((corpora / "ooxml-odd" / "smartart-rotated-text.pptx").read_bytes())
    word = next(line for line in pptx_format.extract_lines(source(path)) if line.isalpha())

    applied, out = edit(path, {"op": "replace_text", "search": word, "replace": "Zebra"})

    assert applied.changed_parts == ("ppt/diagrams/data1.xml", "ppt/diagrams/drawing1.xml")
    assert applied.effects.collateral == ()
    for name in applied.changed_parts:
        old, new = (
            [
                "".join(map(str, p.itertext(f"{{{A}}}t")))
                for p in etree.fromstring(part).iter(f"{{{A}}}p")
            ]
            for part in (members(path)[name], members(out)[name])
        )
        assert new == [text.replace(word, "Zebra") for text in old]
        assert "Zebra" in "".join(new)


@pytest.mark.needs("corpora", "libreoffice")
@pytest.mark.rule("F20", "F23.4")
def test_libreoffice_shows_the_new_words_of_a_diagram(tmp_path, corpora):
    path = tmp_path / "a.pptx"
    path.write_bytes((corpora / "ooxml-odd" / "smartart-rotated-text.pptx").read_bytes())
    word = next(line for line in pptx_format.extract_lines(source(path)) if line.isalpha())
    _, out = edit(path, {"op": "replace_text", "search": word, "replace": "xyz"})

    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        assert formats.render_page(file_source(out), 0).available
        (pdf,) = (tmp_path / "cache").rglob("*.pdf")
        shown = formats.read(file_source(pdf)).text

    assert "xyz" in shown
    assert word not in shown


COLOURS = {"FF0000": (255, 0, 0), "00AA00": (0, 170, 0), "0000FF": (0, 0, 255)}
TURNS = [
    {"rot": "2700000"},
    {"rot": "5400000", "flipH": "1"},
    {"flipV": "1"},
    {"rot": "12000000", "flipH": "1", "flipV": "1"},
]


def turned_deck(path, turns):
    """Write slides with a turned group of three boxes each, one of them turned itself."""
    deck = Presentation()
    for number, turn in enumerate(turns):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        _add_group(slide.shapes.add_group_shape(), turn, 30 * number)
    deck.save(str(path))
    return path


def _add_group(group, turn, inner):
    places = [(1, 1, 1, 0.6), (4, 1, 1, 1), (4, 3, 1.6, 0.5)]
    for place, colour in zip(places, COLOURS, strict=True):
        box = group.shapes.add_shape(1, *map(Inches, place))
        box.fill.solid()
        box.fill.fore_color.rgb = RGBColor.from_string(colour)
        box.line.fill.background()
        box.rotation = inner if place is places[-1] else 0
    frame = group._element.grpSpPr.find(f"{{{A}}}xfrm")
    for name, value in turn.items():
        frame.set(name, value)
    frame.find(f"{{{A}}}off").set("x", str(Inches(3)))
    frame.find(f"{{{A}}}off").set("y", str(Inches(2.5)))
    size = frame.find(f"{{{A}}}ext")
    for name in ("cx", "cy"):
        size.set(name, str(int(size.get(name)) * 3 // 4))


@pytest.mark.rule("F29.3")
def test_members_of_a_turned_group_turn_around_its_middle(tmp_path):
    path = turned_deck(tmp_path / "a.pptx", [{"rot": "5400000"}])

    found: Any = pptx_format.extract_slide(source(path), 0)
    slide = found["slide"]

    # a group of 4.6 × 2.5 inches at three quarters, its middle at (4.725, 3.4375); a quarter turn
    middles = [
        (
            (shape["left"] + shape["width"] / 2) / 914400,
            (shape["top"] + shape["height"] / 2) / 914400,
        )
        for shape in slide["shapes"]
    ]
    assert middles == [
        pytest.approx(place, abs=1e-4)
        for place in ((5.4375, 2.0875), (5.2875, 4.3375), (3.975, 4.5625))
    ]
    assert [shape["rotation"] for shape in slide["shapes"]] == [90, 90, 90]


@pytest.mark.needs("libreoffice")
@pytest.mark.rule("F29.3")
def test_shapes_stand_where_libreoffice_draws_them(tmp_path):
    deck = file_source(turned_deck(tmp_path / "a.pptx", TURNS))

    with Formats(cache=tmp_path / "cache", plugins={}) as formats:
        for index in range(len(TURNS)):
            drawn = formats.render_page(deck, index)
            picture = Image.open(BytesIO(drawn.image or b"")).convert("RGB")
            found: Any = formats.extract_slide(deck, index)
            placed = found["slide"]["positioned"]
            for shape, colour in zip(placed["positioned_shapes"], COLOURS.values(), strict=True):
                for x, y in corners(shape["bounds"], shape["rotation"], picture.size):
                    assert picture.getpixel((round(x), round(y))) == colour, (index, shape)


def corners(bounds, rotation, size):
    """Yield the middle of a box and places near its corners, turned, in pixels."""
    width, height = bounds["width"] * size[0], bounds["height"] * size[1]
    x, y = bounds["x"] * size[0] + width / 2, bounds["y"] * size[1] + height / 2
    angle = math.radians(rotation)
    for across, down in ((0, 0), (0.4, 0.4), (-0.4, 0.4), (0.4, -0.4), (-0.4, -0.4)):
        dx, dy = across * width, down * height
        yield (
            x + dx * math.cos(angle) - dy * math.sin(angle),
            y + dx * math.sin(angle) + dy * math.cos(angle),
        )
