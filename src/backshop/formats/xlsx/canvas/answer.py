"""What is told of a drawn sheet: its picture, its lines, what stands where (F43.15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from backshop.base import limits
from backshop.base.place import Place
from backshop.formats.canvas.raster import png
from backshop.formats.canvas.svg import svg
from backshop.formats.canvas.viewed import shown
from backshop.formats.errors import fail
from backshop.formats.place import spelled
from backshop.formats.protocol import JsonObject, Source
from backshop.formats.warning import Warnings

from ..book.extent import opened
from ..book.hidden_line import hidden_columns, hidden_rows, turned_words
from ..read import choose_sheet
from ..syntax.address import Area, parse_area
from .sheet_page import SheetPage, Window, sheet_page

_ROWS_AT_FIRST, _COLUMNS_AT_FIRST = 90, 30  # more of usual size are not readable in one picture


def draw_sheet(
    source: Source,
    sheet: str | None = None,
    row_start: int = 0,
    col_start: int = 0,
    row_count: int = limits.GRID_MAX_ROWS,
    col_count: int = limits.GRID_MAX_COLUMNS,
) -> JsonObject:
    """Return a window of a sheet as SVG, rows and columns counted from 0."""
    window = Window(
        row_start=row_start, col_start=col_start, row_count=row_count, col_count=col_count
    )
    page = sheet_page(source, sheet, window)
    return {**_told(page, window), "svg": svg(page.canvas)}


def draw_sheet_png(
    source: Source,
    sheet: str | None = None,
    row_start: int = 0,
    col_start: int = 0,
    row_count: int = limits.GRID_MAX_ROWS,
    col_count: int = limits.GRID_MAX_COLUMNS,
    scale: float = 1.0,
) -> tuple[bytes, int, bool]:
    """Return a window of a sheet as PNG, the number of sheets, and whether it was made smaller."""
    window = Window(
        row_start=row_start, col_start=col_start, row_count=row_count, col_count=col_count
    )
    page = sheet_page(source, sheet, window)
    longest = max(page.canvas.width, page.canvas.height, 1.0)
    fitting = min(scale, limits.PREVIEW_MAX_SIDE_PX / longest)
    return png(page.canvas, fitting), len(page.sheets), fitting < scale


def view_sheet(source: Source, sheet: str | None, range: str | None) -> tuple[bytes, JsonObject]:
    """Return cells of a sheet as a picture for who takes pictures (F43.72).

    As many rows and columns, from the first one that was asked for, as can be read in it.
    """
    window = _first(range)
    whole = page = sheet_page(source, sheet, window)
    fitting = _fitting(page, window)
    if fitting != window:
        page = sheet_page(source, page.sheet, fitting)
    image, facts = shown(page.canvas)
    cells = None if page.area is None else str(page.area)
    place = spelled(Place(sheet=page.sheet, range=cells)).removesuffix("!")
    rows, columns = page.used
    used = str(Area(1, 1, rows, columns)) if rows and columns else None
    about: JsonObject = {"shown": place, "sheet": page.sheet, "range": cells, "used_range": used}
    told = facts["missing"]
    assert isinstance(told, list)
    missing = [*_hidden(source, page), *told, *_cut(range, whole, page, window)]
    return image, {**about, "sheets": list(page.sheets), **facts, "missing": missing}


def _hidden(source: Source, page: SheetPage) -> list[str]:
    """Say which lines among those shown nobody sees: their numbers are not in the picture."""
    book = opened(source).book
    xml = book.xml(choose_sheet(book, page.sheet, Warnings()))
    if xml is None or page.area is None:
        return []
    area = page.area
    rows = dict.fromkeys((one for one in hidden_rows(xml) if area.row1 <= one <= area.row2), True)
    columns = (one for one in hidden_columns(xml.frame()) if area.col1 <= one <= area.col2)
    return [f"{one} in the file" for one in turned_words(rows, dict.fromkeys(columns, True))]


def _cut(asked: str | None, whole: SheetPage, page: SheetPage, window: Window) -> Iterator[str]:
    """Say what of a range that was asked for is not in the picture (S6.24).

    `whole` was drawn without minding whether it can be read: it ends with what the window has, so
    that nothing is left to ask for where all of the range was in the window.
    """
    wanted = parse_area(asked) if asked else None
    if wanted is None or page.area is None or wanted.clip(page.area) == wanted:
        return
    is_all = (wanted.height, wanted.width) == (window.row_count, window.col_count)
    rest = "ask for the rest by its own range"
    if is_all and whole.area == page.area:
        rest = "the rest is empty"
    yield f"only {page.area} of {wanted} is shown: {rest}"


def _first(text: str | None) -> Window:
    """Return the window a range asks for, not more than is drawn at once."""
    if text is None:
        return Window(row_count=_ROWS_AT_FIRST, col_count=_COLUMNS_AT_FIRST)
    area = parse_area(text)
    if area is None:
        raise fail("bad_range", "this is no range of a sheet", detail=text[:40])
    return Window(
        row_start=area.row1 - 1,
        col_start=area.col1 - 1,
        row_count=min(area.height, limits.GRID_MAX_ROWS),
        col_count=min(area.width, limits.GRID_MAX_COLUMNS),
    )


def _fitting(page: SheetPage, window: Window) -> Window:
    """Return the part of a window that can still be read when it is made small."""
    return replace(
        window,
        row_count=min(window.row_count, _count(page.rows) or window.row_count),
        col_count=min(window.col_count, _count(page.columns) or window.col_count),
    )


def _count(edges: tuple[float, ...]) -> int:
    """Return how many lines end in the picture; one does in any case, none where there is none."""
    inside = sum(edge <= limits.VIEWED_SHEET_PX for edge in edges[1:])
    return max(inside, 1) if len(edges) > 1 else 0


def _told(page: SheetPage, window: Window) -> JsonObject:
    canvas, area = page.canvas, page.area
    return {
        "sheets": page.sheets,
        "hidden_sheets": page.hidden,
        "sheet": page.sheet,
        "width": canvas.width,
        "height": canvas.height,
        "row_start": window.row_start,
        "col_start": window.col_start,
        "row_count": page.used[0],
        "col_count": page.used[1],
        "range": None if area is None else str(area),
        "columns": [round(x, 2) for x in page.columns],
        "rows": [round(y, 2) for y in page.rows],
        "frozen": {"rows": page.frozen[0], "columns": page.frozen[1]},
        "frames": [
            {
                "kind": frame.kind,
                "place": frame.place,
                "label": frame.label,
                "title": frame.title,
                "shows": frame.shows,
                "x": round(frame.x, 2),
                "y": round(frame.y, 2),
                "width": round(frame.width, 2),
                "height": round(frame.height, 2),
            }
            for frame in canvas.frames
        ],
        "missing": list(canvas.missing),
    }
