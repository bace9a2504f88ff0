"""Another kind for a chart that is there: series, titles and looks stay, axes follow."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from ..package.guard import Element
from . import factory, reference
from .surrounding import axes, turn_title
from .vocabulary import (
    a,
    c,
    child,
    ensure,
    groups,
    is_on,
    kind_of,
    local,
    plot_area,
    put,
    remove,
    series_order,
    set_value,
    stacking_of,
    value,
)

CONVERTIBLE = frozenset(
    (
        *("barChart", "lineChart", "areaChart", "pieChart", "doughnutChart", "scatterChart"),
        "radarChart",
    )
)
_BEARING = {  # what says something by itself, and cannot be drawn in every kind
    "trendline": "a trend line",
    "errBars": "error bars",
    "dropLines": "drop lines",
    "hiLowLines": "high-low lines",
    "upDownBars": "up-down bars",
    "serLines": "series lines",
}
_LABEL_PLACES = {
    "column": ("ctr", "inEnd", "inBase", "outEnd"),
    "bar": ("ctr", "inEnd", "inBase", "outEnd"),
    "line": ("t", "b", "l", "r", "ctr"),
    "scatter": ("t", "b", "l", "r", "ctr"),
    "pie": ("bestFit", "ctr", "inEnd", "outEnd"),
    "area": (),
}
_OUTSIDE = "outEnd"
_SWAPPED = {"cat": "xVal", "val": "yVal"}
_OF_BARS = ("invertSolidFillFmt",)
_SAID = ("invertIfNegative", "marker", "smooth")  # of a series; read differently where it is not
_LINE_EMU = "28575"


def hindrance(root: Element, kind: str) -> str | None:
    """Return why a chart cannot become another kind without losing something, None where it can."""
    found = groups(root)
    if child(root, "pivotSource") is not None:
        return "it shows a pivot table"
    if len(found) != 1:
        return "it draws its series in several ways" if found else "it has no series"
    (group,) = found
    if local(group) not in CONVERTIBLE:
        return f"a chart of the kind {kind_of(group)} has parts that no other kind can show"
    if child(group, "extLst") is not None:
        return "it has series that a filter hides"
    if kind == "pie" and len(group.findall(c("ser"))) > 1:
        return f"a pie shows one series, and it has {len(group.findall(c('ser')))}"
    if kind in ("pie", "scatter") and child(plot_area(root), "dTable") is not None:
        return f"it has a data table, which {kind} charts do not show"
    kept = _kept(kind)
    for item in group.iter("{*}*"):
        word = _BEARING.get(local(item))
        if word and local(item) not in kept:
            return f"it has {word}, which {kind} charts do not show"
    if kind == "scatter" and local(group) != "scatterChart":
        for ser in group.findall(c("ser")):
            named = reference.read(child(ser, "cat"))
            if named is not None and named.kind != "number":
                return "a scatter needs numbers for x, and its categories are words"
    return None


def _kept(kind: str) -> set[str]:
    bare = {"column": "barChart", "bar": "barChart"}.get(kind, f"{kind}Chart")
    lines = {"line": {"dropLines", "hiLowLines", "upDownBars"}, "area": {"dropLines"}}
    bars = {"serLines"} if bare == "barChart" else set()
    return {*series_order(bare), *lines.get(kind, set()), *bars}


def convert(root: Element, kind: str, stacking: str) -> None:
    """Let a chart be of another kind; `hindrance` was asked before."""
    (old,) = groups(root)
    if kind_of(old) == kind and stacking_of(old) == stacking:
        return
    area = plot_area(root)
    assert area is not None, "a chart with series has a place for them"
    present = axes(root)
    has_dates = "x" in present and local(present["x"]) == "dateAx"
    fresh = factory.bare(kind, stacking, has_dates=has_dates)
    wanted = axes(fresh)
    (new,) = groups(fresh)
    model = new.find(c("ser"))
    assert model is not None, "a bare chart has a series"
    remove(new, "ser", "axId")
    at = area.index(old)
    area.remove(old)
    new.tail = old.tail
    area.insert(at, new)
    for item in old.findall(c("ser")):
        new_ser = etree.Element(c("ser"))
        put(new, new_ser)
        _carry(item, new_ser, model, kind)
    _carry_group(old, new, kind, stacking)
    _fit_axes(root, new, present, wanted)


def _carry(old: Element, new: Element, model: Element, kind: str) -> None:
    """Carry what a series has over to its new element, as far as that can have it."""
    group = new.getparent()
    assert group is not None, "it was put into one"
    order = series_order(local(group))
    swap = _SWAPPED if local(group) == "scatterChart" else {v: k for k, v in _SWAPPED.items()}
    for item in old:
        name = swap.get(local(item), local(item))
        if name not in order or (name == "marker" and value(item, "symbol") == "none"):
            continue
        copy = deepcopy(item)
        copy.tag = c(name)
        put(new, copy)
    for item in model:
        if local(item) in _SAID and child(new, local(item)) is None:
            put(new, deepcopy(item))
    _paint(new, model, _family(kind_of_series(old)), _family(kind))
    for point in new.findall(c("dPt")):
        _fit_point(point, kind)
    _fit_extensions(new, kind)


def kind_of_series(ser: Element) -> str:
    """Return the kind of the group a series stands in."""
    group = ser.getparent()
    return kind_of(group) if group is not None else ""


def _family(kind: str) -> str:
    """Return what carries the colour of a series: its area, its line, its points."""
    return {"line": "line", "radar": "line", "scatter": "points"}.get(kind, "area")


def _paint(ser: Element, model: Element, was: str, now: str) -> None:
    """Let a series keep its colour where something else carries it now."""
    if was == now:
        return
    shape = child(ser, "spPr")
    line = shape.find(a("ln")) if shape is not None else None
    holders = {"area": shape, "line": line, "points": child(child(ser, "marker"), "spPr")}
    held = holders[was]
    colour = held.find(a("solidFill")) if held is not None else None
    remove(ser, "spPr")
    bare = child(model, "spPr")
    shape = put(ser, deepcopy(bare) if bare is not None else etree.Element(c("spPr")))
    if colour is not None and now == "area":
        shape.insert(0, deepcopy(colour))
    elif colour is not None and now == "line":
        line = etree.SubElement(shape, a("ln"), w=_LINE_EMU, cap="rnd")
        line.append(deepcopy(colour))
    elif colour is not None:
        marker = child(ser, "marker")
        marker = put(ser, etree.Element(c("marker"))) if marker is None else marker
        remove(marker, "spPr")
        etree.SubElement(marker, c("spPr")).append(deepcopy(colour))
    if not len(shape):
        ser.remove(shape)


def _fit_point(point: Element, kind: str) -> None:
    """Drop of a point what its kind cannot have."""
    fitting = {
        "column": ("invertIfNegative", "pictureOptions"),
        "bar": ("invertIfNegative", "pictureOptions"),
        "line": ("marker",),
        "scatter": ("marker",),
        "pie": ("explosion",),
    }.get(kind, ())
    for item in list(point):
        if local(item) not in ("idx", "bubble3D", "spPr", "extLst", *fitting):
            point.remove(item)


def _fit_extensions(ser: Element, kind: str) -> None:
    extensions = child(ser, "extLst")
    if extensions is None or kind in ("column", "bar"):
        return
    for item in list(extensions):
        if any(local(one) in _OF_BARS for one in item.iter("{*}*")):
            extensions.remove(item)
    if not len(extensions):
        ser.remove(extensions)


def _carry_group(old: Element, new: Element, kind: str, stacking: str) -> None:
    """Carry labels and lines of all series over, and let labels stand where they may."""
    kept = _kept(kind)
    for item in old:
        if local(item) == "dLbls" or (local(item) in _BEARING and local(item) in kept):
            put(new, deepcopy(item))
    is_same = {local(old), local(new)} == {"barChart"}
    if is_same and child(old, "gapWidth") is not None:
        set_value(new, "gapWidth", value(old, "gapWidth") or "100")
    allowed = _LABEL_PLACES[kind]
    if stacking != "none":
        allowed = tuple(place for place in allowed if place != _OUTSIDE)
    for label in list(new.iter(c("dLblPos"))):
        parent = label.getparent()
        if label.get("val") not in allowed and parent is not None:
            parent.remove(label)


# --- axes ---------------------------------------------------------------------------------------


def _fit_axes(
    root: Element, new: Element, present: dict[str, Element], wanted: dict[str, Element]
) -> None:
    """Give the new group axes of its sort; those that are there go on where they fit."""
    area = plot_area(root)
    assert area is not None, "a chart with series has a place for them"
    for name in present.keys() - wanted.keys():
        area.remove(present[name])
    for name, model in wanted.items():
        made = present.get(name)
        if made is None:
            made = put(area, deepcopy(model))
        elif local(made) == local(model):
            set_value(made, "axPos", value(model, "axPos") or "b")
            if child(model, "crossBetween") is not None:
                set_value(made, "crossBetween", value(model, "crossBetween") or "between")
        else:
            other = _of_sort(made, model)
            area.replace(made, other)
            made = other
        turn_title(made)
        put(new, etree.Element(c("axId"), val=value(made, "axId") or ""))


def _of_sort(present: Element, model: Element) -> Element:
    """Return an axis of another sort that says what one says, as far as it can."""
    made = deepcopy(model)
    made.tail = present.tail
    can = {local(item) for item in model} | {
        *("majorGridlines", "minorGridlines", "title", "spPr", "txPr", "numFmt"),
    }
    for name in ("axId", "delete", "majorGridlines", "minorGridlines", "title", "numFmt"):
        _take_over(present, made, name, can)
    for name in ("majorTickMark", "minorTickMark", "tickLblPos", "spPr", "txPr", "crossAx"):
        _take_over(present, made, name, can)
    way = value(child(present, "scaling"), "orientation")
    if way is not None:
        set_value(ensure(made, "scaling"), "orientation", way)
    return made


def _take_over(present: Element, made: Element, name: str, can: set[str]) -> None:
    found = child(present, name)
    if name not in can:
        return
    remove(made, name)
    if found is not None:
        put(made, deepcopy(found))
    elif name == "delete":
        set_value(made, "delete", "1" if is_on(present, "delete") else "0")
