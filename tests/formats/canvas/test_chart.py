"""Charts as figures: every series and word of them is there, and stands where its values say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backshop.formats.canvas.chart.data import Axis, ChartData, Labels, Plot, Rect, Series
from backshop.formats.canvas.chart.picture import broken_picture, chart_picture
from backshop.formats.canvas.chart.scale import scale
from backshop.formats.canvas.figure import Box, Canvas, Figure, Group, Path, Stroke, Text
from backshop.formats.canvas.svg import svg

RECT = Rect(x=10, y=10, width=480, height=288)
NORTH = Series(name="North", values=(1.0, 2.0, 3.0), color="#112233")
SOUTH = Series(name="South", values=(2.0, None, -1.0), color="#445566")


def show(value: float, code: str) -> str:
    return f"{value * 100:.0f}%" if code == "0%" else f"{value:g}"


def flat(figures: tuple[Figure, ...]) -> Iterator[Figure]:
    for figure in figures:
        if isinstance(figure, Group):
            yield from flat(figure.figures)
        else:
            yield figure


def drawn(kind: str, *series: Series, **rest) -> tuple[list[Figure], tuple[str, ...]]:
    plot = {key: rest.pop(key) for key in ("stacking", "is_varied", "hole") if key in rest}
    data = ChartData(
        plots=(Plot(kind=kind, series=series or (NORTH, SOUTH), **plot),),
        categories=("Jan", "Feb", "Mar"),
        legend="r",
        **rest,
    )
    made = chart_picture(data, RECT, show)
    return list(flat(made.figures)), made.missing


def words(figures: list[Figure]) -> set[str]:
    return {one.text for one in figures if isinstance(one, Text)}


def boxes(figures: list[Figure], color: str) -> list[Box]:
    swatch = 9.0
    found = [one for one in figures if isinstance(one, Box) and one.fill == color]
    return [one for one in found if one.width != swatch or one.height != swatch]


@pytest.mark.rule("F43.10", "F43.11")
@pytest.mark.parametrize("kind", ["column", "bar", "line", "area", "scatter", "pie", "doughnut"])
@pytest.mark.parametrize("stacking", ["none", "stacked", "percent"])
def test_every_kind_shows_its_words_and_stays_in_its_frame(kind, stacking):
    figures, missing = drawn(kind, stacking=stacking, title="Sales", x=Axis(title="Month"))

    assert missing == ()
    assert words(figures) >= {"Sales"}
    if kind in ("pie", "doughnut"):
        assert words(figures) >= {"Jan", "Feb", "Mar"}
    else:
        assert words(figures) >= {"North", "South", "Month"}
    for one in figures:
        if isinstance(one, Box):
            assert RECT.x <= one.x <= one.x + one.width <= RECT.right + 0.01
            assert RECT.y <= one.y <= one.y + one.height <= RECT.bottom + 0.01


@pytest.mark.rule("F43.11")
def test_columns_are_as_tall_as_their_values_and_bars_as_long():
    figures, _ = drawn("column", NORTH)
    one, two, three = boxes(figures, "#112233")
    assert two.height / one.height == pytest.approx(2)
    assert three.height / one.height == pytest.approx(3)
    assert one.y + one.height == pytest.approx(three.y + three.height)
    lying, _ = drawn("bar", NORTH)
    one, _, three = boxes(lying, "#112233")
    assert three.width / one.width == pytest.approx(3)
    assert one.y > three.y  # the first category is the lowest


@pytest.mark.rule("F43.11")
def test_stacked_columns_stand_on_one_another_and_percents_fill_the_axis():
    up = Series(name="up", values=(1.0, 1.0, 1.0), color="#778899")
    figures, _ = drawn("column", NORTH, up, stacking="stacked")
    low, high = boxes(figures, "#112233")[0], boxes(figures, "#778899")[0]
    assert low.y == pytest.approx(high.y + high.height)
    assert low.x == high.x
    whole, _ = drawn("column", NORTH, up, stacking="percent")
    assert {"0%", "100%"} <= words(whole)
    pairs = zip(boxes(whole, "#112233"), boxes(whole, "#778899"), strict=True)
    assert len({round(a.height + b.height, 3) for a, b in pairs}) == 1


@pytest.mark.rule("F43.11")
def test_a_line_breaks_at_a_gap_unless_blanks_are_zero_or_spanned():
    def runs(blanks: str) -> int:
        gapped = Series(
            name="g", values=(1.0, 2.0, None, 3.0, 4.0), color="#0a0b0c", line_width=2.5
        )
        figures, _ = drawn("line", gapped, blanks=blanks)
        pens = [one.stroke for one in figures if isinstance(one, Path) and one.stroke]
        return len([pen for pen in pens if pen.width == 2.5])

    assert (runs("gap"), runs("zero"), runs("span")) == (2, 1, 1)


@pytest.mark.rule("F43.11")
def test_stacked_lines_and_areas_add_up_below_zero_and_over_blanks():
    first = Series(name="first", values=(4.0, 4.0, 4.0), color="#112233")
    second = Series(name="second", values=(2.0, -3.0, None), color="#445566")

    lines, _ = drawn("line", first, second, stacking="stacked", blanks="zero")
    pens = [one for one in lines if isinstance(one, Path) and len(one.steps) == 3 and one.stroke]
    tops = {one.stroke.color: [float(step[2]) for step in one.steps] for one in pens if one.stroke}
    base, above = tops["#112233"][0], tops["#445566"]
    unit = (base - above[0]) / 2
    assert [(base - top) / unit for top in above] == pytest.approx([2, -3, 0])

    areas, _ = drawn("area", first, second, stacking="stacked")
    paths = {one.fill: one for one in areas if isinstance(one, Path) and one.fill}
    assert paths["#445566"].steps[2] == ("L", *paths["#112233"].steps[2][1:])


@pytest.mark.rule("F43.78")
@pytest.mark.parametrize(
    ("kind", "stacking", "is_upward"),
    [("column", "stacked", True), ("bar", "none", True), ("column", "none", False)],
)
def test_a_legend_lists_series_as_they_stand_and_grid_lines_look_as_said(kind, stacking, is_upward):
    pen = Stroke(color="#123456", width=2.0)
    figures, _ = drawn(kind, stacking=stacking, y=Axis(has_grid=True, grid=pen))
    places = {one.text: one.y for one in figures if isinstance(one, Text)}

    assert (places["South"] < places["North"]) is is_upward
    assert any(isinstance(one, Path) and one.stroke == pen for one in figures)


@pytest.mark.rule("F43.12")
@pytest.mark.parametrize(
    ("values", "axis", "ticks"),
    [
        ((1, 2, 3), Axis(), (0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5)),
        ((5_983_800, 2_991_900), Axis(), (0, 1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6)),
        ((95, 100), Axis(), (94, 95, 96, 97, 98, 99, 100, 101)),
        ((-3, 4), Axis(), (-4, -3, -2, -1, 0, 1, 2, 3, 4, 5)),
        ((0, 0), Axis(), (0, 0.2, 0.4, 0.6, 0.8, 1, 1.2)),
        ((5,), Axis(low=2, high=6, step=2), (2, 4, 6)),
        ((1, 900), Axis(log_base=10), (1, 10, 100, 1000)),
        ((), Axis(), (0, 0.2, 0.4, 0.6, 0.8, 1, 1.2)),
        ((1e-320, 1e299), Axis(step=1e-300), None),
    ],
)
def test_axes_have_round_numbers_around_their_values(values, axis, ticks):
    found = scale(values, axis, 300)
    if ticks is not None:
        assert found.ticks == pytest.approx(ticks)
    assert len(found.ticks) <= 201
    assert all(0 <= found.part(value) <= 1 for value in (*values, -1e308, 1e308))


@pytest.mark.rule("F43.11")
def test_a_column_and_a_line_share_a_chart_with_a_second_axis():
    line = Series(name="Rate", values=(0.1, 0.2, 0.3), color="#ff0000", marker="circle", code="0%")
    data = ChartData(
        plots=(
            Plot(kind="column", series=(NORTH,)),
            Plot(kind="line", series=(line,), is_second=True),
        ),
        second=Axis(),
        legend="b",
    )
    figures = list(flat(chart_picture(data, RECT, show).figures))
    assert {"North", "Rate", "30%", "3"} <= words(figures)


@pytest.mark.rule("F43.11")
def test_labels_say_values_and_shares():
    told = Series(name="S", values=(1.0, 3.0), labels=Labels(value=True, percent=True, code="0"))
    figures, _ = drawn("pie", told, is_varied=True)
    assert {"1; 25%", "3; 75%"} <= words(figures)


@pytest.mark.rule("F43.13")
def test_a_kind_that_is_not_drawn_is_a_table_of_its_data_and_says_so():
    figures, missing = drawn("radar", title="Skills")
    assert {"Skills", "radar chart", "North", "South", "Jan", "3", "-1"} <= words(figures)
    assert missing == ("a radar chart is shown as a table of its data",)
    broken = broken_picture(RECT, "chart 7 cannot be read")
    assert words(list(flat(broken.figures))) == {"chart 7 cannot be read"}
    assert broken.missing == ("chart 7 cannot be read",)


@pytest.mark.rule("F43.14")
@pytest.mark.parametrize("kind", ["column", "line", "area", "scatter", "pie", "bar"])
@pytest.mark.parametrize("size", [(480, 288), (10, 300), (0, 0)])
def test_odd_numbers_and_sizes_break_nothing(kind, size):
    odd = Series(name="x" * 3_000, values=(1e300, -1e300, None, 0.0, 5e-324) * 900)
    none = Series(name="", values=())
    data = ChartData(
        plots=(Plot(kind=kind, series=(odd, none), gap=-5, overlap=9),),
        categories=("long " * 40,) * 4_500,
        title="t " * 500,
        legend="t",
        y=Axis(low=5, high=1, step=-1),
    )
    rect = Rect(x=0, y=0, width=size[0], height=size[1])
    made = chart_picture(data, rect, show)
    text = svg(Canvas(width=size[0] + 1, height=size[1] + 1, figures=made.figures))
    assert len(text) < 3_000_000
    assert "nan" not in text
