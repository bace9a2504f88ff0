"""Days as numbers, in the date system of the workbook."""

from __future__ import annotations

import calendar
import re
from datetime import date

from .coercion import to_number
from .value import NUM, Doubt, Fault, Value

_FIRST_SURE_DAY = 61  # 1900-03-01: before it Excel counts a day that never was
_BEFORE_1900, _BEFORE_1904 = 693594, 695056  # ordinals of the days numbered 0
LAST_YEAR = 9999
ISO = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")


def dated(value: Value, date_1904: bool) -> Value:
    """Return a text that is a date as all countries read it, or a time, as its number."""
    if not isinstance(value, str):
        return value
    text = value.strip(" ")
    if match := ISO.fullmatch(text):
        try:
            return sure_serial(date(*map(int, match.groups())), date_1904)
        except ValueError:
            return value  # no such day
    if match := _CLOCK.fullmatch(text):
        hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
        if hour < 24 and minute < 60 and second < 60:
            return (hour * 3600 + minute * 60 + second) / 86400
    return value


def to_day(value: Value, date_1904: bool) -> float:
    """Return a number that is surely a day."""
    if isinstance(value, bool):
        raise Doubt
    number = to_number(dated(value, date_1904))
    if number < 0:
        raise Fault(NUM)
    if number < _FIRST_SURE_DAY and not date_1904:
        raise Doubt
    if number >= to_serial(date(LAST_YEAR, 12, 31), date_1904) + 1:
        raise Fault(NUM)
    return number


def from_serial(serial: float, date_1904: bool) -> date:
    """Return the day of a number that is one."""
    return date.fromordinal(int(serial) + (_BEFORE_1904 if date_1904 else _BEFORE_1900))


def to_serial(day: date, date_1904: bool) -> float:
    """Return the number of a day."""
    return float(day.toordinal() - (_BEFORE_1904 if date_1904 else _BEFORE_1900))


def sure_serial(day: date, date_1904: bool) -> float:
    """Return the number of a day that a workbook can hold."""
    serial = to_serial(day, date_1904)
    if serial < 0 and date_1904:
        raise Fault(NUM)
    if serial < _FIRST_SURE_DAY and not date_1904:
        if serial < 0:
            raise Fault(NUM)
        raise Doubt
    return serial


def days_in_month(year: int, month: int) -> int:
    """Return how many days a month has."""
    return calendar.monthrange(year, month)[1]


def months_later(day: date, months: int) -> date:
    """Return the same day of another month, or its last."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= LAST_YEAR:
        raise Fault(NUM)
    return date(year, month + 1, min(day.day, days_in_month(year, month + 1)))
