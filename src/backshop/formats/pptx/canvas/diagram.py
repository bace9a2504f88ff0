"""The drawing that programs keep beside a diagram's data, as shapes (F43.36)."""

from __future__ import annotations

import copy

from backshop.formats.errors import FormatError
from backshop.formats.package.drawing import drawn_parts

from .. import names as n
from ..deck import Deck, Slide
from ..shape import Shape, shapes_of

_DSP = "{http://schemas.microsoft.com/office/drawing/2008/diagram}"


def diagram_shapes(deck: Deck, slide: Slide, shape: Shape) -> tuple[str, list[Shape]] | None:
    """Return the part of a diagram's drawing and its shapes, in the words of slides; None without.

    A drawing has the elements of a slide's shapes under a name of its own.
    """
    drawing = slide.drawing(shape)
    parts = drawn_parts(deck.trees, drawing) if drawing is not None else []
    if len(parts) < 2:
        return None
    try:
        root = copy.deepcopy(deck.trees.root(parts[1]))
    except FormatError:
        return None
    for element in root.iter(f"{_DSP}*"):
        element.tag = n.p(str(element.tag).removeprefix(_DSP))
    tree = root.find(n.SP_TREE)
    found = shapes_of(tree) if tree is not None else []
    return (parts[1], found) if found else None
