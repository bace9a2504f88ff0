"""The workbook before with some of its changes: put together, brought up to date, verified (F34).

Everything that no slot is of comes from one of the two packages, byte for byte; cells, rows, names
and the like that must be as in the other one are written into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.kind import MACROS_KEPT
from backshop.formats.output import write_file
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.package.xml_tree import Trees
from backshop.formats.protocol import Source

from ..alignment.column_run import put_columns
from ..alignment.geometry import Geometry
from ..alignment.line_run import SheetLines
from ..alignment.reshaping import Reshaping, sizes_of
from ..book.cell_xml import EMPTY, Content, formula_element, reformulated
from ..book.element_order import insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes
from ..book.splice import render
from ..book.stylesheet import StyleSheet
from ..book.workbook import Book, Sheet, child, children, like
from ..calculation import recalculation, spill
from ..calculation.table_use import users
from ..drawing.chart_cache import Caches
from ..drawing.drawing_part import CHART, drawn_on
from ..edit import structure
from ..edit.effect import only_appended
from ..edit.layout import ORDER
from ..edit.table.table_part import attach, detach
from ..rule.entry import RuleKind
from ..style.rule_look import rule_words
from ..style.transplant import Transplant
from ..syntax.address import cell_name, parse_area
from . import book_name
from .annotation_transfer import AnnotationTransfer
from .cell_content import CellSide, rich
from .comparison import Compared, Slots, compare, whole_file
from .drawing_transfer import DrawingTransfer
from .line_slot import run_of
from .row_order import RowOrder
from .rule_change import rules_of
from .rule_transfer import RuleTransfer
from .sheet_frame import rows_of
from .slot import (
    ADDED,
    COLUMNS,
    CONTENT,
    DRAWN,
    FRAME,
    LINES,
    LINK,
    LOOK,
    MERGE,
    NAME,
    NOTE,
    ORDERED,
    REMOVED,
    RENAMED,
    REST,
    ROWS,
    RULE,
    TABLE,
    Change,
    SheetPair,
    Slot,
)

_SPLIT = (LOOK, CONTENT)
_OF_SHEETS = (ORDERED, CONTENT, LOOK, ROWS, FRAME, RULE, COLUMNS, MERGE, DRAWN, NOTE, LINK)


def compose(before: Source, after: Source, left_out: frozenset[str], out: Path) -> frozenset[str]:
    """Write the workbook before with all changes but those left out, or raise and write nothing.

    Return the changes that the written workbook was found to have. Lines that came or went are
    known of it, and need not show in it by themselves.
    """
    old, new = Package.open(before), Package.open(after)
    found = compare(old, new) if before.sha256 != after.sha256 else Compared([])
    if isinstance(found, str):
        ids = {whole_file(before, after, found).id}
    else:
        ids = {one.unit.id for one in found.changes}
    if unknown := left_out - ids:
        raise fail("bad_value", "there is no such change", detail=sorted(unknown)[0])
    if not left_out or left_out == ids or isinstance(found, str):
        write_file(out, (after if not left_out else before).path.read_bytes())
        return frozenset(ids - left_out)
    composition = _Composition(old.fresh(), new.fresh(), found, left_out)
    made = composition.made(keeps_macros=after.extension in MACROS_KEPT)
    _verify(old.fresh(), made, ids - left_out, composition.lines, composition.orders)
    made.save(out)
    return frozenset(ids - left_out)


def _verify(
    before: Package,
    made: Package,
    wanted: set[str],
    lines: Mapping[str, SheetLines],
    orders: Mapping[str, Sequence[RowOrder]],
) -> None:
    """Refuse a workbook that does not differ by just the changes that were taken."""
    again = compare(before, Package.from_bytes(made.to_bytes()), lines, orders)
    have = {"file"} if isinstance(again, str) else {one.unit.id for one in again.changes}
    if have != wanted:
        lost, more = len(wanted - have), len(have - wanted)
        raise fail(
            "verify_failed",
            f"the workbook with these changes reads back differently: {lost} lost, {more} more",
        )


@dataclass
class _Side:
    """One of the two workbooks, under the names its sheets have in the result."""

    book: Book
    names: dict[int, str] = field(default_factory=dict)  # by the number of the pair

    def sheet(self, pair: SheetPair) -> Sheet:
        return self.book.sheet(self.names[pair.at])


class _Composition:
    def __init__(
        self, before: Package, after: Package, found: Compared, left_out: frozenset[str]
    ) -> None:
        self.started = monotonic()
        self.taken = [one for one in found.changes if one.unit.id not in left_out]
        self.left = [one for one in found.changes if one.unit.id in left_out]
        names = self._names(found.pairs)
        sides = _Side(Book(before), names), _Side(Book(after), names)
        self._rename(sides)
        self.starts_new = starts_new = self._starts_new()
        self.base, self.other = (sides[1], sides[0]) if starts_new else sides
        self.moved = _slots(self.left if starts_new else self.taken)
        self.changed: dict[str, set[tuple[int, int]]] = {}
        self.is_moved = bool(found.renames)
        self.reshaping = Reshaping(self.base.book, is_kept=True)
        self.lines: dict[str, SheetLines] = {}
        self.orders: dict[str, list[RowOrder]] = {}
        for slot in _slots(self.taken):
            if slot.what == ORDERED and slot.pair:
                order = RowOrder.of(slot.detail)
                self.orders.setdefault(names[slot.pair.at], []).append(order)
        if found.geometry:
            self._reshape(sides, found, names)
            self.moved = self._moved_between(sides, found, starts_new=starts_new)

    def _names(self, pairs: list[SheetPair]) -> dict[int, str]:
        old = {slot.pair.at for slot in _slots(self.left) if slot.what == RENAMED and slot.pair}
        return {pair.at: pair.name if pair.at in old else pair.shown for pair in pairs}

    def _rename(self, sides: tuple[_Side, _Side]) -> None:
        """Give the sheets of both workbooks the names they have in the result."""
        for side, changes in zip(sides, (self.taken, self.left), strict=True):
            for slot in _slots(changes):
                if slot.what == RENAMED and slot.pair:
                    now, then = slot.pair.name, slot.pair.shown
                    if side is sides[1]:
                        now, then = then, now
                    structure.rename(side.book, side.book.sheet(now), then)

    def _starts_new(self) -> bool:
        """Whether the result starts from the workbook after the changes."""
        kept = {slot.what for slot in _slots(self.left)}
        taken = {slot.what for slot in _slots(self.taken)}
        if REST in kept | taken:
            return REST in taken
        if RENAMED in kept:  # a name that is put back may be written in another way
            return False
        if LINES in kept and ADDED not in taken:  # as may be what follows lines that are not there
            return False
        return REMOVED not in kept | taken or (ADDED in taken and REMOVED in taken)

    # --- lines that came or went ---------------------------------------------------------------

    def _reshape(self, sides: tuple[_Side, _Side], found: Compared, names: dict[int, str]) -> None:
        """Give both workbooks the lines that the result has."""
        left = {run_of(slot) for slot in _slots(self.left) if slot.what == LINES}
        self.origin = Book(sides[0].book.package.copy())
        for pair in found.pairs:
            own = found.geometry.of(pair.shown)
            if not own or pair.new is None:
                continue
            rows, cols = (
                [one.run for one in left if one[:2] == (pair.shown.lower(), axis.axis)]
                for axis in own.axes
            )
            name = names[pair.at]
            sizes = sizes_of(sides[1].book, sides[1].sheet(pair), own)
            undone = (*own.columns.undone(cols), *own.rows.undone(rows))
            self._shaped(sides[1]).apply(name, undone)
            self.lines[name] = SheetLines(own.rows.without(rows), own.columns.without(cols))
            self._shaped(sides[0]).apply(name, self.lines[name].shifts, sizes)

    def _shaped(self, side: _Side) -> Reshaping:
        return self.reshaping if side is self.base else Reshaping(side.book)

    def _moved_between(
        self, sides: tuple[_Side, _Side], found: Compared, *, starts_new: bool
    ) -> list[Slot]:
        """Return what has to go over between the two, now that they have the same lines."""
        old, new = sides[0].book, sides[1].book
        pairs = [
            SheetPair(
                pair.at,
                old.find(sides[0].names[pair.at]) if pair.old else None,
                new.find(sides[1].names[pair.at]) if pair.new else None,
                pair.name,
            )
            for pair in found.pairs
        ]
        slots = Slots(Compared(pairs, geometry=Geometry(self.lines)), old, new, self.origin)
        slots.gather()
        wanted = {slot.id for slot in _slots(self.taken)}
        return [
            slot
            for slot in slots.slots
            if slot.what not in (LINES, REST) and (slot.id in wanted) != starts_new
        ]

    def made(self, *, keeps_macros: bool) -> Package:
        """Return the package of the result."""
        book = self.base.book
        book.package.refuse_unwritable(keeps_macros=keeps_macros)
        by_sheet: dict[int, list[Slot]] = {}
        for slot in self.moved:
            if (slot.what in _OF_SHEETS or _is_lone_table(slot)) and slot.pair:
                by_sheet.setdefault(slot.pair.at, []).append(slot)
        self._put_cells(by_sheet)
        for slot in self.moved:
            if slot.what == TABLE and not _is_lone_table(slot):
                part = slot.detail[0]
                book.package.put(part, self.other.book.package.read(part))
        book.forget()
        for slot in self.moved:
            if slot.what == NAME:
                self._put_name(slot)
        self._note_users()
        for slot in self.moved:
            if slot.what in (ADDED, REMOVED) and slot.pair:
                structure.take_out(book, self.base.sheet(slot.pair))
                self.is_moved = True
        self._recalculate()
        self._fill_charts()
        return book.package

    # --- sheets --------------------------------------------------------------------------------

    def _put_cells(self, by_sheet: dict[int, list[Slot]]) -> None:
        book = self.base.book
        styles = StyleSheet(book)
        formats = _Formats(self.other.book, styles)
        written: list[tuple[str, bytes]] = []
        for slots in by_sheet.values():
            pair = slots[0].pair
            assert pair is not None, "slots of sheets have one"
            sheet, twin = self.base.sheet(pair), self.other.sheet(pair)
            xml, other = book.xml(sheet), self.other.book.xml(twin)
            if xml is None or other is None:  # a chart sheet
                self._put_drawings(slots, DrawingTransfer(book, sheet, None, *self._twin(pair)))
                continue
            edit = SheetEdit(book, sheet, xml)
            self._put_drawings(slots, DrawingTransfer(book, sheet, edit, *self._twin(pair)))
            self._put_tables(slots, edit)
            AnnotationTransfer(book, edit, *self._twin(pair)).put(slots)
            writer = _SheetWriter(edit, CellSide(self.other.book, other, str), formats)
            writer.put(slots)
            _put_rules(edit, self.other.book, other, styles, self._rules(slots))
            self.changed[sheet.name] = writer.changed
            written.append((xml.part, render(edit)))
        for part, data in written:
            book.package.put(part, data)
        styles.save(book)
        book.forget()

    def _rules(self, slots: list[Slot]) -> dict[RuleKind, tuple[list[int], list[int]]]:
        """Return the numbers of rules that go here, and of those that come from the other."""
        found: dict[RuleKind, tuple[list[int], list[int]]] = {}
        for slot in slots:
            if slot.what == RULE:
                kind, old, new = rules_of(slot)
                gone, come = found.setdefault(kind, ([], []))
                here, there = (new, old) if self.starts_new else (old, new)
                gone += here
                come += there
        return found

    def _twin(self, pair: SheetPair) -> tuple[Book, Sheet]:
        return self.other.book, self.other.sheet(pair)

    def _put_drawings(self, slots: list[Slot], transfer: DrawingTransfer) -> None:
        for slot in slots:
            if slot.what == DRAWN:
                transfer.put(*slot.detail)

    def _put_tables(self, slots: list[Slot], edit: SheetEdit) -> None:
        """Let tables that came or went be there as the other version has it."""
        lone = [slot for slot in slots if _is_lone_table(slot)]
        for slot in lone:
            if slot.detail[0] in {table.part for table in edit.tables}:
                detach(self.base.book, edit, slot.detail[0])
        package = self.other.book.package
        for slot in lone:
            if slot.detail[0] in package:
                attach(self.base.book, edit, package.read(slot.detail[0]), slot.detail[0])

    def _fill_charts(self) -> None:
        """Let charts that came or changed keep what their cells hold in the result (F36.9)."""
        book = self.base.book
        slots = [slot for slot in _slots(self.taken) if slot.what == DRAWN and slot.pair]
        if not slots or not (any(self.changed.values()) or self.is_moved):
            return
        caches, trees = Caches(book), Trees(book.package)
        for slot in slots:
            assert slot.pair is not None, "charts stand on sheets"
            for drawn in drawn_on(book, self.base.sheet(slot.pair)):
                if (drawn.sort, drawn.id) == slot.detail and drawn.kind == CHART and drawn.part:
                    caches.refresh(trees.touch(drawn.part))
        trees.flush()

    # --- names and what follows ----------------------------------------------------------------

    def _put_name(self, slot: Slot) -> None:
        scope = self.base.names[slot.pair.at] if slot.pair else ""
        key = (scope, slot.detail[1])
        book_name.put(self.base.book, key, book_name.names(self.other.book).get(key, []))

    def _note_users(self) -> None:
        """Count formulas that use a name or a table which is another now as changed."""
        wanted = {slot.detail[1] for slot in self.moved if slot.what == NAME}
        tables = (slot for slot in self.moved if slot.what == TABLE)
        wanted |= {name for slot in tables for name in (slot.detail[1], "")}
        for sheet, cells in users(self.base.book, wanted).items():
            self.changed.setdefault(sheet, set()).update(cells)

    def _recalculate(self) -> None:
        book = self.base.book
        for sheet, cells in self.reshaping.stale.items():
            self.changed.setdefault(sheet, set()).update(cells)
        if self.reshaping.shifted or any(self.changed.values()):
            recalculation.drop_chain(book)
            book.forget()
        names = {sheet.name for sheet in book.sheets}
        changed = {name: cells for name, cells in self.changed.items() if name in names}
        recalculation.recalculate(
            book,
            changed,
            {},
            moved=self.is_moved,
            engine=True,
            started=self.started,
            shifted=self.reshaping.shifted,
        )


def _is_lone_table(slot: Slot) -> bool:
    """Whether a slot is of a table that came or went."""
    return slot.what == TABLE and None in slot.sides


def _slots(changes: Iterable[Change]) -> list[Slot]:
    return [slot for one in changes for slot in one.slots]


class _Formats:
    """Cell formats of the other workbook, brought into this one's table."""

    def __init__(self, giver: Book, taker: StyleSheet) -> None:
        self._transplant = Transplant(giver, taker)
        self._shared = _shared(taker.root, self._transplant.giver.root)
        self._taker = taker
        self._known: dict[int, int] = {}

    def number(self, style: int) -> int:
        """Return the number that a format has here."""
        if style not in self._known:
            self._known[style] = self._found(style)
        return self._known[style]

    def _found(self, style: int) -> int:
        if style < self._shared:
            return style
        source = self._transplant.giver.xf(style)
        if source is None:
            return style if self._taker.xf(style) is None else 0
        return self._taker.append("cellXfs", self._transplant.xf(source, self._named(source)))

    def _named(self, source: Element) -> int:
        """Return the named style here that has the name of the one a format is based on."""
        tables = [child(one.root, "cellStyles") for one in (self._transplant.giver, self._taker)]
        base = source.get("xfId") or "0"
        styles = children(tables[0], "cellStyle")
        name = next((one.get("name") for one in styles if one.get("xfId") == base), None)
        here = (one for one in children(tables[1], "cellStyle") if one.get("name") == name)
        found = next((one.get("xfId") or "0" for one in here), "0")
        return int(found) if found.isdigit() else 0


def _shared(one: Element, two: Element) -> int:
    """Return how many formats have the same numbers in two tables, one of which was added to."""
    counts = [len(children(child(root, "cellXfs"), "xf")) for root in (one, two)]
    first, second = (one, two) if counts[0] <= counts[1] else (two, one)
    return min(counts) if only_appended(first, second) else 0


class _SheetWriter:
    """Writes into a sheet what another version of it has."""

    def __init__(self, edit: SheetEdit, other: CellSide, formats: _Formats) -> None:
        self.edit, self.other, self.formats = edit, other, formats
        self.changed: set[tuple[int, int]] = set()
        self.spans: dict[int, RowSpan] = {}
        self._words = edit.xml.words

    def put(self, slots: list[Slot]) -> None:
        """Let these things be as the other version has them."""
        for slot in slots:
            if slot.what == ORDERED:
                self._order(RowOrder.of(slot.detail))
        cells = [slot for slot in slots if slot.what in _SPLIT]
        tags = {row for slot in slots if slot.what == ROWS for row in rows_of(slot)}
        rows = {slot.row for slot in cells} | tags
        self.edit.load(rows)
        for slot in cells:
            if slot.what == CONTENT:  # what its formula spilled goes with it
                self.changed.update(self.edit.clear_spill(slot.row, slot.col))
        self.spans = {row.number: row for row in self.other.xml.pick(rows)} if rows else {}
        held = {number: self.other.cells(row) for number, row in self.spans.items()}
        for slot in cells:
            cell = held.get(slot.row, {}).get(slot.col)
            if slot.what == CONTENT:
                self._content(slot.row, slot.col, cell)
            else:
                style = self.other.style(self.spans.get(slot.row), slot.col, cell)
                self.edit.patch(slot.row, slot.col).style = self.formats.number(style)
        self._keep_plain({(slot.row, slot.col) for slot in cells})
        for number in sorted(tags):
            self._row(number)
        for slot in slots:
            if slot.detail[:1] == ("cols",):
                self._columns(slot.detail[1:])
            elif slot.what == FRAME:
                self._frame(slot.detail)
            elif slot.what == MERGE:
                self._merge(slot)

    def _order(self, order: RowOrder) -> None:
        """Let rows stand as the other version has them; formulas are things of their own."""
        rows = range(order.first, order.last + 1)
        self.edit.load(rows)
        spans = {row.number: row for row in self.other.xml.pick({*rows})}
        places = set()
        for number in rows:
            span = spans.get(number)
            held = self.other.cells(span)
            for col in order.columns:
                here, there = self.edit.raw(number, col), held.get(col)
                if any(cell is not None and cell.formula is not None for cell in (here, there)):
                    continue
                if here is None and there is None:
                    continue
                self._content(number, col, there)
                style = self.other.style(span, col, there)
                self.edit.patch(number, col).style = self.formats.number(style)
                places.add((number, col))
        self.spans = spans
        self._keep_plain(places)

    def _content(self, row: int, col: int, cell: RawCell | None) -> None:
        patch = self.edit.patch(row, col)
        style = self.edit.style(row, col)
        patch.content = EMPTY if cell is None else self._copied(cell)
        if patch.style is None:
            patch.style = style
        self.changed.add((row, col))

    def _keep_plain(self, places: set[tuple[int, int]]) -> None:
        """Let empty cells without a look stay where their row or column has one."""
        plain = [place for place in places if self._is_plain(*place)]
        rows = {row for row, _ in plain}
        spans = {row.number: row for row in self.edit.xml.pick(rows)} if rows else {}
        own = CellSide(self.edit.book, self.edit.xml, str)
        for row, col in plain:
            sides = (own, spans), (self.other, self.spans)
            if any(side.style(known.get(row), col, None) for side, known in sides):
                bare = b'<%sc r="%s"/>' % (self._words.prefix, cell_name(row, col).encode())
                self.edit.patch(row, col).content = Content("copied", cell=bare)

    def _is_plain(self, row: int, col: int) -> bool:
        patch = self.edit.patch(row, col)
        is_missing = patch.content is None and self.edit.raw(row, col) is None
        return patch.style == 0 and (patch.content == EMPTY or is_missing)

    def _copied(self, cell: RawCell) -> Content:
        """Return a cell of the other version so that it means the same here."""
        raw, xml = self.other.raw(cell), self.other.xml
        if cell.formula is None and cell.value is None:
            return EMPTY
        formula = cell.formula
        if formula is not None and formula.kind == "shared":
            text = self.other.formula(cell) or ""
            raw = reformulated(raw, formula_element(text, self._words), self._words)
        if cell.kind == "s":
            raw = self._inline(raw, cell)
        if cell.meta and formula is not None and formula.kind == "array":
            raw = _remarked(raw, spill.mark(self.edit.book))
        if b" r=" not in raw[: raw.index(b">")]:
            return _placed(raw, cell, xml)
        return Content("copied", cell=raw)

    def _inline(self, raw: bytes, cell: RawCell) -> bytes:
        """Return a cell whose text stands in it, not in the list of strings of its workbook."""
        here = self.edit.book.strings
        text = self.other.book.strings.raw(cell.value or "")
        if here.prefix == self.other.book.strings.prefix and here.raw(cell.value or "") == text:
            return raw
        p = self._words.prefix
        inside = b"<%sis>%s</%sis>" % (p, rich(self.other.book, self.other.xml, cell), p)
        tag, _, rest = raw.partition(b">")
        tag = _without(tag, b"t") + b' t="inlineStr"'
        return tag + b">" + self._words.value.sub(lambda _: inside, rest, count=1)

    def _row(self, number: int) -> None:
        have = self.edit.row_attributes(number)
        row = self.spans.get(number)
        tag = attributes(self.other.xml.data[row.start : row.inner]) if row else {}
        changes: dict[str, str | None] = {}
        for name in {*have, *tag} - {b"r", b"spans"}:
            if b":" in name:
                continue
            value = tag.get(name)
            if name == b"s" and value is not None and value.isdigit():
                value = str(self.formats.number(int(value))).encode()
            if value != have.get(name):
                changes[name.decode()] = None if value is None else value.decode()
        if changes:
            self.edit.row_changes.setdefault(number, {}).update(changes)

    def _frame(self, names: tuple[str, ...]) -> None:
        root, other = self.edit.frame.root, self.other.xml.frame()
        for name in names:
            for item in children(root, name):
                root.remove(item)
            for item in children(other, name):
                insert_in_order(root, _plain(item), ORDER)
        self.edit.refresh_frame()

    def _columns(self, ranges: tuple[str, ...]) -> None:
        ends = [tuple(map(int, one.split(":"))) for one in ranges]
        wanted = [(first, last) for first, last in ends]
        root, other = self.edit.frame.root, self.other.xml.frame()
        put_columns(root, other, wanted, self.formats.number)
        self.edit.refresh_frame()

    def _merge(self, slot: Slot) -> None:
        root = self.edit.frame.root
        wanted = [parse_area(ref) for ref in slot.detail]
        parent = child(root, "mergeCells")
        for item in children(parent, "mergeCell"):
            if parent is not None and parse_area(item.get("ref") or "") in wanted:
                parent.remove(item)
        theirs = children(child(self.other.xml.frame(), "mergeCells"), "mergeCell")
        back = [item for item in theirs if parse_area(item.get("ref") or "") in wanted]
        if back and parent is None:
            parent = etree.Element(like(root, "mergeCells"))
            insert_in_order(root, parent, ORDER)
        for item in back:
            if parent is not None:
                parent.append(_plain(item))
        left = children(parent, "mergeCell")
        if parent is not None and not left:
            root.remove(parent)
        elif parent is not None:
            parent.set("count", str(len(left)))
        self.edit.refresh_frame()


def _put_rules(
    edit: SheetEdit,
    giver: Book,
    other: SheetXml,
    styles: StyleSheet,
    wanted: dict[RuleKind, tuple[list[int], list[int]]],
) -> None:
    """Let conditional formats and validations be as the other version of a sheet has them."""
    if not wanted:
        return
    root, words = edit.frame.root, rule_words(edit.book)
    transfer = RuleTransfer(root, styles, words, other.frame(), giver, _plain)
    for kind, (gone, come) in wanted.items():
        transfer.put(kind, gone, come)
    edit.refresh_frame()


def _plain(element: Element) -> Element:
    """Return a copy without attributes of other namespaces, which its new root may not know."""
    copy = deepcopy(element)
    copy.tail = None
    for item in copy.iter(etree.Element):
        for key in [key for key in item.attrib if "}" in str(key)]:
            if not str(key).startswith("{http://www.w3.org/XML/"):
                del item.attrib[key]
    return copy


def _without(tag: bytes, name: bytes) -> bytes:
    return re.sub(rb"\s+%s\s*=\s*(?:\"[^\"]*\"|'[^']*')" % name, b"", tag, count=1)


def _remarked(raw: bytes, number: int) -> bytes:
    tag, _, rest = raw.partition(b">")
    return _without(tag, b"cm") + b' cm="%d">' % number + rest


def _placed(raw: bytes, cell: RawCell, xml: SheetXml) -> Content:
    tag = b"<" + xml.words.prefix + b"c"
    name = cell_name(cell.row, cell.col).encode()
    return Content("copied", cell=b'%s r="%s"%s' % (tag, name, raw[len(tag) :]))
