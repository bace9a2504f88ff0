"""The comments of a document with the place each stands at (F9.12)."""

from __future__ import annotations

from dataclasses import dataclass

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Json
from backshop.formats.write.tracked import clipped

from . import name as n
from .document import Block, Body
from .inline import text_of
from .source import Document


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody wrote beside the text; `block` is None where it stands at none."""

    id: str
    author: str
    date: str | None
    text: str
    block: Block | None
    element: Element

    def to_json(self) -> dict[str, Json]:
        """Return the comment as data."""
        return {
            "id": self.id,
            "author": self.author,
            "date": self.date,
            "text": clipped(self.text),
            "body_index": self.block.index if self.block is not None else None,
        }


def comments(document: Document, body: Body) -> list[Comment]:
    """Return the comments in the order the file lists them."""
    listed = document.comments()
    places: dict[str, Block] = {}
    marks = (n.COMMENT_REF, n.w("commentRangeStart"))
    for mark in document.body_element.iter(*marks) if listed else ():
        block = body.around(mark)
        if block is not None:
            places.setdefault(mark.get(n.ID) or "", block)
    return [
        Comment(
            id=one.get(n.ID) or "",
            author=one.get(n.w("author")) or "unknown",
            date=one.get(n.w("date")),
            text="\n".join(text_of(paragraph) for paragraph in one.iter(n.P)),
            block=places.get(one.get(n.ID) or ""),
            element=one,
        )
        for one in listed
    ]
