"""The text of a presentation as passages that are searched one by one (F33.1)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.protocol import Json, Passage, Source

from .comment import slide_comments
from .deck import Deck, Slide
from .line import shape_lines, visual_order
from .shape import table_grid
from .visible import Sight


def passages(source: Source) -> Iterator[Passage]:
    """Yield the shapes of every slide, table cells one by one, then its notes and comments."""
    deck = Deck.open(source)
    for slide in deck.slides:
        where: dict[str, Json] = {"slide_index": slide.index}
        yield from _shapes(deck, slide, where)
        yield Passage({**where, "in": "notes"}, deck.notes(slide) or "")
        for comment in slide_comments(deck, slide):
            yield Passage({**where, "in": "comments"}, comment)


def _shapes(deck: Deck, slide: Slide, where: dict[str, Json]) -> Iterator[Passage]:
    sight = Sight(deck, slide)
    for shape in visual_order(deck, slide):
        at: dict[str, Json] = {**where, "shape": shape.index}
        if shape.table is None:
            yield Passage(at, "\n".join(shape_lines(deck, slide, shape, sight)))
            continue
        for row, cells in enumerate(table_grid(shape.table)):
            for column, text in enumerate(cells):
                yield Passage({**at, "row": row, "column": column}, text)
