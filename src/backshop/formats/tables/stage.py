"""A delimited file made ready for DuckDB: in UTF-8, every record with the same number of fields.

Most files are ready as they are. DuckDB reads strictly and refuses the others; those are read here
by the slower parser of the standard library, which can say what is wrong in which line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from backshop.base import limits as numbers

from ..errors import fail
from ..protocol import Source
from ..text.dialect import Dialect
from ..text.encoding import open_text

LONG_ROWS_NAMED = 5  # F25.4
LINE_MAX_BYTES = 8 * numbers.MIB  # of one record; DuckDB reserves buffers by it
_END = "\x1eend\x1e"  # a line that no file has; read back only when every quote was closed


@dataclass(slots=True)
class Normalised:
    """What making the records even found."""

    rows: int = 0
    short_rows: int = 0
    long_lines: list[int] = field(default_factory=list)


def normalise(source: Source, dialect: Dialect, out: Path) -> Normalised:
    """Write the records below the header to `out`, short ones filled up (F25.4).

    Raises:
        FormatError: `ragged_rows`, when records have too many fields or a quote stays open;
            `too_large`.
    """
    found = Normalised()
    width = dialect.columns
    with out.open("w", encoding="utf-8", newline="") as target:
        for line, fields in _records(source, dialect):
            if len(fields) > width:
                found.long_lines.append(line)
                if len(found.long_lines) == LONG_ROWS_NAMED:
                    break
            found.short_rows += len(fields) < width
            found.rows += 1
            record = line_of([*fields, *[""] * (width - len(fields))])
            if len(record) * 4 > LINE_MAX_BYTES and len(record.encode()) > LINE_MAX_BYTES:
                raise fail("too_large", f"the record in line {line} is longer than 8 MiB")
            target.write(record)
    if found.long_lines:
        lines = ", ".join(map(str, found.long_lines))
        raise fail(
            "ragged_rows",
            f"records have more than {width} fields, first in line {found.long_lines[0]}",
            detail=f"lines {lines}",
            hints=[f"line {line}" for line in found.long_lines],
        )
    return found


def line_of(values: Iterable[str | None]) -> str:
    """Return a record that DuckDB reads back exactly; nothing and the empty text are both null."""
    fields = ['"' + value.replace('"', '""') + '"' if value else "" for value in values]
    return (",".join(fields) or '""') + "\n"  # an empty line would be no row


def _records(source: Source, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    with open_text(source, dialect.encoding) as file:
        lines = chain(file, [_END + "\n"])
        reader = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote)
        line, is_header, ended = 1, dialect.has_header, False
        for fields in reader:
            ended = fields == [_END]
            if fields and not ended:
                if not is_header:
                    yield line, fields
                is_header = False
            start, line = line, reader.line_num + 1
        if not ended:
            message = f"a quote that opens in line {start} is never closed"
            raise fail("ragged_rows", message, detail=f"line {start}", hints=[f"line {start}"])
