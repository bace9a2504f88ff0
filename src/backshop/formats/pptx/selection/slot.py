"""A presentation as slots: the smallest things in it that can be exchanged by themselves.

A slot is a shape of a slide, its background, its animations, its notes; a layout, a theme, a line
of the presentation's own properties. What a slot leads to, a picture or a chart with its workbook,
belongs to it and is compared by its content; other slots it leads to are compared by their keys. So
a presentation is what its slots are, whatever its parts and relationships are called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml import etree

from backshop.formats.diff.part_diff import is_packaging, local, printed, written_anew
from backshop.formats.package.guard import Element
from backshop.formats.package.relationship import Relationship

from .. import names as n
from ..deck import Deck, Slide

Key = tuple[str, ...]
"""What a slot is known by in both presentations: `("slide", "256", "shape", "4", "body")`."""

SECTIONS = "{521415D9-36F7-43E2-AB2F-B90AF26B5E84}"  # the extension that holds them
_STRUCTURAL = frozenset({"slideMaster", "slideLayout", "theme"})
_NAMED_BY_WORDS = frozenset(  # relationships that only count where something names them
    {"image", "hyperlink", "audio", "video", "media", "slide", "chart", "oleObject", "package"}
)
_SHAPES = frozenset({n.SP, n.GRP_SP, n.GRAPHIC_FRAME, n.PIC, n.CXN_SP, n.CONTENT_PART})
_BODIES = {n.SP: n.TX_BODY, n.GRAPHIC_FRAME: n.a("graphic")}
_RELATION = f"{{{n.R_NS}}}"
_IGNORABLE = f"{{{n.MC_NS}}}Ignorable"


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing in a presentation: how it is compared, and which other slots it leads to."""

    said: str
    leads_to: frozenset[Key] = frozenset()
    elements: tuple[Element, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class SlideSlots:
    """The slots of one slide; `is_parted` where its shapes can be told apart."""

    slots: dict[Key, Slot]
    order: tuple[str, ...]
    is_parted: bool


class Content:
    """A presentation and the words its slots are compared by."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.package = deck.package
        self.slides: dict[Key, Slide] = {
            ("slide", str(slide.slide_id)): slide for slide in deck.slides
        }
        self.keys: dict[str, Key] = {slide.part: key for key, slide in self.slides.items()}
        self.keys.update({name: ("part", name) for name in self._named()})
        self._attached: dict[str, tuple[str, frozenset[Key]]] = {}
        self._raw: dict[str, str] = {}

    # --- parts ----------------------------------------------------------------------------------

    def _named(self) -> Iterator[str]:
        """Yield the parts that are slots by themselves: masters, layouts, themes, properties."""
        seen = {self.deck.part}
        waiting = [
            part
            for owner in ("", self.deck.part)
            for _, part in self._inner(owner)
            if part not in self.keys
        ]
        while waiting:
            part = waiting.pop()
            if part in seen or is_packaging(part):
                continue
            seen.add(part)
            yield part
            waiting += [
                target
                for rel, target in self._inner(part)
                if kind_of(rel) in _STRUCTURAL and target not in self.keys
            ]

    def _inner(self, part: str) -> Iterator[tuple[Relationship, str]]:
        for rel in self.package.rels(part):
            name = self.package.find(rel.part) if rel.part is not None else None
            if name is not None:
                yield rel, name

    def lead(self, rel: Relationship) -> tuple[str, frozenset[Key]]:
        """Return what a relationship leads to: a slot, the content of a part, or outside."""
        name = self.package.find(rel.part) if rel.part is not None else None
        if name is None:
            return f"outside {rel.target}", frozenset()
        key = self.keys.get(name)
        if key is not None:
            return f"slot {key}", frozenset({key})
        if name == self.deck.part:
            return "the presentation", frozenset()
        return self.attached(name)

    def attached(self, name: str) -> tuple[str, frozenset[Key]]:
        """Return a hash of what a part holds, with all that only it leads to, and those slots."""
        if name not in self._attached:
            self._attached[name] = ("itself", frozenset())  # of parts that lead to each other
            content = self.package.content_type(name) or ""
            if name.endswith((".xml", ".vml")):
                slot = self.whole(name)
                told, leads_to = slot.said, slot.leads_to
            else:
                told = hashlib.sha256(self.package.read(name)).hexdigest()
                leads_to = frozenset()
            digest = hashlib.sha256(f"{content}\0{told}".encode("utf-8", "surrogatepass"))
            self._attached[name] = (digest.hexdigest(), leads_to)
        return self._attached[name]

    def raw(self, name: str) -> str:
        """Return a hash of a part and what only it leads to as they are written: equal ones are."""
        if name not in self._raw:
            self._raw[name] = "itself"
            told = [hashlib.sha256(self.package.read(name)).hexdigest()]
            for rel in self.package.rels(name):
                target = self.package.find(rel.part) if rel.part is not None else None
                is_known = target is None or target in self.keys or target == self.deck.part
                lead = self.lead(rel)[0] if is_known or target is None else self.raw(target)
                told.append(f"{rel.id} {rel.type} {lead}")
            self._raw[name] = hashlib.sha256("\0".join(told).encode()).hexdigest()
        return self._raw[name]

    def whole(self, name: str) -> Slot:
        """Return a whole part as one slot."""
        if not name.endswith((".xml", ".vml")):
            return Slot(hashlib.sha256(self.package.read(name)).hexdigest())
        root = self.root(name)
        unseen = written_anew(name) | ({"sldLst"} if local(root) == "viewPr" else frozenset())
        slot = self.seen(name, (root,), unseen)
        implied = [self.implied(name, kind) for kind in self.implied_kinds(name, root)]
        leads_to = slot.leads_to.union(*(one.leads_to for one in implied))
        return Slot("\0".join([slot.said, *sorted(one.said for one in implied)]), leads_to)

    # --- elements -------------------------------------------------------------------------------

    def seen(
        self, part: str, elements: Sequence[Element], unseen: frozenset[str] = frozenset()
    ) -> Slot:
        """Return elements of a part as a slot."""
        targets: dict[str, str] = {}
        leads_to: set[Key] = set()
        rels = {rel.id: rel for rel in reversed(self.package.rels(part))}
        for named in {one for element in elements for one in named_in(element, unseen)}:
            if named in rels:
                told, keys = self.lead(rels[named])
                targets[named] = f"{kind_of(rels[named])} {told}"
                leads_to |= keys
        said = "\0".join(printed(element, targets, unseen) for element in elements)
        return Slot(said, frozenset(leads_to), tuple(elements))

    def implied_kinds(self, part: str, root: Element) -> list[str]:
        """Return the kinds of relationship that mean something without being named."""
        named = set(named_in(root))
        kinds = {kind_of(rel) for rel in self.package.rels(part) if rel.id not in named}
        return sorted(kinds - _NAMED_BY_WORDS)

    def implied_rels(self, part: str, kind: str) -> list[Relationship]:
        """Return the relationships of a kind that a part does not name."""
        named = set(named_in(self.root(part))) if part else set()
        rels = self.package.rels(part)
        return [rel for rel in rels if rel.id not in named and kind_of(rel) == kind]

    def implied(self, part: str, kind: str) -> Slot:
        """Return those relationships as a slot."""
        leads = []
        leads_to: set[Key] = set()
        for rel in self.implied_rels(part, kind):
            if is_packaging(rel.part or ""):
                continue
            told, keys = self.lead(rel)
            leads.append(f"{kind} {told}")
            leads_to |= keys
        return Slot("\0".join(sorted(leads)), frozenset(leads_to))

    def root(self, part: str) -> Element:
        """Return the tree of a part."""
        return self.deck.trees.root(part)

    # --- slides ---------------------------------------------------------------------------------

    def slide_slots(self, key: Key) -> SlideSlots:
        """Return the slots of a slide."""
        slide = self.slides[key]
        root = slide.root
        common, tree = root.find(n.C_SLD), slide.tree
        assert common is not None
        slots: dict[Key, Slot] = {}
        for word, holder in (("sld", root), ("cSld", common)):
            slots[(*key, word, "@")] = Slot(_attributes(holder))
        for word, holder, held in (("sld", root, common), ("cSld", common, tree)):
            for name, elements in grouped(holder, held).items():
                slots[(*key, word, name)] = self.seen(slide.part, elements)
        shapes = top_shapes(tree)
        for name, elements in grouped(tree, *shapes.values()).items():
            slots[(*key, "spTree", name)] = self.seen(slide.part, elements)
        for number, element in shapes.items():
            slots.update(self._shape(slide, (*key, "shape", number), element))
        for kind in self.implied_kinds(slide.part, root):
            slots[(*key, "rels", kind)] = self.implied(slide.part, kind)
        is_parted = len(shapes) == sum(1 for _ in _shapes_in(tree)) and "" not in shapes
        return SlideSlots(slots, tuple(shapes), is_parted)

    def _shape(self, slide: Slide, key: Key, element: Element) -> Iterator[tuple[Key, Slot]]:
        body = element.find(_BODIES[element.tag]) if element.tag in _BODIES else None
        unseen: frozenset[str] = frozenset() if body is None else frozenset({local(body)})
        frame = self.seen(slide.part, (element,), unseen)
        yield key, Slot(frame.said, frame.leads_to, (element,), words_in(element))
        if body is not None:
            inner = self.seen(slide.part, (body,))
            yield (*key, "body"), Slot(inner.said, inner.leads_to, (body,), words_in(body))

    # --- the presentation -----------------------------------------------------------------------

    def show_slots(self) -> dict[Key, Slot]:
        """Return the slots of the presentation itself, without the order of its slides."""
        part, root = self.deck.part, self.deck.root
        slots: dict[Key, Slot] = {("show", "@"): Slot(_attributes(root))}
        for name, elements in grouped(root).items():
            if name == "extLst":
                for ext in (one for holder in elements for one in holder):
                    if local(ext) and ext.get("uri") != SECTIONS:
                        slots[("show", "ext", ext.get("uri") or "")] = self.seen(part, (ext,))
            elif name != "sldIdLst":
                slots[("show", name)] = self.seen(part, elements)
        for owner, word in (("", "package"), (part, "rels")):
            for kind in self._kinds(owner):
                slots[("show", word, kind)] = self.implied(owner, kind)
        return slots

    def _kinds(self, owner: str) -> list[str]:
        if owner:
            return self.implied_kinds(owner, self.root(owner))
        return sorted({kind_of(rel) for rel in self.package.rels("")} - {"thumbnail"})

    def named_slots(self, other: Content) -> dict[Key, Slot]:
        """Return masters, layouts, themes and other parts as slots, but those that are equal."""
        named = [name for name, key in self.keys.items() if key[0] == "part"]
        return {
            ("part", name): self.whole(name)
            for name in named
            if name not in other.keys or self.raw(name) != other.raw(name)
        }

    def slide_slot(self, key: Key) -> Slot:
        """Return a whole slide as one slot."""
        slide = self.slides[key]
        slot = self.whole(slide.part)
        return Slot(slot.said, slot.leads_to - {key}, (), words_in(slide.root))


def is_slide(key: Key) -> bool:
    """Whether a slot is a slide as a whole."""
    return key[0] == "slide" and len(key) == 2


def is_shape(key: Key) -> bool:
    """Whether a slot is a shape, its inside apart."""
    return key[2:3] == ("shape",) and len(key) == 4


def is_body(key: Key) -> bool:
    """Whether a slot is the inside of a shape: its text, or its table or chart."""
    return key[2:3] == ("shape",) and len(key) == 5


def kind_of(rel: Relationship) -> str:
    """Return the last word of a relationship's type, which both dialects have in common."""
    return rel.type.rpartition("/")[2]


def named_in(element: Element, unseen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the relationships an element names, without those in elements nobody looks at."""
    if not unseen:
        for inner in element.iter(etree.Element):
            yield from (str(value) for key, value in inner.items() if is_relation(str(key)))
        return
    yield from (str(value) for key, value in element.items() if is_relation(str(key)))
    for child in element:
        if isinstance(child.tag, str) and local(child) not in unseen:
            yield from named_in(child, unseen if len(child) else frozenset())


def is_relation(attribute: str) -> bool:
    """Whether an attribute names a relationship."""
    return attribute.startswith(_RELATION) or attribute.endswith("}relid")


def grouped(holder: Element, *held: Element) -> dict[str, tuple[Element, ...]]:
    """Return the children of an element by their names, without those that hold others."""
    found: dict[str, tuple[Element, ...]] = {}
    for child in holder:
        if isinstance(child.tag, str) and child not in held:
            name = word_of(child)
            found[name] = (*found.get(name, ()), child)
    return found


def word_of(element: Element) -> str:
    """Return an element's name, of alternatives that of what they stand for."""
    if element.tag != n.ALTERNATE:
        return local(element)
    inner = (local(one) for choice in element for one in choice)
    return next((name for name in inner if name), "AlternateContent")


def top_shapes(tree: Element) -> dict[str, Element]:
    """Return the outermost shapes of a slide by their ids, in drawing order."""
    return {shape_id(element): element for element in _shapes_in(tree)}


def _shapes_in(tree: Element) -> Iterator[Element]:
    for child in tree:
        is_shape = child.tag in _SHAPES
        if child.tag == n.ALTERNATE:
            is_shape = any(one.tag in _SHAPES for choice in child for one in choice)
        if is_shape:
            yield child


def shape_id(element: Element) -> str:
    """Return the id of a shape, nothing where it has none."""
    properties = next(element.iter(n.C_NV_PR), None)
    return (properties.get("id") or "") if properties is not None else ""


def inner_ids(element: Element) -> frozenset[str]:
    """Return the ids of a shape and of all in it."""
    return frozenset(one.get("id") or "" for one in element.iter(n.C_NV_PR))


def words_in(element: Element) -> str:
    """Return the words of an element, its paragraphs as lines."""
    paragraphs = ("".join(t.text or "" for t in one.iter(n.T)) for one in element.iter(n.P_T))
    return "\n".join(paragraphs)


def ignorable(root: Element) -> frozenset[str]:
    """Return the namespaces that a part tells programs to pass over where they are unknown."""
    prefixes = (root.get(_IGNORABLE) or "").split()
    return frozenset(root.nsmap.get(prefix) or prefix for prefix in prefixes)


def _attributes(element: Element) -> str:
    bare = etree.Element("x")
    for key, value in element.items():
        if key != _IGNORABLE:
            bare.set(key, value)
    return printed(bare, {})
