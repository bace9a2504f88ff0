"""The numbers along an axis: where it begins and ends, and at which numbers it has ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from .data import Axis

_MOST_TICKS = 200
_FLAT = 1 / 6  # values that differ by less of their size are shown without the zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An axis of numbers; `part` says where a number lies on it, from 0 to 1."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_reversed: bool = False
    log_base: float | None = None
    crossed_at: float = 0.0

    def part(self, value: float) -> float:
        """Return where a number lies, held within the axis."""
        low, high, at = self.low, self.high, value
        if self.log_base is not None:
            low, high = math.log10(low), math.log10(high)
            at = math.log10(value) if value > 0 else low
        found = (at - low) / (high - low) if high > low else 0.0
        found = min(max(found, 0.0), 1.0)
        return 1 - found if self.is_reversed else found

    @property
    def base(self) -> float:
        """The number that columns and areas stand on."""
        return min(max(self.crossed_at, self.low), self.high)


def scale(values: Iterable[float], axis: Axis, length: float, *, whole: bool = False) -> Scale:
    """Return the scale for values on an axis of a length; `whole` runs from 0 to 1."""
    found = [value for value in values if math.isfinite(value) and abs(value) < 1e300]
    least, most = (min(found), max(found)) if found else (0.0, 1.0)
    if whole:
        least, most = min(least, 0.0), max(most, 1.0) if least >= 0 else most
    if axis.log_base is not None and axis.log_base > 1:
        return _logarithmic(least, most, axis)
    low, high = _ends(least, most, axis, whole=whole)
    step = axis.step if axis.step and axis.step > 0 else _step(high - low, length)
    if (high - low) / step > _MOST_TICKS:
        step = _step(high - low, length)
    low = low if axis.low is not None else math.floor(low / step + 1e-9) * step
    high = high if axis.high is not None else math.ceil(high / step - 1e-9) * step
    if high <= low:
        high = low + step
    return Scale(
        low=low,
        high=high,
        ticks=_ticks(low, high, step),
        is_reversed=axis.is_reversed,
        crossed_at=axis.crossed_at,
    )


def _ends(least: float, most: float, axis: Axis, *, whole: bool) -> tuple[float, float]:
    """Return from where to where the values want it; a bit of room is left beyond them."""
    if least == most:
        least, most = (least, 0.0) if least < 0 else (0.0, most or 1.0)
    span = most - least
    room = 0.0 if whole else span / 20
    low, high = least - room, most + room
    if least >= 0:
        low = low if most and span / most < _FLAT else 0.0
    if most <= 0:
        high = high if least and span / -least < _FLAT else 0.0
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def _step(span: float, length: float) -> float:
    """Return 1, 2 or 5 of some power of ten, so that there are not too many ticks."""
    most = min(max(length / 34, 2.0), 10.0)
    raw = span / most
    power = 10.0 ** math.floor(math.log10(raw)) if raw > 0 else 1.0
    return next((n * power for n in (1, 2, 5, 10) if n * power >= raw * (1 - 1e-9)), 10 * power)


def _ticks(low: float, high: float, step: float) -> tuple[float, ...]:
    count = min(math.floor((high - low) / step + 1e-6), _MOST_TICKS)
    digits = max(0, 12 - math.floor(math.log10(max(abs(low), abs(high), step))))
    return tuple(round(low + at * step, min(digits, 300)) for at in range(count + 1))


def _logarithmic(least: float, most: float, axis: Axis) -> Scale:
    base = axis.log_base or 10.0
    low = axis.low if axis.low and axis.low > 0 else max(least, 1e-12) if least > 0 else 1.0
    high = axis.high if axis.high and axis.high > low else max(most, low * base)
    first = math.floor(math.log(low, base) + 1e-9)
    last = min(math.ceil(math.log(high, base) - 1e-9), first + 30)
    ticks = tuple(base**power for power in range(first, max(last, first + 1) + 1))
    return Scale(
        low=ticks[0],
        high=ticks[-1],
        ticks=ticks,
        is_reversed=axis.is_reversed,
        log_base=base,
        crossed_at=axis.crossed_at,
    )
