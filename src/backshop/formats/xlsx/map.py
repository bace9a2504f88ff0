"""The map of a workbook: its sheets, their filled ranges, islands and what else is on them (F8)."""

from __future__ import annotations

from backshop.base import limits
from backshop.formats.package.package import Package
from backshop.formats.protocol import Json, JsonObject, Map, Source
from backshop.formats.warning import Warnings
from backshop.formats.window import chunk_count, chunk_list, chunking

from .annotation.listing import ATTACHED_LISTED, told_links, told_notes
from .book.extent import opened, used_area
from .book.frame import MERGES_LISTED, Frame
from .book.hidden_line import hidden_columns, hidden_rows, spans
from .book.opening import open_book
from .book.origin import Origin
from .book.protection import Protection, structure_protection
from .book.sheet_xml import SheetXml
from .book.survey import Island, Survey, islands, survey_of
from .book.workbook import Book, DefinedName, Sheet
from .drawing.listing import listed
from .syntax.address import Area, column_name

_SLICERS = ("slicer", "timeline")
_PRINTED = ("printOptions", "pageSetup", "headerFooter", "rowBreaks", "colBreaks")
_HIDDEN_LISTED = 20  # runs of hidden rows, and of columns
_UNKNOWN = (
    *("has_charts", "charts", "has_conditional_formatting", "has_data_validation", "has_images"),
    *("images", "has_pivot_tables", "has_slicers", "has_sparklines", "has_print_setup"),
    *("has_comments", "tables", "frozen"),
)


def get_map(source: Source) -> Map:
    """Return the full map of a workbook (F8.2)."""
    book = open_book(source)
    warnings = Warnings()
    shortened: dict[str, Json] = {}
    sheets = [_sheet(source.sha256, book, sheet, warnings, shortened) for sheet in book.sheets]
    names: list[Json] = [_name(book, item) for item in book.names if not item.hidden]
    data: dict[str, Json] = {
        "date_system": 1904 if book.date_1904 else 1900,
        "sheets": sheets,
        "defined_names": names,
    }
    structure = structure_protection(book)
    if structure is not None:
        data["structure_protected"] = structure
    if shortened:
        data["shortened"] = shortened
    origin = book.origin
    if origin is None:
        return Map(
            format="xlsx", data=data, warnings=warnings.all(), security=security(book.package)
        )
    data["not_read"] = origin.not_read
    return Map(
        format=origin.format, data=data, warnings=warnings.all(), security=dict(origin.security)
    )


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


def shown_sheets(source: Source) -> tuple[bool, ...]:
    """Return of each sheet, in the order of the tabs, whether it is shown."""
    return tuple(sheet.state == "visible" for sheet in open_book(source).sheets)


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
    charts, images, has_images = listed(book, sheet, xml, frame)
    tables = book.tables(sheet)
    used = used_area(book, xml, found)
    made: dict[str, Json] = {
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
        "has_images": has_images,
        "images": images,
        "has_pivot_tables": bool(book.sheet_rels(sheet, "pivotTable")),
        "has_slicers": any(book.sheet_rels(sheet, kind) for kind in _SLICERS),
        "has_sparklines": frame is not None and frame.has("sparklineGroup"),
        "has_print_setup": frame is not None and any(map(frame.has, _PRINTED)),
        "has_comments": bool(
            book.sheet_rels(sheet, "comments") or book.sheet_rels(sheet, "threadedComment")
        ),
        **_attached(book, sheet, frame, shortened),
        "tables": [{"name": table.name, "range": str(table.area)} for table in tables],
        "frozen": frame.frozen if frame else None,
        **_hidden(sheet, xml, shortened),
        "protected": _protection(book, xml, frame),
    }
    if book.origin is None:
        return made
    is_protected = frame is not None and frame.protected
    return made | _of_origin(book.origin, sheet, is_protected=is_protected)


def _name(book: Book, item: DefinedName) -> dict[str, Json]:
    """Return a name; one of a sheet with that, one that has a comment with it."""
    told: dict[str, Json] = {"name": item.name, "refers_to": item.refers_to}
    if item.scope is not None and item.scope < len(book.sheets):
        told["scope"] = book.sheets[item.scope].name
    if item.comment:
        told["comment"] = item.comment
    return told


def _attached(
    book: Book, sheet: Sheet, frame: Frame | None, shortened: dict[str, Json]
) -> dict[str, Json]:
    """Return the first notes and links of a sheet; keys are there where there are some (F8.14)."""
    root = frame.root if frame else None
    lists: dict[str, list[dict[str, Json]]] = {
        "notes": [one.to_json() for one in told_notes(book, sheet)],
        "links": [one.to_json() for one in told_links(book, sheet, root)],
    }
    for key, told in lists.items():
        if len(told) > ATTACHED_LISTED:
            kept: dict[str, Json] = {"kept": ATTACHED_LISTED, "total": len(told)}
            shortened[f"sheets[{sheet.index}].{key}"] = kept
    return {key: [*told[:ATTACHED_LISTED]] for key, told in lists.items() if told}


def _hidden(sheet: Sheet, xml: SheetXml | None, shortened: dict[str, Json]) -> dict[str, Json]:
    """Return the rows and columns that nobody sees, where there are any (F8.15)."""
    if xml is None:
        return {}
    listed = {
        "hidden_rows": spans(hidden_rows(xml)),
        "hidden_columns": spans(hidden_columns(xml.frame()), column_name),
    }
    told: dict[str, Json] = {}
    for name, runs in listed.items():
        if runs:
            told[name] = [run for run, _ in runs[:_HIDDEN_LISTED]]
        if len(runs) > _HIDDEN_LISTED:
            key = f"sheets[{sheet.index}].{name}"
            shortened[key] = {"kept": _HIDDEN_LISTED, "total": len(runs)}
    return told


def _protection(book: Book, xml: SheetXml | None, frame: Frame | None) -> Json:
    """Return what is locked and allowed on a protected sheet, false of any other (F40.16)."""
    if xml is None or frame is None or not frame.protected:
        return False
    return Protection(book, xml, frame).to_json()


def _of_origin(origin: Origin, sheet: Sheet, *, is_protected: bool) -> dict[str, Json]:
    """Return what a map says of a workbook of another format: null is what nobody looked for."""
    count = origin.formulas[sheet.index]
    return {
        **dict.fromkeys(_UNKNOWN),
        "protected": is_protected,
        "has_formulas": count > 0,
        "formula_count": count,
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
