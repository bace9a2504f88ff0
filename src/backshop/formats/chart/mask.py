"""A chart without what is known to have changed, so that the rest can be compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy

from lxml import etree

from ..package.guard import Element
from ..package.package import canonical
from . import surrounding
from .vocabulary import child, groups, local, series_of


def masked(root: Element, aspects: Collection[str], kept: int) -> bytes:
    """Return a chart without some of its aspects; of its series the first `kept` count.

    Aspects: title, x_title, y_title, x_min and the like, legend, number_format, data, kind. The
    tree is used up.
    """
    chart = child(root, "chart")
    if chart is None:
        return canonical(root)
    found = surrounding.axes(root)
    if "title" in aspects:
        _mask(chart, "title", "autoTitleDeleted")
    if "legend" in aspects:
        _mask(chart, "legend")
    for axis in found:
        for aspect, names in (("title", ("title",)), ("min", ("min",)), ("max", ("max",))):
            holder = found[axis] if aspect == "title" else child(found[axis], "scaling")
            if f"{axis}_{aspect}" in aspects and holder is not None:
                _mask(holder, *names)
    if "number_format" in aspects and "y" in found:
        _mask(found["y"], "numFmt")
    if "data" in aspects:
        _mask_data(root, kept)
    if "kind" in aspects:
        _mask_kind(root, found)
    return canonical(root)


def _mask(parent: Element, *names: str) -> None:
    for item in [item for item in parent if local(item) in names]:
        parent.remove(item)


def _mask_data(root: Element, kept: int) -> None:
    """Leave of the series those that were there all the time, without the cells they show."""
    legend = child(child(root, "chart"), "legend")
    if legend is not None:
        _mask(legend, "legendEntry")
    for at, ser in enumerate(series_of(root)):
        group = ser.getparent()
        if at >= kept and group is not None:
            group.remove(ser)
        _mask(ser, "tx", "cat", "val", "xVal", "yVal", "extLst")


def _mask_kind(root: Element, found: Mapping[str, Element]) -> None:
    """Leave of series what they show, and of their axes the titles."""
    area = child(child(root, "chart"), "plotArea")
    if area is None:
        return
    for ser in series_of(root):
        left = etree.SubElement(area, "series")
        for item in ser:
            name = {"xVal": "cat", "yVal": "val"}.get(local(item), local(item))
            if name in ("tx", "cat", "val", "trendline", "errBars"):
                copy = deepcopy(item)
                copy.tag, copy.tail = name, None
                left.append(copy)
    for group in groups(root):
        area.remove(group)
    for axis in found.values():
        area.remove(axis)
