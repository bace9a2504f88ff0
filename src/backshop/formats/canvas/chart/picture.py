"""A chart as figures inside a rectangle (F43.10 to F43.14)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..figure import Box, Figure, Group
from ..text_block import Run, lines
from . import axes
from .bars import bars
from .data import DRAWN, ROUND, Axis, ChartData, ChartPicture, Plot, Rect, Show
from .data_table import data_table
from .legend import legend
from .lettering import Lettering
from .lines import areas, scatter
from .lines import lines as line_figures
from .pie import pies
from .plane import MOST_POINTS, Plane, colored, stacked, stride
from .scale import Scale, scale

_MARGIN = 10.0
_LONGEST, _TITLE_CHARS = 100, 1_000  # characters that are shown
_SMALLEST = 24.0  # a chart below this is only a frame


def chart_picture(data: ChartData, rect: Rect, show: Show) -> ChartPicture:
    """Return a chart drawn inside a rectangle; `show` writes numbers by their format codes."""
    missing = list(data.missing)
    figures: list[Figure] = [
        Box(
            x=rect.x,
            y=rect.y,
            width=rect.width,
            height=rect.height,
            fill=data.background,
            stroke=data.border,
        )
    ]
    if min(rect.width, rect.height) < _SMALLEST:
        return ChartPicture(figures=tuple(figures), missing=tuple(missing))
    room = rect.shrunk(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
    title, room = _title(data, room)
    figures += title
    figures += _inside(data, room, show, missing)
    clip = (rect.x - 1, rect.y - 1, rect.width + 2, rect.height + 2)
    return ChartPicture(figures=(Group(figures=tuple(figures), clip=clip),), missing=tuple(missing))


def broken_picture(rect: Rect, words: str) -> ChartPicture:
    """Return the frame of a chart that cannot be read, with what is the case in it."""
    data = ChartData(plots=())
    box = Box(
        x=rect.x, y=rect.y, width=rect.width, height=rect.height, fill="#ffffff", stroke=data.border
    )
    inner = rect.shrunk(6, 6, 6, 6)
    said = tuple(data_table(data, inner, words, lambda value, code: str(value)))
    return ChartPicture(figures=(box, *said), missing=(words,))


def _title(data: ChartData, room: Rect) -> tuple[list[Figure], Rect]:
    if not data.title:
        return [], room
    face = replace(data.face, bold=data.is_title_bold)
    color = data.title_color or data.color
    run = Run(text=data.title[:_TITLE_CHARS], face=face, size=data.title_size, color=color)
    put = lines([run], room.width)
    figures: list[Figure] = []
    y = room.y
    for line in put:
        if y + line.height > room.bottom:
            break
        figures += line.figures(room.x + (room.width - line.width) / 2, y + line.ascent)
        y += line.height
    return figures, room.shrunk(top=y - room.y + 6)


def _inside(data: ChartData, room: Rect, show: Show, missing: list[str]) -> Iterator[Figure]:
    """Yield all but frame and title: the plot with what is around it, or the data as a table."""
    unknown = [kind for kind in data.kinds if kind not in DRAWN]
    mixed = len(data.kinds) > 1 and not _go_together(data.kinds)
    if unknown or mixed or not data.series:
        kind = " and ".join(data.kinds)
        words = f"{kind} chart" if kind else "chart"
        if data.series or unknown:
            missing.append(f"a {words} is shown as a table of its data")
        else:
            words = f"{words} without data"
            missing.append(f"a {words}")
        yield from data_table(data, room, words, show)
        return
    longest = max(len(series.values) for series in data.series)
    if longest > MOST_POINTS:
        drawn = len(range(0, longest, stride(longest)))
        missing.append(f"{drawn:,} of {longest:,} points of a series are drawn")
    listed, room = legend(data, room)
    if data.plots[0].kind in ROUND:
        yield from pies(data, data.plots[0], room, show)
    else:
        yield from _cartesian(data, room, show)
    yield from listed


def _go_together(kinds: tuple[str, ...]) -> bool:
    return set(kinds) <= {"column", "line", "area"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scales:
    first: Scale
    second: Scale | None
    across: Scale | None


def _cartesian(data: ChartData, room: Rect, show: Show) -> Iterator[Figure]:
    kind = data.plots[0].kind
    is_lying = kind == "bar"
    count = max(
        max((len(series.values) for series in data.series), default=1), len(data.categories), 1
    )
    length = room.width if is_lying else room.height
    scales = _scales(data, count, length * 0.8, room.width * 0.8)
    sides = _sides(data, scales, show, count)
    if is_lying:
        rect = room.shrunk(
            left=sides.x.room(is_beside=True),
            bottom=sides.y.room(is_beside=False),
            right=12.0,
            top=sides.second.room(is_beside=False) if sides.second else 4.0,
        )
        sides = replace(
            sides,
            x=_thinned(sides.x, rect.height, count),
            y=_spread(sides.y, rect.width),
            second=_spread(sides.second, rect.width) if sides.second else None,
        )
    else:
        right = sides.second.room(is_beside=True) if sides.second else 12.0
        left = sides.y.room(is_beside=True)
        x = axes.fitted(sides.x, room.width - left - right, 1 if scales.across else count)
        sides = replace(sides, x=x)
        rect = room.shrunk(left=left, right=right, top=6.0, bottom=x.room(is_beside=False))
    plane = Plane(
        rect=rect,
        scale=scales.first,
        count=count,
        is_lying=is_lying,
        is_on_points=data.x.is_on_points and kind not in ("column", "bar"),
        is_reversed=data.x.is_reversed,
        across=scales.across,
    )
    if data.plot_background:
        yield Box(
            x=rect.x, y=rect.y, width=rect.width, height=rect.height, fill=data.plot_background
        )
    yield from axes.grid(plane, data.y)
    yield from axes.cross_grid(plane, data.x, scales.across)
    yield from _series(data, plane, scales, show)
    yield from _around(plane, sides, scales)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    x: axes.Side
    y: axes.Side
    second: axes.Side | None


def _sides(data: ChartData, scales: _Scales, show: Show, count: int) -> _Sides:
    first = next((plot for plot in data.plots if not plot.is_second), data.plots[0])
    if scales.across is not None:
        texts = _numbers(scales.across, data.x, first.series[0].x_code, show)
    else:
        names = data.categories or tuple(str(at + 1) for at in range(count))
        texts = tuple(" ".join(name[:_LONGEST].split()) for name in names)
    side = _side(data, data.y, _values(data.y, scales.first, first, show))
    second = None
    if scales.second is not None and data.second is not None:
        other = next(plot for plot in data.plots if plot.is_second)
        numbers = _values(data.second, scales.second, other, show)
        second = _side(data, data.second, numbers)
    return _Sides(x=_side(data, data.x, texts), y=side, second=second)


def _side(data: ChartData, axis: Axis, texts: tuple[str, ...]) -> axes.Side:
    written, titled = (Lettering.of(data, one) for one in (axis.type, axis.title_type))
    return axes.Side(axis=axis, texts=texts, lettering=written, titled=titled)


def _values(axis: Axis, found: Scale, plot: Plot, show: Show) -> tuple[str, ...]:
    code = "0%" if plot.stacking == "percent" else plot.series[0].code if plot.series else "General"
    return _numbers(found, axis, code, show)


def _numbers(found: Scale, axis: Axis, code: str, show: Show) -> tuple[str, ...]:
    return tuple(show(tick, axis.code or code) for tick in found.ticks)


def _spread(side: axes.Side, length: float) -> axes.Side:
    """Return the numbers under bars, so few that they do not meet."""
    step = length / max(1, len(side.texts) - 1)
    return replace(side, every=max(1, math.ceil((side.wide + 4) / max(step, 0.1))))


def _thinned(side: axes.Side, length: float, count: int) -> axes.Side:
    band = length / max(1, count)
    return replace(side, every=max(1, math.ceil(side.lettering.height * 0.95 / max(band, 0.1))))


def _scales(data: ChartData, count: int, length: float, width: float) -> _Scales:
    def found(is_second: bool, axis: Axis) -> Scale:
        plots = [plot for plot in data.plots if plot.is_second is is_second]
        values = [
            end
            for plot in plots
            for spans in stacked(plot, count, data.blanks)
            for span in spans
            if span is not None
            for end in (span if plot.stacking != "none" else span[1:])
        ]
        whole = bool(plots) and all(plot.stacking == "percent" for plot in plots)
        return scale(values, axis, length, whole=whole)

    has_second = data.second is not None and any(plot.is_second for plot in data.plots)
    across = None
    if data.plots[0].kind == "scatter":
        xs = [x for series in data.series for x in _xs(series.xs, len(series.values))]
        across = scale(xs, data.x, width / 1.6)
    return _Scales(
        first=found(False, data.y),
        second=found(True, data.second or Axis()) if has_second else None,
        across=across,
    )


def _xs(xs: tuple[float | None, ...], count: int) -> list[float]:
    return [x for x in xs if x is not None] if xs else [at + 1.0 for at in range(count)]


_PAINTERS = {
    "column": bars,
    "bar": bars,
    "line": line_figures,
    "area": areas,
    "scatter": scatter,
}
_DEPTH = {"area": 0, "column": 1, "bar": 1, "line": 2, "scatter": 2}


def _series(data: ChartData, plane: Plane, scales: _Scales, show: Show) -> Iterator[Figure]:
    colors = {number: color for _, _, color, number in colored(data)}
    number = 0
    drawn: list[tuple[int, Plot, list[str]]] = []
    for plot in data.plots:
        own = [colors[number + at] for at in range(len(plot.series))]
        number += len(plot.series)
        drawn.append((_DEPTH[plot.kind], plot, own))
    for _, plot, own in sorted(drawn, key=lambda one: one[0]):
        here = plane
        if plot.is_second and scales.second is not None:
            here = replace(plane, scale=scales.second)
        yield from _PAINTERS[plot.kind](data, plot, here, own, show)


def _around(plane: Plane, sides: _Sides, scales: _Scales) -> Iterator[Figure]:
    rect = plane.rect
    ticks = [plane.scale.part(tick) for tick in plane.scale.ticks]
    places = [plane.share(at + 0.5) for at in range(plane.count)]
    if plane.is_lying:
        yield from axes.below(rect, sides.y, ticks, rect.bottom)
        yield from axes.beside(rect, sides.x, places)
        if sides.second is not None and scales.second is not None:
            others = [scales.second.part(tick) for tick in scales.second.ticks]
            yield from axes.above(rect, sides.second, others)
        return
    if scales.across is not None:
        places = [scales.across.part(tick) for tick in scales.across.ticks]
    base = rect.bottom - plane.scale.part(plane.scale.base) * rect.height
    yield from axes.below(rect, sides.x, places, base)
    yield from axes.beside(rect, sides.y, ticks)
    if sides.second is not None and scales.second is not None:
        others = [scales.second.part(tick) for tick in scales.second.ticks]
        yield from axes.beside(rect, sides.second, others, is_right=True)
