"""Tables inside csv files and sheets: asked with SQL that can only compute, exported, merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from backshop.base.codec import told
from backshop.formats import Applied, OpenTable, Source, Warn
from backshop.prompts import Tool, ToolContext, ToolResult

from .files import NOTE, described
from .workspace import Workspace, answered

# a text in the schema, because an object of six fields would stand in seven tools of every request
_DIALECT = {
    "type": ["string", "null"],
    "description": "csv: delimiter, or its map's JSON",
}
_QUERY = described("DuckDB SELECT over `data`")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRef:
    """Which table of which file; only workbooks have sheets and ranges, only others a dialect."""

    path: str
    sheet: str | None = None
    range: str | None = None
    dialect: Annotated[Any, told(_DIALECT)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStats(TableRef):
    """Arguments of table_stats."""

    columns: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows(TableRef):
    """Arguments of table_read_rows."""

    row_start: int = field(metadata={**described("Data row, from 1"), "ge": 1})
    row_count: int = field(metadata={"ge": 1})
    columns: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuery(TableRef):
    """Arguments of table_query."""

    query: str
    window_rows: int = field(default=200, metadata={"ge": 1})
    window_offset: int = field(default=0, metadata={"ge": 0})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableExport(TableRef):
    """Arguments of table_export."""

    query: str | None = field(default=None, metadata=_QUERY)
    target_path: str
    format: str = field(metadata=described("csv or xlsx"))
    target_sheet: str | None = None
    change_note: str | None = field(default=None, metadata=NOTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUpdate(TableRef):
    """Arguments of table_update_from_export."""

    query: str | None = field(default=None, metadata=_QUERY)
    target_path: str
    target_sheet: str
    mode: str = field(metadata=described("replace_sheet, append_rows or write_range"))
    start_cell: str | None = field(default=None, metadata=described("Else A1"))
    include_header: bool = True
    create_workbook_if_missing: bool = False
    create_sheet_if_missing: bool = False
    clear_target_range: bool = field(
        default=False,
        metadata=described("write_range: empty it first"),
    )
    null_cells: str = field(default="clear", metadata=described("By NULL: clear or keep"))
    formulas: bool = field(default=False, metadata=described("Text beginning with = is one"))
    change_note: str | None = field(default=None, metadata=NOTE)


def _opened(room: Workspace, ref: TableRef, source: Source | None = None) -> OpenTable:
    found = source or room.source(ref.path)
    return room.bench.formats.open_table(found, ref.sheet, ref.range, dialect=ref.dialect)


def _asking(
    ask: Callable[[OpenTable, Any], Any],
) -> Callable[..., ToolResult]:
    def handler(params: Any, *, context: ToolContext) -> ToolResult:
        room = context.resource(Workspace)

        def work(source: Source) -> Mapping[str, Any]:
            found: Mapping[str, Any] = ask(_opened(room, params, source), params)
            return found

        return answered(lambda: room.look(params.path, work))

    return handler


def _export(params: TableExport, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def make(existing: Source | None, out: Path) -> Applied:
        done: Applied = _opened(room, params).write(
            "table_export",
            out,
            also=() if existing is None else (existing,),
            existing=existing,
            query=params.query,
            target=room.path(params.target_path)[0],
            format_=params.format,
            target_sheet=params.target_sheet,
        )
        if existing is None:
            return done
        return replace(done, created=False, warnings=(Warn("replaced_existing"), *done.warnings))

    return answered(lambda: _made(room, params, make))


def _made(
    room: Workspace, params: TableExport | TableUpdate, make: Callable[..., Applied]
) -> dict[str, Any]:
    room.path(params.path)  # refused before the bench is held
    return room.write(params.target_path, make, params.change_note)


def _update(params: TableUpdate, *, context: ToolContext) -> ToolResult:
    room = context.resource(Workspace)

    def make(existing: Source | None, out: Path) -> Applied:
        also = () if existing is None else (existing,)
        return _opened(room, params).write(
            "table_update_from_export",
            out,
            also=also,
            base=existing,
            query=params.query,
            update={
                "target": room.path(params.target_path)[0],
                "sheet": params.target_sheet,
                "mode": params.mode,
                "start_cell": params.start_cell,
                "include_header": params.include_header,
                "create_workbook_if_missing": params.create_workbook_if_missing,
                "create_sheet_if_missing": params.create_sheet_if_missing,
                "clear_target_range": params.clear_target_range,
                "null_cells": params.null_cells,
                "formulas": params.formulas,
                "recalculate": room.bench.desk.settings.recalculate,
            },
        )

    return answered(lambda: _made(room, params, make))


def _rows(table: OpenTable, params: TableRows) -> Any:
    return table.read_rows(params.row_start, params.row_count, params.columns)


def _query(table: OpenTable, params: TableQuery) -> Any:
    return table.query(params.query, params.window_rows, params.window_offset)


TABLE_TOOLS = (
    Tool(
        "table_get_map",
        "Return columns, types and size of the table in a csv file or sheet.",
        TableRef,
        _asking(lambda table, _: table.get_map()),
        effects="read",
    ),
    Tool(
        "table_describe",
        "Return what each column of a table holds.",
        TableRef,
        _asking(lambda table, _: table.describe()),
        effects="read",
    ),
    Tool(
        "table_stats",
        "Return statistics of columns of a table.",
        TableStats,
        _asking(lambda table, params: table.stats(params.columns)),
        effects="read",
    ),
    Tool(
        "table_read_rows",
        "Return rows of a table in the order of the file.",
        TableRows,
        _asking(_rows),
        effects="read",
    ),
    Tool(
        "table_query",
        "Ask a table with one SELECT over `data`, as in DuckDB; better than reading many rows.",
        TableQuery,
        _asking(_query),
        effects="read",
    ),
    Tool(
        "table_export",
        "Write a table, or a SELECT over it, as a new file to the Draft.",
        TableExport,
        _export,
        effects="write",
    ),
    Tool(
        "table_update_from_export",
        "Write a table, or a SELECT over it, into a sheet of a workbook in the Draft.",
        TableUpdate,
        _update,
        effects="write",
    ),
)
