"""A slide as lines of text for a model or a review (F10.4)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.drawntext import paragraph_text

from . import names as n
from .deck import Deck, Slide
from .shape import TITLE_TYPES, Shape, level_of, table_grid
from .visible import unseen


def slide_units(deck: Deck, slide: Slide) -> list[str]:
    """Return the slide as pieces that are not cut: its heading line, its shapes, its notes."""
    title = slide.title
    heading = f"# slide {slide.index}: {title}" if title else f"# slide {slide.index}"
    units = [f"{heading} [hidden]" if slide.is_hidden else heading]
    for shape in visual_order(deck, slide):
        placeholder = shape.placeholder
        if placeholder is not None and placeholder.type in TITLE_TYPES and title:
            continue
        lines = list(shape_lines(deck, slide, shape))
        if shape.is_hidden:
            lines = [f"[hidden] {line}" for line in lines]
        if lines:
            units.append("\n".join(lines))
    notes = deck.notes(slide)
    if notes:
        units.append("notes:\n" + notes)
    return units


def visual_order(deck: Deck, slide: Slide) -> list[Shape]:
    """Return the shapes from top to bottom, then left to right, then in drawing order."""
    placed = []
    for shape in slide.shapes:
        box = deck.box(slide, shape)
        placed.append((box.top if box else 0.0, box.left if box else 0.0, shape.index, shape))
    return [entry[3] for entry in sorted(placed, key=lambda entry: entry[:3])]


def shape_lines(deck: Deck, slide: Slide, shape: Shape) -> Iterator[str]:
    """Yield what a shape shows."""
    table = shape.table
    if table is not None:
        yield from map(table_row, table_grid(table))
    elif drawn := deck.drawn_lines(slide, shape):
        yield from drawn
    elif shape.has_image:
        yield f"[image: {shape.alt_text}]" if shape.alt_text else "[image]"
    elif shape.kind == "object":
        yield "[object]"
    body = shape.text_body
    is_unseen = unseen(deck, slide, shape)
    for paragraph in body.iterchildren(n.P_T) if body is not None else ():
        text = paragraph_text(paragraph, is_unseen)
        if text.strip():
            indent = "  " * level_of(paragraph)
            yield "\n".join(indent + line for line in text.split("\n"))


def table_row(cells: list[str]) -> str:
    """Return one row of a table as a line."""
    shown = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
    return "| " + " | ".join(shown) + " |"


def deck_lines(deck: Deck) -> list[str]:
    """Return the whole deck as stable lines, slide titles as anchors (F29.1)."""
    lines: list[str] = []
    for slide in deck.slides:
        for unit in slide_units(deck, slide):
            lines.extend(unit.split("\n"))
    return lines
