"""The structure of a presentation (F10)."""

from __future__ import annotations

from backshop.formats.package.security import security
from backshop.formats.protocol import Json, Map, Source
from backshop.formats.warning import Warnings

from . import names as n
from .deck import Deck, Slide
from .shape import Shape, body_text, table_grid


def get_info(source: Source) -> dict[str, Json]:
    """Return the presentation's own keys of F15.1."""
    return {"slide_count": len(Deck.open(source).slides)}


def get_map(source: Source) -> Map:
    """Return the full map."""
    deck = Deck.open(source)
    width, height = deck.size
    slides = deck.slides
    data: dict[str, Json] = {
        "slide_count": len(slides),
        "slide_size": {"width": width, "height": height, "unit": "emu"},
        "layouts": [layout.name for layout in deck.layouts],
        "chunking": {"unit": "slides", "size": 1, "count": len(slides), "origin": 0},
        "slides": [_slide(deck, slide) for slide in slides],
    }
    return Map(format="pptx", data=data, warnings=Warnings().all(), security=security(deck.package))


def _slide(deck: Deck, slide: Slide) -> dict[str, Json]:
    shapes = slide.shapes
    layout = deck.layout_of(slide)
    entry: dict[str, Json] = {
        "index": slide.index,
        "slide_id": slide.slide_id,
        "title": slide.title,
        "layout": layout.name if layout else None,
        "hidden": slide.is_hidden,
        "char_count": sum(map(_char_count, shapes)),
        "has_images": any(shape.has_image for shape in shapes),
        "has_charts": any(shape.kind == "chart" for shape in shapes),
        "has_tables": any(shape.table is not None for shape in shapes),
        "has_notes": bool(deck.notes(slide)),
        "placeholders": [
            {
                "idx": placeholder.idx,
                "type": placeholder.type,
                "name": shape.name,
                "empty": _is_empty(shape),
            }
            for shape in shapes
            if (placeholder := shape.placeholder) is not None
        ],
    }
    tables: list[Json] = [_table(shape) for shape in shapes if shape.table is not None]
    if tables:
        entry["tables"] = tables
    return entry


def _table(shape: Shape) -> dict[str, Json]:
    grid = table_grid(shape.table) if shape.table is not None else []
    return {"shape": shape.index, "rows": len(grid), "cols": max(map(len, grid), default=0)}


def _char_count(shape: Shape) -> int:
    if shape.table is not None:
        return sum(len(cell) for row in table_grid(shape.table) for cell in row)
    return len(body_text(shape.text_body))


def _is_empty(shape: Shape) -> bool:
    if shape.element.tag in (n.PIC, n.GRAPHIC_FRAME):
        return False
    return not body_text(shape.text_body).strip()
