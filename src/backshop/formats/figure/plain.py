"""A number without a format: by the 15 digits that spreadsheets show, or by all it has (F24.20).

The digits beyond the 15th are where sums of decimal fractions end: 200.99999999999997 is 201.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

_WHOLE_BELOW = 1e16  # whole numbers are shown by their digits up to here
_GENERAL_CHARS = 11  # of a number in a cell without a format, its sign not counted
_GENERAL_SMALLEST = -4  # power of ten; smaller numbers that do not fit are scientific
_GENERAL_MANTISSA = 5  # digits behind the point once it is scientific
_CONTEXT = Context(prec=400, rounding=ROUND_HALF_UP)


def exact_text(value: float) -> str:
    """Return the shortest text that reads back as the same number, without grouping."""
    if isinstance(value, int) or (value == int(value) and abs(value) < _WHOLE_BELOW):
        return str(int(value))
    return repr(value)


def plain_text(value: float) -> str:
    """Return a number for people and models: its first 15 digits, of a whole one all."""
    return exact_text(rounded(value))


def rounded(value: float) -> float:
    """Return the number that its first 15 digits make; whole numbers stay."""
    if value == int(value) and abs(value) < _WHOLE_BELOW:
        return value
    found = float(f"{value:.15g}")
    return found if math.isfinite(found) else value  # the largest numbers would round to none


def decimal_of(value: float) -> Decimal:
    """Return the first 15 digits of a number."""
    return Decimal(f"{value:.15g}")


def general_text(value: float) -> str:
    """Return a number as a wide cell without a format shows it: in 11 characters.

    >>> general_text(200.99999999999997), general_text(1 / 3), general_text(123456789012.0)
    ('201', '0.333333333', '1.23457E+11')
    """
    return general_decimal(decimal_of(value))


def general_decimal(value: Decimal) -> str:
    """Return the digits of a number as a wide cell without a format shows them."""
    number = value.copy_abs()
    text = f"{_fixed(number):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    is_tiny = number.adjusted() < _GENERAL_SMALLEST and len(f"{number:f}") > _GENERAL_CHARS
    if number and (is_tiny or len(text) > _GENERAL_CHARS):
        text = scientific(number, _GENERAL_MANTISSA)
    return f"-{text}" if value < 0 else text


def scientific(number: Decimal, places: int) -> str:
    """Return a number with a power of ten, without zeros at its end: 1.5E+20."""
    unit = Decimal(1).scaleb(number.adjusted() - places)
    shown = number.quantize(unit, context=_CONTEXT)
    digits = "".join(map(str, shown.as_tuple().digits)).rstrip("0") or "0"
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{mantissa}E{shown.adjusted():+03d}"


def _fixed(number: Decimal) -> Decimal:
    """Round what does not fit into the cell."""
    before = max(number.adjusted() + 1, 1)
    places = max(_GENERAL_CHARS - before - 1, 0)
    return number.quantize(Decimal(1).scaleb(-places), context=_CONTEXT)
