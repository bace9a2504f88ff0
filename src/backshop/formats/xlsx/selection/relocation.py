"""Where places of a workbook are in another version of it (F34).

A cell keeps its address unless lines came or went before it; rows that were carried elsewhere are
known again by what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property

from backshop.base.place import FILE, Place
from backshop.formats.errors import fail
from backshop.formats.protocol import Source
from backshop.formats.selection.change_unit import Relocated
from backshop.formats.warning import Warnings

from ..alignment.counterpart import same_meaning
from ..book.frame import Frame
from ..book.opening import open_book
from ..book.sheet_xml import RawCell, SheetXml
from ..book.workbook import Book
from ..read import choose_sheet
from ..review.aligned import Aligned, Pair, aligned
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name, column_name, parse_area
from .cell_change import cell_changes
from .cell_content import CellSide
from .look_key import LookKeys
from .row_map import RowMap
from .sheet_frame import frame_changes
from .slot import SheetPair

_OURS = frozenset({"sheet", "range", "words"})
_NUMBER = re.compile(r"\d+")


# --- places as they are -------------------------------------------------------------------------


def require_place(source: Source, place: Place) -> Place:
    """Return a place of a workbook as it is written here, or the error a read would give."""
    return _required(open_book(source), place)


def _required(book: Book, place: Place) -> Place:
    others = [one.name for one in fields(place) if getattr(place, one.name) is not None]
    if strange := sorted({*others} - _OURS):
        raise fail(
            "bad_selector", f"a place in a workbook has no {strange[0]}", hints=sorted(_OURS)
        )
    if place.is_file:
        return FILE
    if place.range is None and place.words is not None:
        return _found(book, place)
    sheet = choose_sheet(book, place.sheet, Warnings())
    if place.range is None:
        return Place(sheet=sheet.name)
    area = parse_area(place.range)
    if area is None:
        raise fail("bad_range", "this is no range of a sheet", detail=place.range[:40])
    xml = book.xml(sheet)
    if xml is None:
        raise fail("bad_range", "this sheet has no cells", detail=sheet.name)
    area = _shown_area(xml, area)
    if place.words is not None and not any(place.words in t for _, t in _texts(book, xml, area)):
        raise fail("no_match", "the cells do not have these words", detail=told(area))
    return Place(sheet=sheet.name, range=told(area), words=place.words)


def _shown_area(xml: SheetXml, area: Area) -> Area:
    """Return an area with all of the merged cells that it meets."""
    merges = Frame.of(xml).merges
    while met := [one for one in merges if one.meets(area) and one.clip(area) != one]:
        for one in met:
            area = area.join(one)
    return area


def _found(book: Book, place: Place) -> Place:
    """Return the one cell that has the words."""
    sheets = [book.sheet(place.sheet)] if place.sheet is not None else book.sheets
    found: list[Place] = []
    for sheet in sheets:
        xml = book.xml(sheet)
        for at, text in _texts(book, xml, None) if xml else ():
            if place.words and place.words in text:
                found.append(Place(sheet=sheet.name, range=cell_name(*at), words=place.words))
            if len(found) > 1:
                hints = [f"{one.sheet}!{one.range}" for one in found]
                raise fail("ambiguous_match", "several cells have these words", hints=hints)
    if not found:
        raise fail("no_match", "no cell has these words")
    return found[0]


def _texts(book: Book, xml: SheetXml, area: Area | None) -> Iterator[tuple[tuple[int, int], str]]:
    """Go through the texts of cells: what they show, and their formulas."""
    for row in xml.iter_rows():
        if area is not None and not area.row1 <= row.number <= area.row2:
            continue
        for cell in xml.cells(row, area.col1 if area else 1, area.col2 if area else MAX_COL):
            formula = book.formula(cell, xml)
            text = book.value(cell).text
            yield (row.number, cell.col), text if formula is None else f"{text}\n={formula}"


def told(area: Area) -> str:
    """Return a range as people write it: whole columns and whole rows without their ends."""
    if area.row1 == 1 and area.row2 == MAX_ROW and area.col2 < MAX_COL:
        return f"{column_name(area.col1)}:{column_name(area.col2)}"
    if area.col1 == 1 and area.col2 == MAX_COL and area.row2 < MAX_ROW:
        return f"{area.row1}:{area.row2}"
    return str(area)


# --- places in another version ------------------------------------------------------------------


def relocate(before: Source, after: Source, places: Sequence[Place]) -> list[Relocated]:
    """Return where places of one version are in another, and whether something changed there."""
    is_same = before.sha256 == after.sha256
    both = aligned(before, after)
    old, new = both.old.book, both.new.book
    pairs = {pair[0].name: pair for pair in both.pairs if pair[0] is not None}
    known: dict[str, _Moved] = {}
    looks = LookKeys(old, new)
    found = []
    for asked in places:
        place = _required(old, asked)
        pair = pairs.get(place.sheet or "")
        if place.is_file or is_same:
            found.append(Relocated(place=place, is_touched=not is_same))
            continue
        if pair is None or pair[1] is None:
            found.append(Relocated(place=None, is_touched=True))
            continue
        if place.sheet is not None and place.sheet not in known:
            known[place.sheet] = _Moved(both, pair, looks)
        found.append(known[place.sheet or ""].relocated(place))
    return found


class _Moved:
    """Two versions of a sheet, the first with the lines of the second, and where its rows are."""

    def __init__(self, both: Aligned, pair: Pair, looks: LookKeys) -> None:
        sheet, twin = pair
        assert sheet is not None, "a place is asked for on it"
        assert twin is not None, "it is known where it is"
        self.sheet, self.twin, self.looks = sheet, twin, looks
        self.old, self.new = both.moved.book, both.new.book
        self.lines = both.of(pair)
        self._xmls = self.old.xml(sheet), self.new.xml(twin)
        self._are_twins = sheet.name == twin.name

    def relocated(self, place: Place) -> Relocated:
        """Return where a place is now."""
        one, two = self._xmls
        here = replace(place, sheet=self.twin.name)
        if one is None or two is None or place.range is None:
            is_same = self._are_twins and not self.lines and self._is_same_sheet()
            return Relocated(place=here, is_touched=not is_same)
        area = parse_area(place.range)
        assert area is not None, "the place was required"
        kept = self.lines.area(area)
        moved = self._rows.area(kept) if kept else None
        if kept is None or moved is None:
            return Relocated(place=None, is_touched=True)
        moved = _shown_area(two, moved)
        is_touched = moved.height != area.height or moved.width != area.width
        is_touched = is_touched or self._differs(kept, moved)
        words = place.words
        if words is not None:
            texts = _texts(self.new, two, moved)
            if not any(words in text for _, text in texts):
                words, is_touched = None, True
        here = replace(here, range=told(moved), words=words)
        return Relocated(place=here, is_touched=is_touched)

    @cached_property
    def _rows(self) -> RowMap:
        one, two = self._xmls
        assert one is not None, "only ranges are asked for, and a range is of a sheet with cells"
        assert two is not None, "and so is its twin"
        comparable = same_meaning(self.old, self.new)
        return RowMap((self.old, one), (self.new, two), comparable=comparable)

    def _is_same_sheet(self) -> bool:
        one, two = self._xmls
        if one is None or two is None:
            parts = (self.sheet.part, self.twin.part)
            data = [
                book.package.read(part) if part else b""
                for book, part in zip((self.old, self.new), parts, strict=True)
            ]
            return data[0] == data[1]
        comparable = same_meaning(self.old, self.new)
        if one.data == two.data and comparable:
            return True
        pair = SheetPair(0, self.sheet, self.twin)
        sides = CellSide(self.old, one, str), CellSide(self.new, two, str)
        cells = cell_changes(pair, *sides, self.looks, comparable=comparable)
        books = self.old, self.new
        around = frame_changes(pair, one, two, self.looks, same_conditions=True, books=books)
        return not (cells.slots or cells.rows or around.slots)

    # --- what stands there ---------------------------------------------------------------------

    def _differs(self, area: Area, moved: Area) -> bool:
        """Whether the cells of an area show something else, or look otherwise."""
        one, two = self._xmls
        assert one is not None, "a range is of a sheet with cells"
        assert two is not None, "and so is its twin"
        sides = CellSide(self.old, one, str), CellSide(self.new, two, str)
        by = moved.row1 - area.row1
        spans = [
            [row for row in xml.rows() if part.row1 <= row.number <= part.row2]
            for xml, part in ((one, area), (two, moved))
        ]
        rows = {row.number: row for row in spans[0]}
        others = {row.number - by: row for row in spans[1]}
        for number in rows.keys() | others.keys():
            left, right = rows.get(number), others.get(number)
            olds, news = sides[0].cells(left), sides[1].cells(right)
            for col in (c for c in olds.keys() | news.keys() if area.col1 <= c <= area.col2):
                cells = olds.get(col), news.get(col)
                texts = [_said(side, cell, by) for side, cell in zip(sides, cells, strict=True)]
                styles = sides[0].style(left, col, cells[0]), sides[1].style(right, col, cells[1])
                if texts[0] != texts[1] or self.looks.differing(*styles) is not None:
                    return True
        return False


def _said(side: CellSide, cell: RawCell | None, by: int) -> tuple[str | None, str]:
    if cell is None:
        return None, ""
    formula = side.formula(cell)
    if formula is not None and by:
        formula = _NUMBER.sub("#", formula)  # references go with their rows
    return formula, side.book.value(cell).text
