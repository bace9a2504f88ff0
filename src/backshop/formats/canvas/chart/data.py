"""What a chart shows, whichever file it comes from (F43.10)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from ..face import Face
from ..figure import Figure, Stroke

Show = Callable[[float, str], str]
"""Writes a number as a format code has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """The look of a text where it is another one than that of the chart."""

    size: float | None = None
    color: str | None = None
    bold: bool | None = None
    italic: bool | None = None


DRAWN = frozenset({"column", "bar", "line", "area", "pie", "doughnut", "scatter"})
ROUND = frozenset({"pie", "doughnut"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What stands at each point of a series."""

    value: bool = False
    percent: bool = False
    category: bool = False
    series: bool = False
    cells: bool = False  # what stands in cells chosen for the labels
    code: str | None = None
    text: str | None = None  # words of its own
    position: str | None = None  # ctr, inEnd, inBase, outEnd, t, b, l, r
    type: Type = Type()


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A row of values; `xs` are those of a scatter. None is a gap."""

    name: str
    values: tuple[float | None, ...]
    xs: tuple[float | None, ...] = ()
    color: str | None = None  # None: the next one of the theme
    point_colors: tuple[tuple[int, str], ...] = ()
    line_width: float = 2.0
    dash: tuple[float, ...] = ()
    is_lined: bool = True  # whether its points are joined
    is_filled: bool = True
    hollow: frozenset[int] = frozenset()  # points that are not filled though the series is
    border: Stroke | None = None  # around columns, areas and slices
    pulled: float = 0.0  # how far slices stand out, in parts of the radius
    point_pulled: tuple[tuple[int, float], ...] = ()
    marker: str | None = None  # circle, square, diamond, triangle; None: no marks
    is_smooth: bool = False
    labels: Labels | None = None
    point_labels: tuple[tuple[int, Labels | None], ...] = ()  # of points with a label of their own
    label_cells: tuple[str, ...] = ()
    code: str = "General"
    x_code: str = "General"

    def pulled_at(self, at: int) -> float:
        """How far one slice stands out."""
        return dict(self.point_pulled).get(at, self.pulled)

    def is_filled_at(self, at: int) -> bool:
        """Whether one point is filled."""
        return self.is_filled and at not in self.hollow

    def labels_at(self, at: int) -> Labels | None:
        """What stands at one point."""
        return dict(self.point_labels).get(at, self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Series that are drawn in one way; `is_second` by the axis on the other side."""

    kind: str  # of DRAWN, else in words
    series: tuple[Series, ...]
    stacking: str = "none"  # stacked, percent
    gap: float = 1.5  # between columns, in parts of one
    overlap: float = 0.0
    hole: float = 0.5  # of a doughnut, in parts of it
    first_angle: float = 0.0  # of a pie, clockwise from the top
    is_varied: bool = False  # each point in a colour of its own
    is_second: bool = False


GRID = Stroke(color="#868686", width=1.0)
"""Grid lines of which nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis; what is None is chosen."""

    title: str | None = None
    is_shown: bool = True
    has_labels: bool = True
    low: float | None = None
    high: float | None = None
    step: float | None = None
    code: str | None = None
    has_grid: bool = False
    grid: Stroke = GRID
    is_reversed: bool = False
    log_base: float | None = None
    is_on_points: bool = False  # categories stand on the ticks, not between them
    crossed_at: float = 0.0  # the value at which the categories stand
    type: Type = Type()
    title_type: Type = Type(bold=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartData:
    """A chart: its plots, its words and its look. `x` is the axis of the categories."""

    plots: tuple[Plot, ...]
    categories: tuple[str, ...] = ()
    title: str | None = None
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=lambda: Axis(has_grid=True))
    second: Axis | None = None
    legend: str | None = None  # r, l, t, b, tr
    legend_type: Type = Type()
    unlisted: frozenset[int] = frozenset()  # series that the legend leaves out
    blanks: str = "gap"  # gap, zero, span
    face: Face = field(default_factory=Face)
    size: float = 13.33
    title_size: float = 24.0
    title_color: str | None = None
    is_title_bold: bool = True
    color: str = "#000000"
    background: str | None = "#ffffff"
    plot_background: str | None = None
    border: Stroke | None = field(default_factory=lambda: Stroke(color="#868686", width=1.0))
    palette: tuple[str, ...] = (
        "#4472c4",
        "#ed7d31",
        "#a5a5a5",
        "#ffc000",
        "#5b9bd5",
        "#70ad47",
    )
    missing: tuple[str, ...] = ()  # what its reader already knows is not drawn

    @property
    def series(self) -> tuple[Series, ...]:
        """All its series, in the order in which they are listed."""
        return tuple(one for plot in self.plots for one in plot.series)

    @property
    def shows(self) -> str:
        """A sign of its words and values, to 15 digits: the same where it shows the same."""
        rows = [(one.name, *map(_digits, (one.values, one.xs))) for one in self.series]
        told = repr((self.title, self.categories, rows))
        return hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its plots, each once."""
        return tuple(dict.fromkeys(plot.kind for plot in self.plots))


def _digits(values: tuple[float | None, ...]) -> list[str]:
    return ["" if one is None else f"{one:.15g}" for one in values]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """Where something is drawn."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height

    def shrunk(
        self, left: float = 0.0, top: float = 0.0, right: float = 0.0, bottom: float = 0.0
    ) -> Rect:
        """Return what is left when something is taken off at its sides."""
        return Rect(
            x=self.x + left,
            y=self.y + top,
            width=max(1.0, self.width - left - right),
            height=max(1.0, self.height - top - bottom),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPicture:
    """A chart drawn; `missing` says in words what was not drawn as it is."""

    figures: tuple[Figure, ...]
    missing: tuple[str, ...] = ()
