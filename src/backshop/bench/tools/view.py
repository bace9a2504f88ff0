"""`view_page`: a part of a file as a picture, for agents that can see (W26)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from backshop.base.media.image import PNG, Image
from backshop.formats import Kind, PageView, Source, fail, parse_place
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import described
from .workspace import Workspace, answered, noted

VIEW = "view_page"
_PLACES = ("page 3", "slide 2", "Sheet1!A1:F20")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPage:
    """Arguments of view_page."""

    path: str
    place: str | None = field(
        default=None, metadata=described("page 3, slide 2 (from 1), Plan!A1:F20")
    )
    version: str | None = None


def _view(params: ViewPage, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)
    found: list[PageView] = []

    def work() -> dict[str, Any]:
        source = room.source(params.path, params.version)
        left = room.require_sight()
        view = _viewed(room, source, params.place)
        found.append(view)
        path, warnings = room.path(params.path)
        more = {} if left is None else {"pictures_left": left}
        return noted({"path": path, **view.facts, **more}, params.path, warnings)

    result = answered(work)
    return replace(result, image=Image(PNG, found[0].image)) if result.ok else result


def _viewed(room: Workspace, source: Source, text: str | None) -> PageView:
    """Return the part of a file that a place names, as comments spell places (F34)."""
    formats = room.bench.formats
    if text is None or not text.strip():
        return formats.view_page(source)
    kind = formats.classify(source).kind
    if kind is not Kind.XLSX and text.strip().isdecimal():
        return formats.view_page(source, int(text))
    place = parse_place(text, kind)
    page = place.page if place.slide_index is None else place.slide_index + 1
    if page is None and place.sheet is None and place.range is None:
        raise fail("bad_selector", f"{text[:40]!r} is no page", hints=_PLACES)
    return formats.view_page(source, page, place.sheet, place.range)


VIEW_PAGE = Tool(
    VIEW,
    "Show a page, slide, sheet range or image as a picture.",
    ViewPage,
    _view,
    effects="read",
)
