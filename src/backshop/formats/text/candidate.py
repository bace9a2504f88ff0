"""Which delimiter, quote and escape a delimited text is written with, by how well each reads it.

Every likely grammar reads the same lines. The one that wins gives records of one width, closes its
quotes well and leaves no marks behind in its fields (F25.3).
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from backshop.base import limits as numbers

from .dialect_wish import ANY, DialectWish, bare
from .record import Grammar, Record, read_records
from .value import is_value

COMMON = (",", ";", "\t", "|")
_PRIORS = {
    **{",": 1.0, ";": 1.0, "\t": 1.0, "|": 0.97, ":": 0.5, " ": 0.5},
    **dict.fromkeys(("^", "~", "§", "¦", "\x01", "\x1f"), 0.6),
}
DELIMITERS = tuple(_PRIORS)
OF_ENDING = {".csv": (",", ";"), ".tsv": ("\t",), ".psv": ("|",)}
_OF_ITS_ENDING = 1.15  # how much more likely the delimiter is that the name promises
_STRICT = frozenset({":", " "})  # they stand in many texts that are no tables
_TRIED_CHARS = 64 * numbers.KIB
_TRIED_RECORDS = 200  # of which fields are looked at
_RUN = 3  # records of one width at the end that make a table below any preamble
_AGREE = 0.95
_GROUPED = re.compile(r"[+-]?\d{1,3}( \d{3})+([.,]\d+)?|[\d./-]+[T ]\d+:\d\d(:\d\d)?\S*")
_QUOTES = ('"', "'")
_SPACED = 0.8  # of all delimiters, before spaces can belong to them


@dataclass(frozen=True, slots=True)
class Candidate:
    """A grammar and how it reads a sample."""

    grammar: Grammar
    width: int
    share: float  # of the records, with that width
    sound: float  # share of the records that needed no repair
    score: float

    @property
    def confidence(self) -> float:
        """How much of the sample is as the grammar wants it."""
        return round(self.share * self.sound, 4)


def best_candidate(
    lines: Sequence[str], ending: str, wish: DialectWish = ANY, *, is_cut: bool = False
) -> Candidate:
    """Return the grammar that reads the lines best, of those that are as a wish has it."""
    expected = OF_ENDING.get(ending, ())
    if {wish.delimiter, wish.quote, wish.escape} == {None}:
        clean = _clean(lines, expected)
        if clean is not None:
            return clean
    tried = list(_start(lines))
    grammars = dict.fromkeys(_settled(one, wish) for one in _grammars(tried, wish))
    is_cut = is_cut or len(tried) < len(lines)
    found = [_weighed(tried, grammar, expected, is_cut) for grammar in grammars]
    several = [one for one in found if one.width > 1 and _is_likely(one, tried)]
    several = [one for one in several if not _is_aligned(one, several)]
    if several:
        return max(several, key=lambda one: one.score)
    return _fallback(found, tried, expected)


def usual_width(widths: Sequence[int]) -> tuple[int, float]:
    """Return how many fields records have, and the share of those that have as many.

    A table below a long preamble counts by its last records.
    """
    if not widths:
        return 0, 1.0
    counts = Counter(widths)
    first = widths[0]
    wide = [width for width in counts if width > 1]
    best = max(wide, key=lambda w: (counts[w] * (w - 1) / w, w == first, w), default=1)
    if 2 * counts[best] < len(widths) and _last_run(widths, best) < _RUN:
        best = max(counts, key=lambda w: (counts[w], w == first, w))
    return best, counts[best] / len(widths)


def _last_run(widths: Sequence[int], width: int) -> int:
    """Return how many records of a width stand together at the end, notes below them left out."""
    at = len(widths)
    while at > max(len(widths) - _RUN, 0) and widths[at - 1] < width:
        at -= 1
    end = at
    while at > 0 and widths[at - 1] == width:
        at -= 1
    return end - at


def _clean(lines: Sequence[str], expected: Sequence[str]) -> Candidate | None:
    """Return the grammar of a text that is beyond doubt: one common delimiter, no flaw."""
    found = []
    for delimiter in expected or COMMON:
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
        except csv.Error:
            continue
        widths = set(map(len, rows))
        if len(widths) == 1 and widths != {1} and not _is_doubtful(rows):
            found.append(Candidate(Grammar(delimiter), widths.pop(), 1.0, 1.0, 1.0))
    return found[0] if len(found) == 1 else None


def _is_doubtful(rows: Sequence[Sequence[str]]) -> bool:
    """Whether fields begin with spaces or stand in other quotes, as under a wrong grammar."""
    looked_at = rows[:_TRIED_RECORDS]
    spaced = sum(all(field[:1] in ("", " ") for field in row[1:]) for row in looked_at)
    is_marked = any(_is_marked(field) for row in looked_at for field in row)
    return is_marked or 2 * spaced > len(looked_at)


def _is_marked(field: str) -> bool:
    return '\\"' in field or (len(field) > 1 and field[0] == field[-1] == "'")


def _start(lines: Iterable[str]) -> Iterator[str]:
    size = 0
    for line in lines:
        yield line
        size += len(line)
        if size > _TRIED_CHARS:
            return


def _settled(grammar: Grammar, wish: DialectWish) -> Grammar:
    """Return a grammar with all that was asked for."""
    if wish.delimiter is not None:
        delimiter = bare(wish.delimiter)
        trims = delimiter != wish.delimiter
        grammar = replace(grammar, delimiter=delimiter, trims=trims)
    if wish.quote is not None:
        grammar = replace(grammar, quote=wish.quote)
    if wish.escape is not None:
        grammar = replace(grammar, escape="\\" if wish.escape == "\\" else "")
    return grammar


def _grammars(lines: Sequence[str], wish: DialectWish) -> Iterator[Grammar]:
    """Yield the grammars that could be meant, given which marks there are at all."""
    text = "".join(lines)
    if wish.delimiter is not None:
        yield from _with_marks(text, Grammar(bare(wish.delimiter)))
        return
    for delimiter in DELIMITERS:
        if delimiter in text:
            yield from _with_marks(text, Grammar(delimiter))
    yield Grammar(",")


def _with_marks(text: str, grammar: Grammar) -> Iterator[Grammar]:
    delimiter = grammar.delimiter
    spaces = (False, True) if _has_spaces(text, delimiter) else (False,)
    edges = (delimiter, "\n", "\r")
    is_quoted = [quote for quote in _QUOTES if _stands_at_edges(text, quote, edges)]
    quotes = ['"', *(["'"] if "'" in is_quoted else []), *([""] if '"' in is_quoted else [])]
    for trims in spaces:
        for quote in quotes:
            yield replace(grammar, quote=quote, trims=trims)
            if _has_escapes(text, quote, delimiter):
                yield replace(grammar, quote=quote, trims=trims, escape="\\")


def _has_spaces(text: str, delimiter: str) -> bool:
    if delimiter == " ":
        return "  " in text
    spaced = sum(text.count(delimiter + behind) for behind in (" ", "\n", "\r"))
    return delimiter + " " in text and spaced >= _SPACED * text.count(delimiter)


def _has_escapes(text: str, quote: str, delimiter: str) -> bool:
    """Whether backslashes stand before marks, and quotes are not doubled instead."""
    if quote:
        doubled = len(re.findall(rf"[^{quote}\s{re.escape(delimiter)}]{quote}{quote}", text))
        if text.count("\\" + quote) > doubled:
            return True
    return "\\" + delimiter in text


def _stands_at_edges(text: str, quote: str, edges: Sequence[str]) -> bool:
    """Whether quotes stand before and behind fields somewhere."""
    before = text.startswith(quote) or any(
        edge + quote in text or edge + " " + quote in text for edge in edges
    )
    return before and (
        text.endswith(quote)
        or any(quote + edge in text or quote + " " + edge in text for edge in edges)
    )


def _weighed(
    lines: Sequence[str], grammar: Grammar, expected: Sequence[str], is_cut: bool
) -> Candidate:
    read = read_records(lines, grammar, is_cut=is_cut)
    records = [record for record in read if record.fields]
    width, share = usual_width([len(record.fields) for record in records])
    sound = 1 - sum(record.is_repaired for record in records) / max(len(records), 1)
    usual = [record for record in records if len(record.fields) == width][:_TRIED_RECORDS]
    prior = _PRIORS.get(grammar.delimiter, 1.0)
    prior *= _OF_ITS_ENDING if grammar.delimiter in expected else 1.0
    score = share * sound**2 * _tidiness(usual, grammar) * width / (width + 1) * prior
    return Candidate(grammar, width, share, sound, score)


def _tidiness(records: Sequence[Record], grammar: Grammar) -> float:
    """Return how much fields look like values and words, and not like pieces of something else."""
    cells = [field for record in records for field in record.fields]
    others = [mark for mark in COMMON if mark != grammar.delimiter]
    return sum(_tidy(cell, others) for cell in cells) / max(len(cells), 1)


def _tidy(cell: str, others: Sequence[str]) -> float:
    field = cell.strip(" ")
    factor = 1.0 if len(field) == len(cell) else 0.9
    if not field or is_value(field):
        return factor
    factor *= 0.95 if '\\"' in field else 1.0
    if field[0] in _QUOTES or field[-1] in _QUOTES:
        return factor * (0.3 if field[0] == field[-1] else 0.5)
    found = [mark for mark in others if mark in field]
    if any(all(map(is_value, field.split(mark))) for mark in found):
        return factor * 0.3  # "5;2": two values that another delimiter parts
    return factor * (0.7 if found else 1.0)


def _is_likely(found: Candidate, lines: Sequence[str]) -> bool:
    """Whether the records of a candidate can be a table at all."""
    delimiter = found.grammar.delimiter
    if delimiter not in _STRICT:
        return found.share >= 0.5 or found.width > 1
    filled = [line.strip() for line in lines if line.strip()]
    whole = is_value if delimiter == ":" else _GROUPED.fullmatch
    values = sum(bool(whole(line)) for line in filled)
    if found.share * found.sound < _AGREE or 10 * values > len(filled) or len(filled) < 2:
        return False
    return delimiter != " " or _is_of_values(lines, found)


def _is_aligned(found: Candidate, others: Sequence[Candidate]) -> bool:
    """Whether runs of spaces part fields no worse than single ones, as in aligned columns."""
    grammar = found.grammar
    if grammar.delimiter != " " or grammar.trims:
        return False
    runs = [one for one in others if one.grammar == replace(grammar, trims=True)]
    return any(one.confidence >= found.confidence for one in runs)


def _is_of_values(lines: Sequence[str], found: Candidate) -> bool:
    """Whether what spaces part are columns: half of them hold values, or fields are quoted."""
    records = [one for one in read_records(lines, found.grammar) if len(one.fields) == found.width]
    body = records[1:] or records
    if any(" " in field for record in body for field in record.fields):
        return True
    shares = [
        sum(is_value(record.fields[at]) for record in body) / len(body) for at in range(found.width)
    ]
    return 2 * sum(share >= 0.9 for share in shares) >= found.width


def _fallback(
    found: Sequence[Candidate], lines: Sequence[str], expected: Sequence[str]
) -> Candidate:
    """Return a grammar for a text of one column, or for one that nothing reads well."""
    by_name = [one for one in found if one.grammar.delimiter in expected]
    default = (expected or (",",))[0]
    usual = [one for one in found if one.grammar.delimiter == default and not one.grammar.trims]
    present = [one for one in by_name if any(one.grammar.delimiter in line for line in lines)]
    chosen = present or usual or found
    return max(chosen, key=lambda one: (one.sound * one.share, one.grammar.quote == '"'))
