"""How slides are called: in words from 1, as PowerPoint counts; in fields from 0 (F44)."""

from __future__ import annotations

from backshop.base.place import Place
from backshop.formats.errors import FormatError, fail
from backshop.formats.place import spelled


def in_words(index: int, shape: int | None = None) -> str:
    """Return a slide, or a shape of it, as a place in words: `slide 2 shape 1`."""
    return spelled(Place(slide_index=index, shape=shape))


def in_both(index: int) -> str:
    """Return a slide for who may write to it next: in words, and by the field that takes it."""
    return f"{in_words(index)} (slide_index {index})"


def no_slide(index: int, count: int, where: str, field: str = "slide_index") -> FormatError:
    """Return the refusal of a slide that is not there, with those that are (F44.4)."""
    there = f"there are {count} slides" if count > 1 else "there is 1 slide"
    valid = f"{field} 0 to {count - 1}" if count > 1 else f"{field} 0"
    said = f"{there}, {valid}" if count else "there are no slides"
    hints = (valid,) if count else ()
    return fail("unknown_slide", f"{field} {index}: {said}", detail=where, hints=hints)
