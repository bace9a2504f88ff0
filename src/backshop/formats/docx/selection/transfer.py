"""Carries elements and parts of one document into another version of it, with all they need."""

from __future__ import annotations

import copy

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.package.media import relative
from backshop.formats.package.package import serialise
from backshop.formats.package.relationship import RELS_NS, Relationship, rels_name

from ..text import name as n
from ..text.source import Document
from ..text.stylesheet import whole
from .imprint import BOOKMARK, BOOKMARK_END

_RELATIONS = f"{{{n.R_NS}}}"
_IGNORABLE = f"{{{n.MC_NS}}}Ignorable"


class Transfer:
    """The way from a giver to a taker; `back` names the taker's parts by the giver's."""

    def __init__(self, giver: Document, taker: Document, back: dict[str, str]) -> None:
        self._giver, self._taker, self._back = giver, taker, back
        self._bookmarks = self._bookmark_ids()

    def adopt(self, element: Element) -> Element:
        """Return a copy of an element of the giver's main part that is at home in the taker's."""
        return self.adopt_into(element, self._giver.part, self._taker.part)

    def adopt_into(self, element: Element, giver_part: str, taker_part: str) -> Element:
        """Return a copy whose relationships and bookmarks are the taker's."""
        copied = copy.deepcopy(element)
        copied.tail = None
        relations = {rel.id: rel for rel in reversed(self._giver.package.rels(giver_part))}
        for one in copied.iter("*"):
            for key, value in one.items():
                if str(key).startswith(_RELATIONS) and str(value) in relations:
                    one.set(key, self._relation(relations[str(value)], taker_part))
            if one.tag in (BOOKMARK, BOOKMARK_END):
                ident = one.get(n.ID) or ""
                one.set(n.ID, self._bookmarks.get(ident, ident))
        return copied

    def _bookmark_ids(self) -> dict[str, str]:
        """Return the taker's ids of the giver's bookmarks: by name, else ones that are free."""
        ours = {one.get(n.ID) or "": one.get(n.NAME) for one in self._starts(self._taker)}
        by_name = {name: ident for ident, name in ours.items()}
        taken = {*ours, *(one.get(n.ID) or "" for one in self._starts(self._giver))}
        free = max((whole(ident) or 0 for ident in taken), default=0)
        found: dict[str, str] = {}
        for start in self._starts(self._giver):
            ident, name = start.get(n.ID) or "", start.get(n.NAME)
            if name in by_name:
                found[ident] = by_name[name]
            elif ident in ours:
                free += 1
                found[ident] = str(free)
        return found

    @staticmethod
    def _starts(document: Document) -> list[Element]:
        return list(document.trees.root(document.part).iter(BOOKMARK))

    # --- relationships and parts ---------------------------------------------------------------

    def _relation(self, relation: Relationship, taker_part: str) -> str:
        """Return the id of the taker's relationship that leads to the same thing."""
        package = self._taker.package
        giver = self._giver.package
        part = giver.find(relation.part) if relation.part is not None else None
        here = self.carry(part) if part is not None else None
        kind = relation.type.rpartition("/")[2]
        for known in package.rels(taker_part):
            same_kind = known.type.rpartition("/")[2] == kind
            known_part = package.find(known.part) if known.part is not None else None
            if same_kind and here is not None and known_part == here:
                return known.id
            is_outside = here is None and known.part == relation.part
            if same_kind and is_outside and known.target == relation.target:
                return known.id
        target = relation.target if here is None else relative(taker_part, here)
        is_external = relation.part is None and not relation.target.startswith("#")
        return self._taker.trees.add_rel(taker_part, relation.type, target, external=is_external)

    def carry(self, part: str) -> str:
        """Return the taker's name of a part of the giver, brought along when it has none."""
        if part in self._back:
            return self._back[part]
        self._back[part] = part
        self.put(part, part)
        return part

    def put(self, part: str, name: str) -> None:
        """Give a part of the taker the content and the relationships of one of the giver."""
        giver, taker = self._giver.package, self._taker.package
        taker.put(name, giver.read(part))
        kind = giver.content_type(part)
        if kind is not None and taker.content_type(name) != kind:
            ending = name.rpartition(".")[2]
            if "." in name.rpartition("/")[2] and taker.content_type(f"a.{ending}") is None:
                taker.ensure_default_type(ending, kind)
            if taker.content_type(name) != kind:
                taker.set_content_type(name, kind)
        self._put_rels(part, name)

    def _put_rels(self, part: str, name: str) -> None:
        giver, taker = self._giver.package, self._taker.package
        theirs = giver.find(rels_name(part))
        ours = taker.find(rels_name(name))
        if theirs is None:
            if ours is not None:
                taker.remove(ours)
            return
        root = giver.xml(theirs)
        lines = root.iter(f"{{{RELS_NS}}}Relationship")
        for line, rel in zip(list(lines), giver.rels(part), strict=True):
            found = giver.find(rel.part) if rel.part is not None else None
            if found is not None and self.carry(found) != rel.part:
                line.set("Target", relative(name, self.carry(found)))
        data = giver.read(theirs) if name == part and not _moved(root, giver.xml(theirs)) else None
        target = ours or rels_name(name)
        taker.put(target, data if data is not None else serialise(root))

    def relate(self, part: str) -> None:
        """Have the parts that lead to a part in the giver lead to it in the taker."""
        giver = self._giver.package
        owners = ["", *(name for name in giver.names if not name.endswith(".rels"))]
        for owner in owners:
            if owner and owner not in self._back:
                continue
            for rel in giver.rels(owner):
                if rel.part is not None and giver.find(rel.part) == part:
                    self._relation(rel, self._back[owner] if owner else "")

    def drop(self, part: str) -> None:
        """Take a part of the taker out, with all that leads to it."""
        package = self._taker.package
        for owner in ["", *(name for name in package.names if not name.endswith(".rels"))]:
            for rel in package.rels(owner):
                if rel.part is not None and package.find(rel.part) == part:
                    package.remove_rel(owner, rel.id)
        own = package.find(rels_name(part))
        if own is not None:
            package.remove(own)
        self._taker.trees.forget(part)


def _moved(one: Element, other: Element) -> bool:
    return etree.tostring(one) != etree.tostring(other)


def with_names(document: Document, giver: Document) -> None:
    """Have the main part of a document pass over the same namespaces as another version of it.

    Attributes of newer versions of Word are no errors to older ones only where the root says so.
    """
    ours, theirs = (side.trees.root(side.part) for side in (document, giver))
    words = dict.fromkeys((ours.get(_IGNORABLE) or "").split())
    more = [word for word in (theirs.get(_IGNORABLE) or "").split() if word not in words]
    if not more:
        return
    names = {**theirs.nsmap, **ours.nsmap}
    root = etree.Element(ours.tag, nsmap={p: uri for p, uri in names.items() if p is not None})
    for key, value in ours.items():
        root.set(key, value)
    root.set(_IGNORABLE, " ".join((*words, *more)))
    root.text = ours.text
    root.extend(list(ours))
    document.trees.put_root(document.part, root)
