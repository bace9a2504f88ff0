"""What text of a level inherits: from its shape, the layout, the master, the presentation."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.package.guard import Element

from . import names as n
from .deck import Deck, Layout, Slide, layout_shape, master_type
from .shape import TITLE_TYPES, Placeholder, Shape, placeholder_of, shapes_in


def level_styles(deck: Deck, slide: Slide, shape: Shape, level: int) -> list[Element]:
    """Return the paragraph styles a level inherits, nearest first."""
    return at_level(list_styles(deck, slide, shape), level)


def at_level(lists: list[Element], level: int) -> list[Element]:
    """Return what lists of styles say of a level."""
    tag = n.a(f"lvl{level + 1}pPr")
    return [found for styles in lists if (found := styles.find(tag)) is not None]


def list_styles(deck: Deck, slide: Slide, shape: Shape) -> list[Element]:
    """Return the lists of styles a shape's text inherits from, nearest first."""
    body = shape.text_body
    own = body.find(n.LST_STYLE) if body is not None else None
    found = [own] if own is not None else []
    placeholder = shape.placeholder
    layout = deck.layout_of(slide)
    if placeholder is not None and layout is not None:
        for above in shapes_above(deck, layout, placeholder):
            text = above.text_body
            style = text.find(n.LST_STYLE) if text is not None else None
            found += [style] if style is not None else []
        found += _of_master(deck, layout, placeholder)
    default = deck.root.find(n.p("defaultTextStyle"))
    return [*found, default] if default is not None else found


def shapes_above(deck: Deck, layout: Layout, placeholder: Placeholder) -> Iterator[Shape]:
    """Yield the shapes of layout and master that a placeholder inherits from."""
    above = layout_shape(layout, placeholder)
    if above is not None:
        yield above
        placeholder = above.placeholder or placeholder
    master = deck.trees.first_related(layout.part, "slideMaster")
    wanted = master_type(placeholder.type)
    for shape in shapes_in(deck.trees.root(master)) if master else ():
        candidate = placeholder_of(shape.element)
        if candidate is not None and master_type(candidate.type) == wanted:
            yield shape
            return


def _of_master(deck: Deck, layout: Layout, placeholder: Placeholder) -> list[Element]:
    master = deck.trees.first_related(layout.part, "slideMaster")
    if master is None:
        return []
    name = "bodyStyle"
    if placeholder.type in TITLE_TYPES:
        name = "titleStyle"
    elif placeholder.is_furniture:
        name = "otherStyle"
    found = deck.trees.root(master).find(f"{n.p('txStyles')}/{n.p(name)}")
    return [found] if found is not None else []
