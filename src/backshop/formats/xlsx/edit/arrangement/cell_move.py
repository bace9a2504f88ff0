"""Cells that were cut and put elsewhere, as something every reference of the workbook follows.

A reference to moved cells means them at their new place; one to cells that were put over is lost.
A range of which one whole edge moved along its own direction becomes longer or shorter, as in
Excel; any other range that only shares cells with the moved ones stays as it is (F39.12).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from lxml import etree

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import serialise

from ...book.cell_xml import formula_element, reformulated
from ...book.plain import plain_xml
from ...book.sheet_xml import RawCell, SheetXml, unescape
from ...book.splice import frame_halves
from ...book.workbook import Book, child, children, local, rel_id
from ...lines.other_part import BUILT_IN
from ...lines.seat import Seat, seats
from ...syntax.address import MAX_COL, MAX_ROW, Area, parse_area
from ...syntax.formula import quote_sheet, rewrite, shift, tokens
from ...syntax.function import DYNAMIC, VOLATILE
from ...syntax.reference import GONE, Reference, moved, references
from ...syntax.signature import SIGNATURES

_RULES = frozenset({"conditionalFormatting", "dataValidation"})
_RULE_FORMULAS = frozenset({"formula", "formula1", "formula2", "f"})
_CACHES = frozenset({"numCache", "strCache", "multiLvlStrCache", "dlblRangeCache"})
_TEXT = re.compile(
    rb"(<(?:[\w.\-]+:)?(?:f|formula|calculatedColumnFormula|totalsRowFormula|Fmla(?:Link|Range|"
    rb"Group|Txbx|Pict))(?:\s[^>]*)?(?<!/)>)([^<]+)(</)"
)
_ATTRIBUTE = re.compile(
    rb"(\s(?:textlink|cellRange|fmla(?:Link|Range|Group|Txbx|Pict)|linkedCell|listFillRange)=\")"
    rb"([^\"]*)(\")"
)
_MARKS = re.compile(rb"\s(?:t|ref|si)\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_PLAIN = re.compile(r"[\w .\-]+", re.ASCII)
_STEADY = frozenset(
    {"string", "number", "operator", "open", "close", "separator", "space", "ref", "error"}
)
_OF_PLACE = frozenset({"ROW", "ROWS", "COLUMN", "COLUMNS", "FORMULATEXT"}) | VOLATILE | DYNAMIC
_HERE = "\0"  # a sheet nobody has: what a formula names without one


@dataclass(frozen=True)
class CellMove:
    """A rectangle of cells that stands so many rows and columns further, or on another sheet."""

    sheet: str
    area: Area
    to_sheet: str
    rows: int
    cols: int
    seats: Mapping[str, Seat]
    sheets: tuple[str, ...]
    lost: dict[str, set[tuple[int, int]]] = field(default_factory=dict, compare=False)
    kept: dict[str, set[tuple[int, int]]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, book: Book, sheet: str, area: Area, to_sheet: str, by: tuple[int, int]) -> CellMove:
        """Prepare a move of cells."""
        names = tuple(one.name for one in book.sheets)
        return cls(sheet, area, to_sheet, *by, seats(book), names)

    @property
    def target(self) -> Area:
        """Where the cells stand afterwards."""
        return self.area.moved(self.rows, self.cols)

    @property
    def is_far(self) -> bool:
        """Whether they stand on another sheet afterwards."""
        return self.sheet.lower() != self.to_sheet.lower()

    # --- one reference -------------------------------------------------------------------------

    def change(self, reference: Reference) -> tuple[str, Area] | None:
        """Return what a reference names afterwards."""
        sheet, area = reference.sheet, reference.area
        if sheet.lower() == self.sheet.lower():
            if self.area.clip(area) == area:
                moved_to = area.moved(self.rows, self.cols)
                return (self.to_sheet if self.is_far else sheet), moved_to
            stretched = self._stretched(area)
            if stretched is not None:
                return sheet, stretched
        if sheet.lower() == self.to_sheet.lower() and self.target.clip(area) == area:
            return None
        return sheet, area

    def _stretched(self, area: Area) -> Area | None:
        """Return a range of which the first or last lines moved along it; `2:2` has no ends."""
        cut = self.area.clip(area)
        whole, end = (
            ((area.row1, area.row2), MAX_ROW) if self.rows else ((area.col1, area.col2), MAX_COL)
        )
        if whole == (1, end) or self.is_far or cut is None or (self.rows and self.cols):
            return None
        if self.rows and (cut.col1, cut.col2) == (area.col1, area.col2):
            ends = self._ends((area.row1, area.row2), (cut.row1, cut.row2), self.rows)
            return Area(ends[0], area.col1, ends[1], area.col2) if ends else None
        if self.cols and (cut.row1, cut.row2) == (area.row1, area.row2):
            ends = self._ends((area.col1, area.col2), (cut.col1, cut.col2), self.cols)
            return Area(area.row1, ends[0], area.row2, ends[1]) if ends else None
        return None

    @staticmethod
    def _ends(whole: tuple[int, int], cut: tuple[int, int], by: int) -> tuple[int, int] | None:
        first, last = whole
        if cut[0] == first:
            first += by
        elif cut[1] == last:
            last += by
        else:
            return None
        return (first, last) if first <= last else None

    def followed(self, formula: str, home: str) -> str:
        """Return a formula of a sheet whose references follow."""
        return moved(formula, home, self.change)

    def rule(self, formula: str, home: str, areas: Sequence[Area]) -> str:
        """Return a formula of a rule; what it names without `$` it names for each of its cells."""
        if not areas:
            return self.followed(formula, home)
        rows = max(a.row2 for a in areas) - min(a.row1 for a in areas)
        cols = max(a.col2 for a in areas) - min(a.col1 for a in areas)

        def change(reference: Reference) -> tuple[str, Area] | None:
            area = reference.area
            swept = Area(
                area.row1,
                area.col1,
                area.row2 + (0 if all(reference.rows) else rows),
                area.col2 + (0 if all(reference.cols) else cols),
            )
            now = self.change(reference._replace(area=swept))
            if now == (reference.sheet, swept):
                return reference.sheet, area
            is_held = all(reference.rows) and all(reference.cols)
            if now is None:
                return None if is_held else (reference.sheet, area)
            if swept == area:
                return now
            by = now[1].row1 - swept.row1, now[1].col1 - swept.col1
            same = now[1] == swept.moved(*by)
            return (now[0], area.moved(*by)) if same else (reference.sheet, area)

        return moved(formula, home, change)

    def carried(self, formula: str, scoped: Iterable[str] = ()) -> str:
        """Return a formula of a moved cell, which followed, for the sheet it stands on now.

        What it named without a sheet is that of its old sheet; `scoped` are the names of that one.
        """
        if not self.is_far:
            return formula
        named = {one.lower() for one in scoped}
        text = qualified(formula, self.sheet, named) if named else formula

        def change(reference: Reference) -> tuple[str, Area]:
            if reference.sheet == _HERE:
                return self.sheet, reference.area
            is_here = reference.sheet.lower() == self.to_sheet.lower()
            return (_HERE if is_here else reference.sheet), reference.area

        return moved(text, _HERE, change).replace(f"{quote_sheet(_HERE)}!", "")

    # --- parts ---------------------------------------------------------------------------------

    def rewrite(self, part: str, data: bytes) -> tuple[bytes, int]:
        """Return a part whose references follow, and whether it differs."""
        seat = self.seats.get(part)
        if seat is None or not self._is_concerned(seat, data):
            return data, 0
        if seat.kind == "worksheet":
            result = self._worksheet(part, data, seat.home)
        elif seat.kind == "workbook":
            result = self._tree(data, self._names)
        elif seat.kind == "pivotCacheDefinition":
            result = self._tree(data, self._sources)
        elif seat.kind == "chartSpace":
            result = self._tree(data, lambda root: self._chart(root, seat.home))
        else:
            result = _texts(data, lambda text: self.followed(text, seat.home))
        return result, int(result != data)

    def _is_concerned(self, seat: Seat, data: bytes) -> bool:
        names = {self.sheet.lower(), self.to_sheet.lower()}
        if seat.home.lower() in names:
            return True
        if not all(_PLAIN.fullmatch(name) for name in names):
            return True  # it may be written in many ways
        folded = plain_xml(data).lower()
        return any(name.encode() in folded for name in names)

    def _tree(self, data: bytes, change: Callable[[Element], None]) -> bytes:
        root = parse_xml(data)
        before = etree.tostring(root)
        change(root)
        return data if etree.tostring(root) == before else serialise(root, like=data)

    def _names(self, root: Element) -> None:
        """Let names follow that hold what they name by `$`; others mean a distance."""
        for item in children(child(root, "definedNames"), "definedName"):
            text = "".join(str(piece) for piece in item.itertext())
            scope, name = item.get("localSheetId") or "", item.get("name") or ""
            is_known = scope.isdigit() and int(scope) < len(self.sheets)
            home = self.sheets[int(scope)] if is_known else ""
            if name.startswith(BUILT_IN) and self.is_far:
                continue  # what is printed or filtered is of its own sheet
            now = moved(text, home, self._held)
            if now != text:
                for piece in list(item):
                    item.remove(piece)
                item.text = now

    def _held(self, reference: Reference) -> tuple[str, Area] | None:
        is_held = all(reference.rows) and all(reference.cols)
        return self.change(reference) if is_held else (reference.sheet, reference.area)

    def _sources(self, root: Element) -> None:
        for item in root.iter("{*}worksheetSource", "{*}rangeSet"):
            area = parse_area(item.get("ref") or "")
            sheet = item.get("sheet") or ""
            if area is None or sheet.lower() != self.sheet.lower() or rel_id(item) is not None:
                continue
            now = self.change(Reference(sheet, area))
            if now is not None and now != (sheet, area):
                item.set("ref", str(now[1]))
                item.set("sheet", now[0])

    def _chart(self, root: Element, home: str) -> None:
        for item in list(root.iter("{*}f")):
            text = item.text or ""
            now = self.followed(text, home)
            if now == text:
                continue
            item.text = now
            parent = item.getparent()
            if GONE in now and GONE not in text and parent is not None:
                for cache in [one for one in parent if local(one) in _CACHES]:
                    parent.remove(cache)

    # --- sheets --------------------------------------------------------------------------------

    def _worksheet(self, part: str, data: bytes, home: str) -> bytes:
        xml = SheetXml(data, part)
        root = xml.frame()
        before = etree.tostring(root)
        self._frame(root, home)
        head, tail = xml.data[: xml.start], xml.data[xml.end :]
        if etree.tostring(root) != before:
            head, tail = frame_halves(xml, root)
        cells = self._cells(xml, home)
        result = head + xml.data[xml.start : xml.inner] + cells + xml.data[xml.close : xml.end]
        return data if result + tail == xml.data else result + tail

    def _frame(self, root: Element, home: str) -> None:
        for item in root.iter("{*}*"):
            name = local(item)
            if name in _RULE_FORMULAS and item.text:
                areas = _rule_areas(item)
                is_own = home.lower() == self.sheet.lower()
                if is_own and any(area.meets(self.area) for area in areas):
                    continue  # it goes along with its cells, and follows then
                now = self.rule(item.text, home, areas)
                if now != item.text:
                    item.text = now
            elif name in {"controlPr", "objectPr"}:
                for key in ("linkedCell", "listFillRange"):
                    if item.get(key):
                        item.set(key, self.followed(item.get(key) or "", home))

    def _cells(self, xml: SheetXml, home: str) -> bytes:
        """Return the rows of a sheet whose formulas follow."""
        spelled = self._spelled(xml, home)
        pieces, at = [], xml.inner
        for cell in xml.formula_cells():
            raw = cell.formula
            is_shared = raw is not None and raw.kind == "shared"
            is_spelled = is_shared and raw is not None and spelled.get(raw.group or "", False)
            if raw is None or (is_shared and not raw.text and not is_spelled):
                continue
            before = _meaning(xml, cell)
            now = self.followed(before, home) if before else before
            if before and self._keeps(before, home):
                self.kept.setdefault(home, set()).add((cell.row, cell.col))
            if now == before and not (is_spelled and before):
                continue
            if GONE in now and now.count(GONE) > before.count(GONE):
                self.lost.setdefault(home, set()).add((cell.row, cell.col))
            pieces += [xml.data[at : cell.start], _reformulated(xml, cell, now, is_spelled)]
            at = cell.end
        return b"".join((*pieces, xml.data[at : xml.close]))

    def _keeps(self, formula: str, home: str) -> bool:
        """Whether a formula reads all its cells as before, moved or not: its result stays."""
        for token in tokens(formula):
            if token.kind == "function":
                is_steady = token.body in SIGNATURES and token.body not in _OF_PLACE
            else:
                is_steady = token.kind in _STEADY
            if not is_steady or ":" in (token.sheet or ""):
                return False
        for one in references(formula, home):
            sheet, area = one.sheet.lower(), one.area
            is_inside = sheet == self.sheet.lower() and self.area.clip(area) == area
            meets = sheet == self.sheet.lower() and self.area.meets(area)
            meets = meets or (sheet == self.to_sheet.lower() and self.target.meets(area))
            if meets and not is_inside:
                return False
        return True

    def _spelled(self, xml: SheetXml, home: str) -> dict[str, bool]:
        """Return the shared formulas that no longer say the same in all of their cells."""
        found: dict[str, bool] = {}
        masters = xml.masters()
        after = {
            group: self.followed(cell.formula.text, home)
            for group, cell in masters.items()
            if cell.formula is not None and not self._is_far_from(cell, home)
        }
        for cell in xml.formula_cells() if after else ():
            raw = cell.formula
            group = raw.group if raw and raw.kind == "shared" else None
            if group is None or group not in after:
                continue
            master = masters[group]
            text = _meaning(xml, cell)
            meant = shift(after[group], cell.row - master.row, cell.col - master.col)
            is_other = self.followed(text, home) != meant
            found[group] = found.get(group, False) or is_other
        return found

    def _is_far_from(self, master: RawCell, home: str) -> bool:
        """Whether no cell of a shared formula can name what moves, or what is put over."""
        raw = master.formula
        area = parse_area(raw.ref or "") if raw else None
        if raw is None or area is None:
            return False
        for one in references(raw.text, home):
            swept = Area(
                max(1, one.area.row1 - (0 if all(one.rows) else master.row - area.row1)),
                max(1, one.area.col1 - (0 if all(one.cols) else master.col - area.col1)),
                one.area.row2 + (0 if all(one.rows) else area.row2 - master.row),
                one.area.col2 + (0 if all(one.cols) else area.col2 - master.col),
            )
            sheet = one.sheet.lower()
            if sheet == self.sheet.lower() and swept.meets(self.area):
                return False
            if sheet == self.to_sheet.lower() and swept.meets(self.target):
                return False
        return True


def qualified(formula: str, sheet: str, names: set[str]) -> str:
    """Return a formula whose names of one sheet say so."""
    return rewrite(
        formula,
        lambda token: (
            f"{quote_sheet(sheet)}!{token.text}"
            if token.kind == "name" and token.sheet is None and token.body.lower() in names
            else token.text
        ),
    )


def _meaning(xml: SheetXml, cell: RawCell) -> str:
    """Return the formula of a cell, members of a shared one spelled out."""
    raw = cell.formula
    if raw is None or raw.text or raw.group is None:
        return raw.text if raw else ""
    master = xml.masters().get(raw.group)
    if master is None or master.formula is None:
        return ""
    return shift(master.formula.text, cell.row - master.row, cell.col - master.col)


def _reformulated(xml: SheetXml, cell: RawCell, text: str, is_spelled: bool) -> bytes:
    raw = xml.data[cell.start : cell.end]
    found = xml.words.formula.search(raw)
    assert found is not None, "the cell has a formula"
    marks = b" " + found[1].strip() if found[1].strip() else b""
    if is_spelled:
        marks = _MARKS.sub(b"", marks)
    element = formula_element(text, xml.words, marks.decode("utf-8", "replace").rstrip())
    return reformulated(raw, element, xml.words)


def _rule_areas(item: Element) -> list[Area]:
    """Return the cells of the rule that a formula belongs to; none for other formulas."""
    rule = item.getparent()
    while rule is not None and local(rule) not in _RULES:
        rule = rule.getparent()
    if rule is None:
        return []
    listed = child(rule, "sqref")
    text = rule.get("sqref") or (listed.text if listed is not None else "") or ""
    return [area for one in text.split() if (area := parse_area(one)) is not None]


def _texts(data: bytes, change: Callable[[str], str]) -> bytes:
    """Return a part whose formulas follow, wherever they stand in it."""

    def text(match: re.Match[bytes]) -> bytes:
        before = unescape(match[2])
        mark = "=" if before.startswith("=") else ""
        after = mark + change(before.removeprefix("="))
        if after == before:
            return match[0]
        return match[1] + escape(after, quote=match[3] == b'"').encode() + match[3]

    return _ATTRIBUTE.sub(text, _TEXT.sub(text, data))
