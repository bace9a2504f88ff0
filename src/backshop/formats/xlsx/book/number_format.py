"""Number formats: which mean dates, what a serial number says, how a cell looks (F24.6, F29.4)."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

GENERAL = "General"
BUILTIN: dict[int, str] = {
    **{0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"},
    **{11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm"},
    **{17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss"},
    **{22: "m/d/yy h:mm", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;[Red](#,##0)"},
    **{39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss"},
    **{47: "mmss.0", 48: "##0.0E+0", 49: "@"},
}
DATE_IDS = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
CUSTOM_FROM = 164  # ids below belong to Excel

MAX_CODE_CHARS = 255  # of a number format, as in Excel
# every digit of the largest number under the longest format: 309, two for each %, and the decimals
_EXACT = Context(prec=309 + 3 * MAX_CODE_CHARS, rounding=ROUND_HALF_UP)
_DAY_MS = 86_400_000
_LAST_SERIAL = 2_958_466  # the day after 9999-12-31
_LAST_ELAPSED = 2**53 / _DAY_MS  # days; beyond them milliseconds are not exact
_SKIPPED = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?')
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.I)
_PIECE = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<ampm>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+)|(?P<number>[0#?.,%]+)|(?P<other>.)",
    re.I | re.S,
)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@lru_cache(maxsize=4096)
def is_date(format_id: int, code: str) -> bool:
    """Whether cells of this format show dates or times."""
    if format_id in DATE_IDS or _ELAPSED.search(code):
        return True
    bare = _SKIPPED.sub("", code)
    return bare.lower() != "general" and any(letter in bare.lower() for letter in "ydhs")


@lru_cache(maxsize=4096)
def is_elapsed(code: str) -> bool:
    """Whether the format counts hours, minutes or seconds beyond a day."""
    return _ELAPSED.search(code) is not None


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number, without grouping."""
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e16):
        return str(int(value))
    return repr(value)


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


def _of_day(clock: time) -> float:
    ms = ((clock.hour * 60 + clock.minute) * 60 + clock.second) * 1000 + clock.microsecond / 1000
    return ms / _DAY_MS


# --- how a cell looks (F29.4) -------------------------------------------------------------------


def display(value: float, code: str, date_1904: bool) -> str:
    """Return a number as its format shows it; formats we do not draw give the raw text."""
    raw = number_text(value)
    if code in {"", GENERAL, "@"} or code.lower() == "general":
        return raw
    section = _section(code, value)
    if section is None:
        return raw
    text, negate = section
    pieces = list(_PIECE.finditer(text))
    if is_date(-1, text):
        return _date_text(value, pieces, date_1904) or raw
    shown = _number_text(abs(value) if negate else value, pieces)
    return raw if shown is None else shown


def _section(code: str, value: float) -> tuple[str, bool] | None:
    parts = _split_sections(code)
    if any(re.search(r"\[[<>=]", part) for part in parts):
        return None
    if len(parts) > 1 and value < 0:
        return parts[1], True
    if len(parts) > 2 and value == 0:
        return parts[2], False
    return parts[0], False


def _split_sections(code: str) -> list[str]:
    parts, last = [""], 0
    for match in re.finditer(r'"[^"]*"?|\\.|;', code):
        parts[-1] += code[last : match.start()]
        if match[0] == ";":
            parts.append("")
        else:
            parts[-1] += match[0]
        last = match.end()
    parts[-1] += code[last:]
    return parts


def _literal(match: re.Match[str]) -> str | None:
    kind = match.lastgroup
    if kind in {"quoted", "escaped"}:
        return match[kind]
    if kind == "space":
        return " "
    if kind == "fill":
        return ""
    if kind == "bracket":
        inside = match["bracket"]
        return inside[1:].partition("-")[0] if inside.startswith("$") else ""
    if kind == "other" and match[0] in "$-+():/ €£¥!&'{}=<>^~":
        return match[0]
    return None


def _number_text(value: float, pieces: list[re.Match[str]]) -> str | None:
    pattern = "".join(piece[0] for piece in pieces if piece.lastgroup == "number")
    if not pattern.strip("%,."):
        texts = [_literal(piece) for piece in pieces]
        return None if None in texts or pattern else "".join(text or "" for text in texts)
    if len(pattern) > MAX_CODE_CHARS:
        return None
    digits = _digits(value, pattern)
    out, placed = "", False
    for piece in pieces:
        if piece.lastgroup == "number":
            percent = piece[0].count("%") * "%"
            bare = piece[0].strip("%")
            if bare and placed:
                return None  # digits spread over literals: telephone numbers and the like
            if bare:
                out += digits
                placed = True
            out += percent
        else:
            text = _literal(piece)
            if text is None:
                return None
            out += text
    return f"-{out}" if value < 0 and any(c in "123456789" for c in digits) else out


def _digits(value: float, pattern: str) -> str:
    bare = pattern.replace("%", "")
    hidden = 3 * (len(bare) - len(bare.rstrip(",")))  # digits: three for each trailing comma
    number = Decimal(repr(value)).copy_abs().scaleb(2 * pattern.count("%") - hidden, _EXACT)
    whole, _, fraction = bare.rstrip(",").partition(".")
    places = sum(1 for c in fraction if c in "0#?")
    text = format(number.quantize(Decimal(1).scaleb(-places), context=_EXACT), "f")
    left, _, right = text.partition(".")
    least = sum(1 for c in fraction if c == "0")
    while len(right) > least and right.endswith("0"):
        right = right[:-1]
    zeros = whole.count("0")
    left = left.lstrip("0").rjust(zeros, "0") if zeros != 1 else (left.lstrip("0") or "0")
    if "," in whole:
        left = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", left)
    return f"{left}.{right}" if right or (fraction and least) else left


def _date_text(value: float, pieces: list[re.Match[str]], date_1904: bool) -> str | None:
    if any(_ELAPSED.fullmatch(piece[0]) for piece in pieces):
        return None
    when = moment(value, date_1904)
    if when is None or isinstance(when, str):
        return None
    if isinstance(when, time):
        when = datetime.combine(date(1899, 12, 31), when)
    elif not isinstance(when, datetime):
        when = datetime.combine(when, time())
    twelve = any(piece.lastgroup == "ampm" for piece in pieces)
    codes = [piece[0].lower() if piece.lastgroup == "date" else "" for piece in pieces]
    out = ""
    for index, piece in enumerate(pieces):
        if piece.lastgroup == "date":
            out += _date_piece(when, codes[index], _minutes(codes, index), twelve)
        elif piece.lastgroup == "ampm":
            half = "AM" if when.hour < 12 else "PM"
            out += half if len(piece[0]) > 3 else half[0]
        elif piece.lastgroup == "number" and re.fullmatch(r"\.0+", piece[0]):
            fraction = f"{when.microsecond // 1000:03d}"
            out += "." + fraction[: len(piece[0]) - 1].ljust(len(piece[0]) - 1, "0")
        elif piece[0] in {",", "."}:
            out += piece[0]
        else:
            text = _literal(piece)
            if text is None:
                return None
            out += text
    return out


def _minutes(codes: list[str], index: int) -> bool:
    """Whether an `m` means minutes: after hours or before seconds."""
    before = next((code for code in reversed(codes[:index]) if code), "")
    after = next((code for code in codes[index + 1 :] if code), "")
    return before.startswith("h") or after.startswith("s")


def _date_piece(when: datetime, code: str, minutes: bool, twelve: bool) -> str:
    length = len(code)
    match code[0]:
        case "y":
            return f"{when.year:04d}" if length > 2 else f"{when.year % 100:02d}"
        case "m" if minutes:
            return str(when.minute).rjust(min(length, 2), "0")
        case "m":
            name = _MONTHS[when.month - 1]
            return [str(when.month), f"{when.month:02d}", name[:3], name, name[0]][
                min(length, 5) - 1
            ]
        case "d":
            name = _DAYS[when.weekday()]
            return [str(when.day), f"{when.day:02d}", name[:3], name][min(length, 4) - 1]
        case "h":
            hour = (when.hour + 11) % 12 + 1 if twelve else when.hour
            return str(hour).rjust(min(length, 2), "0")
    return str(when.second).rjust(min(length, 2), "0")
