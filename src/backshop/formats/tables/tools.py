"""What the table tools do: each opens the table of a file and asks it one thing (F27, F28)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from backshop.base import limits as numbers

from ..errors import FormatError, fail
from ..kind import kind_of_name
from ..protocol import Applied, Json, JsonObject, Kind, Map, Source
from ..text.dialect_wish import DialectWish, read_wish
from ..text.written import Frame, frame_around, frame_of
from . import ask
from .cache import Cache
from .export import export
from .ingest import open_table
from .table import Table
from .update import Update, update

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Which table of a file is meant; everything None finds out (F25.1)."""

    sheet: str | None = None
    range: str | None = None
    header_row: int | None = None
    dialect: DialectWish | Json = None  # how a delimited file is written (F25.10)


ANY = Region()


def table_get_map(source: Source, cache: Cache, region: Region = ANY) -> Map:
    """Return the map of a table (F27.1)."""
    shape = opened(source, cache, region, lambda table: table.shape)
    return Map(format=shape.format, data=shape.to_json(), warnings=shape.warnings)


def table_describe(source: Source, cache: Cache, region: Region = ANY) -> JsonObject:
    """Return what each column holds (F27.2)."""
    return opened(source, cache, region, ask.describe)


def table_stats(
    source: Source, cache: Cache, region: Region = ANY, columns: Sequence[str] | None = None
) -> JsonObject:
    """Return statistics of the columns (F27.3)."""
    return opened(source, cache, region, lambda table: ask.stats(table, columns))


def table_read_rows(
    source: Source,
    cache: Cache,
    region: Region = ANY,
    *,
    row_start: int,
    row_count: int,
    columns: Sequence[str] | None = None,
) -> JsonObject:
    """Return rows in the order of the file (F27.4)."""
    return opened(
        source, cache, region, lambda table: ask.read_rows(table, row_start, row_count, columns)
    )


def table_query(
    source: Source,
    cache: Cache,
    region: Region = ANY,
    *,
    query: str,
    window_rows: int = numbers.TABLE_WINDOW_ROWS,
    window_offset: int = 0,
) -> JsonObject:
    """Return one window of a query's result (F27.5)."""
    return opened(
        source, cache, region, lambda table: ask.query(table, query, window_rows, window_offset)
    )


def opened(source: Source, cache: Cache, region: Region, action: Callable[[Table], T]) -> T:
    """Do something with the table of a file; a damaged cache is made again, once (F25.8)."""
    table = _open(source, cache, region)
    try:
        return action(table)
    except FormatError as error:
        if error.reason != "corrupt_file":
            raise
    cache.drop(table.path)
    return action(_open(source, cache, region))


def _open(source: Source, cache: Cache, region: Region) -> Table:
    return open_table(
        source,
        cache,
        sheet=region.sheet,
        range=region.range,
        header_row=region.header_row,
        dialect=region.dialect,
    )


def table_export(
    source: Source,
    cache: Cache,
    region: Region = ANY,
    *,
    out: Path,
    target: str,
    format_: str,
    query: str | None = None,
    target_sheet: str | None = None,
    existing: Source | None = None,
) -> Applied:
    """Write a query's result to `out` as a new csv file or workbook (F28.1).

    With a delimited source `sheet` means the sheet to write. `existing` is the file that the new
    one replaces: a delimited one keeps its dialect.
    """
    if kind_of_name(source.name) is not Kind.XLSX and region.sheet is not None:
        if target_sheet not in (None, region.sheet):
            raise fail("op_conflict", "sheet and target_sheet name two sheets")
        target_sheet, region = region.sheet, replace(region, sheet=None)
    return opened(
        source,
        cache,
        region,
        lambda table: export(
            table,
            out,
            target=target,
            format_=format_,
            query=query,
            sheet=target_sheet,
            frame=_frame(source, region, existing) if format_ == "csv" else None,
        ),
    )


def _frame(source: Source, region: Region, existing: Source | None) -> Frame | None:
    """Return how the file that gives way is written; one that gets its own rows keeps its lines."""
    if existing is None or kind_of_name(existing.name) is not Kind.CSV:
        return None
    if existing.sha256 != source.sha256:
        return frame_of(existing)
    return frame_around(existing, read_wish(region.dialect))


def table_update_from_export(
    source: Source,
    cache: Cache,
    region: Region = ANY,
    *,
    base: Source | None,
    out: Path,
    request: Update,
    query: str | None = None,
) -> Applied:
    """Write a query's result into the workbook `base`, the whole of it to `out` (F28.5)."""
    return opened(
        source,
        cache,
        region,
        lambda table: update(table, base, out, request, query, origin=source),
    )
