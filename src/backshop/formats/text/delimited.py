"""Comma-, tab- and pipe-separated files as files (F7).

By lines they read and write like any text; by `chunk_index` they read as rows of their table, the
header first. Their map is the table map of `tables` (F27.1), because it needs every row's types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from backshop.base import limits as numbers

from ..diff.line_diff import MAX_ROWS, TableDiff, diff_tables
from ..errors import fail
from ..protocol import ChunkInfo, JsonObject, Read, Selector, Source
from ..warning import Warnings
from ..window import check_chunk, check_selector, chunk_count, cut, refuse_both
from . import plain
from .dialect import sniff
from .edit import edit_text, replace_text, write_text
from .plain import extract_lines, passages, text_diff
from .row_selection import compose, relocate, require_place, separate
from .rows import Rows

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
    widths = [len(record.fields) for record in Rows(source, dialect)]
    return {
        "row_count": len(widths),
        "column_count": max([dialect.columns, *widths]),
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
    rows = [record.fields for record in islice(Rows(source, dialect), MAX_ROWS + 2)]
    width = max([dialect.columns, *map(len, rows)])
    return _named([*dialect.names, *[""] * (width - len(dialect.names))]), rows


def _named(header: list[str]) -> list[str]:
    """Return column names that differ: blank ones by place, doubles numbered (F25.2)."""
    names: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for place, field in enumerate(header, 1):
        name = base = field.strip() or f"column_{place}"
        while name in taken:
            counts[base] = counts.get(base, 1) + 1
            name = f"{base}_{counts[base]}"
        taken.add(name)
        names.append(name)
    return names


def _rows(source: Source, selector: Selector, chunk: int) -> Read:
    dialect = sniff(source)
    total = sum(1 for _ in Rows(source, dialect))
    count = chunk_count(total, CHUNK)
    check_chunk(chunk, count)
    rows = islice(Rows(source, dialect), chunk * CHUNK, (chunk + 1) * CHUNK)
    first = chunk * CHUNK + 1
    lines = [_line(str(number), record.fields) for number, record in enumerate(rows, first)]
    begin, inside = _place(lines, selector.char_offset or 0)
    head = _line("row", dialect.names) if dialect.has_header else ""
    piece = cut(lines[begin:], char_offset=inside, head=head)
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


def _line(label: str, fields: Sequence[str]) -> str:
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
