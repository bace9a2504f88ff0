"""The rows of a delimited file, without the lines above its table and the notes below (F25.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ..protocol import Source
from .dialect import Dialect, sniff_lines
from .encoding import open_text
from .record import Record, read_records

_MOST_NOTES = 50  # records below a table
_LETTER = re.compile(r"[^\W\d_]")
_RULE = re.compile(r"[#*=_-]{3,}")  # a line drawn with signs; fewer are a value, as - and * are
_COUNT = re.compile(r"\(\d[\d., ]* rows?( affected)?\)", re.I)  # as databases print it


def uneven_rows(lines: list[str], ending: str) -> int:
    """Return how many rows of a table have not as many fields as the others, or damaged ones."""
    dialect = sniff_lines(lines, ending)
    rows = _TextRows(lines, dialect)
    return sum(len(row.fields) != dialect.columns or row.is_repaired for row in rows)


class _TextRows:
    """The data rows in lines; the `notes` below them are known when all have been read."""

    def __init__(self, lines: Iterable[str], dialect: Dialect) -> None:
        self._lines = lines
        self._dialect = dialect
        self.notes: list[Record] = []

    def __iter__(self) -> Iterator[Record]:
        dialect = self._dialect
        lines = islice(self._lines, dialect.skip, None)
        found = read_records(lines, dialect.grammar, dialect.width, dialect.skip + 1)
        return islice(self._above_notes(found), dialect.header, None)

    def _above_notes(self, records: Iterator[Record]) -> Iterator[Record]:
        """Yield records that are not blank; those that could be notes wait for what follows."""
        width = self._dialect.width
        held: list[Record] = []
        is_blank = has_short = False
        for record in records:
            if not record.fields:
                is_blank = True
            elif len(record.fields) == width and not held:
                yield record
                is_blank = False
            elif _is_note(record, width, is_blank, has_short) and len(held) < _MOST_NOTES:
                held.append(record)
            else:
                yield from held
                yield record
                has_short = has_short or bool(held) or len(record.fields) < width
                held, is_blank = [], False
        self.notes = held


class Rows:
    """The data rows of a file; the `notes` below them are known when all have been read."""

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self._source = source
        self._dialect = dialect
        self.notes: list[Record] = []

    def __iter__(self) -> Iterator[Record]:
        with open_text(self._source, self._dialect.encoding) as file:
            rows = _TextRows(file, self._dialect)
            yield from rows
            self.notes = rows.notes


def _is_note(record: Record, width: int, is_below_blank: bool, has_short: bool) -> bool:
    """Whether a record is words below a table: one field, where the others have several.

    Without a blank line above them they must read like words, in a table whose rows are complete.
    """
    filled = [at for at, field in enumerate(record.fields) if field.strip()]
    if width < 2 or len(record.fields) >= width or filled != [0]:
        return False
    if is_below_blank or _COUNT.fullmatch(record.fields[0].strip()):
        return True
    return width > 2 and not has_short and _reads_like_words(record.fields[0].strip())


def _reads_like_words(text: str) -> bool:
    if not _LETTER.search(text):
        return _RULE.fullmatch(text) is not None
    return text[0] in "#(*=-" or " " in text or ":" in text
