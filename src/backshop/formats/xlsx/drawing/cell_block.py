"""A range of cells as a chart sees it: what each holds, and which are hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from backshop.formats.figure.display import display
from backshop.formats.package.wellformed import xml_allows

from ..book import number_format
from ..book.array import Unshown
from ..book.frame import Frame
from ..book.sheet_xml import RawCell, SheetXml, attributes
from ..book.workbook import Book, Sheet, child, children, truth
from ..syntax.address import Area, column_name
from ..syntax.formula import quote_sheet


@dataclass(frozen=True, slots=True)
class SheetRange:
    """Cells of a sheet."""

    sheet: Sheet
    area: Area

    @property
    def formula(self) -> str:
        """The reference as a chart writes it: `'My Sales'!$A$2:$A$9`."""
        first, last = (
            f"${column_name(col)}${row}"
            for row, col in ((self.area.row1, self.area.col1), (self.area.row2, self.area.col2))
        )
        cells = first if self.area.count == 1 else f"{first}:{last}"
        return f"{quote_sheet(self.sheet.name)}!{cells}"

    def __str__(self) -> str:
        return f"{self.sheet.name}!{self.area}"

    def part(self, area: Area) -> SheetRange:
        """Return other cells of the same sheet."""
        return SheetRange(self.sheet, area)


class Held(NamedTuple):
    """What a cell holds: blank, number, date, text, boolean, error, or waiting for its result.

    A number has no text before somebody asks how it is shown: there are thousands.
    """

    kind: str = "blank"
    text: str = ""
    number: float | None = None
    code: str = number_format.GENERAL

    def shown(self, date_1904: bool) -> str | None:
        """Return what the cell shows, None for nothing."""
        if self.number is not None:
            return display(self.number, self.code, date_1904)
        return self.text or None

    @property
    def is_number(self) -> bool:
        """Whether it can be drawn as a value."""
        return self.number is not None and self.kind in ("number", "date")

    @property
    def is_whole(self) -> bool:
        """Whether it is a number without a fraction."""
        return self.is_number and self.number is not None and self.number.is_integer()


EMPTY = Held()


@dataclass(frozen=True)
class Block:
    """The cells of a range, and the rows and columns of it that are hidden."""

    area: Area
    cells: dict[tuple[int, int], Held]
    hidden_rows: set[int] = field(default_factory=set)
    hidden_cols: set[int] = field(default_factory=set)

    @property
    def held(self) -> list[Held]:
        """What the cells hold, row by row."""
        known = self.cells.get
        return [known(place, EMPTY) for place in self.area.cells()]

    @property
    def filled(self) -> list[Held]:
        """What the cells hold that are not blank."""
        return [one for one in self.held if one.kind != "blank"]

    def part(self, area: Area) -> Block:
        """Return some of the cells."""
        return Block(area, self.cells, self.hidden_rows, self.hidden_cols)

    def at(self, row: int, col: int) -> Held:
        """Return what a cell holds."""
        return self.cells.get((row, col), EMPTY)

    def row(self, row: int, first: int) -> list[Held]:
        """Return the cells of a row from a column on."""
        return [self.at(row, col) for col in range(first, self.area.col2 + 1)]

    def column(self, col: int, first: int) -> list[Held]:
        """Return the cells of a column from a row on."""
        return [self.at(row, col) for row in range(first, self.area.row2 + 1)]

    def turned(self) -> Block:
        """Return the block with rows for columns."""
        area = Area(self.area.col1, self.area.row1, self.area.col2, self.area.row2)
        cells = {(col, row): held for (row, col), held in self.cells.items()}
        return Block(area, cells, self.hidden_cols, self.hidden_rows)

    def is_hidden(self, row: int, col: int) -> bool:
        """Whether a cell lies in a hidden row or column."""
        return row in self.hidden_rows or col in self.hidden_cols


def read_block(book: Book, cells: SheetRange) -> Block:
    """Read a range as it is stored now; results that are not stored are waited for."""
    xml = book.xml(cells.sheet)
    if xml is None:
        return Block(cells.area, {})
    area, unshown = cells.area, Unshown(book, xml)
    found: dict[tuple[int, int], Held] = {}
    hidden: set[int] = set()
    for number, cell in _cells(xml, area, hidden):
        held = _held(book, cell, unshown)
        if held.kind != "blank":
            found[number, cell.col] = held
    return Block(area, found, hidden, _hidden_columns(xml, area))


def _cells(xml: SheetXml, area: Area, hidden: set[int]) -> Iterator[tuple[int, RawCell]]:
    for row in xml.pick(set(range(area.row1, area.row2 + 1))):
        tag = attributes(xml.data[row.start : row.inner])
        if truth(tag.get(b"hidden", b"0").decode("ascii", "replace")):
            hidden.add(row.number)
        for cell in xml.cells(row, area.col1, area.col2):
            yield row.number, cell


def _held(book: Book, cell: RawCell, unshown: Unshown) -> Held:
    if book.is_uncached(cell) or unshown.formula(cell) is not None:
        return Held("waiting")
    value = book.value(cell)
    code = book.formats.of(cell.style)[0]
    if value.kind in ("number", "date"):
        number = value.number
        if number is None:  # a date that is stored as text
            number = number_format.serial_of_text(value.text, book.date_1904)
        if number is not None:
            return Held(value.kind, "", number, code)
    kind = "text" if value.kind == "string" else value.kind
    return Held(kind, "".join(c if xml_allows(c) else " " for c in value.text), None, code)


def _hidden_columns(xml: SheetXml, area: Area) -> set[int]:
    found: set[int] = set()
    for item in children(child(Frame.of(xml).root, "cols"), "col"):
        ends = [item.get("min") or "", item.get("max") or ""]
        if truth(item.get("hidden")) and all(end.isdigit() and len(end) < 7 for end in ends):
            first, last = max(int(ends[0]), area.col1), min(int(ends[1]), area.col2)
            found.update(range(first, last + 1))
    return found
