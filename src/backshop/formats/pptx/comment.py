"""The comments people left on slides, of either kind: of old files, and with replies (F10.6)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.package.drawing_text import paragraph_text
from backshop.formats.package.guard import Element

from . import names as n
from .deck import Deck, Slide

_NEW_NS = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
_OLD, _NEW, _REPLY = n.p("cm"), f"{{{_NEW_NS}}}cm", f"{{{_NEW_NS}}}reply"
_AUTHORS = (n.p("cmAuthor"), f"{{{_NEW_NS}}}author")


def slide_comments(deck: Deck, slide: Slide) -> list[str]:
    """Return the comments of a slide, each as a line that names its author, then its text."""
    parts = [part for _, part in deck.trees.related(slide.part, "comments")]
    names = _authors(deck) if parts else {}
    found: list[str] = []
    for part in parts:
        for comment in deck.trees.root(part).iter(_OLD, _NEW, _REPLY):
            author = names.get(comment.get("authorId")) or "unknown"
            lines = "\n".join(_lines(comment))
            found.append(f"[comment {len(found)} by {author}]\n{lines}".rstrip("\n"))
    return found


def _authors(deck: Deck) -> dict[str | None, str]:
    """Return the names of authors by their ids."""
    return {
        author.get("id"): " ".join((author.get("name") or "").split())
        for kind in ("commentAuthors", "authors")
        for _, part in deck.trees.related(deck.part, kind)
        for author in deck.trees.root(part).iter(*_AUTHORS)
    }


def _lines(comment: Element) -> Iterator[str]:
    if comment.tag == _OLD:
        yield from (text.text or "" for text in comment.iterchildren(n.p("text")))
    else:  # the replies in it speak for themselves
        for body in comment.iterchildren(f"{{{_NEW_NS}}}txBody"):
            yield from map(paragraph_text, body.iterchildren(n.P_T))
