"""Which part of a file is shown to who takes pictures, and who draws it (F43.70 to F43.74)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import fail
from ..protocol import Kind, Source
from .rendering import PageView, Renderer

BACKSHOP, LIBREOFFICE = "Backshop", "LibreOffice"
_DOCUMENTS = frozenset({Kind.DOCX, Kind.ODT})
_DRAWN_BY = {
    **dict.fromkeys((*_DOCUMENTS, Kind.PPTX), BACKSHOP),
    Kind.PDF: "pdfium",
    Kind.IMAGE: "Pillow",
}


def view(
    renderer: Renderer,
    kind: Kind,
    source: Source,
    page: int | None,
    sheet: str | None,
    range: str | None,
) -> PageView:
    """Return a part of a file as a picture; pages count from 1, the first one is meant without.

    Raises:
        FormatError: `bad_range`, `bad_selector`, `unsupported_format`, and those of reads.
    """
    given = {"page": page, "sheet": sheet, "range": range}
    if kind is Kind.XLSX:
        _require(kind, given, ("sheet", "range"))
        return _told(renderer.view(source, "view_sheet", sheet, range), kind, BACKSHOP)
    if kind not in _DRAWN_BY:
        raise fail("unsupported_format", f"{source.name!r} has no pages", hints=("read_file",))
    _require(kind, given, ("page",))
    number = 1 if page is None else page
    if kind in _DOCUMENTS:
        found = renderer.office_view(source, number)
        if found is not None:
            return _told(found, kind, LIBREOFFICE)
    return _told(renderer.view(source, "view_page", number), kind, _DRAWN_BY[kind])


def _require(kind: Kind, given: Mapping[str, object], allowed: tuple[str, ...]) -> None:
    """Refuse what has no meaning for a kind (F5.6)."""
    wrong = [name for name, value in given.items() if value is not None and name not in allowed]
    if wrong:
        message = f"{', '.join(wrong)} has no meaning for {kind.value}"
        raise fail("bad_selector", message, hints=allowed)


def _told(found: PageView, kind: Kind, drawn_by: str) -> PageView:
    return replace(found, facts={"kind": kind.value, "drawn_by": drawn_by, **found.facts})
