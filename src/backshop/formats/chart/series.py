"""Other cells for the series of a chart that is there: their looks stay, new ones look alike."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from ..package.guard import Element
from .factory import write_series
from .plan import SeriesPlan
from .vocabulary import (
    ACCENTS,
    a,
    c,
    child,
    groups,
    local,
    put,
    remove,
    series_of,
    set_value,
    value,
)

_OWN = ("dPt", "trendline", "errBars", "extLst")  # what belongs to one series, not to its sort
_STALE = ("fullRef", "levelRef", "formulaRef", "filteredSeriesTitle", "filteredCategoryTitle")


def replace_series(root: Element, plans: Sequence[SeriesPlan]) -> None:
    """Let a chart show these series; with several groups there must be as many as before."""
    found = series_of(root)
    assert found, "a chart without series was refused before"
    for ser, plan in zip(found, plans, strict=False):
        write_series(ser, plan)
        _forget_hidden(ser)
    last = found[min(len(plans), len(found)) - 1]
    for plan in plans[len(found) :]:
        last = _another(root, last)
        write_series(last, plan)
    for ser in found[len(plans) :]:
        _take_out(root, ser)


def _forget_hidden(ser: Element) -> None:
    """Drop what says which cells a filter of the chart hides: it is about other cells."""
    extensions = child(ser, "extLst")
    for item in list(extensions) if extensions is not None else ():
        if any(local(one) in _STALE for one in item.iter("{*}*")) and extensions is not None:
            extensions.remove(item)
    if extensions is not None and not len(extensions):
        ser.remove(extensions)


def _another(root: Element, like: Element) -> Element:
    """Add a series that looks like the one before it, in the next colour."""
    group = like.getparent()
    assert group is not None, "a series stands in a group"
    ser = deepcopy(like)
    ser.tail = None
    remove(ser, *_OWN)
    put(group, ser)
    known = series_of(root)
    index = max(_number(one, "idx") for one in known) + 1
    set_value(ser, "idx", str(index))
    set_value(ser, "order", str(max(_number(one, "order") for one in known) + 1))
    _recolour(ser, index)
    return ser


def _number(ser: Element, name: str) -> int:
    text = value(ser, name) or ""
    return int(text) if text.isdigit() and len(text) < 6 else 0


def _recolour(ser: Element, index: int) -> None:
    """Give the next colour of the theme to what had one; a colour of its own is left to programs.

    What is not filled at all stays so: a scatter of points has no lines.
    """
    for fill in list(ser.iter(a("solidFill"))):
        for colour in fill.findall(a("schemeClr")):
            if (colour.get("val") or "").startswith("accent"):
                colour.set("val", f"accent{index % ACCENTS + 1}")
        parent = fill.getparent()
        if parent is not None and fill.find(a("srgbClr")) is not None:
            parent.remove(fill)


def _take_out(root: Element, ser: Element) -> None:
    group = ser.getparent()
    assert group is not None, "a series stands in a group"
    index = value(ser, "idx")
    group.remove(ser)
    legend = child(child(root, "chart"), "legend")
    for entry in legend.findall(c("legendEntry")) if legend is not None else ():
        if value(entry, "idx") == index and legend is not None:
            legend.remove(entry)


def is_combined(root: Element) -> bool:
    """Whether a chart draws series in several ways."""
    return len(groups(root)) > 1
