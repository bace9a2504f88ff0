"""Reading cells as text, a window of rows at a time (F8.8-F8.11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.protocol import ChunkInfo, Read, Selector, Source
from backshop.formats.warning import Warnings
from backshop.formats.window import check_chunk, check_selector, chunk_count, cut, refuse_both

from .annotation.listing import told_links, told_notes
from .book.array import Unshown
from .book.extent import used_area
from .book.frame import Frame
from .book.opening import open_book
from .book.sheet_xml import RawCell, RowSpan, SheetXml
from .book.survey import Island, islands, survey_of
from .book.workbook import Book, Sheet
from .rule_read import RULES, read_rules
from .syntax.address import Area, cell_name, column_name, parse_area

CELLS = ("values", "formulas", "both", RULES, "notes")
_PASSED_ROWS = 1_000  # sooner passed than found
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))


def read(source: Source, selector: Selector) -> Read:
    """Return the selected cells, at most 64 KiB of them."""
    check_selector(selector, "xlsx", ("sheet", "range", "cells"))
    refuse_both(selector, "range")
    if selector.cells is not None and selector.cells not in CELLS:
        raise fail("bad_selector", "cells is values, formulas, both, rules or notes", hints=CELLS)
    book = open_book(source)
    if book.origin and not book.origin.has_formulas and selector.cells not in (None, "values"):
        raise fail(
            "unsupported_format",
            f"of a .{book.origin.format} the values are read, not the formulas",
            hints=["values"],
        )
    if book.origin and selector.cells == "notes":
        what = f"of a .{book.origin.format} notes and links are not read"
        raise fail("unsupported_format", what, hints=["values"])
    warnings = Warnings()
    sheet = choose_sheet(book, selector.sheet, warnings)
    if selector.cells == RULES:
        return read_rules(book, sheet, selector, warnings)
    window = _Window(source.sha256, book, sheet, selector.cells or "values", warnings)
    if selector.range is None and selector.chunk_index is None:
        whole = window.whole()
        if whole is not None:
            return window.result(selector, whole, limits.READ_WHOLE_MAX_BYTES)
        return window.result(selector, window.chunk(0))
    if selector.chunk_index is not None:
        return window.result(selector, window.chunk(selector.chunk_index))
    return window.result(selector, window.area(selector.range or ""))


def choose_sheet(book: Book, name: str | None, warnings: Warnings) -> Sheet:
    """Return the sheet that was asked for, or the first a person would see (F8.8)."""
    if name is not None:
        return book.sheet(name)
    cells = [sheet for sheet in book.sheets if sheet.kind == "worksheet"]
    visible = [sheet for sheet in cells if sheet.state == "visible"]
    first = next(iter(visible or cells), None)
    if first is None:
        raise fail("unknown_sheet", "the workbook has no worksheet")
    if len(visible) != 1:
        warnings.add("sheet_defaulted", where=first.name)
    return first


@dataclass
class _Window:
    sha256: str
    book: Book
    sheet: Sheet
    cells: str
    warnings: Warnings

    def __post_init__(self) -> None:
        self.xml = self.book.xml(self.sheet)
        self.survey = survey_of(self.sha256, self.book, self.xml)
        self.used = used_area(self.book, self.xml, self.survey)
        if self.cells == "notes":
            for place in self.attached:
                one = Area(*place, *place)
                self.used = self.used.join(one) if self.used else one
        self.chunks = chunk_count(self.used.height, limits.XLSX_CHUNK_ROWS) if self.used else 0
        self.merges = Frame.of(self.xml).merges if self.xml else []

    @cached_property
    def attached(self) -> dict[tuple[int, int], list[str]]:
        """The notes and links by their cells, in words."""
        frame = self.xml.frame() if self.xml else None
        found: dict[tuple[int, int], list[str]] = {}
        for note in told_notes(self.book, self.sheet):
            found.setdefault(note.place, []).append(_escape(note.words))
        for link in told_links(self.book, self.sheet, frame):
            found.setdefault(link.place, []).append(_escape(link.words))
        return found

    @cached_property
    def unshown(self) -> Unshown:
        """Asked only about empty cells: most sheets have none, and no such formula either."""
        return Unshown(self.book, self.xml)

    def whole(self) -> Area | None:
        """Return the used range when its text is small enough to show at once (F5.5)."""
        area = self.used or Area(1, 1, 1, 1)
        if area.height > limits.READ_WHOLE_MAX_BYTES // 2:
            return None
        before = self.warnings
        self.warnings = Warnings()  # a trial; the rows are rendered again for the answer
        small = cut(
            self._rows(area), head=self._head(area), max_bytes=limits.READ_WHOLE_MAX_BYTES
        ).complete
        self.warnings = before
        return area if small else None

    def chunk(self, index: int) -> Area:
        check_chunk(index, self.chunks)
        if self.used is None:
            return Area(1, 1, 1, 1)
        size = limits.XLSX_CHUNK_ROWS
        first = self.used.row1 + index * size
        last = min(first + size - 1, self.used.row2)
        return Area(first, self.used.col1, last, self.used.col2)

    def area(self, text: str) -> Area:
        found = parse_area(text)
        if found is None:
            hints = [self.used.span] if self.used else []
            raise fail("bad_range", "this is no range of a sheet", detail=text[:40], hints=hints)
        return found.in_use(self.used or Area(1, 1, 1, 1))

    def result(self, selector: Selector, area: Area, most: int = limits.READ_MAX_BYTES) -> Read:
        taken = cut(
            self._rows(area),
            head=self._head(area),
            char_offset=selector.char_offset or 0,
            max_bytes=most,
        )
        if not taken.complete:
            self.warnings.add("truncated_to_fit")
        last = area.row1 + taken.units - 1
        following = self._next(selector, area, last, taken.char_offset)
        chosen = Selector(sheet=self.sheet.name, range=str(area), cells=selector.cells)
        index = 0
        if self.used:
            index = (area.row1 - self.used.row1) // limits.XLSX_CHUNK_ROWS
        return Read(
            format=self.book.origin.format if self.book.origin else "xlsx",
            text=taken.text,
            selector=chosen,
            chunk_info=ChunkInfo(
                chunk_index=min(max(index, 0), max(self.chunks - 1, 0)),
                total_chunks=max(self.chunks, 1),
                next=following,
                span={"range": str(replace(area, row2=max(last, area.row1)))},
            ),
            warnings=self.warnings.all(),
        )

    def _next(
        self, selector: Selector, area: Area, last: int, char_offset: int | None
    ) -> Selector | None:
        base = Selector(sheet=self.sheet.name, cells=selector.cells)
        if char_offset is not None or last < area.row2:
            rest = replace(area, row1=last + 1)
            return replace(base, range=str(rest), char_offset=char_offset)
        if self.used is None or last >= self.used.row2:
            return None
        size = limits.XLSX_CHUNK_ROWS
        row = max(last + 1, self.used.row1)
        index, inside = divmod(row - self.used.row1, size)
        if inside == 0 and area.col1 <= self.used.col1 and area.col2 >= self.used.col2:
            return replace(base, chunk_index=index)
        stop = min(self.used.row1 + (index + 1) * size - 1, self.used.row2)
        return replace(base, range=str(replace(area, row1=row, row2=stop)))

    def _head(self, area: Area) -> str:
        columns = [column_name(col) for col in range(area.col1, area.col2 + 1)]
        if self.cells == "notes":
            title = f"# sheet\t{_escape(self.sheet.name)}\t{area}"
            return f"{title}\nrow\tnotes and links of cells"
        lines = [f"# sheet\t{_escape(self.sheet.name)}\t{area}", "\t".join(["row", *columns])]
        return "\n".join([*lines, *self._header_lines(area)])

    def _header_lines(self, area: Area) -> list[str]:
        blocks, _ = islands(self.book, self.xml, self.survey)
        by_row: dict[int, list[Island]] = {}
        for block in blocks:
            if block.header_row and block.header_row < area.row1 and block.area.meets(area):
                by_row.setdefault(block.header_row, []).append(block)
        lines = []
        for row, found in sorted(by_row.items()):
            cells = [""] * area.width
            for block in found:
                for offset, text in enumerate(block.headers or ()):
                    place = block.area.col1 + offset - area.col1
                    if 0 <= place < area.width:
                        cells[place] = _escape(text or "")
            lines.append("\t".join([f"h{row}", *cells]).rstrip("\t"))
        return lines

    def _from(self, row: int) -> Iterator[RowSpan]:
        """Go through the rows from a number on, in most sheets without passing those before."""
        if self.xml is None:
            return iter(())
        near = row <= _PASSED_ROWS or not self.xml.plain_rows
        return self.xml.iter_rows(None if near else self.xml.place_of(row))

    def _rows(self, area: Area) -> Iterator[str]:
        if self.cells == "notes":
            yield from self._attached_rows(area)
            return
        found = self._from(area.row1)
        present = next(found, None)
        for number in range(area.row1, area.row2 + 1):
            while present is not None and present.number < number:
                present = next(found, None)
            if present is not None and present.number == number and self.xml:
                yield "\t".join([str(number), *self._row(self.xml, present, area)])
            else:
                yield str(number)

    def _attached_rows(self, area: Area) -> Iterator[str]:
        by_row: dict[int, list[str]] = {}
        for place, words in sorted(self.attached.items()):
            if area.has(*place):
                told = f"{cell_name(*place)}: {'; '.join(words)}"
                by_row.setdefault(place[0], []).append(told)
        for number in range(area.row1, area.row2 + 1):
            yield "\t".join([str(number), *by_row.get(number, [])])

    def _row(self, xml: SheetXml, row: RowSpan, area: Area) -> list[str]:
        texts = [""] * area.width
        for cell in xml.cells(row, area.col1, area.col2):
            if self._covered(cell):
                continue
            texts[cell.col - area.col1] = self._text(xml, cell)
        while texts and not texts[-1]:
            texts.pop()
        return texts

    def _covered(self, cell: RawCell) -> bool:
        return any(
            area.has(cell.row, cell.col) and (area.row1, area.col1) != (cell.row, cell.col)
            for area in self.merges
        )

    def _text(self, xml: SheetXml, cell: RawCell) -> str:
        value = self.book.value(cell)
        if value.kind == "date" and value.text == "1900-02-29":
            self.warnings.add("date_1900_bug")
        text = _escape(value.seen)
        if cell.formula is None:
            asked = cell.value is None and self.cells != "formulas"
            awaited = self.unshown.formula(cell) if asked else None
            return text if awaited is None else self._uncached("=" + _escape(awaited))
        formula = "=" + _escape(self.book.formula(cell, xml) or "")
        if self.cells == "formulas":
            return formula
        if self.book.is_uncached(cell):
            return self._uncached(formula)
        return f"{text} {{{formula}}}" if self.cells == "both" else text

    def _uncached(self, formula: str) -> str:
        if self.cells == "values":
            self.warnings.add("uncached_formula")
        return "{" + formula + "}"


def _escape(text: str) -> str:
    for character, written in _ESCAPES:  # of a long text much faster than one translation
        if character in text:
            text = text.replace(character, written)
    return text
