"""Two versions of a workbook side by side, the first also with the lines of the second (F42)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice

from backshop.formats.errors import FormatError
from backshop.formats.protocol import Json, JsonObject, Source

from ..alignment.counterpart import sheet_pairs
from ..alignment.line_change import line_changes
from ..alignment.line_run import LineRun, Lines, SheetLines
from ..alignment.reshaping import Reshaping, sizes_of
from ..book.extent import Opened, opened
from ..book.sheet_xml import RawCell, SheetXml, unescape
from ..book.shown_text import shown_text
from ..book.workbook import Book, Sheet, child, children
from ..syntax.address import MAX_COL
from ..syntax.line_reference import LineFormulas

_TEXTS = 6  # of what lines hold, told with them
_TEXT_CHARS = 40
_LOOKED_AT = 2_000  # lines that are looked into for that
_FORMULAS_LOOKED_AT = 200_000
_SAME = SheetLines()
Pair = tuple[Sheet | None, Sheet | None]


@dataclass
class Aligned:
    """Two workbooks; `moved` is the first one with the lines that the second has."""

    old: Opened
    new: Opened
    moved: Opened
    lines: Mapping[str, SheetLines]  # by the names of sheets now
    _followers: dict[str, list[LineFormulas]] = field(default_factory=dict)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The sheets that are versions of one another, those of `moved` first."""
        return sheet_pairs(self.moved.book, self.new.book)

    def of(self, pair: Pair) -> SheetLines:
        """Return the lines of a sheet."""
        return self.lines.get(pair[1].name, _SAME) if pair[1] else _SAME

    def before(self, pair: Pair) -> Sheet | None:
        """Return a sheet as it was."""
        return self.old.book.find(pair[0].name) if pair[0] else None

    def told(self) -> list[Json]:
        """Return the lines that came or went, sheet by sheet."""
        return [
            _told(self, pair, lines, run)
            for pair in self.pairs
            for lines, run in self.of(pair).runs()
        ]

    def following(self) -> JsonObject:
        """Return how many formulas of cells and names say other places since lines came or went.

        `is_all` is false where there are so many that they were not all looked at.
        """
        texts = self._formulas()
        looked = islice(texts, _FORMULAS_LOOKED_AT)
        found = sum(self._followed(text, home) != text for text, home in looked)
        return {"count": found, "is_all": next(texts, None) is None}

    def _formulas(self) -> Iterator[tuple[str, str]]:
        """Go through the formulas of before, each with the sheet it stands on."""
        book = self.old.book
        names = children(child(book.root, "definedNames"), "definedName")
        yield from (("".join(map(str, item.itertext())), "") for item in names)
        for sheet in book.sheets:
            xml = book.xml(sheet)
            if xml is None or not xml.has_formulas:
                continue
            lines = self._by_old_name.get(sheet.name.lower(), _SAME)
            gone = any(run.is_gone for _, run in lines.runs())
            if not gone and xml.data.find(b"shared", xml.inner, xml.close) < 0:
                found = xml.words.formula.finditer(xml.data, xml.inner, xml.close)
                yield from ((unescape(one[2]), sheet.name) for one in found if one[2])
                continue
            for cell in xml.formula_cells():
                is_there = lines.rows.now(cell.row) and lines.columns.now(cell.col)
                if is_there and (text := book.formula(cell, xml)):
                    yield text, sheet.name

    def _followed(self, text: str, home: str) -> str:
        """Return a formula of before as it reads with the lines of now."""
        if home not in self._followers:
            self._followers[home] = [
                LineFormulas(home, name, shift)
                for name, lines in self._by_old_name.items()
                for shift in lines.shifts
            ]
        for one in self._followers[home]:
            text = one.moved(text)
        return text

    @cached_property
    def _by_old_name(self) -> dict[str, SheetLines]:
        return {pair[0].name.lower(): self.of(pair) for pair in self.pairs if pair[0]}


@lru_cache(maxsize=1)  # for somebody who scrolls: sources never change
def aligned(before: Source, after: Source) -> Aligned:
    """Return two workbooks to compare."""
    old, new = opened(before), opened(after)
    lines = line_changes(old.book, new.book)
    moved = _moved(old.book, new.book, lines) if lines else None
    if moved is None:
        return Aligned(old, new, old, {})
    return Aligned(old, new, Opened(moved), lines)


def _moved(old: Book, new: Book, lines: Mapping[str, SheetLines]) -> Book | None:
    """Return a workbook with other lines; None where it cannot be brought to them."""
    book = Book(old.package.copy(), strings_of=old, origin=old.origin)
    twins = {two.name: one.name for one, two in sheet_pairs(old, new) if one and two}
    reshaping = Reshaping(book)
    try:
        for name, own in lines.items():
            reshaping.apply(twins[name], own.shifts, sizes_of(new, new.sheet(name), own))
    except FormatError:
        return None
    return book


# --- lines in words -----------------------------------------------------------------------------


def _told(both: Aligned, pair: Pair, lines: Lines, run: LineRun) -> JsonObject:
    there, now = run.at, lines.place(run)
    side, sheet = (both.old, both.before(pair)) if run.is_gone else (both.new, pair[1])
    first = there if run.is_gone else now
    held, texts = _held(side, sheet, lines, first, run.count)
    return {
        "sheet": pair[1].name if pair[1] else "",
        "kind": "removed" if run.is_gone else "inserted",
        "axis": f"{lines.axis}s",
        "at": first,
        "count": run.count,
        "beside": now if run.is_gone else there,
        "cell_count": held,
        "texts": [*texts],
    }


def _held(
    side: Opened, sheet: Sheet | None, lines: Lines, first: int, count: int
) -> tuple[int | None, list[str]]:
    """Return how many cells of lines hold something, and how they begin; None: not looked at."""
    xml = side.book.xml(sheet) if sheet else None
    if xml is None or sheet is None:
        return None, []
    last = first + count - 1
    extent = side.extent(sheet)
    rows = extent.rows(xml, first, last) if lines.axis == "row" else xml.iter_rows()
    cols = (1, MAX_COL) if lines.axis == "row" else (first, last)
    held, texts = 0, list[str]()
    for seen, row in enumerate(rows):
        if seen >= _LOOKED_AT:
            return None, texts
        for cell in xml.cells(row, *cols):
            is_held = cell.formula is not None or side.book.value(cell).kind != "blank"
            held += is_held
            if is_held and len(texts) < _TEXTS:
                text = _seen(side.book, xml, cell)
                texts.append(text if len(text) <= _TEXT_CHARS else f"{text[: _TEXT_CHARS - 1]}…")
    return held, texts


def _seen(book: Book, xml: SheetXml, cell: RawCell) -> str:
    """Return what a cell shows; a formula whose result is not stored by its words."""
    if book.is_uncached(cell):
        return f"={book.formula(cell, xml)}"
    value = book.value(cell)
    return shown_text(book, value, book.formats.of(cell.style)[0]) or value.seen
