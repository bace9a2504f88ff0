"""Where the table of a delimited text begins: lines above it, and the rows of its names (F25.7)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .record import Record
from .value import is_value

MOST_ABOVE = 60  # records; a table further down is not looked for
MOST_NAME_ROWS = 3
_FULL = 0.6  # of the columns, that a row of names fills
_YEAR = re.compile(r"(19|20)\d\d")
_RULE = frozenset("-+=|: \t")  # what lines under names are drawn with
_LETTER = re.compile(r"[^\W\d_]")
_COMMENTS = ("#", "//", "%")
_NOTHING = frozenset({"", "-", "?", "na", "n/a", "nan", "nil", "none", "null", "unknown"})


@dataclass(frozen=True, slots=True)
class Heading:
    """How many lines stand above a table, and how many of its rows name the columns."""

    skip: int = 0
    rows: int = 0


def is_header(fields: Sequence[str]) -> bool:
    """Tell column names from data: text in at least 60 % of the columns, few repeated, no values.

    Years count as names when a real name stands beside them.
    """
    filled = [field.strip() for field in fields if field.strip()]
    if not filled or len(filled) < _FULL * len(fields):
        return False
    words = [field for field in filled if not is_value(field)]
    rest = [field for field in filled if is_value(field)]
    return (
        bool(words)
        and all(_YEAR.fullmatch(field) for field in rest)
        and max(Counter(filled).values()) <= max(2, len(filled) // 5)
    )


def find_heading(
    records: Sequence[Record], width: int, rows: int | None = None, *, is_settled: bool = False
) -> Heading:
    """Return where the table begins; `rows` of names are given, or None to find out.

    Where the beginning `is_settled`, only the rows of names are found.
    """
    filled = [record for record in records if record.fields]
    start = 0 if is_settled else _start(records, filled, width, rows)
    if not filled[start:]:
        return Heading(rows=rows or 0)
    skip = filled[start].line - 1 if start else 0
    return Heading(skip, _name_rows(filled[start:]) if rows is None else rows)


def _start(
    records: Sequence[Record], filled: Sequence[Record], width: int, rows: int | None
) -> int:
    """Return which of the records that are not blank is the first of the table."""
    first = _first_full(filled, width)
    if first is None:
        return 0
    is_named = is_header(filled[first].fields) if rows is None else rows > 0
    if first and (is_named or all(map(_is_title, filled[:first]))):
        return first
    return _below_labels(records, filled, width)


def _first_full(records: Sequence[Record], width: int) -> int | None:
    """Return the first row that is no note, title or comment above the table."""
    for at, record in enumerate(records[:MOST_ABOVE]):
        is_comment = record.text.startswith(_COMMENTS) and not _heads(records, at, width)
        if not is_comment and _filled(record) >= _FULL * width:
            return at
    return None


def _heads(records: Sequence[Record], at: int, width: int) -> bool:
    """Whether a row that begins like a comment is the row of names, or of data, after all."""
    others = (one for one in records[at + 1 :] if not one.text.startswith(_COMMENTS))
    below = next(others, None)
    if below is None:
        return True
    is_last = below is records[at + 1]
    return is_last and len(records[at].fields) == width and not is_header(below.fields)


def _filled(record: Record) -> int:
    return sum(1 for field in record.fields if field.strip())


def _is_title(record: Record) -> bool:
    """Whether a line above data without names is words about it rather than a row."""
    return record.text.startswith(_COMMENTS) or (
        len(record.fields) == 1 and _LETTER.search(record.fields[0]) is not None
    )


def _below_labels(records: Sequence[Record], filled: Sequence[Record], width: int) -> int:
    """Return where the table begins below lines of labels and values that are as wide as it is.

    They end with a blank line, are fewer than the rows below it, and hold no column of values,
    which the rows below do, under a row of names.
    """
    blank = next((at for at, record in enumerate(records[:MOST_ABOVE]) if not record.fields), 0)
    above = [record for record in records[:blank] if record.fields]
    below = filled[len(above) :]
    if not above or len(below) <= len(above) + 1 or not is_header(below[0].fields):
        return 0
    if len(below[0].fields) != width or _has_value_column(above[1:] or above, width):
        return 0
    return len(above) if _has_value_column(below[1:], width) else 0


def _has_value_column(records: Sequence[Record], width: int) -> bool:
    return any(_values(records, at) for at in range(width))


def _values(records: Sequence[Record], at: int) -> bool:
    """Whether a column holds nothing but values, and some."""
    cells = [record.fields[at].strip() for record in records if at < len(record.fields)]
    known = [cell for cell in cells if cell.lower() not in _NOTHING]
    return bool(known) and all(map(is_value, known))


def _name_rows(records: Sequence[Record]) -> int:
    """Return how many rows name the columns: more than one where the second is no data."""
    if not is_header(records[0].fields):
        return 0
    count = 1
    while count < MOST_NAME_ROWS and count < len(records) - 1:
        if not _goes_on(records[0], records[count], records[count + 1 :][:50]):
            break
        count += 1
    return count


def _goes_on(first: Record, row: Record, below: Sequence[Record]) -> bool:
    """Whether a row belongs to the names above it: a rule, the same names again, or units."""
    cells = [field.strip() for field in row.fields]
    if _is_rule(row.text.strip()):
        return True
    if row.fields == first.fields:
        return _has_value_column([one for one in below if one.fields != first.fields], len(cells))
    if len(cells) != len(first.fields) or len(below) < 3:
        return False
    if any(is_value(cell) or cell.lower() in _NOTHING for cell in cells):
        return False
    columns = sum(_values(below, at) for at in range(len(cells)))
    return columns >= max(_FULL * len(cells), 2)


def _is_rule(text: str) -> bool:
    """Whether a line is only drawn, as one under names."""
    return set(text) <= _RULE and any(line in text for line in ("--", "=="))


def names_of(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the names of columns, those of several rows joined; empty where there is none."""
    told: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        cells = row[:width]
        if len(rows) > 1 and _is_rule("".join(cells)):
            continue
        for parts, cell in zip(told, cells, strict=False):
            if cell not in parts and (cell.strip() or len(rows) == 1):
                parts.append(cell)
    return [" ".join(parts) for parts in told]
