"""Reads a presentation slide by slide (F10.3, F10.4)."""

from __future__ import annotations

from backshop.base import limits as numbers
from backshop.formats import window
from backshop.formats.errors import fail
from backshop.formats.protocol import ChunkInfo, Read, Selector, Source
from backshop.formats.warning import Warnings

from .deck import Deck
from .line import deck_lines, slide_units


def read(source: Source, selector: Selector) -> Read:
    """Return one slide, or the whole deck when it is small and nothing was selected."""
    window.check_selector(selector, "pptx", ("slide_index",))
    deck = Deck.open(source)
    index = _wanted(selector)
    if index is not None:
        return _slide(deck, index, selector)
    slides = deck.slides
    whole = "\n\n".join("\n".join(slide_units(deck, slide)) for slide in slides)
    if selector.char_offset is None and len(whole.encode()) <= numbers.READ_WHOLE_MAX_BYTES:
        span = {"slides": f"1-{len(slides)}"} if slides else {}  # all of them, not the first
        info = ChunkInfo(total_chunks=max(len(slides), 1), span=span)
        return Read(format="pptx", text=whole, chunk_info=info)
    return _slide(deck, 0, selector)


def extract_lines(source: Source) -> list[str]:
    """Return stable lines for review (F29.1)."""
    return deck_lines(Deck.open(source))


def _wanted(selector: Selector) -> int | None:
    if selector.slide_index is None:
        return selector.chunk_index
    if selector.chunk_index not in (None, selector.slide_index):
        raise fail("op_conflict", "slide_index and chunk_index name different slides")
    return selector.slide_index


def _slide(deck: Deck, index: int, selector: Selector) -> Read:
    total = len(deck.slides)
    if selector.slide_index is None:
        window.check_chunk(index, total)
    slide = deck.slide(index)
    warnings = Warnings()
    text = "\n".join(slide_units(deck, slide))
    offset = selector.char_offset or 0
    cut = window.cut(text[offset:].splitlines(keepends=True), joiner="")
    following = None
    if not cut.complete:
        warnings.add("truncated_to_fit")
        following = Selector(slide_index=index, char_offset=offset + len(cut.text))
    elif index + 1 < total:
        following = Selector(slide_index=index + 1)
    return Read(
        format="pptx",
        text=cut.text,
        selector=Selector(slide_index=index, char_offset=selector.char_offset),
        chunk_info=ChunkInfo(chunk_index=index, total_chunks=total, next=following),
        warnings=warnings.all(),
    )
