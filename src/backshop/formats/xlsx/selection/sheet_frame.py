"""What stands around the cells of a sheet: sizes, view, merges, filter, conditions, print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

from backshop.base.place import Place
from backshop.formats.diff.part_diff import child_words, printed
from backshop.formats.package.guard import Element

from ..book.sheet_xml import RowSpan, SheetXml, attributes
from ..book.workbook import child, children, local
from ..syntax.address import Area, parse_area
from .look_key import LookKeys
from .slot import FRAME, MERGE, ROWS, SheetPair, Slot

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

RowDifference = tuple[int, dict[bytes, str], dict[bytes, str]]
"""A row by its number, and what its tag says on both sides."""


@dataclass(frozen=True, slots=True)
class FrameChanges:
    """The slots around the cells of one sheet, and the elements that are told by them."""

    slots: list[Slot]
    told: frozenset[str]
    merges: dict[int, list[Area]]  # by slot: the merged ranges it is about


def frame_changes(
    pair: SheetPair, old: SheetXml, new: SheetXml, looks: LookKeys, *, same_conditions: bool
) -> FrameChanges:
    """Compare what stands around the cells; elements that lead to other parts are left to others.

    `same_conditions` says that formats of conditions have the same numbers in both workbooks.
    """
    roots = old.frame(), new.frame()
    found = FrameChanges([], frozenset(), {})
    told = set()
    changed: dict[str, list[str]] = {}
    for name in MOVABLE:
        both = [children(root, name) for root in roots]
        if not all(_is_movable(one, same_conditions) for side in both for one in side):
            continue
        told.add(name)
        if name == "mergeCells" and _add_merges(found, pair, roots):
            continue
        keys = [_key(name, side, looks, at) for at, side in enumerate(both)]
        if keys[0] != keys[1]:
            word = "printOptions" if name in _PRINT else _TOGETHER.get(name, name)
            changed.setdefault(word, []).append(name)
    for name, names in changed.items():
        found.slots.append(_slot(pair, roots, name, names, looks))
    return FrameChanges(found.slots, frozenset(told), found.merges)


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


def _key(name: str, elements: list[Element], looks: LookKeys, side: int) -> tuple[str, ...]:
    if name != "cols":
        return tuple(printed(one, {}) for one in elements)
    return tuple(
        repr(sorted(column_said(item, looks, side).items()))
        for one in elements
        for item in children(one, "col")
    )


def column_said(item: Element, looks: LookKeys, side: int) -> dict[str, str]:
    """Return what is said of a run of columns, its format in full."""
    said = {str(key): str(value) for key, value in item.attrib.items() if "}" not in str(key)}
    if said.get("style", "").isdigit():
        said["style"] = looks.raw(side, int(said["style"]))
    return said


def _slot(
    pair: SheetPair, roots: tuple[Element, Element], name: str, names: list[str], looks: LookKeys
) -> Slot:
    sides = tuple(
        tuple(_key(one, children(root, one), looks, at) for one in names)
        for at, root in enumerate(roots)
    )
    group = "looks" if name in _LOOKS else "structure" if name in _STRUCTURE else "other"
    return Slot(
        what=FRAME,
        pair=pair,
        sides=(sides[0], sides[1]),
        group=group,
        label=f"{child_words(name)} of {pair.shown}",
        detail=tuple(names),
        place=Place(sheet=pair.shown),
        before=_refs(roots[0], names),
        after=_refs(roots[1], names),
        texts=tuple(
            _formulas(child for root in roots for n in names for child in children(root, n))
        ),
    )


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


# --- merged cells -------------------------------------------------------------------------------


def _add_merges(found: FrameChanges, pair: SheetPair, roots: tuple[Element, Element]) -> bool:
    """Add a slot for every merge that came or went; those that overlap are one. False: not so."""
    sides = [
        [
            parse_area(item.get("ref") or "")
            for item in children(child(root, "mergeCells"), "mergeCell")
        ]
        for root in roots
    ]
    if any(area is None for side in sides for area in side):
        return False
    old, new = ({area for area in side if area is not None} for side in sides)
    for areas in _overlapping(sorted(old ^ new)):
        gone = tuple(str(area) for area in areas if area in old)
        come = tuple(str(area) for area in areas if area in new)
        first = areas[0]
        found.merges[len(found.slots)] = areas
        found.slots.append(
            Slot(
                what=MERGE,
                pair=pair,
                sides=(gone, come),
                group="structure",
                label=f"merged cells {pair.shown}!{', '.join(come or gone)}",
                detail=(*gone, *come),
                row=first.row1,
                col=first.col1,
                place=Place(sheet=pair.shown, range=str(first)),
                before=", ".join(gone) or None,
                after=", ".join(come) or None,
            )
        )
    return True


def _overlapping(areas: list[Area]) -> list[list[Area]]:
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


def row_change(pair: SheetPair, rows: list[RowDifference]) -> Slot:
    """Return the slot of the heights, outline and formats of rows."""
    before = tuple((row, *sorted(one.items())) for row, one, _ in rows)
    after = tuple((row, *sorted(two.items())) for row, _, two in rows)
    said = ", ".join(str(row) for row, _, _ in rows[:10]) + (", …" if len(rows) > 10 else "")
    return Slot(
        what=ROWS,
        pair=pair,
        sides=(before, after),
        group="looks",
        label=f"heights or formats of rows of {pair.shown}",
        detail=tuple(str(row) for row, _, _ in rows),
        place=Place(sheet=pair.shown),
        after=f"rows {said}",
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
