"""A query's result as a file: csv, or a new workbook of one sheet (F28.1 to F28.4)."""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path, PurePosixPath

from backshop.base import limits as numbers

from ..errors import fail
from ..kind import kind_of_name, require_new_workbook_name
from ..output import NO_SPACE
from ..protocol import Applied, Effect, Effects, Json, Kind
from ..text.written import Frame, new_frame, write_rows
from ..warning import Warnings
from . import ask, engine, values
from .ask import Plan
from .engine import Connection
from .table import Table

BATCH = 2_000
ALL_ROWS = "SELECT * FROM data"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_ENDINGS = {"csv": Kind.CSV, "xlsx": Kind.XLSX}
_FORBIDDEN_IN_NAMES = str.maketrans(dict.fromkeys("[]:*?/\\", "_"))
_WIDTHS = (8, 60)  # F28.3
_FORMATS = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss"}
_WHOLE_MAX_CHARS = 40  # of a HUGEINT; a longer number only its text tells
_FIXED_DATE = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC).replace(tzinfo=None)
_FIRST_DAY = datetime.date(1900, 3, 1)  # before it, spreadsheets disagree about days

Cell = None | bool | int | float | Decimal | str


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query, to be read once."""

    columns: tuple[values.Column, ...]
    rows: Iterator[list[Cell]]
    total: int


@contextmanager
def result_of(table: Table, query: str | None, warnings: Warnings) -> Iterator[Result]:
    """Open a query's whole result, in its order; all rows of the table without a query.

    Raises:
        FormatError: with one of the `sql_…` reasons.
    """
    patient = replace(table.limits, sql_timeout_s=table.limits.write_timeout_s)
    with engine.asking(table.path, patient) as connection:
        plan = ask.plan(connection, ALL_ROWS if query is None else query, table.names)
        if query is not None and plan.added:
            warnings.add("order_added")
        total = ask.count(connection, plan.unordered)
        yield Result(plan.columns, _rows(connection, plan, warnings), total)


def export(
    table: Table,
    out: Path,
    *,
    target: str,
    format_: str,
    query: str | None = None,
    sheet: str | None = None,
    frame: Frame | None = None,
) -> Applied:
    """Write a query's result to `out` as a new file that will be known as `target`.

    `frame` says how a delimited file is written, where one gives way to it (F28.2).

    Raises:
        FormatError: `bad_value`, `too_large`, `disk_full`, or one of the `sql_…` reasons.
    """
    if format_ not in _ENDINGS or kind_of_name(target) is not _ENDINGS[format_]:
        raise fail("bad_value", "format is csv or xlsx and fits the ending of the target")
    if format_ == "xlsx":
        require_new_workbook_name(target)
    warnings = table.left_out
    part = out.with_name(out.name + ".part")
    try:
        with result_of(table, query, warnings) as result:
            if format_ == "csv":
                ending = PurePosixPath(target).suffix.lower()
                written = _framed(table, result, frame or new_frame(ending))
                name, rows = None, _write_csv(part, result, written, warnings)
            else:
                name = sheet_name(sheet, warnings)
                rows = _write_sheet(part, result, name, warnings)
        part.replace(out)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise fail("disk_full", "the disk has no room for the result") from error
        raise
    finally:
        part.unlink(missing_ok=True)
    return _applied(out, target, format_, name, rows, len(result.columns), warnings)


def sheet_name(asked: str | None, warnings: Warnings) -> str:
    """Return a name a sheet can have; a change of it is said (F28.3)."""
    if asked is None:
        return "Sheet1"
    name = "".join("_" if ord(char) < 32 else char for char in asked.translate(_FORBIDDEN_IN_NAMES))
    name = name[:31]
    name = "_" + name[1:] if name.startswith("'") else name
    name = name[:-1] + "_" if name.endswith("'") else name
    if not name.strip() or name.lower() == "history":
        name = "Sheet1"
    if name != asked:
        warnings.add("sheet_name_changed", where=name)
    return name


def _applied(
    out: Path,
    target: str,
    format_: str,
    sheet: str | None,
    rows: int,
    width: int,
    warnings: Warnings,
) -> Applied:
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    focus: dict[str, Json] = {"line_start": 1, "line_end": rows + 1}
    if sheet is not None:
        ends = {"row_start": 0, "row_end": rows, "col_start": 0, "col_end": max(width - 1, 0)}
        focus = {"sheet": sheet, **ends}
    effect = Effect(kind="sheet" if sheet else "line", where=sheet or "all", aspect="added")
    return Applied(
        name=target,
        size_bytes=out.stat().st_size,
        sha256=digest,
        created=True,
        ops_applied=1,
        changes=((0, f"{target}: {rows} rows of {width} columns written"),),
        focus=focus,
        warnings=warnings.all(),
        effects=Effects.compare(
            targets=[target], changed=[effect], aimed_at=lambda _: True, recalculated=()
        ),
        extra={
            "target_path": target,
            "format": format_,
            "sheet": sheet,
            "row_count": rows,
            "column_count": width,
        },
    )


# --- csv (F28.2) ----------------------------------------------------------------------------------


def _framed(table: Table, result: Result, frame: Frame) -> Frame:
    """Return the frame; rows of names that say something else than the result's are left out."""
    names = tuple(column.name for column in result.columns)
    return frame if names == table.names else replace(frame, names="")


def _write_csv(out: Path, result: Result, frame: Frame, warnings: Warnings) -> int:
    texts = [at for at, column in enumerate(result.columns) if column.type == "string"]
    count = 0

    def rows() -> Iterator[list[str]]:
        nonlocal count
        for row in result.rows:
            for at in texts:
                value = row[at]
                if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
                    warnings.add("formula_like_cells")
            yield [_field(value) for value in row]
            count += 1

    write_rows(out, frame, [column.name for column in result.columns], rows(), warnings)
    return count


def _field(value: Cell) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return "" if value is None else str(value)


# --- xlsx (F28.3) ---------------------------------------------------------------------------------


def _write_sheet(out: Path, result: Result, name: str, warnings: Warnings) -> int:
    import xlsxwriter  # loaded on first use

    if result.total >= numbers.SHEET_MAX_ROWS or len(result.columns) > numbers.SHEET_MAX_COLUMNS:
        raise fail("too_large", f"a sheet cannot hold {result.total} rows below a header")
    options = {
        "constant_memory": True,
        "tmpdir": str(out.parent),
        "strings_to_formulas": False,
        "strings_to_numbers": False,
        "strings_to_urls": False,
    }
    with xlsxwriter.Workbook(str(out), options) as book:
        book.set_properties({"created": _FIXED_DATE})  # the same bytes every time (F1.3)
        sheet = book.add_worksheet(name)
        formats = {kind: book.add_format({"num_format": code}) for kind, code in _FORMATS.items()}
        bold = book.add_format({"bold": True})
        widths = [len(column.name) for column in result.columns]
        for at, column in enumerate(result.columns):
            sheet.write_string(0, at, _storable(column.name, 1, warnings), bold)
        sheet.freeze_panes(1, 0)
        count = 0
        for count, row in enumerate(result.rows, 1):
            for at, (column, value) in enumerate(zip(result.columns, row, strict=True)):
                if isinstance(value, str) and value.startswith("=") and len(value) > 1:
                    warnings.add("formula_like_cells")  # they stay text
                widths[at] = max(widths[at], _write_cell(sheet, count, at, column, value, formats))
        for at, width in enumerate(widths):
            sheet.set_column(at, at, min(max(width + 1, _WIDTHS[0]), _WIDTHS[1]))
    return count


def _write_cell(sheet, row: int, at: int, column: values.Column, value: Cell, formats) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001  # the writer is untyped
    """Write one value in its type and return how wide it looks."""
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        sheet.write_boolean(row, at, value)
    elif column.type in _FORMATS and (moment := _moment(column, str(value))) is not None:
        sheet.write_datetime(row, at, moment, formats[column.type])
        return len(_FORMATS[column.type])
    elif isinstance(value, int | float | Decimal) and as_number(value) is not None:
        sheet.write_number(row, at, as_number(value))
    else:
        text = f"{value:f}" if isinstance(value, Decimal) else str(value)
        if len(text) > numbers.CELL_MAX_CHARS:
            place = f"row {row}, column {column.name}"
            raise fail("too_large", "a cell holds at most 32,767 characters", detail=place)
        sheet.write_string(row, at, text)
    return max(map(len, str(value).split("\n")))


def as_number(value: int | float | Decimal) -> float | None:
    """Return a number as a cell can hold it exactly, None when only its text is exact."""
    near = float(value)
    return near if math.isfinite(near) and Decimal(repr(near)) == Decimal(str(value)) else None


def _moment(column: values.Column, text: str) -> datetime.date | datetime.time | None:
    """Return a date, datetime or time, None when a sheet has no number for it."""
    try:
        if column.type == "time":
            found = datetime.time.fromisoformat(text)
            return found if found.tzinfo is None else None
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None or moment.date() < _FIRST_DAY:
        return None
    return moment.date() if column.type == "date" else moment


def _storable(text: str, row: int, warnings: Warnings) -> str:
    if len(text) <= numbers.CELL_MAX_CHARS:
        return text
    warnings.add("truncated_to_fit", where=f"row {row}")
    return text[: numbers.CELL_MAX_CHARS]


# --- values ---------------------------------------------------------------------------------------


def _rows(connection: Connection, plan: Plan, warnings: Warnings) -> Iterator[list[Cell]]:
    turns = [_turn(column, warnings) for column in plan.columns]
    cursor = connection.execute(plan.selecting())
    while batch := cursor.fetchmany(BATCH):
        for raw in batch:
            yield [turn(value) for turn, value in zip(turns, raw, strict=True)]


def _turn(column: values.Column, warnings: Warnings) -> Callable[[object], Cell]:
    """Return the function that gives a column's values as cells, exact, as text if need be."""
    match column.type:
        case "integer":
            return lambda value: None if value is None else _whole(str(value))
        case "float":
            return lambda value: values.finite(value, warnings)
        case "decimal":
            return lambda value: None if value is None else Decimal(str(value))
        case "interval":
            return lambda value: None if value is None else values.duration(str(value))
        case "json":
            return lambda value: None if value is None else values.compact(str(value), warnings)
        case _:
            return lambda value: value if isinstance(value, str | bool | None) else str(value)


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= _WHOLE_MAX_CHARS else text
