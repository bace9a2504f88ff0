"""The map of a workbook: its sheets, their filled ranges, islands and what else is on them (F8)."""

from __future__ import annotations

from backshop.base import limits
from backshop.formats.package.package import Package
from backshop.formats.protocol import Json, JsonObject, Map, Source
from backshop.formats.warning import Warnings
from backshop.formats.window import chunk_count, chunk_list, chunking

from .book.extent import opened
from .book.frame import MERGES_LISTED, Frame, drawings
from .book.survey import Island, Survey, islands, survey_of
from .book.workbook import Book, Sheet
from .syntax.address import Area


def get_map(source: Source) -> Map:
    """Return the full map of a workbook (F8.2)."""
    package = Package.open(source)
    book = Book(package)
    warnings = Warnings()
    shortened: dict[str, Json] = {}
    sheets = [_sheet(source.sha256, book, sheet, warnings, shortened) for sheet in book.sheets]
    names: list[Json] = [
        {"name": item.name, "refers_to": item.refers_to} for item in book.names if not item.hidden
    ]
    data: dict[str, Json] = {
        "date_system": 1904 if book.date_1904 else 1900,
        "sheets": sheets,
        "defined_names": names,
    }
    if shortened:
        data["shortened"] = shortened
    return Map(format="xlsx", data=data, warnings=warnings.all(), security=security(package))


def get_info(source: Source) -> JsonObject:
    """Return the sheets with their sizes (F8.12)."""
    looked_at = opened(source)
    sheets: list[Json] = []
    for sheet in looked_at.book.sheets:
        used = looked_at.extent(sheet).used
        sheets.append(
            {
                "name": sheet.name,
                "row_count": used.height if used else 0,
                "col_count": used.width if used else 0,
                "state": sheet.state,
            }
        )
    return {"sheets": sheets}


def security(package: Package) -> dict[str, Json]:
    """Return what in a package could reach outside; keys present only when true (F4.4)."""
    names = [name.lower() for name in package.names]
    found: dict[str, Json] = {
        "macros": package.has_macros or any("macrosheets/" in name for name in names),
        "external_links": any(
            "externallinks/" in name or name.endswith("connections.xml") for name in names
        ),
        "embedded_objects": any(
            "embeddings/" in name or "activex/" in name or "ctrlprops/" in name for name in names
        ),
    }
    return {key: value for key, value in found.items() if value}


def _sheet(
    sha256: str, book: Book, sheet: Sheet, warnings: Warnings, shortened: dict[str, Json]
) -> dict[str, Json]:
    xml = book.xml(sheet)
    if xml is not None:
        xml.check()
    found = survey_of(sha256, book, xml)
    blocks, total = islands(book, xml, found)
    if total > len(blocks):
        shortened[f"sheets[{sheet.index}].islands"] = {"kept": len(blocks), "total": total}
    if found.partial_at is not None:
        warnings.add("map_partial", where=f"{sheet.name}!{found.partial_at}")
    frame = Frame.of(xml) if xml else None
    merges = frame.merges if frame else []
    if len(merges) > MERGES_LISTED:
        key = f"sheets[{sheet.index}].merged_ranges"
        shortened[key] = {"kept": MERGES_LISTED, "total": len(merges)}
    charts, images = drawings(book, sheet)
    tables = book.tables(sheet)
    used = found.used
    return {
        "name": sheet.name,
        "index": sheet.index,
        "state": sheet.state,
        "kind": sheet.kind,
        "used_range": _used(used),
        "row_count": used.height if used else 0,
        "col_count": used.width if used else 0,
        "islands": [_island(block) for block in blocks],
        **_chunks(used),
        "has_charts": bool(charts),
        "charts": charts,
        "has_merged_cells": bool(merges),
        "merged_ranges": [str(area) for area in merges[:MERGES_LISTED]],
        "has_conditional_formatting": frame is not None and frame.has("conditionalFormatting"),
        "has_data_validation": frame is not None and frame.has("dataValidation"),
        **_formulas(found),
        "has_images": images,
        "has_pivot_tables": bool(book.sheet_rels(sheet, "pivotTable")),
        "has_comments": bool(
            book.sheet_rels(sheet, "comments") or book.sheet_rels(sheet, "threadedComment")
        ),
        "tables": [{"name": table.name, "range": str(table.area)} for table in tables],
        "frozen": frame.frozen if frame else None,
        "protected": frame.protected if frame else False,
    }


def _used(used: Area | None) -> Json:
    if used is None:
        return None
    return {
        "min_row": used.row1,
        "max_row": used.row2,
        "min_col": used.col1,
        "max_col": used.col2,
    }


def _formulas(found: Survey) -> dict[str, Json]:
    return {
        "has_formulas": found.formulas > 0,
        "formula_count": found.formulas,
        "uncached_formula_count": found.uncached,
    }


def _island(block: Island) -> dict[str, Json]:
    return {
        "range": str(block.area),
        "label": block.label,
        "row_count": block.area.height,
        "col_count": block.area.width,
        "header_row": block.header_row,
        "headers": list(block.headers) if block.headers else None,
    }


def chunk_areas(used: Area | None) -> list[Area]:
    """Return the chunks of a sheet: 50 rows each over all used columns (F8.7)."""
    if used is None:
        return []
    size = limits.XLSX_CHUNK_ROWS
    return [
        Area(row, used.col1, min(row + size - 1, used.row2), used.col2)
        for row in range(used.row1, used.row2 + 1, size)
    ]


def _chunks(used: Area | None) -> dict[str, Json]:
    size = limits.XLSX_CHUNK_ROWS
    count = chunk_count(used.height, size) if used else 0
    areas = chunk_areas(used)
    return {
        "chunking": chunking("rows", size, count, used.row1 if used else 1),
        "chunks": chunk_list([{"range": area.span, "rows": area.height} for area in areas]),
    }
