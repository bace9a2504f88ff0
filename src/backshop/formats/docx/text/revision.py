"""The tracked changes of a document: what, by whom, when and where (F9.11).

Changes that follow one another in a paragraph, of one kind and by one hand, count as one, as they
do for the person who made them; programs cut them where runs are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from backshop.formats.package.guard import Element
from backshop.formats.write.tracked import Tracked

from . import name as n
from .document import Body
from .source import Document

_DELETED_TEXT = n.w("delText")
_TRAVELLERS = frozenset(  # may stand between two pieces of one change
    map(n.w, ("bookmarkStart", "bookmarkEnd", "proofErr", "commentRangeStart", "commentRangeEnd"))
)
_KINDS = {
    n.INS: "inserted",
    n.DEL: "deleted",
    n.MOVE_FROM: "moved_from",
    n.MOVE_TO: "moved_to",
    n.w("rPrChange"): "format",
    n.w("pPrChange"): "paragraph_format",
    n.w("sectPrChange"): "section_format",
    n.w("tblPrChange"): "table_format",
    n.w("tblPrExChange"): "table_format",
    n.w("tblGridChange"): "table_format",
    n.w("trPrChange"): "row_format",
    n.w("tcPrChange"): "cell_format",
    n.w("numberingChange"): "numbering",
    n.w("cellIns"): "cell_inserted",
    n.w("cellDel"): "cell_deleted",
    n.w("cellMerge"): "cells_merged",
}
_OF_MARK = {n.INS: "break_inserted", n.DEL: "break_deleted"}  # of the end of a paragraph
_OF_MARK |= {n.MOVE_FROM: "moved_from", n.MOVE_TO: "moved_to"}
_OF_ROW = {n.INS: "row_inserted", n.DEL: "row_deleted"}


@dataclass(frozen=True, slots=True)
class _Change:
    """A change while its pieces are put together; `anchor` is what changed."""

    told: Tracked
    anchor: Element


def revisions(document: Document, body: Body) -> list[Tracked]:
    """Return the tracked changes of body, headers, footers and notes, in that order."""
    found = list(_inside(document.body_element, "body", body))
    for margin in document.margins():
        found += _inside(margin.root, f"{margin.kind} {margin.type}", None)
    for note in document.notes():
        found += _inside(note.element, f"{note.kind} {note.id}", None)
    return found


def _inside(root: Element, where: str, body: Body | None) -> Iterator[Tracked]:
    last: _Change | None = None
    for element in root.iter(*n.REVISIONS):
        if next(element.iterancestors(n.FALLBACK), None) is not None:
            continue
        made = _change(element, where, body)
        if last is not None and _continues(last, made):
            text = last.told.text + made.told.text
            last = _Change(replace(last.told, text=text), made.anchor)
            continue
        if last is not None:
            yield last.told
        last = made
    if last is not None:
        yield last.told


def _change(element: Element, where: str, body: Body | None) -> _Change:
    kind, anchor = _what(element)
    block = body.around(anchor) if body is not None else None
    if body is not None and block is None:  # more than a block: the first inside it
        inside = (body.by_element.get(one) for one in anchor.iter(n.P, n.TBL))
        block = next((one for one in inside if one is not None), None)
    if block is not None:
        where = f"paragraph {block.index}" if block.table is None else f"table {block.table}"
    is_mark = kind.startswith("break_") or (kind == "format" and anchor.tag == n.P)
    told = Tracked(
        kind=kind,
        author=element.get(n.w("author")) or "unknown",
        date=element.get(n.w("date")),
        text="" if is_mark else _text(anchor, kind),
        where=where,
        place=block.index if block is not None else None,
    )
    return _Change(told, anchor)


def _what(element: Element) -> tuple[str, Element]:
    """Return what kind of change an element marks, and what changed."""
    tag = str(element.tag)
    parent = element.getparent()
    around = parent.tag if parent is not None else None
    if around == n.RPR and tag in _OF_MARK:
        return _OF_MARK[tag], next(element.iterancestors(n.P), element)
    if around == n.TR_PR and tag in _OF_ROW:
        return _OF_ROW[tag], next(element.iterancestors(n.TR), element)
    if around == n.NUM_PR:
        return "numbering", next(element.iterancestors(n.P), element)
    if tag in (n.INS, n.DEL, n.MOVE_FROM, n.MOVE_TO):
        return _KINDS[tag], element
    return _KINDS[tag], next(element.iterancestors(n.R, n.P, n.TC, n.TR, n.TBL), element)


def _text(anchor: Element, kind: str) -> str:
    is_gone = kind in ("deleted", "row_deleted", "cell_deleted")
    wanted = (n.T, _DELETED_TEXT, n.TAB, n.BR) if is_gone else (n.T, n.TAB, n.BR)
    marks = {n.TAB: "\t", n.BR: "\n"}
    texts = []
    for piece in anchor.iter(*wanted):
        parent = piece.getparent()
        if piece.tag == n.TAB and (parent is None or parent.tag != n.R):
            continue  # a tab stop
        texts.append(marks.get(str(piece.tag)) or piece.text or "")
    return "".join(texts)


def _continues(last: _Change, made: _Change) -> bool:
    """Whether a change is the next piece of the one before."""
    one, two = last.told, made.told
    if (one.kind, one.author, one.date) != (two.kind, two.author, two.date):
        return False
    if two.kind.startswith(("row_", "break_")):
        return False
    if made.anchor is last.anchor:
        return True
    if one.kind == "format" and last.anchor.tag == n.P:  # the end of the paragraph, then its runs
        return next(made.anchor.iterancestors(n.P), None) is last.anchor
    before = made.anchor.getprevious()
    while before is not None and before.tag in _TRAVELLERS:
        before = before.getprevious()
    return before is last.anchor
