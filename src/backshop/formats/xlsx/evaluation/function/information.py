"""Functions that say what a value is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..definition import Definition, Scalar, Whole
from ..value import NA, Array, Doubt, Error, Fault, Operand, Reference, Value

if TYPE_CHECKING:
    from ..evaluator import Evaluator

_NUMBERS = {
    **{"#NULL!": 1, "#DIV/0!": 2, "#VALUE!": 3, "#REF!": 4, "#NAME?": 5, "#NUM!": 6, "#N/A": 7},
}


def _isblank(value: Value) -> bool:
    return value is None


def _iserror(value: Value) -> bool:
    return isinstance(value, Error)


def _iserr(value: Value) -> bool:
    return isinstance(value, Error) and value != NA


def _isna(value: Value) -> bool:
    return value == NA


def _isnumber(value: Value) -> bool:
    return type(value) is float


def _istext(value: Value) -> bool:
    return isinstance(value, str)


def _isnontext(value: Value) -> bool:
    return not isinstance(value, str)


def _islogical(value: Value) -> bool:
    return isinstance(value, bool)


def _error_type(value: Value) -> float:
    if not isinstance(value, Error):
        raise Fault(NA)
    if value.code not in _NUMBERS:
        raise Doubt
    return float(_NUMBERS[value.code])


def _na() -> Error:
    return NA


def _of_one(formula: Evaluator, operand: Operand) -> Value:
    """Return the value of a cell; of several the first."""
    if isinstance(operand, Reference):
        area = operand.area
        return formula.context.memory.value(operand.sheet, area.row1, area.col1)
    if isinstance(operand, Array) and operand.height * operand.width > 1:
        raise Doubt
    return formula.as_one(formula.settled(operand, False), "")


def _n(formula: Evaluator, operand: Operand) -> Value:
    value = _of_one(formula, operand)
    if isinstance(value, Error):
        return value
    return float(value) if isinstance(value, float | bool) else 0.0


def _type(formula: Evaluator, operand: Operand) -> float:
    if isinstance(operand, Array) or (isinstance(operand, Reference) and operand.area.count > 1):
        return 64.0
    value = _of_one(formula, operand)
    if isinstance(value, Error):
        return 16.0
    if isinstance(value, bool):
        return 4.0
    return 2.0 if isinstance(value, str) else 1.0


FUNCTIONS: dict[str, Definition] = {
    "ISBLANK": Scalar(_isblank, "e"),
    "ISERROR": Scalar(_iserror, "e"),
    "ISERR": Scalar(_iserr, "e"),
    "ISNA": Scalar(_isna, "e"),
    "ISNUMBER": Scalar(_isnumber, "e"),
    "ISTEXT": Scalar(_istext, "e"),
    "ISNONTEXT": Scalar(_isnontext, "e"),
    "ISLOGICAL": Scalar(_islogical, "e"),
    "ERROR.TYPE": Scalar(_error_type, "e"),
    "NA": Scalar(_na, "e"),
    "N": Whole(_n),
    "TYPE": Whole(_type),
}
