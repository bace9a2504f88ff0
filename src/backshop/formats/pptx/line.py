"""A slide as lines of text for a model or a review (F10.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from backshop.formats.package.drawing_text import paragraph_text
from backshop.formats.row import table_row

from . import names as n
from .comment import slide_comments
from .deck import Deck, Slide
from .numbering import in_both, in_words
from .shape import Shape, level_of, table_grid
from .visible import Sight


def slide_units(deck: Deck, slide: Slide, called: Callable[[int], str] = in_both) -> list[str]:
    """Return the slide as pieces that are not cut: its heading line, its shapes, its notes.

    `called` names the slide: in words, or for who may write to it (F44.2).
    """
    sight = Sight(deck, slide)
    above = slide.title_shape
    title = _title(above, sight) if above is not None else ""
    name = called(slide.index)
    heading = f"# {name}: {title}" if title else f"# {name}"
    units = [f"{heading} [hidden]" if slide.is_hidden else heading]
    for shape in visual_order(deck, slide):
        if above is not None and shape.element is above.element and title:
            continue
        lines = "\n".join(shape_lines(deck, slide, shape, sight))
        if lines:
            units.append(_hidden(lines) if shape.is_hidden else lines)
    notes = deck.notes(slide)
    if notes:
        units.append("notes:\n" + notes)
    return [*units, *slide_comments(deck, slide)]


def _title(shape: Shape, sight: Sight) -> str:
    """Return the title on one line, labelled where an audience does not see it."""
    body = shape.text_body
    is_unseen = sight.unseen(shape)
    paragraphs = body.iterchildren(n.P_T) if body is not None else ()
    title = " ".join(" ".join(paragraph_text(p, is_unseen) for p in paragraphs).split())
    return _hidden(title) if title and shape.is_hidden else title


def _hidden(text: str) -> str:
    return "\n".join(f"[hidden] {line}" for line in text.split("\n"))


def visual_order(deck: Deck, slide: Slide) -> list[Shape]:
    """Return the shapes from top to bottom, then left to right, then in drawing order."""
    placed = []
    for shape in slide.shapes:
        box = deck.box(slide, shape)
        placed.append((box.top if box else 0.0, box.left if box else 0.0, shape.index, shape))
    return [entry[3] for entry in sorted(placed, key=lambda entry: entry[:3])]


def shape_lines(deck: Deck, slide: Slide, shape: Shape, sight: Sight) -> Iterator[str]:
    """Yield what a shape shows."""
    table = shape.table
    is_unseen = sight.unseen(shape)
    if table is not None:
        yield from map(table_row, table_grid(table, is_unseen))
    elif drawn := deck.drawn_lines(slide, shape):
        yield from drawn
    elif shape.has_image:
        yield f"[image: {shape.alt_text}]" if shape.alt_text else "[image]"
    elif shape.kind == "object":
        yield "[object]"
    body = shape.text_body
    for paragraph in body.iterchildren(n.P_T) if body is not None else ():
        text = paragraph_text(paragraph, is_unseen)
        if text.strip():
            indent = "  " * level_of(paragraph)
            yield "\n".join(indent + line for line in text.split("\n"))


def deck_lines(deck: Deck) -> list[str]:
    """Return the whole deck as stable lines, slide titles as anchors (F29.1)."""
    lines: list[str] = []
    for slide in deck.slides:
        for unit in slide_units(deck, slide, in_words):
            lines.extend(unit.split("\n"))
    return lines
