"""How a delimited file is written: delimiter, quote, header; and its records (F25.3, F25.7).

`sniff` decides once per file; `records` parses exactly by that decision. Table tools that ingest
with another parser take the dialect from here and never sniff again.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import islice

from backshop.base import limits as numbers

from ..protocol import Source
from .encoding import Encoding, detect, open_text

DELIMITERS = (",", ";", "\t", "|", ":")
_OF_ENDING = {".csv": (",", ";"), ".tsv": ("\t",), ".psv": ("|",)}
_SAMPLE_CHARS = 256 * numbers.KIB
_AGREE = 0.95
_NUMBER = re.compile(r"[+-]?(\d[\d.,' ]*|\.\d+)([eE][+-]?\d+)?\s*%?")
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]\d{1,2}:\d{2}(:\d{2})?.*)?|\d{1,2}:\d{2}.*"
)
_YEAR = re.compile(r"(19|20)\d\d")
_BOOLEANS = frozenset({"true", "false"})
csv.field_size_limit(numbers.TEXT_HARD_MAX_BYTES)  # one field may be as long as a file


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How to read a delimited file; `confidence` is the share of records that agree."""

    encoding: Encoding
    delimiter: str
    quote: str = '"'
    has_header: bool
    columns: int  # fields of the first record
    confidence: float


def sniff(source: Source, encoding: Encoding | None = None) -> Dialect:
    """Return the dialect of a file; reads its start, and all of it where no `encoding` is given."""
    encoding = encoding or detect(source)
    with open_text(source, encoding) as file:
        sample = file.read(_SAMPLE_CHARS)
        cut = bool(file.read(1))
    ending = source.extension
    delimiter, confidence = _delimiter(sample, ending, cut=cut)
    whole = _sample_records(sample, delimiter, cut=cut)[:2]
    first = _first(source, encoding, delimiter) if cut and len(whole) < 2 else whole[:1]
    return Dialect(
        encoding=encoding,
        delimiter=delimiter,
        has_header=bool(first) and is_header(first[0]),
        columns=len(first[0]) if first else 0,
        confidence=confidence,
    )


def records(source: Source, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number where the record begins, fields); empty lines are no records."""
    with open_text(source, dialect.encoding) as file:
        reader = csv.reader(file, delimiter=dialect.delimiter, quotechar=dialect.quote)
        line = 1
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1


def tabular(source: Source, encoding: Encoding) -> tuple[str, float] | None:
    """Return what `guess_tabular` says of the start of a file."""
    with open_text(source, encoding) as file:
        sample = file.read(numbers.CLASSIFY_HEAD_BYTES)
        cut = bool(file.read(1))
    return guess_tabular("".join(_lines(sample, cut=cut)))


def guess_tabular(sample: str) -> tuple[str, float] | None:
    """Return (delimiter, share) when plain text looks like a table (F2.3)."""
    lines = [line for line in sample.splitlines() if line.strip()]
    if len(lines) < 5:
        return None
    best: tuple[float, int, str] = (0.0, 0, "")
    for delimiter in DELIMITERS:
        counts = Counter(line.count(delimiter) for line in lines)
        count, agreeing = counts.most_common(1)[0]
        if count >= 1:
            best = max(best, (agreeing / len(lines), -DELIMITERS.index(delimiter), delimiter))
    return (best[2], round(best[0], 4)) if best[0] >= _AGREE else None


def is_header(fields: list[str]) -> bool:
    """Tell column names from data: text in at least 60 % of the columns, nothing thrice, no values.

    Years count as names when a real name stands beside them.
    """
    filled = [field.strip() for field in fields if field.strip()]
    if not filled or len(filled) < 0.6 * len(fields):
        return False
    words = [field for field in filled if not _is_value(field)]
    rest = [field for field in filled if _is_value(field)]
    return (
        bool(words)
        and all(_YEAR.fullmatch(field) for field in rest)
        and max(Counter(filled).values()) <= 2
    )


def _is_value(field: str) -> bool:
    return bool(_NUMBER.fullmatch(field) or _DATE.fullmatch(field) or field.lower() in _BOOLEANS)


def _delimiter(sample: str, ending: str, *, cut: bool) -> tuple[str, float]:
    """Return the delimiter and the share of records with the same number of fields."""
    shares: dict[str, tuple[float, int]] = {}
    for delimiter in DELIMITERS:
        counts = Counter(len(r) for r in _sample_records(sample, delimiter, cut=cut))
        if counts:
            width, agreeing = max(counts.items(), key=lambda item: (item[1], item[0]))
            shares[delimiter] = (agreeing / counts.total(), width)
    expected = _OF_ENDING.get(ending, ())
    if not shares:
        return (expected or (",",))[0], 1.0
    several = {d: v for d, v in shares.items() if v[1] > 1}
    for group in ([d for d in expected if d in several], list(several)):
        best = max(group, key=lambda d: (several[d], -DELIMITERS.index(d)), default=None)
        if best is not None and several[best][0] >= _AGREE:
            return best, round(several[best][0], 4)
    named = [d for d in expected if d in sample]
    if named:  # ragged, but the name and the content agree about the delimiter
        return named[0], round(shares[named[0]][0], 4)
    if several and not expected:
        best = max(several, key=lambda d: several[d])
        return best, round(several[best][0], 4)
    default = (expected or (",",))[0]
    return default, round(shares[default][0], 4)


def _sample_records(sample: str, delimiter: str, *, cut: bool) -> list[list[str]]:
    reader = csv.reader(_lines(sample, cut=cut), delimiter=delimiter)
    return [fields for fields in islice(reader, 20_000) if fields]


def _first(source: Source, encoding: Encoding, delimiter: str) -> list[list[str]]:
    """Return the first record of a file, however long it is."""
    with open_text(source, encoding) as file:
        return list(islice(filter(None, csv.reader(file, delimiter=delimiter)), 1))


def _lines(sample: str, *, cut: bool) -> list[str]:
    """Return the lines with their ends; of a sample that was cut, the last one may go on."""
    lines = list(StringIO(sample, newline=""))
    return lines[:-1] if cut and len(lines) > 1 else lines
