"""Two versions of a workbook taken apart into units of changes (F34)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from lxml import etree

from backshop.base.place import Place
from backshop.formats.errors import FormatError
from backshop.formats.package.package import Package, canonical_element
from backshop.formats.protocol import Source
from backshop.formats.selection.change_unit import ChangeUnit, unit_id

from ..alignment.counterpart import same_meaning, sheet_pairs
from ..alignment.geometry import Geometry, Run
from ..alignment.line_change import line_changes
from ..alignment.line_run import LineRun, Lines, SheetLines
from ..alignment.reshaping import Reshaping, sizes_of, undoing
from ..book.workbook import Book, child, children
from ..calculation.moved_reference import SheetMove
from ..calculation.table_use import named_in
from ..edit import structure
from ..syntax.address import MAX_COL, Area
from . import book_name
from .annotation_change import AnnotationChanges, annotation_changes
from .book_rest import Rest
from .cell_change import cell_changes
from .cell_content import CellSide
from .drawing_change import drawing_slots
from .line_slot import line_change
from .look_key import LookKeys
from .naming import Naming
from .row_order import RowOrder
from .sheet_frame import RowDifference, frame_changes, row_change
from .slot import (
    ADDED,
    CONTENT,
    DRAWN,
    FRAME,
    LINK,
    LOOK,
    MERGE,
    NAME,
    REMOVED,
    RENAMED,
    REST,
    RULE,
    TABLE,
    Change,
    SheetPair,
    Slot,
    change,
)
from .table_slot import TablePair, exclude, is_apart, table_key, table_pairs
from .tie import Ties

_ARRAY = "a formula over several cells is one thing"
_MERGE = "the cells are joined by a merge"
_SHEET = "leaving out a part of it would break references to the sheet"
_NAME = "a formula uses a name that came or went"
_FILTER = "the filter has a hidden name of the same range"
_TABLE = "the cells say what the table says: its headers, its columns"
_TABLES = "the tables cannot stand beside one another"
_META = "the cell points into a part of the workbook that changed"
_REST = "they change lists that the whole workbook shares"
_SAME_ROWS = Lines("row")
_RENAME = "it says the name of the sheet that got another"
_LINES = "it stands in lines that came or went, or refers to them"
_CAME = "the lines can only come with what else is new in the workbook"
_WENT = "lines that went can only be put back into the workbook as it was"
_HEADERS = "the names of a table's new columns depend on one another"
_LINKED = "the links lie over one another"
_MIXED = "some of the rows in another order would be mixed up with the others"
_OTHERWISE = "the two workbooks are written so differently that changes cannot be told apart"


def separate(before: Source, after: Source) -> list[ChangeUnit]:
    """Return every change between two workbooks that can be taken or left by itself."""
    if before.sha256 == after.sha256:
        return []
    found = compare(Package.open(before), Package.open(after))
    if isinstance(found, str):
        return [whole_file(before, after, found)]
    return [one.unit for one in found.changes]


def whole_file(before: Source, after: Source, tied: str) -> ChangeUnit:
    """Return the unit of two files whose changes cannot be told apart, and why."""
    return ChangeUnit(
        id=unit_id("file", before.sha256, after.sha256),
        kind="file",
        group="other",
        label="the whole workbook",
        place=Place(),
        tied=tied,
    )


@dataclass
class Compared:
    """The units between two workbooks, and the sheets that are versions of one another."""

    pairs: list[SheetPair]
    changes: list[Change] = field(default_factory=list)
    geometry: Geometry = field(default_factory=lambda: Geometry({}))
    orders: dict[str, list[RowOrder]] = field(default_factory=dict)  # by the names of sheets

    @property
    def renames(self) -> list[SheetPair]:
        """The sheets that got another name."""
        return [pair for pair in self.pairs if pair.is_renamed]


def compare(
    before: Package,
    after: Package,
    lines: Mapping[str, SheetLines] | None = None,
    orders: Mapping[str, Sequence[RowOrder]] | None = None,
) -> Compared | str:
    """Take two workbooks apart; why their changes cannot be told apart, where they cannot.

    The first package is given the new names of sheets and the lines that came or went, so that
    what follows them is the same; `lines` are those where they are known already, and `orders`
    the rows that change places.
    """
    old, new = Book(before), Book(after)
    pairs = [SheetPair(at, *pair) for at, pair in enumerate(sheet_pairs(old, new))]
    found = Compared(pairs)
    if not _is_comparable(found, old, new):
        return _OTHERWISE
    lines = line_changes(old, new) if lines is None else lines
    for pair in found.renames:
        structure.rename(old, old.sheet(pair.name), pair.shown)
    slots = _with_lines(found, old, new, lines) if lines else None
    if slots is None:
        slots = Slots(found, old, new, orders=orders)
        slots.gather()
    found.orders = slots.orders
    found.changes = slots.changes()
    return found


def _with_lines(
    found: Compared, old: Book, new: Book, lines: Mapping[str, SheetLines]
) -> Slots | None:
    """Take two workbooks apart between which lines came or went.

    None: something would be torn if they came or went alone, so they are told cell by cell.
    """
    moved = Book(old.package.copy(), strings_of=old)
    reshaping = Reshaping(moved)
    try:
        for name, own in lines.items():
            sheet = new.sheet(name)
            if undoing(new, sheet, own) is not None:
                return None
            reshaping.apply(name, own.shifts, sizes_of(new, sheet, own))
        slots = Slots(replace(found, geometry=Geometry(lines)), moved, new, old)
        slots.gather()
    except FormatError:
        return None
    found.geometry = Geometry(lines)
    return slots


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


class Slots:
    """Collects the slots of two workbooks and ties those that go together.

    Both have the same names of sheets and, where lines came or went, the same lines; `origin` is
    then the first workbook with the lines that it had.
    """

    def __init__(
        self,
        found: Compared,
        old: Book,
        new: Book,
        origin: Book | None = None,
        orders: Mapping[str, Sequence[RowOrder]] | None = None,
    ) -> None:
        self.pairs, self.old, self.new = found.pairs, old, new
        self.orders: dict[str, list[RowOrder]] = {}
        self._known_orders = orders
        renamed = (pair for pair in found.pairs if pair.name != pair.shown)
        self.back = [SheetMove(pair.shown, pair.name) for pair in renamed]
        self.naming: Naming | None = None
        if origin is not None:
            self.naming = Naming(origin, new, found.geometry, self.before_names)
        self.slots: list[Slot] = []
        self.ties = Ties()
        self.runs: dict[Run, int] = {}  # by run: the slot of its lines
        self.told: dict[str, frozenset[str]] = {}
        self.marked: list[int] = []
        self.valued: list[int] = []
        self.tables: list[tuple[int, TablePair]] = []
        self.drawn: dict[str, range] = {}  # slots of charts and pictures by sheet, where parted

    def before_names(self, text: str) -> str:
        """Return a formula in the names that sheets had before."""
        for move in self.back:
            if move.name.lower() in text.lower():
                text = move.followed(text)
        return text

    def gather(self) -> None:
        """Find all slots, and which of them go together."""
        self._sheets()
        if self.naming is not None:
            self._lines(self.naming)
        looks = LookKeys(self.old, self.new)
        comparable = looks.is_appended and same_meaning(self.old, self.new)
        conditions = _dxfs(self.old) == _dxfs(self.new)[: len(_dxfs(self.old))]
        for pair in self.pairs:
            self._pair(pair, looks, comparable=comparable, same_conditions=conditions)
        self._names()
        self._tables(same_conditions=conditions)
        rest = Rest(self.old, self.new, self.told, self._drawn_changed())
        self._rest(rest, looks)
        self._tie_sheets()
        self._tie_names()
        self._tie_tables()
        self._tie_renames()
        if self.naming is not None:
            self._tie_lines(self.naming)

    def _drawn_changed(self) -> dict[str, set[tuple[str, ...]]]:
        """Return the charts and pictures that changed, by the parts of their sheets."""
        return {
            part: {self.slots[at].detail for at in numbers} for part, numbers in self.drawn.items()
        }

    def changes(self) -> list[Change]:
        """Return the units of changes in the order of the file."""
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
        drawn = drawing_slots(pair, self.old, self.new, self.before_names)
        if drawn is not None and pair.new.part is not None:
            self.drawn[pair.new.part] = self._add(drawn)
            if self.naming is not None:
                self._name_drawn(self.naming, pair, self.drawn[pair.new.part])
        one, two = self.old.xml(pair.old), self.new.xml(pair.new)
        if one is None or two is None:
            return
        sides = CellSide(self.old, one, str), CellSide(self.new, two, self.before_names)
        if self.back:
            sides = CellSide(self.old, one, self.before_names), sides[1]
        naming = self.naming.cells(pair, two) if self.naming else None
        known = None if self._known_orders is None else self._known_orders.get(pair.shown, ())
        cells = cell_changes(
            pair, *sides, looks, comparable=comparable, naming=naming, orders=known
        )
        self.orders[pair.shown] = [*cells.orders.values()]
        attached = annotation_changes(
            pair, (self.old, self.new), (one, two), self.before_names, self.naming
        )
        around = frame_changes(
            pair,
            one,
            two,
            looks,
            same_conditions=same_conditions,
            books=(self.old, self.new),
            naming=self.naming,
            others=attached.told,
        )
        self.told[two.part] = frozenset(
            {*around.told, *attached.told, *(["drawing"] if drawn is not None else [])}
        )
        numbers = self._add(cells.slots)
        self.marked += [numbers[at] for at in cells.marked]
        self.valued += [numbers[at] for at in cells.valued]
        frames = self._add(around.slots)
        notes = self._attached(attached)
        needed = ((numbers, cells.runs), (frames, around.runs), (notes, attached.runs))
        for found, needs in needed:
            for at, runs in needs.items():
                self._tie_runs(found[at], runs)
        self._rows(pair, cells.rows)
        place = _Contents(self.slots, numbers)
        for area in cells.arrays:
            self.ties.tie_all(place.within(area), _ARRAY)
        for at, order in cells.orders.items():
            rows = replace(order.area, col1=1, col2=MAX_COL)
            near = place.within(rows, looks=True)
            own = (n for n in near if order.area.has(self.slots[n].row, self.slots[n].col))
            formulas = (n for n in near if self.slots[n].group == "formulas")
            self.ties.tie_all([numbers[at], *own, *formulas], _MIXED)
        for at, areas in around.merges.items():
            inside = (number for area in areas for number in place.within(area))
            self.ties.tie_all([frames[at], *inside], _MERGE)

    def _attached(self, found: AnnotationChanges) -> range:
        """Add the slots of notes and links; links that lie over one another go together."""
        numbers = self._add(found.slots)
        for group in found.groups:
            self.ties.tie_all((numbers[at] for at in group), _LINKED)
        return numbers

    def _rows(self, pair: SheetPair, rows: list[RowDifference]) -> None:
        """Add a slot of what is said of rows, and one for each run of those that came."""
        lines = self.naming.geometry.of(pair.shown).rows if self.naming else _SAME_ROWS
        groups: dict[LineRun | None, list[RowDifference]] = {}
        for one in rows:
            groups.setdefault(lines.came(one[0]), []).append(one)
        for run, some in groups.items():
            (at,) = self._add([row_change(pair, some, lines, is_inside=run is not None)])
            if run is not None:
                self._tie_runs(at, {Run(pair.shown.lower(), "row", run)})

    # --- lines that came or went ---------------------------------------------------------------

    def _lines(self, naming: Naming) -> None:
        for pair in self.pairs:
            if pair.old is None or pair.new is None:
                continue
            for lines, run in naming.geometry.of(pair.shown).runs():
                (at,) = self._add([line_change(pair, lines, run)])
                self.runs[Run(pair.shown.lower(), lines.axis, run)] = at

    def _tie_runs(self, at: int, runs: Iterable[Run]) -> None:
        for run in runs:
            if run in self.runs:
                self.ties.tie(self.runs[run], at, _LINES)

    def _tie_lines(self, naming: Naming) -> None:
        """Tie lines to what cannot be taken or left without them."""
        went = [at for run, at in self.runs.items() if run.run.is_gone]
        others = [at for at, _ in self._of(REST, ADDED)]
        if went and others and not self._is_lossless(naming):
            self.ties.tie_all([*went, *others], _WENT)
        for at, slot in self._of(REST):
            if [slot.sides] != self._rest_of(naming, naming.undone()):
                self.ties.tie_all([at, *self.runs.values()], _CAME)
        for at, slot in self._of(ADDED):
            self._tie_runs(at, naming.met_on(slot.pair.shown if slot.pair else ""))
        for pair in self.pairs:
            self._tie_headers(naming, pair)

    def _is_lossless(self, naming: Naming) -> bool:
        """Whether lines that went took nothing along that slots could not bring back."""
        return not self._rest_of(naming, naming.undone_of(self.old))

    def _rest_of(self, naming: Naming, other: Book) -> list[tuple[Hashable, Hashable]]:
        """Return what no other slot is of between the workbook before and one with its lines."""
        pairs = [
            SheetPair(pair.at, naming.origin.find(pair.shown), other.find(pair.shown), pair.name)
            for pair in self.pairs
        ]
        slots = Slots(Compared(pairs), naming.origin, other)
        slots.gather()
        return [slot.sides for _, slot in slots._of(REST)]

    def _name_drawn(self, naming: Naming, pair: SheetPair, numbers: range) -> None:
        """Name charts and pictures by how they are without the lines that came or went."""
        if not numbers:
            return
        alone = naming.drawn(pair)
        for at in numbers:
            slot = self.slots[at]
            named = alone.get(slot.detail)
            before = named.texts if named else ()
            self._tie_runs(at, naming.needed(pair.shown, slot.texts, before))
            if named is None:
                self._tie_runs(at, naming.near(pair.shown))
            else:
                self.slots[at] = replace(slot, sides=named.sides, told=(named.row, named.col))

    def _tie_headers(self, naming: Naming, pair: SheetPair) -> None:
        """Tie columns that came into one table: what they are called depends on the others."""
        sheet = naming.origin.find(pair.shown) if pair.old and pair.new else None
        for table in naming.origin.tables(sheet) if sheet else ():
            inside = [
                (run, at)
                for run, at in self.runs.items()
                if run.sheet == pair.shown.lower()
                and run.axis == "column"
                and table.area.col1 <= run.run.at <= table.area.col2
            ]
            if any(not run.run.is_gone for run, _ in inside):
                self.ties.tie_all([at for _, at in inside], _HEADERS)

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
            runs: set[Run] = set()
            if self.naming is not None:
                told, runs = self.naming.name(key)
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
            self._tie_runs(at, runs)
            if name == book_name.FILTER:
                filters = [
                    n for n, s in self._of(FRAME) if s.pair == pair and "autoFilter" in s.detail
                ]
                self.ties.tie_all([at, *filters], _FILTER)

    def _tables(self, *, same_conditions: bool) -> None:
        if not same_conditions:
            return
        for pair in self.pairs:
            found = [*table_pairs(pair, self.old, self.new)]
            mine = [one for one in found if is_apart(one, self.old, self.new)]
            for one in mine:
                self._table(one)
            part = pair.new.part if pair.new else None
            if part in self.told and len(mine) == len(found):
                self.told[part] |= {"tableParts"}

    def _table(self, pair: TablePair) -> None:
        sides = (
            table_key(self.old, pair.part) if pair.was else None,
            table_key(self.new, pair.part) if pair.now else None,
        )
        runs: set[Run] = set()
        if self.naming is not None and not pair.is_lone:
            sides, runs = self.naming.part(pair.part, pair.pair.shown)
        elif self.naming is not None:
            sides, runs = self.naming.lone_part(pair.part, pair.pair.shown)
        (at,) = self._add([pair.slot(sides)])
        self._tie_runs(at, runs)
        self.tables.append((at, pair))

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
        for at, slot in self._of(CONTENT, NAME, FRAME, RULE, DRAWN, LINK):
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
        for at, slot in self._of(CONTENT, FRAME, RULE, NAME, DRAWN, LINK):
            for text in slot.texts:
                for name in named_in(text)[1] & lone.keys():
                    self.ties.tie(lone[name], at, _NAME)

    def _tie_tables(self) -> None:
        """Tie a table to its headers and totals, and to formulas that need it as it is now."""
        for at, table in self.tables:
            for number, slot in self._of(CONTENT, FRAME, NAME, DRAWN, MERGE):
                if table.needs(slot):
                    self.ties.tie(at, number, _TABLE)
        for (first, one), (second, two) in combinations(self.tables, 2):
            if exclude(one, two, self.old, self.new):
                self.ties.tie(first, second, _TABLES)

    def _tie_renames(self) -> None:
        """Tie what only differs by the name of a sheet, or says it, to the sheet's getting it."""
        renamed = [at for at, _ in self._of(RENAMED)]
        if not renamed:
            return
        same = [at for at, slot in enumerate(self.slots) if slot.sides[0] == slot.sides[1]]
        names = [move.name.lower() for move in self.back]
        saying = [
            at
            for at, slot in self._of(FRAME, RULE, TABLE)
            if any(name in _said(slot).lower() for name in names)
        ]
        others = [*same, *saying, *(at for at, _ in self._of(REST, ADDED))]
        self.ties.tie_all([*renamed, *others] if others else [], _RENAME)


def _said(slot: Slot) -> str:
    """Return what a slot says, where it may name a sheet; of rules their formulas alone do."""
    return "\n".join(slot.texts) if slot.what == RULE else repr(slot.sides)


class _Contents:
    """The slots of cells, found by area."""

    def __init__(self, slots: list[Slot], numbers: range) -> None:
        kinds = (CONTENT, LOOK)
        held = [
            (slots[at].row, slots[at].col, at, slots[at].what == CONTENT)
            for at in numbers
            if slots[at].what in kinds
        ]
        self._held = sorted(held)
        self._rows = [row for row, *_ in self._held]

    def within(self, area: Area, *, looks: bool = False) -> list[int]:
        """Return the slots of what cells hold, with those of their looks when asked for."""
        first, last = bisect_left(self._rows, area.row1), bisect_right(self._rows, area.row2)
        inside = self._held[first:last]
        return [
            at
            for _, col, at, is_content in inside
            if area.col1 <= col <= area.col2 and (looks or is_content)
        ]


def _dxfs(book: Book) -> list[bytes]:
    root = book.styles_root
    return [canonical_element(item) for item in children(child(root, "dxfs"), "dxf")]
