"""Charts and diagrams of slides and documents: they say things too, in parts of their own.

A diagram keeps its words twice: as data, and as the drawing that most programs show. A chart draws
titles and labels; the names of its series and categories belong to the workbook behind it, of which
it keeps only a copy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import FormatError
from ..find import Needle
from .drawing_text import A_NS, P, paragraph_text, replace_in
from .guard import Element
from .xml_tree import Trees

_SHOWN_CATEGORIES = 20  # a chart of a thousand points is named, not copied out
_DRAWING_ML = "http://schemas.openxmlformats.org/drawingml/2006/"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_GRAPHIC = f"{{{A_NS}}}graphicData"
_DIAGRAM_DATA = f"{{{_DRAWING_ML}diagram}}relIds"
_DRAWING_OF_DATA = "{http://schemas.microsoft.com/office/drawing/2008/diagram}dataModelExt"
_CHART_EX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}pt"
_KINDS = {"chart": "chart", "chartex": "chart", "diagram": "diagram"}


class Drawing(NamedTuple):
    """A chart or diagram: the part that shows it, and the element in which it does."""

    part: str
    graphic: Element

    @property
    def kind(self) -> str:
        """Return `chart` or `diagram`."""
        return kind_of(self.graphic) or "chart"


def kind_of(graphic: Element) -> str | None:
    """Return `chart` or `diagram` for what a graphic holds, None for anything else."""
    return _KINDS.get(graphic.get("uri", "").rpartition("/")[2])


def graphics(element: Element) -> list[Element]:
    """Return the charts and diagrams under an element."""
    return [graphic for graphic in element.iter(_GRAPHIC) if kind_of(graphic)]


def drawn_lines(trees: Trees, drawing: Drawing) -> list[str]:
    """Return what a chart or a diagram says, first a line that names it."""
    parts = drawn_parts(trees, drawing)
    root = _root(trees, parts[0]) if parts else None
    heading = chart_line(root) if drawing.kind == "chart" else "[diagram]"
    paragraphs = root.iter(P) if root is not None else ()
    texts = (paragraph_text(paragraph).strip() for paragraph in paragraphs)
    return [heading, *filter(None, texts)]


def drawn_parts(trees: Trees, drawing: Drawing) -> list[str]:
    """Return the parts with the words of a chart or diagram; the one that counts comes first."""
    holder, graphic = drawing
    if drawing.kind == "chart":
        relation = next((r for child in graphic if (r := child.get(f"{_RELATIONS}id"))), None)
        part = trees.rel_part(holder, relation)
        return [part] if part else []
    marker = next(graphic.iter(_DIAGRAM_DATA), None)
    part = trees.rel_part(holder, marker.get(f"{_RELATIONS}dm") if marker is not None else None)
    root = _root(trees, part) if part else None
    if part is None or root is None:
        return []
    copy = trees.rel_part(holder, next((e.get("relId") for e in root.iter(_DRAWING_OF_DATA)), None))
    return [part, copy] if copy and _root(trees, copy) is not None else [part]


def replace_drawn(
    trees: Trees, chosen: Iterable[Drawing], others: Iterable[Drawing], needle: Needle, by: str
) -> tuple[list[tuple[Drawing, str]], int, int]:
    """Replace in the chosen charts and diagrams.

    Returns each changed part, how many matches were replaced, and how many are left: in copies of
    a workbook's cells, and in parts that one of `others` shows too. The drawing of a diagram says
    its words again, which counts for nothing.
    """
    elsewhere = {part for drawing in others for part in drawn_parts(trees, drawing)}
    done: set[str] = set()
    changed: list[tuple[Drawing, str]] = []
    count = left = 0
    for drawing in chosen:
        for number, part in enumerate(drawn_parts(trees, drawing)):
            root = _root(trees, part)
            if part in done or root is None:
                continue
            done.add(part)
            if part in elsewhere:
                found = sum(len(needle.spans(paragraph_text(p))) for p in root.iter(P))
                left += 0 if number else found
                continue
            found = sum(matches for _, matches in replace_in(root, needle, by))
            if found:
                trees.touch(part)
                changed.append((drawing, part))
                count += 0 if number else found
            copies = root.iter(_c("v"), _CHART_EX) if drawing.kind == "chart" else ()
            left += sum(len(needle.spans(copy.text or "")) for copy in copies)
    return changed, count, left


def chart_line(root: Element | None) -> str:
    """Return a chart's type, series names and categories on one line."""
    if root is None:  # a damaged chart must not keep the slide from being read
        return "[chart]"
    area = next(root.iter(_c("plotArea")), None)
    kinds = [
        str(child.tag).rpartition("}")[2].removesuffix("Chart")
        for child in (area if area is not None else ())
        if isinstance(child.tag, str) and child.tag.endswith("Chart")
    ]
    series = [
        next((v.text or "" for tx in ser.iterchildren(_c("tx")) for v in tx.iter(_c("v"))), "")
        for ser in root.iter(_c("ser"))
    ]
    first = next(root.iter(_c("cat")), None)
    categories = [v.text or "" for v in first.iter(_c("v"))] if first is not None else []
    if len(categories) > _SHOWN_CATEGORIES:
        rest = len(categories) - _SHOWN_CATEGORIES
        categories = [*categories[:_SHOWN_CATEGORIES], f"… {rest} more"]
    parts = [
        " + ".join(dict.fromkeys(kinds)),
        ", ".join(filter(None, series)),
        ", ".join(categories),
    ]
    shown = "; ".join(part for part in parts if part)
    return f"[chart: {shown}]" if shown else "[chart]"


def _c(name: str) -> str:
    return f"{{{_DRAWING_ML}chart}}{name}"


def _root(trees: Trees, part: str) -> Element | None:
    try:
        return trees.root(part)
    except FormatError:
        return None
