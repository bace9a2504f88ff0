"""Number formats by name (F18.4): what people call a format, and the Excel code it stands for."""

from __future__ import annotations

import re

from backshop.formats.figure.code import MAX_CODE_CHARS

SECTIONS_MAX = 4
_PLAIN = {
    "general": "General",
    "integer": "0",
    "thousands": "#,##0",
    "date": "yyyy-mm-dd",
    "datetime": "yyyy-mm-dd hh:mm:ss",
    "time": "hh:mm:ss",
    "duration": "[h]:mm:ss",
    "month": "yyyy-mm",
    "month_name": "mmmm yyyy",
    "year": "yyyy",
    "weekday": "dddd",
    "fraction": "# ??/??",
    "text": "@",
}
_DECIMALS = {  # before and behind the decimals, and how many there are when nobody says
    "number": ("#,##0", "", 2),
    "decimal": ("0", "", 2),
    "percent": ("0", "%", 0),
    "scientific": ("0", "E+00", 2),
}
_BEFORE = {
    **{"USD": "$", "GBP": "£", "JPY": "¥", "CNY": "CN¥", "INR": "₹", "KRW": "₩", "BRL": "R$"},
    **{"AUD": "A$", "CAD": "CA$", "NZD": "NZ$", "HKD": "HK$", "SGD": "S$", "MXN": "MX$"},
    **{"ILS": "₪", "PHP": "₱", "THB": "฿", "ZAR": "R", "TRY": "₺", "NGN": "₦", "VND": "₫"},
}
_BEHIND = {
    **{"EUR": "€", "CHF": "CHF", "SEK": "kr", "NOK": "kr", "DKK": "kr", "PLN": "zł", "CZK": "Kč"},
    **{"HUF": "Ft", "RON": "lei", "BGN": "лв", "UAH": "₴", "ISK": "kr", "AED": "AED"},
    **{"SAR": "SAR", "EGP": "EGP", "ARS": "ARS", "CLP": "CLP", "COP": "COP", "PEN": "PEN"},
    **{"IDR": "IDR", "MYR": "MYR", "TWD": "TWD", "MAD": "MAD", "RSD": "RSD"},
}
_WHOLE = frozenset({"JPY", "KRW", "CLP", "ISK", "VND", "HUF", "IDR"})  # no coins in use
CURRENCIES = tuple(sorted((*_BEFORE, *_BEHIND)))
NAMES = (
    *("general", "integer", "thousands", "number", "decimal", "percent", "currency_eur"),
    *("accounting", "accounting_eur", "scientific", "fraction", "date", "datetime", "time"),
    *("duration", "month", "month_name", "year", "weekday", "text"),
)
"""Every name once; those of `_DECIMALS` and amounts take a digit, amounts every currency."""
_WORDS = re.compile(r"([a-z]+?)(?:_([a-z]{3}))?([0-9])?")
_SAID = re.compile(r"[A-Za-z][A-Za-z0-9_ -]{2,}")
_LETTERS = frozenset("ymdhsegbarn")  # of dates
_LITERAL = frozenset(" $-+/():!^&'~{}<>=.,%0123456789#?@|;`\u00a0")
_PIECE = re.compile(
    r'"[^"]*"|\\.|_.|\*.|\[[^\[\]]*\]|General|AM/PM|A/P|E[+-]|[ymdhsegbarn]+|.',
    re.IGNORECASE | re.DOTALL,
)


def format_code(given: str) -> str | None:
    """Return the code that a name stands for, or a code as it is; None for what is neither."""
    named = _named(re.sub(r"[\s-]+", "_", given.strip().lower()))
    if named is not None:
        return named
    return given if is_code(given) else None


def _named(word: str) -> str | None:
    if word in _PLAIN:
        return _PLAIN[word]
    match = _WORDS.fullmatch(word)
    if match is None:
        return None
    kind, currency = match[1], (match[2] or "").upper()
    if kind in _DECIMALS and not currency:
        head, tail, usual = _DECIMALS[kind]
        return head + _places(match[3], usual) + tail
    usual = 0 if currency in _WHOLE else 2
    figures = "#,##0" + _places(match[3], usual)
    if kind == "accounting" and not currency:
        return _accounting(figures, "", "")
    if currency not in CURRENCIES:
        return None
    before, behind = _signs(currency)
    if kind == "currency":
        return before + figures + behind
    return _accounting(figures, before, behind) if kind == "accounting" else None


def _places(digit: str | None, usual: int) -> str:
    count = usual if digit is None else int(digit)
    return f".{'0' * count}" if count else ""


def _signs(currency: str) -> tuple[str, str]:
    if currency in _BEFORE:
        return f'"{_BEFORE[currency]}"', ""
    return "", f'\\ "{_BEHIND[currency]}"'


def _accounting(figures: str, before: str, behind: str) -> str:
    amount = f"{before}* {figures}{behind}"
    none = f'{before}* "-"??{behind}'
    return f"_-{amount}_-;-{amount}_-;_-{none}_-;_-@_-"


def is_code(code: str) -> bool:
    """Whether a text is a number format that Excel would take: its signs, quotes and brackets."""
    if not 0 < len(code) <= MAX_CODE_CHARS:
        return False
    sections = 1
    for match in _PIECE.finditer(code):
        piece = match[0]
        is_known = len(piece) > 1 or not piece.isascii() or piece.lower() in _LETTERS
        if not is_known and piece not in _LITERAL:
            return False
        sections += piece == ";"
    return sections <= SECTIONS_MAX


def refusal(given: str) -> str:
    """Say what is wrong with a text that is neither a name nor a code."""
    if _SAID.fullmatch(given.strip()):
        return f"there is no number format {given.strip()[:40]!r}"
    return (
        "this is no number format: quotes and brackets are closed, text stands in quotes, and "
        f"there are at most {SECTIONS_MAX} parts between semicolons, {MAX_CODE_CHARS} characters"
    )


HINTS = (
    " ".join(NAMES),
    "number, decimal, percent, scientific, currency_… and accounting take a digit for decimals, "
    "such as percent1",
    f"currencies: {' '.join(code.lower() for code in CURRENCIES)}",
    "or an Excel code such as #,##0.00",
)
