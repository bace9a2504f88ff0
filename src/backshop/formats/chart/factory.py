"""New charts: XlsxWriter makes a bare one of a kind, what it leaves open is said, cells are put in.

What the file format takes for granted where nothing is said, programs take for granted in different
ways: LibreOffice hides the axes of a chart that does not say `delete="0"` in a workbook of today.
"""

from __future__ import annotations

import zipfile
from copy import deepcopy
from io import BytesIO

from lxml import etree

from ..package.guard import Element, parse_xml
from . import reference
from .plan import ChartPlan, SeriesPlan
from .vocabulary import (
    ACCENTS,
    STACKABLE,
    a,
    c,
    child,
    ensure,
    groups,
    local,
    plot_area,
    put,
    remove,
    set_value,
)

_SUBTYPES = {"stacked": "stacked", "percent": "percent_stacked"}
_GRID, _AXIS_LINE = "#D9D9D9", "#BFBFBF"
_CELL = "=S!$A$1"  # of the workbook that is thrown away
_GAP = 80  # between columns, in percent of their width


def make(plan: ChartPlan) -> Element:
    """Return the root of a chart part that shows what is planned."""
    root = bare(plan.kind, plan.stacking, has_dates=plan.has_dates)
    if plan.is_1904:
        set_value(root, "date1904", "1")
    (group,) = groups(root)
    first = group.find(c("ser"))
    assert first is not None, "a bare chart has a series"
    for at, series in enumerate(plan.series):
        ser = first if at == 0 else put(group, deepcopy(first))
        set_value(ser, "idx", str(at))
        set_value(ser, "order", str(at))
        write_series(ser, series)
        if plan.kind == "scatter":
            _mark(ser, at)
    return root


def _mark(ser: Element, at: int) -> None:
    """Give the points of a series a colour: LibreOffice draws all in one where they have none."""
    marker = ensure(ser, "marker")
    etree.SubElement(marker, c("symbol"), val="circle")
    etree.SubElement(marker, c("size"), val="6")
    shape = etree.SubElement(marker, c("spPr"))
    fill = etree.SubElement(shape, a("solidFill"))
    etree.SubElement(fill, a("schemeClr"), val=f"accent{at % ACCENTS + 1}")
    line = etree.SubElement(shape, a("ln"))
    etree.SubElement(line, a("noFill"))


def write_series(ser: Element, series: SeriesPlan) -> None:
    """Let a series show these cells."""
    if isinstance(series.name, str):
        reference.write_text(ensure(ser, "tx"), series.name)
    elif series.name is not None:
        reference.write(ensure(ser, "tx"), series.name)
    else:
        remove(ser, "tx")
    group = ser.getparent()
    is_scatter = group is not None and local(group) in ("scatterChart", "bubbleChart")
    categories, values = ("xVal", "yVal") if is_scatter else ("cat", "val")
    if series.categories is None:
        remove(ser, categories)
    else:
        reference.write(ensure(ser, categories), series.categories)
    reference.write(ensure(ser, values), series.values)


def bare(kind: str, stacking: str, *, has_dates: bool = False) -> Element:
    """Return a chart of a kind with one series, everything said that programs read differently."""
    import xlsxwriter  # loaded on first use

    asked = {"type": kind}
    if kind in STACKABLE and stacking in _SUBTYPES:
        asked["subtype"] = _SUBTYPES[stacking]
    made = BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        sheet = book.add_worksheet("S")
        chart = book.add_chart(asked)
        gap = {"gap": _GAP} if kind in ("column", "bar") else {}
        chart.add_series({"name": _CELL, "categories": _CELL, "values": _CELL, **gap})
        line = {"line": {"color": _AXIS_LINE}}
        across = {**line, "date_axis": has_dates, "major_gridlines": {"visible": False}}
        up = {**line, "major_gridlines": {"visible": True, "line": {"color": _GRID}}}
        is_bar = kind == "bar"  # there the axes change places
        chart.set_x_axis(up if is_bar else across)
        chart.set_y_axis(across if is_bar else up)
        chart.set_legend({"none": True})
        sheet.insert_chart(0, 0, chart)
    with zipfile.ZipFile(made) as archive:
        root = parse_xml(archive.read("xl/charts/chart1.xml"))
    _explain(root, kind)
    return root


def _explain(root: Element, kind: str) -> None:
    """Say what is left open."""
    remove(root, "printSettings")
    set_value(root, "roundedCorners", "0")
    chart = ensure(root, "chart")
    set_value(chart, "autoTitleDeleted", "0")
    set_value(chart, "dispBlanksAs", "gap")
    (group,) = groups(root)
    set_value(group, "varyColors", "1" if kind == "pie" else "0")
    for ser in group.findall(c("ser")):
        if kind in ("column", "bar"):
            set_value(ser, "invertIfNegative", "0")
        elif kind in ("line", "scatter"):
            set_value(ser, "smooth", "0")
    area = plot_area(root)
    for axis in area if area is not None else ():
        if local(axis) in ("catAx", "dateAx", "valAx"):
            _explain_axis(axis)


def _explain_axis(axis: Element) -> None:
    set_value(axis, "delete", "0")
    if child(axis, "numFmt") is None:
        put(axis, etree.Element(c("numFmt"), formatCode="General", sourceLinked="1"))
    set_value(axis, "majorTickMark", "out")
    set_value(axis, "minorTickMark", "none")
    if local(axis) != "valAx":
        set_value(axis, "tickLblPos", "low")  # beside the axis they stand on negative values
    if local(axis) == "catAx":
        set_value(axis, "noMultiLvlLbl", "0")
