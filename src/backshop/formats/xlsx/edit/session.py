"""One call of operations on a workbook: its open sheets, its style table, what was aimed at."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Literal, TypeAlias, TypeVar

from backshop.base import limits
from backshop.formats.errors import fail
from backshop.formats.protocol import Source
from backshop.formats.warning import Warnings
from backshop.formats.write.operation import problem

from ..book.blank import FIRST_SHEET
from ..book.cell_xml import Content
from ..book.protection import Protection, is_open
from ..book.sheet_edit import SheetEdit
from ..book.splice import render
from ..book.stylesheet import StyleSheet
from ..book.workbook import Book, Sheet
from ..calculation.moved_reference import Move, SheetMove
from ..calculation.vocabulary import Vocabulary
from ..lines.line_move import LineMove
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name
from ..syntax.line_shift import LineShift
from . import structure
from .table_growth import left_outside
from .table_header import Header, rename_headers

T = TypeVar("T")
REMOVED = "removed"
RULES = frozenset({"conditionalFormatting", "dataValidations"})
PartCheck: TypeAlias = Callable[[bytes, bytes], bool]
"""Whether a part differs from what it was (before, after) in nothing but what was asked for."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something an operation named. `area` None means the sheet as a whole."""

    sheet: str
    area: Area | None = None
    aspects: frozenset[str] = frozenset({"value", "formula", "style"})
    thing: str = ""  # the name of something on the sheet: a chart; of the workbook without one

    def __str__(self) -> str:
        place = self.thing or (self.area and (self.area.lines or self.area))
        if not self.sheet:
            return self.thing
        return f"{self.sheet}!{place}" if place else self.sheet


@dataclass(frozen=True, slots=True)
class ExpectedChart:
    """What a chart that was made, or shows other cells now, must read back as."""

    kind: str | None  # None: any
    series: int


@dataclass(frozen=True, slots=True)
class Arranged:
    """A range whose rows changed places; `fixed` are columns that speak of places and stayed."""

    area: Area
    fixed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class PartRewrite:
    """One part that an operation changed, and how; others of the workbook do not follow."""

    part: str
    by: Callable[[bytes], bytes]

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part as it was made, and whether it differs."""
        made = self.by(data) if part == self.part else data
        return made, int(made != data)


@dataclass(frozen=True, slots=True)
class Added:
    """New lines with values: where they stand on their sheet."""

    sheet: str
    axis: Literal["row", "column"]
    area: Area


@dataclass(frozen=True, slots=True)
class SheetTwin:
    """A sheet that is a copy: what it was copied from, and how that is written in the copy."""

    source: bytes
    rewrite: Callable[[bytes], bytes]


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
    made: set[str] = field(default_factory=set)  # parts that operations added or took out
    expected_parts: dict[str, PartCheck] = field(default_factory=dict)  # parts they changed
    arranged: dict[str, list[Arranged]] = field(default_factory=dict)  # by sheet
    carried: dict[str, set[tuple[int, int]]] = field(default_factory=dict)  # cells of these
    kept: dict[str, set[tuple[int, int]]] = field(default_factory=dict)  # formulas of these whose
    # results went with them
    charts: dict[str, ExpectedChart] = field(default_factory=dict)  # by part: to be filled
    files: Mapping[str, Source] = field(default_factory=dict)  # what operations name beside it
    twins: dict[str, SheetTwin] = field(default_factory=dict)  # by part: copies of sheets
    addresses: set[str] = field(default_factory=set)  # of links that came or went
    joined: tuple[str, ...] = ()  # tables that rows being written are going to belong to
    missing: list[tuple[str, str]] = field(default_factory=list)  # sheets formulas wait for
    unmatched: list[tuple[str, str]] = field(default_factory=list)  # what was sought in vain
    left: list[str] = field(default_factory=list)  # what was found, and stays
    replaced: int = 0  # occurrences of texts
    stale: dict[str, set[tuple[int, int]]] = field(default_factory=dict)  # formulas, by lines
    shifted: dict[str, list[Area]] = field(default_factory=dict)  # cells that stand elsewhere
    added: list[Added] = field(default_factory=list)  # new lines beside others
    settled: dict[str, bytes] = field(default_factory=dict)  # changed parts, when all was computed
    engine: bool = True  # whether results are computed; else those that are reached go
    structural: bool = False
    cells: int = 0
    started: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self.is_new = self.pristine  # all of it is new, also once its Sheet1 has another name
        self.styles = StyleSheet(self.book)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What formulas may name."""
        return Vocabulary.of(self.book)

    @property
    def names(self) -> Collection[str]:
        """The names that the workbook gives to cells and functions, in small letters."""
        return self.vocabulary.names

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
        structure.refuse_macro_sheet(sheet, f"{where}.sheet")
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
        if not edit.frame.protected or not self.styles.is_locked(edit.style(row, col)):
            return
        if not is_open(edit.frame, row, col):
            hints = Protection(self.book, edit.xml, edit.frame).hints()
            what = f"{cell_name(row, col)} is locked: the sheet {edit.sheet.name} is protected"
            raise problem("sheet_protected", where, what, hints=hints)

    def aim(self, edit: SheetEdit, area: Area, *aspects: str) -> None:
        """Note what an operation addresses."""
        wanted = frozenset(aspects or ("value", "formula", "style"))
        self.targets.append(Target(edit.sheet.name, area, wanted))
        self.touched.setdefault(edit.sheet.name, []).append(area)

    def rewrite(self, part: str, by: Callable[[bytes], bytes]) -> None:
        """Change a part in a way that the report of effects can repeat and compare."""
        before = self.book.package.read(part)
        after = by(before)
        if after != before:
            self.book.package.put(part, after)
            self.moves.append(PartRewrite(part, by))

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

    def shift(self, move: LineMove) -> None:
        """Note that lines of a sheet came or went; what was noted before stands elsewhere now."""
        name, shift = move.sheet, move.shift
        self.moves.append(move)
        self.targets = [
            replace(target, area=shift.area(target.area) or target.area)
            if target.sheet == name and target.area and REMOVED not in target.aspects
            else target
            for target in map(_unplaced, self.targets)
        ]
        areas = map(shift.area, self.touched.get(name, ()))
        self.touched[name] = [area for area in areas if area is not None]
        ranges = self.arranged.get(name, ())
        moved = ((shift.area(one.area), one) for one in ranges)
        self.arranged[name] = [
            replace(one, area=area, fixed=_columns_after(shift, one.fixed))
            for area, one in moved
            if area is not None
        ]
        self.kept.clear()
        self.added = [
            replace(one, area=area)
            for one in self.added
            if (area := shift.area(one.area) if one.sheet == name else one.area) is not None
        ]
        for noted in (self.written, self.stale, self.carried):
            if name in noted:
                noted[name] = {now for place in noted[name] if (now := shift.cell(*place))}
        if name in self.expected:
            held = ((shift.cell(*place), content) for place, content in self.expected[name].items())
            self.expected[name] = {place: content for place, content in held if place}
        for sheet, places in self.expected.items():
            for place, content in places.items():
                if content.kind == "formula":
                    text = move.followed(content.text, sheet)
                    places[place] = replace(content, text=text)
        for part, row in self.grown.items():
            if shift.axis == "row" and part in move.columns:
                self.grown[part] = shift.line(row) or max(1, shift.at - 1)
        behind = Area(1, 1, MAX_ROW, MAX_COL)
        self.shifted.setdefault(name, []).append(shift.across(behind, (shift.at, shift.most)))

    def follow(self, old: str, new: str) -> None:
        """Let what was noted under a sheet's old name stand under its new one."""
        self.targets = [replace(t, sheet=new) if t.sheet == old else t for t in self.targets]
        self.added = [replace(one, sheet=new) if one.sheet == old else one for one in self.added]
        _rename_key(self.touched, old, new)
        _rename_key(self.stale, old, new)
        _rename_key(self.shifted, old, new)
        _rename_key(self.written, old, new)
        _rename_key(self.expected, old, new)
        _rename_key(self.arranged, old, new)
        _rename_key(self.carried, old, new)
        _rename_key(self.kept, old, new)


def _unplaced(target: Target) -> Target:
    """Return a target without the cells that a rule had before lines came or went."""
    return replace(target, thing="") if target.aspects & RULES else target


def _columns_after(shift: LineShift, columns: frozenset[int]) -> frozenset[int]:
    if shift.axis == "row":
        return columns
    return frozenset(now for col in columns if (now := shift.line(col)) is not None)


def _rename_key(noted: dict[str, T], old: str, new: str) -> None:
    if old in noted:
        noted[new] = noted.pop(old)
