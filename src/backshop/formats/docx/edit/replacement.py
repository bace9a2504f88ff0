"""Replaces text across runs; everything outside the match keeps its runs and its look (F19.4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from backshop.formats.find import Needle, Span, replace_spans
from backshop.formats.package.drawing import Drawing, graphics
from backshop.formats.package.guard import Element

from ..text import name as n
from ..text.inline import Piece, Shows, pieces, plain_text, special_paragraphs
from .builder import set_text, text_elements

_UNSEEN = frozenset({n.DEL, n.MOVE_FROM, n.FALLBACK})
_EDITABLE = frozenset({n.T, n.TAB, n.PTAB, n.BR, n.CR, n.NO_BREAK_HYPHEN})


def replace_in(
    root: Element, needle: Needle, by: str, within: str = "all"
) -> Iterator[tuple[Element, int]]:
    """Replace under `root`; yield each changed paragraph with the number of its matches.

    `within`: all, or body (outside tables), or tables. The copies of text boxes kept for old
    readers are changed along with the ones they copy, and count nothing.
    """
    special = special_paragraphs(root)
    for paragraph in list(root.iter(n.P)):
        if paragraph not in special and not needle.spans(plain_text(paragraph)):
            continue
        ancestors = {ancestor.tag for ancestor in paragraph.iterancestors()}
        if within != "all" and (within == "tables") != (n.TBL in ancestors):
            continue
        count = replace_in_paragraph(paragraph, needle, by)
        if count:
            yield paragraph, 0 if n.FALLBACK in ancestors else count


def drawings(part: str, root: Element, within: str = "all") -> Iterator[Drawing]:
    """Yield the charts and diagrams under `root`; not deleted ones, nor copies for old readers."""
    for graphic in graphics(root):
        ancestors = {ancestor.tag for ancestor in graphic.iterancestors()}
        in_scope = within == "all" or (within == "tables") == (n.TBL in ancestors)
        if in_scope and not ancestors & _UNSEEN:
            yield Drawing(part, graphic)


def replace_in_paragraph(paragraph: Element, needle: Needle, by: str) -> int:
    """Replace every match in one paragraph; return how many there were."""
    shown = [piece for piece in pieces(paragraph) if piece.shows in (Shows.TEXT, Shows.MARK)]
    texts = [piece.text for piece in shown]
    spans = _reachable(needle.spans("".join(texts)), shown)
    if not spans:
        return 0
    for piece, new in zip(shown, replace_spans(texts, spans, by), strict=True):
        if new != piece.text:
            _rewrite(piece, new, by)
    return len(spans)


def _reachable(spans: Sequence[Span], shown: Sequence[Piece]) -> list[Span]:
    """Leave out matches that lie partly in formulas or symbols, which are no plain text."""
    starts, ends = [], []
    at = 0
    for piece in shown:
        end = at + len(piece.text)
        if piece.element.tag not in _EDITABLE:
            starts.append(at)
            ends.append(end)
        at = end
    return [
        (start, stop)
        for start, stop in spans
        if (near := bisect_right(ends, start)) == len(ends) or starts[near] >= stop
    ]


def _rewrite(piece: Piece, new: str, by: str) -> None:
    element = piece.element
    run = element.getparent()
    if run is None:
        return
    if new and element.tag == n.T and not ("\n" in by or "\t" in by):
        set_text(element, new)
        return
    at = run.index(element)
    run.remove(element)
    run[at:at] = text_elements(new)
    _drop_if_empty(run)


def _drop_if_empty(run: Element) -> None:
    """Remove a run that holds nothing any more, and a link that held only it."""
    if any(child.tag != n.RPR for child in run.iterchildren("*")):
        return
    parent = run.getparent()
    if parent is None:
        return
    parent.remove(run)
    if parent.tag == n.HYPERLINK and next(parent.iterchildren("*"), None) is None:
        holder = parent.getparent()
        if holder is not None:
            holder.remove(parent)
