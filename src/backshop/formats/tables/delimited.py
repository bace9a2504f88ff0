"""Takes in a delimited file: dialect and names from its start, types from all rows (F25.3)."""

from __future__ import annotations

import codecs
import tempfile
from dataclasses import replace
from itertools import islice
from pathlib import Path

from backshop.base import limits as numbers

from ..errors import fail
from ..kind import kind_of_name
from ..output import NO_SPACE
from ..protocol import Kind, Source
from ..text import dialect as dialects
from ..text import encoding as encodings
from ..text.dialect import Dialect
from ..text.encoding import Encoding
from ..warning import Warnings
from . import engine, infer, stage
from .load import Loaded, NotEven, Text, load
from .names import column_names
from .table import Column, Shape

SAMPLE_ROWS = 2_000  # to guess types from; what they are is decided by all rows
_HEAD_BYTES = numbers.MIB


def take_in(source: Source, out: Path, header_row: int | None) -> Shape:
    """Build the table file of a delimited source at `out`.

    `header_row` is None to find out, 0 for none, 1 for the first record.

    Raises:
        FormatError: `ragged_rows`, `unsupported_format`, `too_large`, `timeout`, `memory_limit` …
    """
    warnings = Warnings()
    if kind_of_name(source.name) is not Kind.CSV:
        _check_tabular(source)
        warnings.add("format_inferred")
    first = _likely_encoding(source)
    try:
        with tempfile.TemporaryDirectory(prefix="stage-", dir=out.parent) as scratch:
            return _Intake(source, out, header_row, Path(scratch), warnings).run(first)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise fail("disk_full", "there is no room for the table on the disk") from error
        raise


class _Intake:
    """One file on its way in."""

    def __init__(
        self,
        source: Source,
        out: Path,
        header_row: int | None,
        scratch: Path,
        warnings: Warnings,
    ) -> None:
        self._source = source
        self._out = out
        self._header_row = header_row
        self._scratch = scratch
        self._warnings = warnings

    def run(self, encoding: Encoding) -> Shape:
        dialect = self._dialect(encoding)
        if not dialect.columns:
            return self._empty(dialect)
        try:
            return self._load(self._as_it_is(dialect), dialect)
        except NotEven:
            dialect = self._dialect(encodings.detect(self._source))
        self._out.unlink(missing_ok=True)
        even = self._scratch / "even.csv"
        found = stage.normalise(self._source, dialect, even)
        if found.short_rows:
            self._warnings.add("short_rows", found.short_rows)
        text = Text(path=even)
        try:
            return self._load(text, dialect)
        except NotEven as error:
            message = "the file cannot be read as a table"
            raise fail("corrupt_file", message, detail=str(error)) from error

    def _dialect(self, encoding: Encoding) -> Dialect:
        found = dialects.sniff(self._source, encoding)
        if self._header_row is None:
            return found
        if self._header_row not in (0, 1):
            raise fail("bad_value", "the header of a delimited file is its first record, or none")
        return replace(found, has_header=self._header_row == 1)

    def _as_it_is(self, dialect: Dialect) -> Text:
        """Return the file for DuckDB, in UTF-8; what is sure to be refused is refused here."""
        with self._source.path.open("rb") as file:
            begins_blank = file.read(1) in (b"\n", b"\r")
        if dialect.columns == 1 or begins_blank:
            raise NotEven("lines without fields are rows to DuckDB")
        path = self._source.path
        if dialect.encoding.name != "utf-8" or dialect.encoding.mark:
            path = self._scratch / "utf8.csv"
            encodings.transcode(self._source, dialect.encoding, path)
        return Text(
            path=path,
            delimiter=dialect.delimiter,
            quote=dialect.quote,
            has_header=dialect.has_header,
            ends=None,
        )

    def _load(self, text: Text, dialect: Dialect) -> Shape:
        rows = dialects.records(self._source, dialect)
        headers: list[str | None] = [None] * dialect.columns
        if dialect.has_header:
            headers = [*next(rows)[1]]
        sample = [fields for _, fields in islice(rows, SAMPLE_ROWS)]
        names = column_names(headers)
        guesses = [
            infer.guess(fields[at] for fields in sample if at < len(fields))
            for at in range(dialect.columns)
        ]
        loaded = load(text, self._out, names, guesses, self._source.limits)
        return self._shape(dialect, headers, names, loaded)

    def _shape(
        self, dialect: Dialect, headers: list[str | None], names: list[str], loaded: Loaded
    ) -> Shape:
        if dialect.encoding.guessed:
            self._warnings.add("encoding_guessed")
        for at in loaded.commas:
            self._warnings.add("decimal_comma", where=names[at])
        for at in loaded.ambiguous:
            self._warnings.add("ambiguous_dates", where=names[at])
        columns = [
            Column(name=name, source_name=header or None, type=kind.name)
            for name, header, kind in zip(names, headers, loaded.kinds, strict=True)
        ]
        return Shape(
            format="csv",
            row_count=loaded.rows,
            columns=tuple(columns),
            has_header=dialect.has_header,
            delimiter=dialect.delimiter,
            quote_char=dialect.quote,
            encoding=dialect.encoding.name,
            encoding_confidence=dialect.encoding.confidence,
            warnings=self._warnings.all(),
            hints=tuple(infer.cast_hint(engine.identifier(names[at])) for at in loaded.commas),
        )

    def _empty(self, dialect: Dialect) -> Shape:
        """A file without a record: SQL needs a column to stand on, the map has none."""
        empty = self._scratch / "empty.csv"
        empty.touch()
        text = Text(path=empty)
        load(text, self._out, ["column_1"], [infer.Guess(infer.TEXT)], self._source.limits)
        return self._shape(dialect, [], [], Loaded(rows=0, kinds=()))


def _check_tabular(source: Source) -> None:
    """Refuse a text file that does not look like a table (F2.3)."""
    if dialects.tabular(source, encodings.detect(source)) is None:
        raise fail("unsupported_format", f"{source.name} does not look like a table")


def _likely_encoding(source: Source) -> Encoding:
    """Return UTF-8 when the file begins so: DuckDB looks at every byte of the rest anyway."""
    with source.path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    decoder = codecs.getincrementaldecoder("utf-8")()
    marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    marked = head.startswith(marks) or b"\0" in head
    try:
        decoder.decode(head, final=len(head) < _HEAD_BYTES)
    except UnicodeDecodeError:
        return encodings.detect(source)
    return encodings.detect(source) if marked else encodings.UTF8
