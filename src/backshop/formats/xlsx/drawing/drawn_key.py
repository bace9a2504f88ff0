"""What a chart or a picture is, as one text to be compared: its anchor and all it leads to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from backshop.formats.chart.reference import CACHES, REFERENCES
from backshop.formats.chart.vocabulary import c, local
from backshop.formats.diff.part_diff import printed
from backshop.formats.package.guard import Element
from backshop.formats.package.xml_tree import loosened

from ..book.workbook import Book
from .drawing_edit import links_in
from .drawing_part import PICTURE, DrawingPart, Drawn

_DEPTH = 8  # of parts that lead to parts


def anchor_key(book: Book, drawn: Drawn) -> str:
    """Return where and how something stands on its sheet and where it leads, not what it shows."""
    return _key(book, drawn, "", str)


def drawn_key(book: Book, drawn: Drawn, translate: Callable[[str], str] = str) -> str:
    """Return all that a chart or picture is; `translate` gives references in other names.

    What a chart keeps of its cells follows from these and does not count.
    """
    said = _key(book, drawn, content_key(book, drawn.part, translate), translate)
    return _digest(said.encode("utf-8", "surrogatepass"))


def _key(book: Book, drawn: Drawn, shown: str, translate: Callable[[str], str]) -> str:
    anchor, links = _anchor(book, drawn), {}
    used = {value for item in anchor.iter("{*}*") for value in item.attrib.values()}
    for rel in book.package.rels(drawn.drawing):
        if rel.id not in used:
            continue
        target = book.package.find(rel.part) if rel.part else None
        if rel.part is None:
            links[rel.id] = rel.target
        elif target is not None and target == drawn.part:
            links[rel.id] = shown
        else:
            links[rel.id] = content_key(book, target, translate)
    return printed(anchor, links)


def _anchor(book: Book, drawn: Drawn) -> Element:
    return DrawingPart.of(book, drawn.drawing).children[drawn.at]


def content_key(
    book: Book, part: str | None, translate: Callable[[str], str] = str, depth: int = _DEPTH
) -> str:
    """Return what a part holds, with what it leads to."""
    if part is None or part not in book.package:
        return "nothing"
    data = book.package.read(part)
    if not part.lower().endswith(".xml") or depth == 0:
        return _digest(data)
    root = loosened(data)
    if local(root) == "chartSpace":
        _leave_cells_out(root, translate)
    links = {
        rel.id: content_key(book, book.package.find(rel.part), translate, depth - 1)
        if rel.part
        else rel.target
        for rel in book.package.rels(part)
    }
    return _digest(printed(root, links).encode("utf-8", "surrogatepass"))


def parts_counted(book: Book, drawn: Drawn) -> set[str]:
    """Return the parts whose content counts in what a chart or picture is."""
    found: set[str] = set()
    waiting = [(drawn.drawing, _anchor(book, drawn))]
    while waiting:
        part, element = waiting.pop()
        used = links_in(element)
        targets = (rel.part for rel in book.package.rels(part) if rel.part and rel.id in used)
        for target in filter(None, map(book.package.find, targets)):
            if target not in found and target.lower().endswith(".xml"):
                waiting.append((target, book.package.xml(target)))
            found.add(target)
    return found


def _leave_cells_out(root: Element, translate: Callable[[str], str]) -> None:
    """Leave out what cells hold, and with it whether they are called numbers or text."""
    for formula in list(root.iter(c("f"))):
        formula.text = translate(formula.text or "")
        holder = formula.getparent()
        if holder is not None and local(holder) in REFERENCES:
            holder.tag = c("ref")
            for cache in [one for one in holder if _is_cache(one)]:
                holder.remove(cache)


def _is_cache(element: Element) -> bool:
    return local(element) in CACHES


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def is_picture(drawn: Drawn) -> bool:
    """Whether it is a picture."""
    return drawn.sort == PICTURE
