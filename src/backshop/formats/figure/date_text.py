"""Serial numbers as the days, times and durations that a format shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from .code import Section, Token

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_DAYS = ("Saturday", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_DAY_S = 86_400
_LAST_SERIAL = 2_958_466  # the day after 9999-12-31
_LAST_ELAPSED = 2**53 // (_DAY_S * 1000)  # days; beyond them milliseconds are not exact
_MOST_SECOND_PLACES = 3
_1904 = 1462  # days between the two systems


class Day(NamedTuple):
    """A day of Excel's calendar, in which 1900-01-00 and 1900-02-29 are days."""

    year: int
    month: int
    day: int
    weekday: int  # 0 is a Saturday


def day_of(serial: int, date_1904: bool) -> Day:
    """Return the day of a whole serial number from 0 on."""
    count = serial + _1904 if date_1904 else serial
    weekday = count % 7
    if count in {0, 60}:
        return Day(1900, 1, 0, weekday) if count == 0 else Day(1900, 2, 29, weekday)
    first = date(1899, 12, 31 if count < 60 else 30)
    found = date.fromordinal(first.toordinal() + count)
    return Day(found.year, found.month, found.day, weekday)


def date_text(serial: Decimal, section: Section, date_1904: bool) -> str | None:
    """Return how a section shows a serial number, None when it is no day or no such format.

    Days before the first show with a minus where days are counted from 1904, as in Excel;
    durations below zero do so everywhere (Excel fills their cells with `#`).
    """
    pieces = _pieces(section.tokens)
    if pieces is None:
        return None
    codes = letters(pieces)
    shows_day = any(code and is_day(codes, at) for at, code in enumerate(codes))
    is_duration = any(piece.kind == "elapsed" for piece in pieces) and not shows_day
    if serial < 0 and not (date_1904 or is_duration):
        return None
    places = max((len(p.text) - 1 for p in pieces if p.kind == "second_part"), default=0)
    clock = _clock(serial.copy_abs(), codes, min(places, _MOST_SECOND_PLACES), shows_day)
    days = clock // (_DAY_S * 1000)
    end = _LAST_ELAPSED if is_duration else _LAST_SERIAL - (_1904 if date_1904 else 0)
    if days >= end:
        return None
    day = day_of(days, date_1904) if shows_day else Day(0, 0, 0, 0)
    text = "".join(_shown(pieces, codes, at, day, clock) for at in range(len(pieces)))
    return f"-{text}" if serial < 0 else text


def letters(tokens: Sequence[Token]) -> list[str]:
    """Return the letters of each token that is a part of a date, `[h` of a duration."""
    marks = {"date": "", "elapsed": "["}
    return [marks[kind] + text if kind in marks else "" for kind, text in tokens]


def is_day(codes: Sequence[str], at: int) -> bool:
    """Whether a letter stands for a part of the date: `m` beside hours or seconds does not."""
    code = codes[at]
    if not code.startswith("m"):
        return code[0] in "ydebg"
    if len(code) > 2:
        return True
    before = next((one for one in reversed(codes[:at]) if one), "")
    after = next((one for one in codes[at + 1 :] if one), "")
    return not (before.startswith(("h", "[h")) or after.startswith(("s", "[s")))


def _pieces(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with the digits of seconds as one piece; None where others are."""
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else None
        if token.kind == "digit":
            if last is None or last.kind not in {"point", "second_part"} or token.text != "0":
                return None
            found[-1] = Token("second_part", last.text + "0")
        elif token.kind in {"percent", "power", "text", "general"}:
            return None
        else:
            found.append(token)
    return found


def _clock(serial: Decimal, codes: Sequence[str], places: int, shows_day: bool) -> int:
    """Return milliseconds since the first day, rounded to what of the time is shown."""
    shows_time = any(code and not is_day(codes, at) for at, code in enumerate(codes))
    if serial >= _LAST_SERIAL * 1000:
        return int(serial) * _DAY_S * 1000
    shown = places if shows_time or not shows_day else _MOST_SECOND_PLACES
    units = (serial * _DAY_S).quantize(Decimal(1).scaleb(-shown), rounding=ROUND_HALF_UP)
    return int(units * 1000)


def _shown(pieces: Sequence[Token], codes: Sequence[str], at: int, day: Day, clock: int) -> str:
    kind, text = pieces[at]
    second, part = clock // 1000, clock % 1000
    if kind == "elapsed":
        size = {"h": 3600, "m": 60, "s": 1}[text[0]]
        return str(second // size).rjust(len(text), "0")
    if kind == "second_part":
        return f".{part:03d}"[: len(text)].ljust(len(text), "0")
    of_day = second % _DAY_S
    if kind == "half":
        first, last = text.upper().split("/")
        half = first if of_day < _DAY_S // 2 else last
        return half.lower() if text == "a/p" else half
    if kind == "date" and is_day(codes, at):
        return _day_text(day, text)
    if kind == "date":
        return _clock_text(of_day, text, any(piece.kind == "half" for piece in pieces))
    return text


def _day_text(day: Day, code: str) -> str:
    length = len(code)
    match code[0]:
        case "y":
            return f"{day.year:04d}" if length > 2 else f"{day.year % 100:02d}"
        case "e":
            return f"{day.year:04d}"
        case "b":
            year = day.year + 543  # of the Buddhist calendar
            return f"{year:04d}" if length > 2 else f"{year % 100:02d}"
        case "g":
            return ""
        case "m":
            name = MONTHS[day.month - 1]
            forms = [str(day.month), f"{day.month:02d}", name[:3], name, name[0]]
            return forms[length - 1] if length < 6 else name
    name = _DAYS[day.weekday]
    return [str(day.day), f"{day.day:02d}", name[:3], name][min(length, 4) - 1]


def _clock_text(second: int, code: str, halves: bool) -> str:
    if code[0] == "h":
        hour = second // 3600
        found = (hour + 11) % 12 + 1 if halves else hour
    else:
        found = second // 60 % 60 if code[0] == "m" else second % 60
    return str(found).rjust(min(len(code), 2), "0")
