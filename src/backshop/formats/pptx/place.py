"""Decides where text goes: which layout, which placeholder, whether it will fit (F20.2–F20.5)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from backshop.formats.write.operation import problem

from . import names as n
from .deck import Deck, Layout, Slide, is_body, master_type
from .level_style import level_styles
from .schema import FONT_SIZE, Line
from .shape import TITLE_TYPES, Box, Placeholder, Shape, whole

_EMU_PER_POINT = 12700
_INSET = 7.2  # points; the usual margin inside a shape
_DEFAULT_SIZE = {"title": 44.0, "body": 18.0}
_TYPES = {  # of the layouts that are asked for by a key, which is their English name
    "title_slide": "title",
    "title_and_content": "obj",
    "section_header": "secHead",
    "two_content": "twoObj",
    "comparison": "twoTxTwoObj",
    "title_only": "titleOnly",
    "blank": "blank",
}
_BODIES = {
    "title_and_content": 1,
    "two_content": 2,
    "comparison": 4,
    "title_only": 0,
}  # how many text places beside a title; a title slide and a section header are told by type


def find_layout(deck: Deck, wanted: str) -> tuple[Layout, bool] | None:
    """Return the layout of that name or key, and whether it is only a substitute (F20.2)."""
    named = _by_name(deck, " ".join(wanted.split()))
    if named is not None:
        return named, False
    key = re.sub(r"[\s\-]+", "_", wanted.strip().lower())
    if key in _TYPES:
        found = _by_structure(deck, key) or _by_name(deck, key.replace("_", " "))
        if found is not None:
            return found, False
    substitute = _by_bodies(deck, 1) or next(
        (layout for layout in deck.layouts if _bodies(layout)), None
    )
    substitute = substitute or next(iter(deck.layouts), None)
    return (substitute, True) if substitute is not None else None


def _by_structure(deck: Deck, key: str) -> Layout | None:
    for layout in deck.layouts:
        if layout.root.get("type") == _TYPES[key]:
            return layout
    if key == "blank":
        return next((a for a in deck.layouts if not _content(a)), None)
    if key == "title_slide":
        return next((a for a in deck.layouts if _has_type(a, "ctrTitle")), None)
    return _by_bodies(deck, _BODIES[key]) if key in _BODIES else None


def _by_bodies(deck: Deck, count: int) -> Layout | None:
    """Return the first layout with a plain title, so many text places, and nothing else."""
    for layout in deck.layouts:
        exact = len(_content(layout)) == count + 1 and len(_bodies(layout)) == count
        if exact and _has_type(layout, "title"):
            return layout
    return None


def _by_name(deck: Deck, name: str) -> Layout | None:
    return next((a for a in deck.layouts if a.name.casefold() == name.casefold()), None)


def _content(layout: Layout) -> list[Placeholder]:
    return [ph for _, ph in layout.placeholders if not ph.is_furniture]


def _bodies(layout: Layout) -> list[Placeholder]:
    return [ph for ph in _content(layout) if is_body(ph)]


def _has_type(layout: Layout, type_: str) -> bool:
    return any(ph.type == type_ for ph in _content(layout))


def body_shape(deck: Deck, slide: Slide, wanted: int | None, where: str) -> Shape | None:
    """Return the shape for running text: the one asked for, else the largest (F20.3).

    Raises:
        FormatError: `bad_index` when the slide has no such placeholder; the hints list them.
    """
    places = [(shape, ph) for shape in slide.shapes if (ph := shape.placeholder) is not None]
    if wanted is not None:
        for shape, placeholder in places:
            if placeholder.idx == wanted and shape.element.tag == n.SP:
                return shape
        raise problem(
            "bad_index",
            f"{where}.placeholder",
            f"the slide has no placeholder {wanted}",
            [f"{ph.idx}: {ph.type}" for _, ph in places],
        )
    candidates = [
        (_area(deck.box(slide, shape)), -shape.index, shape)
        for shape, placeholder in places
        if is_body(placeholder) and shape.element.tag == n.SP
    ]
    return max(candidates)[2] if candidates else None


def _area(box: Box | None) -> float:
    return box.width * box.height if box else 0.0


def is_bulleted(deck: Deck, slide: Slide, shape: Shape) -> bool:
    """Whether the placeholder draws bullets by itself: from the shape up to the master."""
    placeholder = shape.placeholder
    if placeholder is None or placeholder.type in TITLE_TYPES:
        return False
    for style in level_styles(deck, slide, shape, 0):
        if style.find(n.a("buNone")) is not None:
            return False
        if any(style.find(n.a(name)) is not None for name in ("buChar", "buAutoNum", "buBlip")):
            return True
    return False


def font_size(deck: Deck, slide: Slide, shape: Shape, level: int) -> float:
    """Return the font size text of a level has without one of its own, in points."""
    for style in level_styles(deck, slide, shape, level):
        properties = style.find(n.a("defRPr"))
        size = whole(properties.get("sz")) if properties is not None else None
        if size is not None and size > 0:
            return size / 100
    placeholder = shape.placeholder
    kind = master_type(placeholder.type) if placeholder is not None else "body"
    return _DEFAULT_SIZE.get(kind, _DEFAULT_SIZE["body"])


def excess_lines(deck: Deck, slide: Slide, shape: Shape, lines: Sequence[Line]) -> int:
    """Estimate how many lines do not fit: half an em per character, 1.2 em per line (F20.5)."""
    box = deck.box(slide, shape)
    if box is None or box.width <= 0 or box.height <= 0:
        return 0
    width = max(box.width / _EMU_PER_POINT - 2 * _INSET, 1.0)
    height = max(box.height / _EMU_PER_POINT - _INSET, 1.0)
    used = 0.0
    over = 0
    for line in lines:
        given = (FONT_SIZE(run.style.get("font_size")) for run in line.runs)
        size = max(filter(None, given), default=font_size(deck, slide, shape, line.level))
        per_line = max(int(width / (0.5 * size)), 1)
        for text in line.text.split("\n"):
            for _ in range(max(math.ceil(len(text) / per_line), 1)):
                used += 1.2 * size
                over += used > height
    return over
