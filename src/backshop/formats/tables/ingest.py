"""From a file to a table that can be asked (F25)."""

from __future__ import annotations

from ..errors import fail
from ..kind import kind_of_name
from ..protocol import Kind, Source
from . import delimited
from .cache import Cache
from .sheet import take_in as take_in_sheet
from .table import Table


def open_table(
    source: Source,
    cache: Cache,
    *,
    sheet: str | None = None,
    range: str | None = None,
    header_row: int | None = None,
) -> Table:
    """Return the table of a delimited file, of text that looks like one, or of a sheet (F25.1).

    `sheet` and `range` choose a region of a workbook. `header_row` is 0 for none, the row in the
    sheet for a workbook, 1 for a delimited file; None finds out.

    Raises:
        FormatError: see `delimited.take_in`.
    """
    kind = kind_of_name(source.name)
    region = [sheet, range, header_row]
    if kind is Kind.XLSX:
        path, shape = cache.get(
            source.sha256, region, lambda out: take_in_sheet(source, out, sheet, range, header_row)
        )
        return Table(path, shape, source.limits)
    if kind not in (Kind.CSV, Kind.TEXT, None):
        raise fail("unsupported_format", f"{source.name} holds no table")
    if sheet is not None or range is not None:
        raise fail("bad_selector", "sheet and range choose a region of a workbook")
    path, shape = cache.get(
        source.sha256,
        [*region, source.extension],  # the ending has a say in the delimiter
        lambda out: delimited.take_in(source, out, header_row),
    )
    return Table(path, shape, source.limits)
