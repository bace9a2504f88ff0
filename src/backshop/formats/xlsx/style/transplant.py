"""Formats of one style table brought into another, entry by entry, never by number (F22)."""

from __future__ import annotations

from copy import deepcopy

from lxml import etree

from ..book.stylesheet import StyleSheet
from ..book.workbook import Book, child, children, like


class Transplant:
    """Brings a format of one style table into another, entry by entry."""

    def __init__(self, giver: Book, taker: StyleSheet) -> None:
        self.giver = StyleSheet(giver)
        self.taker = taker

    def xf(self, source: etree._Element, base: int | None) -> etree._Element:
        """Return a copy of a format whose numbers mean the taker's entries."""
        new = etree.Element(like(self.taker.root, "xf"), copied(source))
        for key, table in (("fontId", "fonts"), ("fillId", "fills"), ("borderId", "borders")):
            items = [e for e in self.giver.table(table) if isinstance(e.tag, str)]
            number = int(source.get(key) or 0)
            entry = items[number] if number < len(items) else None
            if entry is not None:
                new.set(key, str(self.taker.append(table, adopted(entry, self.taker.root))))
        new.set("numFmtId", self._number_format(source))
        for inner in source:
            if isinstance(inner.tag, str):
                new.append(adopted(inner, self.taker.root))
        if base is None:
            new.attrib.pop("xfId", "")
        else:
            new.set("xfId", str(base))
        return new

    def _number_format(self, source: etree._Element) -> str:
        """Return the taker's number of a number format; Excel's own have one everywhere."""
        number = source.get("numFmtId") or "0"
        own = children(child(self.giver.root, "numFmts"), "numFmt")
        if all(item.get("numFmtId") != number for item in own):
            return number
        return str(self.taker.number_format(self.giver.code_of(source)))


def copied(element: etree._Element) -> dict[str, str]:
    """Return the attributes of an element."""
    return {str(key): str(value) for key, value in element.attrib.items()}


def adopted(element: etree._Element, root: etree._Element) -> etree._Element:
    """Return a copy in the namespace of another styles part."""
    copy = deepcopy(element)
    copy.tail = None
    space = etree.QName(root).namespace
    for item in copy.iter(etree.Element):
        if etree.QName(item).namespace == etree.QName(element).namespace:
            item.tag = f"{{{space}}}{etree.QName(item).localname}" if space else item.tag
    return copy
