"""Takes in a delimited file: dialect and names from its start, types from all rows (F25.3)."""

from __future__ import annotations

import codecs
import tempfile
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
from ..text.dialect_wish import ANY, DialectWish
from ..text.encoding import Encoding
from ..text.rows import Rows
from ..warning import Warnings
from . import engine, infer
from .load import Loaded, NotEven, Text, load
from .names import column_names
from .stage import check_columns, stage
from .table import Column, Shape

SAMPLE_ROWS = 2_000  # to guess types from; what they are is decided by all rows
SAMPLE_CELLS = 200_000  # of a wide table fewer rows do
_HEAD_BYTES = numbers.MIB


def take_in(source: Source, out: Path, wish: DialectWish = ANY) -> Shape:
    """Build the table file of a delimited source at `out`, read as `wish` says.

    Raises:
        FormatError: `unsupported_format`, `bad_encoding`, `too_large`, `timeout`, `memory_limit` …
    """
    warnings = Warnings()
    if kind_of_name(source.name) is not Kind.CSV:
        if wish.delimiter is None:
            _check_tabular(source)
        warnings.add("format_inferred")
    try:
        with tempfile.TemporaryDirectory(prefix="stage-", dir=out.parent) as scratch:
            return _Intake(source, out, wish, Path(scratch), warnings).run()
    except OSError as error:
        if error.errno in NO_SPACE:
            raise fail("disk_full", "there is no room for the table on the disk") from error
        raise


class _Intake:
    """One file on its way in."""

    def __init__(
        self, source: Source, out: Path, wish: DialectWish, scratch: Path, warnings: Warnings
    ) -> None:
        self._source = source
        self._out = out
        self._wish = wish
        self._scratch = scratch
        self._warnings = warnings

    def run(self) -> Shape:
        try:
            dialect = dialects.sniff(self._source, _likely_encoding(self._source), self._wish)
            check_columns(dialect.columns)
            if not dialect.columns:
                return self._empty(dialect)
            return self._load(self._as_it_is(dialect), dialect, dialect.columns)
        except (NotEven, UnicodeDecodeError):  # the encoding was only likely
            self._out.unlink(missing_ok=True)
        return self._made_even(dialects.sniff(self._source, wish=self._wish))

    def _as_it_is(self, dialect: Dialect) -> Text:
        """Return the file for DuckDB, in UTF-8; what is sure to be refused is refused here."""
        if not dialect.is_even:
            raise NotEven("some records are not as DuckDB wants them")
        path = self._source.path
        if dialect.encoding.name != "utf-8" or dialect.encoding.mark or dialect.skip:
            path = self._scratch / "utf8.csv"
            encodings.transcode(self._source, dialect.encoding, path, dialect.skip)
        return Text(
            path=path,
            delimiter=dialect.grammar.delimiter,
            quote=dialect.grammar.quote,
            has_header=dialect.has_header,
            ends=None,
        )

    def _made_even(self, dialect: Dialect) -> Shape:
        """Take in the file as our own reader writes it again."""
        even = self._scratch / "even.csv"
        found = stage(self._source, dialect, even)
        told = (
            ("short_rows", found.short),
            ("long_rows", found.long),
            ("rows_repaired", found.repaired),
            ("footer_skipped", found.notes),
        )
        for code, lines in told:
            if lines.count:
                self._warnings.add(code, lines.count, lines.where)
        text = Text(
            path=even,
            delimiter=found.delimiter,
            quote=found.quote,
            is_even=not found.long.count,
            has_breaks=found.has_breaks,
        )
        try:
            return self._load(text, dialect, found.columns)
        except NotEven as error:
            message = "the file cannot be read as a table"
            raise fail("corrupt_file", message, detail=str(error)) from error

    def _load(self, text: Text, dialect: Dialect, columns: int) -> Shape:
        headers: list[str | None] = [*dialect.names]
        headers += [None] * (columns - len(headers))
        rows = iter(Rows(self._source, dialect))
        most = min(SAMPLE_ROWS, max(SAMPLE_CELLS // columns, 1))
        sample = [record.fields for record in islice(rows, most)]
        names = column_names(headers)
        guesses = [
            infer.guess(fields[at] for fields in sample if at < len(fields))
            for at in range(columns)
        ]
        is_sure = next(rows, None) is None
        loaded = load(text, self._out, names, guesses, self._source.limits, is_sure=is_sure)
        if loaded.rows < len(sample) or (is_sure and loaded.rows > len(sample)):
            raise NotEven("DuckDB reads other rows")  # as it does where line ends are mixed
        return self._shape(dialect, headers, names, loaded)

    def _shape(
        self,
        dialect: Dialect,
        headers: list[str | None],
        names: list[str],
        loaded: Loaded,
    ) -> Shape:
        if dialect.encoding.guessed:
            self._warnings.add("encoding_guessed")
        if dialect.skip and "skip" not in dialect.given:
            where = f"lines 1-{dialect.skip}" if dialect.skip > 1 else "line 1"
            self._warnings.add("preamble_skipped", dialect.skip, where)
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
            quote_char=dialect.grammar.quote or None,
            encoding=dialect.encoding.name,
            encoding_confidence=dialect.encoding.confidence,
            dialect=dialect.told,
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
