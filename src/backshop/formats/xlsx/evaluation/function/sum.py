"""Functions of many values: sums, counts, averages, and those that pass hidden rows over."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...syntax.formula import tokens
from ..coercion import finite, to_truth, to_whole
from ..definition import Definition, Whole, wholes
from ..memory import Cell
from ..number_list import anything, direct, first_error, mean, numbers, spread, total
from ..value import (
    DIV,
    MISSING,
    NA,
    NUM,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    NotComputed,
    Operand,
    Reference,
    References,
    Value,
)
from .rank import (
    large,
    median,
    mode,
    percentile_exc,
    percentile_inc,
    quartile,
    small,
)

if TYPE_CHECKING:
    from ..evaluator import Evaluator

_NESTED = re.compile(r"\b(?:SUBTOTAL|AGGREGATE)\(", re.I)


def _kept(call: Callable[..., float]) -> Whole:
    """Return a function whose value for a range is kept: totals are asked for again and again."""

    def found(formula: Evaluator, *given: Operand) -> float:
        if len(given) != 1 or not isinstance(given[0], Reference) or given[0].area.count == 1:
            return call(formula, *given)
        key = (call.__name__, given[0])
        known = formula.context.indexes.get(key)
        if not isinstance(known, float):
            known = formula.context.indexes[key] = call(formula, *given)
        return known

    return Whole(found)


def _sum(formula: Evaluator, *given: Operand) -> float:
    return total(_summed(formula, given))


def _summed(formula: Evaluator, given: Sequence[Operand]) -> list[float]:
    """Return the numbers of a sum; zeros that stand for the end of whole columns add nothing."""
    kept: list[Operand] = []
    for operand in given:
        if isinstance(operand, Array) and operand.repeat > 1:
            last = operand.rows[-1]
            if all(type(value) is not float or value == 0 for value in last):
                operand = Array([*operand.rows[:-1], [_nothing(value) for value in last]])
        kept.append(operand)
    return numbers(formula, kept)


def _nothing(value: Value) -> Value:
    return value if isinstance(value, Error) else None


def _average(formula: Evaluator, *given: Operand) -> float:
    return mean(numbers(formula, given))


def _count(formula: Evaluator, *given: Operand) -> float:
    found = 0
    for operand in given:
        if isinstance(operand, Reference | References | Array):
            values = formula.context.present(operand)
            found += sum(type(value) is float for value in values)
            if isinstance(operand, Array) and operand.repeat > 1:
                last = sum(type(value) is float for value in operand.rows[-1])
                found += last * (operand.repeat - 1)
        elif isinstance(operand, Error):
            continue
        else:
            direct(operand)
            found += 1
    return float(found)


def _counta(formula: Evaluator, *given: Operand) -> float:
    found = 0
    for operand in given:
        if isinstance(operand, Array):
            if any(value is None for value in operand.values()):
                raise Doubt
            operand.refuse_repeats()
            found += operand.height * operand.width
        elif isinstance(operand, Reference | References):
            found += sum(1 for _ in formula.context.present(operand))
        elif isinstance(operand, Missing):
            raise Doubt
        else:
            found += 1
    return float(found)


def _countblank(formula: Evaluator, operand: Operand) -> float:
    if not isinstance(operand, Reference):
        raise Doubt
    held = sum(value != "" for value in formula.context.present(operand))
    return float(operand.area.count - held)


def _min(formula: Evaluator, *given: Operand) -> float:
    return min(numbers(formula, given, repeats=True), default=0.0)


def _max(formula: Evaluator, *given: Operand) -> float:
    return max(numbers(formula, given, repeats=True), default=0.0)


def _averagea(formula: Evaluator, *given: Operand) -> float:
    return mean(anything(formula, given))


def _mina(formula: Evaluator, *given: Operand) -> float:
    return min(anything(formula, given), default=0.0)


def _maxa(formula: Evaluator, *given: Operand) -> float:
    return max(anything(formula, given), default=0.0)


def _product(formula: Evaluator, *given: Operand) -> float:
    found = numbers(formula, given)
    return finite(math.prod(found)) if found else 0.0


def _sumsq(formula: Evaluator, *given: Operand) -> float:
    return finite(math.fsum(number**2 for number in numbers(formula, given)))


def sample_variance(found: Sequence[float]) -> float:
    """Return the variance of a sample."""
    if len(found) < 2:
        raise Fault(DIV)
    return spread(found) / (len(found) - 1)


def variance(found: Sequence[float]) -> float:
    """Return the variance of all there is."""
    if not found:
        raise Fault(DIV)
    return spread(found) / len(found)


def _root(of: Callable[[Sequence[float]], float]) -> Callable[[Sequence[float]], float]:
    return lambda found: math.sqrt(of(found))


def _of_numbers(of: Callable[[Sequence[float]], float]) -> Whole:
    return Whole(lambda formula, *given: of(numbers(formula, given)))


def _of_anything(of: Callable[[Sequence[float]], float]) -> Whole:
    return Whole(lambda formula, *given: of(anything(formula, given)))


# --- truths ---------------------------------------------------------------------------------------


def _truths(formula: Evaluator, given: Sequence[Operand]) -> list[bool]:
    found: list[bool] = []
    for operand in given:
        if isinstance(operand, Reference | References | Array):
            values = list(formula.context.present(operand))
            errors = {value.code for value in values if isinstance(value, Error)}
            if errors:
                raise first_error(errors)
            found.extend(bool(value) for value in values if isinstance(value, bool | float))
        elif isinstance(operand, (Missing, str)):
            raise Doubt
        else:
            found.append(to_truth(operand))  # type: ignore[arg-type]  # one value
    if not found:
        raise Fault(VALUE)
    return found


def _and(formula: Evaluator, *given: Operand) -> bool:
    return all(_truths(formula, given))


def _or(formula: Evaluator, *given: Operand) -> bool:
    return any(_truths(formula, given))


def _xor(formula: Evaluator, *given: Operand) -> bool:
    for operand in given:
        if isinstance(operand, Array):
            operand.refuse_repeats()
    return sum(_truths(formula, given)) % 2 == 1


# --- products -------------------------------------------------------------------------------------


def _sumproduct(formula: Evaluator, *given: Operand) -> float:
    arrays = [formula.context.array(operand) for operand in given]
    shapes = {(one.height, one.width, one.repeat) for one in arrays}
    if len(shapes) != 1:
        if any(one.repeat > 1 for one in arrays):
            raise NotComputed("whole_column")
        raise Fault(VALUE)
    height, width, repeat = shapes.pop()
    errors = {v.code for one in arrays for v in one.values() if isinstance(v, Error)}
    if errors:
        raise first_error(errors)
    products: list[float] = []
    for row in range(height):
        for col in range(width):
            product = 1.0
            for one in arrays:
                cell = one.rows[row][col]
                product *= cell if type(cell) is float else 0.0
            if product and repeat > 1 and row == height - 1:
                raise NotComputed("whole_column")
            products.append(product)
    return total(products)


def _of_two(step: Callable[[float, float], float]) -> Whole:
    """Return a sum over pairs of numbers; both lists must hold nothing else."""

    def found(formula: Evaluator, left: Operand, right: Operand) -> float:
        one, two = formula.context.array(left), formula.context.array(right)
        if (one.height, one.width) != (two.height, two.width):
            raise Fault(NA)
        first, second = one.all(), two.all()
        for value in (*first, *second):
            if isinstance(value, Error):
                raise Fault(value)
            if type(value) is not float:
                raise Doubt
        return finite(
            math.fsum(
                step(a, b)
                for a, b in zip(first, second, strict=True)
                if type(a) is float and type(b) is float
            )
        )

    return Whole(found)


# --- subtotals ------------------------------------------------------------------------------------

_SUBTOTALS: dict[int, Callable[[Sequence[float]], float]] = {
    1: mean,
    4: lambda found: max(found, default=0.0),
    5: lambda found: min(found, default=0.0),
    6: lambda found: finite(math.prod(found)) if found else 0.0,
    7: _root(sample_variance),
    8: _root(variance),
    9: total,
    10: sample_variance,
    11: variance,
    12: median,
    13: mode,
}
_WITH_PLACE: dict[int, Callable[[Sequence[float], float], float]] = {
    14: large,
    15: small,
    16: percentile_inc,
    17: quartile(percentile_inc),
    18: percentile_exc,
    19: quartile(percentile_exc),
}


def _shown(formula: Evaluator, operand: Operand, *, by_hand: bool, nested: bool) -> list[Value]:
    """Return what the cells hold that are shown; `nested` passes over other subtotals."""
    parts = operand.parts if isinstance(operand, References) else (operand,)
    found: list[Value] = []
    for part in parts:
        if not isinstance(part, Reference):
            raise Doubt
        hand, filtered = formula.context.hidden(part.sheet)
        for row, col, value in formula.context.memory.present(part):
            if row in filtered or (by_hand and row in hand):
                continue
            if nested and _is_subtotal(formula, Cell(part.sheet, row, col)):
                continue
            found.append(value)
    return found


def _is_subtotal(formula: Evaluator, cell: Cell) -> bool:
    if cell not in formula.context.memory.formulas:
        return False
    text = formula.context.formula(cell) or ""
    if not _NESTED.search(text):
        return False
    pieces = [token for token in tokens(text) if token.kind != "space"]
    if pieces[0].body not in {"SUBTOTAL", "AGGREGATE"} or _end_of_call(pieces) != len(pieces) - 1:
        raise Doubt  # a subtotal inside something else
    return True


def _end_of_call(pieces: Sequence[object]) -> int:
    depth = 0
    for index, token in enumerate(pieces):
        kind = getattr(token, "kind", "")
        depth += {"function": 1, "open": 1, "close": -1}.get(kind, 0)
        if depth == 0:
            return index
    return len(pieces)


def _subtotal(formula: Evaluator, kind: Operand, *given: Operand) -> float:
    number = to_whole(formula.as_one(kind, "SUBTOTAL"))
    by_hand = number > 100
    which = number - 100 if by_hand else number
    if not 1 <= which <= 11:
        raise Fault(VALUE)
    values = [
        value
        for operand in given
        for value in _shown(formula, operand, by_hand=by_hand, nested=True)
    ]
    return _totalled(which, values, errors=True)


def _totalled(which: int, values: Sequence[Value], *, errors: bool) -> float:
    if which == 3:
        held = [value for value in values if errors or not isinstance(value, Error)]
        return float(len(held))
    codes = {value.code for value in values if isinstance(value, Error)}
    if which == 2:
        return float(sum(type(value) is float for value in values))
    if codes and errors:
        raise first_error(codes)
    return _SUBTOTALS[which]([value for value in values if type(value) is float])


def _aggregate(formula: Evaluator, kind: Operand, option: Operand, *given: Operand) -> float:
    which = to_whole(formula.as_one(kind, "AGGREGATE"))
    how = 0 if option is MISSING else to_whole(formula.as_one(option, "AGGREGATE"))
    if not 1 <= which <= 19 or not 0 <= how <= 7:
        raise Fault(VALUE)
    by_hand, errors, nested = how in {1, 3, 5, 7}, how not in {2, 3, 6, 7}, how < 4
    if which >= 14:
        return _aggregate_place(formula, which, given, by_hand, errors, nested)
    values: list[Value] = []
    for operand in given:
        if isinstance(operand, Array):
            raise Fault(VALUE)
        values += _seen(formula, operand, by_hand, nested)
    return _totalled(which, values, errors=errors)


def _seen(formula: Evaluator, operand: Operand, by_hand: bool, nested: bool) -> list[Value]:
    """Return the cells AGGREGATE goes through; filtered rows count unless hidden ones do not."""
    parts = operand.parts if isinstance(operand, References) else (operand,)
    for part in parts:
        if isinstance(part, Reference) and not by_hand:
            _, filtered = formula.context.hidden(part.sheet)
            last = min(part.area.row2, formula.context.memory.used_rows)
            if any(part.area.row1 <= row <= last for row in filtered):
                raise Doubt
    return _shown(formula, operand, by_hand=by_hand, nested=nested)


def _aggregate_place(
    formula: Evaluator,
    which: int,
    given: Sequence[Operand],
    by_hand: bool,
    errors: bool,
    nested: bool,
) -> float:
    if len(given) != 2:
        raise Fault(VALUE)
    values: list[Value]
    if isinstance(given[0], Array):
        if given[0].repeat > 1 and any(type(v) is float for v in given[0].rows[-1]):
            given[0].refuse_repeats()
        values = list(given[0].values())
    else:
        values = _seen(formula, given[0], by_hand, nested)
    place = formula.settled(given[1], False)
    if isinstance(place, Array):
        raise NotComputed("array_context")
    codes = {value.code for value in values if isinstance(value, Error)}
    if codes and errors:
        raise first_error(codes)
    found = [value for value in values if type(value) is float]
    return _WITH_PLACE[which](found, direct(place))


def _percentof(formula: Evaluator, part: Operand, whole: Operand) -> float:
    below = total(numbers(formula, [whole]))
    if not below:
        raise Fault(DIV)
    return total(numbers(formula, [part])) / below


def _gcd(formula: Evaluator, *given: Operand) -> float:
    return float(math.gcd(*_wholes(formula, given)))


def _lcm(formula: Evaluator, *given: Operand) -> float:
    found = math.lcm(*_wholes(formula, given))
    if found >= 2**53:
        raise Fault(NUM)
    return float(found)


def _wholes(formula: Evaluator, given: Sequence[Operand]) -> list[int]:
    """Return the whole numbers that GCD and LCM are of; they take nothing else in every program."""
    found = []
    for operand in given:
        for cell in formula.context.array(operand).all():
            if isinstance(cell, Error):
                raise Fault(cell)
            if type(cell) is not float:
                raise Doubt  # text, a truth, an empty cell: programs differ
            if cell < 0 or cell >= 2**53:
                raise Fault(NUM)
            found.append(to_whole(cell))
    return found


def _multinomial(formula: Evaluator, *given: Operand) -> float:
    found = _wholes(formula, given)
    if sum(found) > 170:
        raise Fault(NUM)
    below = math.prod(math.factorial(number) for number in found)
    return float(math.factorial(sum(found)) // below)


def _seriessum(
    formula: Evaluator, x: Operand, first: Operand, step: Operand, weights: Operand
) -> float:
    base, start, by = (direct(formula.settled(one, False)) for one in (x, first, step))
    found = formula.context.array(weights).all()
    if any(type(value) is not float for value in found):
        raise Doubt
    if base == 0:
        raise Doubt
    parts = [value * base ** (start + at * by) for at, value in enumerate(found) if value]
    return total(parts)


FUNCTIONS: dict[str, Definition] = {
    **wholes(
        {
            "COUNTBLANK": _countblank,
            "AVERAGEA": _averagea,
            "MINA": _mina,
            "MAXA": _maxa,
            "PRODUCT": _product,
            "SUMSQ": _sumsq,
            "AND": _and,
            "OR": _or,
            "XOR": _xor,
            "SUMPRODUCT": _sumproduct,
            "SUBTOTAL": _subtotal,
            "AGGREGATE": _aggregate,
            "PERCENTOF": _percentof,
            "GCD": _gcd,
            "LCM": _lcm,
            "MULTINOMIAL": _multinomial,
            "SERIESSUM": _seriessum,
        }
    ),
    "SUM": _kept(_sum),
    "AVERAGE": _kept(_average),
    "COUNT": _kept(_count),
    "COUNTA": _kept(_counta),
    "MIN": _kept(_min),
    "MAX": _kept(_max),
    **dict.fromkeys(("STDEV", "STDEV.S"), _of_numbers(_root(sample_variance))),
    **dict.fromkeys(("STDEVP", "STDEV.P"), _of_numbers(_root(variance))),
    **dict.fromkeys(("VAR", "VAR.S"), _of_numbers(sample_variance)),
    **dict.fromkeys(("VARP", "VAR.P"), _of_numbers(variance)),
    "STDEVA": _of_anything(_root(sample_variance)),
    "STDEVPA": _of_anything(_root(variance)),
    "VARA": _of_anything(sample_variance),
    "VARPA": _of_anything(variance),
    "SUMX2MY2": _of_two(lambda a, b: a * a - b * b),
    "SUMX2PY2": _of_two(lambda a, b: a * a + b * b),
    "SUMXMY2": _of_two(lambda a, b: (a - b) ** 2),
}
