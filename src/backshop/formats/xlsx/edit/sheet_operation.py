"""Operations on sheets and on what surrounds their cells (F17)."""

from __future__ import annotations

from collections.abc import Mapping

from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import Arg, as_list, item_fields, problem

from ..book.protection import refusal
from ..book.sheet_edit import SheetEdit
from ..book.workbook import child, truth
from ..calculation.moved_reference import SheetMove
from ..syntax.address import MAX_COL, MAX_ROW, WHOLE, Area, column_name, parse_column
from . import layout, structure
from .cell_operation import area_of
from .session import Session, Target

COLUMN_ARGS = (Arg("column", object, required=True), Arg("width", float, required=True))
ROW_ARGS = (Arg("row", int, required=True), Arg("height", float, required=True))
MAX_WIDTH, MAX_HEIGHT = 255, 409


def ensure_sheet(session: Session, op: Op) -> str:
    """Add a sheet unless it is there."""
    name, position = str(op.args["sheet"]), op.args["position"]
    if position is not None and (not isinstance(position, int) or position < 0):
        raise problem("bad_value", f"{op.where}.position", "counts from 0")
    if session.book.find(name) is not None:
        session.targets.append(Target(name))
        if session.pristine and session.book.sheets[0].name.lower() == name.lower():
            session.pristine = False
        return f"sheet {name} is there already"
    sheet = session.create(name, position, op.where)
    return f"sheet {sheet.name} added"


def rename_sheet(session: Session, op: Op) -> str:
    """Rename a sheet and everything that names it."""
    old, new = str(op.args["sheet"]), str(op.args["new_name"])
    structure.refuse_locked(session.book, op.where)
    sheet = session.book.sheet(old, f"{op.where}.sheet")
    structure.refuse_macro_sheet(sheet, f"{op.where}.sheet")
    structure.check_name(new, f"{op.where}.new_name")
    other = session.book.find(new)
    if other is not None and other.index != sheet.index:
        raise problem("name_conflict", f"{op.where}.new_name", "another sheet has this name")
    if new == sheet.name:
        return f"sheet {new} has this name already"
    session.flush()
    session.structural = True
    structure.rename(session.book, sheet, new)
    session.move(SheetMove(sheet.name, new))
    session.follow(sheet.name, new)
    session.targets.append(Target(new))
    session.pristine = False
    _note_macros(session, f"Sheet {sheet.name} is called {new} now", sheet.name)
    return f"sheet {sheet.name} renamed to {new}"


def delete_sheet(session: Session, op: Op) -> str:
    """Delete a sheet; what referred to it breaks and is counted."""
    structure.refuse_locked(session.book, op.where)
    sheet = session.book.sheet(str(op.args["sheet"]), f"{op.where}.sheet")
    structure.refuse_macro_sheet(sheet, f"{op.where}.sheet")
    session.flush()
    session.structural = True
    move, broken = structure.delete(session.book, sheet, f"{op.where}.sheet")
    if broken:
        session.warnings.add("broken_references", broken, where=sheet.name)
    session.move(move)
    session.targets.append(Target(sheet.name))
    session.written.pop(sheet.name, None)
    session.expected.pop(sheet.name, None)
    _note_macros(session, f"Sheet {sheet.name} is gone", sheet.name)
    return f"sheet {sheet.name} deleted"


def _note_macros(session: Session, what: str, name: str) -> None:
    """Say that macros, which stay as they are, may go on naming a sheet (F40.4)."""
    if structure.has_macros(session.book):
        said = f"{what}. Macros of the workbook may still speak of {name}: they were not looked at"
        session.warnings.add("macros_may_name_sheet", where=said)


def merge_cells(session: Session, op: Op) -> str:
    """Merge a range into one cell."""
    edit, area = _range(session, op)
    if area.count < 2:
        raise problem("bad_range", f"{op.where}.range", "one cell cannot be merged")
    session.check_writable(edit, area.row1, area.col1, f"{op.where}.range")
    layout.merge(edit, area, f"{op.where}.range")
    session.aim(edit, area, "structure")
    return f"{edit.sheet.name}!{area} merged"


def unmerge_cells(session: Session, op: Op) -> str:
    """Take merged cells apart."""
    edit, area = _range(session, op)
    session.check_writable(edit, area.row1, area.col1, f"{op.where}.range")
    gone = layout.unmerge(edit, area)
    if not gone:
        session.warnings.add("no_match", where=f"{op.where}.range")
    for other in [area, *gone]:
        session.aim(edit, other, "structure")
    return f"{edit.sheet.name}!{area} unmerged"


def unmerge_all(session: Session, edit: SheetEdit, where: str) -> None:
    """Take every merge of a sheet apart, so that what is written anew is seen in every cell."""
    for merge in edit.frame.merges:
        session.check_writable(edit, merge.row1, merge.col1, where)
    for merge in layout.unmerge(edit, WHOLE):
        session.aim(edit, merge, "structure")


def _range(session: Session, op: Op) -> tuple[SheetEdit, Area]:
    edit = session.edit(str(op.args["sheet"]), op.where)
    return edit, area_of(op.args["range"], f"{op.where}.range", edit)


def set_column_widths(session: Session, op: Op) -> str:
    """Set the widths of columns, in characters."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    refuse_format(edit, "formatColumns", op.where)
    names: dict[str, bool] = {}
    for index, item in enumerate(as_list(op.args["columns"])):
        at = f"{op.where}.columns[{index}]"
        given = item_fields(item, COLUMN_ARGS, at, session.warnings)
        col = parse_column(given["column"])
        if col is None:
            raise problem("bad_range", f"{at}.column", "this is no column: a letter or 1 to 16384")
        width = _measure(given["width"], MAX_WIDTH, f"{at}.width")
        layout.set_width(edit, col, width)
        session.aim(edit, Area(1, col, MAX_ROW, col), "structure")
        names[column_name(col)] = width == 0
    return f"{edit.sheet.name}: {_sized(names, 'column', 'width of')}"


def set_row_heights(session: Session, op: Op) -> str:
    """Set the heights of rows, in points."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    refuse_format(edit, "formatRows", op.where)
    numbers: dict[str, bool] = {}
    for index, item in enumerate(as_list(op.args["rows"])):
        at = f"{op.where}.rows[{index}]"
        given = item_fields(item, ROW_ARGS, at, session.warnings)
        row = given["row"]
        if not isinstance(row, int) or not 1 <= row <= MAX_ROW:
            raise problem("bad_range", f"{at}.row", "rows count from 1 to 1048576")
        height = _measure(given["height"], MAX_HEIGHT, f"{at}.height")
        layout.set_height(edit, row, height)
        session.aim(edit, Area(row, 1, row, MAX_COL), "structure")
        numbers[str(row)] = height == 0
    return f"{edit.sheet.name}: {_sized(numbers, 'row', 'height of rows')}"


def _sized(lines: Mapping[str, bool], what: str, size: str) -> str:
    """Return which lines have a size now; those of none are hidden, which is said so."""
    hidden = [name for name, is_hidden in lines.items() if is_hidden]
    sized = [name for name in lines if name not in hidden]
    said = [f"{size} {', '.join(sized[:10])} set"] if sized else []
    said += [f"{what}{'s'[: len(hidden) != 1]} {', '.join(hidden[:10])} hidden"] if hidden else []
    return "; ".join(said) or "nothing set"


def _measure(value: Json, most: float, where: str) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise problem("bad_value", where, f"from 0 to {most}")
    return float(value)


def refuse_format(edit: SheetEdit, key: str, where: str) -> None:
    """Refuse what a protected sheet does not allow."""
    protection = child(edit.frame.root, "sheetProtection")
    if edit.frame.protected and protection is not None and truth(protection.get(key), True):
        raise refusal(edit.frame, where, "the sheet is protected against this")


def freeze_panes(session: Session, op: Op) -> str:
    """Freeze the rows above and the columns left of a cell."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    numbers = []
    for key, most in (("row", MAX_ROW), ("column", MAX_COL)):
        value = op.args[key] or 0
        if not isinstance(value, int) or not 0 <= value < most:
            raise problem("bad_value", f"{op.where}.{key}", f"from 0 to {most - 1}")
        numbers.append(value)
    layout.freeze(edit, numbers[0], numbers[1])
    session.targets.append(Target(edit.sheet.name, None, frozenset({"view"})))
    if not any(numbers):
        return f"{edit.sheet.name}: panes unfrozen"
    return f"{edit.sheet.name}: panes frozen at row {numbers[0]}, column {numbers[1]}"


def set_autofilter(session: Session, op: Op) -> str:
    """Filter a range by its first row, or take the filter away."""
    edit = session.edit(str(op.args["sheet"]), op.where)
    text = op.args["range"]
    area = None if text is None else area_of(text, f"{op.where}.range", edit)
    layout.set_filter(edit, area, f"{op.where}.range")
    structure.set_filter_name(session.book, edit.sheet, area)
    session.targets.append(Target(edit.sheet.name, None, frozenset({"filter"})))
    return f"{edit.sheet.name}: filter {f'on {area}' if area else 'removed'}"
