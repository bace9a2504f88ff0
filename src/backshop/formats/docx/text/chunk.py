"""Cuts blocks into chunks of at most 4,000 characters, between blocks or table rows (F9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backshop.formats import window
from backshop.formats.protocol import Json

from .document import Block

CHUNK_CHARS = 4000  # F2.6


@dataclass(frozen=True, slots=True)
class Slice:
    """A block of a region, or some rows of a table; `place` counts the region's blocks from 0."""

    place: int
    rows: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Neighbouring slices that are read together."""

    slices: tuple[Slice, ...]
    char_count: int

    def span(self, start: int) -> str:
        """Return the body indexes of its blocks; `start` is that of the region's first (F9.9)."""
        return f"{start + self.slices[0].place}-{start + self.slices[-1].place}"


def chunks_of(blocks: Sequence[Block]) -> list[Chunk]:
    """Return the chunks of a region; together they hold every block and every row once."""
    chunks: list[Chunk] = []
    open_slices: list[Slice] = []
    size = 0
    for place, block in enumerate(blocks):
        for piece, chars in _pieces(place, block):
            if open_slices and size + chars > CHUNK_CHARS:
                chunks.append(Chunk(tuple(open_slices), size))
                open_slices, size = [], 0
            open_slices.append(piece)
            size += chars
    if open_slices:
        chunks.append(Chunk(tuple(open_slices), size))
    return chunks


def _pieces(place: int, block: Block) -> list[tuple[Slice, int]]:
    """Return a block as what may not be cut: itself, or groups of rows of a large table."""
    total = block.char_count
    if block.table is None or total <= CHUNK_CHARS:
        return [(Slice(place), total)]
    found = []
    start, size = 0, 0
    for number, row in enumerate(block.rows):
        chars = sum(map(len, row))
        if number > start and size + chars > CHUNK_CHARS:
            found.append((Slice(place, (start, number)), size))
            start, size = number, 0
        size += chars
    found.append((Slice(place, (start, len(block.rows))), size))
    return found


def chunking(chunks: Sequence[Chunk], start: int = 0) -> dict[str, Json]:
    """Return the keys of a map that tell how a region is chunked (F5.8, F9.3)."""
    keys: dict[str, Json] = {"chunking": window.chunking("chars", CHUNK_CHARS, len(chunks), 0)}
    if len(chunks) > 1:
        spans: list[dict[str, Json]] = [
            {"paragraphs": chunk.span(start), "char_count": chunk.char_count} for chunk in chunks
        ]
        keys["chunks"] = window.chunk_list(spans)
    return keys
