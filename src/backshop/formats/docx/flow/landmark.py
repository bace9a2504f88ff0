"""Bookmarks at the blocks of a document, by which they are found on LibreOffice's pages (F29.13).

They are put into a copy that only the renderer reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from backshop.base import limits
from backshop.formats.package.guard import Element
from backshop.formats.package.landmark import begins, ends
from backshop.formats.protocol import Applied, Json, JsonObject, Source

from ..text import name as n
from ..text.document import block_elements
from ..text.source import Document
from ..text.stylesheet import whole

_PX = 96 / 1440  # pixels of a screen in a twentieth of a point
_START, _STOP, _MARGINS, _COLUMNS = map(n.w, ("bookmarkStart", "bookmarkEnd", "pgMar", "cols"))
_MARKS = (_START, _STOP, n.w("proofErr"))
_FRAME, _FLOATING = map(n.w, ("framePr", "tblpPr"))
_SIDES = ("top", "right", "bottom", "left")
_INCH = 1440


def put_landmarks(source: Source, out: Path) -> Applied:
    """Write a copy of a document that has a bookmark where each block begins and one where it ends.

    Raises:
        FormatError: those of a document that cannot be read.
    """
    document = Document.open(source)
    document.trees.touch(document.part)
    numbers = (whole(one.get(n.ID)) or 0 for one in document.body_element.iter(_START))
    free = max(numbers, default=0) + 1
    blocks = list(islice(block_elements(document.body_element), limits.LANDMARKS_MAX))
    for at, block in enumerate(blocks):
        paragraphs = [block] if block.tag == n.P else list(block.iter(n.P))
        if paragraphs:
            first, last = paragraphs[0], paragraphs[-1]
            _put(first, int(first.find(n.PPR) is not None), begins(at), free + 2 * at)
            _put(last, _behind(last), ends(at), free + 2 * at + 1)
    document.trees.flush()
    written = document.package.save(out)
    return Applied(name=source.name, size_bytes=written.size_bytes, sha256=written.sha256)


def layout(source: Source) -> JsonObject:
    """Return how many blocks are marked, and the sections of the layout: their first block, their
    margins in pixels of a screen, their columns, and which blocks are tables or stand in a frame.
    """
    document = Document.open(source)
    first = 0
    sections: list[Json] = []
    tables: list[Json] = []
    floating: list[Json] = []
    count = 0
    for at, block in enumerate(block_elements(document.body_element)):
        count += 1
        own = block.find(n.PPR)
        if block.tag == n.TBL:
            tables.append(at)
        if next(block.iter(_FRAME, _FLOATING), None) is not None:
            floating.append(at)
        section = own.find(n.SECT_PR) if own is not None else None
        if section is not None:
            sections.append({"first_block": first, **_layout(section)})
            first = at + 1
    sections.append({"first_block": first, **_layout(document.last_section())})
    marked = min(count, limits.LANDMARKS_MAX)
    return {"block_count": marked, "sections": sections, "tables": tables, "floating": floating}


def _behind(paragraph: Element) -> int:
    """Return where a paragraph's content ends: of marks at one point the first alone is told."""
    kept = (at for at in range(len(paragraph), 0, -1) if paragraph[at - 1].tag not in _MARKS)
    return next(kept, 0)


def _put(paragraph: Element, at: int, name: str, number: int) -> None:
    for tag in (_STOP, _START):
        mark = paragraph.makeelement(tag)
        mark.set(n.ID, str(number))
        if tag == _START:
            mark.set(n.NAME, name)
        paragraph.insert(at, mark)


def _layout(section: Element | None) -> dict[str, Json]:
    margins = section.find(_MARGINS) if section is not None else None
    columns = section.find(_COLUMNS) if section is not None else None
    count = whole(columns.get(n.w("num"))) if columns is not None else None
    return {"columns": count or 1, **dict(_margins(margins))}


def _margins(element: Element | None) -> Iterator[tuple[str, Json]]:
    for side in _SIDES:
        said = whole(element.get(n.w(side))) if element is not None else None
        yield side, round(abs(_INCH if said is None else said) * _PX, 1)
