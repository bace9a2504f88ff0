"""What of a chart part is drawn: its series with the values it keeps, its axes, its looks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from lxml import etree

from ..canvas.chart.data import (
    DRAWN,
    GRID,
    ROUND,
    Axis,
    ChartData,
    Labels,
    Plot,
    Series,
    Show,
)
from ..canvas.chart.lines import automatic_marker
from ..canvas.face import face
from ..canvas.figure import Stroke
from ..package.drawing_color import Theme, is_unfilled, solid_fill
from ..package.guard import Element
from . import reference
from .facts import facts, words_of
from .point_label import label_cells, labels, point_labels
from .text_look import PX, points, text_run, text_type, title_type
from .vocabulary import (
    AXES,
    C_NS,
    a,
    c,
    child,
    groups,
    is_on,
    kind_of,
    local,
    plot_area,
    stacking_of,
    value,
)

_EMU = 9525  # of a pixel
_DASHES = {"solid": (), "dot": (1.0, 2.0), "sysDot": (1.0, 1.0), "dash": (4.0, 3.0)}
_LINE_PX, _SCATTER_PX = 3.0, 2.5
_NOT_DRAWN = {"trendline": "trend lines", "errBars": "error bars", "dTable": "the table below it"}
_BESIDE = {
    "hiLowLines": "lines from high to low",
    "upDownBars": "bars up and down",
    "dropLines": "lines down to the axis",
    "serLines": "lines between the parts of stacks",
}
_USUAL_TITLE = "Chart Title"  # what programs show of a title that says nothing
_FILLS = ("gradFill", "pattFill", "blipFill")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a chart takes from the file it is in: colours, the usual face, how numbers are shown."""

    theme: Theme
    face_name: str
    show: Show
    is_framed: bool = True
    """Whether a chart that says nothing of it has a ground and a line around it."""


def chart_data(root: Element, look: Look) -> ChartData:
    """Return what a chart shows; a kind that is not drawn keeps its name and its data."""
    if etree.QName(root).namespace != C_NS:
        return _newer(root, look)
    chart, area = child(root, "chart"), plot_area(root)
    found = groups(root)
    by_id = {value(axis, "axId"): axis for axis in _axes(area)}
    sides = [_sides(group, by_id) for group in found]
    first = sides[0] if sides else (None, None)
    plots = tuple(
        _plot(group, look, is_second=pair[1] is not None and pair[1] is not first[1], count=count)
        for group, pair, count in zip(found, sides, _counts(found), strict=True)
    )
    across, second = next(
        (pair for pair, p in zip(sides, plots, strict=True) if p.is_second), (None, None)
    )
    x = _axis(first[0], look)
    y = replace(_axis(first[1], look), crossed_at=_crossing(first[0]))
    if value(first[1], "crossBetween") == "midCat":
        x = replace(x, is_on_points=True)
    if plots and plots[0].stacking == "percent" and y.code == "General":
        y = replace(y, code=None)
    title = words_of(child(chart, "title"))
    if title is None:
        title = _own_title(chart, plots)
    return _dressed(
        root,
        look,
        ChartData(
            plots=plots,
            categories=_categories(found, look, x.code),
            title=title,
            x=x,
            y=y,
            second=None
            if second is None
            else replace(_axis(second, look), crossed_at=_crossing(across)),
            legend=_legend(chart),
            legend_type=text_type(child(child(chart, "legend"), "txPr"), look.theme),
            unlisted=_unlisted(chart),
            blanks=_blanks(chart),
            missing=tuple(_missing(root, found)),
        ),
    )


def _axes(area: Element | None) -> list[Element]:
    return [item for item in (area if area is not None else ()) if local(item) in AXES]


def _sides(
    group: Element, by_id: dict[str | None, Element]
) -> tuple[Element | None, Element | None]:
    """Return the axis of the categories and that of the values of a group."""
    ids = [one.get("val") for one in group.findall(c("axId"))]
    found = [by_id[one] for one in ids if one in by_id and local(by_id[one]) != "serAx"]
    if len(found) < 2:
        return None, None
    is_turned = local(found[1]) in ("catAx", "dateAx") and local(found[0]) == "valAx"
    is_upright = local(group) == "scatterChart" and value(found[0], "axPos") in ("l", "r")
    if is_turned or is_upright:
        found.reverse()
    return found[0], found[1]


def _counts(found: list[Element]) -> list[int]:
    """Return how many series come before each group."""
    counts, total = [], 0
    for group in found:
        counts.append(total)
        total += len(group.findall(c("ser")))
    return counts


def _own_title(chart: Element | None, plots: tuple[Plot, ...]) -> str | None:
    """Return the title that programs make up: the name of the only series."""
    series = [one for plot in plots for one in plot.series]
    is_wanted = child(chart, "title") is not None or (
        chart is not None and not is_on(chart, "autoTitleDeleted")
    )
    if len(series) == 1:
        return series[0].name or None if is_wanted else None
    return _USUAL_TITLE if child(chart, "title") is not None else None


def _plot(group: Element, look: Look, *, is_second: bool, count: int) -> Plot:
    kind = kind_of(group)
    usual = labels(child(group, "dLbls"), look.theme)
    found = [
        _series(ser, kind, group, look, count + at, usual)
        for at, ser in enumerate(group.findall(c("ser")))
    ]
    if kind == "pie of pie":
        kind = "pie"
    varied = child(group, "varyColors")
    return Plot(
        kind=kind,
        series=tuple(found),
        stacking=stacking_of(group),
        gap=_number(value(group, "gapWidth"), 150.0) / 100,
        overlap=_number(value(group, "overlap"), 0.0) / 100,
        hole=min(max(_number(value(group, "holeSize"), 50.0) / 100, 0.1), 0.9),
        first_angle=_number(value(group, "firstSliceAng"), 0.0),
        is_varied=kind in ROUND if varied is None else is_on(group, "varyColors"),
        is_second=is_second,
    )


def _series(
    ser: Element, kind: str, group: Element, look: Look, number: int, usual: Labels | None
) -> Series:
    held = child(ser, "yVal") if kind in ("scatter", "bubble") else child(ser, "val")
    values, code = _values(held)
    properties = child(ser, "spPr")
    line = properties.find(a("ln")) if properties is not None else None
    is_line = kind in ("line", "scatter", "radar")
    color = solid_fill(line, look.theme) if is_line else solid_fill(properties, look.theme)
    marker = _marker(ser, kind, group, number)
    if color is None and marker is not None:
        color = solid_fill(child(child(ser, "marker"), "spPr"), look.theme)
    own = child(ser, "dLbls")
    return Series(
        name=reference.shown_text(child(ser, "tx")) or f"Series{number + 1}",
        values=values,
        xs=_values(child(ser, "xVal"))[0] if kind in ("scatter", "bubble") else (),
        color=color,
        point_colors=tuple(_point_colors(ser, look.theme)),
        hollow=frozenset(_hollow(ser)),
        pulled=_pulled(ser),
        point_pulled=tuple(_points_pulled(ser)),
        border=None if is_line else _border(line, look.theme),
        line_width=_line_width(line, _SCATTER_PX if kind == "scatter" else _LINE_PX),
        dash=_dash(line),
        is_lined=not is_unfilled(line) and value(group, "scatterStyle") != "marker",
        is_filled=not is_unfilled(properties) or is_line,
        marker=marker,
        is_smooth=is_on(ser, "smooth"),
        labels=labels(own, look.theme) if own is not None else usual,
        point_labels=tuple(point_labels(own, look.theme)),
        label_cells=label_cells(ser),
        code=code,
        x_code=_values(child(ser, "xVal"))[1],
    )


def _values(holder: Element | None) -> tuple[tuple[float | None, ...], str]:
    """Return the numbers that are kept of cells, or written in the chart, and their format."""
    found = reference.read(holder)
    if found is not None and found.points:
        return tuple(map(_float, found.points[0])), found.format_code
    literal = child(holder, "numLit")
    kept: dict[int, float | None] = {}
    for point in literal.findall(c("pt")) if literal is not None else ():
        at, held = point.get("idx") or "", child(point, "v")
        if at.isdigit() and len(at) < 6 and held is not None:
            kept[int(at)] = _float(held.text)
    size = min(max(kept, default=-1) + 1, len(kept) * 64 + 64)
    return tuple(kept.get(at) for at in range(size)), "General"


def _marker(ser: Element, kind: str, group: Element, number: int) -> str | None:
    """Return the mark of a series' points: its own, else as the group has them."""
    if kind not in ("line", "scatter"):
        return None
    own = value(child(ser, "marker"), "symbol")
    if own == "none":
        return None
    if own and own != "auto":
        return own
    if kind == "line":
        is_marked = is_on(group, "marker") or child(ser, "marker") is not None
        return automatic_marker(number) if is_marked else None
    style = value(group, "scatterStyle") or ""
    return None if style in ("line", "smooth") else automatic_marker(number)


def _point_colors(ser: Element, theme: Theme) -> Iterator[tuple[int, str]]:
    for point in ser.findall(c("dPt")):
        at, color = value(point, "idx") or "", solid_fill(child(point, "spPr"), theme)
        if at.isdigit() and len(at) < 6 and color is not None:
            yield int(at), color


def _pulled(holder: Element) -> float:
    """Return how far slices stand out, in parts of the radius."""
    return min(max(_number(value(holder, "explosion"), 0.0) / 100, 0.0), 4.0)


def _points_pulled(ser: Element) -> Iterator[tuple[int, float]]:
    for point in ser.findall(c("dPt")):
        at = value(point, "idx") or ""
        if at.isdigit() and len(at) < 6 and child(point, "explosion") is not None:
            yield int(at), _pulled(point)


def _hollow(ser: Element) -> Iterator[int]:
    """Yield the points that say that nothing fills them."""
    for point in ser.findall(c("dPt")):
        at = value(point, "idx") or ""
        if at.isdigit() and len(at) < 6 and is_unfilled(child(point, "spPr")):
            yield int(at)


def _border(line: Element | None, theme: Theme) -> Stroke | None:
    """Return the line around what a series fills, where the chart gives it a colour."""
    color = solid_fill(line, theme)
    if color is None:
        return None
    return Stroke(color=color, width=_line_width(line, 1.0), dash=_dash(line))


def _blanks(chart: Element | None) -> str:
    """Return how points without a value are drawn; programs that do not say it mean a gap."""
    said = child(chart, "dispBlanksAs")
    return "gap" if said is None else said.get("val") or "zero"


def _categories(found: list[Element], look: Look, code: str | None) -> tuple[str, ...]:
    """Return the categories of the first series that has some; outer levels first.

    Numbers and dates have the format of their axis where it has one of its own.
    """
    for ser in (ser for group in found for ser in group.findall(c("ser"))):
        holder = child(ser, "cat")
        held = reference.read(holder)
        if held is not None and held.points and any(held.points):
            return _names(held.kind, held.points, code or held.format_code, look.show)
        literal = child(holder, "strLit")
        if literal is not None:
            return tuple(str(v.text or "") for v in literal.iter(c("v")))
    return ()


def _names(
    kind: str, points: tuple[tuple[str | None, ...], ...], code: str, show: Show
) -> tuple[str, ...]:
    if kind == "number":
        numbers = map(_float, points[0])
        return tuple("" if number is None else show(number, code) for number in numbers)
    if len(points) == 1:
        return tuple(text or "" for text in points[0])
    count = max(map(len, points))
    levels = [[level[at] if at < len(level) else None for at in range(count)] for level in points]
    return tuple(
        " ".join(level[at] or "" for level in reversed(levels)).strip() for at in range(count)
    )


def _axis(axis: Element | None, look: Look) -> Axis:
    if axis is None:
        return Axis(has_grid=False)
    scaling = child(axis, "scaling")
    code = child(axis, "numFmt")
    linked = code is None or code.get("sourceLinked") in ("1", "true")
    shown = not is_on(axis, "delete")
    lines = child(axis, "majorGridlines")
    looks = child(lines, "spPr")
    pen = looks.find(a("ln")) if looks is not None else None
    return Axis(
        title=words_of(child(axis, "title")) if shown else None,
        is_shown=shown,
        has_labels=value(axis, "tickLblPos") != "none",
        low=_float(value(scaling, "min")),
        high=_float(value(scaling, "max")),
        step=_float(value(axis, "majorUnit")),
        code=None if linked or code is None else code.get("formatCode"),
        has_grid=lines is not None and not is_unfilled(pen),
        grid=Stroke(
            color=solid_fill(pen, look.theme) or GRID.color,
            width=_line_width(pen, GRID.width),
            dash=_dash(pen),
        ),
        is_reversed=value(scaling, "orientation") == "maxMin",
        type=text_type(child(axis, "txPr"), look.theme),
        title_type=title_type(child(axis, "title"), look.theme),
        log_base=_float(value(scaling, "logBase")),
    )


def _crossing(axis: Element | None) -> float:
    """Return at which value of the other axis an axis stands."""
    said = value(axis, "crosses")
    end = {"max": math.inf, "min": -math.inf}.get(said or "", 0.0)
    return _float(value(axis, "crossesAt")) or end


def _legend(chart: Element | None) -> str | None:
    found = child(chart, "legend")
    return None if found is None else value(found, "legendPos") or "r"


def _unlisted(chart: Element | None) -> frozenset[int]:
    legend = child(chart, "legend")
    gone = (one for one in (legend if legend is not None else ()) if local(one) == "legendEntry")
    ids = (value(one, "idx") or "" for one in gone if is_on(one, "delete"))
    return frozenset(int(text) for text in ids if text.isdigit() and len(text) < 6)


def _missing(root: Element, found: list[Element]) -> Iterator[str]:
    names = {local(item) for item in root.iter("{*}*")}
    for name, words in (_NOT_DRAWN | _BESIDE).items():
        if name in names:
            yield (
                f"{words} of a chart are not drawn"
                if "table" not in words
                else ("the table below a chart is not drawn")
            )
    if any("3D" in local(group) for group in found):
        yield "a chart in three dimensions is drawn flat"
    if any(local(group) == "ofPieChart" for group in found):
        yield "a pie of a pie is drawn as one pie"
    fills = (item for holder in root.iter(c("spPr")) for item in holder)
    if any(local(item) in _FILLS for item in fills):
        yield "gradients, patterns and pictures in a chart are drawn as one colour"
    series = [ser for group in found for ser in group.findall(c("ser"))]
    if "dateAx" in names and any(map(_is_uneven, series)):
        yield "dates along an axis stand side by side, not as far apart as they are"
    if "dispUnits" in names:
        yield "the units of an axis (thousands, millions) are not drawn"


def _is_uneven(ser: Element) -> bool:
    """Whether dates of a series are not a day, or about a month, or about a year apart."""
    held = reference.read(child(ser, "cat"))
    days = [_float(one) for one in held.points[0]] if held and held.points else []
    known = [day for day in days if day is not None]
    if held is None or held.kind != "number" or len(known) < 3:
        return False
    steps = [after - before for before, after in pairwise(known)]
    return min(steps) <= 0 or max(steps) > 1.2 * min(steps)


def _dressed(root: Element, look: Look, data: ChartData) -> ChartData:
    """Return a chart with the looks its part says, and those that programs give without."""
    space, chart = child(root, "spPr"), child(root, "chart")
    line = space.find(a("ln")) if space is not None else None
    color = solid_fill(line, look.theme) or "#d9d9d9"
    has_line = not is_unfilled(line) and (look.is_framed or line is not None)
    border = Stroke(color=color, width=_line_width(line, 1.0)) if has_line else None
    ground = "#ffffff" if look.is_framed else None
    text = text_run(child(root, "txPr"))
    title = text_run(child(chart, "title"))
    size = points(text, 10.0)
    name = next((one.get("typeface") for one in _latin(text)), None)
    is_theme = name is None or name.startswith("+")
    return replace(
        data,
        face=face(look.face_name if is_theme else name),
        size=size * PX,
        title_size=points(title, size * 1.2 if text is not None else 18.0) * PX,
        title_color=solid_fill(title, look.theme),
        is_title_bold=title is None or title.get("b") not in ("0", "false"),
        color=solid_fill(text, look.theme) or look.theme.get("dk1", "#000000"),
        background=None if is_unfilled(space) else solid_fill(space, look.theme) or ground,
        plot_background=solid_fill(child(plot_area(root), "spPr"), look.theme),
        border=border,
        palette=tuple(look.theme.get(f"accent{n}", "#4472c4") for n in range(1, 7)),
    )


def _latin(run: Element | None) -> list[Element]:
    return run.findall(a("latin")) if run is not None else []


def _line_width(line: Element | None, usual: float) -> float:
    said = line.get("w") if line is not None else None
    return usual if said is None else min(max(_number(said, 9525.0) / _EMU, 0.5), 30.0)


def _dash(line: Element | None) -> tuple[float, ...]:
    said = line.find(a("prstDash")) if line is not None else None
    name = said.get("val") or "" if said is not None else "solid"
    unit = _line_width(line, 1.0)
    return tuple(part * unit for part in _DASHES.get(name, (4.0, 3.0)))


def _float(text: str | None) -> float | None:
    try:
        found = float(text) if text else None
    except ValueError:
        return None
    return found if found is not None and math.isfinite(found) and abs(found) < 1e300 else None


def _number(text: str | None, usual: float) -> float:
    found = _float((text or "").removesuffix("%"))
    return usual if found is None or abs(found) > 1e9 else found


def _newer(root: Element, look: Look) -> ChartData:
    """Return a chart of a kind that came with Excel 2016: never drawn, its data are told."""
    told = facts(root)
    texts = [_kept(one) for one in root.iter("{*}strDim")]
    numbers = [_kept(one) for one in root.iter("{*}numDim")]
    series = tuple(
        Series(name=f"Series{at + 1}", values=tuple(map(_float, held)))
        for at, held in enumerate(numbers)
    )
    kind = told.kind or "unknown"
    assert kind not in DRAWN, "newer kinds have names of their own"
    return ChartData(
        plots=(Plot(kind=kind, series=series),),
        categories=tuple(text or "" for text in texts[0]) if texts else (),
        title=told.title,
        face=face(look.face_name),
        title_size=18.67,
        is_title_bold=False,
    )


def _kept(dimension: Element) -> tuple[str | None, ...]:
    level = next(dimension.iter("{*}lvl"), None)
    return tuple(point.text for point in (level if level is not None else ()))[:10_000]
