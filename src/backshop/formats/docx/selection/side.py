"""One of two documents that are compared: its blocks, what reaches across them, what they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from backshop.formats.package.guard import Element

from ..edit.removal import splits_field
from ..text import name as n
from ..text.document import WRAPPERS, Texts, block_elements
from ..text.source import Document
from .imprint import BOOKMARK, BOOKMARK_END, Imprint, digest
from .item import Item

Ref = tuple[str, ...]  # ("style", "Heading1"), ("rel", "word/document.xml", "rId7")

PARA_ID = "{http://schemas.microsoft.com/office/word/2010/wordml}paraId"
_STYLES = {n.PSTYLE, n.RSTYLE, n.TBL_STYLE, n.BASED_ON, n.w("link"), n.w("next")}
_STYLES |= {n.w("styleLink"), n.w("numStyleLink")}
_NOTES = {n.FOOTNOTE_REF: "footnote", n.ENDNOTE_REF: "endnote"}
_COMMENTS = frozenset(map(n.w, ("commentRangeStart", "commentRangeEnd", "commentReference")))
_MOVES = ("moveFromRange", "moveToRange")
_NAMED = {BOOKMARK: "bookmark", **{n.w(f"{one}Start"): "move" for one in _MOVES}}
_NAMED_ENDS = {BOOKMARK_END: BOOKMARK} | {n.w(f"{o}End"): n.w(f"{o}Start") for o in _MOVES}
_XML_RANGES = (
    *("perm", "customXmlInsRange", "customXmlDelRange"),
    *("customXmlMoveFromRange", "customXmlMoveToRange"),
)
_BY_ID = {n.w(f"{one}{end}"): one for one in _XML_RANGES for end in ("Start", "End")}
_RELATIONS = f"{{{n.R_NS}}}"
_SHOWN = (n.DRAWING, n.PICT, n.OBJECT, n.SECT_PR, n.MATH, n.FLD_CHAR)


def references(elements: Iterable[Element], part: str) -> set[Ref]:
    """Return what elements name: styles, lists, notes, comments, relationships of their part."""
    found: set[Ref] = set()
    for top in elements:
        for element in top.iter("*"):
            found.update(_named(element, part))
    return found


def _named(element: Element, part: str) -> Iterator[Ref]:
    tag = element.tag
    if tag in _STYLES:
        yield "style", element.get(n.VAL) or ""
    elif tag == n.NUM_ID:
        yield "num", element.get(n.VAL) or ""
    elif tag == n.w("abstractNumId"):
        yield "abstract", element.get(n.VAL) or ""
    elif tag == n.PIC_BULLET_ID:
        yield "bullet", element.get(n.VAL) or ""
    elif tag in _NOTES:
        yield _NOTES[str(tag)], element.get(n.ID) or ""
    elif tag in _COMMENTS:
        yield "comment", element.get(n.ID) or ""
    for key, value in element.items():
        if str(key).startswith(_RELATIONS):
            yield "rel", part, str(value)


def is_blank(element: Element, text: str) -> bool:
    """Whether nothing shows in a block or row, so that it is not known again by itself."""
    return not text.strip() and next(element.iter(*_SHOWN), None) is None


class Side:
    """A document, the blocks of its body as items, and prints of them."""

    def __init__(self, document: Document, targets: Mapping[str, str]) -> None:
        self.document = document
        self.root = document.trees.root(document.part)
        self.imprint = Imprint(self.root, targets)

    @cached_property
    def texts(self) -> Texts:
        """The texts of paragraphs and cells as they are read."""
        return Texts(self.document.body_element)

    @cached_property
    def section(self) -> Element | None:
        """The properties of the last section, which close the body."""
        return self.document.last_section()

    @cached_property
    def items(self) -> list[Item]:
        """What stands in the body, in order, without the properties of the last section."""
        found: list[Item] = []
        at = 0
        for child in self.document.body_element:
            if child is self.section or self.imprint.is_trivial(child):
                continue
            item = self._item(child, at)
            found.append(item)
            at += item.count
        return found

    def _item(self, element: Element, at: int) -> Item:
        shown = digest(self.imprint.of(element))
        if element.tag == n.P:
            text = self.text(element)
            blank = is_blank(element, text)
            return Item("p", element, shown, text, element.get(PARA_ID), blank, None, at)
        if element.tag == n.TBL:
            shape = digest(self.imprint.of(element.find(n.TBL_GRID)))
            return Item("t", element, shown, self.text(element), None, False, shape, at)
        if element.tag in WRAPPERS:
            blocks = list(block_elements(element))
            text = "\n".join(map(self.text, blocks))
            return Item("control", element, shown, text, None, False, None, at, len(blocks))
        return Item("mark", element, shown, "", None, False, None, at, 0)

    def text(self, block: Element) -> str:
        """Return the words of a block, cells and rows of a table parted."""
        if block.tag == n.P:
            return self.texts.of(block)
        return "\n".join(map("\t".join, self.texts.grid(block)))

    @cached_property
    def _names(self) -> dict[tuple[str, str], str]:
        """The names of ranges by their ids."""
        return {
            (str(start.tag), start.get(n.ID) or ""): start.get(n.NAME) or start.get(n.ID) or ""
            for start in self.root.iter(*_NAMED)
        }

    def anchors(self, elements: Iterable[Element]) -> Counter[tuple[str, str]]:
        """Return the ends of ranges, places of notes, loose fields and section breaks in elements.

        Each is a word for what it belongs to, and which of its ends it is.
        """
        found: Counter[tuple[str, str]] = Counter()
        tops = list(elements)
        for top in tops:
            for element in top.iter(*_NAMED, *_NAMED_ENDS, *_BY_ID, *_NOTES, *_COMMENTS, n.SECT_PR):
                if not self.imprint.is_trivial(element):
                    found.update([(self._anchor(element), str(element.tag))])
        if splits_field(tops):
            found["field", "loose"] += 1
        return found

    def _anchor(self, element: Element) -> str:
        tag, ident = str(element.tag), element.get(n.ID) or ""
        start = _NAMED_ENDS.get(tag, tag)
        if start in _NAMED:
            return f"{_NAMED[start]} {self._names.get((start, ident), ident)}"
        if tag in _BY_ID:
            return f"{_BY_ID[tag]} {ident}"
        if tag == n.SECT_PR:
            return "section break"
        return f"{_NOTES.get(tag, 'comment')} {ident}"
