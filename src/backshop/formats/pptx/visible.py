"""Tells which text of a slide is white on a white slide, so that it is labelled (F4.8).

Only what is certain is said: a run that is white by itself, in a shape without a fill, on a white
background, with nothing drawn below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import etree

from . import names as n
from .deck import Deck, Slide, layout_shape
from .shape import Box, Shape, own_box, shapes_of

Element = etree._Element

_FILLS = tuple(map(n.a, ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")))
_WHITE = "FFFFFF"
_ALIASES = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}  # of the usual colour map
_BACKGROUND = f"{n.C_SLD}/{n.p('bg')}"

IsUnseen = Callable[[Element], bool]


def unseen(deck: Deck, slide: Slide, shape: Shape) -> IsUnseen:
    """Return what tells whether a run of the shape cannot be seen."""
    white = f'//*[@val="{_WHITE}" or @val="ffffff" or @val="bg1" or @val="lt1"]'
    body = shape.text_body
    if body is None or not body.xpath("." + white):
        return lambda _: False
    theme = _theme(deck, slide)
    if not _is_white_slide(deck, slide, theme) or _has_ground(deck, slide, shape):
        return lambda _: False
    return lambda run: _colour(run.find(f"{n.RPR}/{_FILLS[0]}"), theme) == _WHITE


def _is_white_slide(deck: Deck, slide: Slide, theme: Element | None) -> bool:
    for root in _above(deck, slide):
        found = root.find(_BACKGROUND)
        if found is None:
            continue
        fill = found.find(f"{n.p('bgPr')}/{_FILLS[0]}")
        if fill is None:
            fill = found.find(n.p("bgRef"))
        return _colour(fill, theme) == _WHITE
    return False


def _above(deck: Deck, slide: Slide) -> Iterator[Element]:
    """Yield the slide, its layout and its master, as backgrounds are inherited."""
    yield slide.root
    layout = deck.layout_of(slide)
    if layout is not None:
        yield layout.root
        master = deck.trees.first_related(layout.part, "slideMaster")
        if master is not None:
            yield deck.trees.root(master)


def _theme(deck: Deck, slide: Slide) -> Element | None:
    layout = deck.layout_of(slide)
    master = deck.trees.first_related(layout.part, "slideMaster") if layout else None
    part = deck.trees.first_related(master, "theme") if master else None
    return deck.trees.root(part) if part else None


def _colour(fill: Element | None, theme: Element | None) -> str | None:
    """Return the colour of a fill as six digits; None where it is changed or not known."""
    colour = next(iter(fill), None) if fill is not None else None
    if colour is None or len(colour):
        return None
    value = colour.get("val") or ""
    if colour.tag == n.a("srgbClr"):
        return value.upper()
    if colour.tag != n.a("schemeClr") or theme is None:
        return None
    entry = next(theme.iter(n.a(_ALIASES.get(value, value))), None)
    found = next(iter(entry), None) if entry is not None else None
    if found is None:
        return None
    return (found.get("lastClr") or found.get("val") or "").upper()


def _has_ground(deck: Deck, slide: Slide, shape: Shape) -> bool:
    """Whether the shape is filled, or lies on something that is drawn."""
    placeholder = shape.placeholder
    layout = deck.layout_of(slide)
    above = layout_shape(layout, placeholder) if placeholder and layout else None
    if _is_filled(shape) or (above is not None and _is_filled(above)):
        return True
    box = deck.box(slide, shape)
    if box is None:
        return True
    below = [deck.box(slide, other) for other in slide.shapes[: shape.index] if _is_drawn(other)]
    for root in list(_above(deck, slide))[1:]:
        tree = root.find(f"{n.C_SLD}/{n.SP_TREE}")
        others = shapes_of(tree) if tree is not None else []
        below += [own_box(o.element) for o in others if o.placeholder is None and _is_drawn(o)]
    return any(other is None or _overlap(box, other) for other in below)


def _is_drawn(shape: Shape) -> bool:
    return shape.element.tag not in (n.SP, n.CXN_SP) or _is_filled(shape)


def _is_filled(shape: Shape) -> bool:
    look = shape.element.find(n.SP_PR)
    if look is not None:
        if any(look.find(fill) is not None for fill in _FILLS):
            return True
        if look.find(n.a("noFill")) is not None:
            return False
    reference = shape.element.find(f"{n.p('style')}/{n.a('fillRef')}")
    return reference is not None and reference.get("idx") not in (None, "0")


def _overlap(one: Box, other: Box) -> bool:
    """Whether two boxes meet; turned ones count with the circle around them."""
    (left, top, right, bottom), (x1, y1, x2, y2) = _around(one), _around(other)
    return left < x2 and x1 < right and top < y2 and y1 < bottom


def _around(box: Box) -> tuple[float, float, float, float]:
    width, height = box.width / 2, box.height / 2
    if box.rotation % 180:
        width = height = (width**2 + height**2) ** 0.5
    x, y = box.left + box.width / 2, box.top + box.height / 2
    return x - width, y - height, x + width, y + height
