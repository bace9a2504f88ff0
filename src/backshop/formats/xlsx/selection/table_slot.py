"""Named tables that came, went or changed, each for itself (F37.12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backshop.base.place import Place
from backshop.formats.package.package import canonical_element

from ..book.workbook import Book, Table
from ..calculation.table_use import named_in
from ..syntax.address import Area, parse_area
from .slot import CONTENT, FRAME, MERGE, TABLE, SheetPair, Slot


@dataclass(frozen=True, slots=True)
class TablePair:
    """A table before and after; one that came or went is on one side only."""

    pair: SheetPair
    was: Table | None
    now: Table | None

    @property
    def part(self) -> str:
        """The part it is in."""
        return self._any.part

    @property
    def _any(self) -> Table:
        found = self.now or self.was
        assert found is not None, "a pair has a side"
        return found

    @property
    def is_lone(self) -> bool:
        """Whether it came or went."""
        return self.was is None or self.now is None

    @property
    def sides(self) -> list[Table]:
        """The table as it was and as it is, as far as it was there."""
        return [one for one in (self.was, self.now) if one is not None]

    @property
    def names(self) -> set[str]:
        """What it is called on either side, in small letters."""
        return {one.name.lower() for one in self.sides}

    def meets(self, area: Area) -> bool:
        """Whether it has some of these cells on either side."""
        return any(one.area.meets(area) for one in self.sides)

    def slot(self, keys: tuple[bytes | None, bytes | None]) -> Slot:
        """Return the slot of what came, went or changed."""
        verb = "" if not self.is_lone else " added" if self.now else " removed"
        name = self._any.name
        return Slot(
            what=TABLE,
            pair=self.pair,
            sides=keys,
            group="structure",
            label=f"table {name}{verb}",
            detail=(self.part, name.lower()),
            named=(name.lower(),) if self.is_lone else None,
            place=Place(sheet=self.pair.shown, range=str(self.now.area)) if self.now else None,
            before=_said(self.was, self),
            after=_said(self.now, self),
        )

    def needs(self, slot: Slot) -> bool:
        """Whether something only makes sense together with the table as it is on its side."""
        here = slot.pair == self.pair
        if slot.what == MERGE:
            areas = (parse_area(one) for one in slot.detail)
            return here and self.is_lone and any(area and self.meets(area) for area in areas)
        if slot.what == FRAME and "autoFilter" in slot.detail:
            return here and self.is_lone
        inside = [here and one.area.has(slot.row, slot.col) for one in self.sides]
        if slot.what == CONTENT and here and self._says(slot.row, slot.col):
            return True
        is_moved = self.is_lone or self._is_renamed or inside[0] != inside[-1]
        names = self.names | {""} if slot.what == CONTENT and any(inside) else self.names
        return is_moved and any(named_in(text)[1] & names for text in slot.texts)

    @property
    def _is_renamed(self) -> bool:
        return (
            self.was is not None
            and self.now is not None
            and (self.was.columns != self.now.columns or self.was.name != self.now.name)
        )

    def _says(self, row: int, col: int) -> bool:
        """Whether a cell says what the table says too: a header that changed, or a total."""
        is_other = self.is_lone or self._is_renamed
        for one in self.sides:
            if not one.area.has(row, col):
                continue
            is_head = is_other and one.header_rows and row == one.area.row1
            if is_head or (one.totals_rows and row == one.area.row2):
                return True
        return False


def _said(table: Table | None, pair: TablePair) -> str | None:
    if table is None:
        return None
    is_named = pair.is_lone or len(pair.names) > 1
    return f"{table.name} ({table.area})" if is_named else str(table.area)


def table_pairs(pair: SheetPair, old: Book, new: Book) -> Iterator[TablePair]:
    """Go through the tables of a sheet that are not the same before and after."""
    if pair.old is None or pair.new is None:
        return
    sides = [
        {table.part: table for table in book.tables(sheet)}
        for book, sheet in ((old, pair.old), (new, pair.new))
    ]
    for part in dict.fromkeys([*sides[1], *sides[0]]):
        found = TablePair(pair, sides[0].get(part), sides[1].get(part))
        if found.is_lone or table_key(old, part) != table_key(new, part):
            yield found


def table_key(book: Book, part: str) -> bytes:
    """Return all that a table says."""
    return canonical_element(book.package.xml(part))


def is_apart(pair: TablePair, old: Book, new: Book) -> bool:
    """Whether a table names no other part, or the same ones by the same numbers."""
    one, two = (book.package.rels(pair.part) for book in (old, new))
    return not (one or two) if pair.is_lone else one == two


def exclude(one: TablePair, two: TablePair, old: Book, new: Book) -> bool:
    """Whether one table as it was could not be beside another one as it is."""
    if one.part == two.part or one.names & two.names:
        return True
    numbers = [
        {book.package.xml(pair.part).get("id") for book in (old, new) if pair.part in book.package}
        for pair in (one, two)
    ]
    overlap = one.pair == two.pair and any(one.meets(table.area) for table in two.sides)
    return bool(numbers[0] & numbers[1]) or overlap
