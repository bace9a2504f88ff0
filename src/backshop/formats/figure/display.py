"""The one place where a number and its format become the text a person sees (F24.19)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from .code import Section, Token, choose, sections_of, text_section
from .date_text import date_text
from .decimal_text import Shown, decimal_text
from .plain import decimal_of, general_decimal


def display(value: float, code: str, date_1904: bool) -> str:
    """Return a number as its format shows it; a format that is none shows it without one."""
    number = decimal_of(value)
    choice = choose(sections_of(code), number) if code else None
    shown = None
    if choice is not None:
        shown = section_text(number, choice.section, date_1904, choice.is_unsigned)
    return general_decimal(number) if shown is None else shown.text


def text_display(text: str, code: str) -> str:
    """Return a text as the section of a format for texts shows it."""
    section = text_section(sections_of(code))
    if section is None:
        return text
    if not all(token.kind in {"literal", "text"} for token in section.tokens):
        return text
    return "".join(text if token.kind == "text" else token.text for token in section.tokens)


def section_text(
    number: Decimal, section: Section, date_1904: bool, is_unsigned: bool
) -> Shown | None:
    """Return how a section shows a number, None when it shows none.

    A section for negative numbers alone says so by itself, and gets no minus.
    """
    size = number.copy_abs() if is_unsigned else number
    if section.is_date:
        text = date_text(size, section, date_1904)
        return None if text is None else Shown(text, not number)
    if section.has("general"):
        section = _spelled(size, section)
        if section.has("digit", "power", "point", "text"):
            return None
    shown = decimal_text(size, section)
    if shown is None or size >= 0 or shown.is_zero:
        return shown
    return replace(shown, text=f"-{shown.text}")


def _spelled(number: Decimal, section: Section) -> Section:
    """Put a number without a format where a section says `General`."""
    spelled = Token("literal", general_decimal(number.copy_abs()))
    return replace(
        section, tokens=tuple(spelled if t.kind == "general" else t for t in section.tokens)
    )
