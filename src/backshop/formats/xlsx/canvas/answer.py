"""What is told of a drawn sheet: its picture, its lines, what stands where (F43.15)."""

from __future__ import annotations

from backshop.base import limits
from backshop.formats.canvas.raster import png
from backshop.formats.canvas.svg import svg
from backshop.formats.protocol import JsonObject, Source

from .sheet_page import SheetPage, Window, sheet_page


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


def _told(page: SheetPage, window: Window) -> JsonObject:
    canvas, area = page.canvas, page.area
    return {
        "sheets": page.sheets,
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
        "frames": [
            {
                "kind": frame.kind,
                "place": frame.place,
                "label": frame.label,
                "x": round(frame.x, 2),
                "y": round(frame.y, 2),
                "width": round(frame.width, 2),
                "height": round(frame.height, 2),
            }
            for frame in canvas.frames
        ],
        "missing": list(canvas.missing),
    }
