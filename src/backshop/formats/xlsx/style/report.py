"""Reports the styles and copyable assets of a workbook (F21.1, F21.4)."""

from __future__ import annotations

from backshop.formats.package.package import Package
from backshop.formats.protocol import Json, JsonObject, Source

from ..book import number_format
from ..book.frame import Frame
from ..book.workbook import Book, Sheet, child, children, local
from ..syntax.address import cell_name, column_name, compact
from .look import Looks

COPYABLE = ("cell_style", "column_widths", "conditional_formats", "named_style", "number_format")
MAX_CELL_STYLES = 200


def get_styles(source: Source, sheet: str | None = None) -> JsonObject:
    """Return the styles of a workbook; with `sheet` also its cell styles."""
    book = Book(Package.open(source))
    looks = Looks(book)
    chosen = book.sheet(sheet) if sheet is not None else None
    sheets = [chosen] if chosen else list(book.sheets)
    result: dict[str, Json] = {
        "format": "xlsx",
        "sheet_count": len(book.sheets),
        "sheets": [item.name for item in book.sheets],
        "named_styles": _named(looks),
        "number_formats": _formats(book),
        "fonts": [{"index": i, **looks.font(e)} for i, e in enumerate(looks.table("fonts"))],
        "fills": [{"index": i, **looks.fill(e)} for i, e in enumerate(looks.table("fills"))],
        "borders": [{"index": i, **looks.border(e)} for i, e in enumerate(looks.table("borders"))],
        "theme_colors": [f"#{color}" for color in looks.theme],
        "column_widths": {item.name: _widths(book, item) for item in sheets},
        "conditional_formats": [entry for item in sheets for entry in _conditional(book, item)],
        "defined_names": [
            {"name": item.name, "refers_to": item.refers_to}
            for item in book.names
            if not item.hidden
        ],
        "supported_copy_asset_types": list(COPYABLE),
    }
    if chosen:
        result["cell_style_assets"] = _cell_styles(book, looks, chosen)
    return result


def _named(looks: Looks) -> list[Json]:
    names = {
        item.get("name") or "": item.get("builtinId") is not None
        for item in looks.table("cellStyles")
    }
    return [
        {"asset_id": f"named_style:{name}", "type": "named_style", "name": name, "builtin": builtin}
        for name, builtin in sorted(names.items())
    ]


def _formats(book: Book) -> list[Json]:
    used = {book.formats.of(index)[0] for index in range(len(Looks(book).xfs))}
    used |= {
        code for number, code in book.formats.codes.items() if number >= number_format.CUSTOM_FROM
    }
    return [
        {"asset_id": f"number_format:{code}", "type": "number_format", "code": code}
        for code in sorted(used)
    ]


def _widths(book: Book, sheet: Sheet) -> dict[str, Json]:
    xml = book.xml(sheet)
    found: dict[str, Json] = {}
    for item in children(child(xml.frame(), "cols"), "col") if xml else ():
        first, last = int(item.get("min") or 0), int(item.get("max") or 0)
        width = item.get("width")
        if width is None or not first:
            continue
        name = column_name(first) if first == last else f"{column_name(first)}:{column_name(last)}"
        found[name] = float(width)
    return found


def _conditional(book: Book, sheet: Sheet) -> list[Json]:
    xml = book.xml(sheet)
    found: list[Json] = []
    for item in children(Frame.of(xml).root, "conditionalFormatting") if xml else ():
        for rule in children(item, "cfRule"):
            found.append(
                {"sheet": sheet.name, "range": item.get("sqref") or "", "type": rule.get("type")}
            )
    return found


def _cell_styles(book: Book, looks: Looks, sheet: Sheet) -> list[Json]:
    xml = book.xml(sheet)
    cells: dict[int, list[tuple[int, int]]] = {}
    for row in xml.iter_rows() if xml else ():
        for cell in xml.cells(row) if xml else ():
            cells.setdefault(cell.style, []).append((cell.row, cell.col))
    entries: list[Json] = []
    for style, places in sorted(cells.items(), key=lambda item: item[1][0])[:MAX_CELL_STYLES]:
        first = cell_name(*min(places))
        entries.append(
            {
                "asset_id": f"cell_style:{sheet.name}!{first}",
                "type": "cell_style",
                "cells": [str(area) for area in compact(places)],
                "style": looks.describe(style),
                "named_style": _style_name(looks, style),
            }
        )
    return entries


def _style_name(looks: Looks, index: int) -> str | None:
    if index >= len(looks.xfs):
        return None
    base = looks.xfs[index].get("xfId") or "0"
    for item in looks.table("cellStyles"):
        if local(item) == "cellStyle" and item.get("xfId") == base:
            return item.get("name")
    return None
