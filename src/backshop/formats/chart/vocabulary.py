"""The words of a chart part: its elements, their order, and what its kinds are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lxml import etree

from ..package.guard import Element

C_NS = "http://schemas.openxmlformats.org/drawingml/2006/chart"
A_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"

KINDS = ("column", "bar", "line", "area", "pie", "scatter")
STACKINGS = ("none", "stacked", "percent")
STACKABLE = frozenset({"column", "bar", "line", "area"})
LEGENDS: Mapping[str, str] = {"right": "r", "left": "l", "top": "t", "bottom": "b"}
NO_LEGEND = "none"
ACCENTS = 6  # colours of a theme for series
AUTOMATIC = "auto"  # of an end of an axis

GROUPS: Mapping[str, str] = {  # elements of a plot area that draw series, and the kind they are
    "barChart": "bar",
    "bar3DChart": "bar",
    "lineChart": "line",
    "line3DChart": "line",
    "areaChart": "area",
    "area3DChart": "area",
    "pieChart": "pie",
    "pie3DChart": "pie",
    "ofPieChart": "pie of pie",
    "doughnutChart": "doughnut",
    "scatterChart": "scatter",
    "radarChart": "radar",
    "bubbleChart": "bubble",
    "stockChart": "stock",
    "surfaceChart": "surface",
    "surface3DChart": "surface",
}
AXES = ("catAx", "dateAx", "valAx", "serAx")

_SERIES = "idx order tx spPr"
_POINTS = "dPt dLbls trendline errBars"
_AXIS = (
    "axId scaling delete axPos majorGridlines minorGridlines title numFmt majorTickMark "
    "minorTickMark tickLblPos spPr txPr crossAx crosses crossesAt"
)
_SER: Mapping[str, str] = {  # of the series of a group
    "barChart": f"{_SERIES} invertIfNegative pictureOptions {_POINTS} cat val shape extLst",
    "lineChart": f"{_SERIES} marker {_POINTS} cat val smooth extLst",
    "areaChart": f"{_SERIES} pictureOptions {_POINTS} cat val extLst",
    "pieChart": f"{_SERIES} explosion dPt dLbls cat val extLst",
    "doughnutChart": f"{_SERIES} explosion dPt dLbls cat val extLst",
    "ofPieChart": f"{_SERIES} explosion dPt dLbls cat val extLst",
    "radarChart": f"{_SERIES} marker dPt dLbls cat val extLst",
    "scatterChart": f"{_SERIES} marker {_POINTS} xVal yVal smooth extLst",
    "bubbleChart": (f"{_SERIES} invertIfNegative {_POINTS} xVal yVal bubbleSize bubble3D extLst"),
    "surfaceChart": f"{_SERIES} cat val extLst",
    "stockChart": f"{_SERIES} marker {_POINTS} cat val smooth extLst",
}
_ALIKE: Mapping[str, str] = {
    "bar3DChart": "barChart",
    "line3DChart": "lineChart",
    "area3DChart": "areaChart",
    "pie3DChart": "pieChart",
    "surface3DChart": "surfaceChart",
}
_ORDERS: Mapping[str, str] = {
    "chartSpace": (
        "date1904 lang roundedCorners AlternateContent style clrMapOvr pivotSource protection "
        "chart spPr txPr externalData printSettings userShapes extLst"
    ),
    "chart": (
        "title autoTitleDeleted pivotFmts view3D floor sideWall backWall plotArea legend "
        "plotVisOnly dispBlanksAs showDLblsOverMax extLst"
    ),
    "plotArea": f"layout {' '.join(GROUPS)} {' '.join(AXES)} dTable spPr extLst",
    "title": "tx layout overlay spPr txPr extLst",
    "legend": "legendPos legendEntry layout overlay spPr txPr extLst",
    "scaling": "logBase orientation max min extLst",
    "catAx": f"{_AXIS} auto lblAlgn lblOffset tickLblSkip tickMarkSkip noMultiLvlLbl extLst",
    "dateAx": (
        f"{_AXIS} auto lblOffset baseTimeUnit majorUnit majorTimeUnit minorUnit minorTimeUnit "
        "extLst"
    ),
    "valAx": f"{_AXIS} crossBetween majorUnit minorUnit dispUnits extLst",
    "barChart": "barDir grouping varyColors ser dLbls gapWidth overlap serLines axId extLst",
    "lineChart": (
        "grouping varyColors ser dLbls dropLines hiLowLines upDownBars marker smooth axId extLst"
    ),
    "areaChart": "grouping varyColors ser dLbls dropLines axId extLst",
    "pieChart": "varyColors ser dLbls firstSliceAng extLst",
    "doughnutChart": "varyColors ser dLbls firstSliceAng holeSize extLst",
    "radarChart": "radarStyle varyColors ser dLbls axId extLst",
    "scatterChart": "scatterStyle varyColors ser dLbls axId extLst",
    "stockChart": "ser dLbls dropLines hiLowLines upDownBars axId extLst",
    "bar3DChart": "barDir grouping varyColors ser dLbls gapWidth gapDepth shape axId extLst",
    "line3DChart": "grouping varyColors ser dLbls dropLines gapDepth axId extLst",
    "area3DChart": "grouping varyColors ser dLbls dropLines gapDepth axId extLst",
    "pie3DChart": "varyColors ser dLbls extLst",
    "ofPieChart": (
        "ofPieType varyColors ser dLbls gapWidth splitType splitPos custSplit secondPieSize "
        "serLines extLst"
    ),
    "bubbleChart": (
        "varyColors ser dLbls bubble3D bubbleScale showNegBubbles sizeRepresents axId extLst"
    ),
    "surfaceChart": "wireframe ser bandFmts axId extLst",
    "surface3DChart": "wireframe ser bandFmts axId extLst",
}
ORDERS: Final[Mapping[str, tuple[str, ...]]] = {k: tuple(v.split()) for k, v in _ORDERS.items()}
_TRUE = frozenset({"1", "true", "on"})


def c(name: str) -> str:
    """Return the tag of an element of charts."""
    return f"{{{C_NS}}}{name}"


def a(name: str) -> str:
    """Return the tag of an element of drawings."""
    return f"{{{A_NS}}}{name}"


def local(element: Element) -> str:
    """Return an element's name without namespace, empty for comments."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def child(parent: Element | None, name: str) -> Element | None:
    """Return the first child of charts of this name."""
    return None if parent is None else parent.find(c(name))


def series_order(group: str) -> tuple[str, ...]:
    """Return the elements a series of a group has, in order."""
    return tuple(_SER[_ALIKE.get(group, group)].split())


def put(parent: Element, element: Element) -> Element:
    """Put an element where the schema wants it, behind others of its name; return it."""
    name, group = local(element), parent.getparent()
    is_series = local(parent) == "ser" and group is not None
    order = series_order(local(group)) if is_series and group is not None else ORDERS[local(parent)]
    before = set(order[: order.index(name) + 1])
    at = max((i + 1 for i, item in enumerate(parent) if local(item) in before), default=0)
    parent.insert(at, element)
    return element


def ensure(parent: Element, name: str) -> Element:
    """Return a child, put at its place when it is missing."""
    found = child(parent, name)
    return put(parent, etree.Element(c(name))) if found is None else found


def remove(parent: Element, *names: str) -> None:
    """Take the children of these names out."""
    for item in [item for item in parent if local(item) in names]:
        parent.remove(item)


def value(parent: Element | None, name: str) -> str | None:
    """Return what a child says (`val`), None where there is none."""
    found = child(parent, name)
    return None if found is None else found.get("val")


def set_value(parent: Element, name: str, said: str) -> Element:
    """Let a child say something."""
    found = ensure(parent, name)
    found.set("val", said)
    return found


def is_on(parent: Element | None, name: str) -> bool:
    """Whether a switch is there and on; without a value it is."""
    found = child(parent, name)
    return found is not None and found.get("val", "1") in _TRUE


def plot_area(root: Element) -> Element | None:
    """Return the area in which a chart draws."""
    return child(child(root, "chart"), "plotArea")


def groups(root: Element) -> list[Element]:
    """Return the elements that draw series, each of one kind."""
    area = plot_area(root)
    return [item for item in (area if area is not None else ()) if local(item) in GROUPS]


def kind_of(group: Element) -> str:
    """Return the kind of a group in the word operations use for it."""
    kind = GROUPS[local(group)]
    is_upright = kind == "bar" and value(group, "barDir") != "bar"
    return "column" if is_upright else kind


def stacking_of(group: Element) -> str:
    """Return whether series stand on one another, in the word operations use for it."""
    return {"stacked": "stacked", "percentStacked": "percent"}.get(
        value(group, "grouping") or "", "none"
    )


def series_of(root: Element) -> list[Element]:
    """Return the series of a chart in the order in which they are listed."""
    found = [ser for group in groups(root) for ser in group.findall(c("ser"))]
    return sorted(found, key=_order)


def _order(ser: Element) -> int:
    text = value(ser, "order") or ""
    return int(text) if text.isdigit() and len(text) < 10 else 0
