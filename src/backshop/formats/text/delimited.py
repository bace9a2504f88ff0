"""Comma-, tab- and pipe-separated files as files (F7).

By lines they read and write like any text; by `chunk_index` they read as rows of their table, the
header first. Their map is the table map of `tables` (F27.1), because it needs every row's types.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from backshop.base import limits as numbers

from ..diff.line_diff import MAX_ROWS, TableDiff, diff_tables
from ..errors import fail
from ..protocol import ChunkInfo, JsonObject, Read, Selector, Source
from ..warning import Warnings
from ..window import check_chunk, check_selector, chunk_count, cut, refuse_both
from . import plain
from .dialect import Dialect, records, sniff
from .edit import edit_text, replace_text, write_text
from .plain import extract_lines, passages, text_diff
from .row_selection import compose, relocate, require_place, separate

CHUNK = numbers.TABLE_CHUNK_ROWS
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})

__all__ = [
    "compose",
    "edit_text",
    "extract_lines",
    "get_info",
    "passages",
    "read",
    "relocate",
    "replace_text",
    "require_place",
    "separate",
    "table_diff",
    "text_diff",
    "write_text",
]


def get_info(source: Source) -> JsonObject:
    """Return the size of the table and how it is written (F7.2)."""
    dialect = sniff(source)
    rows = sum(1 for _ in records(source, dialect)) - dialect.has_header
    return {
        "row_count": max(rows, 0),
        "column_count": dialect.columns,
        "delimiter": dialect.delimiter,
        "encoding": dialect.encoding.name,
    }


def read(source: Source, selector: Selector) -> Read:
    """Return rows of a chunk, or lines like a text file (F7.1)."""
    check_selector(selector, "csv", ("line_start", "line_count"))
    refuse_both(selector, "line_start", "line_count")
    if selector.chunk_index is None:
        return replace(plain.read(source, selector), format="csv")
    return _rows(source, selector, selector.chunk_index)


def table_diff(before: Source, after: Source) -> TableDiff:
    """Return which columns and rows differ between two delimited files (B12.4)."""
    old_columns, old = _table(before)
    new_columns, new = _table(after)
    if len(old) + len(new) > MAX_ROWS:
        return TableDiff(too_large=True)
    return diff_tables(old_columns, old, new_columns, new)


def _table(source: Source) -> tuple[list[str], list[list[str]]]:
    dialect = sniff(source)
    rows = [fields for _, fields in islice(records(source, dialect), MAX_ROWS + 2)]
    if dialect.has_header:
        return _named(rows[0]), rows[1:]
    width = max(map(len, rows), default=0)
    return [f"column_{n}" for n in range(1, width + 1)], rows


def _named(header: list[str]) -> list[str]:
    """Return column names that differ: blank ones by place, doubles numbered (F25.2)."""
    names: list[str] = []
    for place, field in enumerate(header, 1):
        name = base = field.strip() or f"column_{place}"
        count = 1
        while name in names:
            count += 1
            name = f"{base}_{count}"
        names.append(name)
    return names


def _rows(source: Source, selector: Selector, chunk: int) -> Read:
    dialect = sniff(source)
    total = max(sum(1 for _ in records(source, dialect)) - dialect.has_header, 0)
    count = chunk_count(total, CHUNK)
    check_chunk(chunk, count)
    skip = chunk * CHUNK + dialect.has_header
    rows = islice(records(source, dialect), skip, skip + CHUNK)
    first = chunk * CHUNK + 1
    lines = [_line(str(number), fields) for number, (_, fields) in enumerate(rows, first)]
    begin, inside = _place(lines, selector.char_offset or 0)
    piece = cut(lines[begin:], char_offset=inside, head=_head(source, dialect))
    warnings = Warnings(plain.guess_warning(dialect.encoding))
    following = Selector(chunk_index=chunk + 1) if chunk + 1 < count else None
    last = begin + piece.units
    if not piece.complete:
        warnings.add("truncated_to_fit")
        offset = sum(len(line) + 1 for line in lines[:last]) + (piece.char_offset or 0)
        following = Selector(chunk_index=chunk, char_offset=offset)
        last += piece.char_offset is not None
    return Read(
        format="csv",
        text=piece.text,
        selector=selector,
        chunk_info=ChunkInfo(
            chunk_index=chunk,
            total_chunks=max(count, 1),
            next=following,
            span={"rows": f"{first + begin}-{first + last - 1}"} if lines else {},
        ),
        warnings=warnings.all(),
    )


def _head(source: Source, dialect: Dialect) -> str:
    if not dialect.has_header:
        return ""
    return _line("row", next(fields for _, fields in records(source, dialect)))


def _line(label: str, fields: list[str]) -> str:
    return "\t".join([label, *(field.translate(_ESCAPES) for field in fields)])


def _place(lines: list[str], offset: int) -> tuple[int, int]:
    """Return the row in which an offset into the rows of a chunk lies, and where in it."""
    for index, line in enumerate(lines):
        if offset <= len(line):
            return index, offset
        offset -= len(line) + 1
    if offset:
        raise fail("bad_index", "char_offset lies behind the chunk")
    return len(lines), 0
