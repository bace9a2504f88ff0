"""One call of operations on a workbook: its open sheets, its style table, what was aimed at."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import TypeVar

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import problem

from ..book.blank import FIRST_SHEET
from ..book.cell_xml import Content
from ..book.sheet_edit import SheetEdit
from ..book.splice import render
from ..book.stylesheet import StyleSheet
from ..book.workbook import Book, Sheet
from ..calculation.moved_reference import Move, SheetMove
from ..calculation.vocabulary import Vocabulary
from ..syntax.address import Area, cell_name
from . import structure
from .table_growth import left_outside
from .table_header import Header, rename_headers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Target:
    """Something an operation named. `area` None means the sheet as a whole."""

    sheet: str
    area: Area | None = None
    aspects: frozenset[str] = frozenset({"value", "formula", "style"})

    def __str__(self) -> str:
        return f"{self.sheet}!{self.area}" if self.area else self.sheet


@dataclass
class Session:
    """The state operations work on; nothing reaches the package before `flush`."""

    book: Book
    warnings: Warnings
    pristine: bool = False  # a blank workbook whose Sheet1 nobody has named yet
    edits: dict[str, SheetEdit] = field(default_factory=dict)
    targets: list[Target] = field(default_factory=list)
    touched: dict[str, list[Area]] = field(default_factory=dict)
    written: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    expected: dict[str, dict[tuple[int, int], Content]] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)  # what references follow
    headers: list[Header] = field(default_factory=list)
    grown: dict[str, int] = field(default_factory=dict)  # parts of tables, and their last rows
    joined: tuple[str, ...] = ()  # tables that rows being written are going to belong to
    missing: list[tuple[str, str]] = field(default_factory=list)  # sheets formulas wait for
    unmatched: list[tuple[str, str]] = field(default_factory=list)  # what was sought in vain
    replaced: int = 0  # occurrences of texts
    structural: bool = False
    cells: int = 0
    started: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self.styles = StyleSheet(self.book)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What formulas may name."""
        return Vocabulary.of(self.book)

    def forget_vocabulary(self) -> None:
        """Let what formulas may name be gathered again: a sheet came, or a table grew."""
        vars(self).pop("vocabulary", None)

    def check_sheets(self) -> None:
        """Refuse formulas that name a sheet which no operation of the call has made (F24.12)."""
        for name, where in self.missing:
            self.book.sheet(name, where)

    def edit(self, name: str, where: str, way: str | None = None) -> SheetEdit:
        """Open an existing worksheet for change; `way` says how one that is missing is made."""
        sheet = self.book.sheet(name, f"{where}.sheet", way)
        return self._open(sheet, where)

    def edit_or_name(self, name: str, where: str) -> SheetEdit:
        """Open a worksheet to write into; the empty sheet of a blank workbook takes its name.

        A sheet that is not there is never made by the way: its name may be a typing mistake, and
        `ensure_sheet` makes one (F17).
        """
        if self.pristine and self.book.find(name) is None:
            self.create(name, None, where)
        call = json.dumps({"op": "ensure_sheet", "sheet": name}, ensure_ascii=False)
        way = f"to add it: {call} before this operation"
        return self.edit(name, where, way)

    def _open(self, sheet: Sheet, where: str) -> SheetEdit:
        if sheet.kind != "worksheet":
            raise problem("unsupported_format", f"{where}.sheet", "this sheet has no cells")
        if sheet.part is None:
            raise fail("corrupt_file", "a sheet of the workbook has no part", detail=sheet.name)
        if sheet.part not in self.edits:
            xml = self.book.xml(sheet)
            assert xml is not None, "worksheets with a part have cells"
            self.edits[sheet.part] = SheetEdit(self.book, sheet, xml)
        if sheet.name == FIRST_SHEET:
            self.pristine = False
        return self.edits[sheet.part]

    def create(self, name: str, position: int | None, where: str) -> Sheet:
        """Add a sheet; in a blank workbook its empty first sheet takes the name (F16.3)."""
        structure.check_name(name, f"{where}.sheet")
        structure.refuse_locked(self.book, where)
        self.structural = True
        self.targets.append(Target(name))
        self.flush()
        if self.pristine:
            self.pristine = False
            if self.book.find(name) is None:
                self.moves.append(SheetMove(self.book.sheets[0].name, name))
                structure.rename(self.book, self.book.sheets[0], name)
            return self.book.sheet(name)
        return structure.add_sheet(self.book, name, position)

    def count(self, cells: int, where: str) -> None:
        """Refuse a call that touches too many cells (F2.5)."""
        self.cells += cells
        if self.cells > limits.OPS_MAX_CELLS:
            raise problem("too_large", where, f"at most {limits.OPS_MAX_CELLS} cells in one call")

    def check_writable(self, edit: SheetEdit, row: int, col: int, where: str) -> None:
        """Refuse a locked cell of a protected sheet (F23.10)."""
        if edit.frame.protected and self.styles.is_locked(edit.style(row, col)):
            raise problem("sheet_protected", where, f"{cell_name(row, col)} is locked")

    def aim(self, edit: SheetEdit, area: Area, *aspects: str) -> None:
        """Note what an operation addresses."""
        wanted = frozenset(aspects or ("value", "formula", "style"))
        self.targets.append(Target(edit.sheet.name, area, wanted))
        self.touched.setdefault(edit.sheet.name, []).append(area)

    def flush(self) -> None:
        """Put every pending change into the package."""
        self.forget_vocabulary()
        for part, edit in self.edits.items():
            if edit.changed:
                for count, where in left_outside(edit):
                    self.warnings.add("table_not_extended", count, where)
                places = self.expected.setdefault(edit.sheet.name, {})
                new = {
                    place: p.content for place, p in edit.patches.items() if p.content is not None
                }
                places.update(new)
                self.written.setdefault(edit.sheet.name, set()).update(new)
                self.book.package.put(part, render(edit))
        self.edits.clear()
        self.styles.save(self.book)
        self.book.forget()
        for move in rename_headers(self.book, self.headers):
            structure.follow(self.book, move)
            self.moves.append(move)
        self.headers.clear()
        self.styles = StyleSheet(self.book)

    def move(self, move: SheetMove) -> None:
        """Note that a sheet got another name or went; formulas written before follow it."""
        self.moves.append(move)
        for places in self.expected.values():
            for place, content in places.items():
                if content.kind == "formula":
                    places[place] = replace(content, text=move.followed(content.text))

    def follow(self, old: str, new: str) -> None:
        """Let what was noted under a sheet's old name stand under its new one."""
        self.targets = [replace(t, sheet=new) if t.sheet == old else t for t in self.targets]
        _rename_key(self.touched, old, new)
        _rename_key(self.written, old, new)
        _rename_key(self.expected, old, new)


def _rename_key(noted: dict[str, T], old: str, new: str) -> None:
    if old in noted:
        noted[new] = noted.pop(old)
