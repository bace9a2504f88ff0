"""`view_page`: a part of a file as a picture, for agents that can see (W26)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from backshop.base.media.image import PNG, Image
from backshop.formats import (
    FormatError,
    Formats,
    Kind,
    PageView,
    Source,
    column_name,
    fail,
    parse_place,
)
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import described
from .workspace import Workspace, answered, noted

VIEW = "view_page"
_PLACES = ("page 3", "slide 2", "Sheet1!A1:F20")
_PARAGRAPH = re.compile(r"paragraph ([0-9]+)")
_LINES = re.compile(r"\$?([A-Za-z]{1,3}|[0-9]{1,7}):\$?([A-Za-z]{1,3}|[0-9]{1,7})")


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
    try:
        return _spelled(formats, source, kind, text)
    except FormatError as error:
        if kind is not Kind.XLSX or error.reason not in ("bad_selector", "unknown_sheet"):
            raise
        sheets = cast("list[dict[str, Any]]", formats.get_map(source)["sheets"])
        cells = _named(sheets, text.strip())
        if cells is not None:
            return formats.view_page(source, None, *cells)
        if error.reason == "unknown_sheet":
            raise
        hints = [f"{_quoted(str(one['name']))}!A1:F20" for one in sheets]
        raise fail("bad_selector", str(error), hints=hints) from None


def _spelled(formats: Formats, source: Source, kind: Kind, text: str) -> PageView:
    if kind is not Kind.XLSX and text.strip().isdecimal():
        return formats.view_page(source, int(text))
    place = parse_place(text, kind)
    page = place.page if place.slide_index is None else place.slide_index + 1
    if page is None and place.paragraph is not None and kind in (Kind.DOCX, Kind.ODT):
        found = _part_with(formats, source, place.paragraph)
        if found is not None:
            return found
    if page is None and place.sheet is None and place.range is None:
        raise fail("bad_selector", f"{text[:40]!r} is no page", hints=_PLACES)
    return formats.view_page(source, page, place.sheet, place.range)


def _part_with(formats: Formats, source: Source, paragraph: int) -> PageView | None:
    """Return the part of a document in which a paragraph stands; None where that is not known."""
    count = formats.get_map(source).get("paragraph_count")
    if not isinstance(count, int) or paragraph >= count:
        return None
    found = formats.view_page(source, 1)
    first, last = 1, cast("int", found.facts["page_count"])
    while first < last:
        middle = (first + last + 1) // 2
        view = formats.view_page(source, middle)
        places = cast("list[dict[str, str]]", view.facts["places"])
        begins = next((_PARAGRAPH.match(one["place"]) for one in places), None)
        if begins is None:
            return None
        if int(begins[1]) <= paragraph:
            first, found = middle, view
        else:
            last = middle - 1
    return found


def _named(sheets: Sequence[Mapping[str, Any]], text: str) -> tuple[str, str] | None:
    """Return the cells of what maps and effects call by a name: a chart, a picture, whole lines."""
    found = []
    for sheet in sheets:
        name = str(sheet["name"])
        heads = (f"{name}!", "'" + name.replace("'", "''") + "'!")
        rest = next((text[len(one) :] for one in heads if text.startswith(one)), text)
        cells = _below(sheet, rest)
        if cells is not None:
            found.append((name, cells))
    return found[0] if len(found) == 1 else None


def _below(sheet: Mapping[str, Any], text: str) -> str | None:
    for drawn in (*(sheet["charts"] or ()), *(sheet["images"] or ())):
        if drawn["name"] == text and drawn["at"]:
            return str(drawn["at"])
    lines = _LINES.fullmatch(text)
    used = sheet["used_range"]
    if lines is None or used is None or lines[1].isdigit() != lines[2].isdigit():
        return None
    if lines[1].isdigit():
        return f"A{lines[1]}:{column_name(used['max_col'])}{lines[2]}"
    return f"{lines[1]}1:{lines[2]}{used['max_row']}"


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"\w[\w.-]*", name) else "'" + name.replace("'", "''") + "'"


VIEW_PAGE = Tool(
    VIEW,
    "Show a page, slide, sheet range or image as a picture.",
    ViewPage,
    _view,
    effects="read",
)
