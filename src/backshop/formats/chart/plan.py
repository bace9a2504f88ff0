"""What a chart is to show, in words that know nothing of the file its numbers come from."""

from __future__ import annotations

from dataclasses import dataclass

GENERAL = "General"
Points = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Cells that a chart shows: where they are, and what they hold.

    `kind`: number, text, or levels (several texts for each point, the innermost first). `points`
    has one list for each level; None where what the cells hold is not kept in the chart.
    """

    formula: str
    kind: str = "number"
    points: tuple[Points, ...] | None = None
    format_code: str = GENERAL


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPlan:
    """One series: a name (cells, or a text of its own), categories or x values, and values."""

    name: Reference | str | None
    categories: Reference | None
    values: Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPlan:
    """The kind of a chart, and its series."""

    kind: str
    stacking: str
    series: tuple[SeriesPlan, ...]
    has_dates: bool = False  # on the axis of the categories
    is_1904: bool = False
