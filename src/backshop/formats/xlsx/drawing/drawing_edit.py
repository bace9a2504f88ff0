"""The drawing of a sheet while things come to it or go: anchors, relationships, parts."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.package.child_span import ChildSpans
from backshop.formats.package.guard import Element
from backshop.formats.package.media import relative
from backshop.formats.package.relationship import rels_name
from backshop.formats.package.unused import remove_unused

from ..book.element_order import SHEET_ORDER, insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, Sheet, child, like, rel_id
from .drawing_part import DrawingPart, anchors_of, drawing_parts

_LOOSE = "http://schemas.openxmlformats.org"
_STRICT = "http://purl.oclc.org/ooxml"
RELATIONS = f"{_LOOSE}/officeDocument/2006/relationships"
SPACES = {
    "xdr": f"{_LOOSE}/drawingml/2006/spreadsheetDrawing",
    "a": f"{_LOOSE}/drawingml/2006/main",
    "r": RELATIONS,
    "c": f"{_LOOSE}/drawingml/2006/chart",
}
_DRAWING_TYPE = "application/vnd.openxmlformats-officedocument.drawing+xml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
_NAMED = re.compile(rf"{re.escape(_LOOSE)}/(drawingml|officeDocument)/2006/")


def is_strict(book: Book) -> bool:
    """Whether a workbook is in the strict dialect."""
    return str(etree.QName(book.root).namespace).startswith(_STRICT)


def in_dialect(book: Book, xml: str) -> str:
    """Return XML or a relationship type of ours in the dialect of the workbook (F23.11)."""
    return _NAMED.sub(rf"{_STRICT}/\1/", xml) if is_strict(book) else xml


def links_in(element: Element) -> set[str]:
    """Return the ids of relationships that an element and what is in it name."""
    return {
        str(value)
        for item in element.iter(etree.Element)
        for key, value in item.attrib.items()
        if "relationships}" in str(key)
    }


@dataclass
class DrawingEdit:
    """Changes the drawing of one sheet; `made` are the parts that came or went."""

    book: Book
    edit: SheetEdit | None  # None for a chart sheet, which keeps its drawing
    sheet: Sheet
    made: set[str] = field(default_factory=set)

    @property
    def sheet_part(self) -> str:
        """The part of the sheet."""
        assert self.sheet.part is not None, "a sheet that is edited has a part"
        return self.sheet.part

    def folder(self, name: str) -> str:
        """Return a folder beside the workbook."""
        base = self.book.part.rpartition("/")[0]
        return f"{base}/{name}" if base else name

    @property
    def part(self) -> str | None:
        """The drawing the sheet has.

        Raises:
            FormatError: `corrupt_file` where it names one that is not there.
        """
        if self.edit is None:
            return next(iter(drawing_parts(self.book, self.sheet)), None)
        element = child(self.edit.frame.root, "drawing")
        if element is None:
            return None
        found = self.book.package.rel_part(self.sheet_part, rel_id(element) or "")
        if found is None:
            raise fail("corrupt_file", "the drawing of the sheet is missing")
        return found

    def sharing(self) -> list[str]:
        """Return other sheets that show the same drawing."""
        own = self.part
        others = (sheet for sheet in self.book.sheets if sheet.part != self.sheet_part)
        return [s.name for s in others if own and own in drawing_parts(self.book, s)]

    # --- coming --------------------------------------------------------------------------------

    def ensured(self, name: str | None = None) -> str:
        """Return the drawing of the sheet, made when there is none; `name` if that is free."""
        found = self.part
        if found is not None:
            return found
        assert self.edit is not None, "a chart sheet has a drawing"
        package = self.book.package
        if name is None or package.find(name) is not None:
            name = package.numbered(self.folder("drawings/drawing"), ".xml")
        spaces = " ".join(f'xmlns:{prefix}="{SPACES[prefix]}"' for prefix in ("xdr", "a"))
        empty = in_dialect(self.book, f"{_HEAD}<xdr:wsDr {spaces}/>")
        self.add_part(name, empty.encode(), _DRAWING_TYPE)
        link = self.link(self.sheet_part, name, "drawing")
        root = self.edit.frame.root
        space = in_dialect(self.book, RELATIONS)
        element = etree.Element(like(root, "drawing"), nsmap={"r": space})
        element.set(f"{{{space}}}id", link)
        insert_in_order(root, element, SHEET_ORDER)
        self.edit.refresh_frame()
        return name

    def add_part(self, name: str, data: bytes, content_type: str) -> None:
        """Add a part of a content type of its own."""
        self.book.package.put(name, data)
        self.book.package.set_content_type(name, content_type)
        self.made.add(name)

    def link(self, part: str, target: str, kind: str) -> str:
        """Return the relationship by which a part leads to another, added when there is none."""
        package = self.book.package
        for rel in package.rels(part):
            if rel.part and package.find(rel.part) == target:
                return rel.id
        if package.find(rels_name(part)) is None:
            self.made.add(rels_name(part))
        type_ = in_dialect(self.book, f"{RELATIONS}/{kind}")
        return package.add_rel(part, type_, relative(part, target))

    def insert(self, drawing: str, anchor: bytes, at: int | None = None) -> Element:
        """Put an anchor into a drawing: before the one at a place, else last; return it."""
        before = DrawingPart.of(self.book, drawing)
        data = ChildSpans.of(before.data).with_child(anchor, at)
        self.book.package.put(drawing, data)
        anchors = anchors_of(data)
        return anchors[-1 if at is None or at >= len(anchors) - 1 else at]

    # --- going ---------------------------------------------------------------------------------

    def remove(self, drawing: str, at: int, *, keep_empty: bool = False) -> Element:
        """Take an anchor out with the parts that nothing else leads to; return it."""
        package = self.book.package
        before = DrawingPart.of(self.book, drawing)
        gone = before.children[at]
        data = ChildSpans.of(before.data).without(at)
        package.put(drawing, data)
        left = anchors_of(data)
        unused = links_in(gone).difference(*map(links_in, left))
        for rel in [rel for rel in package.rels(drawing) if rel.id in unused]:
            package.remove_rel(drawing, rel.id)
            self._drop(rel.part)
        self._drop_empty_rels(drawing)
        if not left and not keep_empty:
            self._drop_drawing(drawing)
        return gone

    def _drop(self, part: str | None) -> None:
        name = self.book.package.find(part) if part else None
        if name is not None:
            self.made.update(remove_unused(self.book.package, name))

    def _drop_empty_rels(self, part: str) -> None:
        package = self.book.package
        name = package.find(rels_name(part))
        if name is not None and not package.rels(part):
            package.remove(name)
            self.made.add(name)

    def _drop_drawing(self, drawing: str) -> None:
        """Take off a drawing on which nothing stands any more."""
        if self.edit is None:
            return
        root = self.edit.frame.root
        element = child(root, "drawing")
        if element is None or self.part != drawing:
            return
        link = rel_id(element) or ""
        root.remove(element)
        self.edit.refresh_frame()
        self.book.package.remove_rel(self.sheet_part, link)
        self._drop(drawing)
        self._drop_empty_rels(self.sheet_part)


def declared(anchor: str, known: Collection[tuple[str | None, str]], book: Book) -> bytes:
    """Return an anchor of ours with the namespaces that its drawing does not declare itself."""
    tag = anchor.partition(">")[0]
    used = (
        (prefix, in_dialect(book, uri))
        for prefix, uri in SPACES.items()
        if f"<{prefix}:" in anchor or f" {prefix}:" in anchor
    )
    spaces = "".join(
        f' xmlns:{prefix}="{uri}"' for prefix, uri in used if (prefix, uri) not in known
    )
    return f"{tag}{spaces}{in_dialect(book, anchor[len(tag) :])}".encode()
