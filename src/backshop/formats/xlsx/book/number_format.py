"""Number formats: which mean dates, and what a serial number says (F24.6)."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache

GENERAL = "General"
BUILTIN: dict[int, str] = {
    **{0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"},
    **{11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm"},
    **{17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss"},
    **{22: "m/d/yyyy h:mm", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)"},
    **{39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss"},
    **{47: "mmss.0", 48: "##0.0E+0", 49: "@"},
}
_DAY, _DAY_AND_TIME = "yyyy-mm-dd", "yyyy-mm-dd h:mm"
IMPLIED: dict[int, str] = {
    # what files say by number alone, and programs show as their country does; never written
    **BUILTIN,
    **{5: "$#,##0_);($#,##0)", 6: "$#,##0_);[Red]($#,##0)"},
    **{7: "$#,##0.00_);($#,##0.00)", 8: "$#,##0.00_);[Red]($#,##0.00)"},
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), _DAY),
    **{32: "h:mm", 33: "h:mm:ss", 34: _DAY_AND_TIME, 35: _DAY_AND_TIME},
    **{55: _DAY_AND_TIME, 56: _DAY_AND_TIME},
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
}
DATE_IDS = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
CUSTOM_FROM = 164  # ids below belong to Excel

_DAY_MS = 86_400_000
_LAST_SERIAL = 2_958_466  # the day after 9999-12-31
_LAST_ELAPSED = 2**53 / _DAY_MS  # days; beyond them milliseconds are not exact
_SKIPPED = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?')
_DATE_LETTER, _DIGIT = frozenset("ydhs"), frozenset("0#?")
_LENGTH = re.compile(r"(-?)(\d{1,9}):(\d\d):(\d\d(?:\.\d+)?)")  # a duration
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.I)


@lru_cache(maxsize=4096)
def is_date(format_id: int, code: str) -> bool:
    """Whether cells of this format show dates or times."""
    if format_id in DATE_IDS or _ELAPSED.search(code):
        return True
    bare = _SKIPPED.sub("", code).lower()
    if bare == "general":
        return False
    return not _DATE_LETTER.isdisjoint(bare) or ("m" in bare and _DIGIT.isdisjoint(bare))


@lru_cache(maxsize=4096)
def is_elapsed(code: str) -> bool:
    """Whether the format counts hours, minutes or seconds beyond a day."""
    return _ELAPSED.search(code) is not None


def moment(serial: float, date_1904: bool) -> datetime | time | date | str | None:
    """Return what a serial number means; a text for the day that never was, None for no date."""
    end = _LAST_SERIAL - (1462 if date_1904 else 0)
    if serial < 0 or serial >= end:
        return None
    days, ms = divmod(round(serial * _DAY_MS), _DAY_MS)
    if days == end:  # the last moment of the last day, rounded up
        return None
    if serial < 1 and days == 0:
        return (datetime.min + timedelta(milliseconds=ms)).time()
    if not date_1904 and days == 60:
        return "1900-02-29"
    base = date(1904, 1, 1) if date_1904 else date(1899, 12, 31 if days < 60 else 30)
    day = base + timedelta(days=days)
    if ms == 0:
        return day
    return datetime(day.year, day.month, day.day) + timedelta(milliseconds=ms)


def moment_text(serial: float, code: str, date_1904: bool) -> str | None:
    """Return the ISO text of a date cell (F8.10), None when the number is no date."""
    if is_elapsed(code) and 0 <= serial < _LAST_ELAPSED:
        seconds, ms = divmod(round(serial * _DAY_MS), 1000)
        rest = f".{ms:03d}" if ms else ""
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{rest}"
    when = moment(serial, date_1904)
    if when is None or isinstance(when, str):
        return when
    if isinstance(when, (datetime, time)):
        return when.isoformat(timespec="milliseconds" if when.microsecond else "seconds")
    return when.isoformat()


def serial_of(kind: str, text: str, date_1904: bool) -> float | None:
    """Return the serial number of an ISO date, datetime or time; None when it is none."""
    try:
        if kind == "time":
            clock = time.fromisoformat(text)
            if clock.tzinfo:
                return None
            return _of_day(clock)
        if kind == "date":
            when = datetime.combine(date.fromisoformat(text), time())
        else:
            when = datetime.fromisoformat(text)
    except ValueError:
        return None
    if when.tzinfo:
        return None
    if date_1904:
        days = (when.date() - date(1904, 1, 1)).days
    else:
        days = (when.date() - date(1899, 12, 30)).days
        if days < 61:
            days -= 1
            if days < 1:
                return None
    if days < 0:
        return None
    fraction = _of_day(when.time())
    return days + fraction if fraction else days


def serial_of_text(text: str, date_1904: bool) -> float | None:
    """Return the serial number of an ISO date, datetime, time or duration, whichever it is."""
    for kind in ("date", "datetime", "time"):
        found = serial_of(kind, text, date_1904)
        if found is not None:
            return found
    length = _LENGTH.fullmatch(text)
    if length is None:
        return None
    seconds = (int(length[2]) * 60 + int(length[3])) * 60 + float(length[4])
    return float(f"{length[1]}{seconds}") / 86_400


def _of_day(clock: time) -> float:
    ms = ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1000 + clock.microsecond / 1000
    return ms / _DAY_MS
