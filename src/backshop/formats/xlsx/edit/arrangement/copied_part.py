"""The parts of a sheet under new names: drawings with charts, notes, tables, printer settings.

What belongs to the sheet alone is copied with its relationships, under the same ids; pictures are
shared. What cannot be there twice without its other half (pivot tables, slicers, controls, embedded
objects, queries) is left out, and counted.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Callable

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import serialise
from backshop.formats.package.relationship import RELS_NS, rels_name

from ...book.sheet_xml import SheetXml
from ...book.splice import frame_halves
from ...book.workbook import Book, child, children, local, rel_id, truth
from .copied_text import CopyNames

_DEEP = frozenset(
    (
        *("drawing", "chart", "chartEx", "chartStyle", "chartColorStyle", "chartUserShapes"),
        *("diagramData", "diagramLayout", "diagramQuickStyle", "diagramColors", "diagramDrawing"),
        *("comments", "threadedComment", "vmlDrawing", "table", "printerSettings"),
        *("customProperty", "themeOverride"),
    )
)
_SHARED = frozenset({"image", "hyperlink"})
_WORDS = {
    "pivotTable": "pivot tables (their cells are copied as values)",
    "slicer": "slicers",
    "timeline": "timelines",
    "oleObject": "embedded objects",
    "package": "embedded objects",
    "control": "controls",
    "ctrlProp": "controls",
    "queryTable": "queries of tables and ranges",
    "tableSingleCells": "cells bound to XML",
    "namedSheetView": "saved views",
}
_HELD = frozenset({"slicer", "timeslicer", "compatExt"})  # in a drawing: of what is left out
_PRUNED = frozenset({"AlternateContent", "Choice", "ext", "extLst", "controls", "oleObjects"})
_GUID = re.compile(rb"(person[Ii]d=\")?\{([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\}")
_SHAPE = re.compile(rb"<((?:[\w.\-]+:)?)shape(?=[\s>]).*?</(?:[\w.\-]+:)?shape\s*>\s*", re.S)
_NUMBERED = re.compile(r"(.*?)\d*(\.\w+)")
_LINE = f"{{{RELS_NS}}}Relationship"


class PartCopies:
    """Copies parts into the package they are in."""

    def __init__(self, book: Book, names: CopyNames) -> None:
        self._package, self._names = book.package, names
        self.left: Counter[str] = Counter()
        self._made: dict[str, str] = {}
        self._lost_links: frozenset[str] = frozenset()
        self._next_table = _highest_table(book) + 1

    def sheet(self, part: str) -> str:
        """Copy a sheet and all that is its own; return the name of its part."""
        lost = [rel for rel in self._package.rels(part) if rel.part and not _is_copied(rel.type)]
        for rel in lost:
            self.left[_WORDS.get(_kind(rel.type), f"parts of the kind {_kind(rel.type)}")] += 1
        self._lost_links = frozenset(rel.id for rel in lost)
        return self._copy(part, self.worksheet)

    def _copy(self, part: str, change: Callable[[bytes], bytes]) -> str:
        """Copy one part with what it leads to."""
        if part in self._made:
            return self._made[part]
        package = self._package
        match = _NUMBERED.fullmatch(part)
        assert match is not None, "parts have an ending"
        new = package.numbered(match[1], match[2])
        self._made[part] = new
        package.put(new, change(package.read(part)))
        kind = package.content_type(part)
        if kind is not None and package.content_type(new) != kind:
            package.set_content_type(new, kind)
        rels = package.find(rels_name(part))
        if rels is not None:
            package.put(rels_name(new), self._rels(part, new, package.read(rels)))
            if package.content_type(rels_name(new)) is None:
                package.set_content_type(rels_name(new), package.content_type(rels))
        return new

    def _rels(self, part: str, new: str, data: bytes) -> bytes:
        """Return relationships under the same ids that lead to the copies."""
        root = parse_xml(data)
        led = {rel.id: rel for rel in self._package.rels(part)}
        for line in list(root.iter(_LINE)):
            rel = led.get(line.get("Id") or "")
            target = self._package.find(rel.part) if rel is not None and rel.part else None
            if rel is None or rel.part is None:
                continue
            if target is None or not _is_copied(rel.type):
                root.remove(line)
                continue
            kind = _kind(rel.type)
            if kind in _DEEP:
                target = self._copy(target, self._change(kind))
            line.set("Target", posixpath.relpath(target, posixpath.dirname(new) or "."))
        return serialise(root, like=data)

    def _change(self, kind: str) -> Callable[[bytes], bytes]:
        changes: dict[str, Callable[[bytes], bytes]] = {
            "drawing": self._drawing,
            "chart": self._names.texts,
            "chartEx": self._names.texts,
            "chartUserShapes": self._names.texts,
            "comments": self._noted,
            "threadedComment": self._noted,
            "vmlDrawing": self._vml,
            "table": self._table,
        }
        return changes.get(kind, bytes)

    # --- what is written differently in a copy -------------------------------------------------

    def worksheet(self, data: bytes) -> bytes:
        """Return the sheet itself: not selected, without what is left out, its formulas its own."""
        xml = SheetXml(self._names.texts(data), "")
        root = xml.frame()
        for item in list(root.iter("{*}*")):
            if rel_id(item) in self._lost_links and rel_id(item) is not None:
                _prune(item)
        for name in ("controls", "oleObjects") if self._lost_links else ():
            for item in list(root.iter(f"{{*}}{name}")):
                if not len(item):
                    _prune(item)
        for item in children(root, "conditionalFormatting"):
            if truth(item.get("pivot")):
                root.remove(item)
        for view in root.iter("{*}sheetView"):
            view.attrib.pop("tabSelected", "")
        properties = child(root, "sheetPr")
        if properties is not None:
            properties.attrib.pop("codeName", "")
        _drop_uids(root)
        head, tail = frame_halves(xml, root)
        return head + xml.data[xml.start : xml.end] + tail

    def _drawing(self, data: bytes) -> bytes:
        root = parse_xml(self._names.texts(data))
        for anchor in list(root):
            if any(local(item) in _HELD for item in anchor.iter("{*}*")):
                root.remove(anchor)
        return serialise(root, like=data)

    def _vml(self, data: bytes) -> bytes:
        """Return the boxes of notes, and pictures of the page; those of controls are left out."""

        def shape(match: re.Match[bytes]) -> bytes:
            is_control = b"ObjectType=" in match[0] and b'ObjectType="Note"' not in match[0]
            return b"" if is_control else match[0]

        return self._names.texts(_SHAPE.sub(shape, data))

    def _noted(self, data: bytes) -> bytes:
        """Return notes whose threads have names of their own; people stay who they are."""
        salt = self._names.copy.encode("utf-8", "surrogatepass")

        def other(match: re.Match[bytes]) -> bytes:
            if match[1]:
                return match[0]
            made = hashlib.sha256(salt + match[2].upper()).hexdigest().upper()
            pieces = (made[:8], made[8:12], f"4{made[13:16]}", f"8{made[17:20]}", made[20:32])
            return b"{" + "-".join(pieces).encode() + b"}"

        return _GUID.sub(other, data)

    def _table(self, data: bytes) -> bytes:
        root = parse_xml(self._names.texts(data))
        name = (root.get("displayName") or root.get("name") or "").lower()
        new = self._names.tables.get(name, name)
        root.set("id", str(self._next_table))
        self._next_table += 1
        for key in ("name", "displayName"):
            root.set(key, new)
        for key in ("tableType", "connectionId"):
            root.attrib.pop(key, "")
        for column in root.iter("{*}tableColumn"):
            column.attrib.pop("queryTableFieldId", "")
        _drop_uids(root)
        return serialise(root, like=data)


def _kind(type_: str) -> str:
    return type_.rpartition("/")[2]


def _is_copied(type_: str) -> bool:
    return _kind(type_) in _DEEP | _SHARED


def _highest_table(book: Book) -> int:
    numbers = [0]
    for sheet in book.sheets:
        for part in book.sheet_rels(sheet, "table"):
            said = book.package.xml(part).get("id") or ""
            numbers.append(int(said) if said.isdigit() and len(said) < 10 else 0)
    return max(numbers)


def _prune(element: Element) -> None:
    """Take an element out, and what is empty without it."""
    parent = element.getparent()
    if parent is None:
        return
    parent.remove(element)
    outer: Element | None = parent
    while outer is not None and local(outer) != "AlternateContent":
        outer = outer.getparent()
    if outer is not None:  # its other choice speaks of the same thing
        holder = outer.getparent()
        if holder is not None:
            holder.remove(outer)
            parent = holder
    if local(parent) in _PRUNED and parent.find("{*}*") is None:
        _prune(parent)


def _drop_uids(root: Element) -> None:
    """Forget what tells one revision of a thing from another: the copy is another thing."""
    for item in root.iter(etree.Element):
        for key in [key for key in item.attrib if str(key).endswith("}uid")]:
            del item.attrib[key]
