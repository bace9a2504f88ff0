"""Replaces text across runs in slides, tables, groups and notes (F20, as F19.4)."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from lxml import etree

from backshop.formats.find import Needle, replace_spans

from . import names as n

Element = etree._Element


def replace_in(root: Element, needle: Needle, by: str) -> Iterator[tuple[Element, int]]:
    """Replace under `root`; yield each changed paragraph with the number of its matches.

    Copies kept for old readers are changed along with what they copy, and count nothing.
    """
    for paragraph in list(root.iter(n.P_T)):
        count = replace_in_paragraph(paragraph, needle, by)
        in_fallback = any(a.tag == n.FALLBACK for a in paragraph.iterancestors())
        if count:
            yield paragraph, 0 if in_fallback else count


def replace_in_paragraph(paragraph: Element, needle: Needle, by: str) -> int:
    """Replace every match in one paragraph; fields such as the slide number are not touched."""
    pieces: list[tuple[Element, str]] = []
    for child in paragraph:
        if child.tag == n.R_T:
            text = child.find(n.T)
            pieces.append((child, (text.text or "") if text is not None else ""))
        elif child.tag == n.BR:
            pieces.append((child, "\n"))
        elif child.tag == n.FLD:
            pieces.append((child, "\ufffc"))  # stands for what cannot be matched
    texts = [text for _, text in pieces]
    spans = needle.spans("".join(texts))
    if not spans:
        return 0
    for (element, old), new in zip(pieces, replace_spans(texts, spans, by), strict=True):
        if new != old:
            _rewrite(paragraph, element, new)
    return len(spans)


def _rewrite(paragraph: Element, element: Element, new: str) -> None:
    """Give a run other text; breaks in it become breaks, an empty run goes."""
    look = element.find(n.RPR)
    if element.tag == n.R_T and new and "\n" not in new:
        text = element.find(n.T)
        if text is None:
            text = etree.SubElement(element, n.T)
        text.text = new
        return
    at = paragraph.index(element)
    paragraph.remove(element)
    fresh: list[Element] = []
    for number, line in enumerate(new.split("\n")):
        if number:
            fresh.append(_with_look(n.BR, look))
        if line:
            run = _with_look(n.R_T, look)
            etree.SubElement(run, n.T).text = line
            fresh.append(run)
    for offset, part in enumerate(fresh):
        paragraph.insert(at + offset, part)


def _with_look(tag: str, look: Element | None) -> Element:
    made = etree.Element(tag)
    if look is not None:
        made.append(copy.deepcopy(look))
    return made
