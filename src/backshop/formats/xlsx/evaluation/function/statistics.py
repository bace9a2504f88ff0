"""Functions that describe numbers: how they lie around their middle, and two lists compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..coercion import finite
from ..definition import Definition, Scalar, Whole
from ..number_list import direct, mean, numbers, pairs, spread
from ..value import DIV, MISSING, NA, NUM, Array, Doubt, Fault, Missing, Operand, Value
from .sum import sample_variance, variance

if TYPE_CHECKING:
    from ..evaluator import Evaluator


def _of(call: Callable[[Sequence[float]], float]) -> Whole:
    return Whole(lambda formula, *given: call(numbers(formula, given)))


def _avedev(found: Sequence[float]) -> float:
    if not found:
        raise Doubt  # which error is not written anywhere
    middle = mean(found)
    return mean([abs(number - middle) for number in found])


def _devsq(found: Sequence[float]) -> float:
    if not found:
        raise Doubt
    return spread(found)


def _geomean(found: Sequence[float]) -> float:
    if not found or min(found) <= 0:
        raise Fault(NUM)
    return math.exp(math.fsum(map(math.log, found)) / len(found))


def _harmean(found: Sequence[float]) -> float:
    if not found:
        raise Doubt
    if min(found) <= 0:
        raise Fault(NUM)
    return len(found) / math.fsum(1 / number for number in found)


def _skew(found: Sequence[float]) -> float:
    count = len(found)
    if count < 3:
        raise Fault(DIV)
    middle, size = mean(found), math.sqrt(sample_variance(found))
    if not size:
        raise Fault(DIV)
    cubes = math.fsum(((number - middle) / size) ** 3 for number in found)
    return cubes * count / ((count - 1) * (count - 2))


def _skew_all(found: Sequence[float]) -> float:
    if len(found) < 3:
        raise Fault(DIV)
    middle, size = mean(found), math.sqrt(variance(found))
    if not size:
        raise Fault(DIV)
    return math.fsum(((number - middle) / size) ** 3 for number in found) / len(found)


def _kurt(found: Sequence[float]) -> float:
    n = len(found)
    if n < 4:
        raise Fault(DIV)
    middle, size = mean(found), math.sqrt(sample_variance(found))
    if not size:
        raise Fault(DIV)
    fourth = math.fsum(((number - middle) / size) ** 4 for number in found)
    head = n * (n + 1) / ((n - 1) * (n - 2) * (n - 3))
    return head * fourth - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))


# --- two lists ------------------------------------------------------------------------------------


def _shared(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the sum of the products of distances from the averages."""
    one, two = mean(xs), mean(ys)
    return math.fsum((x - one) * (y - two) for x, y in zip(xs, ys, strict=True))


def _paired(call: Callable[[Sequence[float], Sequence[float]], float], least: int = 1) -> Whole:
    def found(formula: Evaluator, left: Operand, right: Operand) -> float:
        one, two = pairs(formula, left, right)
        if len(one) < least:
            raise Fault(DIV)
        return finite(call(one, two))

    return Whole(found)


def _correl(xs: Sequence[float], ys: Sequence[float]) -> float:
    below = math.sqrt(spread(xs) * spread(ys))
    if not below:
        raise Fault(DIV)
    return max(-1.0, min(1.0, _shared(xs, ys) / below))


def _slope(ys: Sequence[float], xs: Sequence[float]) -> float:
    below = spread(xs)
    if not below:
        raise Fault(DIV)
    return _shared(xs, ys) / below


def _intercept(ys: Sequence[float], xs: Sequence[float]) -> float:
    return mean(ys) - _slope(ys, xs) * mean(xs)


def _steyx(ys: Sequence[float], xs: Sequence[float]) -> float:
    if len(xs) < 3:
        raise Fault(DIV)
    below = spread(xs)
    if not below:
        raise Fault(DIV)
    rest = spread(ys) - _shared(xs, ys) ** 2 / below
    if rest < 1e-12 * spread(ys):
        raise Doubt
    return math.sqrt(rest / (len(xs) - 2))


def _covariance(xs: Sequence[float], ys: Sequence[float]) -> float:
    return _shared(xs, ys) / len(xs)


def _covariance_sample(xs: Sequence[float], ys: Sequence[float]) -> float:
    if len(xs) < 2:
        raise Fault(DIV)
    return _shared(xs, ys) / (len(xs) - 1)


def _forecast(formula: Evaluator, x: Operand, ys: Operand, xs: Operand) -> float:
    at = direct(formula.settled(x, False))
    one, two = pairs(formula, ys, xs)
    if not one:
        raise Fault(NA)
    return _intercept(one, two) + _slope(one, two) * at


def _values(formula: Evaluator, operand: Operand) -> list[float]:
    """Return the numbers of a row or a column that holds nothing else."""
    array = formula.context.array(operand)
    found = array.all()
    if 1 not in (array.height, array.width) or not all(type(value) is float for value in found):
        raise Doubt
    return [value for value in found if type(value) is float]


def _line(
    formula: Evaluator, ys: Operand, xs: Operand, const: Operand, *, log: bool = False
) -> tuple[float, float]:
    """Return slope and start of the straight line through points; of one variable only."""
    known = _values(formula, ys)
    if not isinstance(const, Missing) or (log and min(known) <= 0):
        raise Doubt
    places = [float(at) for at in range(1, len(known) + 1)]
    if not isinstance(xs, Missing):
        places = _values(formula, xs)
        if formula.context.array(xs).height != formula.context.array(ys).height:
            raise Doubt
    if len(places) != len(known) or len(known) < 2 or not spread(places):
        raise Doubt
    heights = [math.log(value) for value in known] if log else known
    slope, start = _slope(heights, places), _intercept(heights, places)
    largest = max(map(abs, heights))
    if 0 < abs(start) < 1e-12 * largest or 0 < abs(slope) < 1e-12 * largest:
        raise Doubt
    return slope, start


def _linest(
    formula: Evaluator,
    ys: Operand,
    xs: Operand = MISSING,
    const: Operand = MISSING,
    stats: Operand = MISSING,
) -> Operand:
    if not isinstance(stats, Missing) and formula.settled(stats, False) is not False:
        raise Doubt
    return Array([[*_line(formula, ys, xs, const)]])


def _along(log: bool) -> Whole:
    """Return TREND, or GROWTH for a line of logarithms."""

    def found(
        formula: Evaluator,
        ys: Operand,
        xs: Operand = MISSING,
        new: Operand = MISSING,
        const: Operand = MISSING,
    ) -> Operand:
        slope, start = _line(formula, ys, xs, const, log=log)
        where = next((one for one in (new, xs) if not isinstance(one, Missing)), None)
        shape = formula.context.array(ys if where is None else where)
        places = iter(range(1, len(shape.all()) + 1)) if where is None else iter(shape.all())
        rows: list[list[Value]] = []
        for row in shape.rows:
            at = [next(places) for _ in row]
            if not all(isinstance(one, int | float) and one is not True for one in at):
                raise Doubt
            heights = [start + slope * float(one) for one in at if isinstance(one, int | float)]
            rows.append([finite(math.exp(one)) if log else one for one in heights])
        return Array(rows)

    return Whole(found)


def _standardize(value: float, middle: float, size: float) -> float:
    if size <= 0:
        raise Fault(NUM)
    return (value - middle) / size


def _fisher(value: float) -> float:
    if not -1 < value < 1:
        raise Fault(NUM)
    return math.atanh(value)


FUNCTIONS: dict[str, Definition] = {
    "AVEDEV": _of(_avedev),
    "DEVSQ": _of(_devsq),
    "GEOMEAN": _of(_geomean),
    "HARMEAN": _of(_harmean),
    "SKEW": _of(_skew),
    "SKEW.P": _of(_skew_all),
    "KURT": _of(_kurt),
    **dict.fromkeys(("CORREL", "PEARSON"), _paired(_correl)),
    "RSQ": _paired(lambda ys, xs: _correl(xs, ys) ** 2),
    "SLOPE": _paired(_slope),
    "INTERCEPT": _paired(_intercept),
    "STEYX": _paired(_steyx),
    **dict.fromkeys(("COVAR", "COVARIANCE.P"), _paired(_covariance)),
    "COVARIANCE.S": _paired(_covariance_sample),
    **dict.fromkeys(("FORECAST", "FORECAST.LINEAR"), Whole(_forecast)),
    "LINEST": Whole(_linest),
    "TREND": _along(log=False),
    "GROWTH": _along(log=True),
    "STANDARDIZE": Scalar(_standardize, "n"),
    "FISHER": Scalar(_fisher, "n"),
    "FISHERINV": Scalar(math.tanh, "n"),
}
