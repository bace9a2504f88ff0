"""Slides as they are drawn in a page."""

from __future__ import annotations

from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from backshop.formats import Formats
from backshop.web.pages.diffs import drawn_slide


@pytest.mark.rule("U4.2", "F29.3")
def test_a_chart_is_told_where_it_stands(tmp_path):
    deck = Presentation()
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Sales", (1, 2))
    place = (Inches(1), Inches(2), Inches(5), Inches(3))
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, *place, data)
    deck.save(str(tmp_path / "a.pptx"))

    with Formats(plugins={}, workers=1) as formats:
        found: Any = formats.extract_slide(formats.source(tmp_path / "a.pptx"), 0)
    drawn: Any = drawn_slide(found["slide"]["positioned"], (), "after", str)

    (shape,) = drawn["shapes"]
    assert (shape["x"], shape["y"], shape["width"], shape["height"]) == (72, 144, 360, 216)
    texts = [run["text"] for paragraph in shape["paragraphs"] for run in paragraph["runs"]]
    assert texts == ["[chart: pie; Sales; East, West]"]


@pytest.mark.needs("browser")
@pytest.mark.rule("U8.6")
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_a_slide_is_in_sight_whole_in_its_viewer(served, new_page, tmp_path, width, height):
    deck = Presentation()  # 4:3
    deck.slides.add_slide(deck.slide_layouts[0])
    deck.save(str(tmp_path / "d.pptx"))
    bench = served.bench("Slide", {"d.pptx": (tmp_path / "d.pptx").read_bytes()})
    size = {"width": width, "height": height}
    page = new_page(f"/bench/{bench}/file/d.pptx", viewport=size)
    page.locator(".desk .drawing").wait_for()
    box = page.locator(".desk .drawing").bounding_box()

    assert box["y"] + box["height"] < height
    assert box["width"] > 600
