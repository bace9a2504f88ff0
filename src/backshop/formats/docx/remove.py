"""Takes blocks out of a document without tearing what reaches across them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lxml import etree

from . import names as n
from .document import WRAPPERS

Element = etree._Element

_RANGES = ("bookmark", "commentRange", "moveFromRange", "moveToRange", "perm")
_MARKERS = tuple(n.w(name + end) for name in _RANGES for end in ("Start", "End"))


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
    kept_markers = _torn(blocks)
    emptied = []
    frame_changed = bool(kept_markers)
    for block in blocks:
        parent = block.getparent()
        if parent is None:
            continue
        for marker in kept_markers.get(block, ()):
            parent.insert(parent.index(block), marker)
        if block.tag == n.P and block.find(f"{n.PPR}/{n.SECT_PR}") is not None:
            _empty(block)
            emptied.append(block)
            continue
        parent.remove(block)
        frame_changed |= _prune(parent)
    return emptied, frame_changed


def _empty(paragraph: Element) -> None:
    for child in list(paragraph):
        if child.tag != n.PPR:
            paragraph.remove(child)


def _prune(parent: Element) -> bool:
    """Remove content controls around blocks that are empty now; say whether there were any."""
    pruned = False
    while parent.tag in WRAPPERS and not any(
        child.tag in (n.P, n.TBL, n.TR, n.TC, *WRAPPERS) for child in parent
    ):
        outer = parent.getparent()
        if outer is None:
            break
        outer.remove(parent)
        parent, pruned = outer, True
        if parent.tag == n.SDT:
            continue
    return pruned


def _torn(blocks: Sequence[Element]) -> dict[Element, list[Element]]:
    """Return, by block, the range ends whose other end stays in the document."""
    inside: dict[tuple[str, str], list[tuple[Element, Element]]] = {}
    for block in blocks:
        for marker in block.iter(*_MARKERS):
            key = (_family(str(marker.tag)), marker.get(n.ID) or "")
            inside.setdefault(key, []).append((block, marker))
    found: dict[Element, list[Element]] = {}
    for ends in inside.values():
        if len(ends) == 1:
            block, marker = ends[0]
            found.setdefault(block, []).append(marker)
    return found


def _family(tag: str) -> str:
    return tag.removesuffix("Start").removesuffix("End")
