"""Where text stands on a page of a PDF, for what is laid over a picture of it (F29.12)."""

from __future__ import annotations

from contextlib import closing

import pypdfium2 as pdfium

from ..protocol import Json, JsonObject, Source
from .document import opened, require_index

_PX = 96 / 72  # pixels of a screen in a point
_TEXTS_MAX = 2_000  # of one page; more are not told


def page_layout(source: Source, page_index: int) -> JsonObject:
    """Return how large a page is and the rectangles of its text, in pixels of a screen from its
    upper left corner, and how many pages there are.

    Raises:
        FormatError: `bad_index`.
    """
    with opened(source) as document:
        count = len(document)
        require_index(page_index, count, "pages")
        page = document[page_index]
        width, height = page.get_size()
        return {
            "page_count": count,
            "width": round(width * _PX, 1),
            "height": round(height * _PX, 1),
            "texts": _texts(page, height),
        }


def _texts(page: pdfium.PdfPage, height: float) -> list[Json]:
    with closing(page.get_textpage()) as text:
        found: list[Json] = []
        for at in range(min(text.count_rects(), _TEXTS_MAX)):
            left, bottom, right, top = text.get_rect(at)
            sides = (left, height - top, right - left, top - bottom)
            found.append([round(side * _PX, 1) for side in sides])
        return found
