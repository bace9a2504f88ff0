"""Where slides and shapes of one version of a presentation are in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backshop.base.place import Place
from backshop.formats.errors import fail
from backshop.formats.place import require_fields
from backshop.formats.protocol import Source
from backshop.formats.selection.change_unit import Relocated
from backshop.formats.selection.whole_file import relocated_file

from .. import names as n
from ..deck import Deck, Slide
from ..numbering import in_words
from ..shape import Shape
from .slot import Content, Key, words_in


def require_place(source: Source, place: Place) -> Place:
    """Return a place of a presentation as it is counted; words mean the one shape that has them.

    Raises:
        FormatError: `bad_selector`, `unknown_slide`, `bad_index`, `no_match`, `ambiguous_match`.
    """
    return _placed(Deck.open(source), place)


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where slides (by their ids) and shapes (by theirs) of one version are in another."""
    old, new = Content(Deck.open(before)), Content(Deck.open(after))
    found = []
    for place in places:
        if place.is_file:
            found.append(relocated_file(before, after))
        else:
            found.append(_relocated(old, new, _placed(old.deck, place)))
    return found


def _differs(old: Content, new: Content, key: Key) -> bool:
    """Whether anything on a slide differs, its notes and its layout's name too."""
    parts = old.slides[key].part, new.slides[key].part
    if old.raw(parts[0]) == new.raw(parts[1]):
        return False
    return old.slide_slot(key).said != new.slide_slot(key).said


def _relocated(old: Content, new: Content, place: Place) -> Relocated:
    assert place.slide_index is not None
    slide = old.deck.slides[place.slide_index]
    key: Key = ("slide", str(slide.slide_id))
    now = new.slides.get(key)
    if now is None:
        return Relocated(place=None, is_touched=True)
    moved = replace(place, slide_index=now.index)
    if place.shape is None:
        is_touched = _differs(old, new, key)
        text = words_in(now.root)
    else:
        shape = slide.shapes[place.shape]
        twin = _twin(slide, shape, now)
        if twin is None:
            return Relocated(place=None, is_touched=True)
        is_touched = _said(old, slide, shape) != _said(new, now, twin)
        moved, text = replace(moved, shape=twin.index), words_in(twin.element)
    if place.words is not None and place.words not in text:
        return Relocated(place=replace(moved, words=None), is_touched=True)
    return Relocated(place=moved, is_touched=is_touched)


def _said(content: Content, slide: Slide, shape: Shape) -> str:
    """Return all that a shape is, and where the groups around it stand."""
    frames = [group.find(n.GRP_SP_PR) for group in shape.groups]
    around = [one for one in frames if one is not None]
    return content.seen(slide.part, (shape.element, *around)).said


def _twin(slide: Slide, shape: Shape, now: Slide) -> Shape | None:
    """Return the shape of the same id; where ids are used twice, the same one of them."""
    same = [one for one in slide.shapes if _id(one) == _id(shape)]
    at = [one.index for one in same].index(shape.index)
    others = [one for one in now.shapes if _id(one) == _id(shape)]
    return others[at] if at < len(others) else None


def _id(shape: Shape) -> str | None:
    properties = shape.properties
    return properties.get("id") if properties is not None else None


def _placed(deck: Deck, place: Place) -> Place:
    require_fields(place, "pptx", ("slide_index", "shape", "words"))
    if place.is_file:
        return place
    if place.slide_index is None:
        if place.words is None:
            raise fail("bad_selector", "shape asks for slide_index")
        return _having(deck, deck.slides, place.words)
    slide = deck.slide(place.slide_index)
    shapes = slide.shapes
    if place.shape is not None and not 0 <= place.shape < len(shapes):
        last = f"shape 1 to {len(shapes)}" if shapes else "none"
        said = f"{in_words(slide.index)} has {len(shapes)} shapes"
        raise fail("bad_index", said, hints=(last,))
    if place.words is None:
        return place
    if place.shape is None:
        return _having(deck, [slide], place.words)
    if place.words not in words_in(shapes[place.shape].element):
        raise fail("no_match", "these words are not in the shape")
    return place


def _having(deck: Deck, slides: Sequence[Slide], words: str) -> Place:
    found = [
        Place(slide_index=slide.index, shape=shape.index, words=words)
        for slide in slides
        for shape in slide.shapes
        if words in words_in(shape.element)
    ]
    if len(found) != 1:
        reason = "ambiguous_match" if found else "no_match"
        raise fail(reason, f"{len(found)} shapes have these words")
    return found[0]
