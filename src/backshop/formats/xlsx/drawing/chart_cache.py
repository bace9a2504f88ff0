"""What a chart keeps of the cells it shows, brought up to date with them (F36.9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce

from backshop.base import limits
from backshop.formats.chart import reference
from backshop.formats.chart.plan import GENERAL, Points, Reference
from backshop.formats.chart.vocabulary import child, is_on, local, series_of
from backshop.formats.figure.plain import exact_text
from backshop.formats.package.guard import Element

from ..book.workbook import Book
from ..syntax.address import Area, parse_area
from .cell_block import Block, Held, SheetRange, read_block

MAX_CELLS = limits.CHART_MAX_CELLS
_WASTE = 2  # times as many cells as are shown are read where that saves a pass


@dataclass
class Noticed:
    """What is wrong with the cells of charts, by the range: how many of each sort."""

    waiting: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    hidden: Counter[str] = field(default_factory=Counter)


def range_of(book: Book, formula: str) -> SheetRange | None:
    """Return the cells a reference of a chart means; None where it is no plain range."""
    name, mark, cells = formula.strip().removeprefix("=").rpartition("!")
    area = parse_area(cells) if mark else None
    if area is None:
        return None
    name = name[1:-1].replace("''", "'") if name[:1] == "'" and name[-1:] == "'" else name
    sheet = next((one for one in book.sheets if one.name.lower() == name.lower()), None)
    if sheet is None or sheet.kind != "worksheet":
        return None
    return SheetRange(sheet, area)


@dataclass
class Caches:
    """Reads cells for charts; the same range is read once."""

    book: Book
    noticed: Noticed = field(default_factory=Noticed)
    _blocks: list[tuple[str, Block]] = field(default_factory=list)
    _kinds: dict[SheetRange, str] = field(default_factory=dict)

    def refresh(self, root: Element) -> None:
        """Let every series of a chart keep what its cells hold now."""
        only_shown = is_on(child(root, "chart"), "plotVisOnly")
        left = MAX_CELLS
        wanted: list[tuple[Element, SheetRange, bool]] = []
        for ser in series_of(root):
            across = self._lies_across(ser)
            for holder in reference.holders(ser):
                cells = range_of(self.book, reference.formula_of(holder) or "")
                if cells is not None and cells.area.count <= left:
                    left -= cells.area.count
                    wanted.append((holder, cells, across))
        self._read_together([cells for _, cells, _ in wanted])
        for holder, cells, across in wanted:
            made = self.reference(cells, local(holder), across=across, only_shown=only_shown)
            reference.write(holder, made)

    def _lies_across(self, ser: Element) -> bool:
        """Whether the values of a series stand in a row."""
        held = child(ser, "val")
        formula = reference.formula_of(child(ser, "yVal") if held is None else held)
        cells = range_of(self.book, formula or "")
        return cells is not None and cells.area.width > cells.area.height

    def _read_together(self, ranges: list[SheetRange]) -> None:
        """Read ranges that lie side by side in one pass."""
        for sheet in dict.fromkeys(one.sheet for one in ranges):
            areas = {one.area for one in ranges if one.sheet == sheet}
            around = reduce(Area.join, areas)
            if around.count <= _WASTE * sum(area.count for area in areas):
                self.block(SheetRange(sheet, around))

    def block(self, cells: SheetRange) -> Block:
        """Return what the cells of a range hold."""
        for sheet, block in self._blocks:
            if sheet == cells.sheet.name and block.area.clip(cells.area) == cells.area:
                return block.part(cells.area)
        read = read_block(self.book, cells)
        self._blocks.append((cells.sheet.name, read))
        return read

    def kind(self, cells: SheetRange) -> str:
        """Return what categories of these cells are: number, text, or levels of texts."""
        if cells.area.height > 1 and cells.area.width > 1:
            return "levels"
        if cells not in self._kinds:
            filled = self.block(cells).filled
            is_number = bool(filled) and all(one.is_number for one in filled)
            self._kinds[cells] = "number" if is_number else "text"
        return self._kinds[cells]

    def reference(
        self, cells: SheetRange, role: str, *, across: bool = False, only_shown: bool = True
    ) -> Reference:
        """Return a reference to cells for a part of a series, with what they hold now."""
        block = self.block(cells)
        if role in ("val", "yVal", "bubbleSize"):
            held = self._shown(cells, block, only_shown)
            return self._numbers(cells, held, is_value=True)
        if role == "tx":
            return self._texts(cells, block.held)
        kind = self.kind(cells)
        if kind == "levels":
            return self._levels(cells, block, across=across, only_shown=only_shown)
        held = self._shown(cells, block, only_shown)
        if kind == "number":
            return self._numbers(cells, held, is_value=False)
        self._notice(cells, held)
        return self._texts(cells, held)

    def _texts(self, cells: SheetRange, held: list[Held]) -> Reference:
        texts = tuple(one.shown(self.book.date_1904) for one in held)
        return Reference(formula=cells.formula, kind="text", points=(texts,))

    def _shown(self, cells: SheetRange, block: Block, only_shown: bool) -> list[Held]:
        if not only_shown or not (block.hidden_rows or block.hidden_cols):
            return block.held
        places = list(cells.area.cells())
        kept = [place for place in places if not block.is_hidden(*place)]
        if len(kept) < len(places):
            self.noticed.hidden[str(cells)] = len(places) - len(kept)
        return [block.at(*place) for place in kept]

    def _notice(self, cells: SheetRange, held: list[Held], *, is_value: bool = False) -> None:
        kinds = Counter(one.kind for one in held)
        for seen, count in (
            (self.noticed.waiting, kinds["waiting"]),
            (self.noticed.errors, kinds["error"]),
            (self.noticed.texts, kinds["text"] + kinds["boolean"] if is_value else 0),
        ):
            if count:
                seen[str(cells)] = count

    def _numbers(self, cells: SheetRange, held: list[Held], *, is_value: bool) -> Reference:
        self._notice(cells, held, is_value=is_value)
        first = next((one for one in held if one.is_number), None)
        return Reference(
            formula=cells.formula,
            kind="number",
            points=(tuple(map(_number, held)),),
            format_code=first.code if first else GENERAL,
        )

    def _levels(
        self, cells: SheetRange, block: Block, *, across: bool, only_shown: bool
    ) -> Reference:
        """Return categories of several levels; the innermost stands next to the values."""
        turned = block.turned() if across else block
        area = turned.area
        rows = [
            row
            for row in range(area.row1, area.row2 + 1)
            if not (only_shown and row in turned.hidden_rows)
        ]
        levels: list[Points] = [
            tuple(turned.at(row, col).shown(self.book.date_1904) for row in rows)
            for col in range(area.col2, area.col1 - 1, -1)
        ]
        self._notice(cells, block.filled)
        return Reference(formula=cells.formula, kind="levels", points=tuple(levels))


def _number(held: Held) -> str | None:
    """Return a value as it is drawn: text counts as nothing, an absent or waiting one is a gap."""
    if held.is_number and held.number is not None:
        return exact_text(held.number)
    return "0" if held.kind in ("text", "boolean") else None
