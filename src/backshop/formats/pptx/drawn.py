"""Charts and diagrams of a slide: they say things too, in parts of their own.

A diagram keeps its words twice: as data, and as the drawing that most programs show. A chart draws
titles and labels; the names of its series and categories belong to the workbook behind it, of which
it keeps only a copy.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from backshop.formats.errors import FormatError
from backshop.formats.find import Needle

from . import names as n
from .deck import Deck, Slide
from .replace import replace_in
from .shape import Shape, paragraph_text

Element = etree._Element

_SHOWN_CATEGORIES = 20  # a chart of a thousand points is named, not copied out
_DIAGRAM_DATA = f"{{{n.DGM_NS}}}relIds"
_DIAGRAM_ATTRIBUTE = f"{{{n.R_NS}}}dm"
_DRAWING_OF_DATA = "{http://schemas.microsoft.com/office/drawing/2008/diagram}dataModelExt"
_CHART_EX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}pt"


def drawn_lines(deck: Deck, slide: Slide, shape: Shape) -> list[str]:
    """Return what a chart or a diagram says; nothing for other shapes."""
    if not shape.has_chart and shape.kind != "diagram":
        return []
    parts = drawn_parts(deck, slide, shape)
    root = _root(deck, parts[0]) if parts else None
    heading = "[diagram]" if not shape.has_chart else chart_line(root)
    paragraphs = root.iter(n.P_T) if root is not None else ()
    texts = (paragraph_text(paragraph).strip() for paragraph in paragraphs)
    return [heading, *filter(None, texts)]


def drawn_parts(deck: Deck, slide: Slide, shape: Shape) -> list[str]:
    """Return the parts with the words of a chart or diagram; the one that counts comes first."""
    relation = shape.chart_relation
    if relation is not None:
        part = deck.package.rel_part(slide.part, relation)
        return [part] if part else []
    marker = next(shape.element.iter(_DIAGRAM_DATA), None)
    relation = marker.get(_DIAGRAM_ATTRIBUTE) if marker is not None else None
    part = deck.package.rel_part(slide.part, relation) if relation else None
    root = _root(deck, part) if part else None
    if part is None or root is None:
        return []
    drawing = next((e.get("relId") for e in root.iter(_DRAWING_OF_DATA)), None)
    copy = deck.package.rel_part(slide.part, drawing) if drawing else None
    return [part, copy] if copy and _root(deck, copy) is not None else [part]


def replace_drawn(
    deck: Deck, slides: list[Slide], needle: Needle, by: str
) -> Iterator[tuple[str | None, int]]:
    """Replace in charts and diagrams of these slides.

    Yields each changed part with its matches, 0 for the drawing of a diagram; and None with the
    matches that are left: copies of a workbook's cells, and what another slide shows as well.
    """
    chosen = {slide.part for slide in slides}
    others = {
        part
        for slide in deck.slides
        if slide.part not in chosen
        for shape in slide.shapes
        for part in drawn_parts(deck, slide, shape)
    }
    done: set[str] = set()
    for slide in slides:
        for shape in slide.shapes:
            for number, part in enumerate(drawn_parts(deck, slide, shape)):
                root = _root(deck, part)
                if part in done or root is None:
                    continue
                done.add(part)
                if part in others:
                    found = sum(len(needle.spans(paragraph_text(p))) for p in root.iter(n.P_T))
                    yield None, 0 if number else found
                    continue
                found = sum(matches for _, matches in replace_in(root, needle, by))
                if found:
                    yield part, 0 if number else found
                copies = root.iter(n.c("v"), _CHART_EX) if shape.has_chart else ()
                yield None, sum(len(needle.spans(copy.text or "")) for copy in copies)


def chart_line(root: Element | None) -> str:
    """Return a chart's type, series names and categories on one line."""
    if root is None:  # a damaged chart must not keep the slide from being read
        return "[chart]"
    area = next(root.iter(n.c("plotArea")), None)
    kinds = [
        str(child.tag).rpartition("}")[2].removesuffix("Chart")
        for child in (area if area is not None else ())
        if isinstance(child.tag, str) and child.tag.endswith("Chart")
    ]
    series = [
        next((v.text or "" for tx in ser.iterchildren(n.c("tx")) for v in tx.iter(n.c("v"))), "")
        for ser in root.iter(n.c("ser"))
    ]
    first = next(root.iter(n.c("cat")), None)
    categories = [v.text or "" for v in first.iter(n.c("v"))] if first is not None else []
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


def _root(deck: Deck, part: str) -> Element | None:
    try:
        return deck.trees.root(part)
    except FormatError:
        return None
