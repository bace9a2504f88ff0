"""Charts and pictures of one workbook put into another version of it, with all they lead to."""

from __future__ import annotations

import hashlib
import posixpath
from copy import deepcopy

from lxml import etree

from backshop.formats.package.child_span import ChildSpans
from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.media import relative
from backshop.formats.package.package import serialise
from backshop.formats.package.relationship import rels_name, resolve

from ..book.sheet_edit import SheetEdit
from ..book.workbook import Book, Sheet
from ..drawing.drawing_edit import DrawingEdit, links_in
from ..drawing.drawing_part import DrawingPart, Drawn, drawn_on, identity


class DrawingTransfer:
    """Lets charts and pictures of a sheet be as another version of the workbook has them."""

    def __init__(
        self, book: Book, sheet: Sheet, edit: SheetEdit | None, other: Book, twin: Sheet
    ) -> None:
        self._book, self._sheet, self._other, self._twin = book, sheet, other, twin
        self._drawing = DrawingEdit(book, edit, sheet)
        self._names: dict[str, str] = {}  # of parts that came, by what they are called there

    def put(self, sort: str, number: str) -> None:
        """Let the chart or picture of a number be as in the other version, or not be there."""
        here = _find(self._book, self._sheet, sort, number)
        there = _find(self._other, self._twin, sort, number)
        if here is not None:
            self._drawing.remove(here.drawing, here.at, keep_empty=there is not None)
        if there is not None:
            drawing = self._drawing.ensured(there.drawing)
            at = here.at if here is not None else self._place(drawing, there)
            self._drawing.insert(drawing, self._anchor(drawing, there), at)

    def _place(self, drawing: str, there: Drawn) -> int:
        """Return where something belongs: behind what it stands behind in the other version."""
        own = [identity(one) for one in DrawingPart.of(self._book, drawing).children]
        before = DrawingPart.of(self._other, there.drawing).children[: there.at]
        known = (own.index(one) + 1 for one in map(identity, reversed(before)) if one in own)
        return next(known, 0)

    def _anchor(self, drawing: str, there: Drawn) -> bytes:
        """Return the anchor of the other version with relationships of this one."""
        part = DrawingPart.of(self._other, there.drawing)
        raw = ChildSpans.of(part.data).child(there.at)
        element = [one for one in parse_xml(part.data) if isinstance(one.tag, str)][there.at]
        links = {}
        for rel in self._other.package.rels(there.drawing):
            if rel.id not in links_in(element) or rel.id in links:
                continue
            target = self._other.package.find(rel.part) if rel.part else None
            if target is None:
                links[rel.id] = self._book.package.add_rel(
                    drawing, rel.type, rel.target, external=rel.part is None
                )
            else:
                kind = rel.type.rpartition("/")[2]
                links[rel.id] = self._drawing.link(drawing, self._brought(target), kind)
        spaces = DrawingPart.of(self._book, drawing).spaces
        if part.spaces <= spaces and all(old == new for old, new in links.items()):
            return raw
        return _relinked(element, links)

    def _brought(self, part: str) -> str:
        """Return the part here that has the content of one of the other version."""
        package, other = self._book.package, self._other.package
        data = other.read(part)
        if (came := self._names.get(part)) is not None and package.find(came) is not None:
            return came
        is_media = other.find(rels_name(part)) is None and not part.lower().endswith(".xml")
        if is_media and (known := self._same(part, data)) is not None:
            return known
        name = part
        if package.find(part) is not None:
            stem, ending = posixpath.splitext(part)
            name = package.numbered(stem.rstrip("0123456789"), ending)
        package.put(name, data)
        content_type = other.content_type(part)
        if content_type is not None and package.content_type(name) != content_type:
            package.set_content_type(name, content_type)
        self._names[part] = name
        self._bring_rels(part, name)
        return name

    def _same(self, part: str, data: bytes) -> str | None:
        package, folder = self._book.package, posixpath.dirname(part)
        wanted = hashlib.sha256(data).digest()
        for name in package.names:
            alike = posixpath.dirname(name) == folder and package.size(name) == len(data)
            if alike and hashlib.sha256(package.read(name)).digest() == wanted:
                return name
        return None

    def _bring_rels(self, part: str, name: str) -> None:
        """Bring what a part leads to, under the same ids: the part names them."""
        rels = self._other.package.find(rels_name(part))
        if rels is None:
            return
        data = self._other.package.read(rels)
        root = parse_xml(data)
        is_moved = False
        for line in root:
            if not isinstance(line.tag, str) or line.get("TargetMode") == "External":
                continue
            target = self._other.package.find(resolve(part, line.get("Target") or ""))
            if target is None:
                continue
            brought = self._brought(target)
            if resolve(name, line.get("Target") or "") != brought:
                line.set("Target", relative(name, brought))
                is_moved = True
        self._book.package.put(rels_name(name), serialise(root, like=data) if is_moved else data)


def _find(book: Book, sheet: Sheet, sort: str, number: str) -> Drawn | None:
    alone = (one for one in drawn_on(book, sheet) if one.is_alone)
    return next((one for one in alone if (one.sort, one.id) == (sort, number)), None)


def _relinked(element: Element, links: dict[str, str]) -> bytes:
    copy = deepcopy(element)
    copy.tail = None
    for item in copy.iter(etree.Element):
        for key, value in item.attrib.items():
            if "relationships}" in str(key) and str(value) in links:
                item.set(key, links[str(value)])
    return etree.tostring(copy, encoding="UTF-8", xml_declaration=False)
