"""Text of drawings: what a paragraph of DrawingML says, and replacing in it (F20, as F19.4)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from lxml import etree

from ..find import Needle, replace_spans
from .guard import Element

A_NS = "http://schemas.openxmlformats.org/drawingml/2006/main"
P, _R, _T, _BR, _FLD, _RPR = (f"{{{A_NS}}}{name}" for name in ("p", "r", "t", "br", "fld", "rPr"))
_PPR, _END_RPR = f"{{{A_NS}}}pPr", f"{{{A_NS}}}endParaRPr"
_MATH = "{http://schemas.microsoft.com/office/drawing/2010/main}m"
_MATH_T = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_ALTERNATE, _FALLBACK = (
    f"{{http://schemas.openxmlformats.org/markup-compatibility/2006}}{name}"
    for name in ("AlternateContent", "Fallback")
)


def paragraph_text(paragraph: Element, is_unseen: Callable[[Element], bool] | None = None) -> str:
    """Return the text of a paragraph, line breaks as newlines, fields as what they show.

    What `is_unseen` says of runs is labelled (F4.8).
    """
    shown = []
    for child in paragraph:
        if child.tag == _BR:
            shown.append("\n")
        elif child.tag in (_R, _FLD):
            text = "".join(text.text or "" for text in child.iterchildren(_T))
            is_pale = is_unseen is not None and text.strip() and is_unseen(child)
            shown.append(f"[white text: {text}]" if is_pale else text)
        elif child.tag == _MATH:
            shown.append(_words(child))
        elif child.tag == _ALTERNATE:
            shown.append(next((text for way in child if (text := _words(way))), ""))
    return "".join(shown)


def is_blank(paragraph: Element) -> bool:
    """Whether a paragraph holds nothing but its look and runs without a word."""
    return all(
        child.tag in (_PPR, _END_RPR) or (child.tag == _R and not _words(child).strip())
        for child in paragraph.iterchildren("*")
    )


def _words(element: Element) -> str:
    """Return all text under an element, that of equations too."""
    return "".join(text.text or "" for text in element.iter(_T, _MATH_T))


def replace_in(root: Element, needle: Needle, by: str) -> Iterator[tuple[Element, int]]:
    """Replace under `root`; yield each changed paragraph with the number of its matches.

    Copies kept for old readers are changed along with what they copy, and count nothing.
    """
    for paragraph in list(root.iter(P)):
        count = replace_in_paragraph(paragraph, needle, by)
        in_fallback = any(a.tag == _FALLBACK for a in paragraph.iterancestors())
        if count:
            yield paragraph, 0 if in_fallback else count


def replace_in_paragraph(paragraph: Element, needle: Needle, by: str) -> int:
    """Replace every match in one paragraph.

    Fields such as the slide number, equations and what is not known are not touched, and no match
    reaches across them.
    """
    count = 0
    for pieces in _stretches(paragraph):
        texts = [text for _, text in pieces]
        spans = needle.spans("".join(texts))
        for (element, old), new in zip(pieces, replace_spans(texts, spans, by), strict=True):
            if new != old:
                _rewrite(paragraph, element, new)
        count += len(spans)
    return count


def _stretches(paragraph: Element) -> list[list[tuple[Element, str]]]:
    """Return the runs and breaks of a paragraph with their text, in rows that nothing parts."""
    found: list[list[tuple[Element, str]]] = [[]]
    for child in paragraph:
        if child.tag == _R:
            text = child.find(_T)
            found[-1].append((child, (text.text or "") if text is not None else ""))
        elif child.tag == _BR:
            found[-1].append((child, "\n"))
        elif isinstance(child.tag, str) and child.tag not in (_PPR, _END_RPR):
            found.append([])
    return found


def _rewrite(paragraph: Element, element: Element, new: str) -> None:
    """Give a run other text; breaks in it become breaks, an empty run goes."""
    look = element.find(_RPR)
    if element.tag == _R and new and "\n" not in new:
        text = element.find(_T)
        if text is None:
            text = etree.SubElement(element, _T)
        text.text = new
        return
    at = paragraph.index(element)
    paragraph.remove(element)
    fresh: list[Element] = []
    for number, line in enumerate(new.split("\n")):
        if number:
            fresh.append(_with_look(_BR, look))
        if line:
            run = _with_look(_R, look)
            etree.SubElement(run, _T).text = line
            fresh.append(run)
    paragraph[at:at] = fresh


def _with_look(tag: str, look: Element | None) -> Element:
    made = etree.Element(tag)
    if look is not None:
        made.append(copy.deepcopy(look))
    return made
