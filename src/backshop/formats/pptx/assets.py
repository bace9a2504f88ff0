"""Copies text styles, images and layouts from one presentation into another (F22.4)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from backshop.formats.errors import FormatError
from backshop.formats.package.guard import Element
from backshop.formats.package.media import Carrier, relative
from backshop.formats.package.relationship import rels_name
from backshop.formats.package.xml_tree import first_child
from backshop.formats.protocol import Applied, Json, Source
from backshop.formats.warning import Warnings
from backshop.formats.write.asset_request import (
    AssetRequest,
    applied,
    copy_each,
    no_target,
    read_requests,
)

from . import names as n
from .application import Watch, focus_of, open_for_writing
from .deck import Deck, Layout, Slide
from .edit import Editor
from .shape import Shape, append_shape, drop, free_shape_id, set_box, whole
from .styles import known_assets
from .text import place

_LINKS = (n.a("hlinkClick"), n.a("hlinkMouseOver"))
_MASTER_IDS = 2147483648  # ids of masters and layouts begin here
_ALONE = frozenset(  # what can go while all around it stays
    {
        *map(n.a, ("hlinkClick", "hlinkMouseOver", "hlinkHover", "snd")),
        *map(n.a, ("videoFile", "audioFile", "wavAudioFile", "quickTimeFile")),
        *map(n.p, ("tags", "custData", "control", "contentPart")),
    }
)
_OWNERS = frozenset(  # what is nothing without a part that something in it leads to
    {
        *map(n.p, ("ext", "graphicFrame", "pic", "sndAc", "timing")),
        *map(n.a, ("ext", "blipFill", "buBlip")),
    }
)
_LISTS = frozenset({n.p("extLst"), n.a("extLst"), n.p("custDataLst"), n.p("controls")})


def copy_assets(source: Source, target: Source, assets: Json, out: Path) -> Applied:
    """Write `target` with assets of `source` to `out`; all or none."""
    warnings = Warnings()
    requests = read_requests(assets, warnings)
    giver = Deck.open(source)
    taker = open_for_writing(target)
    watch = Watch(taker)
    editor = Editor(taker, warnings)
    copier = _Copier(giver, editor)
    copied = copy_each(
        requests,
        lambda one: _ACTS[one.kind](copier, one) if one.kind in _ACTS else None,
        lambda: known_assets(source),
    )
    effects = watch.report(editor)
    focus = focus_of(effects, taker, editor)
    return applied(target, taker.package.save(out), copied, effects, focus, warnings)


class _Copier:
    """Copies into one deck; an act returns whether it copied, None for an unknown asset."""

    def __init__(self, giver: Deck, editor: Editor) -> None:
        self.giver = giver
        self.editor = editor
        self.taker = editor.deck
        self.carrier = Carrier(giver.trees, self.taker.trees)

    def text_style(self, request: AssetRequest) -> bool | None:
        """Give every run of the target shape the font of the source's first run."""
        found = self._given(request)
        body = found[1].text_body if found else None
        run = next(body.iter(n.R_T), None) if body is not None else None
        if found is None or run is None:
            return None
        slide = self._target_slide(request)
        shape = next((s for s in slide.shapes if s.index == request.target_shape), None)
        target = shape.text_body if shape is not None else None
        if shape is None or target is None:
            raise no_target(request, "target_shape is needed: the index of a shape with text")
        look = self._copied(run.getparent(), n.PPR, found[0].part, slide.part)
        font = self._copied(run, n.RPR, found[0].part, slide.part)
        for line in target.iterchildren(n.P_T):
            if look is not None:
                _replace(line, n.PPR, _keeping_level(look, line))
            for other in line.iterchildren(n.R_T):
                if font is not None:
                    _replace(other, n.RPR, _keeping_links(font, other))
        self.editor.aim(slide, shape.element)
        return True

    def _copied(
        self, owner: Element | None, tag: str, giver_part: str, taker_part: str
    ) -> Element | None:
        """Return a copy of a paragraph's or run's properties that is at home on the target."""
        given = owner.find(tag) if owner is not None else None
        if given is None:
            return None
        copied = copy.deepcopy(given)
        for name in _LINKS:
            for link in copied.findall(name):
                copied.remove(link)
        self._relink(copied, giver_part, taker_part)
        return copied

    def image(self, request: AssetRequest) -> bool | None:
        """Put an image at the same place and size on the target slide."""
        found = self._given(request)
        relation = found[1].image_relation if found else None
        if (
            found is None
            or relation is None
            or self.carrier.picture(found[0].part, relation) is None
        ):
            return None
        given, shape = found
        slide = self._target_slide(request)
        copied = copy.deepcopy(shape.element)
        copied.tail = None
        number = free_shape_id(slide.tree)
        for properties in copied.iter(n.C_NV_PR):
            properties.set("id", str(number))
        for filled in copied.findall(f".//{n.PH}"):
            drop(filled)
        self._fix_box(copied, given, shape)
        self._relink(copied, given.part, slide.part)
        append_shape(slide.tree, copied)
        self.editor.aim(slide, copied)
        return True

    def _fix_box(self, element: Element, slide: Slide, shape: Shape) -> None:
        """Write the place down that a placeholder or a group gave the image."""
        box = self.giver.box(slide, shape)
        look = element.find(n.SP_PR)
        if box is None or look is None:
            return
        set_box(first_child(look, n.XFRM), box.left, box.top, box.width, box.height)

    def layout(self, request: AssetRequest) -> bool | None:
        """Copy a layout together with a master and theme of its own."""
        found = next((a for a in self.giver.layouts if a.name == request.name), None)
        if found is None:
            return None
        if (
            any(layout.name == request.name for layout in self.taker.layouts)
            and not request.overwrite
        ):
            self.editor.warnings.add("asset_exists", where=request.where)
            return False
        master = self.giver.trees.first_related(found.part, "slideMaster")
        theme = self.giver.trees.first_related(master, "theme") if master else None
        if master is None or theme is None:
            return None
        self._add_layout(found, master, theme)
        vars(self.taker).pop("layouts", None)
        vars(self.taker).pop("masters", None)
        return True

    def _add_layout(self, layout: Layout, master: str, theme: str) -> None:
        taker, trees = self.taker, self.taker.trees
        folder = taker.part.rpartition("/")[0] or "ppt"
        new_theme = taker.package.numbered(f"{folder}/theme/theme", ".xml")
        theme_root = copy.deepcopy(self.giver.trees.root(theme))
        trees.add(new_theme, theme_root, n.THEME_TYPE)
        self._relink(theme_root, theme, new_theme)
        new_master = taker.package.numbered(f"{folder}/slideMasters/slideMaster", ".xml")
        master_root = copy.deepcopy(self.giver.trees.root(master))
        new_layout = taker.package.numbered(f"{folder}/slideLayouts/slideLayout", ".xml")
        layout_root = copy.deepcopy(layout.root)
        ids = self._free_ids()
        for listing in master_root.findall(n.LAYOUT_ID_LST):
            for entry in list(listing):
                listing.remove(entry)
        self._relink(layout_root, layout.part, new_layout)
        trees.add(new_layout, layout_root, f"{n.CONTENT_TYPE}slideLayout+xml")
        self._relink(master_root, master, new_master)
        trees.add(new_master, master_root, f"{n.CONTENT_TYPE}slideMaster+xml")
        kind = n.OFFICE_REL + "slideLayout"
        relation = trees.add_rel(new_master, kind, relative(new_master, new_layout))
        trees.add_rel(new_master, n.OFFICE_REL + "theme", relative(new_master, new_theme))
        up = n.OFFICE_REL + "slideMaster"
        trees.add_rel(new_layout, up, relative(new_layout, new_master))
        layouts = master_root.find(n.LAYOUT_ID_LST)
        if layouts is None:
            layouts = etree.SubElement(master_root, n.LAYOUT_ID_LST)
        entry = etree.SubElement(layouts, n.LAYOUT_ID)
        entry.set("id", str(ids + 1))
        entry.set(n.R_ID, relation)
        to_master = trees.add_rel(taker.part, up, relative(taker.part, new_master))
        presentation = trees.touch(taker.part)
        masters = first_child(presentation, n.p("sldMasterIdLst"))
        entry = etree.SubElement(masters, n.MASTER_ID)
        entry.set("id", str(ids))
        entry.set(n.R_ID, to_master)
        new = (new_theme, new_master, new_layout, taker.part, *self.carrier.added)
        self.editor.parts.update(dict.fromkeys(new))

    def _free_ids(self) -> int:
        """Return the first of two unused ids; masters and layouts share one range."""
        used = [_MASTER_IDS]
        roots = [self.taker.root, *(self.taker.trees.root(m) for m in self.taker.masters)]
        for root in roots:
            for entry in root.iter(n.MASTER_ID, n.LAYOUT_ID):
                used.append(whole(entry.get("id")) or 0)
        return max(used) + 1

    def _given(self, request: AssetRequest) -> tuple[Slide, Shape] | None:
        """Return the slide and shape an asset id names."""
        first, _, second = request.name.partition(":")
        index, place = whole(first), whole(second)
        slides = self.giver.slides
        if index is None or place is None or not 0 <= index < len(slides):
            return None
        slide = slides[index]
        shape = next((s for s in slide.shapes if s.index == place), None)
        return (slide, shape) if shape is not None else None

    def _target_slide(self, request: AssetRequest) -> Slide:
        if request.target_slide is None:
            raise no_target(request, "target_slide is needed")
        try:
            return self.taker.slide(request.target_slide, field="target_slide")
        except FormatError as error:
            raise no_target(request, error.message) from error

    def _relink(self, element: Element, giver_part: str, taker_part: str) -> None:
        """Point every relationship of a copied element at a copied picture; drop the other ones."""
        known: dict[tuple[str, str], str] = {}
        types = {rel.id: rel.type for rel in self.giver.package.rels(giver_part)}
        for inner in list(element.iter()):
            for key, value in list(inner.items()):
                is_gone = inner.getroottree().getroot() is not element
                if is_gone or not value or not str(key).startswith("{" + n.R_NS):
                    continue
                part = self.carrier.picture(giver_part, str(value))
                if part is None:
                    _drop_reference(inner, str(key))
                    continue
                way = part, types[str(value)]
                if way not in known:
                    name = self.carrier.copy(part)
                    known[way] = self.taker.trees.add_rel(
                        taker_part, way[1], relative(taker_part, name)
                    )
                inner.set(key, known[way])
        if known:
            self.editor.parts.update(dict.fromkeys((rels_name(taker_part), *self.carrier.added)))


def _drop_reference(element: Element, key: str) -> None:
    """Remove what leads nowhere in the other file, with all that is nothing without it."""
    del element.attrib[key]
    if element.tag == n.BLIP and (element.get(n.R_EMBED) or element.get(n.R_LINK)):
        return  # the picture is there; only its link to the original goes
    around = () if element.tag in _ALONE else (element, *element.iterancestors())
    owner = next((e for e in around if e.tag in _OWNERS), element)
    parent = owner.getparent()
    if parent is None:
        return
    if owner.tag == n.a("blipFill"):  # some places need a fill, and each may have none
        parent.replace(owner, etree.Element(n.a("noFill")))
        return
    parent.remove(owner)
    above = parent.getparent()
    is_empty = next(parent.iterchildren("*"), None) is None
    if parent.tag in _LISTS and is_empty and above is not None:
        above.remove(parent)


def _replace(element: Element, tag: str, new: Element) -> None:
    old = element.find(tag)
    if old is not None:
        element.replace(old, new)
    else:
        element.insert(0, new)


def _keeping_level(look: Element, line: Element) -> Element:
    copied = copy.deepcopy(look)
    own = line.find(n.PPR)
    level = own.get("lvl") if own is not None else None
    if "lvl" in copied.attrib:
        del copied.attrib["lvl"]
    if level is not None:
        copied.set("lvl", level)
    return copied


def _keeping_links(font: Element, run: Element) -> Element:
    copied = copy.deepcopy(font)
    for name in _LINKS:
        link = run.find(f"{n.RPR}/{name}")
        if link is not None:
            place(copied, link)
    return copied


_ACTS: dict[str, Callable[[_Copier, AssetRequest], bool | None]] = {
    "text_style": _Copier.text_style,
    "image": _Copier.image,
    "layout": _Copier.layout,
}
