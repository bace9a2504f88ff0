"""Functions of the order of numbers: places, ranks, percentiles, the most frequent."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..coercion import clear_of_edges, to_number
from ..definition import Definition, Whole
from ..number_list import direct, mean, numbers, refuse_near
from ..value import (
    MISSING,
    NA,
    NUM,
    Array,
    Doubt,
    Fault,
    Missing,
    Operand,
    Reference,
    References,
    Value,
    column_of,
)

if TYPE_CHECKING:
    from ..evaluator import Evaluator


def _place(found: Sequence[float], which: float) -> int:
    """Return a place among numbers, counted from 1."""
    place = int(which)
    if place != which:
        raise Doubt  # rounded one way for one function, another way for the other
    if place < 1 or place > len(found):
        raise Fault(NUM)
    return place


def large(found: Sequence[float], which: float) -> float:
    """Return the number at a place, the largest first."""
    return sorted(found, reverse=True)[_place(found, which) - 1]


def small(found: Sequence[float], which: float) -> float:
    """Return the number at a place, the smallest first."""
    return sorted(found)[_place(found, which) - 1]


def median(found: Sequence[float]) -> float:
    """Return the number in the middle."""
    if not found:
        raise Fault(NUM)
    ordered, half = sorted(found), len(found) // 2
    return ordered[half] if len(found) % 2 else (ordered[half - 1] + ordered[half]) / 2


def mode(found: Sequence[float]) -> float:
    """Return the most frequent number; of several nobody says which."""
    counts = Counter(found)
    most = max(counts.values(), default=0)
    if most < 2:
        raise Fault(NA)
    modes = [number for number in counts if counts[number] == most]
    if len(modes) > 1:
        raise Doubt
    return modes[0]


def _modes(formula: Evaluator, *given: Operand) -> Operand:
    """Return the most frequent numbers; in doubt where their order is not one of size."""
    counts = Counter(numbers(formula, given))
    most = max(counts.values(), default=0)
    if most < 2:
        raise Fault(NA)
    modes = [number for number in counts if counts[number] == most]
    if modes != sorted(modes):
        raise Doubt
    return column_of(modes)


def _at(ordered: Sequence[float], place: float) -> float:
    """Return the number at a place between two, counted from 0."""
    low = math.floor(place)
    share = place - low
    if low + 1 >= len(ordered) or not share:
        return ordered[min(low, len(ordered) - 1)]
    return ordered[low] + share * (ordered[low + 1] - ordered[low])


def percentile_inc(found: Sequence[float], share: float) -> float:
    """Return the number below which a share lies, both ends included."""
    if not found or not 0 <= share <= 1:
        raise Fault(NUM)
    return _at(sorted(found), share * (len(found) - 1))


def percentile_exc(found: Sequence[float], share: float) -> float:
    """Return the number below which a share lies, without the ends."""
    count = len(found)
    if not found or not 0 < share < 1:
        raise Fault(NUM)
    place = share * (count + 1)
    if place < 1 or place > count:
        raise Fault(NUM)
    return _at(sorted(found), place - 1)


def quartile(of: Callable[[Sequence[float], float], float]) -> Callable[..., float]:
    """Return the function of quarters that belongs to one of shares."""

    def found(values: Sequence[float], which: float) -> float:
        quarter = math.trunc(clear_of_edges(which))
        if not 0 <= quarter <= 4:
            raise Fault(NUM)
        return of(values, quarter / 4)

    return found


def _with_share(of: Callable[[Sequence[float], float], float]) -> Whole:
    """Return a function of a list and a number."""

    def found(formula: Evaluator, values: Operand, which: Operand) -> float:
        place = direct(which)
        if not isinstance(values, Reference | References | Array):
            raise Doubt
        return of(_counted(formula, values), place)

    return Whole(found)


def _counted(formula: Evaluator, values: Operand) -> list[float]:
    return numbers(formula, [values])


def _rank(formula: Evaluator, number: Operand, values: Operand, order: Operand = MISSING) -> float:
    ordered, place, count = _ranked(formula, number, values, order)
    return float(place if ordered and count else 0)


def _ranked(
    formula: Evaluator, number: Operand, values: Operand, order: Operand
) -> tuple[list[float], int, int]:
    """Return a list in order, the first place of a number in it, and how often it is there."""
    if not isinstance(values, Reference | References):
        raise Doubt
    if number is None or isinstance(number, str | bool | Missing):
        raise Doubt
    wanted = to_number(number)  # type: ignore[arg-type]  # one value
    found = sorted(numbers(formula, [values]))
    if wanted != float(f"{wanted:.15g}"):
        refuse_near(found, wanted)
    up = not isinstance(order, Missing) and to_number(order) != 0  # type: ignore[arg-type]
    first, last = bisect_left(found, wanted), bisect_right(found, wanted)
    if first == last:
        raise Fault(NA)
    place = first + 1 if up else len(found) - last + 1
    return found, place, last - first


def _rank_average(
    formula: Evaluator, number: Operand, values: Operand, order: Operand = MISSING
) -> float:
    _, place, count = _ranked(formula, number, values, order)
    return place + (count - 1) / 2


def _percentrank(step: Callable[[int, int], tuple[int, int]]) -> Callable[..., float]:
    def found(
        formula: Evaluator, values: Operand, number: Operand, digits: Operand = MISSING
    ) -> float:
        wanted = direct(formula.settled(number, False))
        places = 3 if isinstance(digits, Missing) else int(direct(formula.settled(digits, False)))
        ordered = sorted(numbers(formula, [values]))
        if not ordered or places < 1:
            raise Fault(NUM)
        if not ordered[0] <= wanted <= ordered[-1]:
            raise Fault(NA)
        if len(ordered) < 2:
            raise Doubt
        at = bisect_left(ordered, wanted)
        place = float(at)
        if ordered[at] != wanted:
            low, high = ordered[at - 1], ordered[at]
            place = at - 1 + (wanted - low) / (high - low)
        more, count = step(0, len(ordered))
        share = (place + more) / count
        clear_of_edges(share, places)
        return float(math.floor(share * 10**places) / 10**places)

    return found


def _trimmean(found: Sequence[float], share: float) -> float:
    if not 0 <= share < 1:
        raise Fault(NUM)
    if not found:
        raise Doubt  # which error is not written anywhere
    cut = math.floor(clear_of_edges(len(found) * share / 2))
    ordered = sorted(found)
    return mean(ordered[cut : len(ordered) - cut])


def _frequency(formula: Evaluator, values: Operand, bins: Operand) -> Operand:
    found = sorted(numbers(formula, [values]))
    limits = numbers(formula, [bins])
    if not limits:
        raise Doubt
    held: dict[float, float] = {}
    before = 0
    for limit in sorted(set(limits)):
        upto = bisect_right(found, limit)
        held[limit] = float(upto - before)
        before = upto
    counts: list[Value] = [held.pop(limit, 0.0) for limit in limits]  # twice: all in the first
    counts.append(float(len(found) - before))
    return column_of(counts)


def _prob(
    formula: Evaluator,
    values: Operand,
    shares: Operand,
    low: Operand,
    high: Operand = MISSING,
) -> float:
    xs = formula.context.array(values).all()
    ps = formula.context.array(shares).all()
    if len(xs) != len(ps):
        raise Fault(NA)
    if any(type(value) is not float for value in (*xs, *ps)):
        raise Doubt
    chances = [p for p in ps if type(p) is float]
    if any(not 0 < p <= 1 for p in chances) or abs(math.fsum(chances) - 1) > 1e-9:
        raise Fault(NUM)
    bottom = direct(formula.settled(low, False))
    top = bottom if isinstance(high, Missing) else direct(formula.settled(high, False))
    return math.fsum(
        p for x, p in zip(xs, chances, strict=True) if type(x) is float and bottom <= x <= top
    )


def _median(formula: Evaluator, *given: Operand) -> float:
    return median(numbers(formula, given))


def _mode(formula: Evaluator, *given: Operand) -> float:
    return mode(numbers(formula, given))


FUNCTIONS: dict[str, Definition] = {
    "LARGE": _with_share(large),
    "SMALL": _with_share(small),
    **dict.fromkeys(("PERCENTILE", "PERCENTILE.INC"), _with_share(percentile_inc)),
    "PERCENTILE.EXC": _with_share(percentile_exc),
    **dict.fromkeys(("QUARTILE", "QUARTILE.INC"), _with_share(quartile(percentile_inc))),
    "QUARTILE.EXC": _with_share(quartile(percentile_exc)),
    "TRIMMEAN": Whole(
        lambda formula, values, share: _trimmean(
            numbers(formula, [values]), direct(formula.settled(share, False))
        )
    ),
    **dict.fromkeys(("RANK", "RANK.EQ"), Whole(_rank)),
    "RANK.AVG": Whole(_rank_average),
    **dict.fromkeys(
        ("PERCENTRANK", "PERCENTRANK.INC"), Whole(_percentrank(lambda a, n: (a, n - 1)))
    ),
    "PERCENTRANK.EXC": Whole(_percentrank(lambda a, n: (a + 1, n + 1))),
    "MEDIAN": Whole(_median),
    **dict.fromkeys(("MODE", "MODE.SNGL"), Whole(_mode)),
    "MODE.MULT": Whole(_modes),
    "FREQUENCY": Whole(_frequency),
    "PROB": Whole(_prob),
}
