"""What stands around the series of a chart: titles, axes, legend; each changed by itself."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from ..package.guard import Element
from .vocabulary import (
    AUTOMATIC,
    AXES,
    LEGENDS,
    NO_LEGEND,
    a,
    c,
    child,
    ensure,
    groups,
    is_on,
    local,
    plot_area,
    put,
    remove,
    set_value,
    value,
)

_TITLE_SIZE = "1400"  # hundredths of a point
_UPRIGHT = {"rot": "-5400000", "vert": "horz"}


def set_title(root: Element, text: str) -> None:
    """Give a chart a title; an empty one takes it away, also one that programs would make up."""
    chart = ensure(root, "chart")
    if text:
        _write(_title(chart), text, size=_TITLE_SIZE)
        if is_on(chart, "autoTitleDeleted"):
            set_value(chart, "autoTitleDeleted", "0")
    else:
        remove(chart, "title")
        set_value(chart, "autoTitleDeleted", "1")


def axes(root: Element) -> dict[str, Element]:
    """Return the axes of the first series: `x` is that of the categories, `y` that of values."""
    area, first = plot_area(root), next(iter(groups(root)), None)
    if area is None or first is None:
        return {}
    known = {value(axis, "axId"): axis for axis in area if local(axis) in AXES}
    found = [known[one.get("val")] for one in first.findall(c("axId")) if one.get("val") in known]
    found = [axis for axis in found if local(axis) != "serAx"]
    if len(found) != 2:
        return {}
    if local(found[1]) in ("catAx", "dateAx"):
        found.reverse()
    return {"x": found[0], "y": found[1]}


def is_hidden(axis: Element) -> bool:
    """Whether an axis is there and not drawn."""
    return is_on(axis, "delete")


def set_axis_title(axis: Element, text: str) -> None:
    """Give an axis a title; an empty one takes it away."""
    if not text:
        remove(axis, "title")
        return
    _write(_title(axis), text, upright=value(axis, "axPos") in ("l", "r"))


def set_end(axis: Element, end: str, number: float | str) -> None:
    """Let an axis begin (`min`) or end (`max`) at a number; `auto` leaves it to programs."""
    scaling = ensure(axis, "scaling")
    if number == AUTOMATIC:
        remove(scaling, end)
    else:
        set_value(scaling, end, _number(float(number)))


def end_of(axis: Element, end: str) -> float | None:
    """Return where an axis begins or ends, None where programs choose."""
    text = value(child(axis, "scaling"), end)
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def set_number_format(axis: Element, code: str) -> None:
    """Let the numbers of an axis be written by a format code."""
    found = ensure(axis, "numFmt")
    found.set("formatCode", code)
    found.set("sourceLinked", "0")


def set_legend(root: Element, place: str) -> None:
    """Put the legend somewhere, or take it away."""
    chart = ensure(root, "chart")
    if place == NO_LEGEND:
        remove(chart, "legend")
        return
    is_new = child(chart, "legend") is None
    legend = ensure(chart, "legend")
    if not is_new and value(legend, "legendPos") == LEGENDS[place]:
        return
    set_value(legend, "legendPos", LEGENDS[place])
    remove(legend, "layout")  # it was put where it does not belong now
    if is_new:
        set_value(legend, "overlay", "0")


# --- words --------------------------------------------------------------------------------------


def _title(parent: Element) -> Element:
    found = child(parent, "title")
    if found is None:
        found = put(parent, etree.Element(c("title")))
        set_value(found, "overlay", "0")
    return found


def _write(title: Element, text: str, *, size: str = "", upright: bool = False) -> None:
    """Put words into a title; those that stand there give them their look."""
    held = ensure(title, "tx")
    rich = child(held, "rich")
    if rich is None:
        rich = _rich(title, size=size, upright=upright)
        for item in list(held):
            held.remove(item)
        held.append(rich)
        remove(title, "txPr")
    lines = rich.findall(a("p"))
    look = lines[0].find(a("pPr")) if lines else None
    run = next((run for line in lines for run in line.findall(a("r"))), None)
    letters = run.find(a("rPr")) if run is not None else None
    for line in lines:
        rich.remove(line)
    for words in text.split("\n"):
        rich.append(_line(words, look, letters))


def _line(words: str, look: Element | None, letters: Element | None) -> Element:
    line = etree.Element(a("p"))
    if look is not None:
        line.append(deepcopy(look))
    run = etree.SubElement(line, a("r"))
    run.append(deepcopy(letters) if letters is not None else etree.Element(a("rPr"), lang="en-US"))
    etree.SubElement(run, a("t")).text = words
    return line


def _rich(title: Element, *, size: str, upright: bool) -> Element:
    """Return the body of a title, in the look that its words from a cell had."""
    rich = etree.Element(c("rich"))
    before = child(title, "txPr")
    if before is not None:
        for item in before:
            rich.append(deepcopy(item))
        return rich
    etree.SubElement(rich, a("bodyPr"), _UPRIGHT if upright else {})
    etree.SubElement(rich, a("lstStyle"))
    line = etree.SubElement(rich, a("p"))
    look = etree.SubElement(etree.SubElement(line, a("pPr")), a("defRPr"))
    if size:
        look.set("sz", size)
        look.set("b", "1")
    return rich


def turn_title(axis: Element) -> None:
    """Turn the title of an axis that lies another way now."""
    rich = child(child(child(axis, "title"), "tx"), "rich")
    body = rich.find(a("bodyPr")) if rich is not None else None
    if body is None:
        return
    is_upright = value(axis, "axPos") in ("l", "r")
    if is_upright and body.get("rot") in (None, "0"):
        body.set("rot", _UPRIGHT["rot"])
        body.set("vert", _UPRIGHT["vert"])
    elif not is_upright and body.get("rot") == _UPRIGHT["rot"]:
        del body.attrib["rot"]
