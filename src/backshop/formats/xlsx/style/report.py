"""Reports the styles and copyable assets of a workbook (F21.1, F21.4)."""

from __future__ import annotations

from backshop.formats.protocol import Json, JsonObject, Source
from backshop.formats.write.asset_request import asset_ids

from ..book import number_format
from ..book.frame import Frame
from ..book.opening import open_book
from ..book.workbook import Book, Sheet, child, children, local
from ..syntax.address import column_name
from .look import Looks
from .usage import Use, usage

COPYABLE = ("cell_style", "column_widths", "conditional_formats", "named_style", "number_format")
MAX_LISTED = 100  # looks, rules, names


def get_styles(source: Source, sheet: str | None = None) -> JsonObject:
    """Return each look that cells of a workbook, or of one sheet, have, and where they have it."""
    book = open_book(source)
    looks = Looks(book)
    sheets = [book.sheet(sheet)] if sheet is not None else list(book.sheets)
    used = usage(book, looks, sheets)
    uses = list(used.looks.values())
    rules = [entry for item in sheets for entry in _conditional(book, item)]
    names = [item for item in book.names if not item.hidden]
    result: dict[str, Json] = {
        "format": "xlsx",
        "sheets": [item.name for item in book.sheets],
        "cell_styles": [_told(looks, one) for one in uses[:MAX_LISTED]],
        "named_styles": _named(looks, {_style_name(looks, one.style) for one in uses}),
        "number_formats": _formats({book.formats.of(one.style)[0] for one in uses}),
        "theme_colors": [f"#{color}" for color in looks.theme],
        "column_widths": {item.name: widths for item in sheets if (widths := _widths(book, item))},
        "conditional_formats": rules[:MAX_LISTED],
        "defined_names": [
            {"name": item.name, "refers_to": item.refers_to} for item in names[:MAX_LISTED]
        ],
        "supported_copy_asset_types": list(COPYABLE),
    }
    counts = (
        ("cell_styles", len(uses)),
        ("conditional_formats", len(rules)),
        ("defined_names", len(names)),
    )
    cut = {name: count for name, count in counts if count > MAX_LISTED}
    result |= {"totals": cut} if cut else {}
    return result | ({"seen_to": used.seen_to} if used.seen_to else {})


def known_assets(source: Source) -> list[str]:
    """Return the ids of all styles and formats a workbook has, in use or not (F21.4)."""
    book = open_book(source)
    looks = Looks(book)
    named = {item.get("name") for item in looks.table("cellStyles")}
    codes = {book.formats.of(index)[0] for index in range(len(looks.xfs))}
    codes |= {
        code for number, code in book.formats.codes.items() if number >= number_format.CUSTOM_FROM
    }
    kinds = ("column_widths", "conditional_formats")
    on_sheets = [f"{kind}:{sheet.name}" for sheet in book.sheets for kind in kinds]
    styles = [*asset_ids({"found": _named(looks, named)}, "found")]
    return [*styles, *asset_ids({"found": _formats(codes)}, "found"), *on_sheets]


def _told(looks: Looks, one: Use) -> dict[str, Json]:
    said: dict[str, Json] = {
        "asset_id": f"cell_style:{one.first}",
        "style": looks.describe(one.style),
        "named_style": _style_name(looks, one.style),
        "count": one.count,
        "cells": one.ranges,
    }
    return said | ({"more_ranges": one.more_ranges} if one.more_ranges else {})


def _named(looks: Looks, wanted: set[str | None]) -> list[Json]:
    names = {
        item.get("name") or "": item.get("builtinId") is not None
        for item in looks.table("cellStyles")
        if item.get("name") in wanted
    }
    return [
        {"asset_id": f"named_style:{name}", "type": "named_style", "name": name, "builtin": builtin}
        for name, builtin in sorted(names.items())
    ]


def _formats(codes: set[str]) -> list[Json]:
    return [
        {"asset_id": f"number_format:{code}", "type": "number_format", "code": code}
        for code in sorted(codes)
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


def _style_name(looks: Looks, index: int) -> str | None:
    if index >= len(looks.xfs):
        return None
    base = looks.xfs[index].get("xfId") or "0"
    for item in looks.table("cellStyles"):
        if local(item) == "cellStyle" and item.get("xfId") == base:
            return item.get("name")
    return None
