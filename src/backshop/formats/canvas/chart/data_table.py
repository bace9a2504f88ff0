"""A chart of a kind that is not drawn: a frame with its kind in words and its data as a table."""

from __future__ import annotations

from collections.abc import Iterator

from ..figure import Figure, Path, Stroke
from .data import ChartData, Rect, Show
from .lettering import Lettering

_LINE = Stroke(color="#d9d9d9", width=1.0)
_MOST_COLUMNS = 8


def data_table(data: ChartData, rect: Rect, words: str, show: Show) -> Iterator[Figure]:
    """Yield what the chart is, and as many of its values as there is room for."""
    lettering = Lettering.of(data)
    step = lettering.height + 4
    middle = rect.x + rect.width / 2
    yield lettering.centered(lettering.cut(words, rect.width), middle, rect.y + step / 2)
    rows = _rows(data, show)
    room = max(0, int((rect.height - step) / step))
    if not rows or not room:
        return
    width = rect.width / max(map(len, rows))
    for number, row in enumerate(rows[:room]):
        y = rect.y + step * (number + 1)
        yield Path(steps=(("M", rect.x, y), ("L", rect.right, y)), stroke=_LINE)
        is_last = number == room - 1 and len(rows) > room
        for at, text in enumerate(("…",) if is_last else row):
            cell = lettering.cut(text, width - 6)
            yield lettering.line(cell, rect.x + at * width + 3, y + step / 2)


def _rows(data: ChartData, show: Show) -> list[tuple[str, ...]]:
    series = data.series[:_MOST_COLUMNS]
    if not series:
        return []
    rows: list[tuple[str, ...]] = [("", *(one.name for one in series))]
    for at in range(max(len(one.values) for one in series)):
        name = data.categories[at] if at < len(data.categories) else str(at + 1)
        values = (one.values[at] if at < len(one.values) else None for one in series)
        shown = ("" if v is None else show(v, s.code) for v, s in zip(values, series, strict=True))
        rows.append((name, *shown))
    return rows
