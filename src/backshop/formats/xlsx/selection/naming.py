"""How the slots of two workbooks are named where lines came or went: by places of before (F42).

A slot has the same name whichever lines of the workbook after are there, or it needs some of them:
those in which it stands, and those at which what it refers to begins or ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from lxml import etree

from backshop.formats.package.guard import Element
from backshop.formats.package.package import canonical_element

from ..alignment.geometry import Geometry, Run
from ..alignment.reshaping import Reshaping
from ..book.sheet_xml import RawCell, RowSpan, SheetXml
from ..book.workbook import Book, local
from ..syntax.address import MAX_COL, MAX_ROW, Area, parse_area
from . import book_name
from .book_name import NameKey
from .cell_content import BLANK, CellSide, Key
from .drawing_change import drawing_slots
from .slot import SheetPair, Slot

Sides = tuple[Key, Key]
Said = tuple[str, tuple[tuple[str, str], ...]]
_PLACES = ("ref", "sqref")


@dataclass(frozen=True, slots=True)
class NamedContent:
    """What a cell held and holds in names of before, and the runs without which it does not."""

    sides: Sides
    before: str | None
    runs: frozenset[Run]


@dataclass
class Naming:
    """Two workbooks with the same lines, the first as it was, and how places are named.

    `told` gives a formula in the names that sheets had before.
    """

    origin: Book
    new: Book
    geometry: Geometry
    told: Callable[[str], str]
    _undone: list[Book] = field(default_factory=list)

    def undone(self) -> Book:
        """Return the second workbook with the lines of the first."""
        if not self._undone:
            self._undone.append(self.undone_of(self.new))
        return self._undone[0]

    def undone_of(self, now: Book) -> Book:
        """Return a workbook that has the lines of now with those of before."""
        book = Book(now.package.copy(), strings_of=now)
        reshaping = Reshaping(book)
        for sheet in book.sheets:
            for lines in self.geometry.of(sheet.name).axes[::-1]:
                reshaping.apply(sheet.name, lines.undone(lines.runs))
        return book

    def formula(self, text: str, home: str) -> str:
        """Return a formula of now in names of before."""
        return self.told(self.geometry.formula(text, home))

    def cells(self, pair: SheetPair, xml: SheetXml) -> CellNaming | None:
        """Return how the cells of a sheet are named."""
        sheet = self.origin.find(pair.shown)
        before = self.origin.xml(sheet) if sheet else None
        if before is None:
            return None
        home = pair.shown
        named = CellSide(
            self.new,
            xml,
            lambda text: self.formula(text, home),
            lambda text: self.geometry.places(text, home),
        )
        return CellNaming(CellSide(self.origin, before, self.told), named, self.geometry, home)

    def frame(self, book: Book, pair: SheetPair) -> Element:
        """Return what a version of a sheet says around its cells."""
        xml = book.xml(book.sheet(pair.shown))
        assert xml is not None, "both versions have cells"
        return xml.frame()

    def near(self, home: str) -> set[Run]:
        """Return the runs of a sheet, or all where it has none."""
        own = {run for run in self.geometry.runs() if run.sheet == home.lower()}
        return own or set(self.geometry.runs())

    def name(self, key: NameKey) -> tuple[list[tuple[Said, ...]], set[Run]]:
        """Return what a name said and says, and the runs without which it does not."""
        sides = [
            book_name.names(book).get(key, []) for book in (self.origin, self.new, self.undone())
        ]
        before, after, alone = ([book_name.said(item) for item in side] for side in sides)
        named = tuple((self.geometry.formula(text, key[0]), own) for text, own in after)
        runs = {run for text, _ in before for run in self.geometry.lost(text, key[0])}
        if named != tuple(alone):
            runs |= set(self.geometry.runs())
        return [
            tuple((self.told(text), own) for text, own in side) for side in (before, named)
        ], runs

    def part(self, part: str, home: str) -> tuple[tuple[bytes, bytes], set[Run]]:
        """Return a part of a sheet before and now, and the runs without which it is another."""
        before, after = self.origin.package.xml(part), self.new.package.xml(part)
        named = canonical_element(self.geometry.element(after, home))
        alone = self.undone().package
        runs = self.runs_of([before], home)
        if part not in alone or canonical_element(alone.xml(part)) != named:
            runs |= self.near(home)
        return (canonical_element(before), named), runs

    def lone_part(self, part: str, home: str) -> tuple[tuple[bytes | None, bytes | None], set[Run]]:
        """Return a part that came or went likewise; it needs the lines of its sheet as they are."""
        own = {run for run in self.geometry.runs() if run.sheet == home.lower()}
        if part in self.new.package:
            after = self.geometry.element(self.new.package.xml(part), home)
            return (None, canonical_element(after)), own
        return (canonical_element(self.origin.package.xml(part)), None), own

    def drawn(self, pair: SheetPair) -> dict[tuple[str, ...], Slot]:
        """Return the charts and pictures that differ without the lines, by what they are."""
        undone = self.undone()
        sides = self.origin.sheet(pair.shown), undone.sheet(pair.shown)
        alone = SheetPair(pair.at, *sides, pair.name)
        found = drawing_slots(alone, self.origin, undone, self.told)
        return {slot.detail: slot for slot in found or ()}

    def needed(self, home: str, now: Iterable[str], before: Iterable[str]) -> set[Run]:
        """Return the runs at whose lines references begin or end now, or did before."""
        runs = {run for text in now for run in self.geometry.met(text, home)}
        return runs | {run for text in before for run in self.geometry.lost(text, home)}

    def met_on(self, sheet: str) -> set[Run]:
        """Return the runs to whose lines a sheet that came refers."""
        found: set[Run] = set()
        xml = self.new.xml(self.new.sheet(sheet))
        texts = {self.new.formula(cell, xml) or "" for cell in xml.formula_cells()} if xml else ()
        for text in texts:
            found |= self.geometry.met(text, sheet)
        return found

    def runs_of(self, elements: Iterable[Element], home: str) -> set[Run]:
        """Return the runs that took lines at which elements of before began or ended."""
        found: set[Run] = set()
        for element in elements:
            for item in element.iter(etree.Element):
                for key in _PLACES:
                    areas = map(parse_area, (item.get(key) or "").split())
                    for area in areas:
                        found |= self.geometry.lost_area(area, home) if area else set()
                if item.text and item.text.strip():
                    found |= self.geometry.lost(item.text, home)
                found |= self._lost_break(item, home)
        return found

    def _lost_break(self, item: Element, home: str) -> set[Run]:
        """Return the run that took the line before which a page break stood."""
        parent, number = item.getparent(), item.get("id") or ""
        if local(item) != "brk" or parent is None or not number.isdigit():
            return set()
        line = int(number) + 1
        is_row = local(parent) == "rowBreaks"
        area = Area(line, 1, line, MAX_COL) if is_row else Area(1, line, MAX_ROW, line)
        return self.geometry.lost_area(area, home)


class CellNaming:
    """How the cells of one sheet are named."""

    def __init__(self, origin: CellSide, named: CellSide, geometry: Geometry, home: str) -> None:
        self._origin, self._named, self._geometry, self._home = origin, named, geometry, home
        self.lines = geometry.of(home)
        self._known: dict[int, dict[int, RawCell]] = {}

    def told(self, row: int, col: int) -> tuple[int, int]:
        """Return the names of a row and a column."""
        return self.lines.rows.told(row), self.lines.columns.told(col)

    def came(self, row: int, col: int) -> frozenset[Run]:
        """Return the runs with which a cell came."""
        return frozenset(
            Run(self._home.lower(), lines.axis, run) for lines, run in self.lines.came(row, col)
        )

    def content(self, row: int, col: int, cell: RawCell | None) -> NamedContent:
        """Return what a cell held and holds."""
        was = self.lines.was(row, col)
        old = self._cells_before(was[0]).get(was[1]) if was else None
        key = self._origin.key(*was, old) if was else BLANK
        runs = set(self.came(row, col))
        if (text := self._origin.formula(old)) is not None:
            runs |= self._geometry.lost(text, self._home)
        if cell is not None and (text := self._named.formula(cell)) is not None:
            runs |= self._geometry.met(text, self._home)
            area = parse_area(cell.formula.ref or "") if cell.formula else None
            runs |= self._geometry.met_area(area, self._home) if area else set()
        sides = key, self._named.key(row, col, cell)
        return NamedContent(sides, self._origin.text(old), frozenset(runs))

    def _cells_before(self, row: int) -> dict[int, RawCell]:
        if row not in self._known:
            self._known[row] = self._origin.cells(self._rows.get(row))
        return self._known[row]

    @cached_property
    def _rows(self) -> dict[int, RowSpan]:
        return {row.number: row for row in self._origin.xml.rows()}
