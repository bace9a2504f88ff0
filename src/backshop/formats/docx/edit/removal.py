"""Takes blocks out of a document without tearing what reaches across them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.document import WRAPPERS, parent_of

_RANGES = (
    *("bookmark", "commentRange", "moveFromRange", "moveToRange", "perm"),
    *("customXmlInsRange", "customXmlDelRange", "customXmlMoveFromRange", "customXmlMoveToRange"),
)
_STARTS = tuple(n.w(f"{name}Start") for name in _RANGES)
_MARKERS = (*_STARTS, *(n.w(f"{name}End") for name in _RANGES))
_HELD = (n.P, n.TBL, n.TR, n.TC, *WRAPPERS)  # what a content control can be around


def splits_field(blocks: Iterable[Element]) -> bool:
    """Whether the blocks hold only one end of a field, such as half a table of contents."""
    depth = 0
    for block in blocks:
        for char in block.iter(n.FLD_CHAR):
            kind = char.get(n.w("fldCharType"))
            depth += (kind == "begin") - (kind == "end")
            if depth < 0:
                return True
    return depth != 0


def content_lost(blocks: Iterable[Element]) -> int:
    """Count the images, notes and comments that are anchored in the blocks (F19.3)."""
    tags = (n.DRAWING, n.PICT, n.OBJECT, n.FOOTNOTE_REF, n.ENDNOTE_REF, n.COMMENT_REF)
    return sum(
        1
        for block in blocks
        for found in block.iter(*tags)
        if not any(a.tag == n.FALLBACK for a in found.iterancestors())
    )


def remove_blocks(blocks: Sequence[Element]) -> tuple[list[Element], bool]:
    """Remove blocks from their places.

    A paragraph that carries a section break stays, emptied, because page size, columns and headers
    hang on it; ends of bookmarks and comments whose other end stays are kept too. Returns the
    paragraphs that were only emptied, and whether anything around the blocks changed.
    """
    kept: dict[Element, list[Element]] = {}
    for block, marker in torn(blocks):
        kept.setdefault(block, []).append(marker)
    emptied = []
    frame_changed = bool(kept)
    for block in blocks:
        parent = block.getparent()
        if parent is None:
            continue
        for marker in kept.get(block, ()):
            parent.insert(parent.index(block), marker)
        if block.tag == n.P and block.find(f"{n.PPR}/{n.SECT_PR}") is not None:
            _empty(block)
            emptied.append(block)
            continue
        frame_changed |= detach(block)
    return emptied, frame_changed


def detach(element: Element) -> bool:
    """Take an element out, with the content controls that held nothing else; say if there were any.

    Ends of ranges that stand in such a control are left in its place.
    """
    parent = parent_of(element)
    parent.remove(element)
    pruned = False
    while parent.tag in WRAPPERS and not any(child.tag in _HELD for child in parent):
        outer = parent_of(parent)
        for marker in list(parent.iterchildren(*_MARKERS)):
            outer.insert(outer.index(parent), marker)
        outer.remove(parent)
        parent, pruned = outer, True
    return pruned


def _empty(paragraph: Element) -> None:
    for child in list(paragraph):
        if child.tag != n.PPR:
            paragraph.remove(child)


def torn(elements: Sequence[Element]) -> list[tuple[Element, Element]]:
    """Return the ends of ranges whose other end is outside, each after the element it is in."""
    open_: dict[tuple[str, str], list[tuple[Element, Element]]] = {}
    found = []
    for element in elements:
        for marker in element.iter(*_MARKERS):
            begun = open_.setdefault(_range_of(marker), [])
            if starts_range(marker):
                begun.append((element, marker))
            elif begun:
                begun.pop()
            else:
                found.append((element, marker))
    return [*found, *(end for begun in open_.values() for end in begun)]


def starts_range(marker: Element) -> bool:
    """Whether the end of a range is its first."""
    return marker.tag in _STARTS


def _range_of(marker: Element) -> tuple[str, str]:
    """Return what both ends of a range have in common."""
    return str(marker.tag).removesuffix("Start").removesuffix("End"), marker.get(n.ID) or ""
