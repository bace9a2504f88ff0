"""Operations on named tables: one comes, is changed, or becomes a plain range (F37)."""

from __future__ import annotations

from backshop.formats.package.guard import Element, parse_xml
from backshop.formats.package.package import serialise
from backshop.formats.protocol import Json, Op
from backshop.formats.write.operation import Arg, as_list, item_fields, nearest, problem

from ...book.sheet_edit import SheetEdit
from ...book.table_text import header_attribute
from ...book.workbook import Table
from ...syntax.address import Area
from ...syntax.formula import shift
from ..cell_operation import area_of
from ..session import Session, Target
from ..settlement import settled
from . import obstacle
from .column import column_at
from .follower import follow, note_users
from .header_row import HeaderRow, checked_name, given_names, note_written, put_headers
from .resize import resize
from .table_move import TableNames, TablePlain
from .table_name import check_name, free_name
from .table_part import TablePlan, attach, columns_of, detach, made, only_as_asked
from .table_style import DEFAULT, SWITCH_ARGS, present_style, put_style, style_name, style_words
from .totals_row import put_totals_row

COLUMN_NAME_ARGS = (Arg("column", object, required=True), Arg("name", str, required=True))
_LOOKS = (Arg("style", str, aliases=("table_style",)), *SWITCH_ARGS)
_TABLE = Arg("table", str, required=True, aliases=("name",))
ADD_ARGS = (
    Arg("sheet", str, required=True),
    Arg("range", str, required=True),
    Arg("name", str, aliases=("table",)),
    Arg("header", bool, default=True),
    Arg("columns", list, aliases=("headers",)),
    *_LOOKS,
    Arg("totals", object, aliases=("totals_row",)),
)
CHANGE_ARGS = (
    Arg("sheet", str),
    _TABLE,
    Arg("new_name", str),
    Arg("range", str),
    Arg("columns", list, aliases=("headers",)),
    *_LOOKS,
    Arg("totals", object, aliases=("totals_row",)),
)
DELETE_ARGS = (Arg("sheet", str), _TABLE)


def add_table(session: Session, op: Op) -> str:
    """Make a named table of a range."""
    session.flush()
    edit = session.edit(str(op.args["sheet"]), op.where)
    obstacle.refuse_protected(edit, f"{op.where}.sheet")
    where = f"{op.where}.range"
    area = _area(edit, str(op.args["range"]), where)
    has_header = bool(op.args["header"])
    if has_header and area.height < 2:
        what = "a table has at least one row below its header"
        hint = str(Area(area.row1, area.col1, area.row1 + 1, area.col2))
        raise problem("bad_range", where, what, [hint])
    obstacle.refuse_place(edit, area, where)
    if has_header:
        edit = settled(session, edit, [Area(area.row1, area.col1, area.row1, area.col2)])
    name = str(op.args["name"]) if op.args["name"] is not None else free_name(session.book)
    check_name(session.book, name, f"{op.where}.name")
    style = _style(session, op, DEFAULT)
    columns = _headers(session, edit, op, area, has_header=has_header)
    formulas = _calculated(edit, area, has_header=has_header)
    plan = TablePlan(
        name=name, area=area, has_header=has_header, columns=columns, formulas=formulas
    )
    data = made(session.book, plan)
    root = parse_xml(data)
    put_style(root, style, op.args)
    session.made.update(attach(session.book, edit, serialise(root, like=data)))
    _aim(session, edit, name, area, "added")
    session.flush()
    note_users(session, name)
    said = f"{edit.sheet.name}!{area}: table {name} added ({', '.join(_short(columns))})"
    if op.args["totals"] not in (None, False):
        edit, table = find_table(session, edit.sheet.name, name, op.where)
        said += f"; {put_totals_row(session, edit, table, op.args['totals'], f'{op.where}.totals')}"
    return said


def change_table(session: Session, op: Op) -> str:
    """Change what is asked for of a table that is there, and nothing else."""
    session.flush()
    edit, table = find_table(session, op.args["sheet"], str(op.args["table"]), op.where)
    obstacle.refuse_protected(edit, f"{op.where}.sheet")
    given = [arg.name for arg in CHANGE_ARGS if arg.name not in ("sheet", "table")]
    if all(op.args[name] is None for name in given):
        what = "say what to change: new_name, range, columns, style, totals …"
        raise problem("missing_field", f"{op.where}.range", what)
    said: list[str] = []
    name, part = table.name, table.part
    if part not in session.made:
        session.expected_parts.setdefault(part, only_as_asked)
    if op.args["new_name"] is not None:
        name = _rename(session, table, str(op.args["new_name"]), f"{op.where}.new_name")
        said.append(f"now called {name}")
    if op.args["range"] is not None:
        edit, table = find_table(session, edit.sheet.name, name, op.where)
        area = _area(edit, str(op.args["range"]), f"{op.where}.range")
        said.append(resize(session, edit, table, area, f"{op.where}.range"))
    if op.args["columns"] is not None:
        edit, table = find_table(session, edit.sheet.name, name, op.where)
        said.append(_rename_columns(session, edit, table, op))
    said += _restyle(session, op, part)
    edit, table = find_table(session, edit.sheet.name, name, op.where)
    if op.args["totals"] is not None:
        said.append(put_totals_row(session, edit, table, op.args["totals"], f"{op.where}.totals"))
        edit, table = find_table(session, edit.sheet.name, name, op.where)
    _aim(session, edit, name, table.area, "changed")
    return f"{edit.sheet.name}: table {name} changed ({'; '.join(said)})"


def delete_table(session: Session, op: Op) -> str:
    """Turn a table into a plain range: its cells stay, references to it become ordinary ones."""
    session.flush()
    edit, table = find_table(session, op.args["sheet"], str(op.args["table"]), op.where)
    where = f"{op.where}.table"
    obstacle.refuse_protected(edit, f"{op.where}.sheet")
    obstacle.refuse_bound(session.book, table, where, "it is taken off in Excel")
    obstacle.refuse_slicers(session.book, table, where)
    obstacle.refuse_views(session.book, edit, table, where)
    obstacle.refuse_hiding(edit, table, where)
    move = TablePlain.of(session.book, edit.sheet.name, table)
    count = follow(session, move)
    edit = session.edit(edit.sheet.name, op.where)
    session.made.update(detach(session.book, edit, table.part))
    session.grown.pop(table.part, None)
    session.expected_parts.pop(table.part, None)
    _aim(session, edit, table.name, table.area, "removed")
    session.flush()
    followed = f"; {count} references to it name cells now" if count else ""
    return (
        f"{edit.sheet.name}!{table.area}: table {table.name} is a plain range; its cells stay, "
        f"the looks of its style went{followed}"
    )


# --- what operations share ----------------------------------------------------------------------


def find_table(session: Session, sheet: Json, name: str, where: str) -> tuple[SheetEdit, Table]:
    """Return a table by its name with its sheet, which may be given as well."""
    known = session.book.named_tables()
    found = known.get(name.strip().lower())
    if found is None:
        names = [table.name for _, table in known.values()]
        what = "there is no table of this name" if names else "the workbook has no tables"
        raise problem("no_match", f"{where}.table", what, nearest(name, names))
    home, table = found
    if sheet is not None and session.book.sheet(str(sheet), f"{where}.sheet").name != home:
        what = f"the table {table.name} stands on {home}"
        raise problem("op_conflict", f"{where}.sheet", what, [home])
    return session.edit(home, where), table


def _area(edit: SheetEdit, text: str, where: str) -> Area:
    """Return a range; whole columns and rows end where the sheet does."""
    area, used = area_of(text, where, edit), edit.used()
    if area.lines is None:
        return area
    if used is None or not area.meets(used):
        raise problem("bad_range", where, "the cells of this range are empty")
    return area.in_use(used)


def _style(session: Session, op: Op, default: str | None) -> str | None:
    if op.args["style"] is None:
        return default
    return style_name(session.book, op.args["style"], f"{op.where}.style")


def _headers(
    session: Session, edit: SheetEdit, op: Op, area: Area, *, has_header: bool
) -> list[str]:
    """Return the names of the columns, and let the header cells say just these."""
    places = range(area.col1, area.col2 + 1)
    given = op.args["columns"]
    rows = HeaderRow()
    if given is not None:
        names = given_names(session, given, area.width, f"{op.where}.columns")
    elif has_header:
        edit.load([area.row1])
        names = rows.read(edit, area.row1, places, f"{op.where}.range")
    else:
        names = [rows.free() for _ in places]
    if has_header:
        put_headers(edit, area.row1, places, names)
        note_written(session, edit, rows.written)
        session.aim(edit, Area(area.row1, area.col1, area.row1, area.col2))
    return names


def _calculated(edit: SheetEdit, area: Area, *, has_header: bool) -> dict[int, str]:
    """Return the formulas of columns that have the same in every row, by their places from 0."""
    first = area.row1 + has_header
    rows = range(first, area.row2 + 1)
    columns = range(area.col1, area.col2 + 1)
    own = {col: text for col in columns if (text := edit.formula(first, col))}
    edit.load(rows if own else ())
    return {
        col - area.col1: text
        for col, text in own.items()
        if all(_says(edit, row, col, text, row - first) for row in rows)
    }


def _says(edit: SheetEdit, row: int, col: int, formula: str, by: int) -> bool:
    cell = edit.raw(row, col)
    kind = cell.formula.kind if cell is not None and cell.formula is not None else ""
    if kind in ("array", "dataTable"):
        return False
    return edit.formula(row, col) == shift(formula, by, 0)


def _rename(session: Session, table: Table, new: str, where: str) -> str:
    check_name(session.book, new, where, own=table.name)
    if new == table.name:
        return new
    root = session.book.package.xml(table.part)
    for key in ("name", "displayName"):
        root.set(key, new)
    session.book.package.put_xml(table.part, root)
    follow(session, TableNames(table.name, new))
    note_users(session, new)
    return new


def _rename_columns(session: Session, edit: SheetEdit, table: Table, op: Op) -> str:
    """Give columns other names: all of them in order, or some by what they are called."""
    where = f"{op.where}.columns"
    names = _new_names(session, table, op.args["columns"], where)
    changed = {at: new for at, new in enumerate(names) if new != table.columns[at]}
    if changed:
        obstacle.refuse_bound(session.book, table, where, "its columns keep their names")
    root = session.book.package.xml(table.part)
    for at, new in changed.items():
        columns_of(root)[at].set("name", header_attribute(new))
    session.book.package.put_xml(table.part, root)
    if table.header_rows:
        area = table.area
        put_headers(edit, area.row1, range(area.col1, area.col2 + 1), names)
        session.aim(edit, Area(area.row1, area.col1, area.row1, area.col2))
    session.flush()
    renamed = {table.columns[at].strip().lower(): new for at, new in changed.items()}
    follow(session, TableNames(table.name, table.name, renamed))
    note_users(session, table.name)
    pairs = (f"{table.columns[at]} → {new}" for at, new in changed.items())
    return f"columns {', '.join(pairs)}" if changed else "columns as they were"


def _new_names(session: Session, table: Table, given: Json, where: str) -> list[str]:
    items = as_list(given)
    if not items:
        raise problem("missing_field", where, "names of columns are needed")
    if all(isinstance(item, str) for item in items):
        return given_names(session, given, len(table.columns), where)
    names = list(table.columns)
    for index, item in enumerate(items):
        at = f"{where}[{index}]"
        fields = item_fields(item, COLUMN_NAME_ARGS, at, session.warnings)
        names[column_at(table, fields["column"], f"{at}.column")] = str(fields["name"])
    for place, name in enumerate(names):
        others = [one for at, one in enumerate(names) if at != place]
        if name != table.columns[place]:
            names[place] = checked_name(session, name, others, where)
    return names


def _restyle(session: Session, op: Op, part: str) -> list[str]:
    if all(op.args[arg.name] is None for arg in _LOOKS):
        return []
    root: Element = session.book.package.xml(part)
    style = _style(session, op, present_style(root))
    put_style(root, style, op.args)
    session.book.package.put_xml(part, root)
    return style_words(op.args, style)


def _aim(session: Session, edit: SheetEdit, name: str, area: Area, aspect: str) -> None:
    """Note that a table is meant, and where it is."""
    session.targets.append(Target(edit.sheet.name, None, frozenset({aspect}), name))
    session.touched.setdefault(edit.sheet.name, []).append(area)


def _short(columns: list[str]) -> list[str]:
    shown = [one.replace("\n", " ")[:40] for one in columns[:8]]
    return [*shown, f"{len(columns) - 8} more"] if len(columns) > 8 else shown
