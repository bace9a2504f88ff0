"""The workbook before with some of its changes: put together, brought up to date, verified (F34).

Everything that no slot is of comes from one of the two packages, byte for byte; cells, rows, names
and the like that must be as in the other one are written into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from lxml import etree

from backshop.formats.errors import fail
from backshop.formats.output import write_file
from backshop.formats.package.guard import Element
from backshop.formats.package.package import Package
from backshop.formats.protocol import Source

from ..book.cell_xml import EMPTY, Content, formula_element, reformulated
from ..book.element_order import insert_in_order
from ..book.sheet_edit import SheetEdit
from ..book.sheet_xml import RawCell, RowSpan, SheetXml, attributes
from ..book.splice import render
from ..book.stylesheet import StyleSheet
from ..book.workbook import Book, Sheet, child, children, like
from ..calculation import recalculation, spill
from ..edit import structure
from ..edit.effect import only_appended
from ..edit.layout import ORDER
from ..style.transplant import Transplant
from ..syntax.address import cell_name, parse_area
from . import book_name
from .cell_content import CellSide, rich
from .comparison import Compared, compare, whole_file
from .sheet_frame import rows_of
from .slot import (
    ADDED,
    CONTENT,
    FRAME,
    LOOK,
    MERGE,
    NAME,
    REMOVED,
    RENAMED,
    REST,
    ROWS,
    TABLE,
    Change,
    SheetPair,
    Slot,
)
from .tie import named_in

_SPLIT = (LOOK, CONTENT)


def compose(before: Source, after: Source, left_out: frozenset[str], out: Path) -> None:
    """Write the workbook before with all changes but those left out, or raise and write nothing."""
    old, new = Package.open(before), Package.open(after)
    found = compare(old, new) if before.sha256 != after.sha256 else Compared([])
    ids = {one.unit.id for one in found.changes} if found else {whole_file(before, after).id}
    if unknown := left_out - ids:
        raise fail("bad_value", "there is no such change", detail=sorted(unknown)[0])
    if not left_out or left_out == ids or found is None:
        write_file(out, (after if not left_out else before).path.read_bytes())
        return
    made = _Composition(old.fresh(), new.fresh(), found, left_out).made()
    _verify(old.fresh(), made, ids - left_out)
    made.save(out)


def _verify(before: Package, made: Package, wanted: set[str]) -> None:
    """Refuse a workbook that does not differ by just the changes that were taken."""
    again = compare(before, made)
    have = {one.unit.id for one in again.changes} if again else {"file"}
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
        starts_new = self._starts_new()
        self.base, self.other = (sides[1], sides[0]) if starts_new else sides
        self.moved = _slots(self.left if starts_new else self.taken)
        self.changed: dict[str, set[tuple[int, int]]] = {}
        self.is_moved = bool(found.renames)

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
        return REMOVED not in kept | taken or (ADDED in taken and REMOVED in taken)

    def made(self) -> Package:
        """Return the package of the result."""
        book = self.base.book
        book.package.refuse_unwritable()
        by_sheet: dict[int, list[Slot]] = {}
        for slot in self.moved:
            if slot.what in (CONTENT, LOOK, ROWS, FRAME, MERGE) and slot.pair:
                by_sheet.setdefault(slot.pair.at, []).append(slot)
        self._put_cells(by_sheet)
        for slot in self.moved:
            if slot.what == TABLE:
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
            assert xml is not None, "the sheet has cells"
            assert other is not None, "and so has its twin"
            edit = SheetEdit(book, sheet, xml)
            writer = _SheetWriter(edit, CellSide(self.other.book, other, str), formats)
            writer.put(slots)
            self.changed[sheet.name] = writer.changed
            written.append((xml.part, render(edit)))
        for part, data in written:
            book.package.put(part, data)
        styles.save(book)
        book.forget()

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
        wanted |= _naming(self.base.book, wanted)
        book = self.base.book
        for sheet in book.sheets if wanted else ():
            xml = book.xml(sheet)
            for cell in xml.formula_cells() if xml else ():
                text = book.formula(cell, xml) if xml else None
                if text and named_in(text)[1] & wanted:
                    self.changed.setdefault(sheet.name, set()).add((cell.row, cell.col))

    def _recalculate(self) -> None:
        book = self.base.book
        if any(self.changed.values()):
            recalculation.drop_chain(book)
            book.forget()
        names = {sheet.name for sheet in book.sheets}
        changed = {name: cells for name, cells in self.changed.items() if name in names}
        recalculation.recalculate(
            book, changed, {}, moved=self.is_moved, engine=True, started=self.started
        )


def _naming(book: Book, wanted: set[str]) -> set[str]:
    """Return the names whose formulas use some of these, through others too."""
    uses = {one.name.lower(): named_in(one.refers_to)[1] for one in book.names} if wanted else {}
    found = set(wanted)
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return found


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
        cells = [slot for slot in slots if slot.what in _SPLIT]
        tags = {row for slot in slots if slot.what == ROWS for row in rows_of(slot)}
        rows = {slot.row for slot in cells} | tags
        self.edit.load(rows)
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
            if slot.what == FRAME:
                self._frame(slot.detail)
            elif slot.what == MERGE:
                self._merge(slot)

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
                copy = _plain(item)
                if name == "cols":
                    for column in children(copy, "col"):
                        if (style := column.get("style") or "").isdigit():
                            column.set("style", str(self.formats.number(int(style))))
                insert_in_order(root, copy, ORDER)
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
