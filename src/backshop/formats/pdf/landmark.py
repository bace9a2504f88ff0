"""Where places of a document that a PDF has a name for stand on its pages (F29.13)."""

from __future__ import annotations

import ctypes

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ..package.landmark import begins, ends
from ..protocol import Json, JsonObject, Source
from .document import opened

_PX = 96 / 72  # pixels of a screen in a point


def landmarks(source: Source, block_count: int) -> JsonObject:
    """Return how many pages there are, and of each block where it begins and where its last line
    stands: the page (from 0) and the distances from its left and upper edge, in pixels of a
    screen; null where that is not known.
    """
    with opened(source) as document:
        heights = [document.get_page_size(at)[1] for at in range(len(document))]
        return {
            "page_count": len(heights),
            "begins": [_place(document, begins(at), heights) for at in range(block_count)],
            "ends": [_place(document, ends(at), heights) for at in range(block_count)],
        }


def _place(document: pdfium.PdfDocument, name: str, heights: list[float]) -> Json:
    target = pdfium_c.FPDF_GetNamedDestByName(document.raw, name.encode())
    page = pdfium_c.FPDFDest_GetDestPageIndex(document.raw, target) if target else -1
    if not 0 <= page < len(heights):
        return None
    known = [ctypes.c_int() for _ in range(3)]
    sides = [ctypes.c_float() for _ in range(3)]
    told = pdfium_c.FPDFDest_GetLocationInPage(target, *known, *sides)
    if not (told and known[0].value and known[1].value):
        return None
    left, top = sides[0].value, heights[page] - sides[1].value
    return [page, round(left * _PX, 1), round(top * _PX, 1)]
