"""Charts of workbooks that other programs wrote: what they show is what the picture says."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from backshop.formats import xlsx

from .books import source
from .drawn import parts, rewrite

DAYS = [datetime.date(2024, month, 15) for month in (1, 2, 3)]


def drawn(tmp_path: Path, kind: str, series: list[dict[str, Any]], **axes: Any) -> Any:
    """Return the drawing of a sheet with one chart over three days and two rows of values."""
    path = tmp_path / f"{kind}.xlsx"
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet("S")
    sheet.write_column("A1", DAYS, book.add_format({"num_format": "d mmm yy"}))
    sheet.write_column("B1", [10, "", 30])
    sheet.write_column("C1", [217, 433, 951])
    sheet.write_blank("B2", None)
    chart = book.add_chart({"type": kind})
    for at, said in enumerate(series):
        cells = f"=S!${'BC'[at % 2]}$1:${'BC'[at % 2]}$3"
        chart.add_series(
            {"name": f"row {at}", "categories": "=S!$A$1:$A$3", "values": cells, **said}
        )
    chart.set_x_axis(axes.get("x", {}))
    chart.set_y_axis(axes.get("y", {}))
    if axes.get("is_bare"):
        chart.set_legend({"none": True})
    if "second" in axes:
        chart.set_y2_axis(axes["second"])
    sheet.insert_chart("E2", chart, {"x_scale": 1.5, "y_scale": 1.5})
    book.close()
    return xlsx.draw_sheet(source(path))


def words(found: Any) -> set[str]:
    return set(re.findall(r">([^<>]+)</text>", found["svg"]))


@pytest.mark.rule("F43.11")
def test_a_value_that_is_not_there_is_a_gap_unless_the_chart_says_a_zero(tmp_path):
    # Excel leaves the word out of the file where a gap is meant, as older versions did
    found = drawn(tmp_path, "line", [{"line": {"color": "#123456"}}], is_bare=True)
    assert not re.findall(r'<path[^>]*stroke="#123456"', found["svg"])


@pytest.mark.rule("F43.81")
def test_bars_of_a_second_axis_have_its_numbers_above_the_plot(tmp_path):
    found = drawn(tmp_path, "bar", [{}, {"y2_axis": True}], second={"name": "Thousands"})
    assert {"Thousands", "1000", "800", "30"} <= words(found)


@pytest.mark.rule("F43.82")
def test_dates_along_an_axis_have_the_format_of_the_axis_else_of_the_cells(tmp_path):
    own = drawn(tmp_path, "column", [{}], x={"date_axis": True, "num_format": "mmmm"})
    assert {"January", "February", "March"} <= words(own)
    cells = drawn(tmp_path, "scatter", [{}], x={"min": 45306, "max": 45366, "major_unit": 30})
    assert {"15 Jan 24", "14 Feb 24"} <= words(cells)


@pytest.mark.rule("F43.83")
def test_single_points_have_labels_of_their_own(tmp_path):
    labels = {"value": True, "custom": [{"value": "the best"}, {"delete": True}]}
    found = drawn(tmp_path, "column", [{}, {"data_labels": labels}])
    counts = Counter(re.findall(r">([^<>]+)</text>", found["svg"]))
    assert (counts["the best"], counts["217"], counts["433"]) == (1, 1, 1)  # those of the cells
    assert counts["951"] == 2


@pytest.mark.rule("F43.83")
def test_the_category_of_a_point_of_a_scatter_is_its_x(tmp_path):
    labels = {"value": True, "category": True}
    found = words(drawn(tmp_path, "scatter", [{"data_labels": labels}]))
    assert "15 Jan 24; 10" in found


@pytest.mark.rule("F43.13")
def test_fills_and_distances_that_are_not_drawn_are_named(tmp_path):
    shaded = {"gradient": {"colors": ["#ff0000", "#0000ff"]}}
    found = drawn(tmp_path, "column", [shaded])
    assert "gradients, patterns and pictures in a chart are drawn as one colour" in found["missing"]
    plain = drawn(tmp_path, "area", [{}], x={"date_axis": True})
    assert plain["missing"] == []


@pytest.mark.rule("F43.11")
@pytest.mark.parametrize("kind", ["column", "bar", "area", "pie"])
def test_what_only_a_line_shows_is_drawn(tmp_path, kind):
    edged = {"fill": {"none": True}, "border": {"color": "#c00000", "width": 2}}
    found = drawn(tmp_path, kind, [edged])
    assert len(re.findall(r'fill="none"[^>]*stroke="#c00000"', found["svg"])) > 1


@pytest.mark.rule("F43.11")
def test_a_point_that_nothing_fills_is_not_filled(tmp_path):
    plain = {"fill": {"color": "#123456"}}
    bare = {**plain, "points": [None, None, {"fill": {"none": True}}]}
    filled, left = (
        drawn(tmp_path, "column", [one])["svg"].count("#123456") for one in (plain, bare)
    )
    assert left == filled - 1


@pytest.mark.rule("F43.83")
def test_a_label_with_a_look_alone_says_what_the_others_say(tmp_path):
    labels = {"value": True, "custom": [None, None, {"font": {"color": "#c00000", "size": 21}}]}
    found = drawn(tmp_path, "column", [{"data_labels": labels}])
    assert re.search(r'font-size="28"[^>]*fill="#c00000"[^>]*>30</text>', found["svg"])


@pytest.mark.rule("F43.11")
def test_titles_and_the_words_of_axes_and_legend_look_as_each_says(tmp_path):
    font = {"color": "#0000c0", "size": 15}
    sides = {"name": "Money", "name_font": {"color": "#00c000"}, "num_font": font}
    svg = drawn(tmp_path, "column", [{}, {}], y=sides)["svg"]
    assert re.search(r'fill="#0000c0"[^>]*>(<text[^>]*>)?[\d,.]+</text>', svg)
    assert re.search(r'font-size="20"', svg)
    assert re.search(r'font-size="13.33" fill="#00c000"[^>]*>(<text[^>]*>)?Money</text>', svg)


@pytest.mark.rule("F43.11")
def test_columns_stand_where_the_axis_crosses(tmp_path):
    blue = {"fill": {"color": "#123456"}}
    svg = drawn(tmp_path, "column", [blue], y={"crossing": 20}, is_bare=True)["svg"]
    found = re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="#123456"', svg)
    (first, _), (last, tall) = [tuple(map(float, one)) for one in found]  # 10 and 30
    assert first == pytest.approx(last + tall, abs=0.05)


@pytest.mark.rule("F43.11")
def test_slices_of_a_pie_stand_out_as_far_as_the_file_says(tmp_path):
    def tips(svg):
        return set(re.findall(r"L ([\d.]+ [\d.]+) Z", svg))

    assert len(tips(drawn(tmp_path, "pie", [{}])["svg"])) == 1
    path = tmp_path / "pie.xlsx"
    held, part = parts(path), "xl/charts/chart1.xml"
    held[part] = held[part].replace(b"<c:cat>", b'<c:explosion val="40"/><c:cat>', 1)
    rewrite(path, held)
    assert len(tips(xlsx.draw_sheet(source(path))["svg"])) == 2  # of a third there is no value


@pytest.mark.rule("F43.11")
def test_a_title_that_says_nothing_is_the_usual_one(tmp_path):
    drawn(tmp_path, "column", [{}, {}])
    path = tmp_path / "column.xlsx"
    held, part = parts(path), "xl/charts/chart1.xml"
    held[part] = held[part].replace(b"<c:chart>", b"<c:chart><c:title><c:layout/></c:title>", 1)
    rewrite(path, held)
    assert "Chart Title" in words(xlsx.draw_sheet(source(path)))
