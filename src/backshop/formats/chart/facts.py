"""What a chart says of itself: its kind, its words, the cells of its series."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from ..package.drawing_text import P, paragraph_text
from ..package.guard import Element
from . import reference
from .surrounding import axes, end_of
from .vocabulary import (
    AXES,
    C_NS,
    child,
    groups,
    is_on,
    kind_of,
    local,
    series_of,
    stacking_of,
    value,
)


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """A series: its name as it reads, and where its cells are."""

    name: str | None
    categories: str | None
    values: str | None


@dataclass(frozen=True, slots=True)
class ChartFacts:
    """A chart as a list of charts tells it."""

    kinds: tuple[str, ...]  # of its groups, as operations call them
    stacking: str
    title: str | None
    axis_titles: tuple[str, ...]
    legend: str | None  # where it stands
    ends: str  # of the axes, as far as they are said
    series: tuple[SeriesFacts, ...]
    formulas: tuple[str, ...]

    @property
    def kind(self) -> str | None:
        """Its kinds as one word, None where it draws nothing that is known."""
        return "+".join(dict.fromkeys(self.kinds)) or None


def facts(root: Element) -> ChartFacts:
    """Read a chart; one of the newer sort (`cx:chartSpace`) by its own words."""
    if etree.QName(root).namespace != C_NS:
        return _newer(root)
    chart = child(root, "chart")
    found = groups(root)
    area = child(chart, "plotArea")
    axes = [item for item in (area if area is not None else ()) if local(item) in AXES]
    titles = (words_of(child(axis, "title")) for axis in axes if not is_on(axis, "delete"))
    return ChartFacts(
        kinds=tuple(kind_of(group) for group in found),
        stacking=stacking_of(found[0]) if found else "none",
        title=words_of(child(chart, "title")),
        axis_titles=tuple(title for title in titles if title),
        legend=_legend(chart),
        ends=_ends(root),
        series=tuple(_series(ser) for ser in series_of(root)),
        formulas=tuple(reference.formulas(root)),
    )


def _legend(chart: Element | None) -> str | None:
    found = child(chart, "legend")
    return None if found is None else value(found, "legendPos") or "r"


def _ends(root: Element) -> str:
    """Return where axes begin and end: `y 0 to 10`, `auto` where programs choose."""
    said = []
    for name, axis in axes(root).items():
        low, high = (end_of(axis, end) for end in ("min", "max"))
        if low is not None or high is not None:
            shown = ("auto" if one is None else f"{one:g}" for one in (low, high))
            said.append(f"{name} {' to '.join(shown)}")
    return ", ".join(said) or "auto"


def _series(ser: Element) -> SeriesFacts:
    def formula(*names: str) -> str | None:
        held = (child(ser, name) for name in names)
        return reference.formula_of(next((item for item in held if item is not None), None))

    return SeriesFacts(
        reference.shown_text(child(ser, "tx")), formula("cat", "xVal"), formula("val", "yVal")
    )


def words_of(title: Element | None) -> str | None:
    """Return the text of a title: its own words, or what is kept of the cell it shows."""
    held = child(title, "tx")
    if held is None:
        return None
    if child(held, "rich") is not None:
        lines = [paragraph_text(line) for line in held.iter(P)]
        return "\n".join(lines).strip() or None
    return reference.shown_text(held)


def _newer(root: Element) -> ChartFacts:
    """Read a chart of a kind that came with Excel 2016: waterfall, treemap and the like."""
    kinds, refs = [], []
    for element in root.iter(etree.Element):
        if local(element) == "series" and element.get("layoutId"):
            kinds.append(element.get("layoutId") or "")
        if local(element) == "f" and element.text and element.text not in refs:
            refs.append(element.text)
    title = next((item for item in root.iter("{*}title")), None)
    words = [paragraph_text(line) for line in title.iter(P)] if title is not None else []
    return ChartFacts(
        kinds=tuple(dict.fromkeys(kinds)),
        stacking="none",
        title="\n".join(words).strip() or None,
        axis_titles=(),
        legend=None,
        ends="",
        series=(),
        formulas=tuple(refs),
    )
