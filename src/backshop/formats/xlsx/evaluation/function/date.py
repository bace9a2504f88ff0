"""Functions of dates and times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import TYPE_CHECKING

from ..coercion import to_number, to_whole
from ..date_system import (
    LAST_YEAR,
    dated,
    days_in_month,
    from_serial,
    months_later,
    sure_serial,
    to_day,
)
from ..definition import Definition, Scalar, Whole
from ..value import (
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

_FIRST_DAYS = 60  # of 1900, as Excel counts them: with a 29 February that never was
_SECONDS = 86400
_NO_DAY = 2_958_466  # the day after the last one
_MOST_WHOLE = 32767
_WEEKDAYS = {1: 6, 2: 0, 3: 0, **{10 + n: n - 1 for n in range(1, 8)}}  # the day a week begins on
_WEEKENDS: dict[int, frozenset[int]] = {
    **{n: frozenset({(n + 4) % 7, (n + 5) % 7}) for n in range(1, 8)},
    **{10 + n: frozenset({(n + 5) % 7}) for n in range(1, 8)},
}
_MOST_DAYS = 400_000  # a walk from working day to working day ends somewhere


def _date(date_1904: bool, year: int, month: int, day: int) -> float:
    if max(abs(year), abs(month), abs(day)) > _MOST_WHOLE:
        raise Doubt
    if not 0 <= year <= LAST_YEAR:
        raise Fault(NUM)
    year += 1900 if year < 1900 else 0
    if date_1904 and year < 1904:
        raise Doubt
    years, months = divmod(year * 12 + month - 1, 12)
    if not 1 <= years <= LAST_YEAR:
        raise Fault(NUM)
    if not date_1904 and (years, months) < (1900, 2):
        raise Doubt  # Excel counts a 29 February 1900 that never was
    try:
        found = date(years, months + 1, 1) + timedelta(days=day - 1)
    except OverflowError:
        raise Fault(NUM) from None
    return sure_serial(found, date_1904)


def _calendar(date_1904: bool, value: Value) -> tuple[int, int, int]:
    """Return year, month and day, of the first days of 1900 too: an empty cell is its day 0."""
    number = to_number(dated(value, date_1904))
    if date_1904 or not 0 <= number < _FIRST_DAYS + 1 or isinstance(value, bool):
        found = from_serial(to_day(value, date_1904), date_1904)
        return found.year, found.month, found.day
    day = int(number)
    return (1900, 1, day) if day <= 31 else (1900, 2, day - 31)


def _day(date_1904: bool, value: Value) -> float:
    return float(_calendar(date_1904, value)[2])


def _month(date_1904: bool, value: Value) -> float:
    return float(_calendar(date_1904, value)[1])


def _year(date_1904: bool, value: Value) -> float:
    return float(_calendar(date_1904, value)[0])


def _clock(number: float) -> int:
    """Return the second of the day, of a number that is a whole second."""
    if number < 0 or number >= _NO_DAY:
        raise Fault(NUM)
    seconds = number * _SECONDS
    if abs(seconds - round(seconds)) > 1e-3:
        raise Doubt
    return round(seconds) % _SECONDS


def _hour(number: float) -> float:
    return float(_clock(number) // 3600)


def _minute(number: float) -> float:
    return float(_clock(number) // 60 % 60)


def _second(number: float) -> float:
    return float(_clock(number) % 60)


def _time(hour: float, minute: float, second: float) -> float:
    parts = [hour, minute, second]
    if any(part != int(part) for part in parts) or min(parts) < 0 or max(parts) > _MOST_WHOLE:
        raise Doubt
    return (hour * 3600 + minute * 60 + second) % _SECONDS / _SECONDS


def _weekday(date_1904: bool, serial: float, kind: int = 1) -> float:
    if kind not in _WEEKDAYS:
        raise Fault(NUM)
    found = (from_serial(serial, date_1904).weekday() - _WEEKDAYS[kind]) % 7
    return float(found if kind == 3 else found + 1)


def _weeknum(date_1904: bool, serial: float, kind: int = 1) -> float:
    if kind == 21:
        return _isoweeknum(date_1904, serial)
    if kind not in _WEEKDAYS or kind == 3:
        raise Fault(NUM)
    day = from_serial(serial, date_1904)
    first = date(day.year, 1, 1)
    lead = (first.weekday() - _WEEKDAYS[kind]) % 7
    return float((day.timetuple().tm_yday - 1 + lead) // 7 + 1)


def _isoweeknum(date_1904: bool, serial: float) -> float:
    return float(from_serial(serial, date_1904).isocalendar().week)


def _edate(date_1904: bool, serial: float, months: int) -> float:
    return sure_serial(months_later(from_serial(serial, date_1904), months), date_1904)


def _eomonth(date_1904: bool, serial: float, months: int) -> float:
    found = months_later(from_serial(serial, date_1904), months)
    last = found.replace(day=days_in_month(found.year, found.month))
    return sure_serial(last, date_1904)


def _days(date_1904: bool, end: float, start: float) -> float:
    if end != int(end) or start != int(start):
        raise Doubt
    return end - start


def _days360(date_1904: bool, start: float, end: float, european: bool = False) -> float:
    one, two = from_serial(start, date_1904), from_serial(end, date_1904)
    first, last = one.day, two.day
    if european:
        first, last = min(first, 30), min(last, 30)
    else:
        if one.day == days_in_month(one.year, one.month) and one.month == 2:
            raise Doubt  # the end of February: the American method is told in two ways
        first = min(first, 30)
        if last == 31:
            last = 30 if first == 30 else 31
    return float((two.year - one.year) * 360 + (two.month - one.month) * 30 + last - first)


def _datedif(date_1904: bool, start: float, end: float, unit: str) -> float:
    if int(start) > int(end):
        raise Fault(NUM)
    one, two = from_serial(start, date_1904), from_serial(end, date_1904)
    months = (two.year - one.year) * 12 + two.month - one.month - (two.day < one.day)
    match unit.upper():
        case "Y":
            return float(months // 12)
        case "M":
            return float(months)
        case "YM":
            return float(months % 12)
        case "D":
            return float(int(end) - int(start))
        case "MD" if two.day >= one.day:
            return float(two.day - one.day)
        case "MD":
            before = two.replace(day=1) - timedelta(days=1)
            if one.day > before.day:
                raise Doubt  # Excel itself warns of this one
            return float(before.day - one.day + two.day)
        case "YD":
            return _days_of_year(one, two)
    raise Fault(NUM)


def _days_of_year(one: date, two: date) -> float:
    """Return the days between two days as if their years were one; in doubt where leap days tell.

    The year is that of either day, or the one after it.
    """
    found = set()
    for year in (one.year, two.year, two.year - 1):
        if (one.month, one.day) == (2, 29):
            raise Doubt
        start, later = one.replace(year=year), (two.month, two.day) < (one.month, one.day)
        if (two.month, two.day) == (2, 29):
            raise Doubt
        found.add((two.replace(year=year + later) - start).days)
    if len(found) > 1:
        raise Doubt
    return float(found.pop())


def _datevalue(date_1904: bool, text: str) -> float:
    found = dated(text, date_1904)
    if isinstance(found, float) and found >= 1:
        return found
    if any(char.isdigit() for char in text):
        raise Doubt
    raise Fault(VALUE)


def _timevalue(text: str) -> float:
    found = dated(text, False)
    if not isinstance(found, float) or found >= 1:
        raise Doubt
    return found


# --- working days ---------------------------------------------------------------------------------


def _free_days(formula: Evaluator, holidays: Operand) -> set[date]:
    """Return the days of a list of holidays."""
    if isinstance(holidays, Missing):
        return set()
    values: Iterable[Value]
    if isinstance(holidays, Reference | References | Array):
        values = formula.context.present(holidays)
    elif holidays is None or isinstance(holidays, str | bool):
        raise Doubt
    else:
        values = [holidays]  # type: ignore[list-item]  # a number or an error
    found = set()
    for value in values:
        if value is None:
            continue
        if isinstance(value, Error):
            raise Fault(value)
        if isinstance(value, str | bool):
            raise Doubt
        serial = to_day(value, formula.context.date_1904)
        found.add(from_serial(serial, formula.context.date_1904))
    return found


def _weekend(value: Operand) -> frozenset[int]:
    """Return the days of the week that are free, Monday 0."""
    if isinstance(value, Missing):
        return _WEEKENDS[1]
    if isinstance(value, str):
        if not re.fullmatch("[01]{7}", value):
            raise Fault(VALUE)
        return frozenset(at for at, mark in enumerate(value) if mark == "1")
    if isinstance(value, float):
        kind = to_whole(value)
        if kind not in _WEEKENDS:
            raise Fault(NUM)
        return _WEEKENDS[kind]
    raise Doubt


def _single(formula: Evaluator, operand: Operand) -> Value:
    """Return the one value of an argument that takes no range."""
    if isinstance(operand, Reference) and operand.area.count == 1:
        area = operand.area
        return formula.context.memory.value(operand.sheet, area.row1, area.col1)
    if isinstance(operand, Missing):
        return None
    if isinstance(operand, Array) and operand.height == operand.width == 1:
        return operand.rows[0][0]
    if operand is None or isinstance(operand, float | str | bool | Error):
        return operand
    raise Doubt


def _day_of(formula: Evaluator, operand: Operand) -> date:
    value = _single(formula, operand)
    if value is None:
        raise Doubt
    serial = to_day(value, formula.context.date_1904)
    return from_serial(serial, formula.context.date_1904)


def _networkdays_intl(
    formula: Evaluator,
    start: Operand,
    end: Operand,
    weekend: Operand = MISSING,
    holidays: Operand = MISSING,
) -> float:
    one, two = _day_of(formula, start), _day_of(formula, end)
    kind = weekend if isinstance(weekend, Missing) else _single(formula, weekend)
    free = _weekend(kind)
    sign = 1
    if one > two:
        one, two, sign = two, one, -1
    weeks, rest = divmod((two - one).days + 1, 7)
    count = weeks * (7 - len(free))
    count += sum((one.weekday() + step) % 7 not in free for step in range(rest))
    off = _free_days(formula, holidays)
    count -= sum(one <= day <= two and day.weekday() not in free for day in off)
    return float(sign * count)


def _networkdays(
    formula: Evaluator, start: Operand, end: Operand, holidays: Operand = MISSING
) -> float:
    return _networkdays_intl(formula, start, end, MISSING, holidays)


def _workday_intl(
    formula: Evaluator,
    start: Operand,
    days: Operand,
    weekend: Operand = MISSING,
    holidays: Operand = MISSING,
) -> float:
    day = _day_of(formula, start)
    left = to_whole(_single(formula, days))
    kind = weekend if isinstance(weekend, Missing) else _single(formula, weekend)
    free = _weekend(kind)
    if len(free) == 7:
        raise Fault(VALUE)
    off = _free_days(formula, holidays)
    if abs(left) > _MOST_DAYS:
        raise Doubt
    step = timedelta(days=1 if left > 0 else -1)
    left = abs(left)
    try:
        while left:
            day += step
            if day.weekday() not in free and day not in off:
                left -= 1
    except OverflowError:
        raise Fault(NUM) from None
    return sure_serial(day, formula.context.date_1904)


def _workday(
    formula: Evaluator, start: Operand, days: Operand, holidays: Operand = MISSING
) -> float:
    return _workday_intl(formula, start, days, MISSING, holidays)


def _yearfrac(date_1904: bool, start: float, end: float, basis: int = 0) -> float:
    one, two = sorted((int(start), int(end)))
    if not 0 <= basis <= 4:
        raise Fault(NUM)
    days = float(two - one)
    match basis:
        case 2:
            return days / 360
        case 3:
            return days / 365
        case 4:
            return _days360(date_1904, one, two, True) / 360
        case 0:
            return _days360(date_1904, one, two) / 360
    return days / _year_length(from_serial(one, date_1904), from_serial(two, date_1904))


def _year_length(one: date, two: date) -> float:
    """Return the length of a year by the actual calendar, as YEARFRAC averages it."""
    if two <= months_later(one, 12):
        leap = [y for y in {one.year, two.year} if _is_leap(y)]
        held = any(one <= date(y, 2, 29) <= two for y in leap)
        if one.year == two.year:
            return 366.0 if leap else 365.0
        return 366.0 if held else 365.0
    years = range(one.year, two.year + 1)
    return sum(366 if _is_leap(y) else 365 for y in years) / len(years)


def _is_leap(year: int) -> bool:
    return days_in_month(year, 2) == 29


FUNCTIONS: dict[str, Definition] = {
    "DATE": Scalar(_date, "w", dated=True),
    "DAY": Scalar(_day, "v", dated=True),
    "MONTH": Scalar(_month, "v", dated=True),
    "YEAR": Scalar(_year, "v", dated=True),
    "HOUR": Scalar(_hour, "n"),
    "MINUTE": Scalar(_minute, "n"),
    "SECOND": Scalar(_second, "n"),
    "TIME": Scalar(_time, "n"),
    "WEEKDAY": Scalar(_weekday, "dw", dated=True),
    "WEEKNUM": Scalar(_weeknum, "dw", dated=True, of_arrays=False),
    "ISOWEEKNUM": Scalar(_isoweeknum, "d", dated=True),
    "EDATE": Scalar(_edate, "dw", dated=True, of_arrays=False),
    "EOMONTH": Scalar(_eomonth, "dw", dated=True, of_arrays=False),
    "DAYS": Scalar(_days, "d", dated=True),
    "DAYS360": Scalar(_days360, "ddb", dated=True),
    "DATEDIF": Scalar(_datedif, "ddt", dated=True),
    "DATEVALUE": Scalar(_datevalue, "t", dated=True),
    "TIMEVALUE": Scalar(_timevalue, "t"),
    "YEARFRAC": Scalar(_yearfrac, "ddw", dated=True, of_arrays=False),
    "NETWORKDAYS": Whole(_networkdays),
    "NETWORKDAYS.INTL": Whole(_networkdays_intl),
    "WORKDAY": Whole(_workday),
    "WORKDAY.INTL": Whole(_workday_intl),
}
