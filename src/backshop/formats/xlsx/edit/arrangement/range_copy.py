"""Copies a range to another place, as a copy in Excel does (F39.8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from backshop.base import limits
from backshop.formats.protocol import Op
from backshop.formats.write.operation import problem

from ...book.array import Unshown
from ...book.cell_xml import EMPTY, Content
from ...book.sheet_edit import SheetEdit
from ...book.sheet_xml import RawCell
from ...book.workbook import Book
from ...calculation.spill import mark
from ...syntax.address import MAX_COL, MAX_ROW, Area, cell_name, parse_area, parse_cell
from .. import layout
from ..cell_operation import area_of, refuse_arrays
from ..session import Session
from ..settlement import settle
from ..table_header import renamed_header
from .attachment import noted_cells
from .copied_formula import copied
from .row_carriage import renamed
from .rule_copy import RangeCopy, copy_links, copy_rules, extended

WHAT = ("all", "values", "formulas", "styles")
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Held:
    """What is copied of one cell; None stays as it is where it is copied to."""

    content: Content | None
    style: int | None


def copy_range(session: Session, op: Op) -> str:
    """Copy cells; those that were where the copies go are replaced."""
    what = str(op.args["what"])
    if what not in WHAT:
        raise problem("bad_value", f"{op.where}.what", "not known", WHAT)
    if what == "values":
        settle(session, [str(op.args["sheet"])])
    elif session.edits:
        session.flush()
    source = session.edit(str(op.args["sheet"]), op.where)
    area = _source(source, op)
    target = source
    if op.args["to_sheet"] is not None:
        target = _sheet(session, str(op.args["to_sheet"]), op.where)
    turned = bool(op.args["transpose"])
    whole = _target(target, area, op, turned=turned)
    _check(source, area, target, whole, what, op.where)
    held = _Reader(session, source, what, op.where).read(area)
    replaced = _write(session, held, (area, target, whole), op, turned=turned)
    if what in ("all", "styles"):
        _structures(session, source, area, target, whole, op, turned=turned)
    session.aim(target, whole)
    said = f"{source.sheet.name}!{area} copied to {target.sheet.name}!{whole}"
    said += "" if what == "all" else f" ({what})"
    return said + (f", {replaced} filled cell{'s'[: replaced != 1]} replaced" if replaced else "")


def _sheet(session: Session, name: str, where: str) -> SheetEdit:
    call = json.dumps({"op": "ensure_sheet", "sheet": name}, ensure_ascii=False)
    session.book.sheet(name, f"{where}.to_sheet", f"to add it: {call} before this operation")
    return session.edit(name, where)


def _source(edit: SheetEdit, op: Op) -> Area:
    area = area_of(op.args["range"], f"{op.where}.range", edit)
    used = edit.used()
    return area.in_use(used) if used else area


def _target(edit: SheetEdit, area: Area, op: Op, *, turned: bool) -> Area:
    """Return the cells that the copies fill."""
    where, text = f"{op.where}.to", str(op.args["to"])
    height, width = (area.width, area.height) if turned else (area.height, area.width)
    start = parse_cell(text)
    given = parse_area(text)
    if given is None:
        area_of(text, where, edit)  # says what it should be
    assert given is not None, "it was refused"
    whole = Area(given.row1, given.col1, given.row1 + height - 1, given.col1 + width - 1)
    if start is None and given.height % height == 0 and given.width % width == 0:
        whole = given
    elif start is None and given != whole:
        what = f"{given} is no multiple of the {height} rows and {width} columns that are copied"
        raise problem("bad_range", where, what, [cell_name(given.row1, given.col1), str(whole)])
    if whole.row2 > MAX_ROW or whole.col2 > MAX_COL:
        raise problem("bad_range", where, "the copy would reach beyond the sheet")
    if whole.count > limits.OPS_MAX_COPIED_CELLS:
        most = limits.OPS_MAX_COPIED_CELLS
        raise problem("too_large", where, f"at most {most} cells are written by one copy")
    return whole


def _check(
    source: SheetEdit, area: Area, target: SheetEdit, whole: Area, what: str, where: str
) -> None:
    """Refuse copies that would tear what belongs together."""
    for merge in target.frame.merges:
        if merge.meets(whole) and whole.clip(merge) != merge:
            said = f"{merge} is merged, and a part of it would be copied over"
            raise problem("op_conflict", f"{where}.to", said, [str(merge)])
    if what in ("all", "styles"):
        for merge in source.frame.merges:
            if merge.meets(area) and area.clip(merge) != merge:
                said = f"{merge} is merged, and a part of it would be copied"
                raise problem("op_conflict", f"{where}.range", said, [str(area.join(merge))])
    if what in ("all", "formulas"):
        for array in source.arrays:
            if array.area.meets(area) and not array.dynamic:
                said = f"{array.area} holds one formula over several cells"
                hints = ['"what": "values"']
                raise problem("op_conflict", f"{where}.range", said, hints)


class _Reader:
    """Reads what is copied, before anything is written: source and target may overlap."""

    def __init__(self, session: Session, edit: SheetEdit, what: str, where: str) -> None:
        self._book, self._edit, self._what = session.book, edit, what
        self._where = f"{where}.range"
        self._unshown = Unshown(session.book, edit.xml) if what == "values" else None
        self._spilled = {
            place
            for array in edit.arrays
            if array.dynamic
            for place in array.area.cells()
            if place != array.anchor
        }

    def read(self, area: Area) -> dict[Place, _Held]:
        """Return the cells of a range by their places."""
        self._edit.load(range(area.row1, area.row2 + 1))
        takes_styles = self._what in ("all", "styles")
        found = {}
        for place in area.cells():
            content = self._content(place) if self._what != "styles" else None
            found[place] = _Held(content, self._edit.style(*place) if takes_styles else None)
        return found

    def _content(self, place: Place) -> Content:
        cell = self._edit.raw(*place)
        if cell is None:
            return EMPTY
        if self._what == "values":
            self._refuse_uncached(cell)
            return self._value(cell)
        if place in self._spilled:
            return EMPTY  # the formula it shows a value of fills its own neighbours
        if cell.formula is None:
            return self._value(cell)
        text = self._book.formula(cell, self._edit.xml) or ""
        array = cell.formula.kind == "array"
        kind = ("dynamic" if cell.meta else "fixed") if array else ""
        return Content("formula", text, array=kind)

    def _refuse_uncached(self, cell: RawCell) -> None:
        assert self._unshown is not None, "values are read"
        if self._book.is_uncached(cell) or self._unshown.formula(cell) is not None:
            what = "the result of a formula is not stored in the file, so there is no value to copy"
            raise problem("uncached_formula", self._where, what, [cell_name(cell.row, cell.col)])

    def _value(self, cell: RawCell) -> Content:
        """Return the value of a cell, in all its pieces where it is no result of a formula."""
        value = self._book.value(cell)
        if value.kind == "blank" or (value.kind == "string" and not value.text):
            return EMPTY
        kind = "number" if value.kind == "date" else value.kind
        text = value.text if value.number is None else repr(value.number)
        if kind == "boolean":
            text = str(int(value.number or 0))
        if cell.formula is not None:
            return Content(kind, text)
        if value.kind == "date" and value.number is None:
            kind, text = "copied", ""
        return Content(kind, text, cell=self._edit.xml.data[cell.start : cell.end])


def _write(
    session: Session,
    held: dict[Place, _Held],
    places: tuple[Area, SheetEdit, Area],
    op: Op,
    *,
    turned: bool,
) -> int:
    """Write the copies; return how many filled cells they replaced."""
    area, edit, whole = places
    source = op.args["sheet"]
    prefixes = session.edit(str(source), op.where).xml.words.prefix, edit.xml.words.prefix
    edit.load(range(whole.row1, whole.row2 + 1))
    inside = set(whole.cells()) if edit.arrays else set()
    covered = edit.frame.covered(whole) if op.args["what"] in ("values", "formulas") else set()
    replaced = 0
    for place in whole.cells():
        origin = _origin(place, whole, area, turned=turned)
        one = held[origin]
        if place in covered:
            if one.content is not None and one.content.kind != "blank":
                session.warnings.add("merged_skipped", where=cell_name(*place))
            continue
        session.check_writable(edit, *place, f"{op.where}.to")
        if one.content is not None:
            new = _placed(one.content, origin, place, prefixes, f"{op.where}.range", turned=turned)
            if edit.arrays:
                refuse_arrays(edit, place, f"{op.where}.to", inside)
            header = renamed_header(edit.tables, place, new, f"{op.where}.to")
            if header is not None:
                session.headers.append(header)
            replaced += _put(session.book, edit, place, new)
        if one.style is not None:
            edit.set_style(*place, one.style)
    return replaced


def _put(book: Book, edit: SheetEdit, place: Place, new: Content) -> bool:
    """Let a cell hold a copy; True when it held something else."""
    was_filled = not edit.is_empty(*place)
    raw = edit.raw(*place)
    before = edit.xml.data[raw.start : raw.end] if raw is not None else b""
    if new.cell and raw is not None and raw.formula is None:
        if _bare(before) == _bare(new.cell):
            return False
        edit.patch(*place).content = new
        if edit.patch(*place).style is None:
            edit.patch(*place).style = edit.style(*place)
        return was_filled
    changed = edit.set_content(*place, new)
    if changed and new.array == "dynamic":
        edit.patch(*place).content = replace(new, spill=mark(book))
    return changed and was_filled


def _bare(cell: bytes) -> bytes:
    return re.sub(rb"\s[rs]=\"[^\"]*\"", b"", cell, count=2)


def _origin(place: Place, whole: Area, area: Area, *, turned: bool) -> Place:
    """Return the cell whose copy a cell becomes."""
    rows, cols = place[0] - whole.row1, place[1] - whole.col1
    if turned:
        rows, cols = cols, rows
    return area.row1 + rows % area.height, area.col1 + cols % area.width


def _placed(
    content: Content,
    origin: Place,
    place: Place,
    prefixes: tuple[bytes, bytes],
    where: str,
    *,
    turned: bool,
) -> Content:
    """Return what a cell holds as the copy of another."""
    if content.kind == "formula":
        text = copied(content.text, origin, place, where, turned=turned)
        return replace(content, text=text)
    if not content.cell:
        return content
    return replace(content, cell=renamed(content.cell, *place, *prefixes))


# --- what stands around the cells ---------------------------------------------------------------


def _structures(
    session: Session,
    source: SheetEdit,
    area: Area,
    target: SheetEdit,
    whole: Area,
    op: Op,
    *,
    turned: bool,
) -> None:
    """Copy merges, rules and links; say what is not copied."""
    tiles = list(_tiles(area, whole)) if not turned else []
    merges = [merge for merge in source.frame.merges if area.clip(merge) == merge]
    made = [merge.moved(*by) for merge in merges for by in tiles]
    if turned:
        made = [_turned(merge, area, whole) for merge in merges]
    for gone in layout.unmerge(target, whole):
        session.aim(target, gone, "structure")
    for merge in made:
        layout.add_merge(target, merge)
        session.aim(target, merge, "structure")
    copy = RangeCopy(source, area, target, tiles, whole)
    left = extended(copy)
    if not turned:
        copy_rules(session, copy)
    if op.args["what"] == "all":
        if not turned:
            copy_links(session, copy)
        left += sum(area.has(*place) for place in noted_cells(session.book, source.sheet))
    if left:
        said = f"notes, sparklines or newer rules of {source.sheet.name}!{area} were not copied"
        session.warnings.add("not_copied", left, said)
    if turned and _has_rules(source, area):
        said = f"conditional formats, validations and links of {source.sheet.name}!{area} stay"
        session.warnings.add("not_copied", 1, f"{said} behind when rows become columns")


def _tiles(area: Area, whole: Area) -> Iterator[tuple[int, int]]:
    for row in range(whole.row1, whole.row2 + 1, area.height):
        for col in range(whole.col1, whole.col2 + 1, area.width):
            yield row - area.row1, col - area.col1


def _turned(merge: Area, area: Area, whole: Area) -> Area:
    top, left = whole.row1 + merge.col1 - area.col1, whole.col1 + merge.row1 - area.row1
    return Area(top, left, top + merge.width - 1, left + merge.height - 1)


def _has_rules(edit: SheetEdit, area: Area) -> bool:
    listed = (
        item.get("sqref") or item.get("ref") or ""
        for item in edit.frame.root.iter(
            "{*}conditionalFormatting", "{*}dataValidation", "{*}hyperlink"
        )
    )
    found = (parse_area(one) for text in listed for one in text.split())
    return any(one is not None and one.meets(area) for one in found)
