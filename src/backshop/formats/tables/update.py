"""A query's result written into a workbook, everything else in it left alone (F28.5 to F28.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from backshop.base import limits as numbers
from backshop.formats.figure.plain import exact_text

from ..errors import fail
from ..kind import (
    MACROS_KEPT,
    kind_of_name,
    refuse_read_only_name,
    require_new_workbook_name,
)
from ..package.package import Package
from ..protocol import Applied, Kind, Source
from ..write.operation import strip_controls
from ..xlsx.book import number_format
from ..xlsx.book.blank import blank_workbook
from ..xlsx.book.cell_xml import EMPTY, Content
from ..xlsx.book.sheet_edit import SheetEdit
from ..xlsx.book.stylesheet import Look
from ..xlsx.book.survey import Island, islands
from ..xlsx.book.workbook import Book
from ..xlsx.edit.application import finish
from ..xlsx.edit.cell_operation import NULL_CELLS, put, refuse_arrays, take_in
from ..xlsx.edit.cell_value import DATE_FORMATS
from ..xlsx.edit.session import Session
from ..xlsx.edit.sheet_operation import unmerge_all
from ..xlsx.edit.table_growth import refuse_totals, tables_above
from ..xlsx.syntax import formula
from ..xlsx.syntax.address import MAX_COL, MAX_ROW, Area, cell_name, parse_area, parse_cell
from . import values
from .export import Cell, as_number, result_of
from .table import Table

MODES = ("replace_sheet", "append_rows", "write_range")
_NAMED_CELLS = 5  # of those that hold text like a formula
_WHERE = "target_sheet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Where a result goes and how."""

    target: str
    sheet: str
    mode: str
    start_cell: str | None = None
    include_header: bool = True
    create_workbook_if_missing: bool = False
    create_sheet_if_missing: bool = False
    clear_target_range: bool = False
    null_cells: str = "clear"  # or "keep": what a NULL does to the cell it falls on
    formulas: bool = False  # text that begins with `=` is written as a formula
    recalculate: bool = True

    def start(self) -> tuple[int, int]:
        """Return the first cell of `write_range`."""
        place = parse_cell(self.start_cell or "A1")
        if place is None:
            raise fail("bad_range", "start_cell is no cell of a sheet", detail=self.start_cell)
        return place


def update(
    table: Table,
    base: Source | None,
    out: Path,
    request: Update,
    query: str | None = None,
    *,
    origin: Source | None = None,
) -> Applied:
    """Write the target workbook with a result in it to `out`; `base` is its present content.

    `origin` is the file the table was read from; the result is complete before anything of the
    target is touched, and a write over the rows it was made of is said (F28.8).

    Raises:
        FormatError: `bad_value`, `op_conflict`, `not_found`, `unknown_sheet`, `sheet_protected`, …
    """
    _check(request, base)
    warnings = table.left_out
    with result_of(table, query, warnings) as result:
        columns, rows = result.columns, list(result.rows)
    book = Book(Package.open_base(base, blank_workbook, macros_kept=MACROS_KEPT))
    session = Session(book, warnings, pristine=base is None)
    edit = _sheet(session, request)
    writer = _Writer(session, edit, columns)
    area = writer.write(request, rows)
    if area is not None and origin is not None and base is not None:
        writer.note_source(table, area, same_file=origin.sha256 == base.sha256)
    session.flush()
    summary = f"{request.sheet}: {len(rows)} rows of {len(columns)} columns, {request.mode}"
    return finish(
        session,
        out,
        name=request.target,
        created=base is None,
        changes=((0, summary),),
        recalculate=request.recalculate,
        extra={
            "target_path": request.target,
            "sheet": request.sheet,
            "mode": request.mode,
            "row_count": len(rows),
            "column_count": len(columns),
            "written_range": str(area) if area else None,
            "cleared_cells": writer.cleared,
            "formula_cells": writer.formulas,
        },
    )


def _check(request: Update, base: Source | None) -> None:
    if request.mode not in MODES:
        raise fail("bad_value", f"there is no mode {request.mode!r}", hints=MODES)
    placed = request.start_cell is not None or request.clear_target_range
    if placed and request.mode != "write_range":
        raise fail("op_conflict", "start_cell and clear_target_range belong to write_range")
    if request.null_cells not in NULL_CELLS:
        raise fail("bad_value", "null_cells is clear or keep", hints=NULL_CELLS)
    if kind_of_name(request.target) is not Kind.XLSX:
        raise fail("bad_value", "the target is a workbook")
    refuse_read_only_name(request.target)
    if base is None and request.create_workbook_if_missing:
        require_new_workbook_name(request.target)
    if base is None and not request.create_workbook_if_missing:
        call = "create_workbook_if_missing: true makes it"
        raise fail("not_found", f"there is no {request.target}", hints=[call])
    request.start()


def _sheet(session: Session, request: Update) -> SheetEdit:
    is_made = request.create_sheet_if_missing or session.pristine
    if is_made and session.book.find(request.sheet) is None:
        session.create(request.sheet, None, _WHERE)
    way = "create_sheet_if_missing: true adds it"
    return session.edit(request.sheet, _WHERE, way)


class _Writer:
    """Puts rows into one sheet."""

    def __init__(self, session: Session, edit: SheetEdit, columns: Sequence[values.Column]) -> None:
        self._session = session
        self._edit = edit
        self._columns = columns
        self._styles: dict[tuple[int, str], int] = {}
        self._keeps_nulls = False
        self._makes_formulas = False
        self._formula_like: list[tuple[int, int]] = []
        self.cleared = 0  # cells that a NULL emptied
        self.formulas = 0

    def write(self, request: Update, rows: Sequence[Sequence[Cell]]) -> Area | None:
        """Write in the mode that was asked for and return what was written."""
        self._keeps_nulls = request.null_cells == "keep"
        self._makes_formulas = request.formulas
        header: list[list[Cell]] = [[column.name for column in self._columns]]
        block = [*(header if request.include_header else []), *rows]
        columns = list(range(len(self._columns)))
        match request.mode:
            case "replace_sheet":
                self._clear_sheet()
                start = (1, 1)
            case "append_rows":
                start, columns, block = self._below(request, rows, block)
            case _:
                start = request.start()
        if not block:
            return None
        area = Area(*start, start[0] + len(block) - 1, start[1] + max(columns))
        self._check_fits(area, request)
        if request.mode == "write_range":
            self._note_rows_left(area)
        if request.clear_target_range:
            self._clear(area)
        above = tables_above(self._edit) if request.mode == "append_rows" else []
        refuse_totals(above, area, _WHERE)
        self._session.aim(self._edit, area)
        self._session.joined = tuple(table.name for table in above)
        self._fill(area, columns, block, has_header=len(block) > len(rows))
        if request.mode == "append_rows":
            take_in(self._session, self._edit, above, area, _WHERE)
        self._note_formula_like()
        return area

    def note_source(self, table: Table, area: Area, *, same_file: bool) -> None:
        """Say so when the result was written over the rows it was made of (F28.8)."""
        region = table.shape.region
        if not same_file or region is None or region.sheet != self._edit.sheet.name:
            return
        source = parse_area(region.range)
        if source is not None and source.meets(area):
            self._session.warnings.add("source_overwritten", where=f"{region.sheet}!{source}")

    def _note_rows_left(self, area: Area) -> None:
        """Say so when rows of what stood here go on below the result."""
        if not self._filled(area.row2, area):
            return
        used = self._edit.used()
        row = area.row2
        while used is not None and row < used.row2 and self._filled(row + 1, area):
            row += 1
        if row > area.row2:
            left = Area(area.row2 + 1, area.col1, row, area.col2)
            where = f"{self._edit.sheet.name}!{left}"
            self._session.warnings.add("rows_left", left.height, where)

    def _filled(self, row: int, area: Area) -> bool:
        return any(not self._edit.is_empty(row, col) for col in range(area.col1, area.col2 + 1))

    def _note_formula_like(self) -> None:
        """Say which text could be taken for formulas; it was written as text (F28.3)."""
        if self._formula_like:
            names = [cell_name(*place) for place in self._formula_like[:_NAMED_CELLS]]
            where = f"{self._edit.sheet.name}!{', '.join(names)}: text, formulas: true computes it"
            self._session.warnings.add("formula_like_cells", len(self._formula_like), where)

    def _below(
        self, request: Update, rows: Sequence[Sequence[Cell]], block: list[Sequence[Cell]]
    ) -> tuple[tuple[int, int], list[int], list[Sequence[Cell]]]:
        """Return where appended rows begin and in which columns, counted from there (F28.6)."""
        count = len(self._columns)
        used = self._edit.used()
        if used is None:
            return (1, 1), list(range(count)), block
        if request.include_header:
            self._session.warnings.add("header_skipped_on_append")
        island = self._last_island(used)
        headers = [name.strip().casefold() if name else "" for name in island.headers or ()]
        wanted = [column.name.strip().casefold() for column in self._columns]
        if all(name in headers for name in wanted) and len(set(wanted)) == count:
            places = [headers.index(name) for name in wanted]
        else:
            self._session.warnings.add("columns_by_position")
            places = list(range(count))
        return (used.row2 + 1, island.area.col1), places, list(rows)

    def _last_island(self, used: Area) -> Island:
        """Return the block that reaches the bottom of the sheet; of several the widest."""
        blocks, _ = islands(self._edit.book, self._edit.xml, self._edit.survey)
        last = [block for block in blocks if block.area.row2 == used.row2]
        return max(
            last, key=lambda block: block.area.width, default=Island(used, "data", None, None)
        )

    def _check_fits(self, area: Area, request: Update) -> None:
        if area.row2 > MAX_ROW or area.col2 > MAX_COL:
            raise fail("bad_range", "the result reaches beyond the sheet", detail=area.span)
        for found in self._session.book.tables(self._edit.sheet):
            heading = Area(found.area.row1, found.area.col1, found.area.row1, found.area.col2)
            if found.header_rows and (heading.meets(area) or request.mode == "replace_sheet"):
                message = f"the result would write over the headings of the table {found.name}"
                raise fail("op_conflict", message, detail=str(found.area))

    def _clear_sheet(self) -> None:
        used = self._edit.used()
        unmerge_all(self._session, self._edit, _WHERE)
        if used is not None:
            self._session.aim(self._edit, used)
            self._clear(used)

    def _clear(self, area: Area) -> None:
        places = self._edit.cells_in(area)
        self._edit.load({row for row, _ in places})
        inside = set(places)
        for place in places:
            self._session.check_writable(self._edit, *place, _WHERE)
            refuse_arrays(self._edit, place, _WHERE, inside)
            self._edit.set_content(*place, EMPTY)

    def _fill(
        self,
        area: Area,
        columns: Sequence[int],
        block: Sequence[Sequence[Cell]],
        *,
        has_header: bool,
    ) -> None:
        rows = range(area.row1, area.row2 + 1)
        self._edit.load(rows)
        places = {(row, area.col1 + at) for row in rows for at in columns}
        covered = self._edit.frame.covered(area)
        for row, cells in zip(rows, block, strict=True):
            is_header = has_header and row == area.row1
            for at, column, value in zip(columns, self._columns, cells, strict=True):
                place = (row, area.col1 + at)
                is_blank = value is None or value == ""
                if is_blank and (self._keeps_nulls or self._edit.is_empty(*place)):
                    continue
                if place in covered:
                    self._session.warnings.add("merged_skipped", where=cell_name(*place))
                    continue
                self._session.check_writable(self._edit, *place, _WHERE)
                refuse_arrays(self._edit, place, _WHERE, places)
                if is_blank:
                    self._edit.set_content(*place, EMPTY)
                    self.cleared += 1
                else:
                    self._put(place, "string" if is_header else column.type, value)

    def _put(self, place: tuple[int, int], kind: str, value: Cell) -> None:
        content, dated = self._content(place, kind, value)
        if content.kind == "string" and content.text.startswith("=") and len(content.text) > 1:
            if self._makes_formulas:
                where = f"{self._edit.sheet.name}!{cell_name(*place)}"
                content = Content("formula", formula.stored(content.text, where))
                put(self._session, self._edit, place, content, where)
                self.formulas += 1
                return
            self._formula_like.append(place)
        self._edit.set_content(*place, content)
        if content.kind != "number":
            return
        style = self._edit.style(*place)
        wanted = self._style(style, kind if dated else "number")
        if wanted != style:
            self._edit.set_style(*place, wanted)

    def _style(self, style: int, kind: str) -> int:
        """Return the style in which a value is shown as what it is, and nothing else changes."""
        if (style, kind) not in self._styles:
            code = self._session.styles.code(style)
            shows_date = number_format.is_date(-1, code)
            look = Look()
            if kind in DATE_FORMATS and not shows_date:
                look = Look(number_format=DATE_FORMATS[kind])
            elif kind not in DATE_FORMATS and shows_date:
                look = Look(number_format=number_format.GENERAL)
            derived = style if look.empty else self._session.styles.derive(style, look)
            self._styles[style, kind] = derived
        return self._styles[style, kind]

    def _content(self, place: tuple[int, int], kind: str, value: Cell) -> tuple[Content, bool]:
        if isinstance(value, bool):
            return Content("boolean", str(int(value))), False
        if isinstance(value, int | float | Decimal):
            number = as_number(value)
            if number is not None:
                return Content("number", exact_text(number)), False
            return Content("string", f"{Decimal(str(value)):f}"), False
        text = str(value)
        if kind in DATE_FORMATS:
            serial = number_format.serial_of(kind, text, self._session.book.date_1904)
            if serial is not None:
                return Content("number", exact_text(serial)), True
        text = strip_controls(text, self._session.warnings, cell_name(*place))
        if len(text) > numbers.CELL_MAX_CHARS:
            most = f"a cell holds at most {numbers.CELL_MAX_CHARS} characters"
            raise fail("too_large", most, detail=cell_name(*place))
        return (Content("string", text) if text else EMPTY), False
