"""The steps of a formula that spreadsheets take in their own way, as Excel takes them.

Excel compares by 15 digits, reads text as dates, calls 1900 a leap year. A step either does what
Excel is known to do, or raises `Doubt`: then the formula counts as not computed (F24.9). `Fault`
is an error value. The engine calls these functions, by the names of `excelfunctions`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

Value: TypeAlias = Any  # float, bool, str, None, an error or rows of such: what the engine hands us

_FIRST_SURE_DAY = 61  # 1900-03-01: before it Excel counts a day that never was
_NOISE = 1e-14
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_DIGIT = re.compile(r"[0-9]")
_TRUTHS = frozenset({"TRUE", "FALSE"})
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9 ]*")


class Doubt(Exception):
    """Excel may see this otherwise."""


class Fault(Exception):
    """The step ends in an error value."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.value = error(kind)


def error(kind: str) -> dict[str, str]:
    """Return an error value as the engine has it."""
    return {"type": "Error", "kind": kind}


def has_digit(value: object) -> bool:
    """Whether a value is text that arithmetic might take for a number or a date."""
    return isinstance(value, str) and _DIGIT.search(value) is not None


def to_number(value: Value) -> float:
    """Return a value as arithmetic takes it."""
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, dict):
        raise Fault(value["kind"])
    if isinstance(value, str):
        if _WHOLE.fullmatch(value.strip()):
            return float(value)
        if _DIGIT.search(value):
            raise Doubt  # a date, an amount, a number with a comma: as the reader's country has it
        raise Fault("Value")
    raise Doubt


def to_text(value: Value) -> str:
    """Return a value as text takes it: numbers by 15 digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if value == int(value) and abs(value) < 1e15:
            return str(int(value))
        text = f"{value:.15g}"
        if "e" in text:
            raise Doubt
        return text
    if isinstance(value, dict):
        raise Fault(value["kind"])
    if isinstance(value, str):
        if any(ord(char) > 0xFFFF for char in value):
            raise Doubt  # counted as two there
        return value
    raise Doubt


def _each(step: Callable[[Value, Value], Value], left: Value, right: Value) -> Value:
    """Take a step cell by cell where a range is given, as SUMPRODUCT asks for."""
    if not isinstance(left, list) and not isinstance(right, list):
        return step(left, right)
    rows = len(left) if isinstance(left, list) else len(right)
    cols = len(left[0]) if isinstance(left, list) else len(right[0])
    for side in (left, right):
        if isinstance(side, list) and (len(side), len(side[0])) != (rows, cols):
            raise Doubt

    def at(side: Value, row: int, col: int) -> Value:
        return side[row][col] if isinstance(side, list) else side

    def one(row: int, col: int) -> Value:
        try:
            return step(at(left, row, col), at(right, row, col))
        except Fault as fault:
            return fault.value

    return [[one(row, col) for col in range(cols)] for row in range(rows)]


def calculate(sign: str, left: Value, right: Value) -> Value:
    return _each(partial(_calculated, sign), left, right)


def _calculated(sign: str, left: Value, right: Value) -> float:
    one, two = to_number(left), to_number(right)
    match sign:
        case "+" | "-":
            found = one + two if sign == "+" else one - two
            if found and abs(found) <= _NOISE * max(abs(one), abs(two)):
                raise Doubt  # sometimes shown as zero
        case "*":
            found = one * two
        case "/":
            if two == 0:
                raise Fault("Div")
            found = one / two
        case _:
            found = _power(one, two)
    if not math.isfinite(found):
        raise Fault("Num")
    return found + 0.0  # no negative zero


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent <= 0:
        raise Fault("Num" if exponent == 0 else "Div")
    if base < 0 and exponent != int(exponent):
        raise Fault("Num")
    return math.pow(base, exponent)


def negate(value: Value) -> Value:
    return calculate("-", 0.0, value)


def percent(value: Value) -> Value:
    return calculate("/", value, 100.0)


def join(left: Value, right: Value) -> str:
    return to_text(left) + to_text(right)


def compare(sign: str, left: Value, right: Value) -> Value:
    return _each(partial(_compared, sign), left, right)


def _compared(sign: str, left: Value, right: Value) -> bool:
    for side in (left, right):
        if isinstance(side, dict):
            raise Fault(side["kind"])
    order = place_beside(left, right, equality=sign in {"=", "<>"})
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


def place_beside(left: Value, right: Value, *, equality: bool) -> int:
    """Say how two values stand: numbers before texts before truth values."""
    one, two = _beside(left, right), _beside(right, left)
    ranks = (_rank(one), _rank(two))
    if ranks[0] != ranks[1]:
        return ranks[0] - ranks[1]
    if isinstance(one, str):
        return _order_of_texts(one, two, equality=equality)
    if one == two or float(f"{one:.15g}") == float(f"{two:.15g}"):
        return 0
    if abs(one - two) <= _NOISE * max(abs(one), abs(two)):
        raise Doubt
    return 1 if one > two else -1


def _beside(value: Value, other: Value) -> Value:
    """Return an empty cell as what it is taken for beside another value."""
    if value is not None:
        return value
    if isinstance(other, str):
        return ""
    return False if isinstance(other, bool) else 0.0


def _rank(value: Value) -> int:
    if isinstance(value, bool):
        return 2
    if isinstance(value, int | float):
        return 0
    if isinstance(value, str):
        return 1
    raise Doubt


def _order_of_texts(one: str, two: str, *, equality: bool) -> int:
    first, second = one.lower(), two.lower()
    if first == second:
        return 0
    plain = _PLAIN_WORDS.fullmatch(one) and _PLAIN_WORDS.fullmatch(two)
    alike = first.casefold() == second.casefold()
    if alike or not (equality or plain):
        raise Doubt  # by the alphabet of the reader's country
    return 1 if first > second else -1


def direct(value: Value) -> Value:
    """Pass what is given to SUM and its kind; text written there has rules of its own."""
    if isinstance(value, str):
        raise Doubt
    return value


def truth(value: Value) -> Value:
    if isinstance(value, str) and (_DIGIT.search(value) or value.strip().upper() in _TRUTHS):
        raise Doubt
    return value


def numeric(value: Value) -> Value:
    return to_number(value) if isinstance(value, str) else value


def to_whole(value: Value) -> Value:
    if isinstance(value, str):
        raise Doubt
    number = to_number(value)
    if number != int(number):
        raise Doubt
    return number


def clear_of_edges(value: Value, digits: Value = 0) -> float:
    """Pass a number that is not a hair's breadth from where it would fall to the other side."""
    number, places = to_number(value), to_number(digits)
    scaled = number * 10**places
    nearest = round(scaled)
    if scaled != nearest and abs(scaled - nearest) <= 1e-9 * max(1.0, abs(scaled)):
        raise Doubt
    return number


def sure_day(value: Value) -> Value:
    if isinstance(value, bool):
        raise Doubt
    number = to_number(value)
    if number < _FIRST_SURE_DAY:
        raise Doubt
    return number


def clock(value: Value) -> Value:
    seconds = to_number(value) * 86400
    if abs(seconds - round(seconds)) > 1e-3:
        raise Doubt
    return value


def shown(value: Value) -> Value:
    if isinstance(value, bool | str):
        raise Doubt
    return value


def sought(value: Value) -> Value:
    """Pass what is looked for, unless it carries the noise of a computation."""
    if value is None or (isinstance(value, float) and value != float(f"{value:.15g}")):
        raise Doubt
    return value


def to_index(value: Value) -> Value:
    if isinstance(value, bool) or clear_of_edges(value) < 1:
        raise Doubt
    return value
