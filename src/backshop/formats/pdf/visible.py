"""The text of a PDF page, with what nobody sees on it labelled (F4.8).

A page is a list of drawings, the later ones above the earlier. Text may be drawn with no ink at
all, or white where nothing lies below it. What a picture shows is not known: text without ink over
one is how scans are made searchable, and white text over one may well be seen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

_WHITE = (255, 255, 255)
_NO_INK = frozenset({pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium_c.FPDF_TEXTRENDERMODE_CLIP})
_FILLED = frozenset(
    {
        pdfium_c.FPDF_TEXTRENDERMODE_FILL,
        pdfium_c.FPDF_TEXTRENDERMODE_FILL_CLIP,
        pdfium_c.FPDF_TEXTRENDERMODE_UNKNOWN,
    }
)
_PICTURES = frozenset({pdfium_c.FPDF_PAGEOBJ_IMAGE, pdfium_c.FPDF_PAGEOBJ_SHADING})
_MAX_DEPTH = 15  # of drawings inside drawings, as pdfium itself goes
_MAX_GROUNDS = 2_000  # looked at; on a busier page what lies below is not known
_BROAD_STROKE = 4.0  # points; a line that broad can be the ground of text, a frame cannot


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float


class _Ground(NamedTuple):
    """Something drawn on the page that text may lie on."""

    order: int
    box: _Box
    is_picture: bool


class _Suspect(NamedTuple):
    """Text that may not be seen, by what would be drawn below it."""

    order: int
    label: str  # hidden, white text


_Placed = tuple[object, "_Matrix | None"]
_Matrix = tuple[float, float, float, float, float, float]


def page_text(page: pdfium.PdfPage) -> str:
    """Return the text of a page as pdfium orders it, unseen text as `[hidden: …]`."""
    with closing(page.get_textpage()) as textpage:
        suspects = _suspects(page)
        if not suspects:
            return str(textpage.get_text_range())
        return "".join(_labelled(textpage, suspects, _grounds(page)))


def _suspects(page: pdfium.PdfPage) -> dict[int, _Suspect]:
    found = {}
    for order, (item, _) in enumerate(_items(page)):
        if pdfium_c.FPDFPageObj_GetType(item) != pdfium_c.FPDF_PAGEOBJ_TEXT:
            continue
        mode = pdfium_c.FPDFTextObj_GetTextRenderMode(item)
        ink = _colour(pdfium_c.FPDFPageObj_GetFillColor, item) if mode in _FILLED else None
        if mode in _NO_INK or (ink is not None and ink[3] == 0):
            found[_address(item)] = _Suspect(order, "hidden")
        elif ink is not None and ink[:3] == _WHITE:
            found[_address(item)] = _Suspect(order, "white text")
    return found


def _labelled(
    textpage: pdfium.PdfTextPage, suspects: dict[int, _Suspect], grounds: list[_Ground]
) -> Iterator[str]:
    """Yield the text in stretches of one label; the library gives each as it gives the whole."""
    count = textpage.count_chars()
    start, label = 0, None
    for at in range(count):
        now = _label(textpage, at, suspects, grounds)
        if now != label and now != "":  # "" is a space or line end the library put in
            yield _stretch(textpage.get_text_range(start, at - start), label)
            start, label = at, now
    yield _stretch(textpage.get_text_range(start, count - start), label)


def _label(
    textpage: pdfium.PdfTextPage, at: int, suspects: dict[int, _Suspect], grounds: list[_Ground]
) -> str | None:
    item = pdfium_c.FPDFText_GetTextObject(textpage, at)
    if not item:
        return ""
    suspect = suspects.get(_address(item))
    if suspect is None or (suspect.label != "hidden" and len(grounds) > _MAX_GROUNDS):
        return None
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium_c.FPDFText_GetCharBox(textpage, at, left, right, bottom, top)
    x, y = (left.value + right.value) / 2, (bottom.value + top.value) / 2
    for ground in grounds:
        relevant = ground.is_picture if suspect.label == "hidden" else ground.order < suspect.order
        box = ground.box
        if relevant and box.left <= x <= box.right and box.bottom <= y <= box.top:
            return None
    return suspect.label


def _stretch(text: str, label: str | None) -> str:
    if label is None:
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(_marked(line, label) for line in lines)


def _marked(line: str, label: str) -> str:
    words = line.strip(" ")
    return line.replace(words, f"[{label}: {words}]", 1) if words else line


def _grounds(page: pdfium.PdfPage) -> list[_Ground]:
    """Return what is drawn besides text; on a page with too much of it only one more is looked at.

    Pictures are never left out: text without ink is judged by them alone.
    """
    found: list[_Ground] = []
    for order, (item, matrix) in enumerate(_items(page)):
        kind = pdfium_c.FPDFPageObj_GetType(item)
        is_picture = kind in _PICTURES
        room = len(found) <= _MAX_GROUNDS
        if is_picture or (room and kind == pdfium_c.FPDF_PAGEOBJ_PATH and _has_ink(item)):
            found.append(_Ground(order, _box(item, matrix), is_picture))
    return found


def _has_ink(path: object) -> bool:
    """Whether a path fills a ground with something else than white."""
    fills, strokes = ctypes.c_int(), ctypes.c_int()
    if not pdfium_c.FPDFPath_GetDrawMode(path, fills, strokes):
        return True
    if fills.value and not _is_blank(_colour(pdfium_c.FPDFPageObj_GetFillColor, path)):
        return True
    width = ctypes.c_float()
    broad = pdfium_c.FPDFPageObj_GetStrokeWidth(path, width) and width.value >= _BROAD_STROKE
    has_line = bool(strokes.value and broad)
    return has_line and not _is_blank(_colour(pdfium_c.FPDFPageObj_GetStrokeColor, path))


def _is_blank(ink: tuple[int, ...] | None) -> bool:
    """Whether nothing shows of a colour on white; a pattern is not known and shows."""
    return ink is not None and (ink[3] == 0 or ink[:3] == _WHITE)


def _colour(ask: object, item: object) -> tuple[int, ...] | None:
    assert callable(ask)
    parts = [ctypes.c_uint() for _ in range(4)]
    return tuple(part.value for part in parts) if ask(item, *parts) else None


# --- the drawings of a page --------------------------------------------------------------------


def _items(page: pdfium.PdfPage) -> Iterator[_Placed]:
    """Yield every drawing in order, with the matrix of the drawing it stands in."""
    for at in range(pdfium_c.FPDFPage_CountObjects(page)):
        yield from _with_inner(pdfium_c.FPDFPage_GetObject(page, at), None, 0)


def _with_inner(item: object, matrix: _Matrix | None, depth: int) -> Iterator[_Placed]:
    if not item:
        return
    yield item, matrix
    if pdfium_c.FPDFPageObj_GetType(item) != pdfium_c.FPDF_PAGEOBJ_FORM or depth >= _MAX_DEPTH:
        return
    own = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(item, own)
    inner = _times((own.a, own.b, own.c, own.d, own.e, own.f), matrix)
    for at in range(pdfium_c.FPDFFormObj_CountObjects(item)):
        yield from _with_inner(pdfium_c.FPDFFormObj_GetObject(item, at), inner, depth + 1)


def _times(one: _Matrix, then: _Matrix | None) -> _Matrix:
    if then is None:
        return one
    a, b, c, d, e, f = one
    g, h, i, j, k, m = then
    return (
        *(a * g + b * i, a * h + b * j),
        *(c * g + d * i, c * h + d * j),
        *(e * g + f * i + k, e * h + f * j + m),
    )


def _box(item: object, matrix: _Matrix | None) -> _Box:
    """Return where a drawing stands on the page."""
    sides = [ctypes.c_float() for _ in range(4)]
    pdfium_c.FPDFPageObj_GetBounds(item, *sides)
    box = _Box(*(side.value for side in sides))
    if matrix is None:
        return box
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (box.left, box.right) for y in (box.bottom, box.top)]
    xs = [a * x + c * y + e for x, y in corners]
    ys = [b * x + d * y + f for x, y in corners]
    return _Box(min(xs), min(ys), max(xs), max(ys))


def _address(item: object) -> int:
    return ctypes.cast(item, ctypes.c_void_p).value or 0  # type: ignore[arg-type]  # a handle
