"""What lines cannot come into or go out of: said with its place, before anything is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from backshop.formats.package.guard import Element

from ..book.array import spread_formulas
from ..book.frame import Frame
from ..book.sheet_xml import RowSpan, SheetXml, attributes
from ..book.workbook import Book, Sheet, Table, child, children, local, rel_id
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name, parse_area
from ..syntax.line_shift import LineShift
from .filter_range import filtered, hides, is_active
from .seat import Seat, owners

_PLACE = re.compile(r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}(?::\$?[A-Za-z]{1,3}\$?[0-9]{1,7})?")
_PLACES = frozenset(("ref", "sqref", "r", "cell", "range", "activeCell", "sourceRef", "cellRange"))
_KNOWN = frozenset(  # elements of a sheet whose places follow
    (
        *("dimension", "selection", "mergeCell", "hyperlink", "cellWatch", "cellSmartTags"),
        *("conditionalFormatting", "dataValidation", "protectedRange", "ignoredError"),
        *("autoFilter", "sortState", "sortCondition", "scenarios", "inputCells", "dataRef"),
        *("webPublishItem", "sparkline", "brk"),
    )
)
_FOLLOWING = frozenset(  # parts that follow, or say nothing of places
    (
        *("worksheet", "workbook", "table", "wsDr", "userShapes", "chartSpace", "comments", "vml"),
        *("ThreadedComments", "singleXmlCells", "pivotTableDefinition", "pivotCacheDefinition"),
        *("formControlPr", "ocx", "connections", "volTypes", "chartsheet", "styleSheet", "sst"),
        *("theme", "calcChain", "externalLink", "pivotCacheRecords", "metadata", "queryTable"),
        *("slicers", "slicerCacheDefinition", "timelines", "timelineCacheDefinition", "Types"),
        *("personList", "MapInfo", "chartStyle", "colorStyle", "Properties", "Relationships"),
    )
)
_LOGGED = frozenset({"revisions", "headers"})


class Obstacle(NamedTuple):
    """Why lines cannot come or go: a reason of F3 and a sentence."""

    reason: str
    said: str


Kinds = Mapping[str, Seat]


def obstacle(book: Book, sheet: Sheet, shift: LineShift, kinds: Kinds) -> Obstacle | None:
    """Return the first thing that would be torn or left wrong."""
    return next(_obstacles(book, sheet, shift, kinds), None)


def _obstacles(book: Book, sheet: Sheet, shift: LineShift, kinds: Kinds) -> Iterator[Obstacle]:
    xml = book.xml(sheet)
    assert xml is not None, "lines are those of a worksheet"
    root = Frame.of(xml).root
    yield from _beyond(book, xml, sheet, shift)
    for said in _torn(book, xml, root, sheet, shift):
        yield Obstacle("op_conflict", said)
    for table in book.tables(sheet):
        for said in _torn_table(book, table, shift, kinds):
            yield Obstacle("op_conflict", said)
    for said in _torn_pivots(book, sheet, shift, kinds):
        yield Obstacle("op_conflict", said)
    for said in _unknown(book, root, sheet, shift, kinds):
        yield Obstacle("op_conflict", said)


# --- the edge of the sheet ------------------------------------------------------------------------


def _beyond(book: Book, xml: SheetXml, sheet: Sheet, shift: LineShift) -> Iterator[Obstacle]:
    """Find content that would be pushed off the sheet."""
    if shift.by < 0:
        return
    last = shift.most - shift.by  # the last line that has somewhere to go
    words = "the last row" if shift.axis == "row" else "the last column"
    areas = [table.area for table in book.tables(sheet)]
    areas += [area for area in Frame.of(xml).merges if shift.along(area) != (1, shift.most)]
    for area in areas:
        if shift.along(area)[1] > last and shift.moves(area):
            yield Obstacle("bad_range", f"{area} would be pushed beyond {words} of the sheet")
    for cell in _held_beyond(book, xml, shift, last):
        yield Obstacle("bad_range", f"{cell} would be pushed beyond {words} of the sheet")


def _held_beyond(book: Book, xml: SheetXml, shift: LineShift, last: int) -> Iterator[str]:
    """Go through the cells with content behind a line."""
    is_row = shift.axis == "row"
    for row in xml.iter_rows():
        if row.number <= last if is_row else not _may_hold(xml, row, last):
            continue
        for cell in xml.cells(row, 1 if is_row else last + 1, MAX_COL):
            if cell.formula is not None or book.value(cell).kind != "blank":
                yield cell_name(cell.row, cell.col)


def _may_hold(xml: SheetXml, row: RowSpan, last: int) -> bool:
    """Whether the last cell of a row may stand behind a column."""
    at = xml.data.rfind(b"<%sc" % xml.words.prefix, row.inner, row.close)
    if at < 0:
        return False
    said = attributes(xml.data[at : xml.data.index(b">", at)]).get(b"r", b"")
    area = parse_area(said.decode("ascii", "replace"))
    return area is None or area.col2 > last


# --- what cannot be torn --------------------------------------------------------------------------


def _torn(
    book: Book, xml: SheetXml, root: Element, sheet: Sheet, shift: LineShift
) -> Iterator[str]:
    for area, cell in spread_formulas(xml):
        is_table = cell.formula is not None and cell.formula.kind == "dataTable"
        whole = Area(max(1, area.row1 - 1), max(1, area.col1 - 1), area.row2, area.col2)
        kind = "data table" if is_table else "spilled range" if cell.meta else "array formula"
        if shift.cuts(whole if is_table else area):
            yield f"the {kind} {sheet.name}!{area} cannot be changed in part"
        for name in _inputs(xml.data[cell.start : cell.end]) if is_table else ():
            place = parse_area(name)
            if place is not None and shift.area(place) is None and shift.area(area) is not None:
                yield f"the data table {sheet.name}!{area} takes its values from {name}"
    yield from _torn_filter(root, sheet, shift)


def _inputs(cell: bytes) -> list[str]:
    """Return the cells into which a data table puts its values."""
    found = re.search(rb"<(?:[\w.\-]+:)?f\s([^>]*)>", cell)
    said = attributes(found[1]) if found else {}
    return [said[key].decode("ascii", "replace") for key in (b"r1", b"r2") if key in said]


def _torn_filter(root: Element, sheet: Sheet, shift: LineShift) -> Iterator[str]:
    element = child(root, "autoFilter")
    area = filtered(element)
    if area is None or shift.by > 0 or not shift.cuts(area):
        return
    if shift.axis == "row" and shift.line(area.row1) is None and is_active(element):
        yield f"the filter {sheet.name}!{area} hides rows by its first row, which would go"
    for col in _lines_of(shift, area) if shift.axis == "column" else ():
        if hides(element, col):
            yield f"the filter {sheet.name}!{area} hides rows by {_letters(col)}, which would go"


def _lines_of(shift: LineShift, area: Area) -> range:
    first, last = shift.along(area)
    return range(max(first, shift.at), min(last, shift.last) + 1)


def _letters(col: int) -> str:
    return f"column {cell_name(1, col)[:-1]}"


def _torn_table(book: Book, table: Table, shift: LineShift, kinds: Kinds) -> Iterator[str]:
    area, name = table.area, f"the table {table.name} ({table.area})"
    if not shift.resizes(area):
        return
    if shift.axis == "column" and is_queried(book, table):
        yield f"the columns of {name} come from a query"
    if shift.axis == "column" and len(table.columns) != area.width:
        yield f"{name} does not list its columns"
    if shift.by > 0:
        return
    if _loses_slicer(book, table, shift, kinds):
        yield f"{name} has a slicer that would go"
    if shift.area(area) is None:
        return
    if shift.axis == "row":
        if table.header_rows and shift.line(area.row1) is None:
            yield f"{name} would lose its header row"
        first = area.row1 + table.header_rows
        last = area.row2 - table.totals_rows
        if first <= last and shift.span(first, last) is None:
            yield f"{name} would lose all its rows"
    element = child(book.package.xml(table.part), "autoFilter")
    for col in _lines_of(shift, area) if shift.axis == "column" else ():
        if hides(element, col):
            yield f"the filter of {name} hides rows by {_letters(col)}, which would go"


def is_queried(book: Book, table: Table) -> bool:
    root = book.package.xml(table.part)
    return root.get("tableType") == "queryTable" or any(
        rel.type.endswith("/queryTable") for rel in book.package.rels(table.part)
    )


def _loses_slicer(book: Book, table: Table, shift: LineShift, kinds: Kinds) -> bool:
    """Whether a column goes that a slicer shows."""
    root = book.package.xml(table.part)
    columns = children(child(root, "tableColumns"), "tableColumn")
    is_gone = shift.area(table.area) is None
    gone = {
        column.get("id")
        for at, column in enumerate(columns)
        if is_gone or (shift.axis == "column" and shift.line(table.area.col1 + at) is None)
    }
    return any(
        item.get("tableId") == root.get("id") and item.get("column") in gone
        for part, seat in kinds.items()
        if seat.kind == "slicerCacheDefinition"
        for item in book.package.xml(part).iter("{*}tableSlicerCache")
    )


def _torn_pivots(book: Book, sheet: Sheet, shift: LineShift, kinds: Kinds) -> Iterator[str]:
    for part in book.sheet_rels(sheet, "pivotTable"):
        root = book.package.xml(part)
        area = pivot_area(root)
        if area is not None and shift.resizes(area):
            yield f"the pivot table {root.get('name')} ({sheet.name}!{area}) cannot be changed"
    for part, seat in kinds.items():
        if seat.kind != "pivotCacheDefinition":
            continue
        for item in book.package.xml(part).iter("{*}worksheetSource", "{*}rangeSet"):
            area = parse_area(item.get("ref") or "")
            named = (item.get("sheet") or "").lower() == sheet.name.lower()
            if area is None or not named or rel_id(item) is not None or not shift.resizes(area):
                continue
            if shift.axis == "column" or shift.line(area.row1) is None:
                yield f"a pivot table is made from the columns of {sheet.name}!{area}"


def pivot_area(root: Element) -> Area | None:
    """Return the cells of a pivot table, with the fields above it by which it is filtered."""
    place = child(root, "location")
    area = parse_area(place.get("ref") or "") if place is not None else None
    pages = len(children(child(root, "pageFields"), "pageField"))
    if area is None or place is None:
        return None
    said = place.get("rowPageCount") or ""
    above = (int(said) if said.isdigit() else pages) + 1 if pages else 0
    return Area(max(1, area.row1 - above), area.col1, min(area.row2, MAX_ROW), area.col2)


# --- what nobody here knows -----------------------------------------------------------------------


def _unknown(
    book: Book, root: Element, sheet: Sheet, shift: LineShift, kinds: Kinds
) -> Iterator[str]:
    for element in root.iter("{*}*"):
        if local(element) not in _KNOWN and (found := _names_place(element)):
            yield f"{local(element)} of {sheet.name} names {found}, which would not follow"
    homes = owners(book)
    for part, sheets in homes.items():
        shared = len(sheets) > 1 and sheet in sheets and part in kinds
        if shared and kinds[part].kind in _FOLLOWING - {"chartSpace"}:
            yield f"the part {part} belongs to several sheets"
    for part, seat in kinds.items():
        kind = seat.kind
        if kind in _LOGGED:
            yield "the workbook keeps a record of its changes, which would not follow"
        elif kind == "namedSheetViews" and sheet in homes.get(part, ()):
            yield from _torn_views(book.package.xml(part), sheet, shift)
        elif kind not in _FOLLOWING:
            yield from _unknown_part(book, part, sheet, sheet in homes.get(part, ()))


def _torn_views(root: Element, sheet: Sheet, shift: LineShift) -> Iterator[str]:
    for element in root.iter("{*}*"):
        area = parse_area(element.get("ref") or "")
        if area is not None and shift.moves(area):
            yield f"a saved view of {sheet.name} filters or sorts {area}"


def _unknown_part(book: Book, part: str, sheet: Sheet, is_own: bool) -> Iterator[str]:
    """Find places of the sheet in a part of a kind that is not known."""
    if not is_own and sheet.name.lower().encode() not in book.package.read(part).lower():
        return
    for element in book.package.xml(part).iter("{*}*"):
        if found := _names_place(element, is_part=True):
            yield f"the part {part} names {found}, which would not follow"


def _names_place(element: Element, *, is_part: bool = False) -> str | None:
    """Return a place that an element names."""
    for key, said in element.attrib.items():
        word, value = str(key).rpartition("}")[2], str(said)
        if word in _PLACES and all(_PLACE.fullmatch(one) for one in value.split()) and value:
            return value[:40]
    text = (element.text or "").strip()
    parent = element.getparent()
    is_listed = local(element) == "sqref" and (parent is None or local(parent) not in _KNOWN)
    is_formula = is_part and local(element) in {"f", "formula"}
    if (is_listed or is_formula) and text:
        return text[:40]
    return None
