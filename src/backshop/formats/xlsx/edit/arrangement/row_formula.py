"""Formulas of rows that change places: what they read in their own row goes with them (F39.5).

A reference to the own row follows the row. One with `$`, or to cells that stay, means the same
cells as before. One that reaches into other rows that are carried speaks of places, not of rows:
where every row of a column says the same of its neighbours (a running total), each place keeps its
formula; where they do not, no order of the rows could mean what was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from backshop.formats.write.operation import problem

from ...book.sheet_xml import RawCell
from ...syntax.address import Area, cell_name, column_name
from ...syntax.formula import Token, shift, tokens
from ...syntax.function import DYNAMIC, VOLATILE
from ...syntax.numeral import DIGITS, row_numerals
from ...syntax.row_reference import (
    is_of_sheet,
    is_own_row,
    is_relative,
    marked,
)
from ...syntax.signature import SIGNATURES
from .block import Block, named

_PLAIN = frozenset({"string", "number", "operator", "open", "close", "separator", "space"})
_OF_PLACE = frozenset({"ROW", "ROWS", "FORMULATEXT"}) | VOLATILE | DYNAMIC
_HINTS = (
    "$ before a row keeps a reference where it is",
    "a range without these columns, or values in place of their formulas (copy_range, what values)",
)


@dataclass(frozen=True, slots=True)
class _Form:
    """What formulas with the same words have in common: the numbers that follow the own row."""

    own: tuple[int, ...]  # which numbers of the text
    by_place: bool = False  # it reads other rows that are carried
    beside: bool = False  # it reads cells of its own row that are not carried
    names_cells: bool = False  # it reads cells of the block that stay the same by `$`
    is_kept: bool = False  # its result goes with the row: it reads nothing else


@dataclass
class RowFormulas:
    """The formulas of a block, and which columns keep theirs in place."""

    block: Block
    columns: frozenset[int] = frozenset()  # of formulas that speak of places
    beside: int = 0  # formulas that read cells of their row which stay behind
    fixed: int = 0  # formulas that read some rows by places that do not change
    _forms: dict[tuple[str | None, ...], _Form] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._read_ones: dict[tuple[int, int], tuple[str, _Form]] = {}
        self._sheet = self.block.edit.sheet.name

    def survey(self, where: str) -> None:
        """Look at every formula; refuse those that no order of the rows leaves their meaning."""
        found: dict[int, list[RawCell]] = {}
        for cell in self.cells():
            text = self.block.edit.book.formula(cell, self.block.edit.xml) or ""
            form = self._form(text, cell.row)
            self._read_ones[cell.row, cell.col] = (text, form)
            self.beside += form.beside
            self.fixed += form.names_cells and self._reads_fixed(text)
            if form.by_place:
                found.setdefault(cell.col, []).append(cell)
        for col, cells in found.items():
            self._refuse_uneven(col, cells, where)
        self.columns = frozenset(found)

    def keeps(self, cell: RawCell) -> bool:
        """Whether a formula's result goes with its row, whatever order the rows are in."""
        return self._read_ones[cell.row, cell.col][1].is_kept

    def moved(self, cell: RawCell, row: int) -> str:
        """Return the formula of a cell that is carried to another row."""
        text, form = self._read_ones[cell.row, cell.col]
        own = form.own
        if not own:
            return text
        pieces = DIGITS.split(text)
        for slot in own:
            pieces[2 * slot + 1] = str(row)
        return "".join(pieces)

    def cells(self) -> Iterable[RawCell]:
        """Go through the formulas."""
        area, xml = self.block.area, self.block.edit.xml
        for row in self.block.rows.values():
            yield from xml.formulas_of(row, area.col1, area.col2)

    def _text(self, cell: RawCell) -> str:
        return self._read_ones[cell.row, cell.col][0]

    # --- one formula ---------------------------------------------------------------------------

    def _form(self, text: str, row: int) -> _Form:
        """Return what a formula of a row refers to; one with the same words was seen before."""
        key = marked(text, row)
        if key not in self._forms:
            self._forms[key] = self._read(text, row)
        return self._forms[key]

    def _read(self, text: str, row: int) -> _Form:
        own: list[int] = []
        by_place = beside = names_cells = False
        is_kept = True
        number = 0
        for token in tokens(text):
            slots = row_numerals(token, number)
            number += len(DIGITS.findall(token.text))
            is_kept = is_kept and self._keeps(token, row)
            area = token.area
            if area is None or not is_of_sheet(token, self._sheet):
                continue
            if is_own_row(token, row, self._sheet):
                own.extend(slots)
                beside = beside or not self._is_carried(area)
            elif any(is_relative(token)) and area.meets(self.block.area):
                by_place = True
            else:
                names_cells = names_cells or area.meets(self.block.area)
        is_kept = is_kept and not (by_place or beside)
        return _Form(tuple(own), by_place, beside, names_cells, is_kept)

    def _reads_fixed(self, text: str) -> bool:
        """Whether a formula reads some rows of the block, not all, by references with `$`."""
        block = self.block.area
        areas = (
            token.area
            for token in tokens(text)
            if is_of_sheet(token, self._sheet) and not any(is_relative(token))
        )
        return any(
            area.meets(block) and not (area.row1 <= block.row1 and block.row2 <= area.row2)
            for area in areas
            if area is not None
        )

    def _keeps(self, token: Token, row: int) -> bool:
        """Whether a token means the same thing wherever the row stands."""
        if token.kind == "function":
            return token.body in SIGNATURES and token.body not in _OF_PLACE
        if token.kind != "ref":
            return token.kind in _PLAIN
        area = token.area
        if area is None or not is_of_sheet(token, self._sheet):
            return area is not None and not token.external
        return not area.meets(self.block.area) or is_own_row(token, row, self._sheet)

    def _is_carried(self, area: Area) -> bool:
        block = self.block.area
        return block.col1 <= area.col1 and area.col2 <= block.col2

    # --- columns that speak of places ----------------------------------------------------------

    def _refuse_uneven(self, col: int, cells: list[RawCell], where: str) -> None:
        area = self.block.area
        first = self._text(cells[0])
        said = {shift(self._text(cell), area.row1 - cell.row, 0) for cell in cells}
        if len(cells) == area.height and len(said) == 1:
            return
        example = f"{cell_name(cells[0].row, col)} (={first[:60]})"
        what = (
            f"formulas in column {column_name(col)}, such as {example}, read other rows of the "
            "range; in another order of the rows they would compute something else"
        )
        hints = [*named([(cell.row, cell.col) for cell in cells]), *_HINTS]
        raise problem("op_conflict", where, what, hints)
