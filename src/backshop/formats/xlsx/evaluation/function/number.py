"""Functions of single numbers: rounding, powers, angles, counting."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from ..coercion import clear_of_edges, exact, finite, power, rounded
from ..definition import Definition, Scalar, scalars
from ..value import DIV, NUM, VALUE, Doubt, Error, Fault, Value

_EXACT = Context(prec=60)
_LARGEST = 2.0**53
_ANGLE = 2.0**27  # beyond it Excel knows no sine
_NUMERALS = {
    **{"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40},
    **{"X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1},
}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_EDGE = Decimal("1e-9")


def _mod(value: float, divisor: float) -> float:
    if divisor == 0:
        raise Fault(DIV)
    if abs(value / divisor) > 1e12:
        raise Doubt
    found = value - divisor * math.floor(value / divisor)
    if value == int(value) and divisor == int(divisor):
        return found + 0.0
    share = found / divisor
    if abs(share - round(share)) <= 1e-9:
        raise Doubt
    return found


def _quotient(value: float, divisor: float) -> float:
    if divisor == 0:
        raise Fault(DIV)
    return float(math.trunc(clear_of_edges(value / divisor)))


def _round(value: float, digits: float) -> float:
    return rounded(value, math.trunc(clear_of_edges(digits)))


def _cut(value: float, digits: float, *, up: bool) -> float:
    places = math.trunc(clear_of_edges(digits))
    clear_of_edges(value, places)
    if abs(places) > 300:
        raise Doubt
    unit = Decimal(1).scaleb(-places)
    found = {
        _EXACT.divide(abs(Decimal(text)), unit).to_integral_value(
            ROUND_CEILING if up else ROUND_FLOOR
        )
        for text in (repr(value), f"{value:.15g}")
    }
    if len(found) > 1:
        raise Doubt
    return math.copysign(float(found.pop() * unit), value) + 0.0


def _roundup(value: float, digits: float) -> float:
    return _cut(value, digits, up=True)


def _rounddown(value: float, digits: float = 0.0) -> float:
    return _cut(value, digits, up=False)


def _int(value: float) -> float:
    return float(math.floor(clear_of_edges(value)))


def _to_even(value: float) -> float:
    size = math.ceil(clear_of_edges(abs(value)))
    return math.copysign(size + size % 2, value) + 0.0


def _to_odd(value: float) -> float:
    size = math.ceil(clear_of_edges(abs(value)))
    return math.copysign(size + (1 - size % 2), value or 1.0) + 0.0


def _steps(value: float, step: float, *, up: bool) -> float:
    """Return the multiple of a step above or below a number; both as they are written."""
    way = ROUND_CEILING if up else ROUND_FLOOR
    unit = exact(step)
    share = _EXACT.divide(exact(value), unit)
    whole = share.to_integral_value(way)
    off = abs(share - share.to_integral_value())
    if 0 < off <= _EDGE * max(Decimal(1), abs(share)):
        raise Doubt  # a hair's breadth from the next step: who rounds how is not known
    rough = math.ceil(value / step) if up else math.floor(value / step)
    if int(whole) != rough and abs(value / step - round(value / step)) > 1e-9:
        raise Doubt
    return float(whole * unit) + 0.0


def _away(value: float, step: float, *, up: bool) -> float:
    """Return a multiple up or down; of two negative numbers up is away from zero."""
    if step < 0:
        return -_steps(-value, -step, up=up) + 0.0
    return _steps(value, step, up=up)


def _ceiling(value: float, step: float) -> float:
    if step == 0 or value == 0:
        return 0.0
    if value > 0 > step:
        raise Fault(NUM)
    return _away(value, step, up=True)


def _floor(value: float, step: float) -> float:
    if value == 0:
        return 0.0
    if step == 0:
        raise Fault(DIV)
    if value > 0 > step:
        raise Fault(NUM)
    return _away(value, step, up=False)


def _ceiling_math(value: float, step: float = 1.0, mode: float = 0.0) -> float:
    if step == 0 or value == 0:
        return 0.0
    return _steps(value, abs(step), up=not (value < 0 and mode != 0))


def _floor_math(value: float, step: float = 1.0, mode: float = 0.0) -> float:
    if step == 0 or value == 0:
        return 0.0
    return _steps(value, abs(step), up=value < 0 and mode != 0)


def _ceiling_precise(value: float, step: float = 1.0) -> float:
    return _ceiling_math(value, step)


def _floor_precise(value: float, step: float = 1.0) -> float:
    return _floor_math(value, step)


def _mround(value: float, step: float) -> float:
    if step == 0 or value == 0:
        return 0.0
    if (value < 0) != (step < 0):
        raise Fault(NUM)
    share = value / step
    if abs(share % 1 - 0.5) <= 1e-9 and (value != int(value) or step != int(step)):
        raise Doubt  # Excel's own page calls it unpredictable
    whole = math.floor(share + 0.5)
    return float(whole * exact(step)) + 0.0


def _sqrt(value: float) -> float:
    if value < 0:
        raise Fault(NUM)
    return math.sqrt(value)


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        raise Fault(NUM) from None


def _log(value: float, base: float = 10.0) -> float:
    if value <= 0 or base <= 0:
        raise Fault(NUM)
    if base == 1:
        raise Fault(DIV)
    if base == 10:
        return math.log10(value)
    return math.log2(value) if base == 2 else math.log(value) / math.log(base)


def _ln(value: float) -> float:
    if value <= 0:
        raise Fault(NUM)
    return math.log(value)


def _angle(function: Callable[[float], float]) -> Callable[[float], float]:
    def found(value: float) -> float:
        if abs(value) >= _ANGLE:
            raise Doubt
        return finite(function(value))

    return found


def _limited(function: Callable[[float], float]) -> Callable[[float], float]:
    def found(value: float) -> float:
        try:
            return finite(function(value))
        except (ValueError, OverflowError, ZeroDivisionError):
            raise Fault(NUM) from None

    return found


def _inverse(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return one by what a function gives; its zero is a division by zero."""

    def found(value: float) -> float:
        if abs(value) >= _ANGLE:
            raise Doubt
        try:
            below = function(value)
        except OverflowError:
            return 0.0
        if below == 0:
            raise Fault(DIV)
        return 1 / below

    return found


def _coth(value: float) -> float:
    if value == 0:
        raise Fault(DIV)
    return 1 / math.tanh(value)


def _acot(value: float) -> float:
    return math.pi / 2 - math.atan(value)


def _acoth(value: float) -> float:
    if abs(value) <= 1:
        raise Fault(NUM)
    return math.atanh(1 / value)


def _atan2(x: float, y: float) -> float:
    if x == y == 0:
        raise Fault(DIV)
    return math.atan2(y, x)


def _whole_size(value: float) -> int:
    """Return a number that counts things, without its fraction."""
    found = math.trunc(clear_of_edges(value))
    if found < 0:
        raise Fault(NUM)
    if value < 0:
        raise Doubt
    return found


def _fact(value: float) -> float:
    number = _whole_size(value)
    if number > 170:
        raise Fault(NUM)
    return float(math.factorial(number))


def _factdouble(value: float) -> float:
    number = math.trunc(clear_of_edges(value))
    if number == -1:
        raise Doubt
    if number < 0 or number > 300:
        raise Fault(NUM)
    return float(math.prod(range(number, 0, -2)))


def _combin(number: float, chosen: float) -> float:
    total, part = _whole_size(number), _whole_size(chosen)
    if total < part:
        raise Fault(NUM)
    if total > 10_000:
        raise Doubt
    return _held(math.comb(total, part))


def _combina(number: float, chosen: float) -> float:
    total, part = _whole_size(number), _whole_size(chosen)
    if total + part > 10_000:
        raise Doubt
    if total == 0:
        if part:
            raise Fault(NUM)
        raise Doubt
    return _held(math.comb(total + part - 1, part))


def _permut(number: float, chosen: float) -> float:
    total, part = _whole_size(number), _whole_size(chosen)
    if total == part == 0:
        raise Doubt
    if total < part or total <= 0:
        raise Fault(NUM)
    if total > 10_000:
        raise Doubt
    return _held(math.perm(total, part))


def _permutationa(number: float, chosen: float) -> float:
    total, part = _whole_size(number), _whole_size(chosen)
    if part > 10_000:
        raise Doubt
    return _held(total**part)


def _held(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise Fault(NUM) from None


def _is_even(value: Value) -> bool:
    if isinstance(value, Error):
        raise Fault(value)
    if isinstance(value, str | bool) or value is None:
        raise Doubt
    return math.trunc(clear_of_edges(value)) % 2 == 0


def _is_odd(value: Value) -> bool:
    return not _is_even(value)


def _roman(value: float, form: float = 0.0) -> str:
    number = _whole_roman(value)
    if form != 0:
        raise Doubt
    out = ""
    for letters, size in _NUMERALS.items():
        count, number = divmod(number, size)
        out += letters * count
    return out


def _whole_roman(value: float) -> int:
    number = math.trunc(clear_of_edges(value))
    if not 0 <= number <= 3999:
        raise Fault(VALUE)
    return number


def _arabic(text: str) -> float:
    word = text.strip().upper()
    sign = -1 if word.startswith("-") else 1
    word = word.removeprefix("-")
    if not word:
        return 0.0
    if not set(word) <= set("IVXLCDM"):
        raise Fault(VALUE)
    found = 0
    for letter, after in zip(word, word[1:] + " ", strict=True):
        size = _NUMERALS[letter]
        found += -size if after != " " and _NUMERALS[after] > size else size
    if found and _roman(float(min(found, 3999))) != word:
        raise Doubt
    return float(sign * found) + 0.0


def _base(value: float, radix: float, least: float = 0.0) -> str:
    number, base, length = _whole_size(value), math.trunc(radix), _whole_size(least)
    if not 2 <= base <= 36 or number >= _LARGEST or length > 255:
        raise Fault(NUM)
    out = ""
    while number:
        number, digit = divmod(number, base)
        out = _DIGITS[digit] + out
    return out.rjust(max(length, 1), "0")


def _decimal(text: str, radix: float) -> float:
    base = math.trunc(radix)
    if not 2 <= base <= 36 or len(text) > 255:
        raise Fault(NUM)
    try:
        found = int(text.strip(), base)
    except ValueError:
        raise Fault(NUM) from None
    if found < 0 or "_" in text:
        raise Doubt
    return _held(found)


def _gamma(value: float) -> float:
    if value <= 0 and value == int(value):
        raise Fault(NUM)
    return _limited(math.gamma)(value)


def _gammaln(value: float) -> float:
    if value <= 0:
        raise Fault(NUM)
    return math.lgamma(value)


def _erf(value: float, upper: float | None = None) -> float:
    return math.erf(value) if upper is None else math.erf(upper) - math.erf(value)


def _sign(value: float) -> float:
    return float((value > 0) - (value < 0))


def _sqrtpi(value: float) -> float:
    return _sqrt(value * math.pi)


def _pi() -> float:
    return math.pi


def _bits(change: Callable[[int, int], int]) -> Callable[[float, float], float]:
    def found(left: float, right: float) -> float:
        for side in (left, right):
            if side < 0 or side != int(side) or side >= 2**48:
                raise Fault(NUM)
        return float(change(int(left), int(right)))

    return found


def _shift(value: float, by: float, way: int) -> float:
    if value < 0 or value != int(value) or value >= 2**48 or abs(by) > 53:
        raise Fault(NUM)
    steps = way * math.trunc(by)
    found = int(value) << steps if steps > 0 else int(value) >> -steps
    if found >= 2**48:
        raise Fault(NUM)
    return float(found)


def _delta(one: float, two: float = 0.0) -> float:
    return float(one == two)


def _gestep(one: float, two: float = 0.0) -> float:
    return float(one >= two)


FUNCTIONS: dict[str, Definition] = {
    **scalars(
        {
            "ABS": abs,
            "SIGN": _sign,
            "SQRT": _sqrt,
            "SQRTPI": _sqrtpi,
            "EXP": _exp,
            "LN": _ln,
            "LOG": _log,
            "LOG10": _log,
            "POWER": lambda base, exponent: finite(power(base, exponent)),
            "MOD": _mod,
            "INT": _int,
            "ROUND": _round,
            "ROUNDUP": _roundup,
            "ROUNDDOWN": _rounddown,
            "TRUNC": _rounddown,
            "EVEN": _to_even,
            "ODD": _to_odd,
            "CEILING": _ceiling,
            "FLOOR": _floor,
            "CEILING.MATH": _ceiling_math,
            "FLOOR.MATH": _floor_math,
            "CEILING.PRECISE": _ceiling_precise,
            "ISO.CEILING": _ceiling_precise,
            "FLOOR.PRECISE": _floor_precise,
            "SIN": _angle(math.sin),
            "COS": _angle(math.cos),
            "TAN": _angle(math.tan),
            "CSC": _inverse(math.sin),
            "SEC": _inverse(math.cos),
            "COT": _inverse(math.tan),
            "CSCH": _inverse(math.sinh),
            "SECH": _inverse(math.cosh),
            "COTH": _coth,
            "ASIN": _limited(math.asin),
            "ACOS": _limited(math.acos),
            "ATAN": math.atan,
            "ATAN2": _atan2,
            "ACOT": _acot,
            "ACOTH": _acoth,
            "SINH": _limited(math.sinh),
            "COSH": _limited(math.cosh),
            "TANH": math.tanh,
            "ASINH": math.asinh,
            "ACOSH": _limited(math.acosh),
            "ATANH": _limited(math.atanh),
            "RADIANS": math.radians,
            "DEGREES": math.degrees,
            "PI": _pi,
            "FACT": _fact,
            "GAMMA": _gamma,
            "GAMMALN": _gammaln,
            "GAMMALN.PRECISE": _gammaln,
            "ERF.PRECISE": math.erf,
            "ERFC.PRECISE": math.erfc,
            "COMBIN": _combin,
            "COMBINA": _combina,
            "PERMUT": _permut,
            "PERMUTATIONA": _permutationa,
            "BITAND": _bits(lambda one, two: one & two),
            "BITOR": _bits(lambda one, two: one | two),
            "BITXOR": _bits(lambda one, two: one ^ two),
            "BITLSHIFT": lambda value, by: _shift(value, by, 1),
            "BITRSHIFT": lambda value, by: _shift(value, by, -1),
            "BASE": _base,
            "ROMAN": _roman,
        },
        "n",
    ),
    "QUOTIENT": Scalar(_quotient, "n", of_arrays=False),
    "MROUND": Scalar(_mround, "n", of_arrays=False),
    "FACTDOUBLE": Scalar(_factdouble, "n", of_arrays=False),
    "DELTA": Scalar(_delta, "n", of_arrays=False),
    "GESTEP": Scalar(_gestep, "n", of_arrays=False),
    "ISEVEN": Scalar(_is_even, "e", of_arrays=False),
    "ISODD": Scalar(_is_odd, "e", of_arrays=False),
    "ERF": Scalar(_erf, "n", of_arrays=False),
    "ERFC": Scalar(math.erfc, "n", of_arrays=False),
    "ARABIC": Scalar(_arabic, "t"),
    "DECIMAL": Scalar(_decimal, "tn"),
}
