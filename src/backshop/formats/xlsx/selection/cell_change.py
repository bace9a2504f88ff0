"""The changed cells of a sheet: what they hold is one thing, how they look another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from backshop.base.place import Place

from ..alignment.geometry import Run
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, row_pairs
from ..edit.effect import differing_rows
from ..syntax.address import Area, cell_name
from .cell_content import SPILLED, CellSide, Key, seen_pair
from .look_key import LookKeys
from .naming import CellNaming
from .row_order import RowOrder, row_orders
from .sheet_frame import RowDifference, row_said
from .slot import CONTENT, LOOK, ORDERED, SheetPair, Slot

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

_MARKED = re.compile(rb"\s(cm|vm)=")


@dataclass(frozen=True, slots=True)
class CellChanges:
    """The slots of the cells of one sheet, areas whose cells go together, and rows that differ."""

    slots: list[Slot]
    arrays: list[Area]  # of formulas over several cells that came, went or changed
    marked: list[int]  # slots of cells that point into the metadata part
    valued: list[int]  # those of them whose value is described there
    rows: list[RowDifference]
    runs: dict[int, frozenset[Run]] = field(default_factory=dict)  # by slot: what it needs
    orders: dict[int, RowOrder] = field(default_factory=dict)  # by slot: rows that change places


def cell_changes(
    pair: SheetPair,
    old: CellSide,
    new: CellSide,
    looks: LookKeys,
    *,
    comparable: bool,
    naming: CellNaming | None = None,
    orders: Sequence[RowOrder] | None = None,
) -> CellChanges:
    """Compare two versions of a sheet cell by cell.

    `comparable` says that the same bytes of a row mean the same in both workbooks; `naming` names
    cells where lines came or went; `orders` are rows that change places, where that is known.
    """
    found = _Compared(pair, old, new, looks, naming)
    return found.run(comparable=comparable, orders=orders)


class _Compared:
    def __init__(
        self,
        pair: SheetPair,
        old: CellSide,
        new: CellSide,
        looks: LookKeys,
        naming: CellNaming | None,
    ) -> None:
        self.pair, self.old, self.new, self.looks = pair, old, new, looks
        self.naming = naming
        both = (old.areas, new.areas)
        changed = {
            place for place in {*both[0], *both[1]} if both[0].get(place) != both[1].get(place)
        }
        self.arrays = [side[place][0] for side in both for place in changed if place in side]
        self.found = CellChanges([], self.arrays, [], [], [])
        self.orders: dict[RowOrder, _Digests] = {}

    def run(self, *, comparable: bool, orders: Sequence[RowOrder] | None) -> CellChanges:
        if orders is None:
            orders = self._orders(comparable=comparable) if self.naming is None else ()
        self.orders = {one: _Digests(sha256(), sha256()) for one in orders}
        for left, right in self._rows(comparable=comparable):
            self._row(left, right)
        for order, digests in self.orders.items():
            if digests.differ:
                self.found.orders[len(self.found.slots)] = order
                self.found.slots.append(self._ordered(order, digests))
        return self.found

    # --- rows in another order -----------------------------------------------------------------

    def _orders(self, *, comparable: bool) -> list[RowOrder]:
        """Find rows that change places, by the values in them."""
        spans = list(islice(self._rows(comparable=comparable), 2))
        if len(spans) < 2:
            return []
        return row_orders(
            (
                (left or right).number,  # type: ignore[union-attr]  # there is one of the two
                self._values(self.old, left),
                self._values(self.new, right),
            )
            for left, right in self._rows(comparable=comparable)
        )

    def _values(self, side: CellSide, row: RowSpan | None) -> dict[int, int]:
        """Return what stands in the cells of a row that are no formulas, as numbers."""
        found = {}
        for col, cell in side.cells(row).items():
            if cell.formula is None and (key := side.key(cell.row, col, cell)):
                found[col] = hash(key)
        return found

    def _order_of(self, row: int, col: int, *cells: RawCell | None) -> RowOrder | None:
        """Return the order that a cell belongs to; formulas are told by themselves."""
        if any(cell is not None and cell.formula is not None for cell in cells):
            return None
        return next((order for order in self.orders if order.has(row, col)), None)

    def _ordered(self, order: RowOrder, digests: _Digests) -> Slot:
        where = f"{self.pair.shown}!{order.area}"
        return Slot(
            what=ORDERED,
            pair=self.pair,
            sides=digests.sides,
            group="structure",
            label=f"rows of {where} in another order",
            row=order.first,
            col=min(order.columns),
            detail=order.detail,
            place=Place(sheet=self.pair.shown, range=str(order.area)),
            tied="some of the rows in another order would be mixed up with the others",
        )

    def _rows(self, *, comparable: bool) -> Iterator[tuple[RowSpan | None, RowSpan | None]]:
        """Go through the rows whose cells may differ."""
        groups = _moved_groups(self.old.xml, self.new.xml) if comparable else []
        if comparable and not groups and not self.arrays:
            yield from differing_rows(self.old.xml, self.new.xml)
            return
        member = re.compile(rb'si=["\'](?:%s)["\']' % b"|".join(map(re.escape, groups)))
        for row, left, right in row_pairs(self.old.xml.iter_rows(), self.new.xml.iter_rows()):
            if comparable and left and right:
                data = self.old.xml.data[left.start : left.end]
                same = data == self.new.xml.data[right.start : right.end]
                if same and not (groups and member.search(data)) and not self._is_over(row):
                    continue
            yield left, right

    def _is_over(self, row: int) -> bool:
        return any(area.row1 <= row <= area.row2 for area in self.arrays)

    def _row(self, left: RowSpan | None, right: RowSpan | None) -> None:
        olds, news = self.old.cells(left), self.new.cells(right)
        number = left.number if left else right.number if right else 0
        said = (
            row_said(self.old.xml, left, self.looks, 0),
            row_said(self.new.xml, right, self.looks, 1),
        )
        if said[0] != said[1]:
            self.found.rows.append((number, *said))
        for col in sorted(olds.keys() | news.keys()):
            one, two = olds.get(col), news.get(col)
            keys = self.old.key(number, col, one), self.new.key(number, col, two)
            order = self._order_of(number, col, one, two) if self.orders else None
            if order is None and keys[0] != keys[1]:
                self._content(number, col, (one, two), keys)
            styles = self.old.style(left, col, one), self.new.style(right, col, two)
            sides = self.looks.differing(*styles)
            if order is not None:
                if keys[0] != keys[1] or sides is not None:
                    self.orders[order].note((number, col), keys, sides)
                continue
            if sides is not None:
                self._look(number, col, styles, sides)

    def _place(self, row: int, col: int) -> Place:
        return Place(sheet=self.pair.shown, range=cell_name(row, col))

    def _content(
        self,
        row: int,
        col: int,
        cells: tuple[RawCell | None, RawCell | None],
        keys: tuple[Key, Key],
    ) -> None:
        formulas = (self.old.formula(cells[0]), self.new.formula(cells[1]))
        texts = tuple(text for text in formulas if text)
        if any(text is not None for text in formulas) or SPILLED in (*keys[0][:1], *keys[1][:1]):
            group = "formulas"
        else:  # the same words may have other pieces in bold
            same_words = keys[0][:2] == keys[1][:2] and len(keys[0]) > 1
            group = "looks" if same_words else "values"
        tags = b"".join(
            _tag(side, cell)
            for side, cell in zip((self.old, self.new), cells, strict=True)
            if cell is not None
        )
        if found := _MARKED.findall(tags):
            self.found.marked.append(len(self.found.slots))
            if b"vm" in found:
                self.found.valued.append(len(self.found.slots))
        before, after = seen_pair(self.old, self.new, cells)
        words = "look inside the text of " if group == "looks" else ""
        slot = Slot(
            what=CONTENT,
            pair=self.pair,
            sides=keys,
            group=group,
            label=f"{words}{self.pair.shown}!{cell_name(row, col)}",
            row=row,
            col=col,
            place=self._place(row, col),
            before=before,
            after=after,
            texts=texts,
        )
        if self.naming is not None:
            named = self.naming.content(row, col, cells[1])
            slot = replace(self._named(slot), sides=named.sides, before=named.before)
            self._need(named.runs)
        self.found.slots.append(slot)

    def _named(self, slot: Slot) -> Slot:
        """Return a slot by the names of its row and column."""
        assert self.naming is not None, "lines came or went"
        is_inside = bool(self.naming.came(slot.row, slot.col))
        return replace(slot, told=self.naming.told(slot.row, slot.col), is_inside=is_inside)

    def _need(self, runs: frozenset[Run]) -> None:
        if runs:
            self.found.runs[len(self.found.slots)] = runs

    def _look(self, row: int, col: int, styles: tuple[int, int], sides: tuple[str, str]) -> None:
        slot = Slot(
            what=LOOK,
            pair=self.pair,
            sides=sides,
            group="looks",
            label=f"look of {self.pair.shown}!{cell_name(row, col)}",
            row=row,
            col=col,
            place=self._place(row, col),
            after=self.looks.words(*styles),
        )
        if self.naming is not None:
            slot = self._named(slot)
            self._need(self.naming.came(row, col))
        self.found.slots.append(slot)


class _Digests(NamedTuple):
    """What stands in the cells of rows that change places, before and after."""

    before: Hash
    after: Hash

    def note(
        self, place: tuple[int, int], keys: tuple[Key, Key], looks: tuple[str, str] | None
    ) -> None:
        for at, digest in enumerate(self):
            said = (place, keys[at], looks[at] if looks else "")
            digest.update(repr(said).encode("utf-8", "surrogatepass"))

    @property
    def sides(self) -> tuple[str, str]:
        return self.before.hexdigest(), self.after.hexdigest()

    @property
    def differ(self) -> bool:
        return self.before.digest() != self.after.digest()


def _tag(side: CellSide, cell: RawCell) -> bytes:
    raw = side.raw(cell)
    return raw[: raw.index(b">")]


def _moved_groups(old: SheetXml, new: SheetXml) -> list[bytes]:
    """Return the numbers of shared formulas whose text stands elsewhere or is another.

    Members of such a group are the same bytes on both sides and may mean another formula.
    """
    sides = [_masters(xml) for xml in (old, new)]
    if sides[0] == sides[1]:
        return []
    return sorted(group for group, _ in sides[0] ^ sides[1])


def _masters(xml: SheetXml) -> set[tuple[bytes, bytes]]:
    if xml.data.find(b"shared", xml.inner, xml.close) < 0:
        return set()
    p = re.escape(xml.words.prefix)
    held = re.compile(rb"<%sc\b[^>]*>\s*<%sf\b[^>]*?\bsi=[\"'](\d+)[\"'][^>]*>[^<]" % (p, p))
    found = set()
    for match in held.finditer(xml.data, xml.inner, xml.close):
        end = xml.data.find(b"<", match.end())
        found.add((match[1], xml.data[match.start() : end]))
    return found
