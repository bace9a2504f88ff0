"""One value taken for another: text for a number, an empty cell for nothing, as Excel does it.

A step either does what Excel is known to do, or doubts; then the formula is not computed (F24.9).
Excel compares by 15 digits, orders texts by the reader's alphabet, and reads text as dates.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

from .value import DIV, NUM, VALUE, Doubt, Error, Fault, Value

NOISE = 1e-14
_NUMERAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(%?)")
_MOST_DIGITS = 15
_DIGIT = re.compile(r"[0-9]")
_TRUTHS = frozenset({"TRUE", "FALSE"})
_IGNORED = frozenset("-'\u00ad\u2019\u2010\u2011")  # the alphabet passes over them
_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)
_MAX_DIGITS = 300


def to_number(value: Value) -> float:
    """Return a value as arithmetic takes it."""
    if isinstance(value, float):
        return value
    if value is None:
        return 0.0
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, Error):
        raise Fault(value)
    if (number := numeral(value)) is not None:
        return number
    if _DIGIT.search(value):
        raise Doubt  # a date, an amount, a number with a comma: as the reader's country has it
    raise Fault(VALUE)


def numeral(text: str) -> float | None:
    """Return the number that a text writes out in English; only spaces may stand around it."""
    match = _NUMERAL.fullmatch(text.strip(" "))
    if match is None or len(_DIGIT.findall(match[1])) > _MOST_DIGITS:
        return None
    number = float(Decimal(match[1]).scaleb(-2 if match[2] else 0))
    return number if math.isfinite(number) else None


def number_text(value: float) -> str:
    """Return a number as text takes it: by 15 digits."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.15g}"
    if "e" in text:
        raise Doubt  # where `General` changes over is not written anywhere
    return text


def to_text(value: Value) -> str:
    """Return a value as text takes it."""
    if isinstance(value, str):
        if any(ord(char) > 0xFFFF for char in value):
            raise Doubt  # counted as two there
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Error):
        raise Fault(value)
    return number_text(value)


def to_truth(value: Value) -> bool:
    """Return a value as a condition takes it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if _DIGIT.search(value) or value.strip().upper() in _TRUTHS:
            raise Doubt
        raise Fault(VALUE)
    return to_number(value) != 0


def to_whole(value: Value) -> int:
    """Return a number without its fraction; not one that noise may bring to the other side."""
    number = clear_of_edges(to_number(value))
    if -1 < number < 0:
        raise Doubt  # below zero, or zero
    return math.trunc(number)


def clear_of_edges(number: float, digits: int = 0) -> float:
    """Pass a number that is not a hair's breadth from where it would fall to the other side."""
    if abs(digits) > _MAX_DIGITS:
        raise Doubt
    scaled = number * 10.0**digits
    if not math.isfinite(scaled):
        raise Doubt
    nearest = round(scaled)
    if scaled != nearest and abs(scaled - nearest) <= 1e-9 * max(1.0, abs(scaled)):
        raise Doubt
    return number


def exact(number: float) -> Decimal:
    """Return a number as it is written: 0.1 and not what comes closest to it."""
    return Decimal(repr(number))


def rounded(number: float, digits: int) -> float:
    """Return a number rounded by half away from zero, as it is written."""
    if abs(digits) > _MAX_DIGITS:
        return number if digits > 0 else 0.0
    unit = Decimal(1).scaleb(-digits)
    found = exact(number)
    if found and found.adjusted() + digits > 50:
        return number
    short = Decimal(f"{number:.15g}")
    one = (found / unit).quantize(Decimal(1), context=_EXACT) * unit
    two = (short / unit).quantize(Decimal(1), context=_EXACT) * unit
    if one != two and float(one) != float(two):
        raise Doubt
    return float(one) + 0.0


# --- arithmetic -----------------------------------------------------------------------------------


def calculated(sign: str, left: Value, right: Value) -> float:
    """Return what an arithmetic operator gives."""
    one, two = to_number(left), to_number(right)
    if sign == "+" or sign == "-":
        found = one + two if sign == "+" else one - two
        if found and abs(found) <= NOISE * max(abs(one), abs(two)):
            raise Doubt  # sometimes shown as zero
    elif sign == "*":
        found = one * two
    elif sign == "/":
        if two == 0:
            raise Fault(DIV)
        found = one / two
    else:
        found = power(one, two)
    return finite(found)


def finite(number: float) -> float:
    """Pass a number that a cell can hold."""
    if not math.isfinite(number):
        raise Fault(NUM)
    return number + 0.0  # no negative zero


def power(base: float, exponent: float) -> float:
    """Return a power, the error values of Excel included."""
    if base == 0 and exponent <= 0:
        raise Fault(NUM if exponent == 0 else DIV)
    if base < 0 and exponent != int(exponent):
        raise Fault(NUM)
    try:
        return math.pow(base, exponent)
    except OverflowError:
        raise Fault(NUM) from None


# --- comparing ------------------------------------------------------------------------------------


def compared(sign: str, left: Value, right: Value) -> bool:
    """Return what a comparison gives."""
    for side in (left, right):
        if isinstance(side, Error):
            raise Fault(side)
    order = ordered(left, right, equality=sign in {"=", "<>"})
    match sign:
        case "=":
            return order == 0
        case "<>":
            return order != 0
        case "<":
            return order < 0
        case ">":
            return order > 0
        case "<=":
            return order <= 0
    return order >= 0


def ordered(left: Value, right: Value, *, equality: bool = False) -> int:
    """Say how two values stand: numbers before texts before truth values."""
    one, two = _beside(left, right), _beside(right, left)
    ranks = (rank(one), rank(two))
    if ranks[0] != ranks[1]:
        return ranks[0] - ranks[1]
    if isinstance(one, str) and isinstance(two, str):
        return _order_of_texts(one, two, equality=equality)
    assert isinstance(one, float | bool), "ranks are equal"
    assert isinstance(two, float | bool), "ranks are equal"
    return order_of_numbers(float(one), float(two))


def order_of_numbers(one: float, two: float) -> int:
    """Compare by 15 digits; in doubt where more of them would tell."""
    if one == two:
        return 0
    if abs(one - two) <= NOISE * max(abs(one), abs(two)):
        if f"{one:.15g}" == f"{two:.15g}":
            return 0
        raise Doubt
    return 1 if one > two else -1


def _beside(value: Value, other: Value) -> Value:
    """Return an empty cell as what it is taken for beside another value."""
    if value is not None:
        return value
    if isinstance(other, str):
        return ""
    return False if isinstance(other, bool) else 0.0


def rank(value: Value) -> int:
    """Return the place of a kind of values: numbers, texts, truths, errors."""
    if isinstance(value, bool):
        return 2
    if isinstance(value, float):
        return 0
    if isinstance(value, str):
        return 1
    if isinstance(value, Error):
        return 3
    raise Doubt


def folded(text: str) -> str:
    """Return a text as comparisons see it: whatever its case."""
    return text.lower()


def is_same_text(one: str, two: str) -> bool:
    """Whether two texts are equal but for their case."""
    first, second = folded(one), folded(two)
    if first == second:
        return True
    if not (first.isascii() and second.isascii()) and first.casefold() == second.casefold():
        raise Doubt
    return False


def _order_of_texts(one: str, two: str, *, equality: bool) -> int:
    if is_same_text(one, two):
        return 0
    first, second = folded(one), folded(two)
    if equality:
        return 1
    for left, right in zip(first, second, strict=False):
        if left != right:
            return _order_of_letters(left, right)
    longer = first[len(second) :] or second[len(first) :]
    if longer[0] in _IGNORED or not longer[0].isascii():
        raise Doubt
    return 1 if len(first) > len(second) else -1


def _order_of_letters(left: str, right: str) -> int:
    """Compare by an alphabet that all countries share: signs, then digits, then letters."""
    ranks = []
    for letter in (left, right):
        if not letter.isascii() or letter in _IGNORED or not letter.isprintable():
            raise Doubt
        ranks.append((0, " ") if letter == " " else _letter_rank(letter))
    if ranks[0][0] == ranks[1][0] == 1:
        raise Doubt  # two signs
    return 1 if ranks[0] > ranks[1] else -1


def _letter_rank(letter: str) -> tuple[int, str]:
    if letter.isalpha():
        return 3, letter
    return (2, letter) if letter.isdigit() else (1, letter)
