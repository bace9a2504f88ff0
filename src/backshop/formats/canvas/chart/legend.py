"""Which colour is which series: the legend of a chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..figure import Box, Figure, Path, Stroke
from ..text_block import Line, Run, lines
from .data import ROUND, ChartData, Rect
from .lettering import Lettering
from .lines import mark
from .pie import slice_color
from .plane import colored, palette_color

_SWATCH, _GAP = 9.0, 6.0
_LONGEST = 0.35  # of the chart's width beside it
_MOST = 60
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A name and how its series looks."""

    name: str
    color: str | None
    border: Stroke | None = None
    is_line: bool = False
    marker: str | None = None


def entries(data: ChartData) -> list[Entry]:
    """Return what a legend lists: the series, or the points of a single varied one."""
    first = data.plots[0] if data.plots else None
    if first is not None and first.series and first.kind in ROUND:
        one = first.series[0]
        count = max(len(series.values) for series in first.series)
        names = [_name(data, at) for at in range(min(count, _MOST))]
        return [
            Entry(
                name=name,
                color=slice_color(data, first, one, at) if one.is_filled_at(at) else None,
                border=one.border,
            )
            for at, name in enumerate(names)
        ]
    if first is not None and first.is_varied and len(data.series) == 1:
        count = min(len(first.series[0].values), _MOST)
        return [Entry(name=_name(data, at), color=palette_color(data, at)) for at in range(count)]
    return [
        Entry(
            name=series.name[:_LONGEST_NAME],
            color=color if series.is_filled else None,
            border=series.border,
            is_line=plot.kind in ("line", "scatter") and series.is_lined,
            marker=series.marker if plot.kind in ("line", "scatter") else None,
        )
        for plot, series, color, number in colored(data)
        if number not in data.unlisted
    ][:_MOST]


def _name(data: ChartData, at: int) -> str:
    return data.categories[at][:_LONGEST_NAME] if at < len(data.categories) else str(at + 1)


def legend(data: ChartData, rect: Rect) -> tuple[list[Figure], Rect]:
    """Return the figures of the legend, and the room that is left beside it."""
    found = entries(data)
    if data.legend is None or not found:
        return [], rect
    if data.legend in ("t", "b"):
        return _row(data, rect, found)
    return _column(data, rect, found[::-1] if _is_upward(data) else found)


def _is_upward(data: ChartData) -> bool:
    """Say whether series stand on one another, so that a list beside them begins at the top."""
    kinds = {(plot.kind, plot.stacking != "none") for plot in data.plots}
    return len(data.series) > 1 and kinds <= {("column", True), ("area", True), ("bar", False)}


def _column(data: ChartData, rect: Rect, found: list[Entry]) -> tuple[list[Figure], Rect]:
    lettering = Lettering.of(data, data.legend_type)
    swatch = _swatch(found)
    most = max(rect.width * _LONGEST - swatch - _GAP, 20.0)
    names = [_lines(lettering, entry.name, most) for entry in found]
    width = max(line.width for name in names for line in name) + swatch + 3 * _GAP
    step = min(lettering.height + 4, max(rect.height / max(1, sum(map(len, names))), 6.0))
    height = step * sum(map(len, names))
    y = rect.y + max(0.0, (rect.height - height) / 2)
    if data.legend == "tr":
        y = rect.y
    x = rect.x if data.legend == "l" else rect.right - width
    figures: list[Figure] = []
    for entry, name in zip(found, names, strict=True):
        figures += _sign(entry, x + _GAP, y + step / 2, swatch)
        for line in name:
            drop = y + step / 2 + (line.ascent - line.descent) / 2
            figures += line.figures(x + _GAP + swatch + 4, drop)
            y += step
    left = width if data.legend == "l" else 0.0
    return figures, rect.shrunk(left=left, right=width - left)


def _row(data: ChartData, rect: Rect, found: list[Entry]) -> tuple[list[Figure], Rect]:
    lettering = Lettering.of(data, data.legend_type)
    swatch = _swatch(found)
    rows: list[list[tuple[Entry, float]]] = [[]]
    used = 0.0
    for entry in found:
        width = swatch + 4 + lettering.width(entry.name) + 2 * _GAP
        if rows[-1] and used + width > rect.width:
            rows.append([])
            used = 0.0
        rows[-1].append((entry, width))
        used += width
    step = lettering.height + 4
    height = min(step * len(rows), rect.height / 2)
    y = rect.y if data.legend == "t" else rect.bottom - height
    figures: list[Figure] = []
    for row in rows:
        x = rect.x + max(0.0, (rect.width - sum(width for _, width in row)) / 2)
        for entry, width in row:
            figures += _sign(entry, x + _GAP, y + step / 2, swatch)
            figures.append(lettering.line(entry.name, x + _GAP + swatch + 4, y + step / 2))
            x += width
        y += step
    room = height + 4
    is_top = data.legend == "t"
    return figures, rect.shrunk(top=room * is_top, bottom=room * (not is_top))


def _swatch(found: list[Entry]) -> float:
    return 28.0 if any(entry.is_line for entry in found) else _SWATCH


def _lines(look: Lettering, name: str, width: float) -> list[Line]:
    run = Run(text=name, face=look.face, size=look.size, color=look.color)
    return lines([run], width)[:6]


def _sign(entry: Entry, x: float, y: float, width: float) -> Iterator[Figure]:
    color = entry.color or "#000000"
    if entry.is_line:
        pen = Stroke(color=color, width=2.0)
        yield Path(steps=(("M", x, y), ("L", x + width, y)), stroke=pen)
    elif entry.marker is None:
        side = min(width, _SWATCH)
        left = x + (width - side) / 2
        yield Box(
            x=left, y=y - side / 2, width=side, height=side, fill=entry.color, stroke=entry.border
        )
    if entry.marker is not None:
        yield mark(entry.marker, x + width / 2, y, color)
