"""Moves a range to another place, as cutting and pasting in Excel does (F39.11)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from backshop.base import limits
from backshop.formats.package.guard import parse_xml
from backshop.formats.package.package import serialise
from backshop.formats.protocol import Op
from backshop.formats.write.operation import problem

from ...book.cell_xml import EMPTY, Content, formula_element, reformulated
from ...book.sheet_edit import SheetEdit
from ...book.sheet_xml import RawCell
from ...book.workbook import Book, Table, child, local
from ...calculation import recalculation
from ...syntax.address import MAX_COL, MAX_ROW, Area, cell_name, parse_area, parse_cell
from .. import layout, structure
from ..cell_operation import area_of
from ..session import Session, Target
from ..verification import verify
from . import attachment
from .cell_move import CellMove
from .row_carriage import renamed
from .rule_move import move_links, move_rules

Place = tuple[int, int]
_MARKS = re.compile(rb"\s(?:t|ref|si)\s*=\s*(?:\"[^\"]*\"|'[^']*')")


@dataclass(frozen=True)
class _Cut:
    """What is moved, and where to."""

    source: SheetEdit
    area: Area
    target: SheetEdit
    whole: Area
    where: str

    @property
    def by(self) -> Place:
        return self.whole.row1 - self.area.row1, self.whole.col1 - self.area.col1

    @property
    def is_far(self) -> bool:
        return self.source is not self.target


def move_range(session: Session, op: Op) -> str:
    """Cut cells and put them elsewhere; references to them follow."""
    if session.edits:
        session.flush()
    cut = _asked(session, op)
    if cut.by == (0, 0) and not cut.is_far:
        return f"{cut.source.sheet.name}!{cut.area} stands there already"
    _check(session, cut)
    places = cut.source.cells_in(cut.area)
    if len(places) > limits.OPS_MAX_COPIED_CELLS:
        most = limits.OPS_MAX_COPIED_CELLS
        raise problem("too_large", f"{op.where}.range", f"at most {most} cells are moved")
    names = cut.source.sheet.name, cut.target.sheet.name
    filled = [place for place in cut.target.cells_in(cut.whole) if _is_lost(cut, place)]
    move = CellMove.of(session.book, names[0], cut.area, names[1], cut.by)
    _follow(session, cut, move)
    source = session.edit(names[0], op.where)
    cut = replace(cut, source=source, target=session.edit(names[1], op.where))
    _carry(session, cut, move, places)
    _around(session, cut, move)
    _note(session, cut, move, places)
    session.aim(cut.source, cut.area)
    session.aim(cut.target, cut.whole)
    said = f"{names[0]}!{cut.area} moved to {names[1]}!{cut.whole}"
    return said + (
        f", {len(filled)} filled cell{'s'[: len(filled) != 1]} replaced" if filled else ""
    )


def _is_lost(cut: _Cut, place: Place) -> bool:
    is_own = not cut.is_far and cut.area.has(*place)
    return not is_own and not cut.target.is_empty(*place)


def _asked(session: Session, op: Op) -> _Cut:
    source = session.edit(str(op.args["sheet"]), op.where)
    area = area_of(op.args["range"], f"{op.where}.range", source)
    target = source
    if op.args["to_sheet"] is not None:
        name = str(op.args["to_sheet"])
        call = json.dumps({"op": "ensure_sheet", "sheet": name}, ensure_ascii=False)
        way = f"to add it: {call} before this operation"
        session.book.sheet(name, f"{op.where}.to_sheet", way)
        target = session.edit(name, op.where)
    start = parse_cell(str(op.args["to"]))
    if start is None:
        given = area_of(op.args["to"], f"{op.where}.to", target)
        if (given.height, given.width) != (area.height, area.width):
            what = f"{given} is not of the size of {area}"
            hints = [cell_name(given.row1, given.col1)]
            raise problem("bad_range", f"{op.where}.to", what, hints)
        start = (given.row1, given.col1)
    whole = area.moved(start[0] - area.row1, start[1] - area.col1)
    if whole.row2 > MAX_ROW or whole.col2 > MAX_COL:
        raise problem("bad_range", f"{op.where}.to", "the cells would reach beyond the sheet")
    return _Cut(source, area, target, whole, op.where)


# --- what forbids it ----------------------------------------------------------------------------


def _check(session: Session, cut: _Cut) -> None:
    for edit, area, field in (
        (cut.source, cut.area, "range"),
        (cut.target, cut.whole, "to"),
    ):
        where = f"{cut.where}.{field}"
        for merge in edit.frame.merges:
            _refuse_torn(merge, area, f"{merge} is merged", where)
        for array in edit.arrays:
            _refuse_torn(array.area, area, f"{array.area} holds one formula", where)
        for table in edit.tables:
            _check_table(cut, table, area, field)
        _refuse_pivots(session, edit, area, where)
        if edit.frame.protected:
            for place in edit.cells_in(area):
                session.check_writable(edit, *place, where)
    _refuse_data_tables(session.book, cut)
    if cut.is_far:
        noted = attachment.noted_cells(session.book, cut.source.sheet)
        found = sorted(place for place in noted if cut.area.has(*place))
        if found:
            what = f"{cell_name(*found[0])} has a note, which cannot move to another sheet"
            raise problem("op_conflict", f"{cut.where}.range", what)


def _refuse_torn(whole: Area, area: Area, said: str, where: str) -> None:
    if whole.meets(area) and area.clip(whole) != whole:
        raise problem("op_conflict", where, f"{said}, and would be torn", [str(whole)])


def _check_table(cut: _Cut, table: Table, area: Area, field: str) -> None:
    """Refuse to tear a table: it moves as a whole on its sheet, or cells of its rows do."""
    if not table.area.meets(area):
        return
    where = f"{cut.where}.{field}"
    is_whole = area.clip(table.area) == table.area
    if field == "range" and is_whole and not cut.is_far:
        return
    if field == "range" and is_whole:
        what = f"the table {table.name} cannot move to another sheet"
        raise problem("op_conflict", where, what, ["copy_sheet copies a sheet with its tables"])
    is_own = field == "to" and not cut.is_far and cut.area.clip(table.area) == table.area
    if not is_own and table.data.clip(area) != area:
        what = f"the table {table.name} ({table.area}) would be torn"
        raise problem("op_conflict", where, what, [str(table.area)])


def _refuse_pivots(session: Session, edit: SheetEdit, area: Area, where: str) -> None:
    for part in session.book.sheet_rels(edit.sheet, "pivotTable"):
        location = child(session.book.package.xml(part), "location")
        place = parse_area((location.get("ref") or "") if location is not None else "")
        if place is not None and place.meets(area):
            raise problem("op_conflict", where, f"a pivot table stands in {place}")


def _refuse_data_tables(book: Book, cut: _Cut) -> None:
    """Refuse to move what a table of possible values is made from: it would not follow."""
    xml = cut.source.xml
    if xml.data.find(b"dataTable", xml.inner, xml.close) < 0:
        return
    for cell in xml.formula_cells():
        raw = cell.formula
        if raw is not None and raw.kind == "dataTable":
            what = "the sheet has a table of possible values, which would not follow"
            raise problem("op_conflict", f"{cut.where}.range", what, [raw.ref or ""])


# --- what follows -------------------------------------------------------------------------------


def _follow(session: Session, cut: _Cut, move: CellMove) -> None:
    """Let every reference of the workbook follow, and what was written before in the call."""
    for edit, area in ((cut.source, cut.area), (cut.target, cut.whole)):
        written = session.expected.get(edit.sheet.name, {})
        if any(area.has(*place) for place in written):
            verify(session)
            left = {place: one for place, one in written.items() if not area.has(*place)}
            session.expected[edit.sheet.name] = left
    session.edits.clear()
    structure.follow(session.book, move)
    recalculation.drop_chain(session.book)
    session.book.forget()
    session.moves.append(move)
    for sheet, places in session.expected.items():
        for place, content in places.items():
            if content.kind == "formula":
                places[place] = replace(content, text=move.followed(content.text, sheet))
    count = sum(map(len, move.lost.values()))
    if count:
        said = f"{move.to_sheet}!{move.target} was put over cells they read"
        session.warnings.add("broken_references", count, said)
    for sheet, cells in move.lost.items():
        session.stale.setdefault(sheet, set()).update(cells)
    session.forget_vocabulary()


# --- cells --------------------------------------------------------------------------------------


def _carry(session: Session, cut: _Cut, move: CellMove, places: list[Place]) -> None:
    """Bring the cells to their new places, and leave the old ones empty."""
    rows, cols = cut.by
    scoped = [one.name for one in session.book.names if one.scope == cut.source.sheet.index]
    cut.source.load({row for row, _ in places})
    cells = [cell for place in places if (cell := cut.source.raw(*place)) is not None]
    moved = [(cell, _content(session.book, cut, move, cell, scoped)) for cell in cells]
    over = cut.target.cells_in(cut.whole)
    cut.target.load({row for row, _ in over} | {row + rows for row, _ in places})
    for edit, gone in ((cut.source, places), (cut.target, over)):
        for place in gone:
            patch = edit.patch(*place)
            patch.content, patch.style = EMPTY, 0
    for cell, content in moved:
        patch = cut.target.patch(cell.row + rows, cell.col + cols)
        patch.content, patch.style = content, cell.style


def _content(book: Book, cut: _Cut, move: CellMove, cell: RawCell, scoped: list[str]) -> Content:
    """Return a moved cell with its result, for its new place."""
    xml, words = cut.source.xml, cut.target.xml.words
    there = cell.row + cut.by[0], cell.col + cut.by[1]
    raw = renamed(xml.data[cell.start : cell.end], *there, xml.words.prefix, words.prefix)
    formula = cell.formula
    if formula is not None:
        text = move.carried(book.formula(cell, xml) or "", scoped)
        found = words.formula.search(raw)
        marks = _MARKS.sub(b"", b" " + found[1].strip()).decode().rstrip() if found else ""
        array = ""
        if formula.kind == "array":
            area = parse_area(formula.ref or "") or Area(cell.row, cell.col, cell.row, cell.col)
            marks += f' t="array" ref="{area.moved(*cut.by)}"'
            array = "dynamic" if cell.meta else "fixed"
        element = formula_element(text, words, marks)
        return Content("formula", text, array=array, cell=reformulated(raw, element, words))
    value = book.value(cell)
    if value.kind == "blank":
        return EMPTY
    if any(array.area.has(cell.row, cell.col) for array in cut.source.arrays):
        return Content("result", cell=raw)
    kind = "number" if value.kind == "date" else value.kind
    text = value.text if value.number is None else repr(value.number)
    if kind == "boolean":
        text = str(int(value.number or 0))
    if value.kind == "date" and value.number is None:
        kind, text = "copied", ""
    return Content(kind, text, cell=raw)


def _note(session: Session, cut: _Cut, move: CellMove, places: list[Place]) -> None:
    """Note which cells hold something else now, and which formulas kept their results."""
    noted = (session.written, session.carried, session.structural)
    is_settled = all(cells <= move.lost.get(one, set()) for one, cells in session.stale.items())
    is_first = not any(noted) and is_settled
    session.flush()
    rows, cols = cut.by
    for edit, area in ((cut.source, cut.area), (cut.target, cut.whole)):
        name = edit.sheet.name
        written = session.written.get(name, set())
        inside = {place for place in written if area.has(*place)}
        session.carried.setdefault(name, set()).update(inside)
        session.written[name] = written - inside
    session.written = {name: cells for name, cells in session.written.items() if cells}
    session.kept = {}
    if not is_first:
        return
    source, target = cut.source.sheet.name, cut.target.sheet.name
    kept = {name: set(cells) for name, cells in move.kept.items()}
    moved = {place for place in kept.get(source, ()) if cut.area.has(*place)}
    for array in cut.source.arrays:
        if array.anchor in moved:
            moved.update(array.area.cells())
    kept[source] = {place for place in kept.get(source, ()) if not cut.area.has(*place)}
    there = {(row + rows, col + cols) for row, col in moved}
    kept[target] = {one for one in kept.get(target, ()) if not cut.whole.has(*one)} | there
    session.kept = kept


# --- what stands around them --------------------------------------------------------------------


def _around(session: Session, cut: _Cut, move: CellMove) -> None:
    """Bring merges, rules, links, notes, tables and the filter along."""
    merges = [one for one in cut.source.frame.merges if cut.area.clip(one) == one]
    for edit, area in ((cut.source, cut.area), (cut.target, cut.whole)):
        for gone in layout.unmerge(edit, area):
            session.aim(edit, gone, "structure")
    for merge in merges:
        layout.add_merge(cut.target, merge.moved(*cut.by))
        session.aim(cut.target, merge.moved(*cut.by), "structure")
    move_rules(session, cut.source, cut.target, move)
    move_links(session, cut.source, cut.target, move)
    if cut.is_far:
        return
    _notes(session, cut)
    for table in cut.source.tables:
        if cut.area.clip(table.area) == table.area:
            _table(session, table, cut.by)
    _filter(session, cut)


def _notes(session: Session, cut: _Cut) -> None:
    def place(row: int, col: int) -> Place | None:
        if cut.area.has(row, col):
            return row + cut.by[0], col + cut.by[1]
        return None if cut.whole.has(row, col) else (row, col)

    attachment.carry_notes(session, cut.source.sheet, place)


def _table(session: Session, table: Table, by: Place) -> None:
    def along(data: bytes) -> bytes:
        root = parse_xml(data)
        for item in root.iter("{*}*"):
            area = parse_area(item.get("ref") or "") if local(item) in _TABLE_PLACES else None
            if area is not None:
                item.set("ref", str(area.moved(*by)))
        return serialise(root, like=data)

    session.rewrite(table.part, along)
    session.book.forget()


_TABLE_PLACES = frozenset({"table", "autoFilter", "sortState", "sortCondition"})


def _filter(session: Session, cut: _Cut) -> None:
    """Let the sheet's filter go along when all of it is moved."""
    found = child(cut.source.frame.root, "autoFilter")
    area = parse_area(found.get("ref") or "") if found is not None else None
    if found is None or area is None or cut.area.clip(area) != area:
        return
    for item in (found, *found.iter("{*}sortState", "{*}sortCondition")):
        own = parse_area(item.get("ref") or "")
        if own is not None:
            item.set("ref", own.moved(*cut.by).span)
    session.targets.append(Target(cut.source.sheet.name, None, frozenset({"filter"})))
    cut.source.refresh_frame()
