"""What stands around the cells of a sheet: sizes, view, merges, filter, conditions, print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from lxml import etree

from backshop.base.place import Place
from backshop.formats.diff.part_diff import child_words, printed
from backshop.formats.package.guard import Element

from ..alignment.column_run import (
    ColumnDifference,
    column_runs,
    differing_columns,
    parted,
    told_columns,
)
from ..alignment.geometry import Run
from ..alignment.line_run import LineRun, Lines
from ..book.sheet_xml import RowSpan, SheetXml, attributes
from ..book.workbook import Book, child, children, local
from ..syntax.address import Area, parse_area
from .look_key import LookKeys
from .naming import Naming
from .rule_change import ELEMENTS, rule_slots, told_rules
from .slot import COLUMNS, FRAME, MERGE, ROWS, SheetPair, Slot

MOVABLE = (
    *("sheetPr", "sheetViews", "sheetFormatPr", "cols", "sheetProtection", "protectedRanges"),
    *("autoFilter", "sortState", "phoneticPr", "conditionalFormatting", "dataValidations"),
    *("hyperlinks", "printOptions", "pageMargins", "pageSetup", "headerFooter", "rowBreaks"),
    *("colBreaks", "ignoredErrors", "mergeCells"),
)
_LOOKS = frozenset({"cols", "sheetFormatPr", "conditionalFormatting", "sheetPr"})
_STRUCTURE = frozenset({"sheetViews", "autoFilter", "sortState"})
_TOGETHER = {"sortState": "autoFilter", "protectedRanges": "sheetProtection"}
_PRINT = ("printOptions", "pageMargins", "pageSetup", "headerFooter", "rowBreaks", "colBreaks")
_NOT_OF_ROW = frozenset({b"r", b"spans"})
_RELATIONS = "relationships}"
_SAME_COLUMNS = Lines("column")

RowDifference = tuple[int, dict[bytes, str], dict[bytes, str]]
"""A row by its number, and what its tag says on both sides."""


@dataclass(frozen=True, slots=True)
class FrameChanges:
    """The slots around the cells of one sheet, and the elements that are told by them."""

    slots: list[Slot]
    told: frozenset[str]
    merges: dict[int, list[Area]]  # by slot: the merged ranges it is about
    runs: dict[int, set[Run]] = field(default_factory=dict)  # by slot: the lines it needs


def frame_changes(
    pair: SheetPair,
    old: SheetXml,
    new: SheetXml,
    looks: LookKeys,
    *,
    same_conditions: bool,
    books: tuple[Book, Book],
    naming: Naming | None = None,
    others: frozenset[str] = frozenset(),
) -> FrameChanges:
    """Compare what stands around the cells; elements that lead to other parts are left to others.

    `others` are elements that other slots tell. `same_conditions` says that formats of conditions
    have the same numbers in both workbooks;
    `naming` names places where lines came or went.
    """
    frames = _Frames(pair, (old.frame(), new.frame()), looks, naming)
    names = [name for name in MOVABLE if name not in others]
    return frames.run(names, same_conditions, books)


class _Frames:
    """The frames of two versions of a sheet."""

    def __init__(
        self,
        pair: SheetPair,
        roots: tuple[Element, Element],
        looks: LookKeys,
        naming: Naming | None,
    ) -> None:
        self.pair, self.roots, self.looks, self.naming = pair, roots, looks, naming
        self.found = FrameChanges([], frozenset(), {})

    def run(
        self, names: Iterable[str], same_conditions: bool, books: tuple[Book, Book]
    ) -> FrameChanges:
        told = set()
        changed: dict[str, list[str]] = {}
        apart = rule_slots(self.pair, books, self.roots, self.naming)
        for kind, slots in apart.items():
            told |= {ELEMENTS[kind], told_rules(kind)}
            for one in slots:
                self._append(one.slot, one.runs)
        for name in [one for one in names if one not in told]:
            both = [children(root, name) for root in self.roots]
            if not all(_is_movable(one, same_conditions) for side in both for one in side):
                continue
            told.add(name)
            if name == "mergeCells" and self._add_merges():
                continue
            if name == "cols":
                self._add_columns()
            elif _key(both[0]) != _key(both[1]):
                word = "printOptions" if name in _PRINT else _TOGETHER.get(name, name)
                changed.setdefault(word, []).append(name)
        for name, names in changed.items():
            self._add(name, names)
        return replace(self.found, told=frozenset(told))

    def _append(self, slot: Slot, runs: Iterable[Run] = ()) -> None:
        if needed := set(runs):
            self.found.runs[len(self.found.slots)] = needed
        self.found.slots.append(slot)

    def _add(self, name: str, names: list[str]) -> None:
        sides = tuple(tuple(_key(children(root, one)) for one in names) for root in self.roots)
        slot = Slot(
            what=FRAME,
            pair=self.pair,
            sides=(sides[0], sides[1]),
            group=_group(name),
            label=f"{child_words(name)} of {self.pair.shown}",
            detail=tuple(names),
            place=Place(sheet=self.pair.shown),
            before=_refs(self.roots[0], names),
            after=_refs(self.roots[1], names),
            texts=tuple(
                _formulas(item for root in self.roots for n in names for item in children(root, n))
            ),
        )
        if self.naming is None:
            self._append(slot)
            return
        origin = self.naming.frame(self.naming.origin, self.pair)
        undone = self.naming.frame(self.naming.undone(), self.pair)
        named = self.naming.geometry.element(self.roots[1], self.pair.shown)
        before, after, alone = (
            tuple(_key(children(root, one)) for one in names) for root in (origin, named, undone)
        )
        lost = (item for one in names for item in children(origin, one))
        runs = self.naming.runs_of(lost, self.pair.shown)
        if after != alone:
            runs |= self.naming.near(self.pair.shown)
        slot = replace(slot, sides=(before, after), before=_refs(origin, names))
        self._append(slot, runs)

    # --- columns -------------------------------------------------------------------------------

    def _add_columns(self) -> None:
        """Add a slot of what is said of columns, and one for each run of those that came."""
        sides = [
            column_runs(root, lambda style, at=at: self.looks.raw(at, style))  # type: ignore[misc]
            for at, root in enumerate(self.roots)
        ]
        differences = differing_columns(sides[0], sides[1])
        lines = self.naming.geometry.of(self.pair.shown).columns if self.naming else _SAME_COLUMNS
        for run, some in parted(differences, lines.came).items():
            assert run is None or isinstance(run, LineRun), "columns come with a run, or were there"
            self._append(self._columns(some, lines, run), self._brought(run))

    def _brought(self, run: LineRun | None) -> set[Run]:
        return set() if run is None else {Run(self.pair.shown.lower(), "column", run)}

    def _columns(self, some: list[ColumnDifference], lines: Lines, run: LineRun | None) -> Slot:
        told = told_columns(some, lines.told)
        return Slot(
            what=FRAME if run is None else COLUMNS,
            pair=self.pair,
            sides=(
                tuple((one.first, one.last, one.before) for one in told),
                tuple((one.first, one.last, one.after) for one in told),
            ),
            group="looks",
            label=f"{child_words('cols')} of {self.pair.shown}",
            detail=("cols", *(f"{one.first}:{one.last}" for one in some)),
            named=("cols",),
            place=Place(sheet=self.pair.shown),
            is_inside=run is not None,
        )

    # --- merged cells --------------------------------------------------------------------------

    def _add_merges(self) -> bool:
        """Add a slot for every merge that came or went; those that overlap are one. False: no."""
        sides = [_merges(root) for root in self.roots]
        if any(area is None for side in sides for area in side):
            return False
        old, new = ({area for area in side if area is not None} for side in sides)
        for areas in overlapping(sorted(old ^ new)):
            self.found.merges[len(self.found.slots)] = areas
            gone = [area for area in areas if area in old]
            come = [area for area in areas if area in new]
            self._append(*self._merge(areas[0], gone, come))
        return True

    def _merge(self, first: Area, gone: list[Area], come: list[Area]) -> tuple[Slot, set[Run]]:
        before, after = tuple(map(str, gone)), tuple(map(str, come))
        slot = Slot(
            what=MERGE,
            pair=self.pair,
            sides=(before, after),
            group="structure",
            label=f"merged cells {self.pair.shown}!{', '.join(after or before)}",
            detail=(*before, *after),
            row=first.row1,
            col=first.col1,
            place=Place(sheet=self.pair.shown, range=str(first)),
            before=", ".join(before) or None,
            after=", ".join(after) or None,
        )
        if self.naming is None:
            return slot, set()
        geometry, home = self.naming.geometry, self.pair.shown
        lines = geometry.of(home)
        past = [self._merges_before.get(area, area) for area in gone]
        named = tuple(str(area) for area in past), tuple(str(lines.told(area)) for area in come)
        top = min([*past, *(lines.told(area) for area in come)])
        runs = {run for area in past for run in geometry.lost_area(area, home)}
        runs |= {run for area in come for run in geometry.met_area(area, home)}
        told = (top.row1, top.col1)
        slot = replace(slot, sides=named, named=(*named[0], *named[1]), told=told)
        return replace(slot, before=", ".join(named[0]) or None), runs

    @cached_property
    def _merges_before(self) -> dict[Area | None, Area]:
        """The merges that were there before lines came or went, by where they are now."""
        assert self.naming is not None, "lines came or went"
        lines = self.naming.geometry.of(self.pair.shown)
        found = _merges(self.naming.frame(self.naming.origin, self.pair))
        return {lines.area(area): area for area in found if area is not None}


def _merges(root: Element) -> list[Area | None]:
    items = children(child(root, "mergeCells"), "mergeCell")
    return [parse_area(item.get("ref") or "") for item in items]


def _group(name: str) -> str:
    return "looks" if name in _LOOKS else "structure" if name in _STRUCTURE else "other"


def _is_movable(element: Element, same_conditions: bool) -> bool:
    """Whether an element says all it means by itself."""
    space = etree.QName(element).namespace
    for item in element.iter(etree.Element):
        name = etree.QName(item)
        if name.namespace != space or name.localname == "extLst":
            return False
        for key in map(str, item.attrib):
            if _RELATIONS in key or (key == "dxfId" and not same_conditions):
                return False
    return True


def _key(elements: list[Element]) -> tuple[str, ...]:
    return tuple(printed(one, {}) for one in elements)


def _refs(root: Element, names: list[str]) -> str | None:
    """Return the ranges that elements are about, where they name some."""
    found = [
        said
        for name in names
        for one in children(root, name)
        if (said := one.get("ref") or one.get("sqref"))
    ]
    return ", ".join(found) or None


def _formulas(elements: Iterable[Element]) -> list[str]:
    names = {"formula", "formula1", "formula2", "f"}
    return [
        item.text
        for element in elements
        for item in element.iter(etree.Element)
        if local(item) in names and item.text
    ]


def overlapping(areas: list[Area]) -> list[list[Area]]:
    """Part areas, sorted by their first rows, into groups that share cells."""
    groups: list[list[Area]] = []
    open_groups: list[tuple[int, list[Area]]] = []  # with the last row of each
    for area in areas:
        open_groups = [one for one in open_groups if one[0] >= area.row1]
        met = [one for one in open_groups if any(area.meets(other) for other in one[1])]
        joined = [other for one in met for other in one[1]] + [area]
        for one in met:
            open_groups.remove(one)
            groups.remove(one[1])
        groups.append(joined)
        open_groups.append((max(other.row2 for other in joined), joined))
    return groups


# --- rows ---------------------------------------------------------------------------------------


def row_change(
    pair: SheetPair, rows: list[RowDifference], lines: Lines, *, is_inside: bool = False
) -> Slot:
    """Return the slot of the heights, outline and formats of rows."""
    before = tuple((lines.told(row), *sorted(one.items())) for row, one, _ in rows)
    after = tuple((lines.told(row), *sorted(two.items())) for row, _, two in rows)
    said = ", ".join(str(row) for row, _, _ in rows[:10]) + (", …" if len(rows) > 10 else "")
    return Slot(
        what=ROWS,
        pair=pair,
        sides=(before, after),
        group="looks",
        label=f"heights or formats of rows of {pair.shown}",
        detail=tuple(str(row) for row, _, _ in rows),
        named=tuple(str(lines.told(row)) for row, _, _ in rows) if lines else None,
        place=Place(sheet=pair.shown),
        after=f"rows {said}",
        is_inside=is_inside,
    )


def rows_of(slot: Slot) -> Iterable[int]:
    """Return the rows that a slot of rows is about."""
    return map(int, slot.detail)


def row_said(xml: SheetXml, row: RowSpan | None, looks: LookKeys, side: int) -> dict[bytes, str]:
    """Return what the tag of a row says beyond its number, its format in full."""
    if row is None:
        return {}
    tag = attributes(xml.data[row.start : row.inner])
    said = {
        name: value.decode("utf-8", "replace")
        for name, value in tag.items()
        if name not in _NOT_OF_ROW and b":" not in name
    }
    if (style := said.get(b"s", "")).isdigit():
        said[b"s"] = looks.raw(side, int(style))
    return said
