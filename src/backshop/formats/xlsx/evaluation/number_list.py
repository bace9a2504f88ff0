"""The numbers that functions of many values are of.

In a range only numbers count: text, truths and empty cells are passed over. What is written into
the call itself is taken for a number if it can be.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .coercion import NOISE, finite, to_number
from .value import (
    DIV,
    NA,
    Array,
    Doubt,
    Error,
    Fault,
    Lambda,
    Missing,
    NotComputed,
    Operand,
    Reference,
    References,
    Value,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


_NEAR = 1e-9  # of a number: what noise may bring to the other side of it


def numbers(
    formula: Evaluator, operands: Sequence[Operand], *, repeats: bool = False
) -> list[float]:
    """Return the numbers of all arguments.

    `repeats` says that a number counts once however often it stands there.
    """
    found: list[float] = []
    for operand in operands:
        if isinstance(operand, Reference | References | Array):
            found.extend(_in_range(formula, operand, repeats))
        else:
            found.append(direct(operand))
    return found


def direct(operand: Operand) -> float:
    """Return the number of an argument that is one value."""
    if isinstance(operand, Missing):
        return 0.0
    if isinstance(operand, str):
        raise Doubt  # text written into the call has rules of its own
    if isinstance(operand, Lambda | Array | Reference | References):
        raise NotComputed("unsupported_syntax")
    return to_number(operand)


def _in_range(
    formula: Evaluator, operand: Reference | References | Array, repeats: bool
) -> Iterable[float]:
    found: list[float] = []
    errors: set[str] = set()
    for part in operand.parts if isinstance(operand, References) else (operand,):
        if isinstance(part, Reference):
            some, wrong = formula.context.memory.numbers(part)
            found += some
            errors |= wrong
        else:
            found += [value for value in part.values() if type(value) is float]
            errors |= {value.code for value in part.values() if isinstance(value, Error)}
    if errors:
        raise first_error(errors)
    if isinstance(operand, Array) and operand.repeat > 1 and not repeats:
        if any(type(value) is float and value for value in operand.rows[-1]):
            operand.refuse_repeats()
        if any(type(value) is float for value in operand.rows[-1]):
            raise NotComputed("whole_column")
    return found


def refuse_near(ordered: Sequence[float], number: float) -> None:
    """Doubt a place among numbers where another one is so near that noise may tell them apart."""
    margin = abs(number) * _NEAR
    low, high = bisect_left(ordered, number - margin), bisect_right(ordered, number + margin)
    if ordered[low:high].count(number) != high - low:
        raise Doubt


def first_error(codes: set[str]) -> Exception:
    """Return the error of a range; of several kinds nobody says which comes first."""
    return Fault(Error(next(iter(codes)))) if len(codes) == 1 else Doubt()


def anything(formula: Evaluator, operands: Sequence[Operand]) -> list[float]:
    """Return numbers, text in ranges as 0 and truths as 1 or 0: AVERAGEA and its kind."""
    found: list[float] = []
    for operand in operands:
        if not isinstance(operand, Reference | References | Array):
            found.append(direct(operand))
            continue
        if isinstance(operand, Array):
            operand.refuse_repeats()
        for value in formula.context.present(operand):
            if isinstance(value, Error):
                raise Fault(value)
            if isinstance(value, str) and isinstance(operand, Array):
                raise Doubt
            if value is not None:
                found.append(0.0 if isinstance(value, str) else float(value))
    return found


def total(found: Sequence[float]) -> float:
    """Return a sum; in doubt where only the noise of its parts is left."""
    if not found:
        return 0.0
    plain = finite(sum(found))
    highest, lowest = max(found), min(found)
    if lowest >= 0 or highest <= 0:
        return plain + 0.0  # nothing cancels out
    exact = math.fsum(found)
    largest = max(highest, -lowest)
    if (exact or plain) and abs(exact) <= NOISE * 10 * largest:
        raise Doubt
    if plain and abs(plain - exact) > 1e-11 * abs(exact):
        raise Doubt
    return exact + 0.0


def mean(found: Sequence[float]) -> float:
    """Return the average."""
    if not found:
        raise Fault(DIV)
    return total(found) / len(found)


def spread(found: Sequence[float]) -> float:
    """Return the sum of the squared distances from the average."""
    middle = mean(found)
    result = math.fsum((number - middle) ** 2 for number in found)
    largest = max(map(abs, found))
    if result and result <= (1e-13 * largest) ** 2 * len(found):
        raise Doubt
    return finite(result)


def pairs(formula: Evaluator, left: Operand, right: Operand) -> tuple[list[float], list[float]]:
    """Return the numbers of two lists where both have one; the lists must be of one length."""
    one, two = formula.context.array(left), formula.context.array(right)
    first, second = one.all(), two.all()
    if len(first) != len(second):
        raise Fault(NA)
    if one.height != two.height:
        raise Doubt  # a row beside a column
    for value in (*first, *second):
        if isinstance(value, Error):
            raise Fault(value)
    both = [
        (a, b) for a, b in zip(first, second, strict=True) if type(a) is float and type(b) is float
    ]
    return [a for a, _ in both], [b for _, b in both]


def plain(values: Iterable[Value]) -> list[float]:
    """Return the numbers among values; an error stops."""
    found = []
    for value in values:
        if isinstance(value, Error):
            raise Fault(value)
        if type(value) is float:
            found.append(value)
    return found
