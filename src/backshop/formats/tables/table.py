"""A table that has been taken in: where it is, and what is known about it without asking it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backshop.base import limits as numbers

from .. import window
from ..errors import fail
from ..protocol import Json, JsonObject, Limits
from ..text.dialect import Told
from ..warning import Warn, Warnings
from .syntax import fold

CLOSEST = 5  # F3.1
LEFT_OUT = frozenset(
    {"uncached_formula", "error_cells", "rows_repaired", "preamble_skipped", "footer_skipped"}
)
"""Warnings that say that something in the file is not in the table, or not as it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its name in SQL, the name it has in the file, and the type all its values have."""

    name: str
    source_name: str | None  # None where the file names nothing
    type: str  # integer, float, boolean, date, datetime, time or string (F25.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where in a workbook the table stands; `header_row` is None when it has none."""

    sheet: str
    range: str
    header_row: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What taking in a table found out (F27.1)."""

    format: str
    row_count: int
    columns: tuple[Column, ...]
    has_header: bool
    delimiter: str | None = None
    quote_char: str | None = None
    encoding: str | None = None
    encoding_confidence: float | None = None
    dialect: Told | None = None  # of a delimited file
    region: Region | None = None
    warnings: tuple[Warn, ...] = ()
    hints: tuple[str, ...] = ()  # ready-made expressions for columns that stayed text

    def to_json(self) -> dict[str, Json]:
        """Return the map of F27.1 without the keys common to all maps."""
        size, rows = numbers.TABLE_CHUNK_ROWS, self.row_count
        count = window.chunk_count(rows, size)
        starts = range(1, rows + 1, size) if count <= numbers.MAP_MAX_CHUNKS else None
        chunks: Json = None
        if starts is not None:
            spans = [{"rows": f"{start}-{min(start + size - 1, rows)}"} for start in starts]
            chunks = window.chunk_list(spans)
        region: Json = None
        if self.region is not None:
            place = self.region
            region = {"sheet": place.sheet, "range": place.range, "header_row": place.header_row}
        return {
            "delimiter": self.delimiter,
            "quote_char": self.quote_char,
            "encoding_detected": self.encoding,
            "encoding_confidence": self.encoding_confidence,
            "has_header": self.has_header,
            "row_count": rows,
            "column_count": len(self.columns),
            "columns": [_column_json(index, item) for index, item in enumerate(self.columns)],
            "chunking": window.chunking("rows", size, count, 1),
            "chunks": chunks,
            "region": region,
            **({"dialect": self.dialect.to_json()} if self.dialect else {}),
            **({"hints": self.hints} if self.hints else {}),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """A table file, its shape, and the limits under which it is asked."""

    path: Path
    shape: Shape
    limits: Limits

    @property
    def left_out(self) -> Warnings:
        """The warnings an answer begins with: values that its table lacks (F27.9)."""
        return Warnings(one for one in self.shape.warnings if one.code in LEFT_OUT)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns in SQL."""
        return tuple(column.name for column in self.shape.columns)

    def pick(self, names: Sequence[str] | None) -> list[Column]:
        """Return the columns asked for, all when nothing is asked; doubles collapse (F27.8).

        Raises:
            FormatError: `unknown_column`, with the closest names as hints.
        """
        if names is None:
            return list(self.shape.columns)
        by_name = {fold(column.name): column for column in self.shape.columns}
        for name in names:
            if not isinstance(name, str):
                raise fail("bad_type", "columns is a list of names")
            if fold(name) not in by_name:
                near = closest(name, self.names)
                raise fail("unknown_column", f"there is no column {name!r}", hints=near)
        return list({fold(name): by_name[fold(name)] for name in names}.values())


def closest(name: str, names: Sequence[str]) -> list[str]:
    """Return the names nearest in spelling, nearest first (F3.1)."""
    folded = name.casefold()
    ranked = sorted(names, key=lambda other: _distance(folded, other.casefold()))
    return ranked[:CLOSEST]


def _distance(one: str, two: str) -> int:
    row = list(range(len(two) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(two, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


def _column_json(index: int, column: Column) -> JsonObject:
    return {
        "name": column.name,
        "source_name": column.source_name,
        "index": index,
        "inferred_type": column.type,
    }
