"""The rows of a range that are carried to other places, and what forbids it (F39.2, F39.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from backshop.base import limits
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import nearest, problem

from ...book.sheet_edit import SheetEdit
from ...book.sheet_xml import RowSpan, attributes
from ...book.survey import header_row
from ...book.workbook import Table, child, truth
from ...syntax.address import Area, cell_name, column_name, parse_area, parse_column
from ..cell_operation import area_of
from ..session import Session
from ..verification import verify

_NAMED = 5  # of cells, in a refusal


@dataclass(frozen=True)
class Block:
    """Rows of a sheet between two columns; the header above them, if there is one, stays."""

    edit: SheetEdit
    area: Area
    headers: tuple[str | None, ...] | None = None
    table: Table | None = None

    @cached_property
    def rows(self) -> dict[int, RowSpan]:
        """The rows that the file has, by their numbers."""
        area, found = self.area, {}
        for row in self.edit.xml.iter_rows():
            if area.row1 <= row.number <= area.row2:
                found[row.number] = row
        return found

    @property
    def columns(self) -> range:
        """The columns from the first to the last."""
        return range(self.area.col1, self.area.col2 + 1)

    @property
    def said(self) -> str:
        """The sheet and the range, as a person reads them."""
        return f"{self.edit.sheet.name}!{self.area}"

    def column(self, value: Json, where: str) -> int:
        """Return the column that a header, a letter or a number names."""
        text = str(value).strip()
        titles = [title.strip().lower() if title else None for title in self.headers or ()]
        found = {self.area.col1 + at for at, one in enumerate(titles) if one == text.lower()}
        place = parse_column(value)
        if place is not None and place in self.columns:
            found.add(place)
        if len(found) > 1:
            hints = [column_name(col) for col in sorted(found)]
            raise problem("ambiguous_match", where, f"{text[:60]!r} names two columns", hints)
        if not found:
            raise self._no_column(text, where)
        return found.pop()

    def _no_column(self, text: str, where: str) -> FormatError:
        titles = nearest(text, [title for title in self.headers or () if title], 5)
        first, last = column_name(self.area.col1), column_name(self.area.col2)
        what = f"the range has no column {text[:60]!r}: its columns are {first} to {last}"
        return problem("unknown_column", where, what, titles)


def block(session: Session, op: Op) -> Block:
    """Return the rows that an operation is about; what was written before in the call counts."""
    if session.edits:
        session.flush()
    edit = session.edit(str(op.args["sheet"]), op.where)
    where, text = f"{op.where}.range", str(op.args["range"])
    table = _named_table(session, edit, text, where)
    area = table.area if table else _area(edit, text, where)
    table = table or next((one for one in edit.tables if one.area.meets(area)), None)
    found = _of_table(edit, area, table, op) if table else _of_range(edit, area, op)
    if found.area.height < 1:
        raise problem("bad_range", where, "there are no rows below the header", [str(area)])
    return found


def _named_table(session: Session, edit: SheetEdit, text: str, where: str) -> Table | None:
    """Return the table a text names; one of another sheet is refused with that sheet's name."""
    found = session.book.named_tables().get(text.strip().lower())
    if found is None:
        return None
    sheet, table = found
    if sheet != edit.sheet.name:
        raise problem("bad_range", where, f"the table {table.name} stands on {sheet}", [sheet])
    return table


def _area(edit: SheetEdit, text: str, where: str) -> Area:
    """Return a range as far as the sheet is used."""
    used = edit.used()
    area = area_of(text, where, edit)
    if used is None or not area.meets(used):
        hints = [str(used)] if used else []
        raise problem("bad_range", where, "the cells of this range are empty", hints)
    area = area.in_use(used)
    return replace(area, row2=min(area.row2, used.row2))


def _of_table(edit: SheetEdit, area: Area, table: Table, op: Op) -> Block:
    """Return rows of a named table: all of its columns, neither header nor totals."""
    where, wanted = f"{op.where}.range", op.args["header"]
    inside = table.area.clip(area) == area
    if not inside or area.width != table.area.width:
        what = f"the range cuts the table {table.name} ({table.area})"
        raise problem("op_conflict", where, what, [table.name, str(table.area)])
    begins = area.row1 == table.area.row1 and table.header_rows > 0
    if wanted is not None and wanted != begins:
        what = f"the header of the table {table.name} is row {table.area.row1}"
        raise problem("op_conflict", f"{op.where}.header", what, [table.name])
    data = table.data
    rows = Area(max(area.row1, data.row1), area.col1, min(area.row2, data.row2), area.col2)
    if rows.row2 < area.row2 and area != table.area:
        what = f"the range ends in the totals row of the table {table.name}"
        raise problem("op_conflict", where, what, [table.name, str(data)])
    if table.area.row1 + table.header_rows > table.area.row2 - table.totals_rows:
        raise problem("bad_range", where, f"the table {table.name} has no rows")
    return Block(edit, rows, table.columns, table)


def _of_range(edit: SheetEdit, area: Area, op: Op) -> Block:
    """Return rows of a plain range; whether its first row is a header is told, or seen (F8.5)."""
    wanted = op.args["header"]
    found = header_row(edit.book, edit.xml, area) if wanted is None else None
    if found is not None and found[0] > area.row1:
        begins = replace(area, row1=found[0])
        what = f"row {found[0]} looks like the header, and the range begins above it"
        raise problem("op_conflict", f"{op.where}.range", what, [str(begins), '"header": false'])
    if wanted is None and found is None:
        return Block(edit, area)
    if wanted is False:
        return Block(edit, area)
    headers = found[1] if found else _texts(edit, area)
    return Block(edit, replace(area, row1=area.row1 + 1), headers)


def _texts(edit: SheetEdit, area: Area) -> tuple[str | None, ...]:
    values = (edit.value(area.row1, col) for col in range(area.col1, area.col2 + 1))
    return tuple(value.text if value.kind != "blank" else None for value in values)


# --- what forbids it ----------------------------------------------------------------------------


def check(session: Session, rows: Block, where: str) -> None:
    """Refuse what cannot be carried without loss, and say what stays beside it (F39.3)."""
    edit, area = rows.edit, rows.area
    merged = next((merge for merge in edit.frame.merges if merge.meets(area)), None)
    if merged is not None:
        what = f"{merged} is merged, and rows with merged cells cannot change places"
        raise problem("op_conflict", where, what, [f'unmerge_cells with range "{merged}"'])
    for array in edit.arrays:
        if array.area.meets(area):
            what = f"{array.area} holds one formula over several cells"
            raise problem("op_conflict", where, what, [str(array.area)])
    _refuse_pivots(session, rows, where)
    _refuse_hidden(rows, where)
    _refuse_uneven(rows, where)
    count = sum(_cell_count(edit, row) for row in rows.rows.values())
    if count > limits.OPS_MAX_CARRIED_CELLS:
        most = limits.OPS_MAX_CARRIED_CELLS
        raise problem("too_large", where, f"at most {most} cells change places in one operation")
    if edit.frame.protected:
        for place in area.cells():
            session.check_writable(edit, *place, where)


def settle(session: Session, rows: Block) -> None:
    """Check what was written into the rows before in the call: it is going to stand elsewhere."""
    written = session.expected.get(rows.edit.sheet.name, {})
    if any(rows.area.has(*place) for place in written):
        verify(session)
        kept = {place: one for place, one in written.items() if not rows.area.has(*place)}
        session.expected[rows.edit.sheet.name] = kept


def _cell_count(edit: SheetEdit, row: RowSpan) -> int:
    return edit.xml.data.count(b"<" + edit.xml.words.prefix + b"c ", row.inner, row.close)


def _refuse_pivots(session: Session, rows: Block, where: str) -> None:
    for part in session.book.sheet_rels(rows.edit.sheet, "pivotTable"):
        root = session.book.package.xml(part)
        location = child(root, "location")
        area = parse_area((location.get("ref") or "") if location is not None else "")
        if area is not None and area.meets(rows.area):
            what = f"the pivot table {root.get('name') or ''} stands in {area}"
            raise problem("op_conflict", where, what)


def _refuse_hidden(rows: Block, where: str) -> None:
    """Refuse rows that nobody sees: Excel leaves them where they are, among others then."""
    hidden = [number for number, row in rows.rows.items() if _is_hidden(rows.edit, row)]
    if hidden:
        said = (
            "1 row of the range is" if len(hidden) == 1 else f"{len(hidden)} rows of the range are"
        )
        what = f"{said} hidden, row {hidden[0]} the first"
        hints = ["a filter that hides rows goes with set_autofilter", "set_row_heights shows rows"]
        raise problem("op_conflict", where, what, hints)


def _is_hidden(edit: SheetEdit, row: RowSpan) -> bool:
    tag = attributes(edit.xml.data[row.start : row.inner])
    return truth(tag.get(b"hidden", b"0").decode("ascii", "replace"))


def _refuse_uneven(rows: Block, where: str) -> None:
    """Refuse a sheet whose rows stand in no order in the file, or twice."""
    numbers = [row.number for row in rows.edit.xml.iter_rows()]
    if any(two <= one for one, two in pairwise(numbers)):
        raise problem("op_conflict", where, "the file lists rows of this sheet out of order")


def beside(rows: Block) -> list[str]:
    """Return the filled columns that touch the range and stay where they are."""
    if rows.table is not None:
        return []
    found = []
    for step, start in ((-1, rows.area.col1), (1, rows.area.col2)):
        col = start + step
        while col >= 1 and _is_filled(rows, col):
            found.append(column_name(col))
            col += step
    return sorted(found, key=lambda name: (len(name), name))


def _is_filled(rows: Block, col: int) -> bool:
    survey, bit = rows.edit.survey, 1 << (col - 1)
    return any(
        survey.shape(at).filled & bit
        for at, number in enumerate(survey.rows)
        if rows.area.row1 <= number <= rows.area.row2
    )


def named(places: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> list[str]:
    """Return the names of the first few cells, for a refusal."""
    return [cell_name(*place) for _, place in zip(range(_NAMED), places, strict=False)]
