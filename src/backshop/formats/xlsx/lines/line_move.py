"""Lines of a sheet that came or went, as something every part of the workbook follows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import serialise

from ..book.plain import plain_xml
from ..book.sheet_xml import SheetXml
from ..book.splice import frame_halves
from ..book.workbook import Book, Sheet, child, children
from ..syntax.line_shift import LineShift
from .anchor import Ground
from .cell_rows import CellRows
from .chart import move_chart
from .follow import Columns, Follow, LostColumns
from .legacy_drawing import moved_shapes
from .other_part import (
    move_comments,
    move_control,
    move_links,
    move_names,
    move_parameters,
    move_pivot,
    move_sources,
    move_topics,
)
from .seat import Seat
from .sheet_frame import FrameMove, move_frame
from .table import columns_after, move_table

_MEMO_FROM_BYTES = 1 << 20  # larger parts are not moved twice: the report asks for the same again


@dataclass(frozen=True)
class LineMove:
    """Rows or columns inserted into a sheet or deleted from it."""

    sheet: str
    part: str
    shift: LineShift
    pattern: int | None  # the line, as it was counted before, whose looks inserted ones get
    seats: Mapping[str, Seat]
    sheets: tuple[str, ...]  # as they stood
    sheet_id: str
    ground: Ground
    lost: LostColumns
    columns: Mapping[str, Columns]  # of the sheet's tables by part, afterwards
    gone: Mapping[str, str]  # tables that go: their parts by the relationships
    broken: Counter[str] = field(default_factory=Counter, compare=False)
    _done: dict[str, tuple[bytes, bytes]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls,
        book: Book,
        sheet: Sheet,
        shift: LineShift,
        pattern: int | None,
        kinds: Mapping[str, Seat],
    ) -> LineMove:
        """Prepare a move of a sheet's lines; `kinds` tells what every part is."""
        xml = book.xml(sheet)
        assert xml is not None, "lines are those of a worksheet"
        assert sheet.part is not None, "it has cells"
        tables = book.tables(sheet)
        after = {table: columns_after(table, shift) for table in tables}
        left = {table: shift.area(table.area) is not None for table in tables}
        changed = [t for t in tables if not left[t] or (shift.by < 0 and after[t] != t.columns)]
        items = children(children(book.root, "sheets")[0], "sheet")
        return cls(
            sheet=sheet.name,
            part=sheet.part,
            shift=shift,
            pattern=pattern,
            seats=kinds,
            sheets=tuple(one.name for one in book.sheets),
            sheet_id=items[sheet.index].get("sheetId") or "",
            ground=Ground.of(xml, shift, pattern),
            lost=LostColumns(
                {table.name.lower(): table.columns for table in changed},
                {table.name.lower(): after[table] for table in changed if left[table]},
            ),
            columns={table.part: after[table] for table in tables},
            gone=_links(book, sheet, {table.part for table in tables if not left[table]}),
        )

    def followed(self, formula: str, home: str) -> str:
        """Return a formula of a sheet whose references follow."""
        return Follow(self.sheet, self.shift, home, self.lost).formula(formula)

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part that follows, and whether it differs."""
        seat = self.seats.get(part)
        if seat is None:
            return data, 0
        known = self._done.get(part)
        if known is not None and known[0] == data:
            return known[1], int(known[1] is not data)
        result = self._rewritten(part, seat, data)
        if len(data) >= _MEMO_FROM_BYTES:
            self._done[part] = (data, result)
        return result, int(result != data)

    def _rewritten(self, part: str, seat: Seat, data: bytes) -> bytes:
        follow = Follow(self.sheet, self.shift, seat.home, self.lost, self.broken)
        if seat.kind == "worksheet":
            return self._worksheet(part, data, follow)
        if seat.kind == "vml":
            return moved_shapes(data, follow)
        change = self._changes(part).get(seat.kind)
        if change is None or (not follow.is_own and not self._is_mentioned(data)):
            return data
        root = parse_xml(data)
        before = etree.tostring(root.getroottree())
        change(root, follow)
        if etree.tostring(root.getroottree()) == before:
            return data
        return serialise(root, like=data)

    def _changes(self, part: str) -> dict[str, Callable[[Element, Follow], None]]:
        return {
            "workbook": self._workbook,
            "table": lambda root, follow: move_table(root, follow, self.columns.get(part, ())),
            "wsDr": self._drawing,
            "userShapes": move_links,
            "chartSpace": move_chart,
            "comments": move_comments,
            "ThreadedComments": move_comments,
            "singleXmlCells": move_comments,
            "pivotTableDefinition": move_pivot,
            "pivotCacheDefinition": move_sources,
            "formControlPr": move_control,
            "ocx": move_control,
            "connections": move_parameters,
            "volTypes": lambda root, follow: move_topics(root, follow, self.sheet_id),
        }

    def _worksheet(self, part: str, data: bytes, follow: Follow) -> bytes:
        if not follow.is_own and not self._is_mentioned(data):
            return data
        xml = SheetXml(data, part)
        root = xml.frame()
        before = etree.tostring(root)
        more = FrameMove(self.ground, frozenset(self.gone), self.pattern)
        move_frame(root, follow, more)
        head, tail = xml.data[: xml.start], xml.data[xml.end :]
        if etree.tostring(root) != before:
            head, tail = frame_halves(xml, root)
        p = xml.words.prefix
        opening, closing = xml.data[xml.start : xml.inner], xml.data[xml.close : xml.end]
        rows = CellRows(xml, follow, self.pattern).render()
        if rows and not closing:
            opening, closing = b"<%ssheetData>" % p, b"</%ssheetData>" % p
        result = b"".join([head, opening, rows, closing, tail])
        return data if result == xml.data else result

    def _workbook(self, root: Element, follow: Follow) -> None:
        move_names(root, follow, self.sheets)
        view = child(child(root, "bookViews"), "workbookView")
        shown = (view.get("activeTab") if view is not None else None) or "0"
        size = child(root, "oleSize")
        if size is not None and shown == str(self.sheets.index(self.sheet)):
            size.set("ref", follow.place(size.get("ref") or "") or "A1")

    def _drawing(self, root: Element, follow: Follow) -> None:
        move_links(root, follow)
        if follow.is_own:
            self.ground.move_all(root)

    def _is_mentioned(self, data: bytes) -> bool:
        """Whether a part can name the sheet, or a table that lost columns."""
        names = [self.sheet.lower(), *self.lost.before]
        if not all(re.fullmatch(r"[\w .\-]+", name, re.ASCII) for name in names):
            return True  # it may be written in many ways
        folded = plain_xml(data).lower()
        return any(name.encode() in folded for name in names)


def _links(book: Book, sheet: Sheet, parts: set[str]) -> dict[str, str]:
    """Return the relationships of a sheet that lead to some parts."""
    rels = book.package.rels(sheet.part or "")
    found = {rel.id: book.package.find(rel.part) for rel in rels if rel.part}
    return {link: part for link, part in found.items() if part in parts and part is not None}
