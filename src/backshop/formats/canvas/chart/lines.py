"""Lines, areas and points: what joins one value to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..figure import Box, Figure, Oval, Path, Stroke
from .data import ChartData, Plot, Series, Show
from .lettering import Lettering
from .plane import Plane, label_text, point_color, stacked, stride

Point = tuple[float, float]
_MARK = 7.0
_MARKERS = ("diamond", "square", "triangle", "circle", "circle", "square")


def lines(
    data: ChartData, plot: Plot, plane: Plane, colors: Sequence[str], show: Show
) -> Iterator[Figure]:
    """Yield the lines of a plot, their marks, and what is written at them."""
    spans = stacked(plot, plane.count, data.blanks)
    for number, series in enumerate(plot.series):
        points = [
            (at, None if span is None else plane.at(at + 0.5, span[1]))
            for at, span in enumerate(spans[number])
        ]
        if data.blanks == "span":
            points = [(at, point) for at, point in points if point is not None]
        yield from _drawn(data, plot, series, colors[number], points, show)


def scatter(
    data: ChartData, plot: Plot, plane: Plane, colors: Sequence[str], show: Show
) -> Iterator[Figure]:
    """Yield the points of a scatter, joined where its series are."""
    for number, series in enumerate(plot.series):
        points: list[tuple[int, Point | None]] = []
        for at, value in enumerate(series.values):
            x = series.xs[at] if at < len(series.xs) else (None if series.xs else at + 1.0)
            known = x is not None and value is not None
            points.append(
                (at, plane.at(x, value) if known and x is not None and value is not None else None)
            )
        yield from _drawn(data, plot, series, colors[number], points, show)


def areas(
    data: ChartData, plot: Plot, plane: Plane, colors: Sequence[str], show: Show
) -> Iterator[Figure]:
    """Yield the areas of a plot; those behind first."""
    spans = stacked(plot, plane.count)
    for number, series in enumerate(plot.series):
        step = stride(plane.count)
        known = [(at, span) for at, span in enumerate(spans[number]) if span is not None][::step]
        if not known:
            continue
        top = [plane.at(at + 0.5, span[1]) for at, span in known]
        base = [plane.at(at + 0.5, plane.base(plot, span)) for at, span in known]
        fill = colors[number] if series.is_filled else None
        if fill is not None or series.border is not None:
            steps = (*_steps([*top, *reversed(base)]), ("Z",))
            yield Path(steps=steps, fill=fill, stroke=series.border)
        for at, span in known:
            text, labels = _said(data, plot, series, at, show), series.labels_at(at)
            if text and labels is not None:
                x, y = plane.at(at + 0.5, (span[0] + span[1]) / 2)
                yield Lettering.of(data, labels.type).centered(text, x, y)


def _drawn(
    data: ChartData,
    plot: Plot,
    series: Series,
    color: str,
    points: list[tuple[int, Point | None]],
    show: Show,
) -> Iterator[Figure]:
    kept = points[:: stride(len(points))]
    if series.is_lined:
        pen = Stroke(color=color, width=series.line_width, dash=series.dash)
        for run in _runs(kept):
            steps = _curve(run) if series.is_smooth else _steps(run)
            yield Path(steps=steps, stroke=pen)
    for at, point in kept:
        if point is not None and series.marker is not None:
            yield mark(series.marker, *point, point_color(data, plot, series, at, color))
    for at, point in kept:
        text, labels = _said(data, plot, series, at, show), series.labels_at(at)
        if point is not None and text and labels is not None:
            yield _label(Lettering.of(data, labels.type), text, point, labels.position)


def _label(lettering: Lettering, text: str, point: Point, where: str | None) -> Figure:
    """Return a label above its point, or where its chart wants it."""
    x, y = point
    away = lettering.width(text) / 2 + 7
    if where == "r" or where == "l":
        return lettering.centered(text, x + away if where == "r" else x - away, y)
    up = {"ctr": 0, "b": -1}.get(where or "t", 1)
    return lettering.centered(text, x, y - up * (lettering.height / 2 + 5))


def _said(data: ChartData, plot: Plot, series: Series, at: int, show: Show) -> str | None:
    value = series.values[at] if at < len(series.values) else None
    labels = series.labels_at(at)
    if labels is None or value is None:
        return None
    shown = [show(value, labels.code or series.code)]
    if plot.kind == "scatter":
        x = series.xs[at] if at < len(series.xs) else at + 1.0
        shown += ["", "" if x is None else show(x, series.x_code)]
    return label_text(data, plot, series, at, shown)


def _runs(points: list[tuple[int, Point | None]]) -> Iterator[list[Point]]:
    """Yield points that follow one another without a gap."""
    run: list[Point] = []
    for _, point in [*points, (0, None)]:
        if point is not None:
            run.append(point)
            continue
        if len(run) > 1:
            yield run
        run = []


def _steps(points: Sequence[Point]) -> tuple[tuple[str | float, ...], ...]:
    return tuple(("L" if at else "M", *point) for at, point in enumerate(points))


def _curve(points: Sequence[Point]) -> tuple[tuple[str | float, ...], ...]:
    """Return a smooth line through points, its direction at each that of its neighbours."""
    steps: list[tuple[str | float, ...]] = [("M", *points[0])]
    for at in range(len(points) - 1):
        before, here = points[max(at - 1, 0)], points[at]
        there, after = points[at + 1], points[min(at + 2, len(points) - 1)]
        first = (here[0] + (there[0] - before[0]) / 6, here[1] + (there[1] - before[1]) / 6)
        second = (there[0] - (after[0] - here[0]) / 6, there[1] - (after[1] - here[1]) / 6)
        steps.append(("C", *first, *second, *there))
    return tuple(steps)


def automatic_marker(index: int) -> str:
    """Return the mark that programs give to the series of a number."""
    return _MARKERS[index % len(_MARKERS)]


def mark(kind: str, x: float, y: float, color: str, size: float = _MARK) -> Figure:
    """Return the mark of a point."""
    half = size / 2
    if kind in ("square", "dash"):
        return Box(x=x - half, y=y - half, width=size, height=size, fill=color)
    corners = {
        "diamond": ((x, y - half), (x + half, y), (x, y + half), (x - half, y)),
        "triangle": ((x, y - half), (x + half, y + half), (x - half, y + half)),
    }.get(kind)
    if corners is None:
        return Oval(x=x - half, y=y - half, width=size, height=size, fill=color)
    return Path(steps=(*_steps(corners), ("Z",)), fill=color)
