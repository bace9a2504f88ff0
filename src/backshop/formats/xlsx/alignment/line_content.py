"""What the lines of a sheet hold, as far as they are known again by it.

Numbers of rows, results and looks count for nothing; of a formula only that it is one, since its
references may follow. Lines that are asked for one by one are compared cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes
from ..book.workbook import Book, child, children
from .line_run import Lines
from .line_search import Trace

_NOISE = re.compile(rb' (?:r|s|cm|vm)="[^"]*"')
_FORMULA = re.compile(
    rb"<(?:[\w.\-]+:)?f\b[^>]*?(?:/>|>[^<]*</(?:[\w.\-]+:)?f>)"
    rb"\s*(?:<(?:[\w.\-]+:)?v>[^<]*</(?:[\w.\-]+:)?v>)?"
)
_TYPE = re.compile(rb' t="(?:n|str|b|e)"')
_OTHER_FORMULA = 0.25  # of a cell: its references may just have followed
_OTHER_LOOK = 0.1


class Cell(NamedTuple):
    """A cell that holds something: what, and its formula."""

    key: str
    formula: str | None


class Content:
    """One version of a sheet; `comparable`: the same bytes mean the same in the other one."""

    def __init__(self, book: Book, xml: SheetXml, *, comparable: bool) -> None:
        self.book, self.xml, self._comparable = book, xml, comparable
        self._known: dict[int, RowSpan] = {}
        self._signs: dict[int, bytes] = {}
        self._cells: dict[int, dict[int, Cell]] = {}

    def know(self, rows: Iterable[RowSpan]) -> None:
        """Remember where some rows stand, so that nobody has to go through all for them."""
        self._known.update((row.number, row) for row in rows)

    @cached_property
    def spans(self) -> dict[int, RowSpan]:
        """All stored rows by their numbers."""
        self.know(self.xml.rows())
        return self._known

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the stored rows, rising."""
        return sorted(self.spans)

    @cached_property
    def is_rising(self) -> bool:
        """Whether every row stands where it should, once."""
        return self.numbers == [row.number for row in self.xml.rows()]

    def _span(self, number: int) -> RowSpan | None:
        return self._known.get(number) or self.spans.get(number)

    def sign(self, number: int, lines: Lines | None = None, *, is_new: bool = False) -> bytes:
        """Return what a row holds; of cells in columns that came or went nothing."""
        if lines:
            return self._kept(number, lines, is_new=is_new)
        if number not in self._signs:
            row = self._span(number)
            self._signs[number] = self._signed(row) if row is not None else b""
        return self._signs[number]

    def _signed(self, row: RowSpan) -> bytes:
        if not self._comparable:
            return _joined(self.cells(row.number).values())
        p = self.xml.words.prefix
        plain = _NOISE.sub(b"", self.xml.data[row.inner : row.close]).replace(b"<%sc/>" % p, b"")
        if b"<%sf" % p not in plain:
            return plain
        return _TYPE.sub(b"", _FORMULA.sub(b"<f/>", plain))

    def _kept(self, number: int, lines: Lines, *, is_new: bool) -> bytes:
        found = self.cells(number)
        other = lines.was if is_new else lines.now
        return _joined(cell for col, cell in sorted(found.items()) if other(col) is not None)

    def cells(self, number: int) -> dict[int, Cell]:
        """Return the cells of a row that hold something, by their columns."""
        if number not in self._cells:
            row = self._span(number)
            raws = self.xml.cells(row) if row is not None else ()
            made = ((raw.col, self._cell(raw)) for raw in raws)
            self._cells[number] = {col: cell for col, cell in made if cell is not None}
        return self._cells[number]

    def _cell(self, raw: RawCell) -> Cell | None:
        if raw.formula is not None:
            return Cell("=", self.book.formula(raw, self.xml))
        if self._comparable:
            return Cell(f"{raw.kind} {raw.value}", None) if raw.value is not None else None
        value = self.book.value(raw)
        return Cell(value.text, None) if value.kind != "blank" else None

    def look(self, number: int) -> object:
        """Return how a row looks, in numbers of formats."""
        row = self._span(number)
        if row is None or not self._comparable:
            return None
        tag = attributes(self.xml.data[row.start : row.inner])
        own = {k: v for k, v in tag.items() if k not in (b"r", b"spans") and b":" not in k}
        return own, [raw.style for raw in self.xml.cells(row)]

    @cached_property
    def columns(self) -> dict[int, tuple[tuple[str, str], ...]]:
        """What is said of the first columns: widths, formats, outline."""
        found: dict[int, tuple[tuple[str, str], ...]] = {}
        for item in children(child(self.xml.frame(), "cols"), "col"):
            ends = [item.get(name) or "" for name in ("min", "max")]
            if all(end.isdigit() for end in ends):
                rest = [(str(k), str(v)) for k, v in item.attrib.items() if k not in ("min", "max")]
                for col in range(int(ends[0]), min(int(ends[1]), int(ends[0]) + 999) + 1):
                    found[col] = tuple(sorted(rest))
        return found


def _joined(cells: Iterable[Cell]) -> bytes:
    return "\0".join(cell.key for cell in cells).encode("utf-8", "surrogatepass")


def _cell_cost(one: Cell | None, two: Cell | None) -> float:
    if one == two:
        return 0.0
    if one is None or two is None or one.key != two.key:
        return 1.0
    return _OTHER_FORMULA


class Rows:
    """The rows of two versions of a sheet, whose columns came and went as `columns` says."""

    def __init__(
        self, old: Content, new: Content, columns: Lines, traces: Sequence[Trace] = ()
    ) -> None:
        self.old, self.new, self.columns, self.traces = old, new, columns, traces
        self._costs: dict[tuple[int, int], float] = {}

    @property
    def olds(self) -> Sequence[int]:
        """The stored rows of before."""
        return self.old.numbers

    @property
    def news(self) -> Sequence[int]:
        """Those of now."""
        return self.new.numbers

    def signs(self, old: int, new: int) -> tuple[bytes, bytes]:
        """Return what two rows hold in the columns that both versions have."""
        lines = self.columns or None
        return self.old.sign(old, lines), self.new.sign(new, lines, is_new=True)

    def is_same(self, old: int, new: int) -> bool:
        """Whether two rows hold the same."""
        one, two = self.signs(old, new)
        return one == two

    def cost(self, old: int, new: int) -> float:
        """Return how many cells of two rows differ; another formula or look counts for less."""
        if (old, new) not in self._costs:
            self._costs[old, new] = self._cost(old, new)
        return self._costs[old, new]

    def _cost(self, old: int, new: int) -> float:
        olds, news = dict(self.old.cells(old)), self.new.cells(new)
        total = 0.0
        for col, cell in news.items():
            was = self.columns.was(col)
            if was is not None:
                total += _cell_cost(olds.pop(was, None), cell)
        total += sum(self.columns.now(col) is not None for col in olds)
        if self.columns:
            return total
        return total + (_OTHER_LOOK if self.old.look(old) != self.new.look(new) else 0.0)

    def held(self, line: int, *, is_new: bool) -> float:
        """Return how many cells of a row hold something, in columns that both versions have."""
        cells = (self.new if is_new else self.old).cells(line)
        other = self.columns.was if is_new else self.columns.now
        return sum(other(col) is not None for col in cells) if self.columns else len(cells)


class Columns:
    """The columns of two versions of a sheet, as far as pairs of rows show them."""

    def __init__(
        self,
        old: Content,
        new: Content,
        pairs: Sequence[tuple[int, int]],
        traces: Sequence[Trace] = (),
    ) -> None:
        self.traces = traces
        self._pairs = [(old.cells(one), new.cells(two)) for one, two in pairs]
        self._said = old.columns, new.columns
        self._costs: dict[tuple[int, int], float] = {}

    @cached_property
    def olds(self) -> Sequence[int]:
        """The columns of before that hold something."""
        return sorted({col for one, _ in self._pairs for col in one} | self._said[0].keys())

    @cached_property
    def news(self) -> Sequence[int]:
        """Those of now."""
        return sorted({col for _, two in self._pairs for col in two} | self._said[1].keys())

    def is_same(self, old: int, new: int) -> bool:
        """Whether two columns hold the same."""
        return all(_same_key(one.get(old), two.get(new)) for one, two in self._pairs)

    def cost(self, old: int, new: int) -> float:
        """Return how many cells of two columns differ."""
        if (old, new) not in self._costs:
            total = sum(_cell_cost(one.get(old), two.get(new)) for one, two in self._pairs)
            is_other = self._said[0].get(old) != self._said[1].get(new)
            self._costs[old, new] = total + (_OTHER_LOOK if is_other else 0.0)
        return self._costs[old, new]

    def held(self, line: int, *, is_new: bool) -> float:
        """Return how many cells of a column hold something."""
        return sum(line in pair[is_new] for pair in self._pairs)


def _same_key(one: Cell | None, two: Cell | None) -> bool:
    return (one.key if one else None) == (two.key if two else None)
