"""Values of a result as JSON (F27.7), and the names we give to types.

Python's own types cannot carry everything DuckDB holds (dates beyond the year 9999, months in
intervals), so most conversions happen in SQL, column by column.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from duckdb.sqltypes import DuckDBPyType

from ..figure.plain import rounded
from ..protocol import Json
from ..warning import Warnings

_INTEGERS = "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint uhugeint"
_TYPES = {
    "integer": (*_INTEGERS.split(), "bignum", "varint"),
    "float": ("float", "double"),
    "decimal": ("decimal",),
    "boolean": ("boolean",),
    "date": ("date",),
    "datetime": (
        *("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"),
        "timestamp with time zone",
    ),
    "time": ("time", "time with time zone", "time_ns"),
    "interval": ("interval",),
    "binary": ("blob",),
    "json": ("list", "array", "struct", "map", "union", "json", "variant", "tuple"),
    "null": ("null", '"null"', "sqlnull"),
}
_NAMES = {native: name for name, natives in _TYPES.items() for native in natives}
_EXACT_MAX = 2**53  # beyond it a JSON reader may round
_LONG = 20  # digits; such a number is beyond `_EXACT_MAX`, and may be too long for Python to read
_DEEPEST = 100  # levels of a document; readers of JSON give up at some depth
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_SPARE = re.compile(rf"({_STRING})|\s+|-?(?:NaN|Inf(?:inity)?)", re.I | re.S)
_BRACKET = re.compile(rf"{_STRING}|[\[{{]|[\]}}]", re.S)
_PERIODS = re.compile(r"(-?\d+) (year|month|day)s?")
_CLOCK = re.compile(r"(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result: its name and how its values become JSON."""

    name: str
    type: str  # integer, float, decimal, boolean, date, datetime, time, interval, string, json …
    native: str

    def select(self, reference: str) -> str:
        """Return SQL that turns a value of this column into what `Converter` takes."""
        match self.type:
            case "integer" if self.native in _INTEGERS.split():
                return reference
            case "float" if self.native == "float":  # the shortest digits of the small type
                return f"CAST(CAST({reference} AS VARCHAR) AS DOUBLE)"
            case "float" | "decimal" | "boolean":
                return reference
            case "datetime":
                return f"replace(CAST({reference} AS VARCHAR), ' ', 'T')"
            case "json" if self.native == "json":  # to_json would round its numbers
                return f"CAST({reference} AS VARCHAR)"
            case "json":
                return f"CAST(to_json({reference}) AS VARCHAR)"
            case "binary":
                return f"to_base64({reference})"
            case _:
                return f"CAST({reference} AS VARCHAR)"


def columns(names: Sequence[str], types: Sequence[DuckDBPyType]) -> list[Column]:
    """Return the columns of a result."""
    return [Column(name, *_named(kind)) for name, kind in zip(names, types, strict=True)]


def converter(column: Column, warnings: Warnings) -> Callable[[object], Json]:
    """Return the function that gives JSON for what `Column.select` selects."""
    match column.type:
        case "integer":
            return _integer
        case "float":
            return lambda value: _figure(value, warnings)
        case "decimal":
            return _decimal
        case "interval":
            return lambda value: None if value is None else duration(str(value))
        case "json":
            return lambda value: None if value is None else _document(str(value), warnings)
        case _:
            return lambda value: value if isinstance(value, str | bool | None) else str(value)


def duration(text: str) -> str:
    """Return DuckDB's text of an interval as ISO 8601.

    >>> duration("1 year 2 months 00:00:03.5")
    'P1Y2MT3.5S'
    """
    date = "".join(f"{count}{unit[0].upper()}" for count, unit in _PERIODS.findall(text))
    clock = _CLOCK.search(text)
    time = ""
    if clock:
        sign, *parts = clock.groups()
        numbers = [_short(part) for part in parts]
        pairs = zip(numbers, "HMS", strict=True)
        time = "".join(f"{sign}{number}{unit}" for number, unit in pairs if number)
    return "P" + date + (f"T{time}" if time else "") if date or time else "PT0S"


def _short(digits: str) -> str:
    number = Decimal(digits).normalize()
    return f"{number:f}" if number else ""


def _named(kind: DuckDBPyType) -> tuple[str, str]:
    text = str(kind).lower()
    native = "json" if text == "json" else kind.id
    return _NAMES.get(native, "string"), native


def compact(text: str, warnings: Warnings) -> str:
    """Return a document's text without spaces, every number as it is written (F27.7)."""

    def kept(match: re.Match[str]) -> str:
        if match[1] or match[0].isspace():
            return match[1] or ""
        warnings.add("non_finite")
        return "null"

    return _SPARE.sub(kept, text)


def _integer(value: object) -> Json:
    if value is None or len(str(value)) > _LONG:
        return None if value is None else str(value)
    number = int(str(value))
    return str(number) if abs(number) > _EXACT_MAX else number


def finite(value: object, warnings: Warnings) -> float | None:
    """Return a float that JSON and cells can hold; others are noted."""
    if not isinstance(value, float):
        return None
    if math.isfinite(value):
        return value
    warnings.add("non_finite")
    return None


def _figure(value: object, warnings: Warnings) -> float | None:
    """Return a float by the digits that people see (F27.10)."""
    found = finite(value, warnings)
    return None if found is None else rounded(found)


def _decimal(value: object) -> Json:
    if value is None:
        return None
    exact = Decimal(str(value))
    near = float(exact)
    return near if Decimal(repr(near)) == exact else f"{exact:f}"


def _document(text: str, warnings: Warnings) -> Json:
    if _is_deep(text):
        return compact(text, warnings)
    document: Json = json.loads(text, parse_int=lambda digits: _integer(digits))
    return _finite(document, warnings)


def _is_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = 0
    for match in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > _DEEPEST:
            return True
    return False


def _finite(value: Json, warnings: Warnings) -> Json:
    if isinstance(value, float):
        return finite(value, warnings)
    if isinstance(value, dict):
        return {key: _finite(item, warnings) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item, warnings) for item in value]
    return value
