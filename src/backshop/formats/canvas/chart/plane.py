"""The plane that columns, lines and points are drawn on: from categories and values to pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .data import ChartData, Plot, Rect, Series
from .scale import Scale

MOST_POINTS = 2_000  # of a series; what has more is drawn by some of them

Value = float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """Where a category and a value lie; `is_lying` has the categories one above the other."""

    rect: Rect
    scale: Scale
    count: int
    is_lying: bool = False
    is_on_points: bool = False
    is_reversed: bool = False
    across: Scale | None = None  # of the numbers along x, in a scatter

    def at(self, place: float, value: float) -> tuple[float, float]:
        """Return the pixel of a place among the categories (0.5 is the middle of the first)."""
        along, share = self.scale.part(value), self.share(place)
        if self.is_lying:
            return (
                self.rect.x + along * self.rect.width,
                self.rect.bottom - share * self.rect.height,
            )
        return self.rect.x + share * self.rect.width, self.rect.bottom - along * self.rect.height

    def share(self, place: float) -> float:
        """Return how far along the axis of the categories a place is, from 0 to 1."""
        if self.across is not None:
            return self.across.part(place)
        if self.is_on_points:
            found = (place - 0.5) / max(1, self.count - 1) if self.count > 1 else 0.5
        else:
            found = place / max(1, self.count)
        return 1 - found if self.is_reversed else found

    def base(self, plot: Plot, span: tuple[float, float]) -> float:
        """Return the value on which a point stands: the axis, or what it is stacked on."""
        if plot.stacking == "none":
            return self.scale.base
        return max(self.scale.low, min(span[0], self.scale.high))

    @property
    def band(self) -> float:
        """How many pixels a category has."""
        return (self.rect.height if self.is_lying else self.rect.width) / max(1, self.count)


def palette_color(data: ChartData, index: int) -> str:
    """Return the colour that programs give to the series or point of a number."""
    base = data.palette[index % len(data.palette)]
    turn = index // len(data.palette) % 3
    if not turn:
        return base
    parts = [int(base[at : at + 2], 16) for at in (1, 3, 5)]
    mixed = [round(p * 0.6) if turn == 1 else round(p + (255 - p) * 0.4) for p in parts]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def colored(data: ChartData) -> Iterator[tuple[Plot, Series, str, int]]:
    """Go through all series with the colour of each and its number."""
    index = 0
    for plot in data.plots:
        for series in plot.series:
            yield plot, series, series.color or palette_color(data, index), index
            index += 1


def point_color(data: ChartData, plot: Plot, series: Series, at: int, color: str) -> str:
    """Return the colour of one point."""
    own = dict(series.point_colors).get(at)
    if own is not None:
        return own
    return palette_color(data, at) if plot.is_varied and len(data.series) == 1 else color


def stacked(plot: Plot, count: int, blanks: str = "gap") -> list[list[tuple[float, float] | None]]:
    """Return from where to where each point of each series reaches, stacked as the plot says.

    Columns and bars below zero stand on one another downwards; lines and areas add up whatever the
    sign. A blank of an area, and of a line whose chart wants that, counts as zero.
    """
    adds_up = plot.kind in ("line", "area")
    is_zero = plot.kind == "area" or (plot.kind == "line" and blanks == "zero")
    totals = [
        sum(abs(value) for series in plot.series if (value := _value(series, at)) is not None)
        for at in range(count)
    ]
    high, low = [0.0] * count, [0.0] * count
    found: list[list[tuple[float, float] | None]] = []
    for series in plot.series:
        spans: list[tuple[float, float] | None] = []
        for at in range(count):
            value = _value(series, at)
            if value is None and not is_zero:
                spans.append(None)
                continue
            value = value or 0.0
            if plot.stacking == "none":
                spans.append((0.0, value))
                continue
            if plot.stacking == "percent":
                value = value / totals[at] if totals[at] else 0.0
            sums = low if value < 0 and not adds_up else high
            spans.append((sums[at], sums[at] + value))
            sums[at] += value
        found.append(spans)
    return found


def _value(series: Series, at: int) -> Value:
    return series.values[at] if at < len(series.values) else None


def stride(count: int) -> int:
    """Return of how many points one is drawn."""
    return max(1, -(-count // MOST_POINTS))


def label_text(
    data: ChartData, plot: Plot, series: Series, at: int, shown: Sequence[str]
) -> str | None:
    """Return what stands at a point: its series, category, value and share, as far as wanted.

    `shown` are the value, the share and what stands for the category, each where there is one.
    """
    labels = series.labels_at(at)
    value = _value(series, at)
    if labels is None or value is None:
        return None
    if labels.text is not None:
        return labels.text or None
    category = data.categories[at] if at < len(data.categories) else str(at + 1)
    if len(shown) > 2:
        category = shown[2]
    wanted = (
        (labels.cells, series.label_cells[at] if at < len(series.label_cells) else ""),
        (labels.series, series.name),
        (labels.category, category),
        (labels.value, shown[0]),
        (labels.percent, shown[1] if len(shown) > 1 else ""),
    )
    return "; ".join(text for is_on, text in wanted if is_on and text) or None
