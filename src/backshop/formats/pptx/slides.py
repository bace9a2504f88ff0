"""Adds, moves and removes slides; ids and parts of the others stay (F20.7)."""

from __future__ import annotations

import copy
import posixpath
import re
from dataclasses import replace

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.media import relative
from backshop.formats.package.relationship import rels_name
from backshop.formats.package.xml_tree import loosened

from . import names as n
from .blank import empty_slide, notes_master, notes_slide, theme
from .deck import Deck, Layout, Slide
from .numbering import in_both, in_words
from .shape import (
    append_shape,
    drop,
    empty_body,
    ensure_body,
    free_shape_id,
    names_relations,
    placeholder_of,
    shapes_of,
    whole,
)

_FIRST_ID, _END_OF_IDS = 256, 2147483648
_P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
_AFTER_SLIDES = frozenset(
    n.p(name)
    for name in ("sldSz", "notesSz", "smartTags", "embeddedFontLst", "custShowLst", "photoAlbum",
                 "custDataLst", "kinsoku", "defaultTextStyle", "modifyVerifier", "extLst")
)  # fmt: skip


def add_slide(deck: Deck, layout: Layout, index: int) -> Slide:
    """Add a slide with the places of a layout, all empty, at an index of the show."""
    folder = f"{posixpath.dirname(deck.part) or 'ppt'}/slides"
    part = deck.package.numbered(f"{folder}/slide", ".xml")
    root = parse_xml(empty_slide().encode())
    slides = deck.slides
    neighbour = slides[index - 1] if index else None
    _fill_tree(root, layout, neighbour)
    deck.trees.add(part, root, f"{n.CONTENT_TYPE}slide+xml")
    deck.trees.add_rel(part, n.OFFICE_REL + "slideLayout", relative(part, layout.part))
    rel_id = deck.trees.add_rel(deck.part, n.OFFICE_REL + "slide", relative(deck.part, part))
    presentation = deck.trees.touch(deck.part)
    ids = _id_list(presentation)
    entry = etree.Element(n.SLD_ID)
    entry.set("id", str(_free_slide_id(deck, ids)))
    entry.set(n.R_ID, rel_id)
    others = list(ids.iterchildren(n.SLD_ID))
    ids.insert(ids.index(others[index]) if index < len(others) else len(ids), entry)
    _into_section(presentation, entry.get("id") or "", neighbour)
    return deck.slides[index]


def _free_slide_id(deck: Deck, ids: Element) -> int:
    """Return an id no slide has or had: one that was removed is not the new one (B12.8)."""
    before = loosened(deck.package.original(deck.part) or b"<none/>")
    used = {whole(entry.get("id")) or 0 for entry in (*ids, *before.iter(n.SLD_ID))}
    following = max(max(used, default=0) + 1, _FIRST_ID)
    if following < _END_OF_IDS:
        return following
    return next(number for number in range(_FIRST_ID, _END_OF_IDS) if number not in used)


def _id_list(presentation: Element) -> Element:
    found = presentation.find(n.SLD_ID_LST)
    if found is None:
        found = etree.Element(n.SLD_ID_LST)
        at = next(
            (i for i, child in enumerate(presentation) if child.tag in _AFTER_SLIDES),
            len(presentation),
        )
        presentation.insert(at, found)
    return found


def _fill_tree(root: Element, layout: Layout, neighbour: Slide | None) -> None:
    tree = root.find(f"{n.C_SLD}/{n.SP_TREE}")
    assert tree is not None
    number = 2
    for shape, placeholder in layout.placeholders:
        if not placeholder.is_furniture and shape.element.tag == n.SP:
            tree.append(_empty_place(shape.element, number, shape.name))
            number += 1
    offered = {placeholder.type for _, placeholder in layout.placeholders}
    for shape in neighbour.shapes if neighbour is not None else ():
        held = placeholder_of(shape.element)
        if held is None or not held.is_furniture or held.type not in offered:
            continue
        copied = copy.deepcopy(shape.element)
        for tags in copied.findall(f".//{n.p('custDataLst')}"):  # what add-ins noted of the shape
            drop(tags)
        if shape.groups or names_relations(copied):
            continue
        for properties in copied.iter(n.C_NV_PR):
            properties.set("id", str(number))
        tree.append(copied)
        number += 1


def _empty_place(model: Element, number: int, name: str) -> Element:
    """Return a shape that fills a layout's place, without text and without a box of its own."""
    shape = etree.Element(n.SP)
    outer = etree.SubElement(shape, n.p("nvSpPr"))
    properties = etree.SubElement(outer, n.C_NV_PR)
    properties.set("id", str(number))
    properties.set("name", re.sub(r"\s*\d+$", "", name) + f" {number - 1}")
    locks = etree.SubElement(etree.SubElement(outer, n.p("cNvSpPr")), n.a("spLocks"))
    locks.set("noGrp", "1")
    original = next(model.iter(n.PH))
    place = etree.SubElement(etree.SubElement(outer, n.NV_PR), n.PH)
    for attribute in ("type", "orient", "sz", "idx"):
        value = original.get(attribute)
        if value is not None:
            place.set(attribute, value)
    etree.SubElement(shape, n.SP_PR)
    shape.append(empty_body(n.TX_BODY))
    return shape


def move_slide(deck: Deck, slide: Slide, to: int) -> None:
    """Put a slide at another index of the show; inside its section it stays there."""
    presentation = deck.trees.touch(deck.part)
    ids = _id_list(presentation)
    entries = [entry for entry in ids if entry.tag == n.SLD_ID]
    entry = entries.pop(slide.index)
    entries.insert(to, entry)
    for old in list(ids):
        if old.tag == n.SLD_ID:
            ids.remove(old)
    ids[0:0] = entries
    slides = deck.slides
    before = slides[to - 1] if to else None
    after = slides[to + 1] if to + 1 < len(slides) else None
    _to_section(presentation, slide, before, after)


def remove_slide(deck: Deck, slide: Slide) -> list[str]:
    """Take a slide out with the parts nobody else uses; return other parts that listed it.

    Raises:
        FormatError: `op_conflict` when something that stays links to it.
    """
    users = _users(deck)
    gone = _private_parts(slide.part, users)
    views = [name for _, name in deck.trees.related(deck.part, "viewProps")]
    linking = users[slide.part] - {deck.part, *gone, *views}
    if linking:
        names = _spoken(deck, linking)
        raise fail(
            "op_conflict",
            "something links to this slide",
            detail=f"{', '.join(names)} link to {in_words(slide.index)}",
            hints=names,
        )
    presentation = deck.trees.touch(deck.part)
    ids = _id_list(presentation)
    ids.remove([entry for entry in ids if entry.tag == n.SLD_ID][slide.index])
    _out_of_section(presentation, str(slide.slide_id))
    listing = [part for part in views if part in users[slide.part]]
    for part in (deck.part, *listing):
        _unlist(deck, part, slide.part)
    for part in gone:
        for name in (part, deck.package.find(rels_name(part))):
            if name is not None and name in deck.package:
                deck.trees.forget(name)
    return listing


def _unlist(deck: Deck, part: str, slide_part: str) -> None:
    """Drop a slide from the shows and outlines a part lists, and what led to it."""
    root = deck.trees.touch(part)
    for rel in deck.package.rels(part):
        if rel.part is None or deck.package.find(rel.part) != slide_part:
            continue
        for listed in list(root.iter(n.p("sld"))):
            if listed.get(n.R_ID) == rel.id:
                drop(listed)
        deck.package.remove_rel(part, rel.id)


def _spoken(deck: Deck, parts: set[str]) -> list[str]:
    """Return parts as people know them: slides by number, notes by their slide, others by name."""
    words = {}
    for slide in deck.slides:
        words[slide.part] = in_both(slide.index)
        words[deck.notes_part(slide) or ""] = f"notes of {in_words(slide.index)}"
    return [words[part] for part in words if part in parts] + sorted(parts - set(words))


def _users(deck: Deck) -> dict[str, set[str]]:
    """Return for every part those that lead to it."""
    users: dict[str, set[str]] = {}
    for owner in ["", *(name for name in deck.package.names if not name.endswith(".rels"))]:
        for rel in deck.package.rels(owner):
            target = deck.package.find(rel.part) if rel.part else None
            if target is not None:
                users.setdefault(target, set()).add(owner)
    return users


def _private_parts(start: str, users: dict[str, set[str]]) -> list[str]:
    """Return a part and those reached only through it."""
    gone = [start]
    for part in gone:
        for target in sorted(users):
            if target not in gone and part in users[target] and users[target] <= set(gone):
                gone.append(target)
    return gone


# --- sections of the show ------------------------------------------------------------------------


def _into_section(presentation: Element, slide_id: str, after: Slide | None) -> None:
    """List a slide in the section its predecessor is in, where the file uses sections."""
    for sections in presentation.iter(f"{{{_P14}}}sectionLst"):
        lists = list(sections.iter(f"{{{_P14}}}sldIdLst"))
        if not lists:
            continue
        entry = etree.Element(f"{{{_P14}}}sldId")
        entry.set("id", slide_id)
        for listed in sections.iter(f"{{{_P14}}}sldId"):
            if after is not None and listed.get("id") == str(after.slide_id):
                listed.addnext(entry)
                break
        else:
            lists[0].insert(0, entry)


def _to_section(
    presentation: Element, slide: Slide, before: Slide | None, after: Slide | None
) -> None:
    """List a moved slide beside its new neighbours: in its own section if one of them is there."""
    number = str(slide.slide_id)
    for sections in presentation.iter(f"{{{_P14}}}sectionLst"):
        entries = {entry.get("id"): entry for entry in sections.iter(f"{{{_P14}}}sldId")}
        own = entries.get(number)
        ahead = entries.get(str(before.slide_id)) if before is not None else None
        behind = entries.get(str(after.slide_id)) if after is not None else None
        if own is None:
            continue
        at_home = [e is not None and e.getparent() is own.getparent() for e in (ahead, behind)]
        if behind is not None and at_home == [False, True]:
            behind.addprevious(own)
        elif ahead is not None:
            ahead.addnext(own)
        else:
            next(sections.iter(f"{{{_P14}}}sldIdLst")).insert(0, own)


def _out_of_section(presentation: Element, slide_id: str) -> None:
    for sections in presentation.iter(f"{{{_P14}}}sectionLst"):
        for listed in list(sections.iter(f"{{{_P14}}}sldId")):
            if listed.get("id") == slide_id:
                drop(listed)


# --- notes ---------------------------------------------------------------------------------------


def ensure_notes(deck: Deck, slide: Slide) -> Element:
    """Return the text body of a slide's notes, adding the notes page when there is none."""
    shape = deck.notes_shape(slide)
    if shape is not None:
        return ensure_body(shape)
    part = deck.notes_part(slide)
    if part is not None:
        return _notes_shape(deck.trees.touch(part))
    folder = posixpath.dirname(deck.part) or "ppt"
    master = _notes_master(deck, folder)
    part = deck.package.numbered(f"{folder}/notesSlides/notesSlide", ".xml")
    deck.trees.add(part, parse_xml(notes_slide().encode()), f"{n.CONTENT_TYPE}notesSlide+xml")
    deck.trees.add_rel(part, n.OFFICE_REL + "notesMaster", relative(part, master))
    deck.trees.add_rel(part, n.OFFICE_REL + "slide", relative(part, slide.part))
    deck.trees.add_rel(slide.part, n.OFFICE_REL + "notesSlide", relative(slide.part, part))
    shape = deck.notes_shape(slide)
    assert shape is not None
    return ensure_body(shape)


def _notes_shape(root: Element) -> Element:
    """Add the text place to a notes page that has lost it."""
    tree = root.find(f"{n.C_SLD}/{n.SP_TREE}")
    if tree is None:
        raise fail("corrupt_file", "a notes page has no shape tree")
    fresh = parse_xml(notes_slide().encode())
    number = free_shape_id(tree)
    for shape in shapes_of(next(fresh.iter(n.SP_TREE))):
        placeholder = shape.placeholder
        if placeholder is not None and placeholder.type == "body":
            copied = copy.deepcopy(shape.element)
            for properties in copied.iter(n.C_NV_PR):
                properties.set("id", str(number))
            append_shape(tree, copied)
            return ensure_body(replace(shape, element=copied))
    raise AssertionError("our own notes page has a place for text")


def _notes_master(deck: Deck, folder: str) -> str:
    master = deck.trees.first_related(deck.part, "notesMaster")
    if master is not None:
        return master
    master = deck.package.numbered(f"{folder}/notesMasters/notesMaster", ".xml")
    theme_part = deck.package.numbered(f"{folder}/theme/theme", ".xml")
    deck.trees.add(theme_part, parse_xml(theme().encode()), n.THEME_TYPE)
    deck.trees.add(master, parse_xml(notes_master().encode()), f"{n.CONTENT_TYPE}notesMaster+xml")
    deck.trees.add_rel(master, n.OFFICE_REL + "theme", relative(master, theme_part))
    rel_id = deck.trees.add_rel(
        deck.part, n.OFFICE_REL + "notesMaster", relative(deck.part, master)
    )
    presentation = deck.trees.touch(deck.part)
    ids = etree.Element(n.p("notesMasterIdLst"))
    etree.SubElement(ids, n.p("notesMasterId")).set(n.R_ID, rel_id)
    masters = presentation.find(n.p("sldMasterIdLst"))
    presentation.insert(presentation.index(masters) + 1 if masters is not None else 0, ids)
    return master
