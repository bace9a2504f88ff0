"""Columns and bars: side by side, or on one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    written: list[Figure] = []
    for number, series in enumerate(plot.series):
        for at in range(0, plane.count, stride(plane.count)):
            span = spans[number][at]
            if span is None:
                continue
            color = point_color(data, plot, series, at, colors[number])
            fill = color if series.is_filled_at(at) else None
            box = replace(_box(plot, plane, number, at, span), fill=fill, stroke=series.border)
            yield box
            labels = series.labels_at(at)
            shown = _said(data, plot, series, at, show)
            if shown and labels is not None:
                lettering, where = Lettering.of(data, labels.type), labels.position
                is_up = (span[1] >= plane.base(plot, span)) is not plane.scale.is_reversed
                written.append(_label(_where(plot, where), plane, box, shown, lettering, is_up))
    yield from written


def _box(plot: Plot, plane: Plane, number: int, at: int, span: tuple[float, float]) -> Box:
    """Return one column; those of a category share its band, with the gap around them."""
    step = 1 - (plot.overlap if plot.stacking == "none" else 1.0)
    wide = 1 + max(0, len(plot.series) - 1) * step
    thick = 1 / (wide + plot.gap)
    start = at + plot.gap / 2 * thick + number * step * thick
    base = plane.base(plot, span)
    (x1, y1), (x2, y2) = plane.at(start, base), plane.at(start + thick, span[1])
    return Box(
        x=min(x1, x2),
        y=min(y1, y2),
        width=max(abs(x2 - x1), _THINNEST),
        height=max(abs(y2 - y1), _THINNEST),
    )


def _said(data: ChartData, plot: Plot, series: Series, at: int, show: Show) -> str | None:
    value = series.values[at] if at < len(series.values) else None
    labels = series.labels_at(at)
    if labels is None or value is None:
        return None
    return label_text(data, plot, series, at, (show(value, labels.code or series.code),))


def _where(plot: Plot, said: str | None) -> str:
    """Return where labels stand: as said, else beyond the end, or in the middle of a stack."""
    if said in ("ctr", "inEnd", "inBase"):
        return said
    return "outEnd" if plot.stacking == "none" else "ctr"


def _label(
    where: str, plane: Plane, box: Box, text: str, lettering: Lettering, is_up: bool
) -> Figure:
    middle = (box.x + box.width / 2, box.y + box.height / 2)
    if where == "ctr":
        return lettering.centered(text, *middle)
    out = 1 if where == "outEnd" else -1
    is_far = is_up is not (where == "inBase")  # at the right or upper side of the box
    if plane.is_lying:
        half = (lettering.width(text) / 2 + 3) * out
        x = box.x + box.width + half if is_far else box.x - half
        return lettering.centered(text, x, middle[1])
    room = (lettering.height / 2 + 2) * out
    return lettering.centered(
        text, middle[0], box.y - room if is_far else box.y + box.height + room
    )
