"""Takes in a region of a worksheet, cell types as they are (F25.1, F25.6)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import fail
from ..protocol import Source
from ..warning import Warnings
from ..xlsx.book.array import Unshown
from ..xlsx.book.frame import Frame
from ..xlsx.book.opening import open_book
from ..xlsx.book.sheet_xml import RawCell, SheetXml
from ..xlsx.book.survey import islands, survey
from ..xlsx.book.workbook import Book, Sheet, Value
from ..xlsx.read import choose_sheet
from ..xlsx.syntax.address import Area, parse_area
from . import infer, stage
from .infer import Guess, Kind
from .load import NotEven, Text, load
from .names import column_names
from .table import Column, Region, Shape

_HEADER_ROWS = 10  # F8.5
_HEADER_FILLED = 0.6
_EXACT_MAX = 10**15  # a workbook's numbers are floats; beyond this they are not whole
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATETIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?")
_TIME = re.compile(r"([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?")
_PLAIN = {
    frozenset({"integer"}): infer.INTEGER,
    frozenset({"float"}): infer.FLOAT,
    frozenset({"integer", "float"}): infer.FLOAT,
    frozenset({"boolean"}): infer.BOOLEAN,
    frozenset({"date"}): infer.DATE,
    frozenset({"datetime"}): infer.DATETIME,
    frozenset({"date", "datetime"}): infer.DATETIME,
    frozenset({"time"}): infer.TIME,
}


def take_in(
    source: Source, out: Path, sheet: str | None, range_: str | None, header_row: int | None
) -> Shape:
    """Build the table file of a region of a workbook at `out`.

    Raises:
        FormatError: `unknown_sheet`, `bad_range`, and what reading a workbook can raise.
    """
    warnings = Warnings()
    book = open_book(source)
    chosen = choose_sheet(book, sheet, warnings)
    xml = book.xml(chosen)
    if xml is None:
        raise fail("unsupported_format", f"the sheet {chosen.name!r} has no cells")
    region = _region(book, chosen, xml, range_, warnings)
    reader = _Reader(book, xml, region, warnings)
    header = reader.header(header_row)
    with tempfile.TemporaryDirectory(prefix="stage-", dir=out.parent) as scratch:
        return _load(source, out, Path(scratch) / "cells.csv", reader, chosen, header)


def _region(
    book: Book, sheet: Sheet, xml: SheetXml, range_: str | None, warnings: Warnings
) -> Area:
    found = survey(book, xml)
    if range_ is not None:
        return _asked(range_, found.used)
    blocks, _ = islands(book, xml, found)
    if not blocks:
        return found.used or Area(1, 1, 1, 1)
    tables = [block for block in blocks if block.label == "table"] or blocks
    best = max(tables, key=lambda block: (block.area.height, -block.area.row1, -block.area.col1))
    if len(blocks) > 1:
        warnings.add("region_defaulted", where=f"{sheet.name}!{best.area}")
    return best.area


def _asked(text: str, used: Area | None) -> Area:
    area = parse_area(text)
    if area is None:
        hints = [str(used)] if used else []
        raise fail("bad_range", "this is no range of a sheet", detail=text[:40], hints=hints)
    return area.in_use(used or Area(1, 1, 1, 1))


@dataclass(slots=True)
class _Header:
    row: int | None
    names: list[str | None]


@dataclass(slots=True)
class _Reader:
    """The rows of a region as text, noting what each column holds."""

    book: Book
    xml: SheetXml
    area: Area
    warnings: Warnings
    kinds: list[set[str]] = field(init=False)
    covered: set[tuple[int, int]] = field(init=False)
    unshown: Unshown = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = [set() for _ in range(self.area.width)]
        self.unshown = Unshown(self.book, self.xml)
        self.covered = Frame.of(self.xml).covered(self.area)

    def header(self, asked: int | None) -> _Header:
        """Return the header row of the region, found by the rule of F8.5 unless asked for."""
        nameless = _Header(None, [None] * self.area.width)
        if asked == 0:
            return nameless
        if asked is not None and not self.area.row1 <= asked <= self.area.row2:
            span = f"{self.area.row1} to {self.area.row2}"
            raise fail("bad_value", "the header row lies outside the region", hints=[span])
        last = min(self.area.row1 + _HEADER_ROWS - 1, self.area.row2 - 1)
        for number, cells in self._cells(self.area.row1, asked or last):
            values = {cell.col: self.book.value(cell) for cell in cells}
            filled = {col: value for col, value in values.items() if value.text.strip()}
            if number == asked or (asked is None and self._is_header(cells, filled)):
                columns = range(self.area.col1, self.area.col2 + 1)
                names = [filled[col].text if col in filled else None for col in columns]
                return _Header(number, names)
        return _Header(asked, nameless.names) if asked else nameless

    def rows(self, first: int) -> Iterator[list[str | None]]:
        """Yield the rows from `first` on; rows without any value are none."""
        for _, cells in self._cells(first, self.area.row2):
            row: list[str | None] = [None] * self.area.width
            for cell in cells:
                at = cell.col - self.area.col1
                row[at] = self._text(cell, at)
            if any(value is not None for value in row):
                yield row

    def kind(self, at: int) -> Kind:
        """Return the type of a column after its rows were read (F25.6)."""
        return _PLAIN.get(frozenset(self.kinds[at]), infer.TEXT)

    def is_mixed(self, at: int) -> bool:
        """Tell whether a column became text only because its values are of several types."""
        return self.kind(at) is infer.TEXT and len(self.kinds[at]) > 1

    def _cells(self, first: int, last: int) -> Iterator[tuple[int, list[RawCell]]]:
        for row in self.xml.iter_rows():
            if row.number > last:
                return
            if row.number >= first:
                cells = self.xml.cells(row, self.area.col1, self.area.col2)
                yield (
                    row.number,
                    [cell for cell in cells if (cell.row, cell.col) not in self.covered],
                )

    def _is_header(self, cells: list[RawCell], filled: dict[int, Value]) -> bool:
        least = max(1 if self.area.width == 1 else 2, _HEADER_FILLED * self.area.width)
        texts = [value.text for value in filled.values()]
        return (
            len(filled) >= least
            and all(value.kind == "string" for value in filled.values())
            and not any(self.book.is_uncached(cell) for cell in cells)
            and all(texts.count(text) <= 2 for text in set(texts))
        )

    def _text(self, cell: RawCell, at: int) -> str | None:
        if self.book.is_uncached(cell) or self.unshown.formula(cell) is not None:
            self.warnings.add("uncached_formula")
            return None
        value = self.book.value(cell)
        if value.kind == "error":
            self.warnings.add("error_cells")
            return None
        if value.kind == "blank" or not value.text:
            return None
        if value.text == "1900-02-29" and value.kind == "date":
            self.warnings.add("date_1900_bug")
        self.kinds[at].add(_kind_of(value))
        return value.text


def _kind_of(value: Value) -> str:
    if value.kind == "number":
        number = value.number or 0.0
        return "integer" if number == int(number) and abs(number) < _EXACT_MAX else "float"
    if value.kind == "date":
        for name, pattern in (("date", _DATE), ("datetime", _DATETIME), ("time", _TIME)):
            if pattern.fullmatch(value.text) and value.text != "1900-02-29":
                return name
        return "string"
    return value.kind


def _load(
    source: Source, out: Path, staged: Path, reader: _Reader, sheet: Sheet, header: _Header
) -> Shape:
    first = reader.area.row1 if header.row is None else header.row + 1
    with staged.open("w", encoding="utf-8", newline="", errors="replace") as file:
        file.writelines(map(stage.line_of, reader.rows(first)))
    names = column_names(header.names)
    kinds = [reader.kind(at) for at in range(len(names))]
    for at, name in enumerate(names):
        if reader.is_mixed(at):
            reader.warnings.add("mixed_types", where=name)
    text = Text(path=staged)
    try:
        loaded = load(text, out, names, [Guess(kind) for kind in kinds], source.limits)
    except NotEven as error:
        message = "the region cannot be read as a table"
        raise fail("corrupt_file", message, detail=str(error)) from error
    columns = [
        Column(name=name, source_name=title or None, type=kind.name)
        for name, title, kind in zip(names, header.names, loaded.kinds, strict=True)
    ]
    return Shape(
        format=reader.book.origin.format if reader.book.origin else "xlsx",
        row_count=loaded.rows,
        columns=tuple(columns),
        has_header=header.row is not None,
        region=Region(sheet=sheet.name, range=str(reader.area), header_row=header.row),
        warnings=reader.warnings.all(),
    )
