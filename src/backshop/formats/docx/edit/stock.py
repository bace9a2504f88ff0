"""Adds to a document the styles, lists and links that new text needs and the file lacks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.protocol import Json

from ..text import name as n
from ..text.document import parent_of
from ..text.source import Document
from ..text.strict import tighten
from ..text.stylesheet import Style, StyleSheet, child_value, whole
from .blank import abstract_list, empty_part, template_styles

_LINKS = (n.BASED_ON, n.w("next"), n.w("link"))  # what a style names other styles in


@dataclass(frozen=True)
class Stock:
    """What one document has, and what can be lent to it."""

    document: Document

    def style(self, value: Json, type_: str) -> Style | None:
        """Return a style of the document by name; the template lends built-in ones (F19.2)."""
        if not isinstance(value, str) or not value.strip():
            return None
        styles = self.document.styles
        found = styles.find(value, type_)
        if found is not None:
            return found
        lent = template_styles().find(value, type_)
        return self._lend(lent) if lent is not None else None

    def _lend(self, style: Style) -> Style | None:
        """Copy a template style, with those it is based on, into the document."""
        styles, template = self.document.styles, template_styles()
        for base in reversed(list(template.chain(style.id))):
            if styles.find(base.name, base.type) is None:
                kind = "bullet" if base.name == "List Bullet" else "number"
                new = partial(self._new_list_of, kind)
                self.add_style(self.rewritten(base, self.free_id(base.id), template, new))
        return styles.find(style.name, style.type)

    def _new_list_of(self, kind: str, _: str) -> str:
        return self.new_list(kind)

    def free_id(self, wanted: str) -> str:
        """Return an identifier for a new style, with a number when a style has it already."""
        taken = self.document.styles.by_id
        names = chain([wanted], (f"{wanted}{number}" for number in count(2)))
        return next(name for name in names if name not in taken)

    def rewritten(
        self, style: Style, style_id: str, home: StyleSheet, list_of: Callable[[str], str | None]
    ) -> Element:
        """Return a copy of a style of `home` that names styles and lists of this document."""
        element = copy.deepcopy(style.element)
        element.tail = None
        element.set(n.STYLE_ID, style_id)
        if n.DEFAULT in element.attrib:
            del element.attrib[n.DEFAULT]
        for link in [child for child in element if child.tag in _LINKS]:
            other = home.by_id.get(link.get(n.VAL) or "")
            here = self.document.styles.find(other.name, other.type) if other else None
            if other is style:
                link.set(n.VAL, style_id)
            elif here is not None:
                link.set(n.VAL, here.id)
            else:
                element.remove(link)
        for listing in element.findall(f"{n.PPR}/{n.NUM_PR}"):
            number = listing.find(n.NUM_ID)
            here_list = list_of(number.get(n.VAL) or "") if number is not None else None
            if number is not None and here_list is not None:
                number.set(n.VAL, here_list)
            elif number is not None and number.get(n.VAL) != "0":
                parent_of(listing).remove(listing)
        return self.at_home(element)

    def at_home(self, element: Element) -> Element:
        """Return an element that is new in the document, in the words of its dialect."""
        if self.document.trees.is_strict:
            tighten(element)
        return element

    def add_style(self, element: Element) -> None:
        """Add a style to the document, making the styles part when there is none."""
        root = self.part("styles")
        root.append(element)
        self.document.styles.root = root
        self.document.styles.register(element)

    def list_of(self, before: Element | None, kind: str) -> str | None:
        """Return the list of the paragraph above when a new item of this kind continues it."""
        if before is None or before.tag != n.P:
            return None
        properties = before.find(n.PPR)
        own = properties.find(n.NUM_PR) if properties is not None else None
        from_style, _ = self.document.styles.list_of(child_value(properties, n.PSTYLE))
        num_id = child_value(own, n.NUM_ID) or from_style
        if num_id is None or self.document.numberings.kind(num_id, "0") != kind:
            return None
        return num_id

    def new_list(self, kind: str) -> str:
        """Add a list to the document and return its number; a numbered one begins at 1."""
        return self.add_list(parse_xml(abstract_list(kind, 0).encode()))

    def add_list(self, definition: Element, overrides: Sequence[Element] = ()) -> str:
        """Add a list definition under numbers of its own; return the number of the list.

        `overrides` are what the list has different from its definition.
        """
        numberings = self.document.numberings
        root = self.part("numbering")
        abstract_id, num_id = str(numberings.free_abstract), str(numberings.free_num)
        definition.set(n.w("abstractNumId"), abstract_id)
        num = etree.Element(n.w("num"))
        num.set(n.NUM_ID, num_id)
        etree.SubElement(num, n.w("abstractNumId")).set(n.VAL, abstract_id)
        num.extend(overrides)
        for new in (definition, num):
            self.at_home(new)
        if numberings.last_abstract is not None:
            numberings.last_abstract.addnext(definition)
        else:
            first = next((at for at, e in enumerate(root) if e.tag == num.tag), len(root))
            root.insert(first, definition)
        (definition if numberings.last_num is None else numberings.last_num).addnext(num)
        numberings.define(definition)
        numberings.add(num)
        return num_id

    def add_bullet(self, bullet: Element) -> str:
        """Add a picture that lists use as their bullet; return its number."""
        root = self.part("numbering")
        key = n.w("numPicBulletId")
        others = list(root.iterchildren(n.w("numPicBullet")))
        number = str(max((whole(e.get(key)) or 0 for e in others), default=-1) + 1)
        bullet.set(key, number)
        root.insert(root.index(others[-1]) + 1 if others else 0, bullet)
        return number

    def part(self, kind: str) -> Element:
        """Return the root of a part that is going to grow, added to the package when missing."""
        return self.document.trees.touch(self.part_name(kind))

    def part_name(self, kind: str) -> str:
        """Return the name of a part that is going to grow, added to the package when missing."""
        document = self.document
        name = document.trees.first_related(document.part, kind)
        return name or self.add_part(kind, empty_part(kind))[0]

    def add_part(self, kind: str, root: Element) -> tuple[str, str]:
        """Add a part beside the main one; return its name and the relationship that leads to it."""
        document = self.document
        folder = document.part.rpartition("/")[0]
        name = document.package.unused(f"{folder}/{kind}.xml".lstrip("/"))
        document.trees.add(name, root, f"{n.CONTENT_TYPE}{kind}+xml")
        target = name.rpartition("/")[2]
        return name, document.trees.add_rel(document.part, n.OFFICE_REL + kind, target)

    def link(self, address: str) -> str:
        """Add a link that leads outside and return its relationship."""
        document = self.document
        return document.trees.add_rel(
            document.part, n.OFFICE_REL + "hyperlink", address, external=True
        )
