"""Carries parts and elements of one presentation into another, with all that they lead to."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.media import relative
from backshop.formats.package.package import serialise
from backshop.formats.package.relationship import RELS_NS, Relationship, rels_name

from ..deck import Deck
from .slot import Content, Key, is_relation, kind_of

_LINE = f"{{{RELS_NS}}}Relationship"
_EMPTY = f'<Relationships xmlns="{RELS_NS}"/>'.encode()


class Carriage:
    """From the presentation after into a copy of the one before.

    `slides` are the slides of the result by their parts there; what comes gets names nobody has.
    """

    def __init__(self, old: Content, new: Content, slides: Mapping[Key, str]) -> None:
        self._old, self._new = old, new
        self.deck = Deck(old.package.fresh())
        self.package = self.deck.package
        self._slides = dict(slides)
        self._names: dict[str, str] = {}  # what parts of the one after are called here
        self._reserved = {name for name, key in new.keys.items() if key[0] == "part"}
        self._pictures: dict[tuple[str, frozenset[Key]], str] | None = None

    def add_slide(self, key: Key) -> str:
        """Name a slide that comes and return its part."""
        part = self._new.slides[key].part
        self._slides[key] = self._names[part] = self._free(part)
        return self._slides[key]

    def name(self, part: str) -> str:
        """Return what a part of the presentation after is called here; it comes if it is not."""
        if part == self._new.deck.part:
            return self.deck.part
        key = self._new.keys.get(part)
        if key is not None:
            return self._slides[key] if key[0] == "slide" else part
        if part not in self._names:
            known = self._same_picture(part)
            self._names[part] = known or self._free(part)
            if known is None:
                self.put(part, self._names[part])
        return self._names[part]

    def put(self, part: str, name: str) -> None:
        """Put a part of the presentation after in, under a name, with all it leads to."""
        giver = self._new.package
        self.package.put(name, giver.read(part))
        content = giver.content_type(part)
        ending = posixpath.splitext(name)[1].lstrip(".")
        if content is not None and self.package.content_type(name) != content:
            if ending != "xml":
                self.package.ensure_default_type(ending, content)
            if self.package.content_type(name) != content:
                self.package.set_content_type(name, content)
        self._put_rels(part, name)

    def element(self, element: Element, giver: str, taker: str) -> Element:
        """Return a copy of an element of one part that stands in another."""
        made = parse_xml(etree.tostring(element, with_tail=False))  # keeps what prefixes mean
        rels = {rel.id: rel for rel in reversed(self._new.package.rels(giver))}
        for inner in made.iter(etree.Element):
            for key, value in inner.items():
                if is_relation(str(key)) and str(value) in rels:
                    inner.set(key, self.rel(rels[str(value)], taker))
        return made

    def rel(self, rel: Relationship, taker: str) -> str:
        """Return the relationship of a part that leads where one of the presentation after does."""
        told, kind = self._new.lead(rel), kind_of(rel)
        known = {one.id for one in self.package.rels(taker)}
        for one in self._old.package.rels(taker):
            if one.id in known and kind_of(one) == kind and self._old.lead(one) == told:
                return one.id
        target = self._new.package.find(rel.part) if rel.part is not None else None
        if target is None:
            return self.deck.trees.add_rel(
                taker, rel.type, rel.target, external=not rel.target.startswith("#")
            )
        name = self.name(target)
        for one in self.package.rels(taker):
            if kind_of(one) == kind and one.part == name:
                return one.id
        return self.deck.trees.add_rel(taker, rel.type, relative(taker, name))

    def _put_rels(self, part: str, name: str) -> None:
        root = parse_xml(_EMPTY)
        for rel in self._new.package.rels(part):
            target = self._new.package.find(rel.part) if rel.part is not None else None
            if target is not None and self._is_left(target):
                continue
            line = etree.SubElement(root, _LINE, Id=rel.id, Type=rel.type, Target=rel.target)
            if target is not None:
                line.set("Target", relative(name, self.name(target)))
            elif rel.part is None and not rel.target.startswith("#"):
                line.set("TargetMode", "External")
        rels = self.package.find(rels_name(name))
        if len(root):
            self.package.put(rels or rels_name(name), serialise(root))
        elif rels is not None:
            self.package.remove(rels)

    def _is_left(self, part: str) -> bool:
        """Whether a part is a slide that does not come: the outline of a view may still name it."""
        key = self._new.keys.get(part)
        return key is not None and key[0] == "slide" and key not in self._slides

    def _free(self, wanted: str) -> str:
        taken = {*self._names.values(), *self._reserved}
        if self.package.find(wanted) is None and wanted not in taken:
            return wanted
        stem, ending = posixpath.splitext(wanted)
        stem = stem.rstrip("0123456789") or "part"
        number = 1
        while self.package.find(f"{stem}{number}{ending}") or f"{stem}{number}{ending}" in taken:
            number += 1
        return f"{stem}{number}{ending}"

    def _same_picture(self, part: str) -> str | None:
        """Return a picture of the presentation before with the same content."""
        if not (self._new.package.content_type(part) or "").startswith("image/"):
            return None
        if self._pictures is None:
            types = self._old.package.content_type
            names = [name for name in self._old.package.names if not name.endswith("/")]
            pictures = [name for name in names if (types(name) or "").startswith("image/")]
            self._pictures = {self._old.attached(name): name for name in reversed(pictures)}
        return self._pictures.get(self._new.attached(part))
