"""Which slots of two presentations differ, and which of them have to go together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.protocol import Source

from .. import names as n
from ..deck import Deck
from .slot import (
    SECTIONS,
    Content,
    Key,
    SlideSlots,
    Slot,
    ignorable,
    inner_ids,
    is_body,
    is_shape,
    is_slide,
    kind_of,
)

ORDER: Key = ("show", "order")
SECTION_KEY: Key = ("show", "sections")
P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
_AUTHORS = re.compile(r"(?i)/(commentAuthors|authors)\w*\.xml$")
_NEEDED = "one needs the other"
_ANIMATED = "animations speak of these shapes"
_MOVED = "slides were moved and removed together"


@dataclass(frozen=True, slots=True)
class Difference:
    """A slot that differs; None for the side that does not have it."""

    key: Key
    before: Slot | None
    after: Slot | None

    @property
    def sides(self) -> tuple[str | None, str | None]:
        """How both sides are compared."""
        return (
            None if self.before is None else self.before.said,
            None if self.after is None else self.after.said,
        )


@dataclass(slots=True)
class Ties:
    """Which slots go together, and why."""

    _above: dict[Key, Key] = field(default_factory=dict)
    _why: dict[Key, str] = field(default_factory=dict)

    def top(self, key: Key) -> Key:
        """Return the slot that stands for all that go with one."""
        while key in self._above:
            key = self._above[key]
        return key

    def tie(self, one: Key, other: Key, why: str) -> None:
        """Let two slots go together from now on; an empty reason is none worth telling."""
        first, second = sorted((self.top(one), self.top(other)))
        if first != second:
            self._above[second] = first
            told = why or self._why.get(first) or self._why.pop(second, "")
            if told:
                self._why.setdefault(first, told)

    def why(self, key: Key) -> str | None:
        """Return why slots go together."""
        return self._why.get(self.top(key))


class Comparison:
    """Two presentations, slot by slot."""

    def __init__(self, before: Source, after: Source) -> None:
        self.old, self.new = Content(Deck.open(before)), Content(Deck.open(after))
        self.whole: str | None = self._hindrance()
        self.shapes: dict[Key, tuple[SlideSlots, SlideSlots]] = {}
        self.found: dict[Key, Difference] = {}
        self.ties = Ties()
        if self.whole is None:
            self.found = {one.key: one for one in self._differences()}
            self._tie()

    def _hindrance(self) -> str | None:
        old, new = self.old, self.new
        if old.deck.trees.is_strict != new.deck.trees.is_strict:
            return "the file is written in another dialect"
        for side in (old, new):
            if len(side.slides) != len(side.deck.slides):
                return "slides have the same id"
        if old.slides and new.slides and not old.slides.keys() & new.slides.keys():
            return "all slides are others, or were numbered anew"
        if any(side.package.is_signed or side.package.has_macros for side in (old, new)):
            return "a file that is signed or has macros is not put together anew"
        return None

    def groups(self) -> list[list[Difference]]:
        """Return the differences that go together, in the order of the file."""
        found: dict[Key, list[Difference]] = {}
        for key, one in self.found.items():
            found.setdefault(self.ties.top(key), []).append(one)
        return list(found.values())

    # --- what differs ---------------------------------------------------------------------------

    def _differences(self) -> Iterator[Difference]:
        yield from self._order()
        slides = dict.fromkeys((*self.new.slides, *self.old.slides))
        for key in slides:
            if key not in self.old.slides:
                yield Difference(key, None, self.new.slide_slot(key))
            elif key not in self.new.slides:
                yield Difference(key, self.old.slide_slot(key), None)
            else:
                yield from self._slide(key)
        yield from _differing(self.old.show_slots(), self.new.show_slots())
        named = (self.old.named_slots(self.new), self.new.named_slots(self.old))
        yield from _differing(*named)

    def _slide(self, key: Key) -> Iterator[Difference]:
        slides = [side.slides[key] for side in (self.old, self.new)]
        if self.old.raw(slides[0].part) == self.new.raw(slides[1].part):
            return
        roots = [slide.root for slide in slides]
        pair = (self.old.slide_slots(key), self.new.slide_slots(key))
        is_parted = all(one.is_parted for one in pair) and ignorable(roots[1]) <= ignorable(
            roots[0]
        )
        if not is_parted:
            yield from _differing({key: self.old.slide_slot(key)}, {key: self.new.slide_slot(key)})
            return
        self.shapes[key] = pair
        orders = _common(pair[0].order, pair[1].order)
        if orders[0] != orders[1]:
            yield Difference((*key, "order"), *(Slot(" ".join(one)) for one in orders))
        yield from _differing(pair[0].slots, pair[1].slots)

    def _order(self) -> Iterator[Difference]:
        orders = _common([k[1] for k in self.old.slides], [k[1] for k in self.new.slides])
        if orders[0] != orders[1]:
            yield Difference(ORDER, *(Slot(" ".join(one)) for one in orders))
        yield from self._sections(set(orders[0]))

    def _sections(self, common: set[str]) -> Iterator[Difference]:
        """Yield other sections, or slides that both sides list in some section and not the same."""
        old, new = (sections_of(side.deck.root) for side in (self.old, self.new))
        listed = common & (old[1].keys() if old else set()) & (new[1].keys() if new else set())
        moved = sorted(one for one in listed if old and new and old[1][one] != new[1][one])
        told = [
            None if one is None else Slot(f"{one[0]} {[(slide, one[1][slide]) for slide in moved]}")
            for one in (old, new)
        ]
        yield from _differing(*({SECTION_KEY: slot} if slot else {} for slot in told))

    # --- what goes together ---------------------------------------------------------------------

    def _tie(self) -> None:
        came = {key for key, one in self.found.items() if one.before is None}
        went = {key for key, one in self.found.items() if one.after is None}
        for key, one in self.found.items():
            for slot, others in ((one.after, came), (one.before, went)):
                for led in slot.leads_to & others if slot is not None else ():
                    self.ties.tie(key, led, _NEEDED)
        self._tie_order(ORDER, [key for key in went if is_slide(key)])
        if SECTION_KEY in self.found:
            gone = [key for key in went if is_slide(key)]
            self._tie_order(SECTION_KEY, [*gone, *({ORDER} & self.found.keys())])
        self._tie_comments()
        by_slide: dict[Key, list[Key]] = {}
        for key in self.found:
            by_slide.setdefault(key[:2], []).append(key)
        for slide in self.shapes:
            self._tie_shapes(slide, by_slide.get(slide, []))

    def _tie_order(self, order: Key, others: Iterable[Key]) -> None:
        if order in self.found:
            for key in others:
                self.ties.tie(order, key, _MOVED)

    def _tie_shapes(self, slide: Key, mine: list[Key]) -> None:
        shapes = [key for key in mine if is_shape(key)]
        here: dict[str, Key] = {}
        for key in shapes:
            one = self.found[key]
            old, new = (_ids_in(slot) for slot in (one.before, one.after))
            here.update(dict.fromkeys(old ^ new, key))
        gone = [key for key in shapes if None in (self.found[key].before, self.found[key].after)]
        self._tie_order((*slide, "order"), gone)
        for key in mine:
            if is_body(key):
                self._tie_body(key)
        timing: Key = (*slide, "sld", "timing")
        for key in [*shapes, *(one for one in (timing,) if one in self.found)]:
            for spoken in sorted(_spoken_of(self.found[key])):
                if spoken in here:
                    self.ties.tie(key, here[spoken], _ANIMATED if key == timing else _NEEDED)
                body: Key = (*slide, "shape", spoken, "body")
                if key == timing and body in self.found:  # they speak of its paragraphs too
                    self.ties.tie(key, body, _ANIMATED)

    def _tie_comments(self) -> None:
        """Tie comments to the list of those who wrote them, when both differ."""
        authors = [key for key in self.found if key[0] == "part" and _AUTHORS.search(key[1])]
        for key in self.found if authors else ():
            is_of_comments = key[2:3] == ("rels",) and key[3].lower().startswith("comment")
            if is_of_comments or (is_slide(key) and self._has_comments(key)):
                self.ties.tie(authors[0], key, _NEEDED)

    def _has_comments(self, slide: Key) -> bool:
        sides = [side for side in (self.old, self.new) if slide in side.slides]
        rels = [rel for side in sides for rel in side.package.rels(side.slides[slide].part)]
        return any(kind_of(rel).lower().startswith("comment") for rel in rels)

    def _tie_body(self, body: Key) -> None:
        """Tie the inside of a shape to its frame where both came or went, or it is another one."""
        frame, inner = body[:4], self.found[body]
        if frame not in self.found:
            return
        outer = self.found[frame]
        tags = {slot.elements[0].tag for slot in (outer.before, outer.after) if slot is not None}
        if len(tags) > 1 or None in (outer.before, outer.after, inner.before, inner.after):
            self.ties.tie(frame, body, "")


def sections_of(root: Element) -> tuple[str, dict[str, str]] | None:
    """Return the sections of a show and the section of each slide; None where there are none."""
    found = next(root.iter(f"{{{P14}}}sectionLst"), None)
    if found is None:
        return None
    names: list[str] = []
    members: dict[str, str] = {}
    for section in found.iter(f"{{{P14}}}section"):
        names.append(f"{section.get('id')} {section.get('name')}")
        for entry in section.iter(f"{{{P14}}}sldId"):
            members.setdefault(entry.get("id") or "", section.get("id") or "")
    return "\0".join(names), members


def _common(old: Iterable[str], new: Iterable[str]) -> tuple[list[str], list[str]]:
    old, new = list(old), list(new)
    both = set(old) & set(new)
    return [one for one in old if one in both], [one for one in new if one in both]


def _differing(old: Mapping[Key, Slot], new: Mapping[Key, Slot]) -> Iterator[Difference]:
    for key in dict.fromkeys((*new, *old)):
        one = Difference(key, old.get(key), new.get(key))
        if one.sides[0] != one.sides[1]:
            yield one


def _ids_in(slot: Slot | None) -> frozenset[str]:
    elements = slot.elements if slot is not None else ()
    return frozenset().union(*(inner_ids(element) for element in elements))


def _spoken_of(one: Difference) -> set[str]:
    """Return the shapes that animations or connectors of either side speak of."""
    found: set[str] = set()
    for slot in (one.before, one.after):
        for element in slot.elements if slot is not None else ():
            for inner in element.iter(etree.Element):
                if inner.get("spid"):
                    found.add(inner.get("spid") or "")
                if inner.tag in (n.a("stCxn"), n.a("endCxn")):
                    found.add(inner.get("id") or "")
    return found


__all__ = ["ORDER", "P14", "SECTIONS", "SECTION_KEY", "Comparison", "Difference", "sections_of"]
