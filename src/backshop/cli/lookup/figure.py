"""Numbers as people read them in the terminal; programs get all digits with `--json` (S4.9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_DECIMALS = 4  # money and the like are shown exactly
_DIGITS = 10  # of what has no such end, as sheets show it
_NOISE = 1e-12  # what adding up floats leaves behind, relative to the number
_LARGE = 1e15  # from here on floats have no digits behind the point
_NUMERIC = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
_SUMMARY = {"min", "max", "avg", "std", "q25", "q50", "q75"}


def figure(value: float) -> str:
    """Return a number without the noise of floats.

    >>> figure(4151980.09999995), figure(201.0), figure(2.14823070493174)
    ('4151980.1', '201', '2.148230705')
    """
    if abs(value) < _LARGE:
        for decimals in range(_DECIMALS + 1):
            near = round(value, decimals)
            if abs(near - value) <= abs(value) * _NOISE:
                return f"{near:.{decimals}f}"
    return f"{value:.{_DIGITS}g}"


def summary(columns: Sequence[str], row: Sequence[Any]) -> list[Any]:
    """Return a row of SUMMARIZE with its statistics as numbers: DuckDB gives them as texts."""
    if list(columns[:2]) != ["column_name", "column_type"] or "approx_unique" not in columns:
        return list(row)
    if not any(word in str(row[1]) for word in _NUMERIC):
        return list(row)
    return [
        _number(cell) if name in _SUMMARY else cell for name, cell in zip(columns, row, strict=True)
    ]


def _number(cell: Any) -> Any:
    try:
        return float(cell) if isinstance(cell, str) and not cell.isdecimal() else cell
    except ValueError:
        return cell
