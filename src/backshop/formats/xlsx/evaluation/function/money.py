"""Functions of money: payments, interest, present values, depreciation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..coercion import finite
from ..date_system import to_day
from ..definition import Definition, Scalar, Whole, scalars
from ..number_list import direct, numbers
from ..value import (
    DIV,
    MISSING,
    NUM,
    VALUE,
    Array,
    Doubt,
    Error,
    Fault,
    Missing,
    Operand,
    Reference,
    References,
    Value,
)

if TYPE_CHECKING:
    from ..evaluator import Evaluator

_STEPS = 200
_EDGES = (
    -0.99,
    -0.9,
    -0.7,
    -0.5,
    -0.3,
    -0.15,
    -0.05,
    0.03,
    0.1,
    0.2,
    0.4,
    0.7,
    1.0,
    2.0,
    5.0,
    10.0,
)


def _growth(rate: float, count: float) -> float:
    if rate <= -1:
        raise Fault(NUM)
    try:
        return math.pow(1 + rate, count)
    except OverflowError:
        raise Fault(NUM) from None


def _pmt(rate: float, count: float, now: float, end: float = 0.0, kind: float = 0.0) -> float:
    if count == 0:
        raise Fault(NUM)
    if rate == 0:
        return -(now + end) / count
    grown = _growth(rate, count)
    early = 1 + rate if kind else 1.0
    return finite(-(end + now * grown) * rate / (early * (grown - 1)))


def _fv(rate: float, count: float, paid: float, now: float = 0.0, kind: float = 0.0) -> float:
    if rate == 0:
        return -(now + paid * count)
    grown = _growth(rate, count)
    early = 1 + rate if kind else 1.0
    return finite(-(now * grown + paid * early * (grown - 1) / rate))


def _pv(rate: float, count: float, paid: float, end: float = 0.0, kind: float = 0.0) -> float:
    if rate == 0:
        return -(end + paid * count)
    grown = _growth(rate, count)
    early = 1 + rate if kind else 1.0
    return finite(-(end + paid * early * (grown - 1) / rate) / grown)


def _nper(rate: float, paid: float, now: float, end: float = 0.0, kind: float = 0.0) -> float:
    if rate == 0:
        if paid == 0:
            raise Fault(NUM)
        return -(now + end) / paid
    if rate <= -1:
        raise Fault(NUM)
    steady = paid * (1 + rate if kind else 1.0) / rate
    if now + steady == 0 or (steady - end) / (now + steady) <= 0:
        raise Fault(NUM)
    return math.log((steady - end) / (now + steady)) / math.log(1 + rate)


def _interest(rate: float, at: float, count: float, now: float, end: float, kind: float) -> float:
    paid = _pmt(rate, count, now, end, kind)
    if kind and at == 1:
        return 0.0
    if kind:
        return _owed(rate, at - 2, paid, now, kind, paid) * rate
    return _owed(rate, at - 1, paid, now, kind) * rate


def _owed(
    rate: float, count: float, paid: float, now: float, kind: float, less: float = 0.0
) -> float:
    """Return what is still owed; in doubt where it is next to nothing beside what it grew to."""
    found = _fv(rate, count, paid, now, kind) - less
    if abs(found) < 1e-6 * abs(now * _growth(rate, count)):
        raise Doubt
    return found


def _ipmt(
    rate: float, at: float, count: float, now: float, end: float = 0.0, kind: float = 0.0
) -> float:
    if at < 1 or at > count or at != int(at):
        raise Fault(NUM)
    return finite(_interest(rate, at, count, now, end, kind))


def _ppmt(
    rate: float, at: float, count: float, now: float, end: float = 0.0, kind: float = 0.0
) -> float:
    paid = _pmt(rate, count, now, end, kind)
    found = paid - _ipmt(rate, at, count, now, end, kind)
    if abs(found) < 1e-6 * abs(paid):
        raise Doubt  # the interest is nearly all of it
    return found


def _cumulated(interest: bool) -> Callable[..., float]:
    def found(
        rate: float, count: float, now: float, first: float, last: float, kind: float
    ) -> float:
        if min(rate, count, now) <= 0 or first < 1 or last < first or last > count:
            raise Fault(NUM)
        if kind not in {0, 1} or first != int(first) or last != int(last) or last > 5000:
            raise Doubt
        paid = _pmt(rate, count, now, 0.0, kind)
        parts = [
            _interest(rate, at, count, now, 0.0, kind) for at in range(int(first), int(last) + 1)
        ]
        total = math.fsum(parts)
        if interest:
            return total
        found = paid * len(parts) - total
        if abs(found) < 1e-6 * abs(total):
            raise Doubt
        return found

    return found


def _ispmt(rate: float, at: float, count: float, now: float) -> float:
    if count == 0:
        raise Fault(DIV)
    return -now * rate * (1 - at / count)


def _effect(rate: float, times: float) -> float:
    periods = math.trunc(times)
    if rate <= 0 or periods < 1:
        raise Fault(NUM)
    return finite(_growth(rate / periods, periods) - 1)


def _nominal(rate: float, times: float) -> float:
    periods = math.trunc(times)
    if rate <= 0 or periods < 1:
        raise Fault(NUM)
    return periods * (math.pow(1 + rate, 1 / periods) - 1)


def _rri(count: float, now: float, end: float) -> float:
    if count <= 0 or now == 0 or end / now < 0:
        raise Fault(NUM)
    return math.pow(end / now, 1 / count) - 1


def _pduration(rate: float, now: float, end: float) -> float:
    if min(rate, now, end) <= 0:
        raise Fault(NUM)
    return (math.log(end) - math.log(now)) / math.log(1 + rate)


# --- depreciation ---------------------------------------------------------------------------------


def _sln(cost: float, salvage: float, life: float) -> float:
    if life == 0:
        raise Fault(DIV)
    return (cost - salvage) / life


def _syd(cost: float, salvage: float, life: float, at: float) -> float:
    if life <= 0 or at < 1 or at > life:
        raise Fault(NUM)
    return (cost - salvage) * (life - at + 1) * 2 / (life * (life + 1))


def _ddb(cost: float, salvage: float, life: float, at: float, factor: float = 2.0) -> float:
    if cost < 0 or salvage < 0 or life <= 0 or at < 1 or at > life or factor <= 0:
        raise Fault(NUM)
    if at != int(at):
        raise Doubt
    share = min(factor / life, 1.0)
    before = cost * (1 - share) ** (at - 1)
    return float(max(min(before * share, before - salvage), 0.0))


def _db(cost: float, salvage: float, life: float, at: float, month: float = 12.0) -> float:
    if cost < 0 or salvage < 0 or life <= 0 or at < 1 or not 1 <= month <= 12:
        raise Fault(NUM)
    if at > life + (month < 12) or cost == 0:
        raise Fault(NUM)
    if any(value != int(value) for value in (life, at, month)):
        raise Doubt
    rate = round(1 - math.pow(salvage / cost, 1 / life), 3)
    first = cost * rate * month / 12
    if at == 1:
        return first
    gone = first
    found = 0.0
    for period in range(2, int(at) + 1):
        found = (cost - gone) * rate
        if period == int(life) + 1:
            found = found * (12 - month) / 12
        gone += found
    return found


def _vdb(
    cost: float,
    salvage: float,
    life: float,
    start: float,
    end: float,
    factor: float = 2.0,
    stays: bool = False,
) -> float:
    if min(cost, salvage, start) < 0 or life <= 0 or end < start or end > life or factor <= 0:
        raise Fault(NUM)
    if any(value != int(value) for value in (start, end)) or life > 5000:
        raise Doubt
    left, total = cost, 0.0
    switched = False
    for period in range(int(end)):
        declining = min(left * min(factor / life, 1.0), max(left - salvage, 0.0))
        straight = max(left - salvage, 0.0) / max(life - period, 1)
        if not stays and (switched or straight > declining):
            switched, taken = True, straight
        else:
            taken = declining
        left -= taken
        if period >= start:
            total += taken
    return total


# --- rates that are searched ----------------------------------------------------------------------


def _solved(value: Callable[[float], float]) -> float:
    """Return the rate at which a value is zero, between a loss of nearly all and tenfold gain."""
    edges = [low for low in _EDGES if math.isfinite(_tried(value, low))]
    found = [
        (one, two)
        for one, two in itertools.pairwise(edges)
        if _tried(value, one) * _tried(value, two) <= 0
    ]
    if len(found) != 1:
        raise Doubt
    return _halved(value, *found[0])


def _tried(value: Callable[[float], float], rate: float) -> float:
    try:
        return value(rate)
    except (OverflowError, ZeroDivisionError, ValueError):
        return math.nan


def _halved(value: Callable[[float], float], low: float, high: float) -> float:
    first = value(low)
    if first == 0:
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        here = value(middle)
        if here == 0:
            return middle
        if first * here < 0:
            high = middle
        else:
            low, first = middle, here
    return (low + high) / 2


def _turns(flows: Sequence[float]) -> int:
    """Return how often money changes its direction."""
    signs = [flow > 0 for flow in flows if flow]
    return sum(one != two for one, two in itertools.pairwise(signs))


def _settled_rate(flows: Sequence[float], value: Callable[[float], float]) -> float:
    turns = _turns(flows)
    if turns == 0:
        raise Fault(NUM)
    if turns > 1:
        raise Doubt  # there may be several rates
    found = _solved(value)
    if abs(found) < 1e-7:
        raise Doubt
    return found


def _rate(
    count: float,
    paid: float,
    now: float,
    end: float = 0.0,
    kind: float = 0.0,
    guess: float = 0.1,
) -> float:
    if count <= 0:
        raise Fault(NUM)
    if count > 5000:
        raise Doubt
    flows = [now, paid, end] if kind == 0 else [now + paid, paid, end]
    if _turns(flows) != 1:
        raise Doubt

    def value(rate: float) -> float:
        if abs(rate) < 1e-12:
            return now + paid * count + end
        grown = (1 + rate) ** count
        return float(now * grown + paid * (1 + rate * bool(kind)) * (grown - 1) / rate + end)

    found = _solved(value)
    if abs(found) < 1e-7:
        raise Doubt
    return found


def _flows(formula: Evaluator, operand: Operand) -> list[float]:
    if not isinstance(operand, Reference | References | Array):
        raise Doubt
    if isinstance(operand, Array):
        operand.refuse_repeats()
        return [_number(value) for value in operand.values()]
    if isinstance(operand, Reference) and operand.area.width > 1 and operand.area.height > 1:
        raise Doubt
    return numbers(formula, [operand])


def _number(value: Value) -> float:
    if isinstance(value, Error):
        raise Fault(value)
    if type(value) is not float:
        raise Doubt
    return value


def _present(flows: Sequence[float], rate: float) -> float:
    return math.fsum(flow / (1 + rate) ** at for at, flow in enumerate(flows))


def _check_guess(formula: Evaluator, operand: Operand) -> None:
    """Refuse a guess from which Excel may not find the one rate there is."""
    if not isinstance(operand, Missing):
        guess = direct(formula.settled(operand, False))
        if not -0.9 <= guess <= 1:
            raise Doubt


def _irr(formula: Evaluator, values: Operand, guess: Operand = MISSING) -> float:
    flows = _flows(formula, values)
    if not flows:
        raise Fault(NUM)
    _check_guess(formula, guess)
    return _settled_rate(flows, lambda rate: _present(flows, rate))


def _npv(formula: Evaluator, rate: Operand, *given: Operand) -> float:
    by = direct(rate)
    if by == -1:
        raise Fault(DIV)
    flows = numbers(formula, given)
    return finite(math.fsum(flow / (1 + by) ** at for at, flow in enumerate(flows, 1)))


def _mirr(formula: Evaluator, values: Operand, paid: Operand, earned: Operand) -> float:
    flows = _flows(formula, values)
    cost, gain = direct(formula.settled(paid, False)), direct(formula.settled(earned, False))
    count = len(flows)
    if not any(flow > 0 for flow in flows) or not any(flow < 0 for flow in flows):
        raise Fault(DIV)
    if cost <= -1 or gain <= -1:
        raise Doubt
    plus = math.fsum(f * (1 + gain) ** (count - 1 - at) for at, f in enumerate(flows) if f > 0)
    minus = math.fsum(f / (1 + cost) ** at for at, f in enumerate(flows) if f < 0)
    return math.pow(-plus / minus, 1 / (count - 1)) - 1


def _dated(formula: Evaluator, values: Operand, dates: Operand) -> list[tuple[float, int]]:
    """Return payments with their days, counted from the first."""
    flows = [_number(value) for value in formula.context.array(values).all()]
    days = [
        int(to_day(_number(value), formula.context.date_1904))
        for value in formula.context.array(dates).all()
    ]
    if len(flows) != len(days) or not flows:
        raise Fault(NUM)
    if min(days) < days[0]:
        raise Fault(NUM)
    return [(flow, day - days[0]) for flow, day in zip(flows, days, strict=True)]


def _present_dated(flows: Sequence[tuple[float, int]], rate: float) -> float:
    return math.fsum(flow / (1 + rate) ** (day / 365) for flow, day in flows)


def _xnpv(formula: Evaluator, rate: Operand, values: Operand, dates: Operand) -> float:
    by = direct(formula.settled(rate, False))
    if by <= 0:
        raise Doubt
    return finite(_present_dated(_dated(formula, values, dates), by))


def _xirr(formula: Evaluator, values: Operand, dates: Operand, guess: Operand = MISSING) -> float:
    flows = _dated(formula, values, dates)
    in_order = [flow for flow, _ in sorted(flows, key=lambda pair: pair[1])]
    _check_guess(formula, guess)
    return _settled_rate(in_order, lambda rate: _present_dated(flows, rate))


def _fvschedule(formula: Evaluator, now: Operand, rates: Operand) -> float:
    found = direct(formula.settled(now, False))
    for value in formula.context.array(rates).all():
        if value is None:
            continue
        if isinstance(value, str | bool):
            raise Fault(VALUE)
        found *= 1 + _number(value)
    return finite(found)


def _dollarde(value: float, parts: float) -> float:
    base = math.trunc(parts)
    if base < 0:
        raise Fault(NUM)
    if base == 0:
        raise Fault(DIV)
    whole = math.trunc(value)
    power = 10 ** math.ceil(math.log10(base)) if base > 1 else 1
    return whole + (value - whole) * power / base


def _dollarfr(value: float, parts: float) -> float:
    base = math.trunc(parts)
    if base < 0:
        raise Fault(NUM)
    if base == 0:
        raise Fault(DIV)
    whole = math.trunc(value)
    power = 10 ** math.ceil(math.log10(base)) if base > 1 else 1
    return whole + (value - whole) * base / power


FUNCTIONS: dict[str, Definition] = {
    **scalars(
        {
            "PMT": _pmt,
            "FV": _fv,
            "PV": _pv,
            "NPER": _nper,
            "IPMT": _ipmt,
            "PPMT": _ppmt,
            "ISPMT": _ispmt,
            "RRI": _rri,
            "PDURATION": _pduration,
            "SLN": _sln,
            "SYD": _syd,
            "DDB": _ddb,
            "DB": _db,
            "RATE": _rate,
        },
        "n",
    ),
    "VDB": Scalar(_vdb, "nnnnnnb"),
    "CUMIPMT": Scalar(_cumulated(True), "n", of_arrays=False),
    "CUMPRINC": Scalar(_cumulated(False), "n", of_arrays=False),
    "EFFECT": Scalar(_effect, "n", of_arrays=False),
    "NOMINAL": Scalar(_nominal, "n", of_arrays=False),
    "DOLLARDE": Scalar(_dollarde, "n", of_arrays=False),
    "DOLLARFR": Scalar(_dollarfr, "n", of_arrays=False),
    "NPV": Whole(_npv),
    "IRR": Whole(_irr),
    "MIRR": Whole(_mirr),
    "XNPV": Whole(_xnpv),
    "XIRR": Whole(_xirr),
    "FVSCHEDULE": Whole(_fvschedule),
}
