"""Records of a delimited text: strict where it is well written, forgiving where one is not (F25.4).

A record that its quotes make impossible costs no other record: it is read on its own, with the
quotes taken as letters that give it the width of the table.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice
from typing import NamedTuple

from backshop.base import limits as numbers

from .value import is_value

RECORD_MAX_CHARS = 8 * numbers.MIB  # what stands in quotes over lines beyond that has no end
OTHER_DELIMITERS = (";", ",", "\t", "|", " ")
_LETTERS = 40  # quotes of one record that are tried as letters
_TRIED_CHARS = 1_000_000  # of one record read again and again; of a long one fewer are tried
_FEW_LINES = 50  # of a record that is taken whole although its width is another
_CLOSINGS = 64  # lines of one record on which quotes may close and open again
csv.field_size_limit(numbers.TEXT_HARD_MAX_BYTES)  # one field may be as long as a file


@dataclass(frozen=True, slots=True)
class Grammar:
    """What parts the fields of a record and what holds one together.

    `trims` leaves out the spaces around a delimiter: with a space as delimiter, a run of them is
    one. `quote` is empty where nothing is quoted, `escape` where a quote in quotes is doubled.
    """

    delimiter: str
    quote: str = '"'
    escape: str = ""
    trims: bool = False

    @property
    def is_common(self) -> bool:
        """Whether the parser of the standard library and DuckDB read it alike."""
        return len(self.delimiter) == 1 and not self.escape and not self.trims

    @property
    def spelled(self) -> str:
        """The delimiter as a person is told it: with a space behind it where spaces go along."""
        return self.delimiter + " " if self.trims else self.delimiter


class Record(NamedTuple):
    """One record; a tuple, because there are millions of them."""

    line: int  # where it begins, counted from 1
    text: str  # as it is written, line ends included
    fields: list[str]
    is_repaired: bool = False
    is_open: bool = False  # a quote is not closed: what follows decides how it is read

    @property
    def is_blank(self) -> bool:
        """Whether the line holds nothing."""
        return not self.fields


class Flaw(Enum):
    """Why a text is no well-written record."""

    OPEN = "a quote is not closed"
    BROKEN = "letters follow a closing quote"


class _Feed:
    """Gives one text at a time to the parser of the standard library."""

    def __init__(self) -> None:
        self.text: str | None = None

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        text, self.text = self.text, None
        if text is None:
            raise StopIteration
        return text


class Splitter:
    """Splits the text of a record into fields."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        delimiter, quote = re.escape(grammar.delimiter), re.escape(grammar.quote)
        spaces = " *" if grammar.trims else ""
        is_run = grammar.trims and grammar.delimiter == " "
        between = " +" if is_run else spaces + delimiter + spaces
        skipped = re.escape(grammar.escape) + r"(?s:.)|" if grammar.escape else ""
        self._stop = re.compile(f"{skipped}(?P<end>{delimiter})")
        self._after = re.compile(delimiter + " *")
        self._between = re.compile(between)
        self._closed = re.compile(rf"{spaces}(?:\Z|(?={delimiter}))")
        self._closed_loosely = re.compile(rf" *(?:\Z|(?={delimiter}))")
        self._opened_loosely = re.compile(rf" +(?={quote})") if quote else None
        self._paired = re.compile(f"{skipped}{quote}{quote}|(?P<end>{quote})")
        self._single = re.compile(f"{skipped}(?P<end>{quote})")
        marks = "|".join(re.escape(mark) for mark in (grammar.quote, grammar.delimiter) if mark)
        escape = re.escape(grammar.escape)
        self._escaped = re.compile(f"{escape}({escape}|{marks})")
        self._feed = _Feed()
        self._parser = self._well = None
        if grammar.is_common and quote:
            one = rf"(?:{quote}(?:[^{quote}]++|{quote}{quote})*+{quote}|[^{quote}{delimiter}]*+)"
            self._well = re.compile(rf"{one}(?:{delimiter}{one})*+")
        self._is_spaced = re.compile(rf" (?:{delimiter}|\Z)") if grammar.trims else None
        is_single = len(grammar.delimiter) == 1 and not is_run
        if is_single and quote and not grammar.escape:
            self._parser = csv.reader(
                self._feed,
                delimiter=grammar.delimiter,
                quotechar=grammar.quote,
                skipinitialspace=grammar.trims,
                strict=True,
            )

    def is_well_written(self, text: str) -> bool:
        """Whether quotes stand only around whole fields, or doubled in them."""
        return self._well is not None and self._well.fullmatch(text) is not None

    def plain(self, text: str) -> list[str]:
        """Split a text in which only delimiters count."""
        delimiter = self.grammar.delimiter
        if not self.grammar.trims:
            return text.split(delimiter)
        if delimiter == " ":
            return [field for field in text.split(" ") if field]
        return [field.strip(" ") for field in text.split(delimiter)]

    def strict(self, text: str) -> list[str] | Flaw:
        """Split a text as the rules want it, or say what is wrong with it."""
        if self._parser is not None and not (self._is_spaced and self._is_spaced.search(text)):
            self._feed.text = text
            try:
                return next(self._parser)
            except (csv.Error, StopIteration):
                self._feed.text = None
        return self._scan(text)

    def repaired(self, text: str, width: int | None) -> list[str]:
        """Split a text that breaks the rules, as few quotes as possible taken as letters."""
        best: list[str] | None = None
        for fields in self._readings(text):
            if width is None or len(fields) == width:
                return fields
            best = best or fields
        return best or self.plain(text)

    def _readings(self, text: str) -> Iterator[list[str]]:
        """Yield what a text could mean, the likeliest first."""
        most = 1 + min(_LETTERS, _TRIED_CHARS // max(len(text), 1))
        openings = list(islice(self._openings(text), most))
        others = [at for at in islice(self._quotes(text), most) if at not in openings]
        for is_paired in (True, False):
            for letter in (-1, *openings, *others):
                fields = self._scan(text, letter, is_paired=is_paired, is_lenient=True)
                if isinstance(fields, list):
                    yield fields
        yield self.plain(text)

    def _openings(self, text: str) -> Iterator[int]:
        """Yield the places of quotes that stand where a field begins."""
        start = len(text) - len(text.lstrip(" "))
        starts = chain([start], (match.end() for match in self._after.finditer(text)))
        quote = self.grammar.quote
        return (at for at in starts if text.startswith(quote, at))

    def _quotes(self, text: str) -> Iterator[int]:
        return (match.start() for match in self._single.finditer(text) if match.lastgroup)

    def _scan(
        self, text: str, letter: int = -1, *, is_paired: bool = True, is_lenient: bool = False
    ) -> list[str] | Flaw:
        """Split a text field by field; the quote at `letter` is a letter.

        Lenient, a quoted field ends only where a delimiter or the record does, other quotes in it
        are letters, and spaces may stand around its quotes.
        """
        trims, quote = self.grammar.trims, self.grammar.quote
        at, end = 0, len(text)
        if trims:
            at, end = len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))
        fields: list[str] = []
        while True:
            if (
                is_lenient
                and self._opened_loosely
                and (found := self._opened_loosely.match(text, at))
            ):
                at = at if found.end() == letter else found.end()
            if quote and text.startswith(quote, at) and at != letter:
                closed = self._closing(text, at + 1, end, letter, is_paired, is_lenient)
                if isinstance(closed, Flaw):
                    return closed
                fields.append(self._unquoted(text[at + 1 : closed], is_paired))
                at = closed + 1
                if is_lenient and (found := self._closed_loosely.match(text, at, end)):
                    at = found.end()
            else:
                stop = self._end_of_plain(text, at, end)
                written = text[at:stop].rstrip(" ") if trims else text[at:stop]
                fields.append(self._unescaped(written))
                at = stop
            found = self._between.match(text, at, end)
            if found is None or found.end() == at:
                return fields
            at = found.end()

    def _closing(
        self, text: str, at: int, end: int, letter: int, is_paired: bool, is_lenient: bool
    ) -> int | Flaw:
        """Return the place of the quote that closes a field."""
        quote, after = self.grammar.quote, at
        for match in self._single.finditer(text, at, end):
            found = match.start()
            if match.lastgroup is None or found < after or found == letter:
                continue
            if is_paired and text.startswith(quote, found + 1):
                after = found + 2
            elif (self._closed_loosely if is_lenient else self._closed).match(text, found + 1, end):
                return found
            elif not is_lenient:
                return Flaw.BROKEN
        return Flaw.OPEN

    def _end_of_plain(self, text: str, at: int, end: int) -> int:
        for match in self._stop.finditer(text, at, end):
            if match.lastgroup is not None:
                return match.start()
        return end

    def _unquoted(self, text: str, is_paired: bool) -> str:
        quote = self.grammar.quote
        if is_paired and quote in text:
            text = text.replace(quote + quote, quote)
        return self._unescaped(text)

    def _unescaped(self, text: str) -> str:
        if not self.grammar.escape or self.grammar.escape not in text:
            return text
        return self._escaped.sub(r"\1", text)

    def goes_on(self, line: str) -> bool:
        """Whether a line that begins inside quotes has none that could close them."""
        return not any(match.lastgroup for match in self._paired.finditer(line))


def read_records(
    lines: Iterable[str],
    grammar: Grammar,
    width: int | None = None,
    first: int = 1,
    *,
    is_cut: bool = False,
) -> Iterator[Record]:
    """Yield the records of lines with their ends, blank ones too; `first` is the first's number.

    `width` is the number of fields a record has when all is well, None where that is not known.
    Lines that are cut go on: a record whose quotes are not closed in them is not yielded.
    """
    return _Reader(lines, grammar, width, first, is_cut=is_cut).records()


class _Reader:
    """Reads records one after another, looking ahead where quotes go on over lines."""

    def __init__(
        self,
        lines: Iterable[str],
        grammar: Grammar,
        width: int | None,
        first: int,
        *,
        is_cut: bool,
    ) -> None:
        self._is_cut = is_cut
        self._rests_until = 0  # a line before which looking ahead was in vain too often
        self._lines = iter(lines)
        self._ahead: deque[str] = deque()
        self._splitter = Splitter(grammar)
        self._others: dict[str, Splitter] = {}
        self._grammar = grammar
        self._width = width
        self._first = first
        self._is_inside = False  # a usual record stood above, with no blank line since

    def records(self) -> Iterator[Record]:
        """Yield them all; what most lines need stands in the loop itself, for speed."""
        grammar, ahead, lines = self._grammar, self._ahead, self._lines
        quote, escape, delimiter = grammar.quote, grammar.escape, grammar.delimiter
        line, width, strict = self._first, self._width or 0, self._splitter.strict
        while True:
            text = ahead.popleft() if ahead else next(lines, None)
            if text is None:
                return
            bare = text.rstrip("\r\n")
            if (quote and quote in bare) or (escape and escape in bare):
                parsed = strict(bare)
                if isinstance(parsed, list) and len(parsed) == width:
                    self._is_inside = True
                    yield Record(line, text, parsed)
                    line += 1
                else:
                    record, count = self._careful(line, text, bare, parsed)
                    if not count:
                        return
                    yield record
                    line += count
                continue
            fields = self._splitter.plain(bare) if grammar.trims else bare.split(delimiter)
            if len(fields) == width and width > 1:
                self._is_inside = True
                yield Record(line, text, fields)
            elif bare.strip(" "):
                yield self._odd(line, text, bare, fields)
            else:
                self._is_inside = False
                yield Record(line, text, [])
            line += 1

    def _odd(self, line: int, text: str, bare: str, fields: list[str]) -> Record:
        """Return a record, which another delimiter may part better where it is too short."""
        other = self._in_another_way(bare, len(fields))
        return Record(line, text, other or fields, is_repaired=other is not None)

    def _careful(
        self, line: int, text: str, bare: str, fields: list[str] | Flaw
    ) -> tuple[Record, int]:
        """Return a record in which quotes count and something is odd, and its number of lines.

        No lines mean that it goes on behind the last one there is.
        """
        if isinstance(fields, list):
            if len(fields) != self._width and not self._splitter.is_well_written(bare):
                found = self._splitter.repaired(bare, self._width)
                if len(found) == self._width:
                    return Record(line, text, found, is_repaired=True), 1
            return self._odd(line, text, bare, fields), 1
        is_open = fields is Flaw.OPEN
        over = self._over_lines(line, text) if is_open and line >= self._rests_until else None
        if over is not None and not over[1]:
            return over
        alone = Record(line, text, self._splitter.repaired(bare, self._width), True, is_open)
        if over is not None:
            record, count = over
            is_sure = len(record.fields) == self._width or count <= _FEW_LINES
            if is_sure or len(alone.fields) != self._width:
                for _ in range(count - 1):
                    self._ahead.popleft()
                return over
        return alone, 1

    def _over_lines(self, line: int, text: str) -> tuple[Record, int] | None:
        """Return a record whose quotes are closed well in a later line, and its number of lines."""
        taken, size, closings = [text], len(text), 0
        for more in chain(self._ahead, self._pulled()):
            taken.append(more)
            size += len(more)
            if size > RECORD_MAX_CHARS or closings == _CLOSINGS:
                self._rests_until = line + len(taken)
                return None
            if self._splitter.goes_on(more):
                continue
            closings += 1
            whole = "".join(taken)
            fields = self._splitter.strict(whole.rstrip("\r\n"))
            if isinstance(fields, list):
                return Record(line, whole, fields), len(taken)
            if fields is Flaw.BROKEN:
                return None
        return (Record(line, text, []), 0) if self._is_cut else None

    def _pulled(self) -> Iterator[str]:
        """Yield further lines, which stay ahead."""
        for text in self._lines:
            self._ahead.append(text)
            yield text

    def _in_another_way(self, bare: str, found: int) -> list[str] | None:
        """Return the fields of a short record that another delimiter parts into just the width."""
        width = self._width
        if width is None or width < 3 or found >= width or not self._is_inside:
            return None
        for delimiter in OTHER_DELIMITERS:
            if delimiter == self._grammar.delimiter or bare.count(delimiter) < width - 1:
                continue
            if delimiter not in self._others:
                self._others[delimiter] = Splitter(Grammar(delimiter, self._grammar.quote))
            fields = self._others[delimiter].strict(bare)
            if isinstance(fields, list) and len(fields) == width:
                is_likely = delimiter != " " or 2 * sum(map(is_value, fields)) >= width
                if is_likely:
                    return fields
        return None
