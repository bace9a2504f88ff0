"""The text of a document as passages that are searched one by one (F33.1)."""

from __future__ import annotations

from collections.abc import Iterator

from backshop.formats.protocol import Passage, Source

from .document import Block
from .line import Renderer
from .read import ASIDES, aside
from .source import Document


def passages(source: Source) -> Iterator[Passage]:
    """Yield paragraphs and table cells, then headers, comments and notes.

    Deleted text of tracked changes is not searched: it is not the document's any more.
    """
    document = Document.open(source)
    body = document.body()
    renderer = Renderer(document, body)
    for block in body.blocks:
        yield from _block(block, renderer)
    for name in ASIDES:
        if name != "@changes":
            for one in aside(document, body, name, renderer):
                yield Passage({"section": name, "paragraphs": str(one.index)}, one.text)


def _block(block: Block, renderer: Renderer) -> Iterator[Passage]:
    where = {"paragraphs": str(block.index)}
    drawn = renderer.drawn(block.element)
    if block.table is None:
        yield Passage(where, "\n".join((block.text, *drawn)))
        return
    for row, cells in enumerate(block.rows):
        for column, text in enumerate(cells):
            at = {"table": block.table, "row": row, "column": column}
            yield Passage({**where, **at}, text)
    if drawn:
        yield Passage(where, "\n".join(drawn))
