"""What stands at the points of a chart: of a series, of single points, from chosen cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..canvas.chart.data import Labels
from ..package.drawing_color import Theme
from ..package.guard import Element
from .facts import words_of
from .text_look import text_type
from .vocabulary import a, c, child, is_on, local, value


def labels(element: Element | None, theme: Theme) -> Labels | None:
    """Return what stands at every point, None where nothing does."""
    if element is None or is_on(element, "delete"):
        return None
    code = child(element, "numFmt")
    linked = code is None or code.get("sourceLinked") in ("1", "true")
    found = Labels(
        value=is_on(element, "showVal"),
        percent=is_on(element, "showPercent"),
        category=is_on(element, "showCatName"),
        series=is_on(element, "showSerName"),
        cells=_shows_cells(element),
        code=None if linked or code is None else code.get("formatCode"),
        position=value(element, "dLblPos"),
        type=text_type(child(element, "txPr"), theme),
    )
    shown = found.value or found.percent or found.category or found.series or found.cells
    return found if shown else None


def _says(element: Element) -> bool:
    """Whether a label says itself what it shows; one with a look alone shows what the others do."""
    return any(local(item).startswith("show") or local(item) == "delete" for item in element)


def _shows_cells(element: Element) -> bool:
    said = next(element.iter("{*}showDataLabelsRange"), None)
    return said is not None and said.get("val") in ("1", "true")


def point_labels(holder: Element | None, theme: Theme) -> Iterator[tuple[int, Labels | None]]:
    """Yield the labels that single points have: none, words of their own, or other parts."""
    for one in holder.findall(c("dLbl")) if holder is not None else ():
        at = value(one, "idx") or ""
        if not at.isdigit() or len(at) > 5:
            continue
        found = labels(one if _says(one) else holder, theme)
        own_look = child(one, "txPr")
        if found is not None and own_look is not None:
            found = replace(found, type=text_type(own_look, theme))
        own = child(child(one, "tx"), "rich")
        if found is not None and (own is not None or child(one, "tx") is not None):
            is_made = own is not None and next(own.iter(a("fld")), None) is not None
            words = words_of(one)
            found = found if is_made or words is None else replace(found, text=words)
        yield int(at), found


def label_cells(ser: Element) -> tuple[str, ...]:
    """Return what stands in the cells chosen for the labels of a series, as the chart keeps it."""
    cache = next(ser.iter("{*}dlblRangeCache"), None)
    kept: dict[int, str] = {}
    for point in cache.findall(c("pt")) if cache is not None else ():
        at, held = point.get("idx") or "", child(point, "v")
        if at.isdigit() and len(at) < 6 and held is not None:
            kept[int(at)] = held.text or ""
    size = min(max(kept, default=-1) + 1, len(kept) * 64 + 64)
    return tuple(kept.get(at, "") for at in range(size))
