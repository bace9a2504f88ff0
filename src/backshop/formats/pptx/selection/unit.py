"""The changes of a presentation as people take or leave them, made of the slots that differ."""

from __future__ import annotations

import hashlib
from pathlib import Path

from backshop.base.place import Place
from backshop.formats.diff.part_diff import part_words
from backshop.formats.output import write_file
from backshop.formats.package.guard import Element
from backshop.formats.protocol import Source
from backshop.formats.selection.change_unit import ChangeUnit, shortened, unit_id
from backshop.formats.selection.whole_file import whole_file

from .. import names as n
from ..deck import Slide
from ..shape import Shape
from .composition import composed
from .difference import ORDER, SECTION_KEY, Comparison, Difference
from .slot import Content, Key, Slot, is_body, is_slide

_KINDS = ("slide", "shape", "part")  # of several things, the first one names the change
_GROUPS = ("structure", "text", "values", "looks", "other")
_WORDS = {
    "timing": "animations",
    "transition": "transition",
    "bg": "background",
    "clrMapOvr": "colours",
    "slideLayout": "layout",
    "notesSlide": "notes",
    "order": "order of shapes",
    "@": "properties",
    "sldSz": "slide size",
    "notesSz": "size of notes pages",
    "sldMasterIdLst": "masters",
    "notesMasterIdLst": "notes master",
    "custShowLst": "custom shows",
    "defaultTextStyle": "text styles",
    "sections": "sections",
}
_LOOKS = frozenset({"transition", "timing", "bg", "clrMapOvr", "slideLayout", "order", "sldSz"})
_LOOK_PARTS = ("/slideLayouts/", "/slideMasters/", "/theme/", "/tableStyles", "/notesMasters/")
_NUMBERED = "shapes of the slide have the same id, or none"


def separate(before: Source, after: Source) -> list[ChangeUnit]:
    """Return the changes between two presentations, each of which can be taken or left."""
    if before.sha256 == after.sha256:
        return []
    compared = Comparison(before, after)
    if compared.whole is not None:
        return [whole_file(before, after, compared.whole)]
    return [_unit(compared, group) for group in compared.groups()]


def compose(before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
    """Write the presentation before with all changes but those left out.

    Raises:
        FormatError: `verify_failed`, and what a write of either file raises.
    """
    compared = Comparison(before, after)
    if compared.whole is not None:
        kept = before if whole_file(before, after, "").id in left_out else after
        write_file(out, kept.path.read_bytes())
        return
    groups = [group for group in compared.groups() if _id(group) not in left_out]
    composed(compared, [one for group in groups for one in group]).package.save(out)


def _id(group: list[Difference]) -> str:
    told = [(one.key, *(_hash(side) for side in one.sides)) for one in group]
    return unit_id("pptx", *sorted(told, key=repr))


def _hash(said: str | None) -> str | None:
    if said is None:
        return None
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _unit(compared: Comparison, group: list[Difference]) -> ChangeUnit:
    told = [_told(compared, one) for one in group]
    first = min(told, key=lambda one: _KINDS.index(one.kind))
    labels = list(dict.fromkeys(one.label for one in told))
    many = f"{', '.join(labels[:3])} and {len(labels) - 3} more"
    return ChangeUnit(
        id=_id(group),
        kind=first.kind,
        group=min((one.group for one in told), key=_GROUPS.index),
        label=", ".join(labels) if len(labels) <= 3 else many,
        place=first.place,
        before=first.before,
        after=first.after,
        tied=compared.ties.why(group[0].key) or next((one.tied for one in told if one.tied), None),
    )


def _told(compared: Comparison, one: Difference) -> ChangeUnit:
    """Return one slot that differs as a change by itself."""
    key = one.key
    if key in (ORDER, SECTION_KEY):
        return _order(compared, one)
    if key[0] == "slide":
        old, new = (side.slides.get(key[:2]) for side in (compared.old, compared.new))
        if is_slide(key):
            return _whole_slide(one, old, new)
        assert new is not None
        if key[2] == "shape":
            return _shape(one, new)
        return _of_slide(compared, key, new)
    word = key[-1]
    if key[0] == "part":
        is_look = any(one in f"/{key[1]}" for one in _LOOK_PARTS)
        group = "looks" if is_look else "other"
        return _made("part", group, part_words(key[1]), None if one.after is None else Place())
    label = f"the presentation: {_WORDS.get(word, word)}"
    return _made("part", "looks" if word in _LOOKS else "other", label, Place())


def _of_slide(compared: Comparison, key: Key, slide: Slide) -> ChangeUnit:
    word = key[-1]
    label = f"slide {slide.index + 1}: {_WORDS.get(word, word)}"
    place = Place(slide_index=slide.index)
    if word != "notesSlide":
        return _made("part", "looks" if word in _LOOKS else "other", label, place)
    before, after = (_notes(side, key[:2]) for side in (compared.old, compared.new))
    return _made("part", "looks" if before == after else "text", label, place, before, after)


def _made(
    kind: str,
    group: str,
    label: str,
    place: Place | None,
    before: str | None = None,
    after: str | None = None,
    tied: str | None = None,
) -> ChangeUnit:
    return ChangeUnit(
        id="",
        kind=kind,
        group=group,
        label=label,
        place=place,
        before=shortened(before),
        after=shortened(after),
        tied=tied,
    )


def _notes(content: Content, key: Key) -> str | None:
    slide = content.slides[key]
    return content.deck.notes(slide) if content.deck.notes_part(slide) else None


def _order(compared: Comparison, one: Difference) -> ChangeUnit:
    if one.key == SECTION_KEY:
        return _made("part", "structure", "the presentation: sections", Place())
    assert one.before is not None
    assert one.after is not None
    old, new = one.before.said.split(), one.after.said.split()
    places = {key[1]: slide.index + 1 for key, slide in compared.old.slides.items()}
    moved = [number for number, other in zip(old, new, strict=True) if number != other]
    before, after = (" ".join(str(places[number]) for number in side) for side in (old, new))
    return _made(
        "slide",
        "structure",
        "order of slides",
        Place(),
        before,
        after,
        tied="slides that were moved go together" if len(moved) > 2 else None,
    )


def _whole_slide(one: Difference, old: Slide | None, new: Slide | None) -> ChangeUnit:
    before, after = (None if slot is None else slot.text for slot in (one.before, one.after))
    if new is None:
        assert old is not None
        return _made("slide", "structure", f"slide {old.index + 1} (removed)", None, before)
    label, place = f"slide {new.index + 1}", Place(slide_index=new.index)
    if old is None:
        return _made("slide", "structure", f"{label} (added)", place, None, after)
    group = "looks" if before == after else "text"
    return _made("slide", group, label, place, before, after, _NUMBERED)


def _shape(one: Difference, slide: Slide) -> ChangeUnit:
    is_inner = is_body(one.key)
    slots = [slot for slot in (one.before, one.after) if slot is not None]
    number = one.key[3]
    shape = shape_in(slide, number)
    name = _name(slots[-1], shape)
    label = f"slide {slide.index + 1}: {name}"
    before, after = (None if slot is None else slot.text for slot in (one.before, one.after))
    place = Place(slide_index=slide.index, shape=shape.index) if shape is not None else None
    if not is_inner and len(slots) == 1:
        suffix, group = " (added)" if one.before is None else " (removed)", "structure"
        place = None if one.after is None else place
    elif is_inner and before != after:
        suffix, group = " (text)", "text"
    elif is_inner and shape is not None and shape.kind in ("chart", "diagram", "object", "graphic"):
        suffix, group = " (content)", "values" if shape.kind == "chart" else "other"
    else:
        suffix, group = (" (look of the text)" if is_inner else " (place and look)"), "looks"
    tied = None
    if group == "text" and is_inner and _looks(one.before) != _looks(one.after):
        tied = "its words and their look changed together"
    return _made("shape", group, label + suffix, place, before, after, tied)


def _looks(slot: Slot | None) -> set[tuple[tuple[str, str], ...]]:
    """Return the looks that runs of a text ask for."""
    found = set()
    for element in slot.elements if slot is not None else ():
        for run in element.iter(n.RPR):
            told = {str(k): str(v) for k, v in run.items() if k not in ("lang", "dirty", "err")}
            found.add(tuple(sorted(told.items())))
    return found


def _name(slot: Slot, shape: Shape | None) -> str:
    if shape is not None and not shape.groups:
        return shape.name or shape.kind
    properties = next(slot.elements[0].iter(n.C_NV_PR), None)
    return (properties.get("name") if properties is not None else None) or "shape"


def shape_in(slide: Slide, number: str) -> Shape | None:
    """Return the first shape that is, or is in, the outermost shape of an id."""
    for shape in slide.shapes:
        around: list[Element] = [shape.element, *shape.groups]
        ids = (next(one.iter(n.C_NV_PR), None) for one in around)
        if any(one is not None and one.get("id") == number for one in ids):
            return shape
    return None
