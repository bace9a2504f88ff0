r"""The type of a column: what all of its values are (F25.5).

A type is a pattern every value fits and a cast. The same pattern is tried on a sample in Python, to
guess, and on every value in SQL while the table is built, to be sure. What could be a code rather
than a quantity (`007`, `+49`, nineteen digits) fits no pattern of numbers and stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_DAY = r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_WHOLE = r"(?:0|[1-9][0-9]{0,17})"


@dataclass(frozen=True, slots=True)
class Kind:
    """A type that values can have; `cast` is SQL over `{}`, and null for what only looks right."""

    name: str  # what it is called in a map
    native: str  # how DuckDB stores it
    pattern: str
    cast: str
    quick: str | None = None  # the same for values in their plainest form, several times faster

    def fits(self, value: str) -> bool:
        """Tell whether a value looks like one of this kind."""
        return re.fullmatch(self.pattern, value.strip(" ")) is not None

    def sql(self, reference: str) -> str:
        """Return the value in this type, or null where it is something else."""
        looks = f"regexp_full_match({reference}, ' *(?:{self.pattern}) *')"
        return f"CASE WHEN {looks} THEN {self.cast.format(reference)} END"

    def quick_sql(self, reference: str) -> str:
        """Return the value in this type, or null where that takes a closer look."""
        return self.sql(reference) if self.quick is None else self.quick.format(reference)


def _day(first: str, second: str) -> list[Kind]:
    plain = rf"'%{first}.%{second}.%Y'"
    dotted = r"regexp_replace(trim({}, ' '), '[/-]', '.', 'g')"
    timed = rf"['%{first}.%{second}.%Y %H:%M:%S', '%{first}.%{second}.%Y %H:%M']"
    return [
        Kind("date", "DATE", _DAY, f"CAST(try_strptime({dotted}, {plain}) AS DATE)"),
        Kind("datetime", "TIMESTAMP", rf"{_DAY}[ T]{_CLOCK}", f"try_strptime({dotted}, {timed})"),
    ]


TEXT: Final = Kind("string", "VARCHAR", r"(?s).*", "{}")
BOOLEAN: Final = Kind(
    "boolean",
    "BOOLEAN",
    r"(?i)true|false",
    "CAST(trim({}, ' ') AS BOOLEAN)",
    "CASE WHEN {0} IN ('true', 'True', 'TRUE') THEN true"
    " WHEN {0} IN ('false', 'False', 'FALSE') THEN false END",
)
INTEGER: Final = Kind(
    "integer",
    "BIGINT",
    rf"-?{_WHOLE}",
    "CAST({} AS BIGINT)",
    "CASE WHEN CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0} AND length({0}) < 19"
    " THEN TRY_CAST({0} AS BIGINT) END",
)
FLOAT: Final = Kind(
    "float",
    "DOUBLE",
    rf"-?(?:{_WHOLE}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{{1,3}})?",
    "CAST({} AS DOUBLE)",
    # it begins with a digit that is no zero, or with a zero and a point; comparing is cheap
    "CASE WHEN (({0} >= '1' AND {0} < ':') OR ({0} >= '0.' AND {0} < '0/') OR {0} = '0'"
    " OR ({0} >= '-1' AND {0} < '-:') OR ({0} >= '-0.' AND {0} < '-0/'))"
    " AND (length({0}) < 19 OR contains({0}[1:19], '.')) AND NOT contains({0}, '_')"
    " THEN TRY_CAST({0} AS DOUBLE) END",
)
DATE: Final = Kind(
    "date",
    "DATE",
    _ISO,
    "TRY_CAST({} AS DATE)",
    "CASE WHEN length({0}) = 10 AND {0}[5] = '-' THEN TRY_CAST({0} AS DATE) END",
)
YEAR_FIRST: Final = Kind(
    "date",
    "DATE",
    r"[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2}",
    "CAST(try_strptime(replace(trim({}, ' '), '/', '.'), '%Y.%m.%d') AS DATE)",
)
DATETIME: Final = Kind(
    "datetime", "TIMESTAMP", rf"{_ISO}(?:[ T]{_CLOCK})?", "TRY_CAST({} AS TIMESTAMP)"
)
ZONED: Final = Kind(
    "datetime",
    "TIMESTAMPTZ",
    rf"{_ISO}[ T]{_CLOCK}(?:Z|[-+][0-9]{{2}}(?::?[0-9]{{2}})?)",
    "TRY_CAST({} AS TIMESTAMPTZ)",
)
TIME: Final = Kind("time", "TIME", _CLOCK, "TRY_CAST({} AS TIME)")
KINDS: Final = (BOOLEAN, INTEGER, FLOAT, DATE, YEAR_FIRST, DATETIME, ZONED, TIME)
CERTAIN: Final = frozenset({BOOLEAN, INTEGER, FLOAT})  # what fits their pattern is one
WIDER: Final = {INTEGER: FLOAT, DATE: DATETIME}  # what a column can still be when one value is not
DAY_FIRST: Final = tuple(_day("d", "m"))
MONTH_FIRST: Final = tuple(_day("m", "d"))
_DAY_ONLY = re.compile(r"\s*([0-9]{1,2})[./-]([0-9]{1,2})[./-][0-9]{4}([ T].*)?")

# Numbers with a decimal comma. `1,234` alone is none: it may be a thousand.
COMMA_NUMBER: Final = r"-?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?"
COMMA_PROOF: Final = r".*(,[0-9]{1,2}|,[0-9]{4,}|\.[0-9]{3},[0-9]+)"


@dataclass(frozen=True, slots=True)
class Guess:
    """What a sample says about a column."""

    kind: Kind  # the narrowest that fits the sample
    is_open: bool = False  # there was nothing to go by, or it could still become a date
    has_comma: bool = False  # looks like numbers with a decimal comma


def guess(values: Iterable[str]) -> Guess:
    """Return what the non-empty `values` of a sample have in common."""
    known = [value for value in values if value != ""]
    if not known:
        return Guess(TEXT, is_open=True)
    for kind in KINDS:
        if all(map(kind.fits, known)):
            return Guess(kind)
    if all(map(DAY_FIRST[0].fits, known)) or all(map(DAY_FIRST[1].fits, known)):
        return _date_order(known)
    commas = all(re.fullmatch(COMMA_NUMBER, value.strip(" ")) for value in known)
    return Guess(TEXT, has_comma=commas)


def _date_order(values: Sequence[str]) -> Guess:
    """Decide whether the day or the month comes first, if anything in the sample decides it."""
    parts = [_DAY_ONLY.fullmatch(value) for value in values]
    pairs = [(int(part[1]), int(part[2])) for part in parts if part]
    kinds = DAY_FIRST if any(first > 12 for first, _ in pairs) else MONTH_FIRST
    if all(first <= 12 and second <= 12 for first, second in pairs):
        return Guess(TEXT, is_open=True)
    return Guess(next(kind for kind in kinds if all(map(kind.fits, values))))


def cast_hint(name: str) -> str:
    """Return an expression that reads a column of numbers with a decimal comma."""
    return f"CAST(replace(replace({name}, '.', ''), ',', '.') AS DOUBLE)"
