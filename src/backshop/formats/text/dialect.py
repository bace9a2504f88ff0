"""How a delimited file is written, decided once for everybody who reads it (F25.3, F25.7).

`sniff` decides from the start of a file and from what the caller knows; `rows` reads by that
decision. The table tools, reads, reviews and places all take it from here.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, islice
from typing import IO

from backshop.base import limits as numbers

from ..errors import fail
from ..protocol import JsonObject, Source
from .candidate import best_candidate, usual_width
from .dialect_wish import ANY, FIELDS, DialectWish
from .encoding import UTF8, Encoding, decodes, detect, mark_of, open_text
from .heading import Heading, find_heading, names_of
from .record import RECORD_MAX_CHARS, Grammar, Record, read_records

_SAMPLE_CHARS = 256 * numbers.KIB
_SAMPLE_RECORDS = 20_000
_AGREE = 0.95
_LEAST_LINES = 5  # of a text that is taken for a table (F2.3)
_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR = re.compile(r'"?sep=([^\s"]|\t)"?', re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How to read a delimited file."""

    encoding: Encoding
    grammar: Grammar
    skip: int = 0  # lines above the table
    header: int = 0  # rows of names
    names: tuple[str, ...] = ()  # what they say, empty without them
    width: int  # fields of a usual record
    columns: int  # as many, or as many as are named
    confidence: float  # the share of records of the sample that are as they should be
    is_even: bool = False  # all of the sample is as it should be
    newline: str = "\n"
    given: tuple[str, ...] = ()

    @property
    def delimiter(self) -> str:
        """What parts fields, as a person is told it."""
        return self.grammar.spelled

    @property
    def has_header(self) -> bool:
        """Whether any row names the columns."""
        return self.header > 0

    @property
    def told(self) -> Told:
        """What a caller is told of it."""
        return Told(
            delimiter=self.grammar.spelled,
            quote=self.grammar.quote,
            escape=self.grammar.escape,
            skip=self.skip,
            header=self.header,
            encoding=self.encoding.name,
            confidence=self.confidence,
            given=self.given,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A dialect in the words in which a caller may give it back, and how sure it is."""

    delimiter: str
    quote: str
    escape: str
    skip: int
    header: int
    encoding: str
    confidence: float
    given: tuple[str, ...] = ()

    def to_json(self) -> JsonObject:
        """Return it as the map has it (F27.1)."""
        return {name: getattr(self, name) for name in (*FIELDS, "confidence", "given")}


def sniff(source: Source, encoding: Encoding | None = None, wish: DialectWish = ANY) -> Dialect:
    """Return the dialect of a file; reads its start, and all of it where no `encoding` is given.

    Raises:
        FormatError: `bad_encoding`, when the file is not in the encoding asked for.
    """
    encoding = _encoding(source, encoding, wish)
    with open_text(source, encoding) as file:
        lines = _sample(file, _SAMPLE_CHARS)
        is_cut = bool(file.read(1))
    found = sniff_lines(lines, source.extension, wish, is_cut=is_cut)
    return replace(found, encoding=encoding, given=tuple(wish.given))


def sniff_lines(
    lines: list[str], ending: str, wish: DialectWish = ANY, *, is_cut: bool = False
) -> Dialect:
    """Return the dialect of lines with their ends; `is_cut` says that more lines follow."""
    wish = _with_separator(wish, lines)
    skip = wish.skip or 0
    filled = list(dropwhile(str.isspace, lines[skip:]))
    found = best_candidate(filled, ending, wish, is_cut=is_cut)
    grammar, width = found.grammar, found.width
    records = _read(lines, grammar, width, skip, is_cut)
    heading = Heading(0, 0)
    if wish.skip is None or wish.header is None:
        heading = find_heading(records, width, wish.header, is_settled=wish.skip is not None)
    heading = Heading(
        heading.skip if wish.skip is None else wish.skip,
        heading.rows if wish.header is None else wish.header,
    )
    below = _width([record for record in records if record.line > heading.skip][heading.rows :])
    if below not in (0, width):
        width = below
        records = _read(lines, grammar, width, skip, is_cut)
    return _dialect(records, grammar, width, heading, lines)


def _dialect(
    records: list[Record], grammar: Grammar, width: int, heading: Heading, lines: list[str]
) -> Dialect:
    rows = [record for record in records if record.line > heading.skip and record.fields]
    top, data = rows[: heading.rows], rows[heading.rows :]
    columns = max([width, *(len(record.fields) for record in top)])
    good = sum(len(r.fields) == width and not r.is_repaired for r in data)
    is_even = grammar.is_common and width > 1 and good == len(data) and columns == width
    is_even = is_even and len(_ends(lines)) < 2 and bool(lines[0].strip())
    return Dialect(
        encoding=UTF8,
        grammar=grammar,
        skip=heading.skip,
        header=len(top),
        names=tuple(names_of([record.fields for record in top], columns)) if top else (),
        width=width,
        columns=columns if rows else 0,
        confidence=round(good / len(data), 4) if data else 1.0,
        is_even=is_even and len(top) < 2 and not any(record.is_repaired for record in top),
        newline=_newline(lines),
    )


def _ends(lines: list[str]) -> set[str]:
    """Return the ways in which lines end, those inside fields too."""
    return {end for line in lines for end in _END.findall(line[-2:])}


def _newline(lines: list[str]) -> str:
    end = _END.search(lines[0]) if lines else None
    return "\n" if end is None else end[0]


def _sample(file: IO[str], most_chars: int) -> list[str]:
    """Return whole lines from the start of a file: some that are filled, however long they are."""
    lines: list[str] = []
    size = filled = 0
    while line := file.readline(RECORD_MAX_CHARS):
        lines.append(line)
        size += len(line)
        filled += not line.isspace()
        if size >= most_chars and filled > 1:
            break
    return lines


def _read(
    lines: list[str], grammar: Grammar, width: int | None, skip: int, is_cut: bool
) -> list[Record]:
    found = read_records(lines[skip:], grammar, width, skip + 1, is_cut=is_cut)
    below = dropwhile(lambda record: not record.fields, found)
    return list(islice(below, _SAMPLE_RECORDS))


def _width(records: Sequence[Record]) -> int:
    return usual_width([len(record.fields) for record in records if record.fields])[0]


def _encoding(source: Source, encoding: Encoding | None, wish: DialectWish) -> Encoding:
    if wish.encoding is None:
        return encoding or detect(source)
    name = codecs.lookup(wish.encoding).name.removesuffix("-sig")
    mark = mark_of(source, name)
    if not decodes(source.path, name, len(mark)):
        raise fail("bad_encoding", f"the file is not written in {wish.encoding}")
    return Encoding(name, mark)


def _with_separator(wish: DialectWish, lines: list[str]) -> DialectWish:
    """Return the wish with what a first line `sep=;` says, as spreadsheets write it."""
    said = _SEPARATOR.fullmatch(lines[0].strip("\r\n")) if lines else None
    if said is None or wish.delimiter is not None or wish.skip is not None:
        return wish
    return replace(wish, delimiter=said[1], skip=1)


def tabular(source: Source, encoding: Encoding) -> tuple[str, float] | None:
    """Return (delimiter, share) when a plain text looks like a table (F2.3)."""
    with open_text(source, encoding) as file:
        return guess_tabular(_sample(file, numbers.CLASSIFY_HEAD_BYTES))


def guess_tabular(lines: list[str]) -> tuple[str, float] | None:
    """Return (delimiter, share) when the lines of a plain text look like a table (F2.3)."""
    filled = [line for line in lines if line.strip()]
    if len(filled) < _LEAST_LINES:
        return None
    found = sniff_lines(lines, "")
    if found.width < 2 or found.confidence < _AGREE:
        return None
    return found.delimiter, found.confidence
