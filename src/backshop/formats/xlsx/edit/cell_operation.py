"""Operations on cells: values, ranges, rows below, clearing, looks (F17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from backshop.base import limits
from backshop.formats.errors import FormatError
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import Arg, as_list, item_fields, problem

from ..book.cell_xml import EMPTY, Content
from ..book.sheet_edit import SheetEdit
from ..book.stylesheet import Look, read_look
from ..book.workbook import Table
from ..calculation.spill import mark
from ..syntax.address import MAX_COL, MAX_ROW, Area, cell_name, parse_area, parse_cell
from .cell_value import DATE_FORMATS, check_type, content, looks_numeric
from .date_column import DateColumns
from .formula_fit import fitted
from .session import Added, Session
from .table_growth import calculated, far_below, grow, refuse_totals, tables_above
from .table_header import renamed_header

NULL_CELLS = ("clear", "keep")
_SHOWN_CHARS = 60  # of what somebody wrote for a cell or a range
CELL_ARGS = (
    Arg("cell", str, required=True),
    Arg("value", object),
    Arg("type", object),
    Arg("style", object),
)


def area_of(text: Json, where: str, edit: SheetEdit) -> Area:
    """Return the range of a field, or say which range is used."""
    area = parse_area(text) if isinstance(text, str) else None
    if area is None:
        raise _nowhere(str(text), where, "range", edit)
    return area


def _nowhere(text: str, where: str, kind: str, edit: SheetEdit) -> FormatError:
    """Return the refusal of a text that names no place of a sheet, and what it should be."""
    sheet, mark, rest = text[:_SHOWN_CHARS].rpartition("!")
    what = f"this is no {kind} of a sheet"
    if mark and sheet:
        named = sheet.strip("'").replace("''", "'")
        what = f"a {kind} carries no sheet here: give sheet {named!r}, and {rest!r} in this field"
    return problem("bad_range", where, what, _used(edit))


def _used(edit: SheetEdit) -> list[str]:
    """Return the used range as a hint (F3.1)."""
    used = edit.survey.used
    return [str(used)] if used else []


def set_cells(session: Session, op: Op) -> str:
    """Write single cells; a covered cell of a merge means its anchor (F17.5)."""
    where = op.where
    items = as_list(op.args["cells"])
    session.count(len(items), f"{where}.cells")
    edit = session.edit_or_name(str(op.args["sheet"]), where)
    decoded = []
    spread: dict[tuple[int, int], Area] = {}  # array formulas over several cells
    for index, item in enumerate(items):
        at = f"{where}.cells[{index}]"
        given = item_fields(item, CELL_ARGS, at, session.warnings)
        kind = check_type(given["type"], f"{at}.type")
        place, area = _cell_or_area(str(given["cell"]), kind)
        if place is None:
            raise _nowhere(str(given["cell"]), f"{at}.cell", "cell", edit)
        merged = edit.frame.merge_at(*place)
        if merged and place != (merged.row1, merged.col1):
            session.warnings.add("merged_redirect", where=cell_name(*place))
            place = (merged.row1, merged.col1)
        value = content(
            given["value"],
            kind,
            f"{at}.value",
            session.book.date_1904,
            session.warnings,
            session.names,
        )
        look = read_look(given["style"], f"{at}.style", session.warnings)
        if area is not None:
            _refuse_in_table(edit, area, f"{at}.cell")
            value = replace(value, ref=str(area))
            session.count(area.count - 1, f"{at}.cell")
            spread[place] = area
        decoded.append((place, value, kind, look, at))
    places = {place for place, *_ in decoded}
    places.update(cell for area in spread.values() for cell in area.cells())
    edit.load({row for row, _ in places})
    for place, value, kind, look, at in decoded:
        changed = write_cell(session, edit, place, value, kind, look, at, places)
        area = spread.get(place, Area(*place, *place))
        for cell in area.cells() if changed or not look.empty else ():
            if cell != place:  # the formula fills them
                write_cell(session, edit, cell, EMPTY if changed else None, kind, look, at, places)
        session.aim(edit, area)
    _note_numeric_text(session, edit, [(place, value) for place, value, *_ in decoded])
    return f"{edit.sheet.name}: {_cells(len(places))} set"


def _cell_or_area(text: str, kind: str) -> tuple[tuple[int, int] | None, Area | None]:
    """Return the cell a text names; of an array formula also the range it fills."""
    place = parse_cell(text)
    area = parse_area(text) if place is None and kind == "array_formula" else None
    return ((area.row1, area.col1), area) if area and area.count > 1 else (place, None)


def _refuse_in_table(edit: SheetEdit, area: Area, where: str) -> None:
    """Refuse an array formula over several cells of a table: Excel takes none there (F24.13)."""
    for table in edit.tables:
        if table.area.meets(area):
            raise problem(
                "op_conflict",
                where,
                f"{area} lies in the table {table.name} ({table.area}), where an array formula "
                "fills one cell",
                [f'"{cell_name(area.row1, area.col1)}" alone, or cells outside the table'],
            )


def set_range(session: Session, op: Op) -> str:
    """Write a block of values; null empties its cell unless `null_cells` is keep (F17.4)."""
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    text = str(op.args["start"])
    start = parse_cell(text)
    if start is None and ":" in text:  # the alias `range`: its top-left cell counts
        area = area_of(text, f"{op.where}.start", edit)
        start = (area.row1, area.col1)
    if start is None:
        raise _nowhere(text, f"{op.where}.start", "cell", edit)
    area, count = write_block(session, edit, op, start)
    return f"{edit.sheet.name}!{area} set ({_cells(count)})"


def append_rows(session: Session, op: Op) -> str:
    """Write rows below the last used one; a table that ends there takes them in (F17.12)."""
    edit = session.edit_or_name(str(op.args["sheet"]), op.where)
    used = edit.used()
    above = tables_above(edit)
    first = above[0].area.col1 if len(above) == 1 else used.col1 if used else 1
    start = (used.row2 + 1, first) if used else (1, 1)
    if used:
        lines = enumerate(as_list(op.args["values"]))
        width = max((len(_row(row, f"{op.where}.values[{n}]")) for n, row in lines), default=1)
        below = Area(*start, start[0], first + max(width, 1) - 1)
        refuse_totals(above, below, f"{op.where}.values")
    session.joined = tuple(table.name for table in above)
    area, _ = write_block(session, edit, op, start, are_rows=True)
    session.added.append(Added(edit.sheet.name, "row", area))
    names = take_in(session, edit, above, area, op.where)
    said = f" to the table {', '.join(names)}" if names else ""
    rows = f"{area.height} row{'s' if area.height > 1 else ''}"
    return f"{edit.sheet.name}!{area} appended ({rows}){said}"


def take_in(
    session: Session, edit: SheetEdit, tables: Sequence[Table], area: Area, where: str
) -> list[str]:
    """Let tables take in the rows appended below them, with their formulas; return their names."""
    far = far_below(edit, list(tables), area)
    if far is not None:
        session.warnings.add("table_not_extended", area.height, far)
    touched = [table for table in tables if table.area.shares_columns(area)]
    rows = range(area.row1, area.row2 + 1)
    filled = {
        place: text
        for table in touched
        for place, text in calculated(session.book, edit, table, rows).items()
        if edit.is_empty(*place)
    }
    session.grown.update(grow(session.book, edit, touched, area))
    session.joined = ()
    session.forget_vocabulary()
    for place, text in filled.items():
        session.check_writable(edit, *place, where)
        edit.set_content(*place, Content("formula", text))
        session.aim(edit, Area(*place, *place))
    return [table.name for table in touched]


def write_block(
    session: Session, edit: SheetEdit, op: Op, start: tuple[int, int], *, are_rows: bool = False
) -> tuple[Area, int]:
    """Write the values of an operation from a cell on; return where, and how many cells.

    `are_rows`: they are new rows of what stands there, and take its dates as dates (F17.16).
    """
    rows = [
        _row(item, f"{op.where}.values[{i}]") for i, item in enumerate(as_list(op.args["values"]))
    ]
    width = max((len(row) for row in rows), default=0)
    if not width:
        raise problem("missing_field", f"{op.where}.values", "there is nothing to write")
    session.count(sum(len(row) for row in rows), f"{op.where}.values")
    area = Area(start[0], start[1], start[0] + len(rows) - 1, start[1] + width - 1)
    if area.row2 > MAX_ROW or area.col2 > MAX_COL:
        raise problem("bad_range", f"{op.where}.values", "the block reaches beyond the sheet")
    keeps_nulls = _keeps_nulls(op)
    kinds = _kinds(op.args.get("types"), width, op.where)
    look = read_look(op.args.get("style"), f"{op.where}.style", session.warnings)
    edit.load(range(area.row1, area.row2 + 1))
    dates = DateColumns(session, edit, area) if are_rows else None
    written: list[tuple[tuple[int, int], Content]] = []
    places = {
        (area.row1 + i, area.col1 + j)
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
        if value is not None or not keeps_nulls
    }
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            place, at = (area.row1 + i, area.col1 + j), f"{op.where}.values[{i}][{j}]"
            if value is None and (keeps_nulls or edit.is_empty(*place)):
                continue
            merged = edit.frame.merge_at(*place)
            if merged and place != (merged.row1, merged.col1):
                if value is None:
                    continue
                session.warnings.add("merged_skipped", where=cell_name(*place))
                continue
            kind, own = kinds[j], look
            if dates is not None and kind == "auto":
                kind = dates.kind(place, value)
            if dates is not None and kind in DATE_FORMATS:
                own = _dated(session, edit, place, look, dates)
            new = content(value, kind, at, session.book.date_1904, session.warnings, session.names)
            write_cell(session, edit, place, new, kind, own, at, places)
            written.append((place, new))
    session.aim(edit, area)
    _note_numeric_text(session, edit, written)
    return area, len(written)


def _dated(
    session: Session, edit: SheetEdit, place: tuple[int, int], look: Look, dates: DateColumns
) -> Look:
    """Return a look with the format of the dates next to a cell, where it has none of its own."""
    code = dates.code(place[1])
    is_plain = session.styles.code(edit.style(*place)).lower() == "general"
    if code is None or look.number_format is not None or not is_plain:
        return look
    return replace(look, number_format=code)


def _keeps_nulls(op: Op) -> bool:
    given = op.args["null_cells"]
    if given not in NULL_CELLS:
        raise problem("bad_value", f"{op.where}.null_cells", "not known", NULL_CELLS)
    return given == "keep"


def _row(item: Json, where: str) -> Sequence[Json]:
    if isinstance(item, str) or not isinstance(item, Sequence):
        raise problem("bad_type", where, "a row is a list of values, such as [1, 2]")
    return item


def _kinds(types: Json, width: int, where: str) -> list[str]:
    given = [] if types is None else list(as_list(types))
    kinds = [check_type(kind, f"{where}.types[{index}]") for index, kind in enumerate(given)]
    return (kinds + ["auto"] * width)[: max(width, len(kinds))]


def write_cell(
    session: Session,
    edit: SheetEdit,
    place: tuple[int, int],
    new: Content | None,
    kind: str,
    look: Look,
    where: str,
    places: set[tuple[int, int]],
) -> bool:
    """Let a cell hold something, None for what it does; say whether that is another than before.

    `places` are all cells that the operation writes.
    """
    session.check_writable(edit, *place, where)
    refuse_arrays(edit, place, where, places)
    if new is None:
        return _styled(session, edit, place, look)
    header = renamed_header(edit.tables, place, new, where)
    if header is not None:
        session.headers.append(header)
    changed = put(session, edit, place, new, where)
    dated = kind in DATE_FORMATS and look.number_format is None and new.kind == "number"
    if dated and session.styles.code(edit.style(*place)).lower() == "general":
        look = replace(look, number_format=DATE_FORMATS[kind])
    _styled(session, edit, place, look)
    return changed


def _styled(session: Session, edit: SheetEdit, place: tuple[int, int], look: Look) -> bool:
    if not look.empty:
        edit.set_style(*place, session.styles.derive(edit.style(*place), look))
    return False


def clear_spill(session: Session, edit: SheetEdit, place: tuple[int, int]) -> None:
    """Empty what the formula of a cell has spilled over: it goes with the formula."""
    if cleared := edit.clear_spill(*place):
        session.aim(edit, Area(*place, *cleared[-1]))


def put(
    session: Session, edit: SheetEdit, place: tuple[int, int], new: Content, where: str
) -> bool:
    """Let a cell hold something; a formula is fitted into the workbook first."""
    if new.kind == "formula":
        new = fitted(session, edit, place, new, where)
    if edit.holds(*place, new):
        return False
    clear_spill(session, edit, place)
    edit.set_content(*place, new)
    if new.array == "dynamic":
        edit.patch(*place).content = replace(new, spill=mark(session.book))
    return True


def refuse_arrays(
    edit: SheetEdit, place: tuple[int, int], where: str, places: set[tuple[int, int]]
) -> None:
    """Refuse to change a part of a formula that fills several cells, as Excel does."""
    for array in edit.arrays:
        if not array.area.has(*place):
            continue
        if array.dynamic and place == array.anchor:
            return  # what has spilled goes with its formula
        if not places.issuperset(array.area.cells()):
            raise problem(
                "op_conflict",
                where,
                f"{cell_name(*place)} is part of the array formula {array.area}",
            )


def _note_numeric_text(
    session: Session, edit: SheetEdit, written: Sequence[tuple[tuple[int, int], Content]]
) -> None:
    """Say so when text that looks like numbers lands among numbers (F17.2)."""
    suspects = Counter(
        place[1] for place, new in written if new.kind == "string" and looks_numeric(new.text)
    )
    if not suspects:
        return
    shapes = Counter(edit.survey.ids)
    for col, count in sorted(suspects.items()):
        bit = 1 << (col - 1)
        numbers = texts = 0
        for number, rows in shapes.items():
            shape = edit.survey.shapes[number]
            numbers += rows * bool(shape.filled & ~shape.text & bit)
            texts += rows * bool(shape.text & bit)
        numbers += sum(
            1
            for (_, other), patch in edit.patches.items()
            if other == col and patch.content and patch.content.kind == "number"
        )
        if numbers > texts:
            session.warnings.add("numeric_text", count, where=f"{edit.sheet.name}!{col}")


def clear_range(session: Session, op: Op) -> str:
    """Empty cells, take their looks away, or both."""
    what = op.args["what"]
    if what not in {"values", "styles", "all"}:
        raise problem("bad_value", f"{op.where}.what", "not known", ("values", "styles", "all"))
    edit = session.edit(str(op.args["sheet"]), op.where)
    area = area_of(op.args["range"], f"{op.where}.range", edit)
    places = edit.cells_in(area)
    session.count(len(places), f"{op.where}.range")
    edit.load({row for row, _ in places})
    inside = set(places)
    for place in places:
        session.check_writable(edit, *place, f"{op.where}.range")
        if what != "styles":
            refuse_arrays(edit, place, f"{op.where}.range", inside)
            renamed_header(edit.tables, place, EMPTY, f"{op.where}.range")
            clear_spill(session, edit, place)
            edit.set_content(*place, EMPTY)
        if what != "values":
            edit.set_style(*place, 0)
    session.aim(edit, area)
    return f"{edit.sheet.name}!{area} cleared ({what})"


def set_style(session: Session, op: Op) -> str:
    """Give every cell of a range a look, values untouched."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    area = area_of(op.args["range"], f"{op.where}.range", edit)
    if area.count > limits.OPS_MAX_CELLS:
        used = edit.used()
        hints = [str(clipped)] if used and (clipped := used.clip(area)) else []
        raise problem("too_large", f"{op.where}.range", "the range has too many cells", hints)
    session.count(area.count, f"{op.where}.range")
    look = read_look(op.args["style"], f"{op.where}.style", session.warnings)
    edit.load(range(area.row1, area.row2 + 1))
    for place in area.cells():
        session.check_writable(edit, *place, f"{op.where}.range")
        if not look.empty:
            edit.set_style(*place, session.styles.derive(edit.style(*place), look))
    session.aim(edit, area, "style")
    return f"{edit.sheet.name}!{area} styled"


def _cells(count: int) -> str:
    return f"{count} cell" if count == 1 else f"{count} cells"
