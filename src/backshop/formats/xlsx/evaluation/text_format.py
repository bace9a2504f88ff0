"""What TEXT shows: a number in a format that is written out, as an English Excel shows it.

How a number looks in a format is said once, in `formats.figure`. Here stands what is doubted all
the same: formats that other countries write or read otherwise, and digits that only Excel knows.
"""

from __future__ import annotations

from decimal import Decimal

from backshop.formats.figure.code import Section, choose, sections_of, text_section
from backshop.formats.figure.date_text import is_day, letters
from backshop.formats.figure.decimal_text import Shown
from backshop.formats.figure.display import section_text

from .coercion import number_text
from .date_system import to_day
from .value import VALUE, Doubt, Error, Fault, Value

_DAY_SECONDS = 86400
_SURE_SIZE = Decimal(10) ** 15
_HALVES = frozenset({"AM/PM", "am/pm", "A/P"})


def formatted(value: Value, code: str, date_1904: bool) -> str:
    """Return a value as a format shows it."""
    if isinstance(value, Error):
        raise Fault(value)
    sections = sections_of(code)
    if not sections or isinstance(value, bool):
        raise Doubt
    if isinstance(value, str):
        if any(char.isdigit() for char in value) or text_section(sections) is not None:
            raise Doubt
        return value
    number = 0.0 if value is None else value
    if code == "":
        return ""
    if code.lower() == "general" or code == "@":
        return _general(number)
    return _shown(number, sections, date_1904)


def _general(number: float) -> str:
    text = number_text(number)
    if float(f"{number:.9g}") != number or abs(number) >= 1e10:
        raise Doubt  # shown by as many digits as fit
    return text


def _shown(number: float, sections: tuple[Section, ...], date_1904: bool) -> str:
    """Return what is shown by 15 digits and by all of them alike."""
    found = set()
    for exact in (Decimal(f"{number:.15g}"), Decimal(repr(number))):
        choice = choose(sections, exact)
        if choice is None or choice.section.oddities or choice.section.has("general", "text"):
            raise Doubt
        if choice.section.is_date:
            _require_moment(number, choice.section, date_1904)
        shown = section_text(exact, choice.section, date_1904, choice.is_unsigned)
        if shown is None:
            raise Doubt
        if not choice.section.is_date:
            _require_sure(exact, choice.section, shown, choice.is_unsigned)
        found.add(shown.text)
    if len(found) > 1:
        raise Doubt
    return found.pop()


def _require_sure(number: Decimal, section: Section, shown: Shown, is_unsigned: bool) -> None:
    """Doubt what programs show in different ways."""
    percents = sum(token.kind == "percent" for token in section.tokens)
    is_long = not section.has("power") and abs(number).scaleb(2 * percents) >= _SURE_SIZE
    is_minus_zero = number < 0 and not is_unsigned and shown.is_zero  # "-0" or "0"
    if not shown.is_sure or is_long or is_minus_zero or percents > 1:
        raise Doubt


def _require_moment(number: float, section: Section, date_1904: bool) -> None:
    """Doubt parts of seconds, days that are not sure, and halves of a day in other words."""
    if number < 0:
        raise Doubt if date_1904 else Fault(VALUE)
    seconds = number * _DAY_SECONDS
    whole = round(seconds)
    if abs(seconds - whole) > 1e-3 or section.has("digit"):
        raise Doubt
    if any(token.kind == "half" and token.text not in _HALVES for token in section.tokens):
        raise Doubt
    codes = letters(section.tokens)
    if any(code and code[0] in "ebg" for code in codes):
        raise Doubt
    if any(code and is_day(codes, at) for at, code in enumerate(codes)):
        try:
            to_day(float(whole // _DAY_SECONDS), date_1904)
        except Fault:
            raise Fault(VALUE) from None
