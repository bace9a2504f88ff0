"""A condition as SUMIF and its kind take one: `">5"`, `"x*"`, a number, an empty text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from .coercion import folded, is_same_text, order_of_numbers, ordered
from .date_system import ISO, sure_serial
from .value import Doubt, Error, Fault, Value
from .wildcard import is_wild, matches

_PARTS = re.compile(r"(<=|>=|<>|=|<|>)?(.*)", re.S)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_AMOUNT = re.compile(r"[\s0-9.,%$€£¥()+\-eE/:]*[0-9][\s0-9.,%$€£¥()+\-eE/:]*")
_MOST_DIGITS = 15


class Criterion:
    """Whether a value meets a condition; `key` finds those that are equal in an index."""

    __slots__ = ("key", "meets", "takes_blank")

    def __init__(
        self,
        meets: Callable[[Value], bool],
        takes_blank: bool,
        key: tuple[str, Value] | None = None,
    ) -> None:
        self.meets, self.takes_blank, self.key = meets, takes_blank, key


def criterion(value: Value, date_1904: bool) -> Criterion:
    """Return the condition that an argument means."""
    if isinstance(value, Error):
        raise Doubt
    if value is None:
        value = 0.0
    if isinstance(value, bool):
        truth = value
        return Criterion(lambda cell: cell is truth, False)
    if isinstance(value, float):
        return _equal_number(value)
    sign, operand = _PARTS.fullmatch(value).groups()  # type: ignore[union-attr]  # matches any text
    if operand == "":
        return _of_blanks(sign)
    number = _number(operand, date_1904)
    if number is not None:
        return _of_number(sign or "=", number)
    if operand.upper() in {"TRUE", "FALSE"}:
        return _of_truth(sign or "=", operand.upper() == "TRUE")
    if operand.startswith("#"):
        raise Doubt
    return _of_text(sign or "=", operand)


def _number(text: str, date_1904: bool) -> float | None:
    if _NUMBER.fullmatch(text):
        if sum(char.isdigit() for char in text) > _MOST_DIGITS:
            raise Doubt
        return float(text)
    if match := ISO.fullmatch(text):
        try:
            return sure_serial(date(*map(int, match.groups())), date_1904)
        except ValueError:
            raise Doubt from None
    if _AMOUNT.fullmatch(text):
        raise Doubt
    return None


def _of_blanks(sign: str | None) -> Criterion:
    match sign:
        case None:
            return Criterion(lambda cell: cell is None or cell == "", True)
        case "=":
            return Criterion(lambda cell: cell is None, True)
        case "<>":
            return Criterion(lambda cell: cell is not None, False)
    raise Doubt


def is_amount(text: str) -> bool:
    """Whether a text may be a number in the eyes of a criterion, though it is not plainly one."""
    return _AMOUNT.fullmatch(text) is not None and _NUMBER.fullmatch(text.strip(" ")) is None


def plain_number(text: str) -> float | None:
    """Return the number that a text is, None when it is none."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _same_number(wanted: float, cell: Value) -> bool:
    if type(cell) is float:
        return order_of_numbers(wanted, cell) == 0
    if not isinstance(cell, str):
        return False
    if is_amount(cell):
        raise Doubt
    return plain_number(cell.strip(" ")) == wanted


def _equal_number(wanted: float) -> Criterion:
    if wanted != float(f"{wanted:.15g}"):
        raise Doubt
    return Criterion(lambda cell: _same_number(wanted, cell), False, ("number", wanted))


def _of_number(sign: str, wanted: float) -> Criterion:
    if sign == "=":
        return _equal_number(wanted)
    if sign == "<>":
        return Criterion(lambda cell: not _same_number(wanted, _no_error(cell)), True)

    def meets(cell: Value) -> bool:
        if type(cell) is not float:
            return False
        order = order_of_numbers(cell, wanted)
        return {"<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0}[sign]

    return Criterion(meets, False)


def _no_error(cell: Value) -> Value:
    if isinstance(cell, Error):
        raise Doubt
    return cell


def _of_truth(sign: str, wanted: bool) -> Criterion:
    if sign == "=":
        return Criterion(lambda cell: cell is wanted, False)
    if sign == "<>":
        return Criterion(lambda cell: _no_error(cell) is not wanted, True)
    raise Doubt


def _of_text(sign: str, wanted: str) -> Criterion:
    if sign not in {"=", "<>"}:
        return Criterion(lambda cell: _stands(sign, cell, wanted), False)
    wild = is_wild(wanted)

    def same(cell: Value) -> bool:
        if not isinstance(cell, str):
            return False
        return matches(wanted, cell) if wild else is_same_text(wanted, cell)

    if sign == "<>":
        return Criterion(lambda cell: not same(_no_error(cell)), True)
    return Criterion(same, False, None if wild else ("text", folded(wanted)))


def _stands(sign: str, cell: Value, wanted: str) -> bool:
    if not isinstance(cell, str):
        return False
    try:
        order = ordered(cell, wanted)
    except Fault:
        raise Doubt from None
    return {"<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0}[sign]
