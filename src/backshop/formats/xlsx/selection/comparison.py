"""Two versions of a workbook taken apart into units of changes (F34)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lxml import etree

from backshop.base.place import Place
from backshop.formats.package.package import Package, canonical_element
from backshop.formats.protocol import Source
from backshop.formats.selection.change_unit import ChangeUnit, unit_id

from ..book.workbook import Book, Table, child, children
from ..calculation.moved_reference import SheetMove
from ..edit import structure
from ..review.grid import same_meaning, sheet_pairs
from ..syntax.address import Area
from . import book_name
from .book_rest import Rest
from .cell_change import cell_changes
from .cell_content import CellSide
from .look_key import LookKeys
from .sheet_frame import frame_changes, row_change
from .slot import (
    ADDED,
    CONTENT,
    FRAME,
    NAME,
    REMOVED,
    RENAMED,
    REST,
    TABLE,
    Change,
    SheetPair,
    Slot,
    change,
)
from .tie import Ties, named_in

_ARRAY = "a formula over several cells is one thing"
_MERGE = "the cells are joined by a merge"
_SHEET = "leaving out a part of it would break references to the sheet"
_NAME = "a formula uses a name that came or went"
_FILTER = "the filter has a hidden name of the same range"
_TABLE = "the cells say what the table says: its headers, its columns"
_META = "the cell points into a part of the workbook that changed"
_REST = "they change lists that the whole workbook shares"
_RENAME = "it says the name of the sheet that got another"


def separate(before: Source, after: Source) -> list[ChangeUnit]:
    """Return every change between two workbooks that can be taken or left by itself."""
    if before.sha256 == after.sha256:
        return []
    found = compare(Package.open(before), Package.open(after))
    if found is None:
        return [whole_file(before, after)]
    return [one.unit for one in found.changes]


def whole_file(before: Source, after: Source) -> ChangeUnit:
    """Return the unit of two files whose changes cannot be told apart."""
    return ChangeUnit(
        id=unit_id("file", before.sha256, after.sha256),
        kind="file",
        group="other",
        label="the whole workbook",
        place=Place(),
        tied="the two workbooks are written so differently that changes cannot be told apart",
    )


@dataclass
class Compared:
    """The units between two workbooks, and the sheets that are versions of one another."""

    pairs: list[SheetPair]
    changes: list[Change] = field(default_factory=list)

    @property
    def renames(self) -> list[SheetPair]:
        """The sheets that got another name."""
        return [pair for pair in self.pairs if pair.is_renamed]


def compare(before: Package, after: Package) -> Compared | None:
    """Take two workbooks apart; None when their changes cannot be told apart.

    The first package is given the new names of sheets, so that what follows them is the same.
    """
    old, new = Book(before), Book(after)
    pairs = [SheetPair(at, *pair) for at, pair in enumerate(sheet_pairs(old, new))]
    found = Compared(pairs)
    if not _is_comparable(found, old, new):
        return None
    for pair in found.renames:
        structure.rename(old, old.sheet(pair.name), pair.shown)
    slots = _Slots(found, old, new)
    slots.gather()
    found.changes = slots.changes()
    return found


def _is_comparable(found: Compared, old: Book, new: Book) -> bool:
    if etree.QName(old.root).namespace != etree.QName(new.root).namespace:
        return False
    if any(new.find(pair.name) or old.find(pair.shown) for pair in found.renames):
        return False  # names that change hands
    for pair in found.pairs:
        if pair.old is None or pair.new is None:
            continue
        one, two = old.xml(pair.old), new.xml(pair.new)
        if (one is None) != (two is None):
            return False
        if one is not None and two is not None and one.words.prefix != two.words.prefix:
            return False
    return True


class _Slots:
    """Collects the slots of two workbooks and ties those that go together."""

    def __init__(self, found: Compared, old: Book, new: Book) -> None:
        self.pairs, self.old, self.new = found.pairs, old, new
        self.back = [SheetMove(pair.shown, pair.name) for pair in found.renames]
        self.slots: list[Slot] = []
        self.ties = Ties()
        self.told: dict[str, frozenset[str]] = {}
        self.marked: list[int] = []
        self.valued: list[int] = []
        self.tables: list[tuple[int, Table, Table]] = []

    def before_names(self, text: str) -> str:
        """Return a formula in the names that sheets had before."""
        for move in self.back:
            if move.name.lower() in text.lower():
                text = move.followed(text)
        return text

    def gather(self) -> None:
        self._sheets()
        looks = LookKeys(self.old, self.new)
        comparable = looks.is_appended and same_meaning(self.old, self.new)
        conditions = _dxfs(self.old) == _dxfs(self.new)[: len(_dxfs(self.old))]
        for pair in self.pairs:
            self._pair(pair, looks, comparable=comparable, same_conditions=conditions)
        self._names()
        self._tables(same_conditions=conditions)
        rest = Rest(self.old, self.new, self.told)
        self._rest(rest, looks)
        self._tie_sheets()
        self._tie_names()
        self._tie_tables()
        self._tie_renames()

    def changes(self) -> list[Change]:
        groups: dict[int, list[Slot]] = {}
        for at, slot in enumerate(self.slots):
            groups.setdefault(self.ties.root(at), []).append(slot)
        made = [change(slots, self.ties.reason(root)) for root, slots in groups.items()]
        return sorted(made, key=lambda one: min(slot.order for slot in one.slots))

    def _add(self, slots: Iterable[Slot]) -> range:
        start = len(self.slots)
        self.slots.extend(slots)
        return range(start, len(self.slots))

    def _of(self, *kinds: str) -> Iterator[tuple[int, Slot]]:
        return ((at, slot) for at, slot in enumerate(self.slots) if slot.what in kinds)

    # --- sheets --------------------------------------------------------------------------------

    def _sheets(self) -> None:
        for pair in self.pairs:
            if pair.old and pair.new and not pair.is_renamed:
                continue
            what = RENAMED if pair.is_renamed else REMOVED if pair.old else ADDED
            old, new = (one.name if one else None for one in (pair.old, pair.new))
            slot = Slot(
                what=what,
                pair=pair,
                sides=(old, new),
                group="structure",
                label=f"sheet {pair.shown} {what}",
                place=Place(sheet=new) if new else None,
                before=old,
                after=new,
            )
            self._add([slot])

    def _pair(
        self, pair: SheetPair, looks: LookKeys, *, comparable: bool, same_conditions: bool
    ) -> None:
        if pair.old is None or pair.new is None:
            return
        one, two = self.old.xml(pair.old), self.new.xml(pair.new)
        if one is None or two is None:
            return
        sides = CellSide(self.old, one, str), CellSide(self.new, two, self.before_names)
        if self.back:
            sides = CellSide(self.old, one, self.before_names), sides[1]
        cells = cell_changes(pair, *sides, looks, comparable=comparable)
        around = frame_changes(pair, one, two, looks, same_conditions=same_conditions)
        self.told[two.part] = around.told
        numbers = self._add(cells.slots)
        self.marked += [numbers[at] for at in cells.marked]
        self.valued += [numbers[at] for at in cells.valued]
        frames = self._add(around.slots)
        if cells.rows:
            self._add([row_change(pair, cells.rows)])
        place = _Contents(self.slots, numbers)
        for area in cells.arrays:
            self.ties.tie_all(place.within(area), _ARRAY)
        for at, areas in around.merges.items():
            inside = (number for area in areas for number in place.within(area))
            self.ties.tie_all([frames[at], *inside], _MERGE)

    # --- names, tables, the rest ---------------------------------------------------------------

    def _names(self) -> None:
        one, two = book_name.names(self.old), book_name.names(self.new)
        alone = {pair.name for pair in self.pairs if not (pair.old and pair.new)}
        by_shown = {pair.shown: pair for pair in self.pairs}
        for key in sorted({*one, *two}):
            sheet, name = key
            sides = [tuple(map(book_name.said, side.get(key, ()))) for side in (one, two)]
            if sides[0] == sides[1] or sheet in alone:
                continue
            texts = tuple(said[0] for side in sides for said in side)
            told = [tuple((self.before_names(text), own) for text, own in side) for side in sides]
            pair = by_shown.get(sheet)
            slot = Slot(
                what=NAME,
                pair=pair,
                sides=(told[0], told[1]),
                group="structure",
                label=f"name {sheet}!{name}" if sheet else f"name {name}",
                detail=(pair.name if pair else "", name),
                before=sides[0][0][0] if sides[0] else None,
                after=sides[1][0][0] if sides[1] else None,
                texts=texts,
            )
            (at,) = self._add([slot])
            if name == book_name.FILTER:
                filters = [
                    n for n, s in self._of(FRAME) if s.pair == pair and "autoFilter" in s.detail
                ]
                self.ties.tie_all([at, *filters], _FILTER)

    def _tables(self, *, same_conditions: bool) -> None:
        if not same_conditions:
            return
        for pair in self.pairs:
            if pair.old is None or pair.new is None:
                continue
            olds = {table.part: table for table in self.old.tables(pair.old)}
            for table in self.new.tables(pair.new):
                was = olds.get(table.part)
                if was is None or was.name != table.name:
                    continue
                parts = [book.package.xml(table.part) for book in (self.old, self.new)]
                keys = [canonical_element(root) for root in parts]
                if keys[0] == keys[1] or self._leads_elsewhere(table.part):
                    continue
                slot = Slot(
                    what=TABLE,
                    pair=pair,
                    sides=(keys[0], keys[1]),
                    group="structure",
                    label=f"table {table.name}",
                    detail=(table.part, table.name.lower()),
                    place=Place(sheet=pair.shown, range=str(table.area)),
                    before=str(was.area),
                    after=str(table.area),
                )
                (at,) = self._add([slot])
                self.tables.append((at, was, table))

    def _leads_elsewhere(self, part: str) -> bool:
        """Whether a part names others by relationships that may have other numbers."""
        one, two = (book.package.rels(part) for book in (self.old, self.new))
        return one != two

    def _rest(self, rest: Rest, looks: LookKeys) -> None:
        mine = {slot.detail[0] for _, slot in self._of(TABLE)}
        found = [one for one in rest.found() if one["part"] not in mine]
        words = [str(one["text"]) for one in found]
        side = tuple(repr((one["part"], one["kind"], one["what"])) for one in found)
        if looks.has_hidden:
            words.append("formats of cells, in what does not show")
        if not words:
            return
        is_one = len(words) == 1
        (at,) = self._add(
            [
                Slot(
                    what=REST,
                    pair=None,
                    sides=(None, side),
                    group="other",
                    label=words[0] if is_one else f"the rest of the workbook: {len(words)} things",
                    place=Place(),
                    after="; ".join(words),
                    tied=None if is_one else _REST,
                )
            ]
        )
        pointing = self.valued if rest.metadata_grew else self.marked
        if not rest.has_same_metadata:
            self.ties.tie_all([at, *pointing], _META)

    # --- what goes together --------------------------------------------------------------------

    def _tie_sheets(self) -> None:
        """Tie sheets that came or went to what names them, and to lists they share."""
        lone = {slot.pair.name.lower(): at for at, slot in self._of(ADDED, REMOVED) if slot.pair}
        if not lone:
            return
        for at, slot in self._of(CONTENT, NAME, FRAME):
            for text in slot.texts:
                for sheet in named_in(text)[0] & lone.keys():
                    self.ties.tie(lone[sheet], at, _SHEET)
        self._tie_lone(lone)
        rest = [at for at, _ in self._of(REST)]
        kinds = {self.slots[at].what for at in lone.values()}
        if rest or len(kinds) > 1:
            self.ties.tie_all([*lone.values(), *rest], _REST)

    def _tie_lone(self, lone: dict[str, int]) -> None:
        """Tie sheets that came, or went, to others that name them."""
        for pair in self.pairs:
            book, sheet = (self.new, pair.new) if pair.new else (self.old, pair.old)
            if (pair.old and pair.new) or sheet is None or len(lone) < 2:
                continue
            xml = book.xml(sheet)
            texts = (
                {book.formula(cell, xml) or "" for cell in xml.formula_cells()} if xml else set()
            )
            for text in texts:
                for other in named_in(text)[0] & lone.keys():
                    self.ties.tie(lone[pair.name.lower()], lone[other], _SHEET)

    def _tie_names(self) -> None:
        """Tie a name that came or went to the formulas that use it."""
        lone = {slot.detail[1]: at for at, slot in self._of(NAME) if not all(slot.sides)}
        if not lone:
            return
        for at, slot in self._of(CONTENT, FRAME, NAME):
            for text in slot.texts:
                for name in named_in(text)[1] & lone.keys():
                    self.ties.tie(lone[name], at, _NAME)

    def _tie_tables(self) -> None:
        """Tie a table to its headers, and to formulas that need it as it is now."""
        for at, old, new in self.tables:
            is_renamed = old.columns != new.columns
            for number, slot in self._of(CONTENT):
                here = slot.pair == self.slots[at].pair
                sides = [here and table.area.has(slot.row, slot.col) for table in (old, new)]
                heads = {table.area.row1 for table in (old, new) if table.header_rows}
                is_head = is_renamed and any(sides) and slot.row in heads
                names = {new.name.lower(), ""} if any(sides) else {new.name.lower()}
                if is_head or (
                    (is_renamed or sides[0] != sides[1])
                    and any(named_in(text)[1] & names for text in slot.texts)
                ):
                    self.ties.tie(at, number, _TABLE)

    def _tie_renames(self) -> None:
        """Tie what only differs by the name of a sheet, or says it, to the sheet's getting it."""
        renamed = [at for at, _ in self._of(RENAMED)]
        if not renamed:
            return
        same = [at for at, slot in enumerate(self.slots) if slot.sides[0] == slot.sides[1]]
        names = [move.name.lower() for move in self.back]
        saying = [
            at
            for at, slot in self._of(FRAME, TABLE)
            if any(name in repr(slot.sides).lower() for name in names)
        ]
        others = [*same, *saying, *(at for at, _ in self._of(REST, ADDED))]
        self.ties.tie_all([*renamed, *others] if others else [], _RENAME)


class _Contents:
    """The slots of what cells hold, found by area."""

    def __init__(self, slots: list[Slot], numbers: range) -> None:
        held = [(slots[at].row, slots[at].col, at) for at in numbers if slots[at].what == CONTENT]
        self._held = sorted(held)
        self._rows = [row for row, _, _ in self._held]

    def within(self, area: Area) -> list[int]:
        first, last = bisect_left(self._rows, area.row1), bisect_right(self._rows, area.row2)
        inside = self._held[first:last]
        return [at for _, col, at in inside if area.col1 <= col <= area.col2]


def _dxfs(book: Book) -> list[bytes]:
    root = book.styles_root
    return [canonical_element(item) for item in children(child(root, "dxfs"), "dxf")]
