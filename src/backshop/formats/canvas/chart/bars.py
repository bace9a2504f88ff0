"""Columns and bars: side by side, or on one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..figure import Box, Figure
from .data import ChartData, Plot, Series, Show
from .lettering import Lettering
from .plane import Plane, label_text, point_color, stacked, stride

_THINNEST = 0.5


def bars(
    data: ChartData, plot: Plot, plane: Plane, colors: Sequence[str], show: Show
) -> Iterator[Figure]:
    """Yield the columns of a plot, then what is written at them."""
    spans = stacked(plot, plane.count)
    lettering = Lettering.of(data)
    written: list[Figure] = []
    for number, series in enumerate(plot.series):
        for at in range(0, plane.count, stride(plane.count)):
            span = spans[number][at]
            if span is None:
                continue
            color = point_color(data, plot, series, at, colors[number])
            box = _box(plot, plane, number, at, span, color if series.is_filled else None)
            yield box
            shown = _said(data, plot, series, at, show)
            if shown:
                written.append(_label(plot, plane, box, shown, lettering, span[1] >= span[0]))
    yield from written


def _box(
    plot: Plot, plane: Plane, number: int, at: int, span: tuple[float, float], color: str | None
) -> Box:
    """Return one column; those of a category share its band, with the gap around them."""
    step = 1 - (plot.overlap if plot.stacking == "none" else 1.0)
    wide = 1 + max(0, len(plot.series) - 1) * step
    thick = 1 / (wide + plot.gap)
    start = at + plot.gap / 2 * thick + number * step * thick
    base = max(plane.scale.low, min(span[0], plane.scale.high))
    (x1, y1), (x2, y2) = plane.at(start, base), plane.at(start + thick, span[1])
    return Box(
        x=min(x1, x2),
        y=min(y1, y2),
        width=max(abs(x2 - x1), _THINNEST),
        height=max(abs(y2 - y1), _THINNEST),
        fill=color,
    )


def _said(data: ChartData, plot: Plot, series: Series, at: int, show: Show) -> str | None:
    value = series.values[at] if at < len(series.values) else None
    if series.labels is None or value is None:
        return None
    return label_text(data, plot, series, at, (show(value, series.labels.code or series.code),))


def _label(
    plot: Plot, plane: Plane, box: Box, text: str, lettering: Lettering, is_up: bool
) -> Figure:
    middle = (box.x + box.width / 2, box.y + box.height / 2)
    if plot.stacking != "none":
        return lettering.centered(text, *middle)
    room = lettering.height / 2 + 2
    if plane.is_lying:
        half = lettering.width(text) / 2 + 3
        return lettering.centered(
            text, box.x + box.width + half if is_up else box.x - half, middle[1]
        )
    return lettering.centered(text, middle[0], box.y - room if is_up else box.y + box.height + room)
