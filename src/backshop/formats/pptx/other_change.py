"""What differs between two presentations beyond their slides' shapes, words and notes (B12.22)."""

from __future__ import annotations

from backshop.formats.diff.part_diff import (
    Comparison,
    Found,
    Owners,
    Pair,
    Place,
    Rules,
    groups,
    local,
    of_chart,
    of_paragraphs,
    part_words,
    printed,
)
from backshop.formats.protocol import JsonObject, Source

from . import names as n
from .deck import Deck
from .shape import shapes_of

_SHARED = ("slideLayout", "slideMaster", "notesMaster", "theme", "slide", "handoutMaster")
_SHAPES = frozenset({"sp", "pic", "cxnSp", "graphicFrame", "contentPart", "xfrm"})
_TOLD = frozenset({"spTree"})  # of a slide: shape by shape
_LISTS = frozenset({"sldIdLst"})  # of the presentation: slides that came, went or moved


def diff_rest(before: Source, after: Source) -> JsonObject:
    """Return what changed and no slide's own difference tells; slides are known by their ids."""
    old, new = Deck.open(before), Deck.open(after)
    return Comparison(old.package, new.package, _Knowledge(old, new).rules()).run()


class _Knowledge:
    """Which parts belong to which slide, and which slides are versions of one another."""

    def __init__(self, old: Deck, new: Deck) -> None:
        self._main = new.part
        sides = [deck.slides for deck in (old, new)]
        self._owners = [
            Owners(deck.package, [slide.part for slide in slides], _SHARED)
            for deck, slides in zip((old, new), sides, strict=True)
        ]
        self._slides = sides
        by_id = {slide.slide_id: slide for slide in sides[0]}
        pairs = [(by_id[slide.slide_id], slide) for slide in sides[1] if slide.slide_id in by_id]
        self.twins = {a.part: b.part for a, b in pairs}
        if not pairs and len(sides[0]) == len(sides[1]):  # another program numbered them anew
            pairs = list(zip(sides[0], sides[1], strict=True))
        self._known = [{a.index for a, _ in pairs}, {b.index for _, b in pairs}]

    def rules(self) -> Rules:
        """Return what is known of the parts."""
        alone = (s.part for s in self._slides[0] if s.index not in self._known[0])
        return Rules(
            place=self._place,
            twins=self.twins,
            apart=frozenset(alone),
            told=self._told,
            is_told=self._is_told,
            skipped_relations=frozenset({"image", "slide"}),
        )

    def _place(self, part: str, is_new: bool) -> Place | None:
        at = self._owners[is_new].of(part)
        if at is None:
            return Place("the presentation") if part == self._main else None
        if part in self._owners[is_new].index:
            return Place(f"slide {at + 1}", "slide", at)
        return Place(f"{part_words(part)} of slide {at + 1}", "slide", at)

    def _is_told(self, part: str, is_new: bool) -> bool:
        """Whether a part came or went with its slide."""
        at = self._owners[is_new].of(part)
        return at is not None and at not in self._known[is_new]

    def _told(self, pair: Pair) -> Found | None:
        root = local(pair.new)
        if root == "sld":
            return _of_slide(pair)
        if root == "presentation" and pair.new_name == self._main:
            return groups(pair, _LISTS)
        if root == "notes":
            return of_paragraphs(pair, lambda p: "".join(t.text or "" for t in p.iter(n.T)))
        if root == "chartSpace":
            return of_chart(pair)
        return None


def _of_slide(pair: Pair) -> Found:
    """Return what changed on a slide beside its shapes."""
    for root in (pair.old, pair.new):
        root.attrib.pop("show", "")  # a fact of the slide's own difference
    found = groups(pair, _TOLD)
    trees = [
        (tree, targets)
        for root, targets in pair.sides
        if (tree := root.find(f"{n.C_SLD}/{n.SP_TREE}")) is not None
    ]
    if len({len(shapes_of(tree)) for tree, _ in trees}) == 1:
        bare = {printed(tree, targets, _SHAPES) for tree, targets in trees}
        found += [("groups", 1)] if len(bare) > 1 else []
    return found
