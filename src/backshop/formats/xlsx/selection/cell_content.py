"""What a cell holds, whichever way a file stores it: the key by which two cells are the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from ..book.array import spread_formulas
from ..book.frame import Frame
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes, integer
from ..book.shown_text import shown_text
from ..book.workbook import Book, child, children, truth
from ..syntax.address import Area, cell_name

Key = tuple[str, ...]
BLANK: Key = ()
SPILLED = "spilled"
_TAG = re.compile(rb"<(/?)(?:[\w.\-]+:)?([\w.\-]+)([^>]*?)(/?)>([^<]*)")
_TABLE_PLACES = frozenset({b"ref", b"r1", b"r2"})  # of a data table
_BLOCK = 8  # bits; formulas over several cells are looked up in blocks of 256 rows


class CellSide:
    """One version of a sheet: what its cells hold and which formats they have."""

    def __init__(
        self,
        book: Book,
        xml: SheetXml,
        told: Callable[[str], str],
        placed: Callable[[str], str] = str,
    ) -> None:
        self.book, self.xml = book, xml
        self._told = told  # a formula in the names of the workbook before
        self._placed = placed  # a place of the sheet in names of it
        self._runs: dict[bytes, str] = {}

    def cells(self, row: RowSpan | None) -> dict[int, RawCell]:
        """Return the cells of a row by their columns."""
        return {} if row is None else {cell.col: cell for cell in self.xml.cells(row)}

    def key(self, row: int, col: int, cell: RawCell | None) -> Key:
        """Return what a cell holds; results of formulas count for nothing."""
        if cell is not None and cell.formula is not None:
            return self._formula(cell)
        if self.areas and (over := self.over(row, col)) is not None:
            return (SPILLED, *map(self._placed, over))
        if cell is None or self._is_spilled(row, col):
            return BLANK
        return self._value(cell)

    def formula(self, cell: RawCell | None) -> str | None:
        """Return the formula of a cell in the names of its own workbook."""
        return self.book.formula(cell, self.xml) if cell is not None else None

    def text(self, cell: RawCell | None) -> str | None:
        """Return what a person reads in the list of changes."""
        if cell is None:
            return None
        formula = self.formula(cell)
        if formula is not None:
            return f"={formula}"
        value = self.book.value(cell)
        return None if value.kind == "blank" else value.text

    def seen(self, cell: RawCell | None) -> str | None:
        """Return what a person reads, a number by the digits that people see (F8.10)."""
        if cell is None or self.formula(cell) is not None:
            return self.text(cell)
        value = self.book.value(cell)
        return None if value.kind == "blank" else value.seen

    def display(self, cell: RawCell | None) -> str | None:
        """Return what the sheet shows of a value, by its number format (F24.19)."""
        if cell is None or self.formula(cell) is not None:
            return self.text(cell)
        value = self.book.value(cell)
        if value.kind == "blank":
            return None
        return shown_text(self.book, value, self.book.formats.of(cell.style)[0])

    def raw(self, cell: RawCell) -> bytes:
        """Return the bytes of a cell."""
        return self.xml.data[cell.start : cell.end]

    def _formula(self, cell: RawCell) -> Key:
        formula = cell.formula
        assert formula is not None, "only cells with a formula are asked"
        text = self._told(self.book.formula(cell, self.xml) or "")
        if formula.kind == "array":  # one that spills fills what it needs: that merely follows
            ref = "" if cell.meta else self._placed(formula.ref or "")
            return "formula", text, "array", ref, str(cell.meta)
        if formula.kind == "dataTable":
            found = self.xml.words.formula.search(self.raw(cell))
            said = sorted(attributes(found[1]).items()) if found else []
            return "formula", text, repr([(key, self._said(key, value)) for key, value in said])
        return "formula", text

    def _said(self, key: bytes, value: bytes) -> bytes:
        return self._placed(value.decode()).encode() if key in _TABLE_PLACES else value

    def _value(self, cell: RawCell) -> Key:
        value = self.book.value(cell)
        if value.kind == "blank":
            return BLANK
        if value.number is not None and value.kind != "boolean":
            return "number", repr(value.number)
        if value.kind == "string" and self.book.has_runs(cell, self.xml):
            return "string", value.text, self._rich(cell)
        return value.kind, value.text

    def _rich(self, cell: RawCell) -> str:
        raw = rich(self.book, self.xml, cell)
        if raw not in self._runs:
            self._runs[raw] = _pieces(raw)
        return self._runs[raw]

    # --- formulas over several cells ------------------------------------------------------------

    @cached_property
    def areas(self) -> dict[tuple[int, int], tuple[Area, Key]]:
        """The formulas over several given cells by where they stand."""
        return {
            (cell.row, cell.col): (area, self._formula(cell))
            for area, cell in spread_formulas(self.xml)
            if not cell.meta
        }

    @cached_property
    def _spills(self) -> list[Area]:
        return [area for area, cell in spread_formulas(self.xml) if cell.meta]

    def _is_spilled(self, row: int, col: int) -> bool:
        """Whether a cell shows a value that a formula spilled."""
        return any(area.has(row, col) for area in self._spills)

    @cached_property
    def _blocks(self) -> dict[int, list[tuple[Area, str]]]:
        found: dict[int, list[tuple[Area, str]]] = {}
        for place, (area, _) in self.areas.items():
            for block in range(area.row1 >> _BLOCK, (area.row2 >> _BLOCK) + 1):
                found.setdefault(block, []).append((area, cell_name(*place)))
        return found

    def over(self, row: int, col: int) -> tuple[str, str] | None:
        """Return where the formula stands whose value a cell shows, and its range."""
        here = self._blocks.get(row >> _BLOCK, ())
        return next(((name, str(area)) for area, name in here if area.has(row, col)), None)

    # --- formats --------------------------------------------------------------------------------

    def style(self, row: RowSpan | None, col: int, cell: RawCell | None) -> int:
        """Return the format of a cell; one that is not there has its row's or its column's."""
        if cell is not None:
            return cell.style
        tag = attributes(self.xml.data[row.start : row.inner]) if row else {}
        if truth(tag.get(b"customFormat", b"0").decode("ascii", "replace")):
            return integer(tag.get(b"s"))
        return next((style for first, last, style in self._columns if first <= col <= last), 0)

    @cached_property
    def _columns(self) -> list[tuple[int, int, int]]:
        items = children(child(Frame.of(self.xml).root, "cols"), "col")
        said = ([item.get(name) or "0" for name in ("min", "max", "style")] for item in items)
        return [(int(a), int(b), int(c)) for a, b, c in said if (a + b + c).isdigit()]


def seen_pair(
    old: CellSide, new: CellSide, cells: tuple[RawCell | None, RawCell | None]
) -> tuple[str | None, str | None]:
    """Return two cells as the sheet shows them; where that is the same, by as many digits as tell.

    What shows nothing at all, by its format, is told by its value too.
    """
    shown = old.display(cells[0]), new.display(cells[1])
    if shown[0] != shown[1] and "" not in shown:
        return shown
    exact = old.text(cells[0]), new.text(cells[1])
    seen = old.seen(cells[0]), new.seen(cells[1])
    return exact if seen[0] == seen[1] else seen


def rich(book: Book, xml: SheetXml, cell: RawCell) -> bytes:
    """Return what stands inside the string element of a cell, in the prefix of its sheet."""
    if cell.kind != "s":
        inline = xml.words.inline.search(xml.data, cell.start, cell.end)
        return (inline[2] or b"") if inline else b""
    raw, prefix = book.strings.raw(cell.value or ""), book.strings.prefix
    if prefix == xml.words.prefix:
        return raw
    return re.sub(rb"<(/?)%s(?=[A-Za-z])" % re.escape(prefix), rb"<\1" + xml.words.prefix, raw)


def _pieces(raw: bytes) -> str:
    """Return the pieces of a text with their looks, without how they happen to be written."""
    said = []
    for slash, name, inside, empty, text in _TAG.findall(raw):
        own = sorted(item for item in attributes(inside).items() if item[0] != b"xml:space")
        said.append((bool(slash), name, own, text if name == b"t" and not slash else b""))
        if empty:
            said.append((True, name, [], b""))
    return repr(said)
