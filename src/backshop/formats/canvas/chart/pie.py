"""Pies and doughnuts: what each point has of the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ..figure import Figure, Oval, Path, Stroke, Text
from .data import ChartData, Plot, Rect, Series, Show
from .lettering import Lettering
from .plane import label_text, palette_color

_BETWEEN = Stroke(color="#ffffff", width=1.0)
_MOST = 500  # slices


def pies(data: ChartData, plot: Plot, rect: Rect, show: Show) -> Iterator[Figure]:
    """Yield the slices of a pie, or the rings of a doughnut from inside out."""
    rings = plot.series if plot.kind == "doughnut" else plot.series[:1]
    has_outer = any(one.labels or one.point_labels for one in rings) and plot.kind == "pie"
    radius = max(
        4.0, min(rect.width, rect.height) / 2 - (Lettering.of(data).height + 6) * has_outer
    )
    outer = plot.series[-1:] if plot.kind == "doughnut" else rings
    radius /= 1 + max((_furthest(series) for series in outer), default=0.0)
    inner = radius * plot.hole if plot.kind == "doughnut" else 0.0
    thick = (radius - inner) / max(1, len(rings))
    for number, series in enumerate(rings):
        near = inner + number * thick
        is_outer = series is rings[-1]
        yield from _ring(data, plot, series, rect, (near, near + thick), show, is_outer=is_outer)


def _furthest(series: Series) -> float:
    return max((series.pulled, *(far for _, far in series.point_pulled)))


def _ring(
    data: ChartData,
    plot: Plot,
    series: Series,
    room: Rect,
    radii: tuple[float, float],
    show: Show,
    *,
    is_outer: bool,
) -> Iterator[Figure]:
    center = (room.x + room.width / 2, room.y + room.height / 2)
    values = [abs(value or 0.0) for value in series.values[:_MOST]]
    whole = sum(values)
    turn = plot.first_angle
    written: list[Figure] = []
    for at, value in enumerate(values):
        share = value / whole if whole else 0.0
        color = slice_color(data, plot, series, at)
        far = series.pulled_at(at) * radii[1] if is_outer else 0.0
        middle = _at(center, far, turn + 180 * share)
        if share:
            fill = color if series.is_filled_at(at) else None
            yield _slice(middle, radii, turn, 360 * share, fill, series.border or _BETWEEN)
        own = series.values[at]
        labels = series.labels_at(at)
        if labels is not None and own is not None and share:
            percent = labels.code if labels.code and not labels.value else "0%"
            shown = (show(own, labels.code or series.code), show(share, percent))
            text = label_text(data, plot, series, at, shown)
            if text:
                where, lettering = labels.position, Lettering.of(data, labels.type)
                label = _label(lettering, text, middle, radii, turn + 180 * share, where)
                written.append(_inside(label, lettering.width(text), room))
        turn += 360 * share
    yield from written


def slice_color(data: ChartData, plot: Plot, series: Series, at: int) -> str:
    """Return the colour of a slice: a point's own, or the next one."""
    own = dict(series.point_colors).get(at)
    if own is not None:
        return own
    return palette_color(data, at) if plot.is_varied else series.color or palette_color(data, 0)


def _label(
    lettering: Lettering,
    text: str,
    middle: tuple[float, float],
    radii: tuple[float, float],
    angle: float,
    where: str | None,
) -> Text:
    if radii[0] > 0 or where == "ctr":
        return lettering.centered(text, *_at(middle, sum(radii) / 2, angle))
    out = -1 if where == "inEnd" else 1
    x, y = _at(middle, radii[1] + out * lettering.height * 0.7, angle)
    x += out * math.sin(math.radians(angle)) * lettering.width(text) / 2
    return lettering.centered(text, x, y)


def _inside(label: Text, width: float, room: Rect) -> Text:
    """Return a label within the room of the chart, as far as that is wide enough."""
    least, most = room.x + width / 2, room.right - width / 2
    return replace(label, x=min(max(label.x, least), most) if least < most else label.x)


def _at(middle: tuple[float, float], radius: float, angle: float) -> tuple[float, float]:
    """Return the point at an angle, clockwise from the top."""
    turn = math.radians(angle)
    return middle[0] + radius * math.sin(turn), middle[1] - radius * math.cos(turn)


def _slice(
    middle: tuple[float, float],
    radii: tuple[float, float],
    start: float,
    sweep: float,
    color: str | None,
    pen: Stroke,
) -> Figure:
    inner, outer = radii
    if sweep >= 359.99 and not inner:
        x, y = middle
        side = 2 * outer
        return Oval(x=x - outer, y=y - outer, width=side, height=side, fill=color, stroke=pen)
    steps: list[tuple[str | float, ...]] = [("M", *_at(middle, outer, start))]
    steps += _arc(middle, outer, start, sweep)
    if inner:
        steps.append(("L", *_at(middle, inner, start + sweep)))
        steps += _arc(middle, inner, start + sweep, -sweep)
    else:
        steps.append(("L", *middle))
    return Path(steps=(*steps, ("Z",)), fill=color, stroke=pen)


def _arc(
    middle: tuple[float, float], radius: float, start: float, sweep: float
) -> list[tuple[str | float, ...]]:
    """Return an arc as curves, each at most a quarter of a circle."""
    pieces = max(1, math.ceil(abs(sweep) / 90))
    step = sweep / pieces
    long = 4 / 3 * math.tan(math.radians(step) / 4) * radius
    found: list[tuple[str | float, ...]] = []
    for piece in range(pieces):
        one, two = start + piece * step, start + (piece + 1) * step
        (x1, y1), (x2, y2) = _at(middle, radius, one), _at(middle, radius, two)
        a, b = math.radians(one), math.radians(two)
        found.append(
            (
                "C",
                *(x1 + long * math.cos(a), y1 + long * math.sin(a)),
                *(x2 - long * math.cos(b), y2 - long * math.sin(b)),
                *(x2, y2),
            )
        )
    return found
