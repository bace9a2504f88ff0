"""Writes rows as a delimited file has them: in its dialect, between the lines around its table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

from ..protocol import Source
from ..warning import Warnings
from .candidate import OF_ENDING
from .dialect import Dialect, sniff
from .dialect_wish import ANY, DialectWish
from .encoding import UTF8, Encoding, open_text
from .record import Grammar
from .rows import Rows


@dataclass(frozen=True, slots=True)
class Frame:
    """How a delimited file is to be written, and what stands around its rows already."""

    grammar: Grammar
    encoding: Encoding = UTF8
    newline: str = "\n"
    has_header: bool = True
    above: str = ""  # lines, with their ends
    names: str = ""  # the rows of names as they are written, where they stay
    below: str = ""


def new_frame(ending: str) -> Frame:
    """Return how a new file is written that has a name of this ending."""
    return Frame(Grammar(OF_ENDING.get(ending, (",",))[0]))


def frame_of(existing: Source, wish: DialectWish = ANY) -> Frame:
    """Return how a file is written whose place another takes (F28.2)."""
    dialect = sniff(existing, wish=wish)
    quoting = replace(dialect.grammar, quote=dialect.grammar.quote or '"')
    return Frame(
        quoting, dialect.encoding, dialect.newline, dialect.has_header or not dialect.columns
    )


def frame_around(source: Source, wish: DialectWish = ANY) -> Frame:
    """Return how a file is written whose own rows are put back into it (F28.2)."""
    dialect = sniff(source, wish=wish)
    frame = frame_of(source, wish)
    rows = Rows(source, dialect)
    first = next(iter(rows), None)
    for _ in rows:  # to the end, where the notes are
        pass
    ends = [record.line for record in (first, *rows.notes) if record is not None]
    with open_text(source, dialect.encoding) as file:
        above = "".join(islice(file, dialect.skip))
        until = ends[0] - 1 - dialect.skip if ends else None
        names = "".join(islice(file, until)) if dialect.has_header else ""
    below = _from_line(source, dialect, rows.notes[0].line) if rows.notes else ""
    if names and not names.endswith(("\n", "\r")):
        names += frame.newline
    return replace(frame, above=above, names=names, below=below)


def _from_line(source: Source, dialect: Dialect, line: int) -> str:
    """Return the lines of a file from one on, with the blank ones above it."""
    with open_text(source, dialect.encoding) as file:
        blank = ""
        for number, text in enumerate(file, 1):
            if number >= line:
                return blank + text + file.read()
            blank = blank + text if not text.strip() else ""
    return ""


def write_rows(
    out: Path,
    frame: Frame,
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    warnings: Warnings,
) -> None:
    """Write a file; one whose encoding lacks a character becomes UTF-8, which is said."""
    with out.open("w", encoding="utf-8", newline="") as file:
        file.write(frame.above)
        writes = _writer(file, frame)
        if frame.names:
            file.write(frame.names)
        elif frame.has_header:
            writes(names)
        for row in rows:
            writes(row)
        file.write(frame.below)
    if frame.encoding != UTF8:
        _encode(out, frame.encoding, warnings)


def _writer(file: IO[str], frame: Frame) -> Callable[[Sequence[str]], object]:
    grammar = frame.grammar
    if grammar.is_common:
        writer = csv.writer(
            file,
            delimiter=grammar.delimiter,
            quotechar=grammar.quote,
            lineterminator=frame.newline,
        )
        return writer.writerow
    between = grammar.delimiter if grammar.delimiter == " " else grammar.spelled

    def write(row: Sequence[str]) -> None:
        file.write(between.join(_field(value, grammar) for value in row) + frame.newline)

    return write


def _field(value: str, grammar: Grammar) -> str:
    """Return a value as it is written: in quotes where it could be read as something else."""
    delimiter, quote, escape = grammar.delimiter, grammar.quote, grammar.escape
    is_plain = value == value.strip(" ") and (value or delimiter != " ")
    marks = (delimiter, quote, "\r", "\n", *([escape] if escape else []))
    if is_plain and not any(mark in value for mark in marks):
        return value
    if escape:
        value = value.replace(escape, escape + escape).replace(quote, escape + quote)
    else:
        value = value.replace(quote, quote + quote)
    return quote + value + quote


def _encode(out: Path, encoding: Encoding, warnings: Warnings) -> None:
    target = out.with_name(out.name + ".encoded")
    try:
        _recode(out, encoding, target)
        target.replace(out)
    except UnicodeEncodeError:
        warnings.add("encoding_changed")
    finally:
        target.unlink(missing_ok=True)


def _recode(out: Path, encoding: Encoding, target: Path) -> None:
    with out.open(encoding="utf-8", newline="") as file, target.open("wb") as made:
        made.write(encoding.mark)
        while text := file.read(1 << 20):
            made.write(text.encode(encoding.name))
