"""From a file to a table that can be asked (F25)."""

from __future__ import annotations

from dataclasses import replace

from backshop.base import codec
from backshop.base.limits import CLASSIFY_HEAD_BYTES

from ..errors import fail
from ..kind import UNPACKED, classify, kind_of_name
from ..protocol import Json, Kind, Source
from ..text.dialect_wish import DialectWish, read_wish
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
    dialect: DialectWish | Json = None,
) -> Table:
    """Return the table of a delimited file, of text that looks like one, or of a sheet (F25.1).

    `sheet` and `range` choose a region of a workbook. `header_row` is 0 for none, the row in the
    sheet for a workbook, 1 for a delimited file; None finds out. `dialect` says how a delimited
    file is written, as far as the caller knows (F25.10).

    Raises:
        FormatError: see `delimited.take_in`.
    """
    kind = kind_of_name(source.name)
    if source.extension in UNPACKED:  # a page of the web may be called so
        with source.path.open("rb") as file:
            kind = classify(source.name, file.read(CLASSIFY_HEAD_BYTES)).kind
    region = [sheet, range, header_row]
    if kind is Kind.XLSX:
        if dialect is not None:
            raise fail("bad_selector", "a workbook has no dialect")
        path, shape = cache.get(
            source.sha256, region, lambda out: take_in_sheet(source, out, sheet, range, header_row)
        )
        return Table(path, shape, source.limits)
    if kind not in (Kind.CSV, Kind.TEXT, None):
        raise fail("unsupported_format", f"{source.name} holds no table")
    if sheet is not None or range is not None:
        raise fail("bad_selector", "sheet and range choose a region of a workbook")
    wish = _with_header(read_wish(dialect), header_row)
    path, shape = cache.get(
        source.sha256,
        [codec.encode(wish), source.extension],  # the ending has a say in the delimiter
        lambda out: delimited.take_in(source, out, wish),
    )
    return Table(path, shape, source.limits)


def _with_header(wish: DialectWish, header_row: int | None) -> DialectWish:
    if header_row is None:
        return wish
    if header_row not in (0, 1):
        raise fail("bad_value", "the header of a delimited file is its first record, or none")
    if wish.header not in (None, header_row):
        raise fail("op_conflict", "header_row and the dialect say two things about the header")
    return replace(wish, header=header_row)
