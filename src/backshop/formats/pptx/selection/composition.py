"""Puts a presentation together: the one before, with slots of the one after in their places.

Parts in which no slot is exchanged stay as they are, to the byte. What nothing leads to any more
when a slot has gone goes with it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from lxml import etree

from backshop.formats.diff.part_diff import local
from backshop.formats.package.archive import unverified
from backshop.formats.package.guard import Element
from backshop.formats.package.media import relative
from backshop.formats.package.package import Package
from backshop.formats.package.relationship import rels_name

from .. import names as n
from ..deck import Deck
from ..shape import drop, whole
from .carriage import Carriage
from .difference import ORDER, P14, SECTION_KEY, Comparison, Difference
from .slot import SECTIONS, Key, Slot, grouped, is_slide, named_in, top_shapes, word_of

_IGNORABLE = f"{{{n.MC_NS}}}Ignorable"
_RANKS = {
    "sld": ("cSld", "clrMapOvr", "transition", "timing", "extLst"),
    "cSld": ("bg", "spTree", "custDataLst", "controls", "extLst"),
    "spTree": ("nvGrpSpPr", "grpSpPr", "", "extLst"),
    "shape": ("nvSpPr", "nvGraphicFramePr", "spPr", "xfrm", "style", "txBody", "graphic", "extLst"),
    "show": (
        *("sldMasterIdLst", "notesMasterIdLst", "handoutMasterIdLst", "sldIdLst", "sldSz"),
        *("notesSz", "smartTags", "embeddedFontLst", "custShowLst", "photoAlbum", "custDataLst"),
        *("kinsoku", "defaultTextStyle", "modifyVerifier", "extLst"),
    ),
}


def composed(compared: Comparison, taken: Iterable[Difference]) -> Deck:
    """Return the presentation before with the slots that are taken, ready to be saved."""
    return _Composition(compared, taken).run()


class _Composition:
    def __init__(self, compared: Comparison, taken: Iterable[Difference]) -> None:
        self._old, self._new, self._compared = compared.old, compared.new, compared
        self._taken = {one.key: one for one in taken}
        self._slides: dict[Key, str] = {
            key: slide.part
            for key, slide in self._old.slides.items()
            if key not in self._taken or self._taken[key].after is not None
        }
        self._carriage = Carriage(self._old, self._new, self._slides)
        self._deck = self._carriage.deck
        self._package = self._deck.package
        self._touched: dict[str, None] = {}

    def run(self) -> Deck:
        whole = {key: one for key, one in self._taken.items() if is_slide(key)}
        for key, one in whole.items():
            if one.before is None:
                self._slides[key] = self._carriage.add_slide(key)
        for key, one in self._taken.items():
            if key[0] == "part" and one.after is not None:
                self._carriage.put(key[1], key[1])
        for key, one in whole.items():
            if one.after is not None:
                self._carriage.put(self._new.slides[key].part, self._slides[key])
        by_slide: dict[Key, dict[Key, Difference]] = {}
        for key, one in self._taken.items():
            by_slide.setdefault(key[:2], {})[key] = one
        for slide in (one for one in self._compared.shapes if one in by_slide):
            self._slide(slide, by_slide[slide])
        self._show(bool(whole))
        self._clear()
        self._deck.trees.flush()
        self._remove_unreached()
        self._check()
        return self._deck

    def _touch(self, part: str) -> Element:
        self._touched[part] = None
        return self._deck.trees.touch(part)

    # --- slides ---------------------------------------------------------------------------------

    def _slide(self, slide: Key, mine: dict[Key, Difference]) -> None:
        part, giver = self._slides[slide], self._new.slides[slide]
        root = self._touch(part)
        common, model = root.find(n.C_SLD), giver.root.find(n.C_SLD)
        assert common is not None
        assert model is not None
        tree = common.find(n.SP_TREE)
        assert tree is not None
        holders = {"sld": (root, giver.root), "cSld": (common, model), "spTree": (tree, giver.tree)}
        for key, one in mine.items():
            if key[2] == "rels":
                self._exchange_rels(part, giver.part, key[3], one)
            elif key[2] in holders and key[3] == "@":
                _exchange_attributes(*holders[key[2]])
            elif key[2] in holders:
                self._exchange_children(holders[key[2]][0], one, giver.part, part, key[2])
        self._shapes(slide, mine, tree)

    def _exchange_children(
        self, holder: Element, one: Difference, giver: str, part: str, rank: str
    ) -> None:
        word = one.key[-1]
        old = grouped(holder).get(word, ()) if one.before is not None else ()
        slots = one.after.elements if one.after is not None else ()
        new = [self._carriage.element(element, giver, part) for element in slots]
        _exchange(holder, old, new, word, _RANKS[rank])

    def _exchange_rels(self, part: str, giver: str, kind: str, one: Difference) -> None:
        """Exchange the relationships of a kind that a part does not name."""
        for rel in self._old.implied_rels(part, kind) if one.before is not None else ():
            self._package.remove_rel(part, rel.id)
        for rel in self._new.implied_rels(giver, kind) if one.after is not None else ():
            self._carriage.rel(rel, part)

    def _shapes(self, slide: Key, mine: dict[Key, Difference], tree: Element) -> None:
        shapes = top_shapes(tree)
        came: set[str] = set()
        for key in dict.fromkeys(key[:4] for key in mine if key[2] == "shape"):
            number = key[3]
            made = self._shape(slide, key, mine, shapes.get(number))
            if made is not None:
                came |= set() if number in shapes else {number}
                shapes[number] = made
            elif number in shapes:
                drop(shapes.pop(number))
        is_moved = (*slide, "order") in mine
        if came or is_moved:
            old, new = (one.order for one in self._compared.shapes[slide])
            order = _merged(old, new, shapes.keys() - came, came, is_moved)
            _arrange(tree, [shapes[number] for number in order])

    def _shape(
        self, slide: Key, key: Key, mine: dict[Key, Difference], now: Element | None
    ) -> Element | None:
        """Return a shape as it is to be: its frame and its inside from one side or the other."""
        part, giver = self._slides[slide], self._new.slides[slide].part
        frame, body = mine.get(key), (*key, "body")
        made = now
        if frame is not None:
            if frame.after is None:
                return None
            made = self._carriage.element(frame.after.elements[0], giver, part)
            if now is not None:
                if body in self._compared.found and body not in mine:
                    _keep_inside(now, made)
                _replace(now, made)
        assert made is not None
        inner = mine.get(body)
        if inner is not None and (frame is None or now is not None):
            told = [slot.elements[0] for slot in (inner.before, inner.after) if slot is not None]
            word = etree.QName(told[0]).localname
            old = [one for one in made if one.tag == told[0].tag]
            slots = inner.after.elements if inner.after is not None else ()
            new = [self._carriage.element(element, giver, part) for element in slots]
            _exchange(made, old, new, word, _RANKS["shape"])
        return made

    # --- the presentation -----------------------------------------------------------------------

    def _show(self, has_slides: bool) -> None:
        mine = {key: one for key, one in self._taken.items() if key[0] == "show"}
        part, giver = self._deck.part, self._new.deck.part
        for key, one in mine.items():
            if key[1] == "package":
                self._exchange_rels("", "", key[2], one)
            elif key[1] == "rels":
                self._exchange_rels(part, giver, key[2], one)
            elif key[1] == "@":
                _exchange_attributes(self._touch(part), self._new.deck.root)
            elif key[1] == "ext":
                self._extension(self._touch(part), one)
            elif key not in (ORDER, SECTION_KEY):
                self._exchange_children(self._touch(part), one, giver, part, "show")
        if has_slides or ORDER in mine:
            self._list_slides()
        if has_slides or mine.keys() & {ORDER, SECTION_KEY}:
            self._list_sections()

    def _extension(self, root: Element, one: Difference) -> None:
        holder = root.find(n.p("extLst"))
        if holder is None:
            holder = etree.SubElement(root, n.p("extLst"))
        uri = one.key[2]
        old = [ext for ext in holder if isinstance(ext.tag, str) and ext.get("uri") == uri]
        slots = one.after.elements if one.after is not None else ()
        giver = self._new.deck.part
        new = [self._carriage.element(ext, giver, self._deck.part) for ext in slots]
        _exchange(holder, old, new, "ext", ("ext",))
        if not len(holder):
            drop(holder)

    def _order(self) -> list[Key]:
        old, new = (tuple(key[1] for key in side.slides) for side in (self._old, self._new))
        came = {key[1] for key in self._slides if key not in self._old.slides}
        stayed = {key[1] for key in self._slides} - came
        merged = _merged(old, new, stayed, came, ORDER in self._taken)
        return [("slide", number) for number in merged]

    def _list_slides(self) -> None:
        part = self._deck.part
        root = self._touch(part)
        ids = root.find(n.SLD_ID_LST)
        if ids is None:
            ids = etree.Element(n.SLD_ID_LST)
            _exchange(root, (), (ids,), "sldIdLst", _RANKS["show"])
        entries: dict[Key, Element] = {
            ("slide", str(whole(one.get("id")) or 0)): one for one in ids.iter(n.SLD_ID)
        }
        for one in entries.values():
            ids.remove(one)
        kind = (
            next(
                rel.type
                for rel in self._new.package.rels(self._new.deck.part)
                if rel.type.endswith("/slide")
            )
            if self._new.slides
            else ""
        )
        for at, key in enumerate(self._order()):
            entry = entries.get(key)
            if entry is None:
                entry = etree.Element(n.SLD_ID)
                entry.set("id", key[1])
                entry.set(
                    n.R_ID, self._deck.trees.add_rel(part, kind, relative(part, self._slides[key]))
                )
            ids.insert(at, entry)
        for key, one in entries.items():
            if key not in self._slides:
                self._package.remove_rel(part, one.get(n.R_ID) or "")

    def _list_sections(self) -> None:
        """List the slides of the result in the sections of the side that gives them."""
        root = self._touch(self._deck.part)
        if SECTION_KEY in self._taken:
            self._take_sections(root)
        found = next(root.iter(f"{{{P14}}}sectionLst"), None)
        if found is None:
            return
        lists = {
            section.get("id") or "": holder
            for section in found.iter(f"{{{P14}}}section")
            for holder in section.iter(f"{{{P14}}}sldIdLst")
        }
        if not lists:
            return
        entries = {one.get("id") or "": (at, one) for at, holder in lists.items() for one in holder}
        known = self._new_sections()
        wanted: dict[str, list[Element]] = {at: [] for at in lists}
        last = next(iter(lists))
        for key in self._order():
            at, entry = entries.get(key[1], (known.get(key[1], ""), None))
            last = at if at in lists else last
            if entry is None:
                entry = etree.Element(f"{{{P14}}}sldId")
                entry.set("id", key[1])
            wanted[last].append(entry)
        for at, holder in lists.items():
            if list(holder) != wanted[at]:
                holder[:] = wanted[at]

    def _new_sections(self) -> dict[str, str]:
        sections = self._new.deck.root.iter(f"{{{P14}}}section")
        return {
            one.get("id") or "": section.get("id") or ""
            for section in sections
            for one in section.iter(f"{{{P14}}}sldId")
        }

    def _take_sections(self, root: Element) -> None:
        model = next(
            (one for one in self._new.deck.root.iter(n.p("ext")) if one.get("uri") == SECTIONS),
            None,
        )
        slot = None if model is None else Slot("", elements=(model,))
        self._extension(root, Difference(("show", "ext", SECTIONS), None, slot))

    # --- what is left behind --------------------------------------------------------------------

    def _clear(self) -> None:
        """Take relationships away that nothing names any more, and lines of views of slides."""
        for part in self._touched:
            before = set(named_in(self._old.root(part)))
            for rel_id in sorted(before - set(named_in(self._deck.trees.root(part)))):
                self._package.remove_rel(part, rel_id)
        slides = set(self._slides.values())
        for view in [name for _, name in self._deck.trees.related(self._deck.part, "viewProps")]:
            self._clear_view(view, slides)

    def _clear_view(self, view: str, slides: set[str]) -> None:
        gone = {rel.id for rel in self._package.rels(view) if rel.part not in slides}
        known = {rel.id for rel in self._package.rels(view)} - gone
        listed = [
            one
            for one in self._deck.trees.root(view).iter(n.p("sld"))
            if one.get(n.R_ID) not in known
        ]
        if listed:
            self._deck.trees.touch(view)
        for one in listed:
            drop(one)
        for rel_id in gone if listed else ():
            self._package.remove_rel(view, rel_id)

    def _remove_unreached(self) -> None:
        for part in sorted(_reached(self._old.package) - _reached(self._package)):
            for name in (part, self._package.find(rels_name(part))):
                if name is not None and name in self._package:
                    self._deck.trees.forget(name)

    def _check(self) -> None:
        """Prove that every slide is read back and names relationships it has (F23.8)."""
        fresh = Deck(self._package)
        parts = [slide.part for slide in fresh.slides]
        if parts != [self._slides[key] for key in self._order()]:
            raise unverified("the slides are not those that were meant")
        for part in (*self._touched, self._deck.part):
            have = {rel.id for rel in self._package.rels(part)}
            lost = set(named_in(fresh.trees.root(part))) - have - {""}
            known = {rel.id for rel in self._old.package.rels(part)}
            if lost - (set(named_in(self._old.root(part))) - known):
                raise unverified(f"{part} names relationships it has not: {sorted(lost)[:5]}")


def _merged(
    old: Sequence[str], new: Sequence[str], stayed: set[str], came: set[str], is_moved: bool
) -> list[str]:
    """Return the order of what is there: that of one side, what came behind its neighbour."""
    order = [one for one in (new if is_moved else old) if one in stayed]
    have = set(order)
    order += [one for one in old if one in stayed and one not in have]
    behind: dict[str | None, list[str]] = {}
    last: str | None = None
    for one in new:
        if one in came:
            behind.setdefault(last, []).append(one)
        elif one in stayed:
            last = one
    return [
        *behind.get(None, []),
        *(each for one in order for each in (one, *behind.get(one, ()))),
    ]


def _exchange(
    holder: Element,
    old: Sequence[Element],
    new: Sequence[Element],
    word: str,
    order: tuple[str, ...],
) -> None:
    """Put elements in the place of others, or where the standard wants them."""
    if old:
        at = holder.index(old[0])
    else:
        mine = order.index(word) if word in order else len(order) - 1
        later = {*order[mine + 1 :]}
        ranks = [_rank(one, order) for one in holder]
        at = next((i for i, rank in enumerate(ranks) if rank in later), len(holder))
    for one in old:
        holder.remove(one)
    for place, one in enumerate(new, at):
        holder.insert(place, one)


def _rank(element: Element, order: tuple[str, ...]) -> str | None:
    """Return the name by which the order of the standard knows an element."""
    if not local(element):
        return None
    word = word_of(element)
    return word if word in order else ""


def _exchange_attributes(holder: Element, model: Element) -> None:
    for name in {str(one) for one in holder.attrib} - {_IGNORABLE}:
        del holder.attrib[name]
    for key, value in model.items():
        if key != _IGNORABLE:
            holder.set(key, value)


def _replace(old: Element, new: Element) -> None:
    parent = old.getparent()
    assert parent is not None
    new.tail = old.tail
    parent.replace(old, new)


def _keep_inside(old: Element, new: Element) -> None:
    for tag in (n.TX_BODY, n.a("graphic")):
        mine, other = old.find(tag), new.find(tag)
        if mine is not None and other is not None:
            new.replace(other, copy.deepcopy(mine))


def _arrange(tree: Element, shapes: Sequence[Element]) -> None:
    """Put shapes in an order, where the first one stands."""
    held = set(shapes)
    inside = [one for one in tree if one in held]
    at = tree.index(inside[0]) if inside else None
    for one in inside:
        tree.remove(one)
    if at is None:
        extension = tree.find(n.p("extLst"))
        at = len(tree) if extension is None else tree.index(extension)
    for place, one in enumerate(shapes, at):
        tree.insert(place, one)


def _reached(package: Package) -> set[str]:
    """Return the parts that something leads to from the package on."""
    found: set[str] = set()
    waiting = [""]
    while waiting:
        for rel in package.rels(waiting.pop()):
            name = package.find(rel.part) if rel.part is not None else None
            if name is not None and name not in found:
                found.add(name)
                waiting.append(name)
    return found
