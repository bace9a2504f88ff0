"""A delimited file made ready for DuckDB: in UTF-8, every record well written (F25.4).

Most files are ready as they are. DuckDB reads strictly and refuses the others; those are read here
by our own reader, which repairs single records and can say what is wrong in which line. Records
that are well written are copied, so that one that is not costs little.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from backshop.base import limits as numbers

from ..errors import fail
from ..protocol import Source
from ..text.dialect import Dialect
from ..text.record import Record, Splitter
from ..text.rows import Rows

LINES_NAMED = 5  # F25.4
LINE_MAX_BYTES = 8 * numbers.MIB  # of one record; DuckDB reserves buffers by it
_SURE_CHARS = LINE_MAX_BYTES // 4  # no shorter text has more bytes


@dataclass(slots=True)
class Lines:
    """How many records something is true of, and where the first of them begin."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        """Note one more."""
        self.count += 1
        if len(self.first) < LINES_NAMED:
            self.first.append(line)

    @property
    def where(self) -> str:
        """The first of them in words."""
        more = ", …" if self.count > len(self.first) else ""
        word = "line" if self.count == 1 else "lines"
        return f"{word} {', '.join(map(str, self.first))}{more}"


@dataclass(slots=True)
class Staged:
    """What making the records ready found, and how they are written now."""

    columns: int
    delimiter: str
    quote: str
    short: Lines = field(default_factory=Lines)
    long: Lines = field(default_factory=Lines)
    repaired: Lines = field(default_factory=Lines)
    notes: Lines = field(default_factory=Lines)
    has_breaks: bool = False  # of lines, inside fields


def stage(source: Source, dialect: Dialect, out: Path) -> Staged:
    """Write the records below the header to `out`, short ones filled up (F25.4).

    Raises:
        FormatError: `too_large`.
    """
    return _Stage(source, dialect).write(out)


class _Stage:
    def __init__(self, source: Source, dialect: Dialect) -> None:
        grammar = dialect.grammar
        self._rows = Rows(source, dialect)
        self._columns = dialect.columns
        delimiter = grammar.delimiter if len(grammar.delimiter) == 1 else ","
        quote = grammar.quote or '"'
        self._copies = grammar.is_common and bool(grammar.quote)
        self._splitter = Splitter(grammar)
        self._found = Staged(dialect.columns, delimiter, quote)

    def write(self, out: Path) -> Staged:
        found, columns = self._found, self._columns
        quote, copies = found.quote, self._copies
        with out.open("w", encoding="utf-8", newline="") as target:
            for record in self._rows:
                text = record.text
                is_usual = len(record.fields) == columns and not record.is_repaired
                if copies and is_usual and len(text) < _SURE_CHARS and quote not in text:
                    target.write(text.rstrip("\r\n") + "\n")
                else:
                    target.write(self._line(record))
        for record in self._rows.notes:
            found.notes.add(record.line)
        return found

    def _line(self, record: Record) -> str:
        """Return a record as DuckDB can read it, and note what is odd about it."""
        found, fields = self._found, record.fields
        fields = self._within(record.line, fields)
        missing = self._columns - len(fields)
        if missing > 0:
            found.short.add(record.line)
        if record.is_repaired:
            found.repaired.add(record.line)
        elif self._copies and len(fields) == len(record.fields):
            bare = record.text.rstrip("\r\n")
            if self._splitter.is_well_written(bare):
                found.has_breaks = found.has_breaks or "\n" in bare or "\r" in bare
                return self._checked(record.line, bare + found.delimiter * missing + "\n")
        found.has_breaks = True
        line = line_of([*fields, *[""] * missing], found.delimiter, found.quote)
        return self._checked(record.line, line)

    def _within(self, line: int, fields: list[str]) -> list[str]:
        """Return the fields without empty ones behind the columns; others make columns."""
        found, columns = self._found, self._columns
        if len(fields) <= columns:
            return fields
        end = len(fields)
        while end > columns and not fields[end - 1]:
            end -= 1
        if end > columns:
            found.long.add(line)
            found.columns = max(found.columns, end)
            check_columns(found.columns)
        return fields[:end]

    def _checked(self, line: int, text: str) -> str:
        if len(text) > _SURE_CHARS and len(text.encode()) > LINE_MAX_BYTES:
            raise fail("too_large", f"the record in line {line} is longer than 8 MiB")
        return text


def check_columns(count: int) -> None:
    """Refuse a table that is wider than any sheet."""
    if count > numbers.SHEET_MAX_COLUMNS:
        message = f"a table has at most {numbers.SHEET_MAX_COLUMNS} columns, this one {count}"
        raise fail("too_large", message, hints=["read it by lines"])


def line_of(values: Iterable[str | None], delimiter: str = ",", quote: str = '"') -> str:
    """Return a record that DuckDB reads back exactly; nothing and the empty text are both null."""
    fields = [quote + v.replace(quote, quote + quote) + quote if v else "" for v in values]
    return (delimiter.join(fields) or quote + quote) + "\n"  # an empty line would be no row
